"""Influence of single rows on plain PCA: how far they turn its axes and move its mean.

Notation: y = x - m, t = P y, where m and P are the mean and the basis of the robust
model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import subspace_angles

from trueaxis._validation import fitted_rows
from trueaxis.cells.model import CellModel
from trueaxis.core.problem import affine_hull
from trueaxis.core.starts import plain_moments
from trueaxis.core.subspace import SquaresOverflow, Subspace, solve
from trueaxis.data.rows import Kernel, Rows
from trueaxis.data.transformed import TransformedRows, Where
from trueaxis.diagnostics.columns import cell_repair
from trueaxis.pipeline import SplitPipeline, takes_pipelines
from trueaxis.preprocessing.scaler import Scaling

if TYPE_CHECKING:
    from trueaxis.base import SubspaceEstimator


@dataclass(frozen=True, repr=False)
class Effect:
    """Effect of the outliers on plain PCA.

    Attributes
    ----------
    angles : ndarray of shape (k,)
        Principal angles between the robust and the plain subspace in degrees, largest
        first.
    shift : ndarray of shape (D,)
        Plain mean minus robust mean.
    plain_variance : ndarray of shape (k,)
        Variances along the plain components, `explained_variance_` of `PlainPCA`;
        infinite if they are beyond the range of floats.
    tilt_share, shift_share : ndarray of shape (n,)
        Share of every row in the turn of the axes and in the shift of the mean. Each
        sums to 1, or is 0 where nothing moved.
    """

    angles: NDArray[np.float64]
    shift: NDArray[np.float64]
    plain_variance: NDArray[np.float64]
    tilt_share: NDArray[np.float64]
    shift_share: NDArray[np.float64]

    @property
    def angle(self) -> float:
        """Largest of the angles."""
        return float(self.angles.max(initial=0.0))

    def __repr__(self) -> str:
        n = len(self.tilt_share)
        return f"Effect({n:,} rows, largest angle {self.angle:.3g} degrees)"


def _in_units_of_data(found: Any, parts: SplitPipeline) -> Any:
    return replace(found, shift=parts.unscaled(found.shift))


@takes_pipelines(_in_units_of_data)
def effect(model: SubspaceEstimator, X: ArrayLike) -> Effect:
    """Compare plain PCA with a robust model, and find the responsible rows.

    A row turns the axes by what it adds to the covariance between the inside and the
    outside of the robust subspace. Regular rows add almost nothing there.

    For plain PCA, the model fills missing cells; wrong cells stay as they are.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or at the end of a pipeline. After a `ColumnScaler`,
        plain PCA gets scaled rows, too, and `shift` is in the units of the data.
    X : array-like of shape (n, D)
        Rows, usually those of the fit.

    Returns
    -------
    Effect

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import planted
    >>> from trueaxis.diagnostics import effect
    >>> cloud = planted("ocs", share=0.2)
    >>> change = effect(DSWL(3).fit(cloud.X), cloud.X)
    >>> bool(change.angles[0] > 80)
    True
    >>> bool(change.shift_share[cloud.is_outlier].sum() > 0.9)
    True
    """
    with fitted_rows(model, X) as fitted:
        robust, rows = model._subspace(), imputed(fitted)
        try:
            return _effect(robust, rows)
        except SquaresOverflow:
            pass
        # Repeat in a larger unit. Powers of two are exact; 32 bits are left for
        # the sum over all rows.
        unit = 2.0 ** (np.finfo(rows.dtype).maxexp // 2 + 32)
        D = rows.shape[1]
        scaling = Scaling(np.zeros(D, rows.dtype), np.full(D, unit, rows.dtype))
        smaller = replace(robust, mean=robust.mean / unit)
        found = _effect(smaller, TransformedRows(rows, scaling))
    # Values beyond the range of floats are infinite.
    variance = found.plain_variance * unit * unit
    return replace(found, shift=found.shift * unit, plain_variance=variance)


def _effect(robust: Subspace, rows: Rows) -> Effect:
    # For n rows in more than n columns, n coordinates suffice: a matrix of all pairs of
    # columns would be large.
    n, P, hull = rows.shape[0], robust.basis, affine_hull(rows)
    moments = plain_moments(hull.rows, None)
    plain = hull.lift(solve(moments, len(P)))
    shift = plain.mean - robust.mean
    if hull.frame is None:
        spread = moments.scattered(P)
    else:
        spread = moments.scattered(P @ hull.frame.T) @ hull.frame
    spread += np.outer(P @ shift, shift)  # about the robust center
    # The covariance of scores and residuals, which is 0 for axes of plain PCA.
    tilt = spread - spread @ P.T @ P
    # Shares have no unit, and rows of about unit length do not overflow.
    unit = float(np.sqrt(plain.total + shift @ shift)) or 1.0
    largest = np.abs(tilt).max(initial=0.0) or 1.0
    direction = shift / (np.abs(shift).max() or 1.0)
    kernel = InfluenceKernel(robust, unit, tilt / largest, direction)
    (tilts, shifts), _ = rows.scan(kernel)
    return Effect(
        angles=principal_angles(P, plain.basis),
        shift=shift,
        plain_variance=plain.variances * (n / max(n - 1, 1)),
        tilt_share=_shares(tilts),
        shift_share=_shares(shifts),
    )


@dataclass(frozen=True)
class Filling:
    """Transform of blocks: fill missing cells, and leave all others as they are."""

    model: CellModel

    def __call__(self, block: NDArray[Any], where: Where | None = None) -> NDArray[Any]:
        """Return the block with missing cells filled."""
        return self.model.impute(block)

    def part(self, first: int, n: int) -> Filling:
        """Return the transform of n rows, which is the same for all rows."""
        return self


def imputed(rows: Rows) -> Rows:
    """Return the rows that `fitted_rows` returned, with their wrong cells put back.

    The same object if no cells were replaced.
    """
    repair = cell_repair(rows)
    if repair is None or repair.wrong is None:
        return rows
    assert isinstance(rows, TransformedRows)
    return TransformedRows(rows.rows, Filling(repair))


class InfluenceKernel(Kernel):
    """Record what every row adds to the tilt and to the shift of the mean."""

    n_fields = 2

    def __init__(
        self,
        subspace: Subspace,
        unit: float,
        tilt: NDArray[np.float64],
        direction: NDArray[np.float64],
    ) -> None:
        self.subspace, self.unit = subspace, unit
        self.tilt, self.direction = tilt, direction

    def absorb(
        self, state: None, block: NDArray[Any], first: int
    ) -> NDArray[np.float64]:
        """Return tilt and shift of the rows of a block."""
        P = self.subspace.basis
        y = (block - self.subspace.mean) / self.unit
        t = y @ P.T
        tilt = np.einsum("ij,ij->i", (y - t @ P) @ self.tilt.T, t)
        return np.stack([tilt, y @ self.direction])


def principal_angles(P: NDArray[Any], Q: NDArray[Any]) -> NDArray[np.float64]:
    """Return the angles between two subspaces in degrees, largest first.

    P and Q hold a basis each, one vector per row.
    """
    angles: NDArray[np.float64] = subspace_angles(P.T.astype(float), Q.T.astype(float))
    return np.degrees(angles)


def largest_angle(P: NDArray[Any], Q: NDArray[Any]) -> float:
    """Return the largest angle between two subspaces in degrees."""
    return float(principal_angles(P, Q)[0])


def _shares(x: NDArray[Any]) -> NDArray[np.float64]:
    total = x.sum()
    return x / total if total > 0 else np.zeros_like(x)
