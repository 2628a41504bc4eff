"""The stages of DSWL on a sample: start, settle, converge, core; set groups aside.

The sample is fitted with all its rows and, if they fall into two groups, again without
the smaller one. The fit that explains more rows as one cloud is chosen,
unless the group bent an axis: then the fit without it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from trueaxis._engine.dswl.groups import GroupSplit, bending, cleave, heterogeneity
from trueaxis._engine.dswl.plan import Plan, min_rows
from trueaxis._engine.dswl.rules import EntropyRule, TrustRule
from trueaxis._engine.dswl.temperatures import Temperatures, calibrate
from trueaxis._engine.iterate import IterationResult, iterate
from trueaxis._engine.outliers.core import (
    CoreRule,
    HalfRule,
    deviations,
    without_leverage,
)
from trueaxis._engine.outliers.law import REGULAR
from trueaxis._engine.problem import Problem
from trueaxis._engine.reweighted import (
    POWER_STEPS,
    PowerSolver,
    ReweightedResult,
    ReweightedStep,
)
from trueaxis._engine.squarem import Squarem
from trueaxis._engine.starts import deep_start, equal_weights, random_directions
from trueaxis._engine.subspace import Subspace
from trueaxis._rows.base import ArrayRows, Rows

SETTLE_ROUNDS = 8
PENALTY = 10.0  # subtracted from the score, per unit of excess heterogeneity
# Deviations of regular Gaussian rows, by the worse of two distances.
GAUSSIAN = float(ndtri(1 - REGULAR / 2))
CHANCE = 1.25  # heterogeneity that n rows of one cloud may have, times sqrt(n)
MAJORITY = 0.6  # share of the rows that must remain without groups that bend an axis


@dataclass(frozen=True)
class SampleFit:
    """A fit to some rows of the sample.

    Attributes
    ----------
    kept : ndarray
        Indices of those rows in the sample.
    splits : tuple of GroupSplit
        The splits, in the separable coordinates, that set the other rows aside.
    temperatures : Temperatures
    iterations : IterationResult
        Of Algorithm 1.
    core : ReweightedResult
        Of the fit to the core.
    """

    kept: NDArray[np.intp]
    splits: tuple[GroupSplit, ...]
    temperatures: Temperatures
    iterations: IterationResult[ReweightedResult]
    core: ReweightedResult

    def excess(self) -> float:
        """Return the heterogeneity of the rows beyond what chance allows."""
        distances = without_leverage(self.core.distances)
        some = self.explained()
        worst = max(heterogeneity(distances.e[some]), heterogeneity(distances.s[some]))
        return max(0.0, worst - CHANCE / float(np.sqrt(some.sum())))

    def score(self, n: int) -> float:
        """Return the share of n rows explained, minus a penalty for heterogeneity."""
        return float(self.explained().sum() / n - PENALTY * self.excess())

    def explained(self) -> NDArray[np.bool_]:
        """Mark the kept rows that would be regular in a Gaussian cloud."""
        return deviations(without_leverage(self.core.distances)) <= GAUSSIAN

    def explains(self, rows: NDArray[np.intp], n: int) -> bool:
        """Return whether Algorithm 1 explains most of the given rows of a sample of n.

        Its weights, not the core, decide whether a group bends an axis.
        """
        explained = np.zeros(n, dtype=bool)
        explained[self.kept] = deviations(self.iterations.last.distances) <= GAUSSIAN
        return bool(explained[rows].mean() > 0.5)


def fit_sample(problem: Problem, plan: Plan) -> SampleFit:
    """Fit the sample as planned; all rows, if the plan is the published algorithm."""
    X = problem.sample.X
    if plan.published:
        return _published_fit(problem, plan)
    if plan.start == "robust":
        return _best_fit(X, plan, problem.rng())
    start = equal_weights(ArrayRows(X), plan.fit_k)
    return _fit_rows(X, np.arange(len(X)), start, plan)


def _published_fit(problem: Problem, plan: Plan) -> SampleFit:
    """Run Algorithm 1 exactly as published, on all rows."""
    rows, counts, X = problem.rows, problem.counts, problem.sample.X
    temperatures = plan.temperatures
    assert temperatures is not None  # a published fit has temperatures
    learned = iterate(
        ReweightedStep(rows, EntropyRule(*temperatures), counts),
        equal_weights(rows, plan.fit_k, counts),
        max_iter=plan.max_iter,
        tol=plan.tol_on_all_rows,
    )
    core = find_core(ArrayRows(X), learned.last.next)
    return SampleFit(np.arange(len(X)), (), temperatures, learned, core)


def _best_fit(X: NDArray[Any], plan: Plan, rng: np.random.Generator) -> SampleFit:
    """Fit with all rows and without groups that stand apart; return the best."""
    n, kept, separable = len(X), np.arange(len(X)), plan.separable
    directions = random_directions(X, rng)
    best = _fit_rows(X, kept, deep_start(X, directions, plan.fit_k), plan)
    if not separable.any():
        return best
    best, directions = _straighten(best, X, directions, plan, rng)
    kept, splits, score = best.kept, best.splits, best.score(n)
    while True:
        split = cleave(
            X[np.ix_(kept, separable)], directions[separable], plan.fit_k, rng
        )
        if split is None:
            break
        kept, splits = kept[split.larger], (*splits, split)
        # Without the smaller group a fit can explain at most the larger one.
        if len(kept) < max(n / 2, plan.fit_k + 3) or score >= len(kept) / n:
            break
        directions = random_directions(X[kept], rng)
        start = deep_start(X[kept], directions, plan.fit_k)
        fit = replace(_fit_rows(X, kept, start, plan), splits=splits)
        without_group = fit.score(n)
        if without_group <= score:
            break
        best, score = fit, without_group
    return best


def _straighten(
    bent: SampleFit,
    X: NDArray[Any],
    directions: NDArray[Any],
    plan: Plan,
    rng: np.random.Generator,
) -> tuple[SampleFit, NDArray[Any]]:
    """Fit without groups that bend an axis and that the fit explains, if there are any.

    The share explained by the fit with them is then meaningless. But most rows must
    remain, and no group among them may bend an axis in turn. Also return the directions
    of the start.
    """
    n, k, separable = len(X), plan.fit_k, plan.separable
    kept, present, splits = bent.kept, directions, bent.splits
    while True:
        split = bending(X[np.ix_(kept, separable)], present[separable])
        if split is None or not bent.explains(kept[~split.larger], n):
            break
        kept, splits = kept[split.larger], (*splits, split)
        if len(kept) < max(MAJORITY * n, k + 3):
            return bent, directions
        present = random_directions(X[kept], rng)
    if not splits:
        return bent, directions
    start = deep_start(X[kept], present, k)
    return replace(_fit_rows(X, kept, start, plan), splits=splits), present


def _fit_rows(
    X: NDArray[Any], kept: NDArray[np.intp], start: Subspace, plan: Plan
) -> SampleFit:
    """Settle, converge and find the core of the rows `kept`."""
    rows, temperatures = ArrayRows(X[kept]), plan.temperatures
    if temperatures is None:
        start, temperatures = settle(rows, start, plan.trust)
    learned = learn(rows, start, temperatures, plan.max_iter, plan.tol)
    least = min(plan.fit_k + 1, len(kept) - 1)
    while plan.temperatures is None and learned.last.effective < least:
        # In pure noise the subspace may follow a few rows: raise the temperatures.
        temperatures = Temperatures(*(2.0 * t for t in temperatures))
        learned = learn(rows, start, temperatures, plan.max_iter, plan.tol)
    core = find_core(rows, learned.last.next)
    return SampleFit(kept, (), temperatures, learned, core)


def learn(
    rows: Rows,
    start: Subspace,
    temperatures: Temperatures,
    max_iter: int,
    tol: float,
    counts: NDArray[Any] | None = None,
) -> IterationResult[ReweightedResult]:
    """Run Algorithm 1 with these temperatures, accelerated."""
    return iterate(
        ReweightedStep(rows, EntropyRule(*temperatures), counts),
        start,
        max_iter=max_iter,
        tol=tol,
        accelerator=Squarem(),
    )


def settle(rows: Rows, start: Subspace, trust: float) -> tuple[Subspace, Temperatures]:
    """Run a few rounds, recalibrating temperatures in each; return the last state."""
    # Fewer rows than twice the number of components cannot carry the subspace.
    least = 2.0 * (len(start.basis) + 1) / rows.shape[0]
    trust = min(1.0, max(trust, least))
    step = ReweightedStep(rows, TrustRule(trust), solver=PowerSolver(POWER_STEPS))
    settled = iterate(step, start, max_iter=SETTLE_ROUNDS, tol=0.0)
    distances = settled.last.distances
    return settled.last.next, calibrate(distances.v, distances.e, trust)


def find_core(rows: Rows, state: Subspace) -> ReweightedResult:
    """Solve for the inner half of the rows, then for the core."""
    need = min_rows(rows.shape[0], len(state.basis))
    half = ReweightedStep(rows, HalfRule(need))(state)
    return ReweightedStep(rows, CoreRule(need))(half.next, half)
