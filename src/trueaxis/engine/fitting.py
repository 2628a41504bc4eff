"""DSWL from rows to answer: sample, stages, finish, and the number of components.

The estimator checks its parameters, asks a `Fitting` for an `Outcome` and stores it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trueaxis.engine.calibrate import Temperatures
from trueaxis.engine.cutoffs import separable_columns
from trueaxis.engine.dimension import choose_dimension
from trueaxis.engine.finish import Finish, Judged, finish_for, n_different_rows
from trueaxis.engine.hull import affine_hull
from trueaxis.engine.iterate import Result, iterate
from trueaxis.engine.reweighted import ReweightedStep, Weighed
from trueaxis.engine.rules import EntropyRule
from trueaxis.engine.sample import draw_sample
from trueaxis.engine.stages import (
    MANY_DIMENSIONS,
    Core,
    Plan,
    best_core,
    deep_moments,
    equal_weights,
    fit_core,
    trim,
)
from trueaxis.engine.starts import directions
from trueaxis.engine.subspace import Subspace, spectrum
from trueaxis.rows import ArrayRows, Rows

# The iteration on a sample need not be more exact than the sample itself.
SAMPLE_TOL = 1e-4
DIMENSION_ROUNDS = 4


@dataclass(frozen=True)
class Outcome:
    """A fit with k components, in the columns as given.

    Attributes
    ----------
    k : int
    subspace : Subspace
    judged : Judged
    finish : Finish
    temperatures : Temperatures
    learned : Result
        Of Algorithm 1 (on the sample, where that was enough).
    weights : ndarray of shape (n,)
    objective : float
    """

    k: int
    subspace: Subspace
    judged: Judged
    finish: Finish
    temperatures: Temperatures
    learned: Result[Weighed]
    weights: NDArray[np.float64]
    objective: float


class Fitting:
    """Everything that does not depend on the number of components, made once.

    Parameters
    ----------
    rows : Rows
    counts : ndarray or None
        How often each row counts.
    plan : Plan
        Its k is replaced.
    uniform : bool
        Start with equal weights, as the paper does.
    reweight : bool
        Finish with the rows within cut-offs.
    rng : Generator
    """

    def __init__(
        self,
        rows: Rows,
        counts: NDArray | None,
        plan: Plan,
        *,
        uniform: bool,
        reweight: bool,
        rng: np.random.Generator,
    ) -> None:
        self.counts = counts
        self.plan = plan
        self.uniform = uniform
        self.reweight = reweight
        self.hull = affine_hull(rows)
        self.sample = draw_sample(self.hull.rows, counts, rng)
        self.table = self.sample.S
        if self.hull.frame is not None:
            self.table = rows.take(self.sample.index)
        self.seed = int(rng.integers(2**31))

    def search(self, n_components: int | float | str | None) -> Outcome:
        """Fit with the number of components that is asked for, directly or not."""
        n, D = self.hull.rows.shape
        if n_components is None:
            n_components = min(n, D)
        if isinstance(n_components, (int, np.integer)):
            return self.at(int(n_components))
        outcome = self.at(self._first_guess(n_components))
        for _ in range(DIMENSION_ROUNDS):
            k = self._better(n_components, outcome)
            if k == outcome.k:
                break
            following = self.at(k)
            if self._better(n_components, following) == outcome.k:  # undecided
                return max(outcome, following, key=lambda one: one.k)
            outcome = following
        return outcome

    def at(self, k: int) -> Outcome:
        """Fit with k components."""
        plan = replace(self.plan, k=k)
        core = self._literal(plan) if self._is_literal() else self._staged(plan)
        finish = finish_for(self.hull, self.counts, self.sample, self.table, core.kept)
        learned, rule = core.learned, EntropyRule(core.temperatures)
        if not (self.reweight or self.sample.exact or self._is_literal()):
            step = ReweightedStep(self.hull.rows, rule, k, finish.counts)
            state = learned.turn.state
            learned = iterate(step, state, max_iter=plan.max_iter, tol=plan.tol)
        weights, objective = finish.weights(learned.turn.state, rule)
        if self.reweight:
            judged = finish.reweighted(core, k, self._need(k))
        else:
            judged = finish.judged(learned.turn.state, finish.per_copy(weights))
        return Outcome(
            k=k,
            subspace=self.hull.lift(judged.subspace),
            judged=judged,
            finish=finish,
            temperatures=core.temperatures,
            learned=learned,
            weights=weights,
            objective=objective,
        )

    def _is_literal(self) -> bool:
        return self.uniform and self.plan.temperatures is not None

    def _literal(self, plan: Plan) -> Core:
        """Algorithm 1 to the letter, on all rows."""
        rows, T = self.hull.rows, plan.temperatures
        assert T is not None
        step = ReweightedStep(rows, EntropyRule(T), plan.k, self.counts)
        start = equal_weights(rows, plan.k, self.counts)
        learned = iterate(step, start, max_iter=plan.max_iter, tol=plan.tol)
        S = ArrayRows(self.sample.S)
        trimmed = trim(S, learned.turn.next, plan.k, self._need(plan.k))
        return Core(np.arange(len(self.sample.S)), T, learned, trimmed)

    def _staged(self, plan: Plan) -> Core:
        """All stages on the sample."""
        S = self.sample.S
        if self.sample.large:
            plan = replace(plan, tol=max(plan.tol, SAMPLE_TOL))
        if self.reweight and S.shape[1] >= MANY_DIMENSIONS:
            plan = replace(plan, tol=max(plan.tol, plan.tol**0.5))
        if self.uniform:
            start = equal_weights(ArrayRows(S), plan.k)
            return fit_core(S, np.arange(len(S)), start, plan, self._need(plan.k))
        separable = separable_columns(self.table)
        if self.hull.frame is not None:  # coordinates mix the columns: all or none
            separable = np.full(S.shape[1], separable.any())
        return best_core(S, plan, separable, self._rng())

    def _rng(self) -> np.random.Generator:
        # Anew for every k, so that a number found equals the same number asked for.
        return np.random.default_rng(self.seed)

    def _need(self, k: int) -> int:
        return max(k + 2, len(self.sample.S) // 2)

    def _first_guess(self, n_components: float | str) -> int:
        S = self.sample.S
        moments = deep_moments(S, directions(S, self._rng()))
        n = (n_different_rows(S) + 1) // 2
        k = choose_dimension(n_components, spectrum(moments), n, self.table.shape[1])
        return min(k, *self.hull.rows.shape)

    def _better(self, n_components: float | str, outcome: Outcome) -> int:
        """The number of components that a fit itself suggests."""
        if n_components == "auto":
            variances, n = outcome.finish.robust_spectrum(outcome.judged)
            k = choose_dimension("auto", variances, n, self.table.shape[1])
            return min(k, *self.hull.rows.shape)
        reached = np.cumsum(outcome.subspace.variances)
        target = float(n_components) * outcome.subspace.total * (1 - 1e-12)
        k = int(np.searchsorted(reached, target)) + 1
        return min(k, *self.hull.rows.shape)
