"""MEASURE: what bad rows do to plain PCA, and which rows do; see `diagnostics`.

Notation: y = x - m, t = P y, with m and P those of the robust model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import subspace_angles

from trueaxis._engine.starts import plain_moments
from trueaxis._engine.subspace import solve
from trueaxis._rows.base import Rows
from trueaxis._validation import fitted_rows

if TYPE_CHECKING:
    from trueaxis.estimators.base import SubspaceEstimator

LEAST = 0.0005  # share of a row in a change that is worth a line


@dataclass(frozen=True)
class Effect:
    """What bad rows did to plain PCA.

    Attributes
    ----------
    angles : ndarray of shape (k,)
        Principal angles between the robust and the plain subspace in degrees, largest
        first.
    shift : ndarray of shape (D,)
        Plain mean minus robust mean.
    tilt_share, shift_share : ndarray of shape (n,)
        Share of every row in the turn of the axes, and in the move of the mean; each
        sums to 1 (or is 0, where nothing moved).
    plain_variance : ndarray of shape (k,)
        Variances along the plain components, `explained_variance_` of `PlainPCA`.
    """

    angles: NDArray[np.float64]
    shift: NDArray[np.float64]
    tilt_share: NDArray[np.float64]
    shift_share: NDArray[np.float64]
    plain_variance: NDArray[np.float64]

    @property
    def angle(self) -> float:
        """The largest of the angles."""
        return float(self.angles.max(initial=0.0))


def responsible(share: NDArray[Any]) -> NDArray[np.intp]:
    """Numbers of the rows with a share that is worth a line, largest first."""
    order = np.argsort(-share, kind="stable")
    return order[share[order] >= LEAST]


def effect(model: SubspaceEstimator, X: ArrayLike) -> Effect:
    """How different plain PCA is on these rows, and which rows are responsible.

    A row turns the axes by what it adds to the covariance between the inside and the
    outside of the robust subspace, where regular rows leave none.

    Parameters
    ----------
    model : estimator
        Any fitted method.
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
    >>> found = effect(DSWL(3).fit(cloud.X), cloud.X)
    >>> bool(found.angles[0] > 80)
    True
    >>> bool(found.shift_share[cloud.is_outlier].sum() > 0.9)
    True
    """
    with fitted_rows(model, X) as rows:
        return _effect(model, rows)


def _effect(model: SubspaceEstimator, rows: Rows) -> Effect:
    robust = model._subspace()
    P, m = robust.basis, robust.mean
    plain = solve(plain_moments(rows, None), len(P))
    angles = principal_angles(P, plain.basis)
    shift = plain.mean - m

    def parts(block: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        y = block - m
        t = y @ P.T
        return y - t @ P, t, y

    # Shares know no unit, and in a unit of their own the products cannot overflow.
    units = np.zeros(3)
    for _, block in rows.blocks():
        sizes = [np.abs(part).max(initial=0.0) for part in parts(block)]
        units = np.maximum(units, sizes)
    units[units == 0] = 1.0
    # Sum over rows of residual t', without forming D x k matrices of single rows.
    tilt = np.zeros(P.T.shape)
    for _, block in rows.blocks():
        residual, t, _ = parts(block)
        tilt += (residual / units[0]).T @ (t / units[1])
    direction = shift / (np.abs(shift).max() or 1.0)
    tilts, moves = np.empty(rows.shape[0]), np.empty(rows.shape[0])
    for first, block in rows.blocks():
        residual, t, y = parts(block)
        some = slice(first, first + len(block))
        tilts[some] = np.einsum("ij,ij->i", residual / units[0] @ tilt, t / units[1])
        moves[some] = (y / units[2]) @ direction
    n = rows.shape[0]
    variance = plain.variances * (n / max(n - 1, 1))
    return Effect(angles, shift, _shares(tilts), _shares(moves), variance)


def principal_angles(P: NDArray[Any], Q: NDArray[Any]) -> NDArray[np.float64]:
    """Angles between the subspaces of two bases (rows) in degrees, largest first."""
    return np.degrees(subspace_angles(P.T.astype(float), Q.T.astype(float)))


def largest_angle(P: NDArray[Any], Q: NDArray[Any]) -> float:
    """The largest angle between the subspaces of two bases (rows) in degrees."""
    return float(principal_angles(P, Q)[0])


def _shares(x: NDArray[Any]) -> NDArray[np.float64]:
    total = x.sum()
    return x / total if total > 0 else np.zeros_like(x)
