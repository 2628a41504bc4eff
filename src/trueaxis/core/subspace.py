"""Subspaces, and how to solve for them, given weighted moments.

`moments` sums the rows; this module turns the sums into a center and a basis;
`reweighting` calls it once per iteration. Notation: m center, P basis (one row per
component).

Leading axes of many columns are found without the matrix of their covariances: each
step multiplies the covariance by a few vectors, in one pass over the rows, and looks
for the axes among all vectors so far (Krylov; Rayleigh and Ritz). From a start nearby,
a few steps reach rounding errors if the variances fall off after the last axis wanted;
if they do not, the direct solver is faster, and the search says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from trueaxis.core.moments import Moments, NoSubspace, Scratch, column_means
from trueaxis.data.rows import Kernel, Rows

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
    basis: NDArray[Any], moments: Moments
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rotate a basis so that the scores are uncorrelated; also return variances."""
    inner, variances = top_eigen(moments.scattered(basis) @ basis.T, len(basis))
    return inner @ basis, variances


def spanned(basis: NDArray[Any], moments: Moments) -> Subspace:
    """Return the subspace that a basis spans, with principal axes of the rows."""
    return _with_axes(*principal_axes(basis, moments), moments)


def spanned_about(
    center: NDArray[Any], basis: NDArray[Any], rows: Rows, weights: NDArray[Any]
) -> Subspace:
    """Return the subspace that a basis spans, with principal axes about a center.

    No matrix of all pairs of columns is formed, of which there may be many.
    """
    sums = rows.scan(ScatterKernel(center, weights, basis.T))[1]
    weight, squares = sums.scalars
    inner, variances = top_eigen(basis @ sums.product / weight, len(basis))
    total = max(float(squares / weight), float(variances.sum()))
    return Subspace(center, inner @ basis, variances, total)


def along(axes: NDArray[Any], moments: Moments) -> Subspace:
    """Return the subspace with exactly these axes."""
    variances = np.einsum("ij,ij->i", moments.scattered(axes), axes)
    return _with_axes(axes, np.maximum(variances, 0.0), moments)


