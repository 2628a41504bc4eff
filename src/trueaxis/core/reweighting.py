"""The step of all row-weighted methods: measure rows, weight them, solve.

A rule that needs only a row's own distances takes one pass over the data; a rule that
needs the distances of all rows at once takes a second pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis.core.iteration import StepResult
from trueaxis.core.kernels import DistanceKernel, MomentKernel, RowWeights
from trueaxis.core.moments import Moments, Scratch
from trueaxis.core.rules import RowDistances, Rule
from trueaxis.core.subspace import Subspace, solve, solve_from, subspace_change
from trueaxis.data.rows import ArrayRows, Rows

if TYPE_CHECKING:
    from trueaxis.core.problem import Problem

# The center of the scatter: the weighted mean of the rows, the center of the start, or
# the mean of the core.
Center = Literal["weighted", "fixed", "core"]


@dataclass(frozen=True)
class ReweightedResult(StepResult):
    """Distances of the rows from `state`, their weights, and the next subspace.

    `objective` is the objective of the rule at `state`, and `change` the angle between
    the spans of `state` and `next`.

    Attributes
    ----------
    state : Subspace
    distances : RowDistances
        Distances of all rows from `state`.
    weighting : RowWeights
        Log-weights (of a single repetition of each row) and core of all rows.
    log_total : float
        Logarithm of the sum of the weights.
    rule : Rule
        The rule that gave the weights.
    """

    state: Subspace
    distances: RowDistances
    weighting: RowWeights
    log_total: float
    rule: Rule

    def bounded_weighting(self) -> RowWeights:
        """Return bounded weights, for computing variances.

        Robust losses may give nearly all the weight to the few rows that the subspace
        passes through, whose variance is meaningless.
        """
        return self.rule._bounded(self.distances).weigh(self.distances)

    def single_weights(self) -> NDArray[np.float64]:
        """Return the weight of one repetition of every row; all of them sum to 1."""
        return np.asarray(np.exp(self.weighting.log_weights - self.log_total))


class Solver:
    """Exact solver for the next subspace, given weighted moments.

    Attributes
    ----------
    smooth : bool
        Whether the subspace depends smoothly on the moments, so that steps can be
        extrapolated.
    """

    smooth: ClassVar[bool] = True

    def for_problem(self, problem: Problem, k: int) -> Solver:
        """Return the solver with shares turned into numbers."""
        return self

    def start(self, moments: Moments, k: int) -> Subspace:
        """Return the subspace to start from."""
        return solve(moments, k)

    def __call__(
        self, moments: Moments, core: Moments | None, state: Subspace
    ) -> Subspace:
        """Solve for the span and, from `core` if given, for center and variances."""
        return solve(moments, len(state.basis), core)


POWER_STEPS = 2  # that turn axes far enough, if more rounds follow


class PowerSolver(Solver):
    """Solver that takes power steps from the present subspace.

    One step is enough to raise a convex objective; two approximate the exact solution
    well enough while the weights still change.

    Parameters
    ----------
    count : int
        Number of power steps.
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def __call__(
        self, moments: Moments, core: Moments | None, state: Subspace
    ) -> Subspace:
        """Take the power steps."""
        return solve_from(moments, state, self.count)


EXACT = Solver()


