"""Wrong and missing cells of rows: where they are, and what would fit instead.

Plots, report and command line show these numbers and compute none of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis._validation import fitted_rows, raw_rows
from trueaxis.data.threads import own_floats
from trueaxis.diagnostics.inputs import (
    column_names,
    row_labels,
    takes_pipelines,
    to_frame,
)
from trueaxis.pipeline import SplitPipeline

if TYPE_CHECKING:
    from trueaxis.cells.model import Repaired
    from trueaxis.dswl.estimator import DSWL


class CellMap(NamedTuple):
    """Deviations of all cells of rows from what the other cells of the row say.

    Attributes
    ----------
    deviations : ndarray of shape (n, D)
        In standard deviations of good cells, with a sign; NaN for missing cells.
    wrong : ndarray of shape (n, D), bool
        Wrong cells.
    missing : ndarray of shape (n, D), bool
    outlier : ndarray of shape (n,), bool
        Rows that are outliers, even if their wrong cells are replaced.
    names : ndarray of str
        Names of the columns.
    """

    deviations: NDArray[np.float64]
    wrong: NDArray[np.bool_]
    missing: NDArray[np.bool_]
    outlier: NDArray[np.bool_]
    names: NDArray[np.str_]

    def take(self, rows: NDArray[np.intp]) -> CellMap:
        """Return the cells of some rows."""
        deviations, wrong, missing = self.deviations, self.wrong, self.missing
        some = deviations[rows], wrong[rows], missing[rows], self.outlier[rows]
        return CellMap(*some, self.names)

    def __repr__(self) -> str:
        n, D = self.wrong.shape
        return (
            f"CellMap({n:,} rows, {D:,} columns, {self.wrong.sum():,} wrong and "
            f"{self.missing.sum():,} missing cells)"
        )


@takes_pipelines()
def cell_map(model: DSWL, X: ArrayLike) -> CellMap:
    """Compare every cell of rows with what the other cells of its row say.

    Parameters
    ----------
    model : DSWL or Pipeline
        Fitted, alone or at the end of a pipeline. Wrong cells are only known if it was
        fitted with ``cells=True``.
    X : array-like of shape (n, D)
        Rows, those of the fit or new ones.

    Returns
    -------
    CellMap
    """
    outlier = _outliers(model, X)
    parts = [
        (
            repaired.deviations,
            _wrong(block, repaired, outlier[first : first + len(block)]),
            np.isnan(block),
        )
        for first, block, repaired in _repaired_blocks(model, X)
    ]
    deviations, wrong, missing = (
        np.concatenate(part) for part in zip(*parts, strict=True)
    )
    names = column_names(model)
    return CellMap(deviations, wrong, missing, outlier, names)


@own_floats
def cell_table(model: Any, X: ArrayLike, *, missing: bool = False) -> Any:
    """List the wrong cells of rows, in order, with what would fit.

    Parameters
    ----------
    model : DSWL or Pipeline
        Fitted with ``cells=True``, or with holes; alone or at the end of a pipeline.
        After a `ColumnScaler`, values are in the units of the data.
    X : array-like of shape (n, D)
        Rows, those of the fit or new ones.
    missing : bool, default=False
        Whether to list holes as well.

    Returns
    -------
    pandas.DataFrame, or ndarray with named fields if pandas is not installed
        One line per cell: "row" (its number, or its label in the index of a frame),
        "column", "value" (NaN for a hole), "fitted" (what the good cells of the row
        say), "deviation" (value minus what the other cells say, in standard deviations
        of good cells), "outlier" (whether the row is an outlier even without its wrong
        cells), and "position" (of the row, from 0).

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> table = sensors()
    >>> X = table.X.copy()
    >>> X[3, 2] = 99.0
    >>> model = DSWL(2, cells=True).fit(X)
    >>> cells = model.wrong_cells(X)
    >>> bool(((cells["row"] == 3) & (cells["value"] == 99.0)).any())
    True
    """
    cells = list_cells(model, X, missing)
    position, column = cells.pop("position"), cells.pop("column")
    # A row may have several lines: they are numbered, and not indexed by its label.
    n = int(position.max(initial=-1)) + 1
    row, name = row_labels(X, n)[position], column_names(model)[column]
    return to_frame({"row": row, "column": name, **cells, "position": position})


def _in_units_of_data(cells: dict[str, Any], parts: SplitPipeline) -> dict[str, Any]:
    column = cells["column"]
    units = {name: parts.restored(cells[name], column) for name in ("value", "fitted")}
    return cells | units


@takes_pipelines(_in_units_of_data)
def list_cells(model: DSWL, X: ArrayLike, missing: bool) -> dict[str, Any]:
    """Return the fields of `cell_table`, with indices of columns."""
    outlier, found = _outliers(model, X), []
    for first, block, repaired in _repaired_blocks(model, X):
        listed = _wrong(block, repaired, outlier[first : first + len(block)])
        if missing:
            listed |= np.isnan(block)
        at = row, column = np.nonzero(listed)
        parts = block[at], repaired.fitted[at], repaired.deviations[at]
        found.append((first + row, column, *parts))
    position, column, value, fitted, deviation = (
        np.concatenate(part) for part in zip(*found, strict=True)
    )
    return {
        "position": position,
        "column": column,
        "value": value,
        "fitted": fitted,
        "deviation": deviation,
        "outlier": outlier[position],
    }


def _repaired_blocks(
    model: DSWL, X: ArrayLike
) -> Iterator[tuple[int, NDArray[Any], Repaired]]:
    if not hasattr(model, "repair"):
        raise TypeError(f"{type(model).__name__} judges no cells: pass a fitted DSWL.")
    with raw_rows(model, X) as rows:
        repair = model._repair()
        for first, block in rows.blocks():
            yield first, block, repair.repair(block)


def _wrong(
    block: NDArray[Any], repaired: Repaired, outlier: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    # A row with too many wrong cells keeps them. If it is regular as it is, none is.
    fine = repaired.crowded & ~outlier
    return np.asarray(~repaired.good & ~np.isnan(block) & ~fine[:, None])


def _outliers(model: DSWL, X: ArrayLike) -> NDArray[np.bool_]:
    with fitted_rows(model, X) as rows:
        (regular,), _ = rows.scan(model._support_kernel())
    return np.asarray(~regular)
