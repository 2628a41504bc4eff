"""SOLVE: weighted moments in, a subspace out.

`moments` sums the rows, this module turns the sums into a center and a basis, and
`reweighted` calls it once per iteration. Notation: m center, P basis (one row per
component).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from trueaxis._engine.moments import Moments

# Variances below this share of the total are rounding: a direction without variance
# must not turn the noise of a projection into a distance.
VARIANCE_FLOOR = 1e-20
NEARLY_ORTHONORMAL = 0.5  # what lacks, for steps that converge,
NO_MORE_STEPS = 1e-8  # and that one more step reduces to rounding
ROUNDINGS = 8


@dataclass(frozen=True)
class Subspace:
    """A center, an orthonormal basis and the variances along it.

    Attributes
    ----------
    mean : ndarray of shape (D,)
    basis : ndarray of shape (k, D)
        Orthonormal rows, by decreasing variance.
    variances : ndarray of shape (k,)
    total : float
        Variance in all directions together.
    """

    mean: NDArray[np.float64]
    basis: NDArray[np.float64]
    variances: NDArray[np.float64]
    total: float

    def supported(self) -> NDArray[np.float64]:
        """The part of the basis that has variance; the rest is arbitrary."""
        return self.basis[self.variances > 1e-14 * self.total]

    def sorted(self) -> Subspace:
        """The same axes, by decreasing variance."""
        order = np.argsort(-self.variances, kind="stable")
        return replace(self, basis=self.basis[order], variances=self.variances[order])

    def floored_variances(self) -> NDArray[np.float64]:
        """Variances that are safe to divide by."""
        tiny = np.finfo(float).tiny
        # Where nothing varies, distances are huge, but finite.
        floor = max(VARIANCE_FLOOR * self.total, tiny) if self.total > tiny else 1e-150
        return np.maximum(self.variances, floor)


def solve(moments: Moments, k: int, core: Moments | None = None) -> Subspace:
    """Best subspace for the weighted rows: weighted mean and top-k of the scatter.

    Where `core` is given, the span comes from `moments`, while the center and the
    variances (and the rotation that makes the scores uncorrelated) come from `core`.
    """
    basis, variances = top_eigen(moments.scatter(), k)
    if core is None:
        core = moments
    else:
        basis, variances = principal_axes(basis, core)
    mean = core.mean()
    # Rows that are all alike have the variance of rounding: none. Each column has its
    # own, and a constant one, however large, must not hide the others.
    noise = (ROUNDINGS * np.finfo(float).eps * mean) ** 2
    variances = np.where(variances > basis**2 @ noise, variances, 0.0)
    total = core.total() if (core.column_variances() > noise).any() else 0.0
    return Subspace(mean, basis, variances, max(total, float(variances.sum())))


def solve_from(moments: Moments, start: Subspace, powers: int = 2) -> Subspace:
    """`solve` by power steps from a subspace nearby.

    Like the exact solution it does not lower the variance inside the subspace, and it
    stays where the exact one does; of many dimensions it takes a third of the time.
    """
    powered = start.basis
    for _ in range(powers):
        powered = moments.scattered(powered)
    size = np.abs(powered).max(initial=0.0)
    if not size > 0 or not np.isfinite(size):
        return solve(moments, len(start.basis))
    basis = np.linalg.qr((powered / size).T)[0].T
    return Subspace(moments.mean(), *principal_axes(basis, moments), moments.total())


def principal_axes(
    basis: NDArray[Any], moments: Moments
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Turn a basis inside its span so that scores are uncorrelated; their variances."""
    inner, variances = top_eigen(moments.scattered(basis) @ basis.T, len(basis))
    return inner @ basis, variances


def spanned(basis: NDArray[Any], moments: Moments) -> Subspace:
    """The subspace of a basis, turned to principal axes of the rows."""
    return _measured(*principal_axes(basis, moments), moments)


def along(axes: NDArray[Any], moments: Moments) -> Subspace:
    """The subspace of axes that are to stay as they are."""
    variances = np.einsum("ij,ij->i", moments.scattered(axes), axes)
    return _measured(axes, np.maximum(variances, 0.0), moments)


def _measured(
    axes: NDArray[Any], variances: NDArray[Any], moments: Moments
) -> Subspace:
    total = max(moments.total(), float(variances.sum()))
    return Subspace(moments.mean(), axes, variances, total)


def orthonormal(B: NDArray[Any]) -> NDArray[np.float64]:
    """The nearest basis with orthonormal rows."""
    while True:
        lacks = np.eye(len(B)) - B @ B.T
        size = np.linalg.norm(lacks)
        if not size < NEARLY_ORTHONORMAL:
            U, _, Vt = np.linalg.svd(B, full_matrices=False)
            return U @ Vt
        # Newton's steps square what is lacking, for a tenth of the time.
        B = B + 0.5 * (lacks @ B)
        if size < NO_MORE_STEPS:
            return B


def top_eigen(scatter: NDArray[Any], k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Leading eigenvectors (as rows) and eigenvalues; reads the upper triangle."""
    D = len(scatter)
    size = np.abs(scatter).max(initial=0.0)
    if not np.isfinite(size):
        raise ValueError(
            "The squared distances of the rows overflow: X has rows beyond 1e150 that "
            "carry weight. Remove them, rescale X, or use DSWL with its robust start, "
            'init="auto".'
        )
    if size == 0 or k == 0:  # no variance: any basis is right, take the axes
        return np.eye(k, D), np.zeros(k)
    # Scaled to 1 and computed exactly, not by power iterations, which go wrong on
    # small spectral gaps. Divide and conquer is faster unless few vectors are wanted.
    if 7 * k < D:
        values, vectors = scipy.linalg.eigh(
            scatter / size,
            subset_by_index=[D - k, D - 1],
            lower=False,
            overwrite_a=True,
            check_finite=False,
        )
    else:
        values, vectors = np.linalg.eigh(scatter / size, UPLO="U")
    leading = slice(-1, -k - 1, -1)
    return vectors.T[leading].copy(), np.maximum(values[leading], 0.0) * size


def spectrum(moments: Moments) -> NDArray[np.float64]:
    """Return all variances of the weighted rows, in decreasing order."""
    values = scipy.linalg.eigvalsh(moments.scatter(), lower=False)
    return np.maximum(values[::-1], 0.0)


def subspace_change(P: NDArray[Any], Q: NDArray[Any]) -> float:
    """Angle between the spans of two orthonormal bases (root mean square of sines)."""
    if not len(P):
        return 0.0
    # The residual itself: k - |PQ'|^2 cannot resolve less than 1e-8.
    return float(np.linalg.norm(P - (P @ Q.T) @ Q) / np.sqrt(len(P)))


def fix_signs(basis: NDArray[Any]) -> NDArray[Any]:
    """Make the loading of largest size of every component positive."""
    biggest = np.abs(basis).argmax(axis=1)
    signs = np.sign(basis[np.arange(len(basis)), biggest])
    return basis * np.where(signs == 0, 1.0, signs)[:, None]
