"""Print analyses, comparisons and progress to the terminal.

Results go to standard output; notes and progress go to standard error. Rich is only
imported if there is something to print with it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from trueaxis._cli.errors import NOTES
from trueaxis._cli.process.streams import write_to_stderr
from trueaxis._files import as_json, harmless, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    from trueaxis.diagnostics.comparison import ComparedMethod
    from trueaxis.report.analysis import Analysis

PIPE_WIDTH = 200  # characters per line, if there is no terminal
MAX_LISTED = 10  # maximum number of outliers listed


def stdout() -> Console:
    """Return the console for results."""
    return _console(sys.stdout)


def stderr() -> Console:
    """Return the console for notes and progress."""
    return _console(sys.stderr)


def _console(file: Any) -> Console:
    from rich.console import Console

    class PipeConsole(Console):
        """A console that leaves a closed pipe to `errors`: Rich would exit with 1."""

        def on_broken_pipe(self) -> None:
            """Raise the error again, unless it is about notes that nobody reads."""
            if self.file is not sys.stderr:
                raise

    width = None if file.isatty() else PIPE_WIDTH
    return PipeConsole(file=file, width=width, soft_wrap=True, highlight=False)


def plain(text: Any) -> Text:
    """Return text from a file without markup and terminal control characters."""
    from rich.text import Text

    return Text(printable(text))


def say(text: str, to: Console | None = None) -> None:
    """Print a line."""
    (to or stdout()).print(plain(text))


def note(text: str) -> None:
    """Print a note to standard error, and remember it for JSON."""
    NOTES.append(printable(text))
    remark(f"Note: {text}")


def remark(text: str) -> None:
    """Print a line to standard error; above a progress bar, if there is one."""
    # The bar redirects the stream; another console would write into the bar.
    write_to_stderr(printable(text) + "\n")


def say_json(content: Any) -> None:
    """Print JSON; NaN and infinity become null."""
    text = json.dumps(as_json(content), indent=2, ensure_ascii=False, allow_nan=False)
    # JSON writes most control characters as escape sequences of its own, but not all.
    sys.stdout.write((harmless(text) if sys.stdout.isatty() else text) + "\n")


@contextmanager
def stages(names: Sequence[str]) -> Iterator[Callable[[str], None]]:
    """Show the current stage on a terminal; print nothing in a pipe."""
    if not _may_be_terminal(sys.stderr):
        yield lambda name: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = stderr()
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task("", total=len(names))

        def begin(name: str) -> None:
            done = names.index(name) if name in names else None
            progress.update(task, description=name, completed=done, refresh=True)

        yield begin


def _may_be_terminal(file: Any) -> bool:
    """Return whether a stream is a terminal, or Rich may be told to take it for one."""
    told = any(name in os.environ for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))
    return told or bool(file.isatty())


def show_analysis(analysis: Analysis, to: Console | None = None) -> None:
    """Print the verdict, the worst rows and the effect on plain PCA; then the hints."""
    from trueaxis.report import sentences

    say(sentences.verdict(analysis), to)
    if len(analysis.flagged):
        (to or stdout()).print(_worst_rows(analysis))
    say(sentences.change(analysis), to)
    for hint in sentences.hints(analysis):
        note(hint)


def _worst_rows(analysis: Analysis) -> Grid:
    from rich.box import SIMPLE
    from rich.table import Table as Grid

    from trueaxis.report import sentences

    rest = len(analysis.flagged) - MAX_LISTED
    grid = Grid(box=SIMPLE, caption=f"and {rest:,} more" if rest > 0 else None)
    grid.add_column("row", justify="right", overflow="fold")
    if analysis.labels is not None:
        grid.add_column("label", overflow="fold")
    grid.add_column("kind")
    grid.add_column("p-value", justify="right")
    grid.add_column("excess", justify="right")
    grid.add_column("reason", overflow="fold")
    listed, excess = analysis.flagged[:MAX_LISTED], analysis.diagnosis.excess
    p_values = np.exp(analysis.diagnosis.log_p_of(listed))
    for row, p in zip(listed, p_values, strict=True):
        label = [] if analysis.labels is None else [plain(analysis.labels[row])]
        grid.add_row(
            plain(analysis.name(row)),
            *label,
            str(analysis.diagnosis.kind[row]),
            sentences.format_p(p),
            f"{excess[row]:.1f}" if excess[row] < 1e6 else f"{excess[row]:.3g}",
            plain(sentences.reason(analysis, row)),
        )
    return grid


def remark_on_scope(fitted: int, n: int, D: int, left_out: list[str]) -> None:
    """Say which rows and methods a comparison does without."""
    if fitted < n:
        remark(
            f"The methods were fitted to {fitted:,} of {n:,} rows, drawn at random, "
            "and judge all of them. To fit all rows, pass --all-rows."
        )
    if left_out:
        remark(
            f"Left out, because they would take long on {fitted:,} x {D:,}: "
            f"{', '.join(left_out)}. To fit them anyway, name them with --methods."
        )


def show_comparison(results: list[ComparedMethod]) -> None:
    """Print one line per method."""
    from rich.box import SIMPLE
    from rich.table import Table as Grid

    first = results[0].method
    grid = Grid(
        box=SIMPLE,
        caption=f"angle, center and shared: compared with {first}; seconds: CPU time",
    )
    for heading in ("method", "seconds", "outliers", "shared", "angle", "center", ""):
        left = heading in ("method", "")
        grid.add_column(heading, justify="left" if left else "right")
    for result in results:
        if result.model is None:
            grid.add_row(result.method, *["-"] * 5, plain(result.problem))
            continue
        grid.add_row(
            result.method,
            f"{result.seconds:.2f}",
            str(result.flagged),
            str(result.shared),
            f"{result.angle:.1f}",
            f"{result.shift:.3g}",
            "" if result.model.converged_ else "not converged",
        )
    stdout().print(grid)
