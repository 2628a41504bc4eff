"""TELL in the terminal: what `analysis` and `comparison` hold, as lines and tables.

Results go to standard output, all talk beside them (progress, hints) to standard error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid
from rich.text import Text

from trueaxis._tables.cells import printable
from trueaxis.diagnostics.comparison import ComparedMethod
from trueaxis.report import sentences as story
from trueaxis.report.analysis import Analysis

WIDE = 200  # columns, where there is no terminal to ask
MOST = 10  # outliers that are shown


def output() -> Console:
    """Where results go."""
    return _console(sys.stdout)


def aside() -> Console:
    """Where talk goes that is no result."""
    return _console(sys.stderr)


def _console(file: Any) -> Console:
    width = None if file.isatty() else WIDE
    return Console(file=file, width=width, soft_wrap=True, highlight=False)


def plain(text: Any) -> Text:
    """Text from files: no markup, and nothing that steers a terminal."""
    return Text(printable(text))


def say(text: str, to: Console | None = None) -> None:
    """Print a line."""
    (to or output()).print(plain(text))


def remark(text: str) -> None:
    """Print a line beside the results; above a progress bar, if there is one."""
    # A console of its own would write into the bar, of which only the stream knows.
    sys.stderr.write(printable(text) + "\n")


def say_json(content: Any) -> None:
    """Print for machines; what JSON has no number for becomes null."""
    sys.stdout.write(json.dumps(_finite(content), indent=2, ensure_ascii=False) + "\n")


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {str(key): _finite(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_finite(value) for value in content]
    if isinstance(content, np.ndarray | np.generic):
        return _finite(content.tolist())
    if isinstance(content, float) and not np.isfinite(content):
        return None
    return content


@contextmanager
def stages(names: Sequence[str]) -> Iterator[Callable[[str], None]]:
    """Show how far the work is, on a terminal; silent in a pipe."""
    console = aside()
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("", total=len(names))

        def begin(name: str) -> None:
            done = names.index(name) if name in names else None
            bar.update(task, description=name, completed=done, refresh=True)

        yield begin


@contextmanager
def bars() -> Iterator[Callable[[str], Callable[[int, int], None]]]:
    """Show how far each of several pieces of work is: a bar a piece, or a line."""
    console = aside()
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed} of {task.total}"),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as bar:

        def begin(name: str) -> Callable[[int, int], None]:
            task = bar.add_task(name, total=None)

            def tell(done: int, of: int) -> None:
                bar.update(task, completed=done, total=of, refresh=True)

            return tell

        yield begin


def show_analysis(found: Analysis, most: int = MOST) -> None:
    """Verdict, the worst rows, what changed; hints aside."""
    say(story.verdict(found))
    if len(found.flagged):
        output().print(_worst(found, most))
    say(story.change(found))
    show_hints(found)


def show_hints(found: Analysis) -> None:
    """What to look at before the numbers are believed."""
    for hint in story.hints(found):
        say(f"Note: {hint}", aside())


def _worst(found: Analysis, most: int) -> Grid:
    rest = len(found.flagged) - most
    grid = Grid(box=SIMPLE, caption=f"and {rest:,} more" if rest > 0 else None)
    grid.add_column("row", justify="right", overflow="fold")
    if found.labels is not None:
        grid.add_column("label", overflow="fold")
    grid.add_column("kind")
    grid.add_column("excess", justify="right")
    grid.add_column("because", overflow="fold")
    excess = found.diagnosis.excess
    for row in found.flagged[:most]:
        label = [] if found.labels is None else [plain(found.labels[row])]
        grid.add_row(
            plain(found.ids[row]),
            *label,
            str(found.diagnosis.kind[row]),
            f"{excess[row]:.1f}",
            plain(story.because(found, row)),
        )
    return grid


def show_comparison(found: list[ComparedMethod]) -> None:
    """One line a method."""
    first = found[0].method
    grid = Grid(
        box=SIMPLE,
        caption=f"angle, centre and shared outliers: against {first}; CPU seconds",
    )
    for heading in ("method", "seconds", "outliers", "shared", "angle", "centre", ""):
        left = heading in ("method", "")
        grid.add_column(heading, justify="left" if left else "right")
    for one in found:
        if one.model is None:
            grid.add_row(one.method, "-", "-", "-", "-", "-", plain(one.problem))
            continue
        grid.add_row(
            one.method,
            f"{one.seconds:.2f}",
            str(one.flagged),
            str(one.shared),
            f"{one.angle:.1f}",
            f"{one.shift:.3g}",
            "" if one.model.converged_ else "not converged",
        )
    output().print(grid)
