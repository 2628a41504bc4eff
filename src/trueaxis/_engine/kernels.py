"""KERNELS: one block of rows in, small arrays out.

`DistanceKernel` is the one pass of every row-weighted method: look at the rows (v, e),
weigh them, and add up their weighted moments, all while the block is in cache.
Notation: y = x - m, t = P y, v = |t|^2, e = |y - P't|^2, s = sum t_j^2 / variance_j.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.moments import Moments
from trueaxis._engine.subspace import Subspace
from trueaxis._rows.base import Kernel

RowMask = Callable[[NDArray[Any]], NDArray[np.bool_]]  # marks some rows of a block


class RowCounts(NamedTuple):
    """How often rows count: given for all of them, or seen in the rows themselves.

    counts : for every row; None where each counts once
    apart : marks the rows of a block that do not count at all
    """

    counts: NDArray[np.float64] | None = None
    apart: RowMask | None = None

    def of(self, block: NDArray[Any], first: int) -> NDArray[np.float64] | None:
        """How often the rows of a block count."""
        counts = None
        if self.counts is not None:
            counts = self.counts[first : first + len(block)]
        if self.apart is None:
            return counts
        return np.where(self.apart(block), 0.0, 1.0 if counts is None else counts)

    def part(self, first: int, n: int) -> RowCounts:
        """The roll of n rows from row `first` on."""
        if self.counts is None:
            return self
        return self._replace(counts=self.counts[first : first + n])


class Scratch:
    """A buffer of the size of a block, allocated once per pass."""

    def __init__(self) -> None:
        self.buffer: NDArray[Any] | None = None

    def like(self, block: NDArray[Any]) -> NDArray[Any]:
        """An array of the block's shape, with anything in it."""
        if self.buffer is None or len(self.buffer) < len(block):
            self.buffer = np.empty_like(block, order="C")
        return self.buffer[: len(block)]

    def __reduce__(self) -> tuple[Any, ...]:
        return Scratch, ()  # it does not travel


ALL_ROWS = RowCounts()


class RowWeights(NamedTuple):
    """Log-weights of rows for the span of the subspace.

    Where `core` is given, it marks the rows that give center and variances instead,
    each with weight 1.
    """

    log_weights: NDArray[np.float64]
    core: NDArray[np.bool_] | None = None

    def part(self, first: int, n: int) -> RowWeights:
        """Return the weighing of n rows from row `first` on."""
        some = slice(first, first + n)
        return RowWeights(
            self.log_weights[some], None if self.core is None else self.core[some]
        )


# (v, e, s) -> Weighing
Weigh = Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], RowWeights]


