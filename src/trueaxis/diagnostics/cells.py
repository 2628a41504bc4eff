"""Wrong and missing cells of rows: where they are, and the values that would fit.

Plots, report and command line show these numbers and compute none of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis._validation import fitted_rows, raw_rows
from trueaxis.data.threads import ignore_float_errors
from trueaxis.diagnostics.tables import row_labels, to_frame
from trueaxis.pipeline import SplitPipeline, column_names, takes_pipelines

if TYPE_CHECKING:
    from trueaxis.dswl.estimator import DSWL


class CellMap(NamedTuple):
    """All cells of rows, and the values predicted by the other cells of their row.

    Attributes
    ----------
    values : ndarray of shape (n, D)
        As given, with NaN for missing cells.
    fitted : ndarray of shape (n, D)
        Values predicted by the good cells of the row.
    deviations : ndarray of shape (n, D)
        Value minus the one predicted by the other cells, in standard deviations of good
        cells; NaN for missing cells.
    wrong : ndarray of shape (n, D), bool
        Wrong cells.
    missing : ndarray of shape (n, D), bool
    outlier : ndarray of shape (n,), bool
        Rows that are outliers, even if their wrong cells are replaced.
    names : ndarray of str
        Names of the columns.
    """

    values: NDArray[np.float64]
    fitted: NDArray[np.float64]
    deviations: NDArray[np.float64]
    wrong: NDArray[np.bool_]
    missing: NDArray[np.bool_]
    outlier: NDArray[np.bool_]
    names: NDArray[np.str_]

    def take(self, rows: NDArray[np.intp]) -> CellMap:
        """Return the cells of some rows."""
        return CellMap._make([*(part[rows] for part in self[:-1]), self.names])

    def listed(self, *, missing: bool = False, first: int = 0) -> dict[str, Any]:
        """Return the wrong cells, and missing ones if asked for, as columns of a table.

        "position" counts rows from `first`, and "column" is an index.
        """
        at = row, column = np.nonzero(self.wrong | (self.missing & missing))
        return {
            "position": first + row,
            "column": column,
            "value": self.values[at],
            "fitted": self.fitted[at],
            "deviation": self.deviations[at],
            "outlier": self.outlier[row],
        }

    def __repr__(self) -> str:
        n, D = self.wrong.shape
        return (
            f"CellMap({n:,} rows, {D:,} columns, {self.wrong.sum():,} wrong and "
            f"{self.missing.sum():,} missing cells)"
        )


def _map_in_units_of_data(cells: CellMap, parts: SplitPipeline) -> CellMap:
    values, fitted = map(parts.restored, (cells.values, cells.fitted))
    return cells._replace(values=values, fitted=fitted)


@takes_pipelines(_map_in_units_of_data)
def cell_map(model: DSWL, X: ArrayLike) -> CellMap:
    """Compare every cell of rows with the prediction by the other cells of its row.

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
    parts = zip(*(block[:-1] for _, block in _blocks(model, X)), strict=True)
    return CellMap._make([*map(np.concatenate, parts), column_names(model)])


@ignore_float_errors
def cell_table(model: Any, X: ArrayLike, *, missing: bool = False) -> Any:
    """List the wrong cells of rows, in order, with the values that would fit.

    Parameters
    ----------
    model : DSWL or Pipeline
        Fitted with ``cells=True``, or with missing cells; alone or at the end of a
        pipeline. After a `ColumnScaler`, values are in the units of the data.
    X : array-like of shape (n, D)
        Rows, those of the fit or new ones.
    missing : bool, default=False
        Whether to list missing cells as well.

    Returns
    -------
    pandas.DataFrame, or ndarray with named fields if pandas is not installed
        One line per cell: "row" (its number, or its label in the index of a frame),
        "column", "value" (NaN if missing), "fitted" (predicted by the good cells of the
        row), "deviation" (value minus the prediction by the other cells, in standard
        deviations of good cells), "outlier" (whether the row is an outlier even without
        its wrong cells), and "position" (of the row, from 0).

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
    """Return `CellMap.listed` of all rows, of which only some have to be in memory."""
    found = [
        block.listed(missing=missing, first=first) for first, block in _blocks(model, X)
    ]
    return {name: np.concatenate([each[name] for each in found]) for name in found[0]}


def _blocks(model: DSWL, X: ArrayLike) -> Iterator[tuple[int, CellMap]]:
    """Yield the cells of some rows at a time, with the index of the first row."""
    if not hasattr(model, "repair"):
        raise TypeError(f"{type(model).__name__} judges no cells: pass a fitted DSWL.")
    with fitted_rows(model, X) as rows:
        (regular,), _ = rows.scan(model._support_kernel())
    names, repair = column_names(model), model._repair()
    with raw_rows(model, X) as rows:
        for first, block in rows.blocks():
            repaired, missing = repair.repair(block), np.isnan(block)
            outlier = np.asarray(~regular[first : first + len(block)])
            # A row with too many wrong cells keeps them. If it is regular as it is,
            # none of them is wrong.
            fine = repaired.crowded & ~outlier
            wrong = np.asarray(~repaired.good & ~missing & ~fine[:, None])
            found = repaired.fitted, repaired.deviations, wrong, missing, outlier
            yield first, CellMap(block, *found, names)
