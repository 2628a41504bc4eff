"""Subspaces, and how to solve for them, given weighted moments.

`moments` sums the rows; this module turns the sums into a center and a basis;
`reweighted` calls it once per iteration. Notation: m center, P basis (one row per
component).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.core.lapack import leading_eigen
from trueaxis.core.moments import Moments, NoSubspace, Scatter

# Variances below this share of the total are rounding errors. They are raised to it, so
# that rounding errors of a projection do not become score distances.
VARIANCE_FLOOR = 1e-20


NEWTON_CONVERGES = 0.5  # Newton steps do if the norm of I - BB' is below this;


LAST_NEWTON_STEP = 1e-8  # below this, one more step reaches machine precision


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
        """Return the axes that have variance; the others are arbitrary."""
        return self.basis[self.variances > 1e-14 * self.total]

    def sorted(self) -> Subspace:
        """Return the same axes, by decreasing variance."""
        order = np.argsort(-self.variances, kind="stable")
        return replace(self, basis=self.basis[order], variances=self.variances[order])

    def leading(self, k: int) -> Subspace:
        """Return the subspace of the first k axes."""
        if k == len(self.basis):
            return self
        return replace(self, basis=self.basis[:k], variances=self.variances[:k])

    def floored_variances(self) -> NDArray[np.float64]:
        """Return variances that are safe to divide by."""
        tiny = np.finfo(float).tiny
        # If nothing varies, distances are huge, but finite.
        floor = max(VARIANCE_FLOOR * self.total, tiny) if self.total > tiny else 1e-150
        rounding = np.square(self.basis) @ rounding_variances(self.mean)
        return np.maximum(self.variances, np.maximum(rounding, floor))


def rounding_variances(mean: NDArray[Any]) -> NDArray[np.float64]:
    """Return the largest variances of columns that rounding alone can cause."""
    # Below 1e150, so that squares stay finite: a constant column may be beyond.
    size = np.minimum(np.abs(mean), 1e150)
    variances: NDArray[np.float64] = np.square(ROUNDINGS * np.finfo(float).eps * size)
    return variances


class SquaresOverflow(NoSubspace):
    """Rows that carry weight are so far away that their squares overflow."""


def solve(moments: Moments, k: int, core: Moments | None = None) -> Subspace:
    """Return the weighted mean and the k leading eigenvectors of the scatter.

    If `core` is given, only the span comes from `moments`; center, variances and the
    rotation that makes the scores uncorrelated come from `core`.
    """
    basis, variances = top_eigen(moments.scatter(), k)
    if core is None:
        core = moments
    else:
        basis, variances = principal_axes(basis, core)
    mean = core.mean()
    # The variance of equal rows is a rounding error: set it to 0. The bound is per
    # column, so that a large constant column does not hide the others.
    noise = rounding_variances(mean)
    variances = np.where(variances > basis**2 @ noise, variances, 0.0)
    total = core.total() if (core.column_variances() > noise).any() else 0.0
    return Subspace(mean, basis, variances, max(total, float(variances.sum())))


def solve_from(moments: Moments, start: Subspace, powers: int = 2) -> Subspace:
    """Approximate `solve` by power steps from a subspace nearby.

    Like the exact solution, the result explains at least as much variance as `start`,
    and both have the same fixed points. In many dimensions it takes a third of the
    time.
    """
    powered = start.basis
    for _ in range(powers):
        powered = moments.scattered(powered)
        size = np.abs(powered).max(initial=0.0)
        if not size > 0 or not np.isfinite(size):
            return solve(moments, len(start.basis))
        powered /= size
    basis = np.linalg.qr(powered.T)[0].T
    return spanned(basis, moments)


def principal_axes(
    basis: NDArray[Any], moments: Scatter
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rotate a basis so that the scores are uncorrelated; also return variances."""
    inner, variances = top_eigen(moments.scattered(basis) @ basis.T, len(basis))
    return inner @ basis, variances


def spanned(basis: NDArray[Any], moments: Scatter) -> Subspace:
    """Return the subspace that a basis spans, with principal axes of the rows."""
    return _with_axes(*principal_axes(basis, moments), moments)


