"""Progress bars on a terminal for the passes that `progress` reports."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from trueaxis.data.progress import Advance, report_to

DELAY = 0.5  # seconds before a pass gets a bar
REFRESH = 0.1  # seconds between two updates of the bar


@contextmanager
def show_progress() -> Iterator[None]:
    """Show a progress bar for each longer pass over the rows, on a terminal.

    The bar is written to standard error, names the purpose of the pass and disappears
    when the pass is over. Nothing is shown for rows in memory, or if standard error is
    not a terminal.

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
    with report_to(bars.listen):
        try:
            yield
        finally:
            bars.close()


@dataclass(eq=False)
class RunningPass:
    """A pass that is under way."""

    title: str
    total: int
    begun: float
    done: int = 0


class ProgressBars:
    """A bar for the innermost running pass, once it has run for a while.

    A separate thread draws it, so Ctrl-C, which may interrupt the main thread anywhere,
    leaves no half-drawn line.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.passes: list[RunningPass] = []
        self._closed = threading.Event()
        self._painter = threading.Thread(target=self._paint, daemon=True)
        self._painter.start()

    @contextmanager
    def listen(self, title: str, total: int) -> Iterator[Advance]:
        """Follow a pass from its start to its end."""
        running = RunningPass(title, total, time.monotonic())
        self.passes.append(running)

        def advance(rows: int) -> None:
            running.done += rows

        try:
            yield advance
        finally:
            self.passes.remove(running)

    def close(self) -> None:
        """Remove the bar and end the drawing thread."""
        self._closed.set()
        self._painter.join()

    def _paint(self) -> None:
        shown: RunningPass | None = None
        # The terminal may have been closed in the meantime.
        with suppress(OSError, ValueError), ExitStack() as drawn:
            while not self._closed.wait(REFRESH):
                running = self._long_pass()
                if running is not shown:
                    drawn.close()
                    shown = running
                    if running is not None:
                        bar = drawn.enter_context(self._bar())
                        task = bar.add_task(running.title, total=running.total)
                if running is not None:
                    bar.update(task, completed=running.done, refresh=True)

    def _long_pass(self) -> RunningPass | None:
        for running in self.passes[-1:]:
            if time.monotonic() - running.begun > DELAY:
                return running
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
            # On a terminal, printed lines go above the bar; a redirected standard
            # output is left alone.
            redirect_stdout=sys.stdout.isatty(),
        )
