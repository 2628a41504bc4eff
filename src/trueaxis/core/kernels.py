"""Kernels that compute distances and weighted moments of rows, block by block.

`DistanceKernel` is the pass of every row-weighted method. It measures the rows of a
block (v, e, s), weights them and adds up their moments while the block is in cache.
Notation: y = x - m, t = P y, v = |t|^2, e = |y - P't|^2, s = sum t_j^2 / variance_j.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from trueaxis.core.moments import Moments, Scratch
from trueaxis.core.subspace import Subspace
from trueaxis.data.rows import Kernel


class RowWeights(NamedTuple):
    """Log-weights of rows, and the rows that determine center and variances.

    Attributes
    ----------
    log_weights : ndarray
        For the span of the subspace.
    core : ndarray of bool, or None
        Rows that determine center and variances, each with weight 1; None to use the
        log-weights for these, too.
    """

    log_weights: NDArray[np.float64]
    core: NDArray[np.bool_] | None = None


# (v, e, s) -> RowWeights
Weigh = Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], RowWeights]


class MomentSums(NamedTuple):
    """State of a pass: moments of the rows so far, and scratch space.

    Attributes
    ----------
    moments : Moments
    scratch, spare : Scratch
    """

    moments: Moments
    scratch: Scratch
    spare: Scratch

    @classmethod
    def about(cls, pivot: NDArray[np.float64]) -> MomentSums:
        """Return empty sums about a pivot."""
        return cls(Moments(pivot), Scratch(), Scratch())

    def add(self, other: MomentSums) -> MomentSums:
        """Add the sums of later rows."""
        moments = self.moments
        moments += other.moments
        return self


class CountedKernel(Kernel):
    """Kernel whose only per-row data are counts of the rows.

    Attributes
    ----------
    counts : ndarray or None
        Number of repetitions of every row; None if each counts once.
    """

    counts: NDArray[np.float64] | None = None

    def part(self, first: int, n: int) -> Self:
        """Return the kernel for n rows, starting at row `first`."""
        if self.counts is None:
            return self
        part = copy.copy(self)
        part.counts = self.counts[first : first + n]
        return part

    def counts_of(self, block: NDArray[Any], first: int) -> NDArray[np.float64] | None:
        """Return how often the rows of a block count; None if once each."""
        if self.counts is None:
            return None
        return self.counts[first : first + len(block)]


class MomentKernel(CountedKernel):
    """Kernel that adds up moments of rows whose weights are known.

    Parameters
    ----------
    pivot : ndarray of shape (D,)
    log_weights : ndarray of shape (n,)
    counts : ndarray, optional
        How often each row counts.
    """

    def __init__(
        self,
        pivot: NDArray[np.float64],
        log_weights: NDArray[np.float64],
        counts: NDArray[np.float64] | None = None,
    ) -> None:
        self.pivot, self.log_weights, self.counts = pivot, log_weights, counts

    def part(self, first: int, n: int) -> MomentKernel:
        """Return the kernel for n rows, starting at row `first`."""
        counts = super().part(first, n).counts
        return MomentKernel(self.pivot, self.log_weights[first : first + n], counts)

    def start(self) -> MomentSums:
        """Return an empty state."""
        return MomentSums.about(self.pivot)

    def absorb(self, state: MomentSums, block: NDArray[Any], first: int) -> None:
        """Add the moments of a block."""
        log_weights = self.log_weights[first : first + len(block)]
        y = state.scratch.like(block)
        np.subtract(block, self.pivot, out=y, casting="same_kind")
        _accumulate(state, y, log_weights, self.counts_of(block, first))

    def merge(self, state: MomentSums, other: MomentSums) -> MomentSums:
        """Add the state of later rows to the state of earlier ones."""
        return state.add(other)


class DistanceKernel(CountedKernel):
    """Kernel that measures rows, weights them and adds up their moments.

    Parameters
    ----------
    subspace : Subspace
        Its mean is the pivot; its basis and variances give v, e and s.
    weigh : callable, optional
        Turns (v, e, s) into `RowWeights`. Without it, the pass only measures.
    counts : ndarray, optional
        How often each row counts.
    record : bool
        Whether to record v, e and s of every row.
    orthogonal : ndarray, optional
        Squared orthogonal distances of all rows from the space in which they are given.
    """

    def __init__(
        self,
        subspace: Subspace,
        weigh: Weigh | None = None,
        counts: NDArray[np.float64] | None = None,
        record: bool = True,
        orthogonal: NDArray[np.float64] | None = None,
    ) -> None:
        self.orthogonal = orthogonal
        self.n_fields = 3 if record else 0
        self.subspace = subspace
        self.weigh = weigh
        self.counts = counts
        self._axes = np.ascontiguousarray(subspace.basis)
        # v and s are both weighted sums of squared scores, with these weights.
        inverse = 1.0 / subspace.floored_variances()
        self._factors = np.array([np.ones_like(inverse), inverse])

    def start(self) -> MomentSums:
        """Return an empty state."""
        return MomentSums.about(self.subspace.mean if self.weigh else np.zeros(0))

    def absorb(
        self, state: MomentSums, block: NDArray[Any], first: int
    ) -> NDArray[Any] | None:
        """Measure the rows of a block and, given a weight function, add moments."""
        y = state.scratch.like(block)
        # Squares of values like 1e300 overflow: the distance is infinite, as intended,
        # and the weight 0.
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(block, self.subspace.mean, out=y, casting="same_kind")
            distances = self._distances(y)
        if self.orthogonal is not None:
            distances[1] += self.orthogonal[first : first + len(block)]
        if self.weigh is not None:
            log_weights = self.weigh(*distances).log_weights
            _accumulate(state, y, log_weights, self.counts_of(block, first))
        return distances if self.n_fields else None

    def merge(self, state: MomentSums, other: MomentSums) -> MomentSums:
        """Add the state of later rows to the state of earlier ones."""
        return state.add(other)

    def _distances(self, y: NDArray[Any]) -> NDArray[np.float64]:
        t = self._axes.astype(y.dtype, copy=False) @ y.T
        d = np.einsum("ij,ij->i", y, y)
        record = np.empty((3, len(y)))
        np.matmul(self._factors, np.square(t, out=t), out=record[::2])
        np.copyto(record[::2], np.inf, where=np.isnan(record[::2]))  # inf - inf
        record[1] = d
        record[1] -= record[0]
        replace_cancelled(record[1], d, y, self.subspace.basis)
        return record


def replace_cancelled(
    e: NDArray[np.float64],
    d: NDArray[Any],
    y: NDArray[Any],
    basis: NDArray[np.float64],
    shift: NDArray[np.float64] | None = None,
) -> None:
    """Compute squared orthogonal distances from the residuals, where d - v cancels.

    Parameters
    ----------
    e : ndarray
        Differences d - v, overwritten.
    d : ndarray
        Squared lengths of y.
    y : ndarray
        Rows about the center of the subspace minus `shift`.
    basis : ndarray
    shift : ndarray, optional
    """
    near = ~(e > np.finfo(y.dtype).eps ** 0.25 * d)
    if near.any():
        some = y[near] if shift is None else (y[near] - shift).astype(y.dtype)
        thin = basis.astype(y.dtype, copy=False)
        some -= (some @ thin.T) @ thin
        e[near] = np.einsum("ij,ij->i", some, some)
        np.copyto(e, np.inf, where=np.isnan(e))  # inf - inf


def _accumulate(
    state: MomentSums,
    y: NDArray[Any],
    log_weights: NDArray[Any],
    counts: NDArray[Any] | None,
) -> None:
    used = log_weights > -np.inf
    if counts is not None:
        used &= counts > 0
    (index,) = np.nonzero(used)
    if not len(index):
        return
    # Rows of weight 0 are left out, not multiplied by 0: they may be infinite. The
    # buffer is reused, because allocating is slow where memory is returned to the
    # system at once, as in Dask's workers.
    if len(index) < len(y):
        some = state.spare.like(y)[: len(index)]
        y = np.take(y, index, axis=0, out=some, mode="clip")
        log_weights = log_weights[index]
        counts = counts if counts is None else counts[index]
    state.moments.add(y, log_weights, counts)
