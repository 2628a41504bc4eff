"""SHOW on a terminal how far the passes over the rows are that `progress` tells of."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from trueaxis._rows.progress import Advance, heard_by

PATIENCE = 0.5  # seconds that a pass may take without a bar
TICK = 0.1  # seconds between drawings


@contextmanager
def show_progress() -> Iterator[None]:
    """Show a bar for each pass over rows that takes a while, on a terminal.

    It goes to standard error, tells what the pass is for, and is gone when the pass is
    over. Where standard error is no terminal, and for rows in memory, nothing is shown.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from trueaxis import DSWL, show_progress
    >>> from trueaxis.datasets import planted
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "cloud.npy"
    >>> np.save(path, planted("ocs", share=0.2).X)
    >>> with show_progress():
    ...     model = DSWL(3).fit(path)
    >>> model.n_components_
    3
    """
    console = Console(stderr=True, soft_wrap=True)
    if not console.is_interactive:
        yield
        return
    bars = ProgressBars(console)
    with heard_by(bars.listen):
        try:
            yield
        finally:
            bars.close()


@dataclass(eq=False)
class RunningPass:
    """A pass that is going on."""

    title: str
    total: int
    begun: float
    done: int = 0


class ProgressBars:
    """A bar for the innermost pass that is going on, if it has been for a while.

    A thread of its own draws it: Ctrl-C, which interrupts the main one anywhere, leaves
    no half-drawn line.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.passes: list[RunningPass] = []
        self._over = threading.Event()
        self._painter = threading.Thread(target=self._paint, daemon=True)
        self._painter.start()

    @contextmanager
    def listen(self, title: str, total: int) -> Iterator[Advance]:
        """Hear of a pass."""
        going = RunningPass(title, total, time.monotonic())
        self.passes.append(going)

        def advance(rows: int) -> None:
            going.done += rows

        try:
            yield advance
        finally:
            self.passes.remove(going)

    def close(self) -> None:
        """Take away what is shown."""
        self._over.set()
        self._painter.join()

    def _paint(self) -> None:
        shown: RunningPass | None = None
        with suppress(OSError, ValueError), ExitStack() as drawn:  # nobody may look
            while not self._over.wait(TICK):
                going = self._lasting()
                if going is not shown:
                    drawn.close()
                    shown = going
                    if going is not None:
                        bar = drawn.enter_context(self._bar())
                        task = bar.add_task(going.title, total=going.total)
                if going is not None:
                    bar.update(task, completed=going.done, refresh=True)

    def _lasting(self) -> RunningPass | None:
        for going in self.passes[-1:]:
            if time.monotonic() - going.begun > PATIENCE:
                return going
        return None

    def _bar(self) -> Progress:
        return Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,} of {task.total:,} rows"),
            TimeRemainingColumn(),
            console=self.console,
            auto_refresh=False,
            transient=True,
            # What is printed meanwhile goes above the bar; but a file stays a file.
            redirect_stdout=sys.stdout.isatty(),
        )
