"""The stages of DSWL on a sample of rows: start, settle, converge, trim; and peel.

Once with all rows of the sample and, where they fall into two groups, again without the
smaller group; the fit that explains more rows as one cloud is chosen, unless the group
bent an axis: then less says more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.dswl.groups import GroupSplit, bending, cleave, heterogeneity
from trueaxis._engine.dswl.temperatures import Temperatures, calibrate
from trueaxis._engine.iterate import IterationResult, iterate
from trueaxis._engine.outliers.trim import (
    TrimRule,
    natural_cuts,
    without_leverage,
    worst_ratio,
)
from trueaxis._engine.reweighted import EXACT, Powers, ReweightedResult, ReweightedStep
from trueaxis._engine.rules.base import EntropyRule, TrustRule
from trueaxis._engine.squarem import Squarem
from trueaxis._engine.starts import deep_start, directions
from trueaxis._engine.subspace import Subspace
from trueaxis._rows.base import ArrayRows, Rows

SETTLE_ROUNDS = 8
MANY_DIMENSIONS = 100  # from which on eigenvectors take most of the time
TRIM_ROUNDS = 5
TRIM_TOL = 1e-9  # a set of rows that repeats moves nothing
MOST_DOUBLINGS = 6
MOST_PEELS = 3
PENALTY = 10.0  # for rows that are not one cloud
CHANCE = 1.25  # heterogeneity that n rows of one cloud may show, times sqrt(n)
ONE_CLOUD = 0.02
MAJORITY = 0.6  # of the rows, that is left when a group that bent an axis is set apart,
MOST_OF_IT = 0.8  # and how much of it the fit without that group must explain


@dataclass(frozen=True)
class Plan:
    """What is asked of the stages.

    Attributes
    ----------
    k : int
    trust : float
    temperatures : Temperatures or None
        None to have them calibrated by `trust`.
    max_iter, tol
        Of the iteration of Algorithm 1.
    rough : float
        `tol` after a group that bent the fit was set apart, if larger: among the rows
        that are left the objective may be flat.
    """

    k: int
    trust: float
    temperatures: Temperatures | None
    max_iter: int
    tol: float
    rough: float = 0.0


@dataclass(frozen=True)
class SampleFit:
    """A fit to some rows of the sample.

    Attributes
    ----------
    kept : ndarray
        Numbers of those rows in the sample.
    splits : tuple of GroupSplit
        What set the other rows apart, in the columns that are separable.
    temperatures : Temperatures
    learned : IterationResult
        Of Algorithm 1.
    trimmed : IterationResult
        Of the reweighting after it.
    """

    kept: NDArray[np.intp]
    splits: tuple[GroupSplit, ...]
    temperatures: Temperatures
    learned: IterationResult[ReweightedResult]
    trimmed: IterationResult[ReweightedResult]

    def excess(self) -> float:
        """How much less the rows look like one cloud than chance would have it."""
        view = without_leverage(self.trimmed.turn.view)
        weighing = self.trimmed.turn.weighing
        span = view.e[weighing.log_weights > -np.inf]
        inside = view.s[weighing.core]
        worst = max(heterogeneity(span), heterogeneity(inside))
        return max(0.0, worst - CHANCE / np.sqrt(len(inside)))

    def score(self, n: int) -> float:
        """Share of the n rows that the fit explains, less if they are not one cloud."""
        return float(self.explained().sum() / n - PENALTY * self.excess())

    def explained(self) -> NDArray[np.bool_]:
        """Which of the rows that were kept are within natural cut-offs."""
        view = without_leverage(self.trimmed.turn.view)
        return worst_ratio(view, natural_cuts(view)) <= 1.0

    def explains(self, rows: NDArray[np.intp], n: int) -> bool:
        """Whether it explains most of some rows, of n."""
        explained = np.zeros(n, dtype=bool)
        explained[self.kept] = self.explained()
        return bool(explained[rows].mean() > 0.5)


def least_rows(n: int, k: int) -> int:
    """Number of rows, of n, that a subspace must be based on."""
    return max(k + 2, n // 2)


def best_core(
    S: NDArray[Any], plan: Plan, separable: NDArray[np.bool_], rng: np.random.Generator
) -> SampleFit:
    """Fit with all rows and without groups that stand apart; return the best.

    `separable` marks the columns in which groups are looked for.
    """
    n, kept = len(S), np.arange(len(S))
    need = least_rows(n, plan.k)
    views = directions(S, rng)
    best = fit_core(S, kept, deep_start(S, views, plan.k), plan, need)
    if not separable.any():
        return best
    best, views = straightened(best, S, views, plan, separable, rng)
    kept, splits, score = best.kept, best.splits, best.score(n)
    for _ in range(MOST_PEELS):
        split = cleave(S[np.ix_(kept, separable)], views[separable], plan.k, rng)
        if split is None:
            break
        kept, splits = kept[split.larger], (*splits, split)
        # Without the smaller group a fit can explain at most the larger one.
        if len(kept) < max(n / 2, plan.k + 3) or score >= len(kept) / n - 0.01:
            break
        views = directions(S[kept], rng)
        start = deep_start(S[kept], views, plan.k)
        core = replace(fit_core(S, kept, start, plan, need), splits=splits)
        peeled = core.score(n)
        if peeled > score:
            best, score = core, peeled
        elif best.excess() <= ONE_CLOUD:
            break
    return best


def straightened(
    bent: SampleFit,
    S: NDArray[Any],
    views: NDArray[Any],
    plan: Plan,
    separable: NDArray[np.bool_],
    rng: np.random.Generator,
) -> tuple[SampleFit, NDArray[Any]]:
    """The fit without groups that bend an axis and that it explains, if there are any.

    What it explains with them says nothing then. But most rows must be left, which the
    fit without them explains, and which bend no axis in turn. Also its directions.
    """
    n, kept, seen, splits = len(S), bent.kept, views, bent.splits
    for _ in range(MOST_PEELS):
        split = bending(S[np.ix_(kept, separable)], seen[separable])
        if split is None or not bent.explains(kept[~split.larger], n):
            break
        kept, splits = kept[split.larger], (*splits, split)
        if len(kept) < max(MAJORITY * n, plan.k + 3):
            return bent, views
        seen = directions(S[kept], rng)
    if not splits:
        return bent, views
    rough = replace(plan, tol=max(plan.tol, plan.rough))
    start, need = deep_start(S[kept], seen, plan.k), least_rows(n, plan.k)
    core = replace(fit_core(S, kept, start, rough, need), splits=splits)
    good = core.score(n) >= MOST_OF_IT * len(kept) / n
    return (core, seen) if good else (bent, views)


def fit_core(
    S: NDArray[Any], kept: NDArray[np.intp], start: Subspace, plan: Plan, need: int
) -> SampleFit:
    """Settle, converge and trim on the rows `kept`."""
    rows, temperatures = ArrayRows(S[kept]), plan.temperatures
    if temperatures is None:
        start, temperatures = settle(rows, start, plan)
    learned = learn(rows, start, temperatures, plan)
    for _ in range(MOST_DOUBLINGS if plan.temperatures is None else 0):
        if learned.turn.effective >= min(plan.k + 1, len(kept) - 1):
            break
        # Rows of pure noise can pull the subspace onto a few of them: warm up.
        temperatures = Temperatures(*(2.0 * t for t in temperatures))
        learned = learn(rows, start, temperatures, plan)
    trimmed = trim(rows, learned.turn.next, need, previous=learned.turn)
    return SampleFit(kept, (), temperatures, learned, trimmed)


def roomy(n: int, trust: float) -> int:
    """Most components with which bad rows, of n, can be told.

    Trusted rows should be twice as many: with more components bad rows are part of the
    span, and then look regular.
    """
    return int(trust * n / 2) - 1


def learn(
    rows: Rows,
    start: Subspace,
    temperatures: Temperatures,
    plan: Plan,
    counts: NDArray[Any] | None = None,
) -> IterationResult[ReweightedResult]:
    """Algorithm 1 with these temperatures, accelerated."""
    return iterate(
        ReweightedStep(rows, EntropyRule(*temperatures), counts),
        start,
        max_iter=plan.max_iter,
        tol=plan.tol,
        leap=Squarem(),
    )


def settle(rows: Rows, start: Subspace, plan: Plan) -> tuple[Subspace, Temperatures]:
    """A few rounds with temperatures calibrated anew; then they are frozen."""
    # Fewer rows than twice the dimension could not carry the subspace.
    least = 2.0 * (plan.k + 1) / rows.shape[0]
    trust = min(1.0, max(plan.trust, least))
    solver = Powers(2) if rows.shape[1] >= MANY_DIMENSIONS else EXACT
    step = ReweightedStep(rows, TrustRule(trust), solver=solver)
    settled = iterate(step, start, max_iter=SETTLE_ROUNDS, tol=0.0)
    view = settled.turn.view
    return settled.turn.next, calibrate(view.v, view.e, trust)


def trim(
    rows: Rows, state: Subspace, need: int, previous: ReweightedResult | None = None
) -> IterationResult[ReweightedResult]:
    """Keep the rows within cut-offs, until they repeat."""
    return iterate(
        ReweightedStep(rows, TrimRule(need)),
        state,
        max_iter=TRIM_ROUNDS,
        tol=TRIM_TOL,
        previous=previous,
    )
