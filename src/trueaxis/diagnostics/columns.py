"""Columns of rows: which one causes the distances, and the value that would fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis._validation import fitted_rows, raw_rows
from trueaxis.cells.model import CellModel
from trueaxis.data.rows import Kernel, Rows
from trueaxis.data.transformed import (
    TransformedRows,
    largest_magnitude,
    largest_squarable,
)
from trueaxis.pipeline import SplitPipeline, takes_pipelines

if TYPE_CHECKING:
    from trueaxis.base import SubspaceEstimator

# Squared distance of a unit vector from the subspace, below which it counts as inside.
INSIDE_SUBSPACE = 1e-10
LEAST_CUTOFF = 1e-75  # smallest cut-off: the square of its inverse must not overflow
MAIN_SHARE = 0.5  # a column with this share of the distance is the only one named


def cell_repair(rows: Rows) -> CellModel | None:
    """Return the model that repairs the rows of `fitted_rows`, if there is one."""
    if isinstance(rows, TransformedRows) and isinstance(rows.change, CellModel):
        return rows.change
    return None


class ColumnCorrectionKernel(Kernel):
    """Find the single column whose correction would help each row most.

    A wrong value moves the scores, and with them the residuals of all other columns, so
    that these say little about the cause. Instead, each column is set free in turn to
    see how far the distances fall. With q(y) = y'My, where M adds both squared
    distances in units of their cut-offs, they fall by (My)_j^2 / M_jj. For a single
    wrong value, no other column reaches a larger gain than the wrong one. A cell that
    `repair` filled or replaced cannot be corrected any further.
    """

    n_fields = 4

    def __init__(
        self, model: SubspaceEstimator, repair: CellModel | None = None
    ) -> None:
        self.repair = repair
        self.sub, limits = model._subspace(), model.cutoffs_
        self.inside, self.off = (1 / max(c, LEAST_CUTOFF) ** 2 for c in limits)
        P, variances = self.sub.basis, self.sub.floored_variances()
        with np.errstate(over="ignore"):  # where the variance is 0
            self.scaled = P / variances[:, None]
            own = self.inside * (P * self.scaled).sum(axis=0)
        # Columns inside the subspace differ from it by rounding errors only.
        outside = 1 - (P**2).sum(axis=0)
        self.outside = np.where(outside > INSIDE_SUBSPACE, outside, 0.0)
        self.diagonal = own + self.off * self.outside
        # My = t times one matrix, plus y times one number for each column.
        self.of_values = np.where(self.outside > 0, self.off, 0.0)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            self.of_scores = self.inside * self.scaled - self.of_values * P
            self.inverse = np.where(self.diagonal > 0, 1 / self.diagonal, 0.0)

    def absorb(
        self, state: None, block: NDArray[Any], first: int
    ) -> NDArray[np.float64]:
        """Return column, share, value and surplus of the rows of a block."""
        column, share, surplus = self.freed(block, best=True)
        value = block[np.arange(len(block)), column]
        return np.stack([column, share[:, 0], value, surplus[:, 0]])

    def freed(
        self, block: NDArray[Any], *, best: bool = False
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        """Set each column of every row free in turn.

        Parameters
        ----------
        block : ndarray of shape (n, D)
        best : bool
            Whether to return the results of the best column of every row only, which
            takes less time.

        Returns
        -------
        column : ndarray of shape (n,)
            The one whose correction helps most.
        share : ndarray of shape (n, D), or (n, 1)
            By how much the squared distances fall, as a part of them.
        surplus : ndarray of shape (n, D), or (n, 1)
            Value minus the value that would fit best.
        """
        rows = block if self.repair is None else self.repair(block)
        y = rows - self.sub.mean
        unit: Any = 1.0
        if not largest_magnitude(y) <= largest_squarable(y.dtype):
            unit = _far_units(y)
            y /= unit
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            My = (y @ self.sub.basis.T) @ self.of_scores
            My += self.of_values * y
            total = np.einsum("ij,ij->i", My, y)[:, None]
            gain = np.square(My, out=y)
            gain *= self.inverse
            if not (self.diagonal > 0).all():
                gain[:, self.diagonal <= 0] = 0.0
            if rows is not block:  # NaN differs from itself, too
                gain[rows != block] = 0.0
            if not np.isfinite(total).all():
                gain = np.nan_to_num(gain, nan=0.0, posinf=np.inf)
            column, of = gain.argmax(axis=1), self.diagonal
            if best:
                at = column[:, None]
                gain, My = (np.take_along_axis(x, at, axis=1) for x in (gain, My))
                of = self.diagonal[at]
            share = np.nan_to_num(gain / total, nan=0.0, posinf=1.0)
            surplus = np.nan_to_num(unit * (My / of), posinf=0.0, neginf=0.0)
        return column, np.clip(share, 0.0, 1.0), surplus

    def spread(self) -> NDArray[np.float64]:
        """Return the standard deviation of every column's surplus in regular rows.

        It is that of (My)_j / M_jj, if y has the covariance of the model.
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


def _in_units_of_data(explained: dict[str, Any], parts: SplitPipeline) -> Any:
    return explained | {x: parts.restored(explained[x]) for x in ("value", "fitted")}


@takes_pipelines(_in_units_of_data)
def explained_rows(
    model: SubspaceEstimator, X: ArrayLike, rows: NDArray[np.intp]
) -> dict[str, NDArray[np.float64]]:
    """Return the columns of `explain` for rows at m positions, as arrays (m, D)."""
    with raw_rows(model, X) as source:
        value = source.take(rows).astype(float)
    with fitted_rows(model, X) as source:
        repair = cell_repair(source)
    worst, share, _ = ColumnCorrectionKernel(model, repair).freed(value)
    used = value if repair is None else repair(value)
    kernel = ColumnCorrectionKernel(model)
    alone = kernel.freed(used)[2]
    # One wrong value makes all others look wrong: where one column explains most of the
    # distance of a row, the others are compared as if it had been corrected.
    blamed = (share >= MAIN_SHARE) & (np.arange(len(share.T)) == worst[:, None])
    beside = kernel.freed(np.where(blamed, used - alone, used))[2]
    surplus = np.where(blamed, alone, beside)
    fitted = np.where(used == value, used - surplus, used)
    with np.errstate(divide="ignore", invalid="ignore"):
        # A column in which regular rows do not vary is infinitely far off, or not.
        deviation = np.where(fitted == value, 0.0, (value - fitted) / kernel.spread())
    return {"value": value, "fitted": fitted, "deviation": deviation, "share": share}
