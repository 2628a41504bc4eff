"""End the process on Ctrl-C and SIGTERM: soon, whatever it does, and with no traces.

A command is interrupted by an exception, so that it closes what it has opened. Where
that takes too long, because a library computes or has lost the exception, a thread that
waits beside it removes temporary files and ends the process. Where no command runs, as
during imports, there is nothing to close, and the process ends at once.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

TYPE_CHECKING = False  # importing `typing` would take longer than all the rest
if TYPE_CHECKING:
    from typing import Any

GRACE = 1.0  # seconds for a command to end on its own
MESSAGES = {signal.SIGINT: "Interrupted.", signal.SIGTERM: "Terminated."}


class SignalWatch:
    """What is known about signals of this process.

    Attributes
    ----------
    received : int
        First signal that asked the process to end; later ones are ignored, so that they
        cannot interrupt the removal of files. 0 if there was none.
    cleanups : list of callable
        Called before a process ends in the middle of a command.
    """

    def __init__(self) -> None:
        self.received = 0
        self.cleanups: list[Callable[[], object]] = []
        self._told = False
        self._raises = False
        self._ending = threading.Lock()

    def start(self) -> None:
        """Watch the signals of this process until it ends."""
        for number in MESSAGES:
            # Who started us may want Ctrl-C to be ignored, as `nohup` and `&` do.
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._handle)
        sys.unraisablehook = self._unraisable
        if os.name != "posix":  # pipes cannot wake up a thread there
            return
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        # The bytes arrive even while a library computes and no handler can run.
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        threading.Thread(
            target=self._wait, args=[reading], name="signals", daemon=True
        ).start()
        os.register_at_fork(after_in_child=_forget)

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Let a signal raise KeyboardInterrupt in this context."""
        self._raises = True
        try:
            yield
        finally:
            self._raises = False

    def message(self) -> str:
        """Return the line that says that the command was interrupted; once."""
        told, self._told = self._told, True
        # The terminal has echoed ^C and is still on that line.
        echoed = self.number == signal.SIGINT and sys.stderr.isatty()
        return "" if told else "\n" * echoed + MESSAGES[self.number] + "\n"

    @property
    def number(self) -> signal.Signals:
        """The signal that was received, or that raised KeyboardInterrupt otherwise."""
        return signal.Signals(self.received or signal.SIGINT)

    def end(self) -> None:
        """End the process now, without temporary files and child processes."""
        self._ending.acquire()  # never released: one thread ends the process
        # First the processes, which may still write to what is removed.
        for cleanup in (_kill_children, *self.cleanups):
            with suppress(Exception):  # nothing may keep the process from ending
                cleanup()
        with suppress(Exception):
            # Not by `sys.stderr`: a thread that has stopped may hold its lock.
            os.write(2, self.message().encode())
        os._exit(128 + self.number)

    def _handle(self, number: int, frame: Any) -> None:
        if self.received:
            return
        self.received = number
        if not self._raises:
            self.end()
        raise KeyboardInterrupt

    def _unraisable(self, lost: Any) -> None:
        """End the process if an interrupt came where exceptions are ignored."""
        if self.received and isinstance(lost.exc_value, KeyboardInterrupt):
            self.end()
        sys.__unraisablehook__(lost)

    def _wait(self, reading: int) -> None:
        number = 0
        while number not in MESSAGES:
            number = os.read(reading, 1)[0]
        deadline = monotonic() + GRACE
        while (left := deadline - monotonic()) > 0:
            select.select([], [], [], left)
        self.received = self.received or number
        self.end()


def start_tracker() -> None:
    """Start the process that removes what killed ones leave, without its warnings."""
    if os.name != "posix":
        return
    from multiprocessing import resource_tracker

    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore"
    try:
        resource_tracker.ensure_running()
    finally:
        os.environ.pop("PYTHONWARNINGS")
        if before is not None:
            os.environ["PYTHONWARNINGS"] = before


def _kill_children() -> None:
    """End the processes of pools and clusters, which would wait for work forever."""
    if "multiprocessing" not in sys.modules:
        return
    children = sys.modules["multiprocessing"].active_children()
    for child in children:
        child.kill()
    for child in children:
        child.join(0.1)


def _forget() -> None:
    """Let a forked process treat signals as if it had been started afresh."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


WATCH = SignalWatch()
