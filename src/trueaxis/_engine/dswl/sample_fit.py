"""The stages of DSWL on a sample: start, settle, converge, trim; set groups aside.

The sample is fitted with all its rows and, if they fall into two groups, again without
the smaller one. The fit that explains more rows as one cloud is chosen,
unless the group bent an axis: then the fit without it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.dswl.groups import GroupSplit, bending, cleave, heterogeneity
from trueaxis._engine.dswl.plan import MANY_DIMENSIONS, Plan, min_rows
from trueaxis._engine.dswl.rules import EntropyRule, TrustRule
from trueaxis._engine.dswl.temperatures import Temperatures, calibrate
from trueaxis._engine.iterate import IterationResult, iterate
from trueaxis._engine.outliers.trim import (
    TrimRule,
    natural_cuts,
    without_leverage,
    worst_ratio,
)
from trueaxis._engine.problem import Problem
from trueaxis._engine.reweighted import (
    EXACT,
    PowerSolver,
    ReweightedResult,
    ReweightedStep,
)
from trueaxis._engine.squarem import Squarem
from trueaxis._engine.starts import deep_start, equal_weights, random_directions
from trueaxis._engine.subspace import Subspace
from trueaxis._rows.base import ArrayRows, Rows

SETTLE_ROUNDS = 8
TRIM_ROUNDS = 5
TRIM_TOL = 1e-9  # the same set of rows gives the same subspace
MAX_DOUBLINGS = 6
MAX_GROUPS = 3
PENALTY = 10.0  # subtracted from the score, per unit of excess heterogeneity
CHANCE = 1.25  # heterogeneity that n rows of one cloud may have, times sqrt(n)
ONE_CLOUD = 0.02  # excess heterogeneity up to which rows are one cloud
# If a group that bent an axis is set aside, this share of the rows must remain, and the
# fit without that group must explain this share of them.
MAJORITY = 0.6
MIN_EXPLAINED = 0.8


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
    trimmed : IterationResult
        Result of the reweighting after it.
    """

    kept: NDArray[np.intp]
    splits: tuple[GroupSplit, ...]
    temperatures: Temperatures
    iterations: IterationResult[ReweightedResult]
    trimmed: IterationResult[ReweightedResult]

    def excess(self) -> float:
        """Return the heterogeneity of the rows beyond what chance allows."""
        distances = without_leverage(self.trimmed.last.distances)
        weighting = self.trimmed.last.weighting
        span = distances.e[weighting.log_weights > -np.inf]
        inside = distances.s[weighting.core]
        worst = max(heterogeneity(span), heterogeneity(inside))
        return max(0.0, worst - CHANCE / float(np.sqrt(len(inside))))

    def score(self, n: int) -> float:
        """Return the share of n rows explained, minus a penalty for heterogeneity."""
        return float(self.explained().sum() / n - PENALTY * self.excess())

    def explained(self) -> NDArray[np.bool_]:
        """Mark the kept rows that are within natural cut-offs."""
        distances = without_leverage(self.trimmed.last.distances)
        return worst_ratio(distances, natural_cuts(distances)) <= 1.0

    def explains(self, rows: NDArray[np.intp], n: int) -> bool:
        """Return whether the fit explains most of the given rows of a sample of n."""
        explained = np.zeros(n, dtype=bool)
        explained[self.kept] = self.explained()
        return bool(explained[rows].mean() > 0.5)


def fit_sample(problem: Problem, plan: Plan) -> SampleFit:
    """Fit the sample as planned; all rows, if the plan is the published algorithm."""
    X = problem.sample.X
    if plan.published:
        return _published_fit(problem, plan)
    if plan.start == "robust":
        return _best_fit(X, plan, problem.rng())
    start = equal_weights(ArrayRows(X), plan.fit_k)
    return _fit_rows(X, np.arange(len(X)), start, plan, plan.tol)


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
    trimmed = trim(ArrayRows(X), learned.last.next, min_rows(len(X), plan.fit_k))
    return SampleFit(np.arange(len(X)), (), temperatures, learned, trimmed)


