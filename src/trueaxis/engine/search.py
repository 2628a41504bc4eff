"""From a rule to a fit: start, freeze, iterate; several starts, or several rules.

What every row-weighted method but DSWL does with its rule; DSWL has `stages`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueaxis.engine.ground import Ground
from trueaxis.engine.iterate import Result, best_of, iterate
from trueaxis.engine.kernels import Weighing
from trueaxis.engine.reweighted import (
    Centre,
    ReweightedStep,
    Solver,
    Weighed,
    exact,
    gather,
    look,
)
from trueaxis.engine.rules import Rule
from trueaxis.engine.sparse import SparseSolver
from trueaxis.engine.squarem import Squarem
from trueaxis.engine.starts import GivenCentre, plain_moments
from trueaxis.engine.subspace import Subspace, principal_axes, solve
from trueaxis.rows import ArrayRows

ANNEALING_ROUNDS = 20


@dataclass(frozen=True)
class Search:
    """How a row-weighted method looks for its subspace.

    Attributes
    ----------
    ground : Ground
    k : int
    centre : Centre
    solver : Solver
    max_iter, tol
        Of each iteration.
    origin : {"mean", "median"}
        Centre of the start: the mean or the spatial median. It stays where `centre` is
        "fixed".
    """

    ground: Ground
    k: int
    centre: Centre = "weighted"
    solver: Solver = exact
    max_iter: int = 200
    tol: float = 1e-6
    origin: GivenCentre = "mean"

    def best(self, rules: Sequence[Rule], n_init: int = 1) -> Result[Weighed]:
        """The best of several starts: plain PCA, then random ones.

        Plain PCA goes through all rules in turn, the others start with the last one,
        which counts. Constants of the rules are set by the first look from plain PCA,
        so that objectives can be compared.
        """
        rows, counts = self.ground.rows, self.ground.counts
        moments = plain_moments(rows, counts, self.origin)
        first = solve(moments, self.k)
        if isinstance(self.solver, SparseSolver):
            first = self.solver(moments, None, first)
        view = look(rows, first, counts)
        frozen = [rule.freeze(view) for rule in rules]
        start, last = first, frozen[-1]
        for rule in frozen[:-1]:
            start = self.iterate(rule, start, ANNEALING_ROUNDS).turn.next
        starts = [start, *self._random_starts(first, n_init - 1)]
        ends = (self.iterate(last, start, self.max_iter) for start in starts)
        return best_of(ends, last.sense or -1)

    def iterate(self, rule: Rule, start: Subspace, rounds: int) -> Result[Weighed]:
        """Iterate one rule, whose constants are set, from a start."""
        ground = self.ground
        smooth = rule.smooth and not isinstance(self.solver, SparseSolver)
        return iterate(
            ReweightedStep(ground.rows, rule, ground.counts, self.centre, self.solver),
            start,
            max_iter=min(rounds, self.max_iter),
            tol=self.tol,
            leap=Squarem() if rule.sense and smooth else None,
            sense=rule.sense,
        )

    def _random_starts(self, first: Subspace, n: int) -> Iterator[Subspace]:
        rng, S = self.ground.rng(), self.ground.sample.S
        for _ in range(n):
            centre = first.mean if self.centre == "fixed" else None
            yield few_rows_start(S, self.k, rng, centre)


def few_rows_start(
    S: NDArray, k: int, rng: np.random.Generator, centre: NDArray | None
) -> Subspace:
    """Subspace of k + 2 random rows; through k of them, where the centre is given."""
    wanted = k + 2 if centre is None else k
    rows = S[rng.choice(len(S), min(wanted, len(S)), replace=False)]
    weighing = Weighing(np.zeros(len(rows)))
    moments = gather(ArrayRows(rows), rows[0].astype(float), weighing).span()
    return solve(moments if centre is None else moments.about(centre), k)


def with_variances(ground: Ground, turn: Weighed) -> Subspace:
    """The subspace that a turn leads to, with variances that tell of many rows.

    Weights of robust losses may lie nearly all on the rows that the subspace passes
    through, and their variance says nothing.
    """
    after: Subspace = turn.next
    if turn.weighing.core is not None:  # then variances are those of the core
        return after
    weighing = turn.rule.calm(turn.view).weigh(turn.view)
    sums = gather(ground.rows, after.mean, weighing, ground.counts)
    moments = sums.span().about(after.mean)
    basis, variances = principal_axes(after.basis, moments)
    total = max(moments.total(), float(variances.sum()))
    return Subspace(after.mean, basis, variances, total)
