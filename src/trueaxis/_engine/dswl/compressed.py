"""Fit many columns in few coordinates, which follow the subspace.

All stages on the sample need no more of a row than its place in a space that contains
the center and the axes, and its squared distance from that space: distances from a
subspace inside it are then exact. Whether the best subspace lies inside is checked
after the fit; what is missing is added, until nothing is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.iterate import IterationResult
from trueaxis._engine.kernels import Scratch, replace_cancelled
from trueaxis._engine.krylov import ScatterKernel, orthonormal_beside
from trueaxis._engine.moments import Moments
from trueaxis._engine.reweighted import ReweightedResult, weighted_moments
from trueaxis._engine.subspace import Subspace, solve, spectrum
from trueaxis.data.rows import ArrayRows

SPARE = 20  # coordinates beyond twice the number of components
WORTHWHILE = 4  # columns per coordinate from which on a fit in few coordinates pays
POWERS = 2  # power steps that turn random directions towards the longest axes


class CoordinateRows(ArrayRows):
    """Coordinates of rows, and their squared distances from the coordinate space."""

    off: NDArray[np.float64]

    def __init__(self, array: NDArray[Any], off: NDArray[np.float64]) -> None:
        super().__init__(array, at_once=True)
        self.off = off


def worthwhile(k: int, directions: NDArray[Any]) -> bool:
    """Return whether k components should be fitted in few coordinates."""
    D, n_directions = directions.shape
    m = 2 * k + SPARE
    return bool(D >= WORTHWHILE * m and n_directions >= m)


@dataclass(frozen=True)
class Compressed:
    """Rows in few coordinates.

    Attributes
    ----------
    X : ndarray of shape (n, D)
        The rows.
    center : ndarray of shape (D,)
    axes : ndarray of shape (D, m)
        Orthonormal columns.
    rows : CoordinateRows
        Of shape (n, m).
    """

    X: NDArray[Any]
    center: NDArray[np.float64]
    axes: NDArray[np.float64]
    rows: CoordinateRows

    def lift(self, subspace: Subspace) -> Subspace:
        """Map a subspace of the coordinates to the columns."""
        return replace(
            subspace,
            mean=self.center + self.axes @ subspace.mean,
            basis=subspace.basis @ self.axes.T,
        )

    def lift_step(self, found: ReweightedResult) -> ReweightedResult:
        """Map a step to the columns; the distances are the same."""
        return replace(found, state=self.lift(found.state), next=self.lift(found.next))

    def lift_last(
        self, found: IterationResult[ReweightedResult]
    ) -> IterationResult[ReweightedResult]:
        """Map the last step of an iteration to the columns."""
        return replace(found, last=self.lift_step(found.last))

    def solve(self, found: ReweightedResult) -> Subspace:
        """Solve for the subspace of rows that were weighted by a step."""
        origin = np.zeros(self.axes.shape[1])
        moments = weighted_moments(self.rows, origin, found.weighting).span()
        solved = solve(moments, len(found.next.basis))
        off = float(found.copy_weights() @ self.rows.off)
        return replace(solved, total=solved.total + off)

    def completed(self, found: ReweightedResult) -> tuple[Compressed, float]:
        """Add coordinates for what the solution of a step lacks.

        Return the rows in more coordinates, about the mean of the step's solution, and
        about what share of the solution they still lack, as a sine.
        """
        axes, P = self.axes, self.lift(found.next).basis.T
        mean = self.center + axes @ found.next.mean
        kernel = ScatterKernel(mean, found.copy_weights(), P)
        sums = ArrayRows(self.X).scan(kernel)[1]
        shift = sums.first / sums.scalars[0]
        image = sums.product / sums.scalars[0] - np.outer(shift, shift @ P)
        missing = _rejected(image, axes)
        ratio, least = self._last_variances(found)
        # What was missing, less what its addition wins: a step of the power method for
        # the axes, and one for the weights.
        size = float(np.linalg.norm(missing / least) / np.sqrt(P.shape[1])) * ratio**2
        new = np.column_stack([missing, _rejected(shift[:, None], axes)])
        new = orthonormal_beside(new, axes)
        more, _ = _measure(self.X, self.center, new)
        off = np.maximum(self.rows.off - np.einsum("ij,ij->i", more, more), 0.0)
        array = np.column_stack([self.rows.array, more])
        return self._about(mean + shift, np.column_stack([axes, new]), array, off), size

    def _last_variances(self, found: ReweightedResult) -> tuple[float, float]:
        """Return the variance of the last axis, and the share of it on the next one."""
        origin, k = np.zeros(self.axes.shape[1]), len(found.next.basis)
        moments = weighted_moments(self.rows, origin, found.weighting).span()
        variances = spectrum(moments)
        last = max(float(variances[k - 1]), np.finfo(float).tiny)
        return float(variances[k]) / last, last

    def _about(
        self,
        center: NDArray[np.float64],
        axes: NDArray[np.float64],
        array: NDArray[np.float64],
        off: NDArray[np.float64],
    ) -> Compressed:
        """Return the coordinates about a center inside their space."""
        array -= (center - self.center) @ axes
        return Compressed(self.X, center, axes, CoordinateRows(array, off))

    def lower(self, subspace: Subspace) -> Subspace:
        """Write a subspace in the coordinates, which contain it."""
        return replace(
            subspace,
            mean=(subspace.mean - self.center) @ self.axes,
            basis=subspace.basis @ self.axes,
        )


def compress(
    X: NDArray[Any], half: NDArray[Any], directions: NDArray[Any], k: int
) -> tuple[Compressed, Subspace]:
    """Choose coordinates by the deepest half of the rows; also return its subspace."""
    center = half.mean(axis=0, dtype=float)
    y = (half - center).astype(X.dtype, copy=False)
    axes = directions[:, : 2 * k + SPARE]
    for _ in range(POWERS):
        scores = y @ axes.astype(y.dtype, copy=False)
        axes = np.linalg.qr((y.T @ scores).astype(float))[0]
    array, off = _measure(X, center, axes)
    moments = Moments(np.zeros(axes.shape[1]))
    inside = (y @ axes.astype(y.dtype, copy=False)).astype(float)
    moments.add(inside, np.zeros(len(y)), None)
    start = solve(moments, k)
    total = max(float(np.einsum("ij,ij->", y, y) / len(y)), start.total)
    space = Compressed(X, center, axes, CoordinateRows(array, off))
    return space, replace(start, total=total)


def _rejected(vectors: NDArray[Any], axes: NDArray[Any]) -> NDArray[np.float64]:
    """Return what is left of vectors beside orthonormal axes."""
    left: NDArray[np.float64] = vectors - axes @ (axes.T @ vectors)
    return left


def _measure(
    X: NDArray[Any], center: NDArray[np.float64], axes: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return coordinates along axes, and squared distances from their span."""
    n, m = len(X), axes.shape[1]
    thin = np.ascontiguousarray(axes).astype(X.dtype, copy=False)
    coordinates, off, scratch = np.empty((n, m)), np.empty(n), Scratch()
    for first, block in ArrayRows(X).blocks():
        some = slice(first, first + len(block))
        y = scratch.like(block)
        np.subtract(block, center, out=y, casting="same_kind")
        t = y @ thin
        d = np.einsum("ij,ij->i", y, y)
        coordinates[some], rest = t, d - np.einsum("ij,ij->i", t, t)
        replace_cancelled(rest, d, y, axes.T)
        off[some] = rest
    return coordinates, off