class GroupedMoments(NamedTuple):
    """State of a pass: moments of three groups of rows, and scratch space.

    both : rows that give span, center and variances
    span_only, core_only : rows that give the span, or center and variances, alone
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
        """Moments of the rows that give the span."""
        return self.both.plus(self.span_only)

    def core(self) -> Moments:
        """Moments of the rows that give center and variances."""
        return self.both.plus(self.core_only)

    def add(self, other: GroupedMoments) -> GroupedMoments:
        """Add the sums of later rows."""
        for mine, theirs in zip(self[:3], other[:3], strict=True):
            mine += theirs
        return self


class MomentKernel(Kernel):
    """The pass that only adds up moments, with weights known for all rows."""

    title = "subspace"

    def __init__(
        self,
        pivot: NDArray[np.float64],
        weighing: RowWeights,
        counts: NDArray[np.float64] | None = None,
    ) -> None:
        self.pivot = pivot
        self.weighing = weighing
        self.roll = RowCounts(counts)

    def part(self, first: int, n: int) -> MomentKernel:
        """The kernel for n rows from row `first` on."""
        roll = self.roll.part(first, n)
        return MomentKernel(self.pivot, self.weighing.part(first, n), roll.counts)

    def start(self) -> GroupedMoments:
        """Return an empty state."""
        return GroupedMoments.about(self.pivot)

    def absorb(self, state: GroupedMoments, block: NDArray[Any], first: int) -> None:
        """Add the moments of a block."""
        y = state.scratch.like(block)
        np.subtract(block, self.pivot, out=y, casting="same_kind")
        weighing = self.weighing.part(first, len(block))
        _accumulate(state, y, weighing, self.roll.of(block, first))

    def merge(self, state: GroupedMoments, other: GroupedMoments) -> GroupedMoments:
        """Add the state of later rows to that of earlier ones."""
        return state.add(other)


class RowRecord(NamedTuple):
    """What a pass keeps of every row.

    n_fields, field_type : how many numbers, of which type
    function : makes them of (v, e, s); None for these themselves
    """

    n_fields: int
    field_type: type
    function: (
        Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], NDArray[Any]] | None
    ) = None


DISTANCES = RowRecord(3, float)
NOTHING = RowRecord(0, float)


class PairedKernel(Kernel):
    """Two passes in one: both kernels see a block while it is in cache.

    Of the records only that of the first is kept.
    """

    def __init__(self, one: Kernel, two: Kernel) -> None:
        self.one, self.two = one, two
        self.n_fields, self.field_type = one.n_fields, one.field_type
        self.title = f"{one.title} and {two.title}"

    def part(self, first: int, n: int) -> PairedKernel:
        """The kernel for n rows from row `first` on."""
        one, two = self.one.part(first, n), self.two.part(first, n)
        return self if one is self.one and two is self.two else PairedKernel(one, two)

    def start(self) -> tuple[Any, Any]:
        """Return an empty state of each."""
        return self.one.start(), self.two.start()

    def absorb(
        self, state: tuple[Any, Any], block: NDArray[Any], first: int
    ) -> NDArray[Any] | None:
        """Show a block to both."""
        self.two.absorb(state[1], block, first)
        return self.one.absorb(state[0], block, first)

    def merge(self, state: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
        """Add the states of later rows to those of earlier ones."""
        return self.one.merge(state[0], other[0]), self.two.merge(state[1], other[1])


class CountedKernel(Kernel):
    """A kernel that knows of single rows no more than how often they count."""

    roll: RowCounts

    def part(self, first: int, n: int) -> Self:
        """The kernel for n rows from row `first` on."""
        if self.roll.counts is None:
            return self
        part = copy.copy(self)
        part.roll = self.roll.part(first, n)
        return part


class DistanceKernel(CountedKernel):
    """The fused pass: look at the rows, weigh them, add up their moments.

    Parameters
    ----------
    subspace : Subspace
        Its mean is the pivot; its basis and variances give v, e and s.
    weigh : callable, optional
        Turns (v, e, s) into a `RowWeights`. Without it the pass only looks.
    roll : RowCounts
        How often each row counts.
    record : RowRecord
        What to keep of every row: of many rows three distances are a lot.
    """

    def __init__(
        self,
        subspace: Subspace,
        weigh: Weigh | None = None,
        roll: RowCounts = ALL_ROWS,
        record: RowRecord = DISTANCES,
    ) -> None:
        self.n_fields, self.field_type, self._kept = record
        self.title = "subspace" if weigh else "distances"
        self.subspace = subspace
        self.weigh = weigh
        self.roll = roll
        # BLAS is faster on a thin factor that lies row by row.
        self._axes = np.ascontiguousarray(subspace.basis.T)
        # v and s are both sums of squared scores, with these factors.
        inverse = 1.0 / subspace.floored_variances()
        self._factors = np.column_stack([np.ones_like(inverse), inverse])

    def start(self) -> GroupedMoments:
        """Return an empty state."""
        return GroupedMoments.about(self.subspace.mean if self.weigh else np.zeros(0))

    def absorb(
        self, state: GroupedMoments, block: NDArray[Any], first: int
    ) -> NDArray[Any] | None:
        """Look at a block and, if rows are weighed, add its moments."""
        y = state.scratch.like(block)
        # A row of 1e300 is infinitely far and gets weight 0: that is right.
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(block, self.subspace.mean, out=y, casting="same_kind")
            distances = self._distances(y)
        if self.weigh is not None:
            _accumulate(state, y, self.weigh(*distances), self.roll.of(block, first))
        if self.n_fields == 0:
            return None
        return distances if self._kept is None else self._kept(*distances)

    def merge(self, state: GroupedMoments, other: GroupedMoments) -> GroupedMoments:
        """Add the state of later rows to that of earlier ones."""
        return state.add(other)

    def _distances(self, y: NDArray[Any]) -> NDArray[np.float64]:
        t = y @ self._axes.astype(y.dtype, copy=False)
        d = np.einsum("ij,ij->i", y, y)
        record = np.empty((3, len(y)))
        v, e, s = record
        v[:], s[:] = (np.square(t) @ self._factors).T
        np.subtract(d, v, out=e)
        # Near the subspace d - v loses its digits: take the residual there.
        near = ~(e > np.finfo(y.dtype).eps ** 0.25 * d)
        if near.any():
            residual = y[near] - t[near] @ self.subspace.basis
            e[near] = np.einsum("ij,ij->i", residual, residual)
            np.copyto(e, np.inf, where=np.isnan(e))  # inf - inf
        return record


def _accumulate(
    state: GroupedMoments,
    y: NDArray[Any],
    weighing: RowWeights,
    counts: NDArray[Any] | None,
) -> None:
    log_weights, core = weighing
    used = log_weights > -np.inf
    if counts is not None:
        counted = counts > 0
        used &= counted
        core = None if core is None else core & counted
    if core is not None:
        # Only rows of weight 1 in the span count alike in both.
        alike = used & core & (log_weights == 0)
        weightless = np.zeros(len(y))
        _add_some(state, state.core_only, y, weightless, counts, core & ~alike)
        _add_some(state, state.span_only, y, log_weights, counts, used & ~alike)
        used = alike
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
    # A row of weight 0 is left out rather than multiplied: it may be infinite. The
    # others are copied (unless nobody needs them any more), since `add` overwrites
    # them, to memory that is used again: where it is given back at once, as in Dask's
    # workers, new one is slow.
    (which,) = np.nonzero(some)
    if not len(which):
        return
    if last and len(which) == len(y):
        moments.add(y, log_weights, counts)
        return
    some_y = state.spare.like(y)[: len(which)]
    np.take(y, which, axis=0, out=some_y, mode="clip")
    if counts is not None:
        counts = counts[which]
    moments.add(some_y, log_weights[which], counts)