def _with_axes(
    axes: NDArray[Any], variances: NDArray[Any], moments: Moments
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
        values, vectors = scipy.linalg.eigh(
            scatter / size, subset_by_index=[D - k, D - 1], lower=False,
            overwrite_a=True, check_finite=False,
        )  # fmt: skip
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
            "weight. Remove them, rescale X, or use DSWL without temperatures: its "
            "start is robust."
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


# Root mean square sine of the angles to the true span at which the search ends.
SPAN_ERROR = 1e-8
PROBES = 4  # further vectors, which find axes that the start lacks
LEAST_STEPS = 4  # fewer are rarely enough
FEW_COLUMNS = 128  # up to so many, the direct solver is faster


class ScatterSums(NamedTuple):
    """Sums over rows: of weights, weighted rows, squared lengths, and the product."""

    scalars: NDArray[np.float64]
    first: NDArray[np.float64]
    product: NDArray[np.float64]
    scratch: Scratch

    def add(self, other: ScatterSums) -> ScatterSums:
        """Add the sums of later rows."""
        for mine, more in zip(self[:3], other[:3], strict=True):
            mine += more
        return self


class ScatterKernel(Kernel):
    """Kernel that multiplies the weighted scatter of the rows by some vectors.

    Parameters
    ----------
    pivot : ndarray of shape (D,)
    weights : ndarray of shape (n,)
    vectors : ndarray of shape (D, b)
    """

    def __init__(
        self,
        pivot: NDArray[np.float64],
        weights: NDArray[np.float64],
        vectors: NDArray[np.float64],
    ) -> None:
        self.pivot, self.weights, self.vectors = pivot, weights, vectors

    def part(self, first: int, n: int) -> ScatterKernel:
        """Return the kernel for n rows, starting at row `first`."""
        return ScatterKernel(self.pivot, self.weights[first : first + n], self.vectors)

    def start(self) -> ScatterSums:
        """Return empty sums."""
        D = len(self.pivot)
        product = np.zeros((D, self.vectors.shape[1]))
        return ScatterSums(np.zeros(2), np.zeros(D), product, Scratch())

    def absorb(self, state: ScatterSums, block: NDArray[Any], first: int) -> None:
        """Add the products of a block."""
        w = self.weights[first : first + len(block)]
        if not w.all():  # rows without weight may be infinite
            block, w = block[w > 0], w[w > 0]
        if not len(w):
            return
        y = state.scratch.like(block)
        np.subtract(block, self.pivot, out=y, casting="same_kind")
        w = w.astype(y.dtype, copy=False)
        scores = y @ self.vectors.astype(y.dtype, copy=False)
        state.scalars[:] += w.sum(), w @ np.einsum("ij,ij->i", y, y)
        np.add(state.first, w @ y, out=state.first)
        scores *= w[:, None]
        np.add(state.product, y.T @ scores, out=state.product)

    def merge(self, state: ScatterSums, other: ScatterSums) -> ScatterSums:
        """Add the sums of later rows to those of earlier ones."""
        return state.add(other)


def solve_near(
    rows: Rows, weights: NDArray[np.float64], start: Subspace
) -> Subspace | None:
    """Return the mean and the leading axes of weighted rows; None if not found quickly.

    Parameters
    ----------
    rows : Rows
    weights : ndarray of shape (n,)
        Weights of the rows, repetitions included.
    start : Subspace
        A subspace nearby, with as many components as are wanted.
    """
    k, D = start.basis.shape
    width = k + PROBES
    steps = _affordable_steps(rows.shape, width)
    if steps < LEAST_STEPS or D < 2 * width:
        return None
    n_vectors = min(D, (steps + 1) * width)
    basis, image = np.empty((D, n_vectors)), np.empty((D, n_vectors))
    probes = np.random.default_rng(0).standard_normal((D, PROBES))
    new = orthonormal_beside(np.column_stack([start.basis.T, probes]), basis[:, :0])
    used, sums, errors = 0, None, []
    rounding = SPAN_ERROR + 100 * float(np.finfo(rows.dtype).eps)
    while used + new.shape[1] <= n_vectors:
        more = slice(used, used + new.shape[1])
        product = rows.scan(ScatterKernel(start.mean, weights, new))[1]
        sums = product if sums is None else sums
        weight, squares = sums.scalars
        shift = sums.first / weight
        basis[:, more] = new
        image[:, more] = product.product / weight - np.outer(shift, shift @ new)
        used = more.stop
        Q = basis[:, :used]
        values, vectors, residual = _ritz(Q, image[:, :used], width)
        if not values[0] > 0:
            return None
        # Relative to the largest variance, because squares of others may underflow.
        sizes = np.linalg.norm(residual / values[0], axis=0)
        gap = float(values[k - 1] - values[k]) / values[0]
        error = float(np.linalg.norm(sizes[:k]) / np.sqrt(k))
        if error <= rounding * gap and sizes[k] < gap:
            mean = start.mean + shift
            total = float(squares / weight - shift @ shift)
            return _checked(mean, (Q @ vectors[:, :k]).T, values[:k], total)
        errors.append(error)
        if _too_slow(errors, rounding * gap, (n_vectors - used) // width):
            return None
        new = orthonormal_beside(residual, Q)
    return None


def rough_solve(X: NDArray[Any], start: NDArray[Any], k: int, steps: int) -> Subspace:
    """Return the mean and, after some steps, approximately the leading axes of rows.

    Few columns are solved exactly, which takes less time.

    Parameters
    ----------
    X : ndarray of shape (n, D)
    start : ndarray of shape (D, b)
        At least k vectors to start from, in any direction.
    """
    mean = column_means(X)
    y = (X - mean).astype(float, copy=False)
    moments = Moments(mean)
    D, width = start.shape
    if D <= max(FEW_COLUMNS, 2 * steps * width):
        moments.add(y, np.zeros(len(y)), None)
        return solve(moments, k)
    new = orthonormal_beside(start, start[:, :0])
    basis, image = new[:, :0], new[:, :0]
    for _ in range(steps):
        basis = np.hstack([basis, new])
        image = np.hstack([image, y.T @ (y @ new) / len(y)])
        values, vectors, residual = _ritz(basis, image, width)
        new = orthonormal_beside(residual, basis)
    total = float(np.einsum("ij,ij->", y, y) / len(y))
    variances = np.maximum(values[:k], 0.0)
    axes = (basis @ vectors[:, :k]).T
    return Subspace(mean, axes, variances, max(total, float(variances.sum())))


def _ritz(
    basis: NDArray[Any], image: NDArray[Any], width: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the largest variances within a basis, their vectors, and the residuals.

    `image` is the covariance times the basis; the vectors are in its coordinates.
    """
    inner = basis.T @ image
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    values, vectors = values[::-1][:width], vectors[:, ::-1][:, :width]
    return values, vectors, image @ vectors - basis @ (vectors * values)


def _affordable_steps(shape: tuple[int, int], width: int) -> int:
    """Return how many steps take half as many operations as the direct solver."""
    n, D = shape
    return int(D * (1 + 4 * D / n) / (8 * width))


def _too_slow(errors: list[float], goal: float, steps_left: int) -> bool:
    """Return whether the errors so far will not reach the goal in time."""
    if len(errors) < 3:
        return False
    ratio = errors[-1] / max(errors[-2], np.finfo(float).tiny)
    return not (goal > 0 and errors[-1] * ratio**steps_left <= goal)


def orthonormal_beside(new: NDArray[Any], basis: NDArray[Any]) -> NDArray[np.float64]:
    """Return an orthonormal basis of new vectors, orthogonal to a basis."""
    for _ in range(2):  # the second time removes what rounding left
        new = np.linalg.qr(new - basis @ (basis.T @ new))[0]
    return new


def _checked(
    mean: NDArray[Any], basis: NDArray[Any], variances: NDArray[Any], total: float
) -> Subspace | None:
    """Return the subspace, unless a variance may be a rounding error."""
    if not (variances > basis**2 @ rounding_variances(mean)).all():
        return None
    return Subspace(mean, basis, variances, max(total, float(variances.sum())))
