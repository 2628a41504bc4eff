"""Start the command line: signals and streams first, then all the imports."""

from __future__ import annotations

# Not `signal`, which takes as long to import as Python takes to start: a signal that
# comes meanwhile would print a traceback.
import _signal  # type: ignore[import-not-found]
import os

TYPE_CHECKING = False  # importing `typing` would take longer than all the rest
if TYPE_CHECKING:
    from typing import Any


def main(arguments: list[str] | None = None) -> None:
    """Run the command line in a process of its own."""
    for number in (_signal.SIGINT, _signal.SIGTERM):
        # Who started us may want Ctrl-C to be ignored, as `nohup` and `&` do.
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, _leave)
    from trueaxis._cli.process.signals import WATCH
    from trueaxis._cli.process.streams import open_closed_streams

    open_closed_streams()
    WATCH.start()
    try:
        from trueaxis._cli.main import main
        from trueaxis._files import remove_temporaries

        WATCH.cleanups.append(remove_temporaries)
        main(arguments, prog_name="trueaxis")
    finally:
        # Everything is closed: waiting for threads that still compute is of no use.
        if WATCH.received:
            WATCH.end()


def _leave(number: int, frame: Any) -> None:
    """End the process before anything has begun."""
    try:
        os.write(2, b"Interrupted.\n" if number == _signal.SIGINT else b"Terminated.\n")
    finally:
        os._exit(128 + number)
