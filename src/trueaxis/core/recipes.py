"""How every fit proceeds: search with a recipe, judge the rows, choose the dimension.

A recipe is a value that an estimator builds from its parameters. It says how to search
for the subspace of a `Problem`; everything else is the same for all methods.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from trueaxis.core.iteration import IterationResult, Squarem, best_of, iterate
from trueaxis.core.problem import Problem
from trueaxis.core.reweighting import (
    EXACT,
    Center,
    ReweightedResult,
    ReweightedStep,
    Solver,
    measure_rows,
    weighted_moments,
)
from trueaxis.core.rules import Rule
from trueaxis.core.starts import FixedCenter, few_rows_start, plain_moments
from trueaxis.core.subspace import Subspace, spanned
from trueaxis.core.verdicts import Judge, Verdicts
from trueaxis.data.rows import ArrayRows

TOLERATED_SHARE = 0.05  # share of components that may be missing or spare


@dataclass(frozen=True)
class FitResult:
    """The outcome of a fit: the result of a search, and then the verdicts.

    Attributes
    ----------
    subspace : Subspace
        In the coordinates of the problem.
    iterations : IterationResult
    tol : float
        Tolerance of the iterations.
    weights : array or None
        Weights of rows with all repetitions, summing to 1; None where the method has
        none.
    n_behind_variances : float or None
        Number of rows behind the variances; None for all.
    attributes : mapping
        Further fitted attributes of the estimator.
    warnings : sequence of str
        Warnings to issue once the fit is stored.
    verdicts : Verdicts
        Set after the search.
    """

    subspace: Subspace
    iterations: IterationResult[Any]
    tol: float = 0.0
    weights: Any = None
    n_behind_variances: float | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    verdicts: Any = None

    @property
    def k(self) -> int:
        """Number of components."""
        return len(self.verdicts.subspace.basis)

    def explained_share(self) -> float:
        """Return the share of the variance that the components explain."""
        subspace = self.verdicts.subspace
        total = max(subspace.total, np.finfo(float).tiny)
        return float(subspace.variances.sum() / total)


class Recipe:
    """How a method fits: a value, built from the parameters of an estimator.

    Attributes
    ----------
    rotatable : bool
        Whether the answer is the same in any orthonormal coordinates.
    ignores_far_rows : bool
        Whether `search` accepts rows of any magnitude; otherwise rows whose squares
        overflow are refused first, and rows that do not count are masked.
    """

    rotatable: bool = True
    ignores_far_rows: bool = False

    def search(self, problem: Problem, k: int) -> FitResult:
        """Start, and iterate to a subspace with k components."""
        raise TypeError(f"{type(self).__name__} does not define a search.")

    def judge(self, problem: Problem, found: FitResult) -> Verdicts:
        """Judge all rows by the subspace that was found."""
        sample = problem.sample
        judge = Judge(
            problem.hull,
            problem.counts,
            sample.index,
            sample.original,
            leveled=problem.leveled,
        )
        n = found.n_behind_variances or problem.total_weight
        return judge.judge(unbiased(found.subspace, n))

    def rough_dimension(
        self, problem: Problem, k: int, wanted: float | str
    ) -> int | None:
        """Return the number of components that a rough fit with k of them suggests."""
        return None

    def next_dimension(
        self, problem: Problem, fit: FitResult, wanted: float | str
    ) -> int | None:
        """Return the number of components that a fit suggests; None to keep its own."""
        return None


@dataclass(frozen=True)
class SearchRecipe(Recipe):
    """The recipe of a method that defines its own search."""

    own: Callable[[Problem, int], FitResult]
    rotatable: bool = True

    def search(self, problem: Problem, k: int) -> FitResult:
        """Call the search of the method."""
        return self.own(problem, k)


def fit_with(
    recipe: Recipe, problem: Problem, n_components: int | float | str | None
) -> FitResult:
    """Search and judge, with the number of components asked for.

    A share or "auto" starts from the variances of the deepest half of the rows. Rough
    fits then suggest numbers, until one repeats, and a full fit may correct the last.
    """
    k = problem.n_components(n_components)
    if n_components is None or isinstance(n_components, numbers.Integral):
        return _attempt(recipe, problem, k)
    k = _rough_number(recipe, problem, k, n_components)
    fits: dict[int, FitResult] = {}
    while k not in fits:
        fits[k] = fit = _attempt(recipe, problem, k)
        suggested = recipe.next_dimension(problem, fit, n_components)
        most = (1 + TOLERATED_SHARE) * k if n_components == "auto" else k
        if suggested is None or (1 - TOLERATED_SHARE) * k <= suggested <= most:
            break
        # One correction is enough, unless a share has not been reached yet.
        if len(fits) > 1 and (n_components == "auto" or _reaching(fits, n_components)):
            break
        k = min(suggested, problem.max_components)
    if n_components == "auto":
        return fit
    return fits[min(_reaching(fits, n_components), default=max(fits))]


def _reaching(fits: dict[int, FitResult], share: float | str) -> list[int]:
    """Return the numbers of components that explain a share of the variance."""
    return [k for k, fit in fits.items() if fit.explained_share() >= float(share)]


def _rough_number(recipe: Recipe, problem: Problem, k: int, wanted: float | str) -> int:
    """Return the number of components that rough fits, from k on, lead to."""
    tried: list[int] = []
    while k not in tried:
        tried.append(k)
        suggested = recipe.rough_dimension(problem, k, wanted)
        k = k if suggested is None else min(suggested, problem.max_components)
    # The numbers tried from k on lead back to k: a fixed point, or a short cycle.
    return max(tried[tried.index(k) :])


def _attempt(recipe: Recipe, problem: Problem, k: int) -> FitResult:
    found = recipe.search(problem, k)
    return replace(found, verdicts=recipe.judge(problem, found))


def unbiased(subspace: Subspace, n: float) -> Subspace:
    """Return the subspace with variances over n - 1 rows instead of n."""
    factor = n / max(n - 1.0, 1.0)
    variances, total = factor * subspace.variances, factor * subspace.total
    return replace(subspace, variances=variances, total=total)


def warn_of_few_rows(n: float, k: int, problem: Problem, advice: str) -> list[str]:
    """Return a warning if n rows are too few to carry k components."""
    if n >= min(k + 1, problem.n_rows - 1):
        return []
    return [
        f"only {n:.3g} of {problem.n_rows} rows carry weight, too few for {k} "
        f"components: {advice}"
    ]


ANNEALING_ROUNDS = 20
SINGLE_ROWS = (
    "the fit follows single rows. Choose parameters that weight rows more evenly, or "
    "fewer components."
)


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

    def search(self, problem: Problem, k: int) -> FitResult:
        """Iterate from several starts, and keep the best."""
        sized = replace(
            self,
            rules=tuple(rule._for_problem(problem, k) for rule in self.rules),
            solver=self.solver.for_problem(problem, k),
            tol=problem.reachable(self.tol),
        )
        found = sized._unlocked(problem, sized._best(problem, k))
        last = found.last
        subspace, n = _with_variances(problem, last)
        weights = problem.normalized(last.single_weights())
        used = last.effective if self.counts_effective_rows else (weights > 0).sum()
        attributes = {
            name: getattr(last.rule, constant, otherwise)
            for name, (constant, otherwise) in self.constants.items()
        }
        return FitResult(
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
        smooth = rule.smooth and self.solver.smooth
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
        part = rule.for_part(len(sample.X) / problem.total_weight)
        ends = (self._iterate(problem, part, start, on_sample=True) for start in starts)
        return [best_of(ends, rule.aim).last.next]

    def _unlocked(
        self, problem: Problem, found: IterationResult[ReweightedResult]
    ) -> IterationResult[ReweightedResult]:
        """Continue with a fixed center if the selected rows and their mean cycle."""
        if found.converged or self.center != "selected":
            return found
        rule = self.rules[0].freeze(found.last.distances)
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
    return spanned(after.basis, sums.about(after.mean)), sums.weight
