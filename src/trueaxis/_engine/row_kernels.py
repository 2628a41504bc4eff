"""Passes over very many rows, whose records may stay where the rows are.

What is needed of all rows at once (sums of weights, how many are regular) is added up
on the way, so that no vector as long as the data has to be in one place.
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
from trueaxis._engine.outliers.trim import Cuts
from trueaxis._engine.rules.base import RowDistances, Rule
from trueaxis._engine.subspace import Subspace
from trueaxis._rows.base import Kernel

NEVER = -1e6  # a log-weight whose weight is 0, and 0 times which is 0


class LogSum:
    """Sum of weights and of weights times log-weights, whatever their size.

    Attributes
    ----------
    top : float
        The largest log-weight, which is taken out of both sums.
    total, cross : float
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
        """Logarithm of the sum of the weights."""
        return float(self.top + np.log(self.total))

    def perplexity(self) -> float:
        """The number of rows that carry the weights: exp of their entropy."""
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
    """What a row-local rule makes of every row, and the sum of it.

    The record holds log-weights of all copies of a row together, -inf of rows that do
    not count.
    """

    n_fields = 1
    title = "weights"

    def __init__(self, state: Subspace, rule: Rule, roll: RowCounts = ALL_ROWS) -> None:
        self.sweep = DistanceKernel(state)
        self.rule, self.roll = rule, roll

    def start(self) -> tuple[GroupedMoments, LogSum]:
        """Return an empty state."""
        return self.sweep.start(), LogSum()

    def absorb(
        self, state: tuple[GroupedMoments, LogSum], block: NDArray[Any], first: int
    ) -> NDArray[np.float64]:
        """Weigh the rows of a block."""
        view = RowDistances(*_looked(self.sweep, state[0], block))
        x = self.rule.weigh(view).log_weights
        counts = self.roll.of(block, first)
        state[1].add(x, counts)
        if counts is not None:
            with np.errstate(divide="ignore"):  # log 0: the row has no weight
                x = x + np.log(counts)
        return x[None]

    def merge(
        self, state: tuple[GroupedMoments, LogSum], other: Any
    ) -> tuple[GroupedMoments, LogSum]:
        """Add the state of later rows to that of earlier ones."""
        sums, total = state
        total += other[1]
        return sums, total


class SupportKernel(CountedKernel):
    """Whether rows count and lie within cut-offs, and how many do."""

    n_fields = 1
    title = "verdicts"
    field_type = bool

    def __init__(
        self, subspace: Subspace, cuts: Cuts, roll: RowCounts = ALL_ROWS
    ) -> None:
        self.sweep = DistanceKernel(subspace)
        self.cuts, self.roll = cuts, roll

    def start(self) -> list[Any]:
        """Return an empty state."""
        return [self.sweep.start(), 0.0]

    def absorb(
        self, state: list[Any], block: NDArray[Any], first: int
    ) -> NDArray[np.bool_]:
        """Judge the rows of a block."""
        _, e, s = _looked(self.sweep, state[0], block)
        within = (e <= self.cuts.e) & (s <= self.cuts.s)
        counts = self.roll.of(block, first)
        if counts is not None:
            within &= counts > 0
        state[1] += float(within.sum() if counts is None else counts[within].sum())
        return within[None]

    def merge(self, state: list[Any], other: list[Any]) -> list[Any]:
        """Add the state of later rows to that of earlier ones."""
        return [state[0], state[1] + other[1]]


class MaskKernel(Kernel):
    """What a function says of every row: yes or no."""

    n_fields = 1
    title = "groups apart"
    field_type = bool

    def __init__(self, function: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> None:
        self.function = function

    def start(self) -> None:
        """Nothing is added up."""

    def absorb(self, state: None, block: NDArray[Any], first: int) -> NDArray[np.bool_]:
        """Ask it about a block."""
        return self.function(block)[None]

    def merge(self, state: None, other: None) -> None:
        """Nothing is added up."""


def _looked(
    sweep: DistanceKernel, sums: GroupedMoments, block: NDArray[Any]
) -> NDArray[np.float64]:
    seen = sweep.absorb(sums, block, 0)
    assert seen is not None  # it records distances
    return seen
