"""DSWL from rows to answer: sample, stages, finish, and the number of components.

The estimator checks its parameters, asks a `Fitting` for an `Outcome` and stores it.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace

import numpy as np

from trueaxis._engine.dimension import choose_dimension
from trueaxis._engine.dswl.finish import (
    FullDataFit,
    LearnedWeights,
    consistent,
    finish_for,
)
from trueaxis._engine.dswl.stages import (
    MANY_DIMENSIONS,
    Plan,
    SampleFit,
    best_core,
    fit_core,
    learn,
    least_rows,
    roomy,
    trim,
)
from trueaxis._engine.dswl.temperatures import Temperatures
from trueaxis._engine.iterate import IterationResult, iterate
from trueaxis._engine.outliers.cutoffs import separable_columns
from trueaxis._engine.outliers.judge import Verdicts
from trueaxis._engine.problem import Problem
from trueaxis._engine.reweighted import ReweightedResult, ReweightedStep
from trueaxis._engine.rules.base import EntropyRule
from trueaxis._engine.starts import equal_weights
from trueaxis._engine.subspace import Subspace
from trueaxis._rows.base import ArrayRows

# The iteration on a sample need not be more exact than the sample itself.
SAMPLE_TOL = 1e-4
LEAST_ROOM = 8  # components, with fewer of which rows cannot be judged for more


@dataclass(frozen=True)
class Outcome:
    """A fit with k components, in the columns as given.

    Attributes
    ----------
    k : int
    subspace : Subspace
    judged : Verdicts
    finish : FullDataFit
    temperatures : Temperatures
    learned : IterationResult
        Of Algorithm 1 (on the sample, where that was enough).
    weighed : LearnedWeights
        Weights of all rows.
    """

    k: int
    subspace: Subspace
    judged: Verdicts
    finish: FullDataFit
    temperatures: Temperatures
    learned: IterationResult[ReweightedResult]
    weighed: LearnedWeights

    def share(self) -> float:
        """Share of the variance that the components have."""
        total = max(self.subspace.total, np.finfo(float).tiny)
        return float(self.subspace.variances.sum() / total)


class Fitting:
    """DSWL on a ground, with any number of components.

    Parameters
    ----------
    ground : Problem
    plan : Plan
        Its k is replaced.
    uniform : bool
        Start with equal weights, as the paper does.
    reweight : bool
        Finish with the rows within cut-offs.
    """

    def __init__(
        self, problem: Problem, plan: Plan, *, uniform: bool, reweight: bool
    ) -> None:
        self.problem = problem
        self.plan = plan
        self.uniform = uniform
        self.reweight = reweight
        # Coordinates of a hull mix the columns: groups show in all of them or in none.
        self.separable = separable_columns(problem.table)
        if problem.hull.frame is not None:
            self.separable = np.full(problem.rows.shape[1], self.separable.any())

    def search(self, n_components: int | float | str | None) -> Outcome:
        """Fit with the number of components that is asked for, directly or not."""
        k = self.problem.n_components(n_components)
        if n_components is None or isinstance(n_components, numbers.Integral):
            return self.at(k)
        tried: dict[int, Outcome] = {}
        while k not in tried:
            tried[k] = self.at(k)
            k = min(self._better(n_components, tried[k]), self.problem.most)
        if n_components == "auto":
            # From k on they lead back to k: itself, or a few in turn.
            order = list(tried)
            return tried[max(order[order.index(k) :])]
        least = float(n_components)
        reached = [k for k, one in tried.items() if one.share() >= least]
        return tried[min(reached, default=max(tried))]

    def at(self, k: int) -> Outcome:
        """Fit with k components."""
        plan, problem = replace(self.plan, k=k), self.problem
        if self._is_crowded(k):
            plan = replace(plan, k=roomy(len(problem.sample.S), plan.trust))
        core = self._literal(plan) if self._is_literal() else self._staged(plan)
        finish = finish_for(problem, core, self.separable, marked=not self.reweight)
        learned, rule = core.learned, EntropyRule(*core.temperatures)
        if not (self.reweight or problem.sample.exact or self._is_literal()):
            start, rows = learned.turn.state, problem.rows
            learned = learn(rows, start, core.temperatures, plan, finish.counts)
        state = learned.turn.state
        if self.reweight:
            need = least_rows(len(problem.sample.S), k)
            weighed, judged = finish.reweighted(core, need, k, state, rule)
            judged = consistent(judged, problem.table.shape[1])
        else:
            weighed = finish.weights(state, rule)
            judged = finish.judged(state, finish.per_copy(weighed.weights))
        return Outcome(
            k=k,
            subspace=problem.hull.lift(judged.subspace),
            judged=judged,
            finish=finish,
            temperatures=core.temperatures,
            learned=learned,
            weighed=weighed,
        )

    def _is_crowded(self, k: int) -> bool:
        """Whether rows are judged with fewer components than they get in the end."""
        if self.plan.temperatures is not None or self.problem.sample.large:
            return False
        room = roomy(len(self.problem.sample.S), self.plan.trust)
        return self.reweight and not self.uniform and k > room >= LEAST_ROOM

    def _is_literal(self) -> bool:
        return self.uniform and self.plan.temperatures is not None

    def _literal(self, plan: Plan) -> SampleFit:
        """Algorithm 1 to the letter, on all rows."""
        rows, counts = self.problem.rows, self.problem.counts
        T, S = plan.temperatures, self.problem.sample.S
        assert T is not None
        step = ReweightedStep(rows, EntropyRule(*T), counts)
        start = equal_weights(rows, plan.k, counts)
        learned = iterate(step, start, max_iter=plan.max_iter, tol=plan.tol)
        trimmed = trim(ArrayRows(S), learned.turn.next, least_rows(len(S), plan.k))
        return SampleFit(np.arange(len(S)), (), T, learned, trimmed)

    def _staged(self, plan: Plan) -> SampleFit:
        """All stages on the sample."""
        S, enough = self.problem.sample.S, [plan.tol]
        if self.problem.sample.large:
            enough.append(SAMPLE_TOL)
        if self.reweight and S.shape[1] >= MANY_DIMENSIONS:
            enough.append(plan.tol**0.5)
            plan = replace(plan, rough=plan.tol ** (1 / 3))
        plan = replace(plan, tol=max(enough))
        if self.uniform:
            start = equal_weights(ArrayRows(S), plan.k)
            need = least_rows(len(S), plan.k)
            return fit_core(S, np.arange(len(S)), start, plan, need)
        return best_core(S, plan, self.separable, self.problem.rng())

    def _better(self, n_components: float | str, outcome: Outcome) -> int:
        """The number of components that a fit itself suggests."""
        if n_components == "auto":
            variances, n = outcome.finish.robust_spectrum(outcome.judged)
            return choose_dimension("auto", variances, n, self.problem.table.shape[1])
        variances = outcome.subspace.variances
        missing = float(n_components) * outcome.subspace.total - np.cumsum(variances)
        if missing[-1] <= 0:
            return int((missing > 0).sum()) + 1
        # Further components explain no more than the last one, each.
        return outcome.k + max(
            1, int(missing[-1] / max(variances[-1], missing[-1] / 8))
        )
