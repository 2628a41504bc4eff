"""Put wrong and missing cells into sentences and a table, for the report."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.plots.canvas import percent
from trueaxis.report.analysis import Analysis
from trueaxis.report.sentences import (
    enumerate_parts,
    format_number,
    hole_note,
    plural,
    wrong_in_row,
)

MAX_CELLS = 100  # wrong cells in the table
MAX_ROWS = 3  # rows whose wrong cells are named
MAX_COLUMNS = 3  # columns with most wrong cells that are named
MAX_NAMES = 5  # columns that are named for one row
WIDE = 14  # columns; wider cell maps take the whole width of the page


def describe_cells(analysis: Analysis) -> dict[str, Any] | None:
    """Return the text and the table of the section on cells.

    Parameters
    ----------
    analysis : Analysis

    Returns
    -------
    dict or None
        None if no cell is missing, and the model does not look for wrong ones.
    """
    if analysis.cells is None:
        return None
    holes, wrong = analysis.has_holes, analysis.finds_wrong_cells
    n = len(analysis.wrong_cells.row)
    return {
        "heading": "Wrong and missing cells" if wrong and holes
        else "Wrong cells" if wrong else "Missing cells",
        "sentences": [*_about_wrong(analysis), *_about_holes(analysis)],
        "wide": len(analysis.names) > WIDE,
        "finds_wrong": wrong,
        "has_holes": holes,
        "table": worst_cells(analysis),
        "left_out": (
            f"The table lists {MAX_CELLS} of {n:,} wrong cells, those of good rows "
            "first."
            if n > MAX_CELLS
            else ""
        ),
    }  # fmt: skip


def cell_figures(analysis: Analysis) -> list[tuple[str, str]]:
    """Return how many cells are missing and wrong, as key figures."""
    if analysis.cells is None:
        return []
    parts = []
    if analysis.has_holes:
        parts.append(("missing cells", analysis.cells.missing))
    if analysis.finds_wrong_cells:
        parts.append(("wrong cells", analysis.cells.wrong))
    return [(name, f"{x.sum():,} ({percent(x.mean())})") for name, x in parts]


def worst_cells(analysis: Analysis) -> list[dict[str, str]]:
    """Return the largest deviations of wrong cells, those of good rows first."""
    cells, flagged = analysis.wrong_cells, analysis.diagnosis.flagged
    order = np.lexsort((-np.abs(cells.deviation), flagged[cells.row]))
    return [
        {
            "id": str(analysis.ids[cells.row[i]]),
            "column": str(analysis.names[cells.column[i]]),
            "value": format_number(cells.value[i]),
            "fitted": format_number(cells.fitted[i]),
            "deviation": f"{cells.deviation[i]:+.1f}".replace("-", "−"),
            "row": row_verdict(analysis, int(cells.row[i])),
        }
        for i in order[:MAX_CELLS]
    ]


def row_verdict(analysis: Analysis, row: int) -> str:
    """Return whether a row is good apart from its wrong cells, or bad."""
    return "bad" if analysis.diagnosis.flagged[row] else "good"


def regular_notes(analysis: Analysis, drawn: NDArray[np.intp]) -> dict[str, str] | None:
    """Return what is wrong or missing in regular rows, by their places on the map."""
    cells = analysis.cells
    if cells is None:
        return None
    some = (cells.wrong | cells.missing).any(axis=1) & ~analysis.diagnosis.flagged
    notes = {}
    for place in np.flatnonzero(some[drawn]):
        row = int(drawn[place])
        wrong, holes = wrong_in_row(analysis, row), hole_note(analysis, row)
        text = f"a good row with {wrong}" if wrong else "a good row"
        notes[str(place)] = "; ".join(filter(None, [text, holes]))
    return notes


def _about_wrong(analysis: Analysis) -> list[str]:
    cells, size = analysis.wrong_cells, analysis.raw.size
    if not analysis.finds_wrong_cells:
        return [
            "Wrong cells were not looked for: fit with DSWL(cells=True) to find them."
        ]
    n = len(cells.row)
    if not n:
        return [f"None of the {size:,} cells is wrong."]
    good = analysis.only_cells[cells.row]
    parts = [
        f"{some.sum():,} in {plural(len(np.unique(cells.row[some])), what)}"
        for some, what in (
            (good, "row that is good otherwise/rows that are good otherwise"),
            (~good, "outlier/outliers"),
        )
        if some.any()
    ]
    are = "is" if n == 1 else "are"
    return [
        f"{n:,} of {size:,} cells ({percent(n / size)}) {are} wrong: "
        f"{enumerate_parts(parts)}.",
        f"Most are in {_columns(analysis, cells.column)}."
        if len(np.unique(cells.column)) > 1
        else f"All are in {analysis.names[cells.column[0]]}.",
        *_about_rows(analysis),
    ]


def _about_rows(analysis: Analysis) -> list[str]:
    """Name the rows with most wrong cells, if there are rows with several."""
    cells = analysis.wrong_cells
    rows, counts = np.unique(cells.row, return_counts=True)
    rows, counts = rows[counts > 1], counts[counts > 1]
    if not len(rows):
        return []
    order = np.lexsort((-counts, ~analysis.only_cells[rows]))[:MAX_ROWS]
    parts = []
    for row, count in zip(rows[order], counts[order], strict=True):
        names = analysis.names[cells.column[cells.row == row]].tolist()
        more = [f"{count - MAX_NAMES} more"] if count > MAX_NAMES else []
        tag = "" if analysis.only_cells[row] else ", an outlier"
        parts.append(
            f"{count} cells in {_row_name(analysis, row)}{tag}: "
            f"{', '.join([*names[:MAX_NAMES], *more])}"
        )
    return [f"Rows with most wrong cells: {'; '.join(parts)}."]


def _about_holes(analysis: Analysis) -> list[str]:
    assert analysis.cells is not None
    missing, size = analysis.cells.missing, analysis.raw.size
    n = int(missing.sum())
    if not n:
        return []
    column = np.nonzero(missing)[1]
    where = f"most in {_columns(analysis, column)}"
    if len(np.unique(column)) == 1:
        where = f"all in {analysis.names[column[0]]}"
    rows = int(missing.any(axis=1).sum())
    return [
        f"{n:,} of {size:,} cells ({percent(n / size)}) {'is' if n == 1 else 'are'} "
        f"missing, in {rows:,} of {len(missing):,} rows, {where}. They were filled "
        "with what the other cells of their rows say."
    ]


def _columns(analysis: Analysis, column: NDArray[np.intp]) -> str:
    """Return the columns that occur most often, with counts."""
    count = np.bincount(column, minlength=len(analysis.names))
    order = np.argsort(-count, kind="stable")[:MAX_COLUMNS]
    return enumerate_parts(
        [f"{analysis.names[j]} ({count[j]:,})" for j in order if count[j]]
    )


def _row_name(analysis: Analysis, row: int) -> str:
    name = str(analysis.ids[row])
    return name if not name.replace(".", "").isdigit() else f"row {name}"
