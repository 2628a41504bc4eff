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


class RowCounts(NamedTuple):
    """How often each row counts.

    Attributes
    ----------
    counts : ndarray or None
        Number of copies of every row; None if each counts once.
    """

    counts: NDArray[np.float64] | None = None

    def of(self, block: NDArray[Any], first: int) -> NDArray[np.float64] | None:
        """Return how often the rows of a block count; None if once each."""
        if self.counts is None:
            return None
        return self.counts[first : first + len(block)]

    def part(self, first: int, n: int) -> RowCounts:
        """Return the counts of n rows, starting at row `first`."""
        if self.counts is None:
            return self
        return self._replace(counts=self.counts[first : first + n])


ALL_ROWS = RowCounts()


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

    def part(self, first: int, n: int) -> RowWeights:
        """Return the weights of n rows, starting at row `first`."""
        some = slice(first, first + n)
        return RowWeights(
            self.log_weights[some], None if self.core is None else self.core[some]
        )


# (v, e, s) -> RowWeights
Weigh = Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], RowWeights]


class GroupedMoments(NamedTuple):
    """State of a pass: moments of three groups of rows, and scratch space.

    Attributes
    ----------
    both : Moments
        Rows that determine span, center and variances.
    span_only : Moments
        Rows that determine the span only.
    core_only : Moments
        Rows that determine center and variances only.
    scratch, spare : Scratch
    """

    both: Moments
    span_only: Moments
    core_only: Moments
    scratch: Scratch
    spare: Scratch

    @classmethod
    def about(cls, pivot: NDArray[np.float64]) -> GroupedMoments:
        """Return empty sums about a pivot."""
        return cls(Moments(pivot), Moments(pivot), Moments(pivot), Scratch(), Scratch())

    def span(self) -> Moments:
        """Return the moments of the rows that determine the span."""
        return self.both.plus(self.span_only)

    def core(self) -> Moments:
        """Return the moments of the rows that determine center and variances."""
        return self.both.plus(self.core_only)

    def add(self, other: GroupedMoments) -> GroupedMoments:
        """Add the sums of later rows."""
        for moments, more in zip(self[:3], other[:3], strict=True):
            moments += more
        return self


class MomentKernel(Kernel):
    """Kernel that adds up moments of rows whose weights are known.

    Parameters
    ----------
    pivot : ndarray of shape (D,)
    weighting : RowWeights
        Weights of all rows.
    counts : ndarray, optional
        How often each row counts.
    """

    def __init__(
        self,
        pivot: NDArray[np.float64],
        weighting: RowWeights,
        counts: NDArray[np.float64] | None = None,
    ) -> None:
        self.pivot = pivot
        self.weighting = weighting
        self.row_counts = RowCounts(counts)

    def part(self, first: int, n: int) -> MomentKernel:
        """Return the kernel for n rows, starting at row `first`."""
        counts = self.row_counts.part(first, n).counts
        return MomentKernel(self.pivot, self.weighting.part(first, n), counts)

    def start(self) -> GroupedMoments:
        """Return an empty state."""
        return GroupedMoments.about(self.pivot)

    def absorb(self, state: GroupedMoments, block: NDArray[Any], first: int) -> None:
        """Add the moments of a block."""
        weighting = self.weighting.part(first, len(block))
        y = state.scratch.like(block)
        np.subtract(block, self.pivot, out=y, casting="same_kind")
        _accumulate(state, y, weighting, self.row_counts.of(block, first))

    def merge(self, state: GroupedMoments, other: GroupedMoments) -> GroupedMoments:
        """Add the state of later rows to the state of earlier ones."""
        return state.add(other)


class RowRecord(NamedTuple):
    """What a pass records for every row.

    Attributes
    ----------
    n_fields : int
        Number of values per row.
    field_type : type
        Their type.
    function : callable or None
        Computes them from (v, e, s); None to record these.
    """

    n_fields: int
    field_type: type
    function: (
        Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], NDArray[Any]] | None
    ) = None


DISTANCES = RowRecord(3, float)
NOTHING = RowRecord(0, float)