def _best_fit(X: NDArray[Any], plan: Plan, rng: np.random.Generator) -> SampleFit:
    """Fit with all rows and without groups that stand apart; return the best."""
    n, kept, separable = len(X), np.arange(len(X)), plan.separable
    directions = random_directions(X, rng)
    best = _fit_rows(X, kept, deep_start(X, directions, plan.fit_k), plan, plan.tol)
    if not separable.any():
        return best
    best, directions = _straighten(best, X, directions, plan, rng)
    kept, splits, score = best.kept, best.splits, best.score(n)
    for _ in range(MAX_GROUPS):
        split = cleave(
            X[np.ix_(kept, separable)], directions[separable], plan.fit_k, rng
        )
        if split is None:
            break
        kept, splits = kept[split.larger], (*splits, split)
        # Without the smaller group a fit can explain at most the larger one.
        if len(kept) < max(n / 2, plan.fit_k + 3) or score >= len(kept) / n - 0.01:
            break
        directions = random_directions(X[kept], rng)
        start = deep_start(X[kept], directions, plan.fit_k)
        fit = replace(_fit_rows(X, kept, start, plan, plan.tol), splits=splits)
        without_group = fit.score(n)
        if without_group > score:
            best, score = fit, without_group
        elif best.excess() <= ONE_CLOUD:
            break
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
    remain, the fit without the groups must explain most of them, and no group among
    them may bend an axis in turn. Also return the directions of the start.
    """
    n, k, separable = len(X), plan.fit_k, plan.separable
    kept, present, splits = bent.kept, directions, bent.splits
    for _ in range(MAX_GROUPS):
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
    fit = _fit_rows(X, kept, start, plan, plan.tol_without_group)
    fit = replace(fit, splits=splits)
    good = fit.score(n) >= MIN_EXPLAINED * len(kept) / n
    return (fit, present) if good else (bent, directions)


def _fit_rows(
    X: NDArray[Any], kept: NDArray[np.intp], start: Subspace, plan: Plan, tol: float
) -> SampleFit:
    """Settle, converge and trim on the rows `kept`."""
    rows, temperatures = ArrayRows(X[kept]), plan.temperatures
    if temperatures is None:
        start, temperatures = settle(rows, start, plan.trust)
    learned = learn(rows, start, temperatures, plan.max_iter, tol)
    for _ in range(MAX_DOUBLINGS if plan.temperatures is None else 0):
        if learned.last.effective >= min(plan.fit_k + 1, len(kept) - 1):
            break
        # In pure noise the subspace may follow a few rows: raise the temperatures.
        temperatures = Temperatures(*(2.0 * t for t in temperatures))
        learned = learn(rows, start, temperatures, plan.max_iter, tol)
    least = min_rows(len(X), plan.fit_k)
    trimmed = trim(rows, learned.last.next, least, previous=learned.last)
    return SampleFit(kept, (), temperatures, learned, trimmed)


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
    solver = PowerSolver(2) if rows.shape[1] >= MANY_DIMENSIONS else EXACT
    step = ReweightedStep(rows, TrustRule(trust), solver=solver)
    settled = iterate(step, start, max_iter=SETTLE_ROUNDS, tol=0.0)
    distances = settled.last.distances
    return settled.last.next, calibrate(distances.v, distances.e, trust)


def trim(
    rows: Rows, state: Subspace, least: int, previous: ReweightedResult | None = None
) -> IterationResult[ReweightedResult]:
    """Keep the rows within cut-offs (at least `least`) until they no longer change."""
    return iterate(
        ReweightedStep(rows, TrimRule(least)),
        state,
        max_iter=TRIM_ROUNDS,
        tol=TRIM_TOL,
        previous=previous,
    )
