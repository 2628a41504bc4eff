"""STEP: look, weigh, solve. What every row-weighted method repeats.

Rows that are weighed from their own distances alone are looked at, weighed and summed
in one pass; a rule that needs all rows at once costs a second pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.iterate import StepResult
from trueaxis._engine.kernels import (
    DistanceKernel,
    GroupedMoments,
    MomentKernel,
    RowCounts,
    RowWeights,
    Weigh,
)
from trueaxis._engine.moments import Moments
from trueaxis._engine.rules.base import RowDistances, Rule, Size
from trueaxis._engine.subspace import Subspace, solve, solve_from, subspace_change
from trueaxis._rows.base import Rows

# Where the rows are scattered about: their weighted mean, the center of the start, or
# the mean of the core.
Center = Literal["weighted", "fixed", "core"]


@dataclass(frozen=True)
class ReweightedResult(StepResult):
    """One turn: the rows as seen from `state`, their weights, and the next subspace.

    `objective` is the rule's, at `state`; `change` the angle between the spans of
    `state` and `next`.

    Attributes
    ----------
    state : Subspace
    view : RowDistances
        Distances of all rows from `state`.
    weighing : RowWeights
        Log-weights (of one copy of each row) and core of all rows.
    log_total : float
        Logarithm of the sum of the weights.
    rule : Rule
        That weighed.
    """

    state: Subspace
    view: RowDistances
    weighing: RowWeights
    log_total: float
    rule: Rule

    def bounded_weighting(self) -> RowWeights:
        """Weights for variances that tell of many rows.

        Those of robust losses may lie nearly all on the rows that the subspace passes
        through, and their variance says nothing.
        """
        return self.rule.bounded(self.view).weigh(self.view)

    def copy_weights(self) -> NDArray[np.float64]:
        """Weights of one copy of every row; over all copies they sum to 1."""
        return np.exp(self.weighing.log_weights - self.log_total)


class Solver:
    """From weighted moments to the next subspace: the best one.

    `smooth` solvers move with the moments, so that steps can be extrapolated.
    """

    smooth: ClassVar[bool] = True

    def for_size(self, size: Size) -> Solver:
        """Return the solver with shares turned into numbers."""
        return self

    def start(self, moments: Moments, k: int) -> Subspace:
        """Return the subspace to start from."""
        return solve(moments, k)

    def __call__(
        self, moments: Moments, core: Moments | None, state: Subspace
    ) -> Subspace:
        """Solve for the span, from `core` (if given) for center and variances."""
        return solve(moments, len(state.basis), core)


class Powers(Solver):
    """Power steps from where we are.

    Two of them will do on the way; one is what maximising a convex function needs to
    rise.
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def __call__(
        self, moments: Moments, core: Moments | None, state: Subspace
    ) -> Subspace:
        """Take the steps."""
        return solve_from(moments, state, self.count)


EXACT = Solver()


@dataclass(frozen=True)
class ReweightedStep:
    """The step of the weighted family, for `iterate`.

    Parameters
    ----------
    rows : Rows
    rule : Rule
    counts : ndarray, optional
        How often each row counts.
    center : {"weighted", "fixed", "core"}
    solver : Solver
    """

    rows: Rows
    rule: Rule
    counts: NDArray[np.float64] | None = None
    center: Center = "weighted"
    solver: Solver = EXACT

    def __call__(
        self, state: Subspace, previous: ReweightedResult | None = None
    ) -> ReweightedResult:
        """Look at the rows from `state`, weigh them, solve for the next subspace."""
        if self.rule.row_local:
            view, sums = self._fused(state)
            weighing = self.rule.weigh(view)
        else:
            view = measure_rows(self.rows, state, self.counts)
            if previous is not None:
                view = view._replace(fit_weight=previous.copy_weights())
            weighing = self.rule.weigh(view)
            sums = weighted_moments(self.rows, state.mean, weighing, self.counts)
        span, core = sums.span(), None if weighing.core is None else sums.core()
        after = self._solved(span, core, state)
        log_total = span.log_weight()
        return ReweightedResult(
            state=state,
            next=after,
            view=view,
            weighing=weighing,
            log_total=log_total,
            rule=self.rule,
            objective=self.rule.objective(view, log_total),
            change=_change(state, after),
            effective=span.effective_size(),
        )

    def _solved(self, span: Moments, core: Moments | None, state: Subspace) -> Subspace:
        if self.center == "weighted":
            return self.solver(span, core, state)
        center = state.mean
        if core is not None:
            center = core.mean() if self.center == "core" else center
            core = core.about(center)
        return self.solver(span.about(center), core, state)

    def _fused(self, state: Subspace) -> tuple[RowDistances, GroupedMoments]:
        sweep = DistanceKernel(state, block_weigher(self.rule), RowCounts(self.counts))
        (v, e, s), sums = self.rows.scan(sweep)
        return RowDistances(v, e, s, counts=self.counts), sums


def block_weigher(rule: Rule) -> Weigh:
    """How a rule that needs a row's own distances only weighs a block."""

    def weigh(v: NDArray[Any], e: NDArray[Any], s: NDArray[Any]) -> RowWeights:
        return rule.weigh(RowDistances(v, e, s))

    return weigh


def _change(state: Subspace, after: Subspace) -> float:
    if len(state.basis):
        return subspace_change(after.supported(), state.basis)
    # Without components it is the center that moves.
    size = max(after.total, np.finfo(float).tiny)
    return float(np.linalg.norm(after.mean - state.mean) / np.sqrt(size))


def measure_rows(
    rows: Rows, state: Subspace, counts: NDArray[Any] | None = None
) -> RowDistances:
    """Distances of all rows from a subspace, in one pass."""
    (v, e, s), _ = rows.scan(DistanceKernel(state))
    return RowDistances(v, e, s, counts=counts)


def weighted_moments(
    rows: Rows,
    pivot: NDArray[Any],
    weighing: RowWeights,
    counts: NDArray[Any] | None = None,
) -> GroupedMoments:
    """Moments of rows whose weights are known, in one pass."""
    _, sums = rows.scan(MomentKernel(pivot, weighing, counts))
    return sums
