"""Columns that make a row an outlier: contributions, and the column to correct."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis._rows.base import RecordKernel, Rows
from trueaxis._validation import fitted_rows
from trueaxis.diagnostics.filled import cell_repair

if TYPE_CHECKING:
    from trueaxis._engine.cells.model import CellModel
    from trueaxis.estimators.base import SubspaceEstimator

# Squared distance of a unit vector from the subspace, below which it counts as inside.
WITHIN = 1e-10
LEAST = 1e-75  # smallest cut-off: the square of its inverse must not overflow


class Contributions(NamedTuple):
    """Contributions of every column to the squared distances, each (n, D).

    score : sums to the squared score distance; negative where a column pulls the row
        back toward the center
    orthogonal : sums to the squared orthogonal distance
    """

    score: NDArray[np.float64]
    orthogonal: NDArray[np.float64]


def contributions(model: SubspaceEstimator, X: ArrayLike) -> Contributions:
    """Compute what every column adds to the squared distances of each row.

    Parameters
    ----------
    model : estimator
        Any fitted method.
    X : array-like of shape (n, D)

    Returns
    -------
    Contributions
        Two arrays (n, D), whose rows sum to the squared distances.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.diagnostics import contributions
    >>> X = sensors().X
    >>> model = DSWL(2).fit(X)
    >>> parts = contributions(model, X)
    >>> bool(np.allclose(parts.score.sum(axis=1), model.distances(X).score ** 2))
    True
    """
    with fitted_rows(model, X) as rows:
        sub = model._subspace()
        y = rows.read() - sub.mean
    t = y @ sub.basis.T
    score = y * ((t / sub.floored_variances()) @ sub.basis)
    return Contributions(score, (y - t @ sub.basis) ** 2)


class ColumnCorrections(NamedTuple):
    """The column to correct in every row, each of shape (n,).

    column : index of the column
    share : part of the squared distances (in units of their cut-offs, added up) that
        the correction removes, 0 to 1
    surplus : value in that column minus the value that would fit best
    """

    column: NDArray[np.intp]
    share: NDArray[np.float64]
    surplus: NDArray[np.float64]


def column_corrections(model: SubspaceEstimator, rows: Rows) -> ColumnCorrections:
    """Find the column to correct in every row, in one pass."""
    repair = cell_repair(rows)
    kernel = ColumnCorrectionKernel(model, repair)
    # The kernel repairs rows itself, to see which cells there are.
    source = rows if repair is None else rows.rows  # type: ignore[attr-defined]
    (column, share, surplus), _ = source.scan(kernel)
    return ColumnCorrections(column.astype(np.intp), share, surplus)


class ColumnCorrectionKernel(RecordKernel):
    """Find the single column whose correction would help each row most.

    Contributions are smeared: a wrong value moves the scores, and with them the
    residuals of all other columns. So each column is set free in turn to see how far
    the distances fall. With q(y) = y'My, where M adds both squared distances in units
    of their cut-offs, they fall by (My)_j^2 / M_jj. For a single wrong value, no other
    column reaches a larger gain than the wrong one. A cell that `repair` filled or
    replaced cannot be corrected any further.
    """

    n_fields = 3
    title = "columns to correct"

    def __init__(
        self, model: SubspaceEstimator, repair: CellModel | None = None
    ) -> None:
        self.repair = repair
        self.sub, limits = model._subspace(), model.cutoffs_
        self.inside, self.off = (1 / max(c, LEAST) ** 2 for c in limits)
        P, variances = self.sub.basis, self.sub.floored_variances()
        with np.errstate(over="ignore"):  # where the variance is 0
            self.scaled = P / variances[:, None]
            own = self.inside * (P * self.scaled).sum(axis=0)
        # Columns inside the subspace differ from it by rounding errors only.
        outside = 1 - (P**2).sum(axis=0)
        self.outside = np.where(outside > WITHIN, outside, 0.0)
        self.diagonal = own + self.off * self.outside

    def absorb(
        self, state: None, block: NDArray[Any], first: int
    ) -> NDArray[np.float64]:
        """Return column, share and surplus of the rows of a block."""
        rows = block if self.repair is None else self.repair(block)
        y = rows - self.sub.mean
        t = y @ self.sub.basis.T
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            residual = np.where(self.outside > 0, y - t @ self.sub.basis, 0.0)
            My = self.inside * t @ self.scaled + self.off * residual
            total = np.einsum("ij,ij->i", My, y)
            gain = np.where(self.diagonal > 0, My**2 / self.diagonal, 0.0)
            if rows is not block:  # NaN differs from itself, too
                gain[rows != block] = 0.0
            column = np.nan_to_num(gain, nan=0.0, posinf=np.inf).argmax(axis=1)
            each = np.arange(len(y))
            share = gain[each, column] / total
            surplus = My[each, column] / self.diagonal[column]
        share = np.clip(np.nan_to_num(share, nan=0.0, posinf=1.0), 0.0, 1.0)
        return np.stack([column, share, np.nan_to_num(surplus, posinf=0.0, neginf=0.0)])
