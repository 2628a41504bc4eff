"""The pass over large data: weights from one subspace, moments of rows near another.

Both distances, and the places of the rows towards groups, come from the same centered
rows and one matrix product. The distances may be recorded, so that `certain` can tell
most verdicts from them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from trueaxis._engine.kernels import (
    CountedKernel,
    RowCounts,
    Scratch,
    replace_cancelled,
)
from trueaxis._engine.moments import Moments
from trueaxis._engine.outliers.law import Cuts, Sides
from trueaxis._engine.row_kernels import LogSum
from trueaxis._engine.rules.base import RowDistances, Rule
from trueaxis._engine.subspace import Subspace


class ReweightSums(NamedTuple):
    """State of the pass."""

    moments: Moments
    total: LogSum
    scratch: Scratch


class _Target:
    """A subspace whose distances are computed from rows about a pivot nearby."""

    def __init__(self, subspace: Subspace, pivot: NDArray[np.float64]) -> None:
        self.basis = subspace.basis
        self.shift = subspace.mean - pivot
        self.vectors = np.vstack([self.basis, self.shift])
        self._moved = self.basis @ self.shift
        self._length = float(self.shift @ self.shift)

    def distances(
        self, y: NDArray[Any], lines: NDArray[np.float64], d: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return squared scores, their sums v, and squared distances e.

        Parameters
        ----------
        y : ndarray of shape (n, D)
            Rows about the pivot.
        lines : ndarray of shape (k + 1, n)
            Their products with `vectors`.
        d : ndarray of shape (n,)
            Their squared lengths.
        """
        t = lines[:-1] - self._moved[:, None]
        np.square(t, out=t)
        v = t.sum(axis=0)
        if self._length > 0:
            d = d - 2 * lines[-1] + self._length
        e = d - v
        replace_cancelled(e, d, y, self.basis, self.shift)
        return t, v, e


class ReweightKernel(CountedKernel):
    """Kernel that weights rows by one subspace, and sums those within reach of another.

    Parameters
    ----------
    state : Subspace
        The log-weights that are recorded follow from distances from it.
    rule : Rule
        How they follow; row-local, and without score distances.
    subspace : Subspace
    cuts : Cuts
        Rows within these distances of `subspace` are summed, with weight 1.
    row_counts : RowCounts
    sides : Sides or None
        Groups of rows that do not count.
    dtype : dtype
        Of the rows.
    with_distances : bool
        Whether to record distances from `subspace` (e, s) and places towards groups.
    """

    title = "weights and subspace"

    def __init__(
        self,
        state: Subspace,
        rule: Rule,
        subspace: Subspace,
        cuts: Cuts,
        *,
        row_counts: RowCounts,
        sides: Sides | None,
        dtype: DTypeLike,
        with_distances: bool,
    ) -> None:
        self.n_fields = 4 if with_distances else 1
        self.rule, self.cuts, self.row_counts = rule, cuts, row_counts
        # A pivot in the type of the rows is subtracted without conversion.
        self.pivot = subspace.mean.astype(dtype)
        self._near = _Target(subspace, self.pivot)
        self._state = _Target(state, self.pivot)
        self._inverse = 1.0 / subspace.floored_variances()
        self._sides = None if sides is None else sides.about(self.pivot)
        directions = [] if self._sides is None else [self._sides.directions]
        parts = [self._near.vectors, self._state.vectors, *directions]
        self._vectors = np.ascontiguousarray(np.vstack(parts), dtype=dtype)
        self._ends = np.cumsum([len(part) for part in parts])

    def start(self) -> ReweightSums:
        """Return an empty state."""
        return ReweightSums(Moments(self.pivot.astype(float)), LogSum(), Scratch())

    def absorb(
        self, state: ReweightSums, block: NDArray[Any], first: int
    ) -> NDArray[np.float64]:
        """Weight the rows of a block, and add moments."""
        y = state.scratch.like(block)
        # Squares of values like 1e300 overflow: the distance is infinite, as intended.
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(block, self.pivot, out=y)
            lines = self._lines(y)
            d = np.einsum("ij,ij->i", y, y).astype(float, copy=False)
            near, of_state = self._ends[:2]
            t, _, e = self._near.distances(y, lines[:near], d)
            s = self._inverse @ t
            _, v, off = self._state.distances(y, lines[near:of_state], d)
            x = self.rule.weigh(RowDistances(v, off, v)).log_weights
            kept = (e <= self.cuts.e) & (s <= self.cuts.s)
            beyond = np.zeros(len(y))
            if self._sides is not None:
                beyond = self._sides.place(lines[of_state:])
        apart = beyond > 1.0
        if self._sides is not None:
            kept &= ~apart
            x[apart] = -np.inf
        x = self._sum(state, y, x, kept, self.row_counts.of(block, first))
        return np.array([x] if self.n_fields == 1 else [x, e, s, beyond])

    def merge(self, state: ReweightSums, other: ReweightSums) -> ReweightSums:
        """Add the state of later rows to the state of earlier ones."""
        moments, total = state.moments, state.total
        moments += other.moments
        total += other.total
        return state

    def _lines(self, y: NDArray[Any]) -> NDArray[np.float64]:
        """Return the products of rows with all vectors, one line for each vector."""
        if y.dtype == np.float64:
            return np.asarray(self._vectors @ y.T)
        # In single precision, BLAS is faster the other way round.
        return np.ascontiguousarray((y @ self._vectors.T).T, dtype=float)

    def _sum(
        self,
        state: ReweightSums,
        y: NDArray[Any],
        x: NDArray[np.float64],
        kept: NDArray[np.bool_],
        counts: NDArray[np.float64] | None,
    ) -> NDArray[np.float64]:
        """Add moments of the rows that are kept; return log-weights of all copies."""
        state.total.add(x, counts)
        if counts is None:
            y[~kept] = 0.0  # not multiplied: they may be infinite
            state.moments.add_equal(y, int(np.count_nonzero(kept)))
            return x
        kept &= counts > 0
        if kept.any():
            some = y[kept]
            state.moments.add(some, np.zeros(len(some)), counts[kept])
        with np.errstate(divide="ignore"):  # log 0, of rows that do not count
            return np.asarray(x + np.log(counts))