def along(axes: NDArray[Any], moments: Moments) -> Subspace:
    """Return the subspace with exactly these axes."""
    variances = np.einsum("ij,ij->i", moments.scattered(axes), axes)
    return _with_axes(axes, np.maximum(variances, 0.0), moments)


def _with_axes(
    axes: NDArray[Any], variances: NDArray[Any], moments: Scatter
) -> Subspace:
    total = max(moments.total(), float(variances.sum()))
    return Subspace(moments.mean(), axes, variances, total)


def orthonormal(B: NDArray[Any]) -> NDArray[np.float64]:
    """Return the nearest basis with orthonormal rows."""
    while True:
        defect = np.eye(len(B)) - B @ B.T
        size = np.linalg.norm(defect)
        if not size < NEWTON_CONVERGES:
            U, _, Vt = np.linalg.svd(B, full_matrices=False)
            nearest: NDArray[np.float64] = U @ Vt
            return nearest
        # Newton steps square the defect, and take a tenth of the time of an SVD.
        B = B + 0.5 * (defect @ B)
        if size < LAST_NEWTON_STEP:
            return B


def top_eigen(scatter: NDArray[Any], k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the leading eigenvectors (as rows) and eigenvalues.

    Only the upper triangle of `scatter` is read.
    """
    D = len(scatter)
    size = _largest(scatter)
    if size == 0 or k == 0:  # without variance, any basis is correct
        return np.eye(k, D), np.zeros(k)
    # A direct solver, because power iterations fail if spectral gaps are small. Divide
    # and conquer is faster unless few eigenvectors are needed.
    vectors = np.empty((D, 0))
    if 7 * k < D:
        values, vectors = leading_eigen(scatter / size, k)
    if vectors.shape[1] < k:  # LAPACK leaves some out if many eigenvalues are equal
        values, vectors = np.linalg.eigh(scatter / size, UPLO="U")
    leading = slice(-1, -k - 1, -1)
    return vectors.T[leading].copy(), np.maximum(values[leading], 0.0) * size


def _largest(scatter: NDArray[Any]) -> float:
    """Return the largest absolute entry of a scatter matrix, which must be finite."""
    size = float(np.abs(scatter).max(initial=0.0))
    if not np.isfinite(size):
        raise SquaresOverflow(
            "Squared distances overflow, because X has rows beyond 1e150 that carry "
            "weight. Remove them, rescale X, or use DSWL with its robust start, "
            'init="auto".'
        )
    return size


def axes_of_few(
    rows: NDArray[Any], k: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the leading eigenvectors (as rows) and eigenvalues of the sum of xx'.

    For fewer rows than columns: the axes are combinations of the rows, and no matrix
    of all pairs of columns is formed.
    """
    inner, values = top_eigen(rows @ rows.T, k)
    return np.asarray(np.linalg.qr((inner @ rows).T)[0].T), values


def spectrum(moments: Moments) -> NDArray[np.float64]:
    """Return all variances of the weighted rows, in decreasing order."""
    scatter = moments.scatter()
    _largest(scatter)  # LAPACK would only say that it did not converge
    values = np.linalg.eigvalsh(scatter, UPLO="U")
    return np.asarray(np.maximum(values[::-1], 0.0))


def subspace_change(P: NDArray[Any], Q: NDArray[Any]) -> float:
    """Return the root mean square sine of the angles between two orthonormal bases."""
    if not len(P):
        return 0.0
    # The norm of the residual: k - |PQ'|^2 cannot resolve angles below 1e-8.
    return float(np.linalg.norm(P - (P @ Q.T) @ Q) / np.sqrt(len(P)))


def fix_signs(basis: NDArray[Any]) -> NDArray[Any]:
    """Flip components so that their largest absolute loading is positive."""
    largest = np.abs(basis).argmax(axis=1)
    signs = np.sign(basis[np.arange(len(basis)), largest])
    return basis * np.where(signs == 0, 1.0, signs)[:, None]
