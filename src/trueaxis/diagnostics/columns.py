"""Columns that make a row an outlier: contributions, and the column to correct."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis._validation import fitted_rows
from trueaxis.data.checked import largest_squarable
from trueaxis.data.rows import RecordKernel, Rows
from trueaxis.diagnostics.filled import cell_repair
from trueaxis.diagnostics.pipelines import takes_pipelines

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
        # My = t times one matrix, plus y times one number for each column.
        own_off = np.where(self.outside > 0, self.off, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            self.of_scores = self.inside * self.scaled - own_off * P
        self.of_values = own_off

    def absorb(
        self, state: None, block: NDArray[Any], first: int
    ) -> NDArray[np.float64]:
        """Return column, share and surplus of the rows of a block."""
        quick = self._quickly(block)
        return self._thoroughly(block) if quick is None else quick

    def _quickly(self, block: NDArray[Any]) -> NDArray[np.float64] | None:
        """Return the same as `absorb` for rows without anything special, or None."""
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
        return np.stack([column, share, My[best] / self.diagonal[column]])

    def _thoroughly(self, block: NDArray[Any]) -> NDArray[np.float64]:
        """Return the same where values overflow, or where nothing varies."""
        freed = self.freed(block)
        gain = np.nan_to_num(freed.gain, nan=0.0, posinf=np.inf)
        column = gain.argmax(axis=1)
        best = np.arange(len(block)), column
        share = _as_shares(freed.gain[best], freed.total)
        return np.stack([column, share, freed.surplus[best]])

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
