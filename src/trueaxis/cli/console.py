"""Print findings, comparisons and notes; turn errors and warnings into sentences.

Results go to standard output, all else to standard error. Slow imports are postponed
until a command runs.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from trueaxis import __version__
from trueaxis._files import as_json, harmless, printable
from trueaxis.wording import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    from trueaxis.diagnostics.comparison import ComparedMethod
    from trueaxis.report.analysis import Analysis

PIPE_WIDTH = 200  # characters per line, if there is no terminal
MAX_LISTED = 10  # outliers that are listed
NOTES: list[str] = []  # of the command that runs, for JSON


def _console(file: Any) -> Console:
    from rich.console import Console

    width = None if file.isatty() else PIPE_WIDTH
    return Console(file=file, width=width, soft_wrap=True, highlight=False)


def plain(text: Any) -> Text:
    """Return text from a file without markup and terminal control characters."""
    from rich.text import Text

    return Text(printable(text))


def show(content: Any, aside: bool = False) -> None:
    """Print a line or a grid; to standard error if a table is on standard output."""
    file = sys.stderr if aside else sys.stdout
    console = _console(file)
    with console.capture() as captured:
        console.print(plain(content) if isinstance(content, str) else content)
    file.write(captured.get())  # Rich would end the process on a closed pipe


def show_saved(what: str, target: str, aside: bool = False) -> None:
    """Print where something was written, unless it was to standard output."""
    if target not in ("", "-"):
        show(f"{what} saved to {target}", aside)


def note(text: str) -> None:
    """Print a note to standard error, once, and remember it for JSON."""
    if printable(text) not in NOTES:
        NOTES.append(printable(text))
        remark(f"Note: {text}")


def remark(text: str) -> None:
    """Print a line to standard error, and go on if that is closed."""
    with suppress(OSError):
        sys.stderr.write(printable(text) + "\n")
        sys.stderr.flush()


def show_json(command: str, source: str, content: dict[str, Any]) -> None:
    """Print what a command found, and its notes, as one JSON object."""
    head = {"trueaxis": __version__, "command": command, "source": source}
    print_json(head | content | {"notes": list(NOTES)})


def print_json(content: dict[str, Any]) -> None:
    """Print an object as JSON; NaN and infinity become null."""
    values = as_json(content)
    text = json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False)
    # JSON escapes most control characters, but not all.
    sys.stdout.write((harmless(text) if sys.stdout.isatty() else text) + "\n")


# ---------------------------------------------------------------- findings


def show_analysis(analysis: Analysis, aside: bool = False) -> None:
    """Print the verdict, the worst rows and the effect on plain PCA; then the hints."""
    from trueaxis.report import sentences

    show(sentences.verdict(analysis), aside)
    if len(analysis.flagged):
        show(_worst_rows(analysis), aside)
    show(sentences.change(analysis), aside)
    for hint in sentences.hints(analysis):
        note(hint)
    if analysis.finds_wrong_cells:
        rows = analysis.wrong_cells["position"]
        times = Counter(rows.tolist()).most_common(1)
        most = analysis.name(times[0][0]) if times else ""
        show(wrong_cells(len(rows), len(np.unique(rows)), most), aside)


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
    d, rows = analysis.diagnosis, analysis.flagged[:MAX_LISTED]
    columns = zip(rows, d.kind[rows], d.log_p[rows], d.excess[rows], strict=True)
    for row, kind, log_p, excess in columns:
        label = [] if analysis.labels is None else [plain(analysis.labels[row])]
        grid.add_row(
            plain(analysis.name(row)),
            *label,
            str(kind),
            sentences.format_p(np.exp(log_p)),
            f"{excess:.1f}" if excess < 1e6 else f"{excess:.3g}",
            plain(sentences.reason(analysis, row)),
        )
    return grid


def wrong_cells(n_cells: int, n_rows: int, most: str = "") -> str:
    """Return how many cells are wrong, and in which row most of them are."""
    if not n_cells:
        return "No cell is wrong."
    are = "is" if n_cells == 1 else "are"
    in_rows = f"{counted(n_cells, 'cell')} in {counted(n_rows, 'row')} {are} wrong"
    return f"{in_rows}{f', most of them in row {most}' if most else ''}."


# ---------------------------------------------------------------- comparison


def remark_on_scope(fitted: int, n: int, D: int, left_out: list[str]) -> None:
    """Print which rows and methods are left out of a comparison."""
    if fitted < n:
        remark(
            f"The methods were fitted to {fitted:,} of {n:,} rows, drawn at random, "
            "and judge all of them."
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

    grid = Grid(
        box=SIMPLE,
        caption=f"angle, center and shared: compared with {results[0].method}; "
        "seconds: CPU time",
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
            str(result.outliers),
            str(result.shared),
            f"{result.angle:.1f}",
            f"{result.center:.3g}",
            "" if result.converged else "not converged",
        )
    show(grid)


# ---------------------------------------------------------------- errors, warnings


def message_of(error: BaseException) -> str:
    """Return the message for the user about an error."""
    from trueaxis.data.transformed import IncompleteRows

    text = str(error)
    if isinstance(error, IncompleteRows):
        text += " On the command line: --method dswl, or `trueaxis repair`."
    if isinstance(error, MemoryError) and not text:
        text = (
            "The table does not fit into memory: select fewer columns with --columns, "
            "or use fewer rows."
        )
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename or 'Standard output'}: {error.strerror}."
    # Every note about the file is on a separate line.
    return "\nNote: ".join(map(printable, text.split("\nNote: ")))


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings as notes, without the line of code that raised them."""

    def print_note(message: Warning | str, *_: Any, **__: Any) -> None:
        note(str(message))

    NOTES.clear()
    with warnings.catch_warnings():
        warnings.showwarning = print_note
        yield
