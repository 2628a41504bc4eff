"""Leading axes of many columns, without the matrix of their covariances.

Each step multiplies the covariance by a few vectors, in one pass over the rows, and
looks for the axes among all vectors so far (Rayleigh and Ritz). From a start nearby, a
few steps reach rounding errors if the variances fall off after the last axis wanted; if
they do not, the direct solver of `subspace` is faster, and the search says so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.core.kernels import Scratch
from trueaxis.core.moments import Moments
from trueaxis.core.quantiles import column_means
from trueaxis.core.subspace import Subspace, rounding_variances, solve
from trueaxis.data.rows import Kernel, Rows

# Root mean square sine of the angles to the true span at which the search ends.
SPAN_ERROR = 1e-8


PROBES = 4  # further vectors, which find axes that the start lacks


LEAST_STEPS = 4  # fewer are hardly ever enough


FEW_COLUMNS = 128  # which the direct solver takes less time for


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

    title = "subspace"

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
        Weight of all copies of every row.
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
