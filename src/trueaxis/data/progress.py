"""Progress bars for long passes over files, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any

DELAY = 0.5  # seconds before a pass gets a bar

_bars: ContextVar[Any] = ContextVar("bars", default=None)


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
    >>> from trueaxis import DSWL
    >>> from trueaxis.data import show_progress
    >>> from trueaxis.datasets import planted
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "cloud.npy"
    >>> np.save(path, planted("ocs", share=0.2).X)
    >>> with show_progress():
    ...     model = DSWL(3).fit(path)
    >>> model.n_components_
    3
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, soft_wrap=True)
    if not console.is_interactive:
        yield
        return
    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,} of {task.total:,} rows"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        # On a terminal, printed lines go above the bar; a redirected standard output is
        # left alone.
        redirect_stdout=sys.stdout.isatty(),
    )
    with bars:
        token = _bars.set(bars)
        try:
            yield
        finally:
            _bars.reset(token)


@contextmanager
def passing(
    title: str, total: int, *, hidden: bool = False
) -> Iterator[Callable[[int], object]]:
    """Yield a function to call with the number of rows that were just processed."""
    bars = _bars.get()
    if bars is None or hidden:
        yield lambda rows: None
        return
    task, late = bars.add_task(title, total=total, visible=False), monotonic() + DELAY
    try:
        yield lambda n: bars.update(task, advance=n, visible=monotonic() > late)
    finally:
        bars.remove_task(task)
