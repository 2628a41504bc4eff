"""SOLVE: weighted moments in, a subspace out.

`moments` sums the rows, this module turns the sums into a centre and a basis, and
`reweighted` calls it once per iteration. Notation: m centre, P basis (one row per
component).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from trueaxis.engine.moments import Moments

# Variances below this share of the total are rounding: a direction without variance
# must not turn the noise of a projection into a distance.
VARIANCE_FLOOR = 1e-20


@dataclass(frozen=True)
class Subspace:
    """A centre, an orthonormal basis and the variances along it.

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

    def floored_variances(self) -> NDArray[np.float64]:
        """Variances that are safe to divide by."""
        floor = max(VARIANCE_FLOOR * self.total, np.finfo(float).tiny)
        return np.maximum(self.variances, floor)


def solve(moments: Moments, k: int, core: Moments | None = None) -> Subspace:
    """Best subspace for the weighted rows: weighted mean and top-k of the scatter.

    Where `core` is given, the span comes from `moments`, while the centre and the
    variances (and the rotation that makes the scores uncorrelated) come from `core`.
    """
    mean, scatter = moments.mean_and_scatter()
    basis, variances = top_eigen(scatter, k)
    if core is not None:
        mean, scatter = core.mean_and_scatter()
        inner, variances = top_eigen(basis @ scatter @ basis.T, k)
        basis = inner @ basis
    return Subspace(mean, basis, variances, float(np.trace(scatter)))


def top_eigen(scatter: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Leading eigenvectors (as rows) and eigenvalues of a symmetric matrix."""
    D = len(scatter)
    size = np.abs(scatter).max(initial=0.0)
    if not np.isfinite(size):
        raise ValueError(
            "The squared distances of the rows overflow: X has rows beyond 1e150 that "
            'carry weight. Remove them, rescale X, or use init="auto".'
        )
    if size == 0:  # no variance at all: any basis is right, take the axes
        return np.eye(k, D), np.zeros(k)
    # Scaled to 1 and computed exactly, not by power iterations, which go wrong on
    # small spectral gaps.
    values, vectors = scipy.linalg.eigh(
        scatter / size, subset_by_index=[D - k, D - 1], overwrite_a=True
    )
    return vectors.T[::-1].copy(), np.maximum(values[::-1], 0.0) * size


def spectrum(moments: Moments) -> NDArray[np.float64]:
    """Return all variances of the weighted rows, in decreasing order."""
    _, scatter = moments.mean_and_scatter()
    return np.maximum(scipy.linalg.eigvalsh(scatter)[::-1], 0.0)


def subspace_change(P: NDArray, Q: NDArray) -> float:
    """Distance between the spans of two orthonormal bases (norm of the sines)."""
    # The residual itself: k - |PQ'|^2 cannot resolve less than 1e-8.
    return float(np.linalg.norm(P - (P @ Q.T) @ Q))


def extrapolate(a: Subspace, b: Subspace, c: Subspace) -> Subspace:
    """Where the steps a -> b -> c would end up, had they the same direction and ratio.

    The squared extrapolation (SQUAREM) of Varadhan and Roland (2008) on centre and
    basis; bases are turned onto each other first, as only their span matters.
    """
    unit = np.sqrt(max(c.total, np.finfo(float).tiny))
    x, y, z = (
        np.vstack([sub.mean / unit, _turned(sub.basis, c.basis)]) for sub in (a, b, c)
    )
    step = y - x
    bend = (z - y) - step
    length = np.linalg.norm(bend)
    ratio = 1.0 if length == 0 else max(1.0, float(np.linalg.norm(step) / length))
    there = x + 2.0 * ratio * step + ratio**2 * bend
    U, _, Vt = np.linalg.svd(there[1:], full_matrices=False)
    return Subspace(there[0] * unit, U @ Vt, c.variances, c.total)


def _turned(basis: NDArray, onto: NDArray) -> NDArray[np.float64]:
    U, _, Vt = np.linalg.svd(onto @ basis.T)
    return (U @ Vt) @ basis


def fix_signs(basis: NDArray) -> NDArray:
    """Make the loading of largest size of every component positive."""
    biggest = np.abs(basis).argmax(axis=1)
    signs = np.sign(basis[np.arange(len(basis)), biggest])
    return basis * np.where(signs == 0, 1.0, signs)[:, None]