@dataclass(frozen=True)
class ReweightedStep:
    """The step of a row-weighted method, for `iterate`.

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
    _scratch: Scratch = field(default_factory=Scratch)
    _spare: Scratch = field(default_factory=Scratch)

    def __call__(
        self, state: Subspace, previous: ReweightedResult | None = None
    ) -> ReweightedResult:
        """Measure the rows from `state`, weight them, solve for the next subspace."""
        if self.rows.one_block:
            distances, weighting, span = self._at_once(state, previous)
        elif self.rule.row_local:
            distances, span = self._measure_and_sum(state)
            weighting = self.rule.weigh(distances)
        else:
            distances = measure_rows(self.rows, state, self.counts)
            distances = _with_weights(distances, previous)
            weighting = self.rule.weigh(distances)
            span = weighted_moments(self.rows, state.mean, weighting, self.counts)
        core = None
        if weighting.core is not None:
            equal = np.where(weighting.core, 0.0, -np.inf)
            core = self._sums(MomentKernel(state.mean, equal, self.counts))
        after = self._solve(span, core, state)
        log_total = span.log_weight()
        if self.rows.orthogonal is not None:
            w = np.exp(weighting.log_weights - log_total)
            after = replace(after, total=after.total + float(w @ self.rows.orthogonal))
        return ReweightedResult(
            state=state,
            next=after,
            distances=distances,
            weighting=weighting,
            log_total=log_total,
            rule=self.rule,
            objective=self.rule.objective(distances, log_total),
            change=_change(state, after),
            effective=span.effective_size(),
        )

    def _solve(self, span: Moments, core: Moments | None, state: Subspace) -> Subspace:
        if self.center == "weighted":
            return self.solver(span, core, state)
        center = state.mean
        if core is not None:
            center = core.mean() if self.center == "core" else center
            core = core.about(center)
        return self.solver(span.about(center), core, state)

    def _at_once(
        self, state: Subspace, previous: ReweightedResult | None
    ) -> tuple[RowDistances, RowWeights, Moments]:
        """Measure, weight and sum rows of a single block, whatever the rule."""
        kept: list[tuple[RowDistances, RowWeights]] = []

        def weigh(v: NDArray[Any], e: NDArray[Any], s: NDArray[Any]) -> RowWeights:
            distances = RowDistances(v, e, s, counts=self.counts)
            distances = _with_weights(distances, previous)
            kept.append((distances, self.rule.weigh(distances)))
            return kept[0][1]

        kernel = DistanceKernel(state, weigh, self.counts, False, self.rows.orthogonal)
        moments = self._sums(kernel)
        return *kept[0], moments

    def _sums(self, kernel: DistanceKernel | MomentKernel) -> Moments:
        """Return the moments of a pass; one block uses the space of earlier steps."""
        if not self.rows.one_block:
            moments: Moments = self.rows.scan(kernel)[1].moments
            return moments
        sums = kernel.start()._replace(scratch=self._scratch, spare=self._spare)
        assert isinstance(self.rows, ArrayRows)  # only these come in one block
        kernel.absorb(sums, self.rows.array, 0)
        return sums.moments

    def _measure_and_sum(self, state: Subspace) -> tuple[RowDistances, Moments]:
        def weigh(v: NDArray[Any], e: NDArray[Any], s: NDArray[Any]) -> RowWeights:
            return self.rule.weigh(RowDistances(v, e, s))

        kernel = DistanceKernel(
            state, weigh, self.counts, orthogonal=self.rows.orthogonal
        )
        (v, e, s), sums = self.rows.scan(kernel)
        return RowDistances(v, e, s, counts=self.counts), sums.moments


def _with_weights(
    distances: RowDistances, previous: ReweightedResult | None
) -> RowDistances:
    if previous is None:
        return distances
    return distances._replace(fit_weight=previous.single_weights())


def _change(state: Subspace, after: Subspace) -> float:
    if len(state.basis):
        return subspace_change(after.supported(), state.basis)
    # Without components, only the center moves.
    size = max(after.total, np.finfo(float).tiny)
    return float(np.linalg.norm(after.mean - state.mean) / np.sqrt(size))


def measure_rows(
    rows: Rows, state: Subspace, counts: NDArray[Any] | None = None
) -> RowDistances:
    """Measure the distances of all rows from a subspace, in one pass."""
    (v, e, s), _ = rows.scan(DistanceKernel(state, orthogonal=rows.orthogonal))
    return RowDistances(v, e, s, counts=counts)


def weighted_moments(
    rows: Rows,
    pivot: NDArray[Any],
    weighting: RowWeights,
    counts: NDArray[Any] | None = None,
) -> Moments:
    """Compute the moments of rows whose weights are known, in one pass."""
    kernel = MomentKernel(pivot, weighting.log_weights, counts)
    moments: Moments = rows.scan(kernel)[1].moments
    return moments
