"""Every column of single rows: its value, what would fit, and how far apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis._validation import fitted_rows, raw_rows
from trueaxis.data.threads import own_floats
from trueaxis.diagnostics.columns import MAIN_SHARE, ColumnCorrectionKernel
from trueaxis.diagnostics.filled import cell_repair
from trueaxis.diagnostics.outliers import diagnose
from trueaxis.diagnostics.pipelines import PipelineParts, takes_pipelines
from trueaxis.diagnostics.tables import (
    check_positions,
    column_names,
    row_labels,
    to_frame,
)

if TYPE_CHECKING:
    from trueaxis.base import SubspaceEstimator


class Explanation(NamedTuple):
    """Values and fits of all columns of m rows, each of shape (m, D).

    value : as given, NaN in holes
    fitted : what would fit best if the other columns of the row are right, or if the
        column that explains most of its distance is corrected
    deviation : value minus fitted, in standard deviations of regular rows
    share : part of the squared distances that this correction removes
    """

    value: NDArray[np.float64]
    fitted: NDArray[np.float64]
    deviation: NDArray[np.float64]
    share: NDArray[np.float64]


@own_floats
def explain(model: Any, X: ArrayLike, rows: ArrayLike | None = None) -> Any:
    """List every column of outliers, with its value and what would fit.

    What fits is found for each column alone, as if all other columns of the row were
    right. If one column explains at least half of the distance of a row, the others are
    compared as if it had been corrected; otherwise one wrong value would make all
    others look wrong. If several columns are wrong, look at those with large shares.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or at the end of a pipeline. After a `ColumnScaler`,
        values are in the units of the data.
    X : array-like of shape (n, D)
        Rows, those of the fit or new ones.
    rows : sequence of int, optional
        Positions of the rows, from 0; by default those of all outliers, worst first.

    Returns
    -------
    pandas.DataFrame, or ndarray with named fields if pandas is not installed
        One line per row and column: "row" (its number, or its label in the index of a
        frame), "column", "value" (NaN for a hole), "fitted", "deviation" (value minus
        fitted, in standard deviations of regular rows), "share" (the part of the
        squared distances, in units of their cut-offs, that "fitted" would remove), and
        "position" (of the row, from 0). Cells that the model has filled or replaced
        have the value that it uses as "fitted", and no share.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.diagnostics import explain
    >>> X = sensors().X
    >>> table = explain(DSWL(2).fit(X), X, rows=[62])  # x5, the vibration, is wrong
    >>> worst = table["share"].argmax()
    >>> str(table["column"][worst]), round(float(table["share"][worst]), 2)
    ('x5', 0.98)
    """
    n = _n_rows(model, X)
    if rows is None:
        chosen = diagnose(model, X).worst_first()
    else:
        chosen = check_positions(rows, n)
    explained, names = explained_rows(model, X, chosen), column_names(model)
    m, D = explained.value.shape
    return to_frame(
        {
            "row": np.repeat(row_labels(X, n)[chosen], D),
            "column": np.tile(names, m),
            "value": explained.value.ravel(),
            "fitted": explained.fitted.ravel(),
            "deviation": explained.deviation.ravel(),
            "share": explained.share.ravel(),
            "position": np.repeat(chosen, D),
        }
    )


def _in_units_of_data(explained: Explanation, parts: PipelineParts) -> Explanation:
    return explained._replace(
        value=parts.restored(explained.value), fitted=parts.restored(explained.fitted)
    )


@takes_pipelines(_in_units_of_data)
def explained_rows(
    model: SubspaceEstimator, X: ArrayLike, rows: NDArray[np.intp]
) -> Explanation:
    """Return values and fits of all columns of the rows at these positions."""
    with raw_rows(model, X) as source:
        value = source.take(rows).astype(float)
    with fitted_rows(model, X) as source:
        repair = cell_repair(source)
    kernel = ColumnCorrectionKernel(model, repair)
    freed = kernel.freed(value)
    used = value if repair is None else repair(value)
    surplus = surplus_beside_blamed(model, used, freed.shares())
    fitted = np.where(used == value, used - surplus, used)
    with np.errstate(divide="ignore", invalid="ignore"):
        # A column in which regular rows do not vary is infinitely far off, or not.
        deviation = np.where(fitted == value, 0.0, (value - fitted) / kernel.spread())
    return Explanation(value, fitted, deviation, freed.shares())


def surplus_beside_blamed(
    model: SubspaceEstimator, rows: NDArray[Any], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return every value minus the value that would fit best in its place.

    One wrong value makes all others look wrong: where one column explains most of the
    distance of a row, the others are compared as if it had been corrected.
    """
    kernel = ColumnCorrectionKernel(model)
    alone = kernel.freed(rows).surplus
    blamed = np.zeros(rows.shape, dtype=bool)
    if rows.size:
        at = np.arange(len(rows)), shares.argmax(axis=1)
        blamed[at] = shares[at] >= MAIN_SHARE
    corrected = np.where(blamed, rows - alone, rows)
    return np.where(blamed, alone, kernel.freed(corrected).surplus)


@takes_pipelines()
def _n_rows(model: SubspaceEstimator, X: ArrayLike) -> int:
    with raw_rows(model, X) as rows:
        return int(rows.shape[0])
