"""From a rule to a fit: start, freeze, iterate; several starts, or several rules.

What every row-weighted method but DSWL does with its rule; DSWL has `stages`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.iterate import IterationResult, best_of, iterate
from trueaxis._engine.problem import Problem
from trueaxis._engine.reweighted import (
    EXACT,
    Centre,
    ReweightedResult,
    ReweightedStep,
    Solver,
    measure_rows,
    weighted_moments,
)
from trueaxis._engine.rules.base import Rule
from trueaxis._engine.squarem import Squarem
from trueaxis._engine.starts import GivenCentre, plain_moments
from trueaxis._engine.subspace import Subspace, solve, spanned
from trueaxis._rows.base import ArrayRows

ANNEALING_ROUNDS = 20


@dataclass(frozen=True)
class Search:
    """How a row-weighted method looks for its subspace.

    Attributes
    ----------
    ground : Problem
    k : int
    centre : Centre
    solver : Solver
    max_iter, tol
        Of each iteration.
    origin : {"mean", "median"}
        Centre of the start: the mean or the spatial median. It stays where `centre` is
        "fixed".
    """

    problem: Problem
    k: int
    centre: Centre = "weighted"
    solver: Solver = EXACT
    max_iter: int = 200
    tol: float = 1e-6
    origin: GivenCentre = "mean"

    def best(
        self, rules: Sequence[Rule], n_init: int = 1
    ) -> IterationResult[ReweightedResult]:
        """The best of several starts: plain PCA, then random ones.

        Plain PCA goes through all rules in turn, the others start with the last one,
        which counts. Constants of the rules are set by the first look from plain PCA,
        so that objectives can be compared.
        """
        rows, counts = self.problem.rows, self.problem.counts
        moments = plain_moments(rows, counts, self.origin)
        first = self.solver.start(moments, self.k)
        view = measure_rows(rows, first, counts)
        frozen = [rule.freeze(view) for rule in rules]
        start, last = first, frozen[-1]
        for rule in frozen[:-1]:
            start = self.iterate(rule, start, ANNEALING_ROUNDS).turn.next
        starts = [start, *self._random_starts(last, first, n_init - 1)]
        ends = (self.iterate(last, start, self.max_iter) for start in starts)
        return best_of(ends, last.aim)

    def iterate(
        self, rule: Rule, start: Subspace, rounds: int, *, on_sample: bool = False
    ) -> IterationResult[ReweightedResult]:
        """Iterate one rule, whose constants are set, from a start."""
        rows, counts = self.problem.rows, self.problem.counts
        if on_sample:
            rows, counts = ArrayRows(self.problem.sample.S), None
        smooth = rule.proven and rule.smooth and self.solver.smooth
        return iterate(
            ReweightedStep(rows, rule, counts, self.centre, self.solver),
            start,
            max_iter=min(rounds, self.max_iter),
            tol=self.tol,
            leap=Squarem() if smooth else None,
            sense=rule.aim,
        )

    def _random_starts(self, rule: Rule, first: Subspace, n: int) -> list[Subspace]:
        rng, sample = self.problem.rng(), self.problem.sample
        centre = first.mean if self.centre == "fixed" else None
        starts = [few_rows_start(sample.S, self.k, rng, centre) for _ in range(n)]
        if not starts or not sample.large:
            return starts
        # A sample tells which is best; only that one goes on with all rows.
        part = rule.for_part(len(sample.S) / self.problem.n_copies)
        ends = (
            self.iterate(part, start, self.max_iter, on_sample=True) for start in starts
        )
        return [best_of(ends, rule.aim).turn.next]


def few_rows_start(
    S: NDArray[Any], k: int, rng: np.random.Generator, centre: NDArray[Any] | None
) -> Subspace:
    """Subspace of k + 2 random rows; through k of them, where the centre is given."""
    wanted = k + 2 if centre is None else k
    rows = S[rng.choice(len(S), min(wanted, len(S)), replace=False)]
    moments = plain_moments(ArrayRows(rows), None)
    return solve(moments if centre is None else moments.about(centre), k)


def with_variances(problem: Problem, turn: ReweightedResult) -> tuple[Subspace, float]:
    """The subspace that a turn leads to, and the number of rows its variances rest on.

    They are those of the core where there is one, else of all rows, calmly weighed.
    """
    after, core = turn.next, turn.weighing.core
    if core is not None:
        return after, turn.view.total(core)
    sums = weighted_moments(
        problem.rows, after.mean, turn.bounded_weighting(), problem.counts
    )
    moments = sums.span().about(after.mean)
    return spanned(after.basis, moments), moments.equal_size()
