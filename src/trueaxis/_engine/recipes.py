"""Recipes of all methods except DSWL and the pursuits, one class per family.

An estimator builds a recipe from its parameters; `fit` carries it out. The mathematics
of a single step is in `reweighted`, `rules` and `steps`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.fit import Recipe, SearchResult, warn_of_few_rows
from trueaxis._engine.iterate import IterationResult, at_once, best_of, iterate
from trueaxis._engine.problem import Problem, affine_hull
from trueaxis._engine.quantiles import counted_median
from trueaxis._engine.reweighted import (
    EXACT,
    Center,
    ReweightedResult,
    ReweightedStep,
    Solver,
    measure_rows,
    weighted_moments,
)
from trueaxis._engine.rules.base import Rule, UniformRule
from trueaxis._engine.squarem import Squarem
from trueaxis._engine.starts.subspaces import (
    FixedCenter,
    equal_weights,
    few_rows_start,
    plain_moments,
)
from trueaxis._engine.steps.least_absolute import AlternatingLad
from trueaxis._engine.steps.pairwise import pairwise_scatter
from trueaxis._engine.steps.signs import SignSearch
from trueaxis._engine.steps.two_way import two_way
from trueaxis._engine.subspace import Subspace, along, spanned, top_eigen
from trueaxis.data.rows import ArrayRows

ANNEALING_ROUNDS = 20
SINGLE_ROWS = (
    "the fit follows single rows. Choose parameters that weight rows more evenly, or "
    "fewer components."
)


@dataclass(frozen=True)
class PlainRecipe(Recipe):
    """Equal weights, in closed form."""

    def search(self, problem: Problem, k: int) -> SearchResult:
        """Solve for the leading eigenvectors."""
        rows, counts, n = problem.rows, problem.counts, problem.n_copies
        subspace = equal_weights(rows, k, counts)
        distances = measure_rows(rows, subspace, counts)
        iterations = at_once(UniformRule().objective(distances, 0.0), n)
        weights = problem.copies(np.full(rows.shape[0], 1.0 / n))
        return SearchResult(subspace, iterations, weights=weights)


@dataclass(frozen=True)
class ReweightingRecipe(Recipe):
    """Alternates between distances, weights from a rule, and a weighted subspace.

    Attributes
    ----------
    rules : tuple of Rule
        The weight formula; or several, each of which starts where the one before ended.
    center : {"weighted", "selected", "mean", "median"}
        Center of the rows: their weighted mean, or the mean of the rows that the rule
        selects, both learned; or the sample mean or spatial median.
    solver : Solver
    n_init : int
        Number of starts: plain PCA, then subspaces of a few random rows.
    max_iter : int
    tol : float
        Of each iteration.
    constants : mapping
        Attributes of the estimator, with the constant of the rule that each holds and
        its value for a rule without that constant.
    counts_effective_rows : bool
        Whether to warn of too few effective rows. Most rules may rightly give nearly
        all the weight to rows on the subspace; they count all rows with any weight
        instead.
    """

    rules: tuple[Rule, ...]
    center: Literal["weighted", "selected", "mean", "median"] = "weighted"
    solver: Solver = EXACT
    n_init: int = 1
    max_iter: int = 200
    tol: float = 1e-6
    constants: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    counts_effective_rows: bool = False
    rotatable: bool = True

    def search(self, problem: Problem, k: int) -> SearchResult:
        """Iterate from several starts, and keep the best."""
        size = problem.size(k)
        sized = replace(
            self,
            rules=tuple(rule._for_size(size) for rule in self.rules),
            solver=self.solver.for_size(size),
            tol=problem.reachable(self.tol),
        )
        found = sized._unlocked(problem, sized._best(problem, k))
        last = found.last
        subspace, n = _with_variances(problem, last)
        weights = problem.copies(last.copy_weights())
        used = last.effective if self.counts_effective_rows else (weights > 0).sum()
        attributes = {
            name: getattr(last.rule, constant, otherwise)
            for name, (constant, otherwise) in self.constants.items()
        }
        return SearchResult(
            subspace,
            found,
            sized.tol,
            weights,
            n,
            attributes,
            warn_of_few_rows(float(used), k, problem, SINGLE_ROWS),
        )

    def _best(self, problem: Problem, k: int) -> IterationResult[ReweightedResult]:
        """Return the best of several starts: plain PCA, then random ones.

        From plain PCA, all rules are applied in turn; from the others, only the last.
        Constants of the rules are set at plain PCA, so that objectives are comparable.
        """
        rows, counts = problem.rows, problem.counts
        origin: FixedCenter = "median" if self.center == "median" else "mean"
        first = self.solver.start(plain_moments(rows, counts, origin), k)
        distances = measure_rows(rows, first, counts)
        frozen = [rule.freeze(distances) for rule in self.rules]
        start, rule = first, frozen[-1]
        for earlier in frozen[:-1]:
            start = self._iterate(problem, earlier, start, ANNEALING_ROUNDS).last.next
        starts = [start, *self._random_starts(problem, rule, first)]
        ends = (self._iterate(problem, rule, start) for start in starts)
        return best_of(ends, rule.aim)

    def _iterate(
        self,
        problem: Problem,
        rule: Rule,
        start: Subspace,
        rounds: int | None = None,
        *,
        on_sample: bool = False,
    ) -> IterationResult[ReweightedResult]:
        rows, counts = problem.rows, problem.counts
        if on_sample:
            rows, counts = ArrayRows(problem.sample.X), None
        center: Center = "fixed"
        if self.center == "weighted":
            center = "weighted"
        elif self.center == "selected":
            center = "core"
        smooth = rule.proven and rule.smooth and self.solver.smooth
        return iterate(
            ReweightedStep(rows, rule, counts, center, self.solver),
            start,
            max_iter=min(rounds or self.max_iter, self.max_iter),
            tol=self.tol,
            accelerator=Squarem() if smooth else None,
            sense=rule.aim,
        )

    def _random_starts(
        self, problem: Problem, rule: Rule, first: Subspace
    ) -> list[Subspace]:
        rng, sample, k = problem.rng(), problem.sample, len(first.basis)
        center = first.mean if self.center in ("mean", "median") else None
        starts = [
            few_rows_start(sample.X, k, rng, center) for _ in range(self.n_init - 1)
        ]
        if not starts or not sample.large:
            return starts
        # Choose the best on the sample; only that one continues with all rows.
        part = rule.for_part(len(sample.X) / problem.n_copies)
        ends = (self._iterate(problem, part, start, on_sample=True) for start in starts)
        return [best_of(ends, rule.aim).last.next]

    def _unlocked(
        self, problem: Problem, found: IterationResult[ReweightedResult]
    ) -> IterationResult[ReweightedResult]:
        """Continue with a fixed center if the selected rows and their mean cycle."""
        if found.converged or self.center != "selected":
            return found
        rule = self.rules[0]._about_fixed_center().freeze(found.last.distances)
        fixed = replace(self, center="mean")
        return fixed._iterate(problem, rule, found.last.next).after(found)


def _with_variances(problem: Problem, last: ReweightedResult) -> tuple[Subspace, float]:
    """Return the subspace a step leads to, and the number of rows behind its variances.

    Variances are those of the core where there is one, otherwise of all rows, with
    bounded weights.
    """
    after, core = last.next, last.weighting.core
    if core is not None:
        return after, last.distances.total(core)
    weighting = last.bounded_weighting()
    sums = weighted_moments(problem.rows, after.mean, weighting, problem.counts)
    moments = sums.span().about(after.mean)
    return spanned(after.basis, moments), moments.equal_size()


@dataclass(frozen=True)
class SignRecipe(Recipe):
    """Axes with the largest sum of powers of absolute scores.

    Attributes
    ----------
    p : float
    greedy : bool
        One axis after the other, instead of all together.
    init : {"largest", "pca", "random"}
    center : {"mean", "median"}
    n_init, max_iter, tol
    """

    p: float
    greedy: bool
    init: Literal["largest", "pca", "random"]
    center: FixedCenter
    n_init: int
    max_iter: int
    tol: float

    def search(self, problem: Problem, k: int) -> SearchResult:
        """Iterate from several starts, and keep the best."""
        moments = plain_moments(problem.rows, problem.counts, self.center)
        tol = problem.reachable(self.tol)
        search = SignSearch(
            problem, moments, self.p, self.init, self.n_init, self.max_iter, tol
        )
        found = search.greedy(k) if self.greedy else search.together(k)
        subspace = along(found.last.next.basis, moments)
        return SearchResult(subspace if self.greedy else subspace.sorted(), found, tol)


@dataclass(frozen=True)
class PairwiseRecipe(Recipe):
    """Pairs of rows weighted by a power of their distance, in closed form."""

    power: float
    max_rows: int

    def search(self, problem: Problem, k: int) -> SearchResult:
        """Solve for the leading eigenvectors of the scatter of pairs."""
        n, counts = problem.rows.shape[0], problem.counts
        if n > self.max_rows:
            raise ValueError(
                f"X has {n} rows, which make {n * (n - 1) // 2:.2g} pairs, but "
                f"max_rows={self.max_rows}. Raise it if you have the time, or fit a "
                "sample of the rows."
            )
        moments = plain_moments(problem.rows, counts)
        used = np.arange(n) if counts is None else np.flatnonzero(counts)
        X = problem.rows.take(used)
        # Centering keeps the digits of differences between rows.
        X = X - np.median(X, axis=0)
        counts = counts if counts is None else counts[used]
        axes, values = top_eigen(pairwise_scatter(X, self.power, counts), k)
        iterations = at_once(float(values.sum()), problem.n_copies)
        return SearchResult(spanned(axes, moments), iterations)


@dataclass(frozen=True)
class LeastAbsoluteRecipe(Recipe):
    """Least absolute residuals in every cell, of rows and columns alternately."""

    center: Literal["median", "mean", "none"]
    max_iter: int
    tol: float
    rotatable: bool = False

    def search(self, problem: Problem, k: int) -> SearchResult:
        """Fit scores and loadings alternately."""
        X, counts = problem.rows.read(), problem.counts
        hull = affine_hull(problem.rows)
        moments = plain_moments(hull.rows, counts)
        center = self._center(X, counts, hull.lift_point(moments.mean()))
        step = AlternatingLad((X - center).astype(float, copy=False), counts)
        tol = problem.reachable(self.tol)
        found = iterate(step, step.start(k), max_iter=self.max_iter, tol=tol)
        spread = hull.about(moments, center)
        subspace = spanned(found.last.next.loadings.T, spread)
        return SearchResult(subspace, found, tol)

    def _center(
        self, X: NDArray[Any], counts: NDArray[Any] | None, mean: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        if self.center == "mean":
            return mean
        if self.center == "none":
            return np.zeros(X.shape[1])
        return np.array([counted_median(column, counts) for column in X.T], dtype=float)


@dataclass(frozen=True)
class TwoWayRecipe(Recipe):
    """Rows and columns weighted alternately."""

    p: float
    floor: float
    max_iter: int
    tol: float
    rotatable: bool = False

    def search(self, problem: Problem, k: int) -> SearchResult:
        """Weight rows and columns alternately."""
        tol = problem.reachable(self.tol)
        subspace, n, found = two_way(problem, k, self.p, self.floor, self.max_iter, tol)
        weights = problem.copies(found.last.scaled.copy_weights())
        return SearchResult(
            subspace,
            found,
            tol,
            weights,
            n,
            {"feature_weights_": found.last.next.weights},
            warn_of_few_rows(float((weights > 0).sum()), k, problem, SINGLE_ROWS),
        )
