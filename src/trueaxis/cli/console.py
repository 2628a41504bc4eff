"""Print findings, comparisons, notes and progress.

Results go to standard output; notes and progress go to standard error.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from trueaxis import __version__
from trueaxis._tables.output.values import as_json
from trueaxis._tables.parsing.cells import harmless, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    from trueaxis.cli.findings import RowFindings
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
    """Print a line or a grid; to standard error if it stands aside of a table."""
    file = sys.stderr if aside else sys.stdout
    console = _console(file)
    with console.capture() as captured:
        console.print(plain(content) if isinstance(content, str) else content)
    file.write(captured.get())  # Rich would end the process if nobody reads


def show_saved(what: str, target: str, aside: bool = False, more: str = "") -> None:
    """Print where something was written, unless it was to standard output."""
    if target not in ("", "-"):
        show(f"{what} saved to {target}{more}", aside)


def note(text: str) -> None:
    """Print a note to standard error, once, and remember it for JSON."""
    if printable(text) not in NOTES:
        NOTES.append(printable(text))
        remark(f"Note: {text}")


def remark(text: str) -> None:
    """Print a line to standard error; that nobody reads it does not stop the work."""
    # A progress bar redirects the stream, and keeps the line above it.
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
    # JSON writes most control characters as escape sequences of its own, but not all.
    sys.stdout.write((harmless(text) if sys.stdout.isatty() else text) + "\n")


@contextmanager
def stages() -> Iterator[Callable[[str], None]]:
    """Show the current stage on a terminal; print nothing in a pipe."""
    console = _console(sys.stderr)
    if not console.is_terminal:
        yield lambda name: None
        return
    with console.status("reading") as status:
        yield status.update


def count(n: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


# ---------------------------------------------------------------- findings


def show_findings(findings: RowFindings, aside: bool = False) -> None:
    """Print how many rows are outliers, and why the worst of them are."""
    from trueaxis.pipeline import split_pipeline
    from trueaxis.report.sentences import describe_line

    findings.run()
    if findings.analysis is not None:
        show_analysis(findings.analysis, aside)
        return
    model = split_pipeline(findings.model).model
    fitted = ""
    if findings.seconds is not None:
        fitted = (
            f" {type(model).__name__} with {count(model.n_components_, 'component')} "
            f"took {findings.seconds:.2f} s. `trueaxis score` judges each row."
        )
    n, bad = findings.source.n_rows, int(findings.flagged.sum())
    show(f"{bad:,} of {n:,} rows are bad. {describe_line(model)}{fitted}", aside)
    if findings.wrong is not None:
        show(_wrong_cells(int(findings.wrong[0]), int(findings.wrong[1])), aside)


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
        times = Counter(analysis.wrong_cells.row.tolist()).most_common(1)
        most = analysis.name(times[0][0]) if times else ""
        n_rows = len(np.unique(analysis.wrong_cells.row))
        show(_wrong_cells(len(analysis.wrong_cells.row), n_rows, most), aside)


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
    p_values = np.exp(analysis.diagnosis.log_p[listed])
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


def _wrong_cells(n_cells: int, n_rows: int, most: str = "") -> str:
    if not n_cells:
        return "No cell is wrong."
    are = "is" if n_cells == 1 else "are"
    in_rows = f"{count(n_cells, 'cell')} in {count(n_rows, 'row')} {are} wrong"
    return f"{in_rows}{f', most of them in row {most}' if most else ''}."


# ---------------------------------------------------------------- comparison


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
            str(result.flagged),
            str(result.shared),
            f"{result.angle:.1f}",
            f"{result.shift:.3g}",
            "" if result.model.converged_ else "not converged",
        )
    show(grid)
