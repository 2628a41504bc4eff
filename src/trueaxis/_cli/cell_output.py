"""Cells that a model fills or replaces, and wrong cells, in sentences and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._cli.json_output import as_records
from trueaxis.cells.model import CellModel
from trueaxis.data.rows import Kernel
from trueaxis.diagnostics import cell_map
from trueaxis.pipeline import SplitPipeline
from trueaxis.report.analysis import Analysis
from trueaxis.report.given import ignore_feature_name_warning

LISTED_ROWS = 3  # rows with wrong cells that are named


class RepairedTable(NamedTuple):
    """A table after a repair.

    Attributes
    ----------
    X : ndarray of shape (n, D)
        Rows with their holes filled, and wrong cells replaced.
    row, column : ndarray of int
        Where the changed cells are.
    value, fitted, deviation : ndarray
        What was there, in the units of the table; what is there now; and how far off
        it was, in standard deviations of good cells.
    kind : ndarray of str
        "missing" or "wrong".
    n_kept : int
        Number of wrong cells that stay, because their rows are wrong as a whole.
    looked_for_wrong : bool
        Whether wrong cells were looked for.
    """

    X: NDArray[Any]
    row: NDArray[np.intp]
    column: NDArray[np.intp]
    value: NDArray[np.float64]
    fitted: NDArray[np.float64]
    deviation: NDArray[np.float64]
    kind: NDArray[np.str_]
    n_kept: int
    looked_for_wrong: bool = True

    def changes(
        self, names: Sequence[str], positions: NDArray[np.intp] | None
    ) -> dict[str, dict[int, float]]:
        """Return the new cells by column, and by their row in the file."""
        out: dict[str, dict[int, float]] = {}
        rows = self.row if positions is None else positions[self.row]
        cells = zip(
            rows.tolist(), self.column.tolist(), self.fitted.tolist(), strict=True
        )
        for row, column, x in cells:
            out.setdefault(names[column], {})[row] = x
        return out

    def columns(self, ids: Any, names: Sequence[str]) -> dict[str, Any]:
        """Return the changed cells as columns of a table."""
        return {
            "row": self.row if ids is None else np.asarray(ids)[self.row],
            "column": np.array(names, dtype=str)[self.column],
            "value": self.value,
            "fitted": self.fitted,
            "deviation": self.deviation,
            "kind": self.kind,
        }


def repair_table(
    parts: SplitPipeline, X: NDArray[Any], *, replace_wrong: bool = True
) -> RepairedTable:
    """Fill holes and replace wrong cells; all others keep their bits.

    Parameters
    ----------
    parts : SplitPipeline
        A fitted DSWL, and the scaler before it.
    X : ndarray of shape (n, D)
        Rows in the units of the table.
    replace_wrong : bool
        Whether to replace wrong cells, or only to fill holes.
    """
    with ignore_feature_name_warning():
        scaled = parts.scaled(X)
        model = parts.model
        filled = (model.repair if replace_wrong else model.impute)(scaled)
        cells = cell_map(model, scaled)
    missing = np.isnan(X)
    changed = missing | (filled != scaled)
    if parts.scaler is not None:
        filled = parts.scaler.inverse_transform(filled)
    repaired = np.where(changed, filled, X)
    row, column = np.nonzero(changed)
    return RepairedTable(
        repaired,
        row,
        column,
        X[row, column],
        repaired[row, column],
        cells.deviations[row, column],
        np.where(missing[row, column], "missing", "wrong"),
        int((cells.wrong & ~changed).sum()) if replace_wrong else 0,
        replace_wrong and model._repair().wrong is not None,
    )


def describe_changes(repaired: RepairedTable, names: Sequence[str]) -> str:
    """Return a summary of the changed cells."""
    kept = (
        f" In rows that are wrong as a whole, {_count(repaired.n_kept, 'wrong cell')} "
        f"{_were(repaired.n_kept)} kept."
        if repaired.n_kept
        else ""
    )
    n = len(repaired.row)
    if not n:
        return f"No cell was changed.{kept}"
    n_missing = int((repaired.kind == "missing").sum())
    column, times = Counter(repaired.column.tolist()).most_common(1)[0]
    wrong = f", {n - n_missing:,} wrong" if repaired.looked_for_wrong else ""
    return (
        f"{_count(n, 'cell')} in {_count(len(set(repaired.row.tolist())), 'row')} "
        f"{_were(n)} changed: {n_missing:,} missing{wrong}; most in "
        f"column {names[column]} ({times:,}).{kept}"
    )


def changes_summary(repaired: RepairedTable, names: Sequence[str]) -> dict[str, Any]:
    """Return the numbers of changed cells, for JSON."""
    n_missing = int((repaired.kind == "missing").sum())
    by_column = Counter(repaired.column.tolist())
    return {
        "rows": len(repaired.X),
        "changed": {
            "count": len(repaired.row),
            "rows": len(set(repaired.row.tolist())),
            "missing": n_missing,
            "wrong": len(repaired.row) - n_missing,
            "by_column": {names[i]: times for i, times in by_column.most_common()},
        },
        "kept": repaired.n_kept,
        "looked_for_wrong": repaired.looked_for_wrong,
    }


def describe_wrong_cells(analysis: Analysis) -> list[str]:
    """Return a sentence about wrong cells, if the model looks for them."""
    if not analysis.finds_wrong_cells:
        return []
    found = analysis.wrong_cells
    size: dict[int, float] = {}
    for row, deviation in zip(found.row.tolist(), found.deviation, strict=True):
        size[row] = max(size.get(row, 0.0), abs(deviation))
    times = Counter(found.row.tolist())
    worst = sorted(times, key=lambda row: (-times[row], -size[row]))
    named = [
        f"{_count(times[row], 'cell')} in row {analysis.ids[row]}"
        for row in worst[:LISTED_ROWS]
    ]
    more = len(worst) - len(named)
    if more:
        named.append(f"others in {_count(more, 'more row')}")
    return [describe_counts(len(found.row), len(worst), ", ".join(named))]


def describe_counts(n_cells: int, n_rows: int, which: str = "") -> str:
    """Return a sentence about the number of wrong cells and their rows."""
    if not n_cells:
        return "No cell is wrong."
    are = "is" if n_cells == 1 else "are"
    if n_rows == 1 and which:
        return f"{which} {are} wrong."
    where = f"{_count(n_cells, 'cell')} in {_count(n_rows, 'row')} {are} wrong"
    return f"{where}: {which}." if which else f"{where}."


def wrong_cells_summary(
    analysis: Analysis, positions: NDArray[np.intp] | None = None
) -> dict[str, Any]:
    """Return the wrong cells for JSON, if the model looks for them."""
    if not analysis.finds_wrong_cells:
        return {}
    found = analysis.wrong_cells
    number = found.row if positions is None else positions[found.row]
    columns = {
        "position": number.tolist(),
        "row": analysis.ids[found.row].tolist(),
        "column": analysis.names[found.column].tolist(),
        "value": found.value.tolist(),
        "fitted": found.fitted.tolist(),
        "deviation": found.deviation.tolist(),
    }
    counts = {"count": len(found.row), "rows": len(set(found.row.tolist()))}
    return {"wrong_cells": {**counts, "cells": as_records(columns)}}


class WrongCellCounter(Kernel):
    """Kernel that counts the wrong cells, and the rows that have some.

    Parameters
    ----------
    model : CellModel
        What the fit knows about cells.
    """

    title = "wrong cells"

    def __init__(self, model: CellModel) -> None:
        self.model = model

    def start(self) -> NDArray[np.int_]:
        """Return an empty state: number of cells and of rows."""
        return np.zeros(2, dtype=int)

    def absorb(self, state: NDArray[np.int_], block: NDArray[Any], first: int) -> None:
        """Count the wrong cells of a block."""
        wrong = ~self.model.repair(block).good & ~np.isnan(block)
        state += [wrong.sum(), wrong.any(axis=1).sum()]

    def merge(
        self, state: NDArray[np.int_], other: NDArray[np.int_]
    ) -> NDArray[np.int_]:
        """Return the sum of both counts."""
        return state + other


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _were(n: int) -> str:
    return "was" if n == 1 else "were"
