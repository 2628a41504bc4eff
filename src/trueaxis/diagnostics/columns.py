"""Columns of rows: what they add to the distances, and what would fit in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis._validation import fitted_rows, raw_rows
from trueaxis.data.rows import Kernel
from trueaxis.data.transformed import largest_squarable
from trueaxis.diagnostics.inputs import cell_repair, takes_pipelines
from trueaxis.pipeline import SplitPipeline

if TYPE_CHECKING:
    from trueaxis.base import SubspaceEstimator
    from trueaxis.cells.model import CellModel

# Squared distance of a unit vector from the subspace, below which it counts as inside.
WITHIN = 1e-10
LEAST = 1e-75  # smallest cut-off: the square of its inverse must not overflow
MAIN_SHARE = 0.5  # a column with this share of the distance is the only one named


class Contributions(NamedTuple):
    """Contributions of every column to the squared distances, each (n, D).

    Parameters
    ----------
    score : ndarray of shape (n, D)
        Sums to the squared score distance; negative where a column pulls the row back
        toward the center.
    orthogonal : ndarray of shape (n, D)
        Sums to the squared orthogonal distance.
    """

    score: NDArray[np.float64]
    orthogonal: NDArray[np.float64]

    def __repr__(self) -> str:
        n, D = self.score.shape
        return f"Contributions({n:,} rows, {D:,} columns)"


@takes_pipelines()
def contributions(model: SubspaceEstimator, X: ArrayLike) -> Contributions:
    """Compute what every column adds to the squared distances of each row.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or at the end of a pipeline.
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


class FreedColumns(NamedTuple):
    """What happens if each column of a row in turn is set free.

    gain : (n, D), by how much the squared distances fall, in units of their cut-offs
    surplus : (n, D), value minus the value that would fit best
    total : (n,), the squared distances, in units of their cut-offs, added up

    `gain` and `total` of rows whose squares would overflow are in another unit.
    """

    gain: NDArray[np.float64]
    surplus: NDArray[np.float64]
    total: NDArray[np.float64]

    def shares(self) -> NDArray[np.float64]:
        """Return the gains as parts of the total, 0 to 1."""
        return _as_shares(self.gain, self.total[:, None])


class ColumnCorrectionKernel(Kernel):
    """Find the single column whose correction would help each row most.

    Contributions are smeared: a wrong value moves the scores, and with them the
    residuals of all other columns. So each column is set free in turn to see how far
    the distances fall. With q(y) = y'My, where M adds both squared distances in units
    of their cut-offs, they fall by (My)_j^2 / M_jj. For a single wrong value, no other
    column reaches a larger gain than the wrong one. A cell that `repair` filled or
    replaced cannot be corrected any further.
    """

    n_fields = 4

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
        # My = t times one matrix, plus y times one number for each column.
        self.of_values = np.where(self.outside > 0, self.off, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            self.of_scores = self.inside * self.scaled - self.of_values * P

    def absorb(
        self, state: None, block: NDArray[Any], first: int
    ) -> NDArray[np.float64]:
        """Return column, share, value and surplus of the rows of a block."""
        quick = self._quickly(block)
        if quick is not None:
            return quick
        # Values overflow, or nothing varies.
        freed = self.freed(block)
        column = np.nan_to_num(freed.gain, nan=0.0, posinf=np.inf).argmax(axis=1)
        best = np.arange(len(block)), column
        share = _as_shares(freed.gain[best], freed.total)
        return np.stack([column, share, block[best], freed.surplus[best]])

    def _quickly(self, block: NDArray[Any]) -> NDArray[np.float64] | None:
        """Return the same as `freed` has, several times as fast, for ordinary rows."""
        if not (self.diagonal > 0).all():
            return None
        rows = block if self.repair is None else self.repair(block)
        y = rows - self.sub.mean
        with np.errstate(over="ignore", invalid="ignore"):
            My = (y @ self.sub.basis.T) @ self.of_scores
            My += self.of_values * y
            total = np.einsum("ij,ij->i", My, y)
            roots = np.abs(My / np.sqrt(self.diagonal), out=y)
        if rows is not block:  # NaN differs from itself, too
            roots[rows != block] = 0.0
        column = roots.argmax(axis=1)
        best = np.arange(len(block)), column
        with np.errstate(over="ignore"):
            gain = roots[best] ** 2
        if not (np.isfinite(total) & np.isfinite(gain) & (total > 0)).all():
            return None
        share = np.minimum(gain / total, 1.0)
        return np.stack([column, share, block[best], My[best] / self.diagonal[column]])

    def freed(self, block: NDArray[Any]) -> FreedColumns:
        """Set each column of every row free in turn."""
        rows = block if self.repair is None else self.repair(block)
        y = rows - self.sub.mean
        unit = _far_units(y)
        y /= unit
        t = y @ self.sub.basis.T
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            residual = np.where(self.outside > 0, y - t @ self.sub.basis, 0.0)
            My = self.inside * t @ self.scaled + self.off * residual
            total = np.einsum("ij,ij->i", My, y)
            gain = np.where(self.diagonal > 0, My**2 / self.diagonal, 0.0)
            surplus = unit * (My / self.diagonal)
        if rows is not block:  # NaN differs from itself, too
            gain[rows != block] = 0.0
        surplus = np.nan_to_num(surplus, posinf=0.0, neginf=0.0)
        return FreedColumns(gain, surplus, total)

    def spread(self) -> NDArray[np.float64]:
        """Return the standard deviation of every column's surplus in regular rows.

        That of (My)_j / M_jj, if y has the covariance that the model says.
        """
        k, D = self.sub.basis.shape
        rest = max(self.sub.total - float(self.sub.variances.sum()), 0.0)
        noise = rest / max(D - k, 1)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            inside = self.inside**2 * (self.sub.basis * self.scaled).sum(axis=0)
            off = self.off**2 * noise * self.outside
            spread: NDArray[np.float64] = np.sqrt(inside + off) / self.diagonal
        return spread


def _far_units(y: NDArray[Any]) -> NDArray[np.float64]:
    """Return a power of 2 for every row, 1 for those whose squares are finite."""
    limit = largest_squarable(y.dtype)
    largest = np.abs(y).max(axis=1, initial=1.0, keepdims=True)
    exponents = np.where(largest > limit, np.frexp(largest)[1], 0)
    return np.ldexp(1.0, np.minimum(exponents, 1023))


def _as_shares(gain: NDArray[Any], total: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        share = np.nan_to_num(gain / total, nan=0.0, posinf=1.0)
    return np.asarray(np.clip(share, 0.0, 1.0))


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


def _in_units_of_data(explained: Explanation, parts: SplitPipeline) -> Explanation:
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
