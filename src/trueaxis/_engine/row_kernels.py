"""Kernels for very many rows, whose records may stay where the rows are stored.

Totals over all rows (sums of weights, the number of regular rows) are added up during
the pass, so that no vector as long as the data has to be in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.kernels import (
    ALL_ROWS,
    CountedKernel,
    DistanceKernel,
    GroupedMoments,
    RowCounts,
)
from trueaxis._engine.outliers.law import Cuts, Law, Sides
from trueaxis._engine.rules.base import RowDistances, Rule
from trueaxis._engine.subspace import Subspace
from trueaxis.data.rows import Kernel, RecordKernel

NEVER = -1e6  # a finite log-weight of weight 0; 0 times minus infinity is not a number


class LogSum:
    """Sums of weights and of weights times log-weights, without underflow.

    Attributes
    ----------
    top : float
        The largest log-weight. Both sums use weights divided by exp(top).
    total : float
        Sum of the weights.
    cross : float
        Sum of weights times their logarithms.
    """

    def __init__(self) -> None:
        self.top, self.total, self.cross = -np.inf, 0.0, 0.0

    def add(self, x: NDArray[np.float64], counts: NDArray[Any] | None) -> None:
        """Add rows with log-weights x, each `counts` times."""
        if counts is not None:
            x, counts = x[counts > 0], counts[counts > 0]
        if not len(x) or x.max() == -np.inf:
            return
        self._raise_top(float(x.max()))
        below = np.maximum(x - self.top, NEVER)
        w = np.exp(below)
        if counts is not None:
            w *= counts
        self.total += float(w.sum())
        self.cross += float(np.dot(w, below))

    def __iadd__(self, other: LogSum) -> LogSum:
        if other.total > 0:
            self._raise_top(other.top)
            step = other.top - self.top
            factor = np.exp(step)
            self.total += factor * other.total
            self.cross += factor * (other.cross + step * other.total)
        return self

    def log_total(self) -> float:
        """Return the logarithm of the sum of the weights."""
        return float(self.top + np.log(self.total))

    def perplexity(self) -> float:
        """Return exp(entropy) of the weights: the number of rows that carry them."""
        return float(np.exp(np.log(self.total) - self.cross / self.total))

    def _raise_top(self, top: float) -> None:
        if top > self.top:
            step = self.top - top
            if self.total > 0:
                factor = np.exp(step)
                self.cross = factor * (self.cross + step * self.total)
                self.total *= factor
            self.top = top


class LogWeightKernel(CountedKernel):
    """Kernel that records log-weights by a row-local rule, and sums the weights.

    The recorded weight of a row is that of all its copies together; rows that do not
    count have log-weight -inf.
    """

    n_fields = 1
    title = "weights"

    def __init__(
        self, state: Subspace, rule: Rule, row_counts: RowCounts = ALL_ROWS
    ) -> None:
        self.measuring = DistanceKernel(state)
        self.rule, self.row_counts = rule, row_counts

    def start(self) -> tuple[GroupedMoments, LogSum]:
        """Return an empty state."""
        return self.measuring.start(), LogSum()

    def absorb(
        self, state: tuple[GroupedMoments, LogSum], block: NDArray[Any], first: int
    ) -> NDArray[np.float64]:
        """Weight the rows of a block."""
        distances = RowDistances(*_measure(self.measuring, state[0], block))
        x = self.rule.weigh(distances).log_weights
        counts = self.row_counts.of(block, first)
        state[1].add(x, counts)
        if counts is not None:
            with np.errstate(divide="ignore"):  # log 0, of rows that do not count
                x = x + np.log(counts)
        return x[None]

    def merge(
        self, state: tuple[GroupedMoments, LogSum], other: Any
    ) -> tuple[GroupedMoments, LogSum]:
        """Add the state of later rows to the state of earlier ones."""
        sums, total = state
        total += other[1]
        return sums, total


class MeasuringKernel(Kernel):
    """Kernel that records something about the distances of every row."""

    n_fields = 1

    def __init__(self, subspace: Subspace) -> None:
        self.measuring = DistanceKernel(subspace)

    def start(self) -> GroupedMoments:
        """Return scratch space."""
        return self.measuring.start()

    def merge(self, state: GroupedMoments, other: GroupedMoments) -> GroupedMoments:
        """Return the scratch space."""
        return state


class SupportKernel(MeasuringKernel):
    """Kernel that records which rows lie within cut-offs, and in no group apart."""

    title = "verdicts"
    field_type = bool

    def __init__(
        self, subspace: Subspace, cuts: Cuts, sides: Sides | None = None
    ) -> None:
        super().__init__(subspace)
        self.cuts, self.sides = cuts, sides

    def absorb(
        self, state: GroupedMoments, block: NDArray[Any], first: int
    ) -> NDArray[np.bool_]:
        """Judge the rows of a block."""
        _, e, s = _measure(self.measuring, state, block)
        within: NDArray[np.bool_] = (e <= self.cuts.e) & (s <= self.cuts.s)
        if self.sides is not None:
            within &= self.sides.beyond(block) <= self.cuts.beyond
        return within[None]


class PValueKernel(MeasuringKernel):
    """Kernel that records the logarithm of the p-value of every row."""

    title = "p-values"
    field_type = float

    def __init__(self, subspace: Subspace, law: Law) -> None:
        super().__init__(subspace)
        self.law = law

    def absorb(
        self, state: GroupedMoments, block: NDArray[Any], first: int
    ) -> NDArray[np.float64]:
        """Compute the p-values of a block."""
        _, e, s = _measure(self.measuring, state, block)
        sides = self.law.sides
        beyond = None if sides is None else sides.beyond(block)
        return self.law.log_p(e, s, beyond)[None]


class MaskKernel(RecordKernel):
    """Kernel that records a boolean function of every row."""

    n_fields = 1
    title = "groups apart"
    field_type = bool

    def __init__(self, function: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> None:
        self.function = function

    def absorb(self, state: None, block: NDArray[Any], first: int) -> NDArray[np.bool_]:
        """Apply the function to a block."""
        return self.function(block)[None]


def _measure(
    kernel: DistanceKernel, state: GroupedMoments, block: NDArray[Any]
) -> NDArray[np.float64]:
    distances = kernel.absorb(state, block, 0)
    assert distances is not None  # it records distances
    return distances