class CountedKernel(Kernel):
    """Kernel whose only per-row data are the row counts."""

    row_counts: RowCounts

    def part(self, first: int, n: int) -> Self:
        """Return the kernel for n rows, starting at row `first`."""
        if self.row_counts.counts is None:
            return self
        part = copy.copy(self)
        part.row_counts = self.row_counts.part(first, n)
        return part


class DistanceKernel(CountedKernel):
    """Kernel that measures rows, weights them and adds up their moments.

    Parameters
    ----------
    subspace : Subspace
        Its mean is the pivot; its basis and variances give v, e and s.
    weigh : callable, optional
        Turns (v, e, s) into `RowWeights`. Without it, the pass only measures.
    row_counts : RowCounts
        How often each row counts.
    record : RowRecord
        What to record for every row; three distances of very many rows take a lot of
        memory.
    off : ndarray, optional
        Squared distances of all rows from the space in which they are given.
    """

    def __init__(
        self,
        subspace: Subspace,
        weigh: Weigh | None = None,
        row_counts: RowCounts = ALL_ROWS,
        record: RowRecord = DISTANCES,
        off: NDArray[np.float64] | None = None,
    ) -> None:
        self.off = off
        self.n_fields, self.field_type, self._function = record
        self.subspace = subspace
        self.weigh = weigh
        self.row_counts = row_counts
        self._axes = np.ascontiguousarray(subspace.basis)
        # v and s are both weighted sums of squared scores, with these weights.
        inverse = 1.0 / subspace.floored_variances()
        self._factors = np.array([np.ones_like(inverse), inverse])

    def start(self) -> GroupedMoments:
        """Return an empty state."""
        return GroupedMoments.about(self.subspace.mean if self.weigh else np.zeros(0))

    def absorb(
        self, state: GroupedMoments, block: NDArray[Any], first: int
    ) -> NDArray[Any] | None:
        """Measure the rows of a block and, given a weight function, add moments."""
        y = state.scratch.like(block)
        # Squares of values like 1e300 overflow: the distance is infinite, as intended,
        # and the weight 0.
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(block, self.subspace.mean, out=y, casting="same_kind")
            distances = self._distances(y)
        if self.off is not None:
            distances[1] += self.off[first : first + len(block)]
        if self.weigh is not None:
            counts = self.row_counts.of(block, first)
            _accumulate(state, y, self.weigh(*distances), counts)
        if self.n_fields == 0:
            return None
        return distances if self._function is None else self._function(*distances)

    def merge(self, state: GroupedMoments, other: GroupedMoments) -> GroupedMoments:
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
    """Compute squared distances off a subspace from the residuals, where d - v cancels.

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
    state: GroupedMoments,
    y: NDArray[Any],
    weighting: RowWeights,
    counts: NDArray[Any] | None,
) -> None:
    log_weights, core = weighting
    used = log_weights > -np.inf
    if counts is not None:
        counted = counts > 0
        used &= counted
        core = None if core is None else core & counted
    if core is not None:
        # Rows of the core have weight 1 there; moments can be shared with the span if
        # their weight for the span is 1 as well.
        shared = used & core & (log_weights == 0)
        core_weights = np.zeros(len(y))
        _add_some(state, state.core_only, y, core_weights, counts, core & ~shared)
        _add_some(state, state.span_only, y, log_weights, counts, used & ~shared)
        used = shared
    _add_some(state, state.both, y, log_weights, counts, used, last=True)


def _add_some(
    state: GroupedMoments,
    moments: Moments,
    y: NDArray[Any],
    log_weights: NDArray[Any],
    counts: NDArray[Any] | None,
    some: NDArray[np.bool_],
    last: bool = False,
) -> None:
    # Rows of weight 0 are left out, not multiplied by 0: they may be infinite. `add`
    # overwrites its rows, so they are copied unless this is their last use. The buffer
    # is reused, because allocating is slow where memory is returned to the system at
    # once, as in Dask's workers.
    (index,) = np.nonzero(some)
    if not len(index):
        return
    if last and len(index) == len(y):
        moments.add(y, log_weights, counts)
        return
    some_y = state.spare.like(y)[: len(index)]
    np.take(y, index, axis=0, out=some_y, mode="clip")
    if counts is not None:
        counts = counts[index]
    moments.add(some_y, log_weights[index], counts)
