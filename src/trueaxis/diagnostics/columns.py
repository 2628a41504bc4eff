"""Which columns make a row an outlier: contributions, and the column to correct."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis._validation import fitted_rows

if TYPE_CHECKING:
    from trueaxis.estimators.base import SubspaceEstimator

WITHIN = 1e-10  # squared length of what is left of a column that is in the subspace
LEAST = 1e-75  # a cut-off of 0 leaves no room, and its square must not overflow


class Contributions(NamedTuple):
    """What every column adds to the squared distances of rows, each (n, D).

    score : sums to the squared score distance; may be negative, where a column pulls
        the row back
    orthogonal : sums to the squared orthogonal distance
    """

    score: NDArray[np.float64]
    orthogonal: NDArray[np.float64]


def contributions(model: SubspaceEstimator, X: ArrayLike) -> Contributions:
    """What every column adds to the squared distances of rows.

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


class CorrectedColumn(NamedTuple):
    """A column for every row.

    column : its number
    share : of both squared distances in units of their cut-offs that would be gone
    surplus : what its value is above the one that would fit best
    """

    column: NDArray[np.intp]
    share: NDArray[np.float64]
    surplus: NDArray[np.float64]


class ColumnCorrection:
    """Which single column to put right, by how much that would help.

    Contributions smear: a wrong value moves the scores, and these the residuals of all
    other columns. So for each column in turn: how far would the distances fall, were it
    free? With q(y) = y'My, M the sum of both distances in units of their cut-offs, that
    is (My)_j^2 / M_jj, and no other column can take a single wrong value's blame.
    """

    def __init__(self, model: SubspaceEstimator) -> None:
        self.sub, limits = model._subspace(), model.cutoffs_
        self.inside, self.off = (1 / max(c, LEAST) ** 2 for c in limits)
        P, variances = self.sub.basis, self.sub.floored_variances()
        with np.errstate(over="ignore"):  # where there is no variance at all
            self.scaled = P / variances[:, None]
            own = self.inside * (P * self.scaled).sum(axis=0)
        # Of columns that lie in the subspace, only rounding is off it.
        outside = 1 - (P**2).sum(axis=0)
        self.outside = np.where(outside > WITHIN, outside, 0.0)
        self.diagonal = own + self.off * self.outside

    def __call__(self, block: NDArray[Any]) -> CorrectedColumn:
        """Return the column of every row, and what putting it right would do."""
        y = block - self.sub.mean
        t = y @ self.sub.basis.T
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            residual = np.where(self.outside > 0, y - t @ self.sub.basis, 0.0)
            My = self.inside * t @ self.scaled + self.off * residual
            total = np.einsum("ij,ij->i", My, y)
            gain = np.where(self.diagonal > 0, My**2 / self.diagonal, 0.0)
            column = np.nan_to_num(gain, nan=0.0, posinf=np.inf).argmax(axis=1)
            rows = np.arange(len(y))
            share = gain[rows, column] / total
            surplus = My[rows, column] / self.diagonal[column]
        share = np.clip(np.nan_to_num(share, nan=0.0, posinf=1.0), 0.0, 1.0)
        return CorrectedColumn(
            column, share, np.nan_to_num(surplus, posinf=0.0, neginf=0.0)
        )
