"""How every fit proceeds: search with a recipe, judge the rows, choose the dimension.

A recipe is a value that an estimator builds from its parameters. It says how to search
for the subspace of a `Problem`; everything else is the same for all methods.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from trueaxis._engine.iterate import IterationResult
from trueaxis._engine.outliers.certain import NearDistances
from trueaxis._engine.outliers.judge import Judge, Verdicts
from trueaxis._engine.problem import Problem
from trueaxis._engine.subspace import Subspace

NOT_WORTH = 0.05  # share of components that is not worth another fit


@dataclass(frozen=True)
class SearchResult:
    """The outcome of a search.

    Attributes
    ----------
    subspace : Subspace
        In the coordinates of the problem.
    iterations : IterationResult
    tol : float
        Tolerance of the iterations.
    weights : array or None
        Weights of all copies of every row, summing to 1; None where the method has
        none.
    n_behind_variances : float or None
        Number of rows behind the variances; None for all.
    attributes : mapping
        Further fitted attributes of the estimator.
    warnings : sequence of str
        Warnings to issue once the fit is stored.
    near : NearDistances or None
        Distances of all rows from a subspace nearby, if they are known.
    """

    subspace: Subspace
    iterations: IterationResult[Any]
    tol: float = 0.0
    weights: Any = None
    n_behind_variances: float | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    near: NearDistances | None = None


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

    def search(self, problem: Problem, k: int) -> SearchResult:
        """Start, and iterate to a subspace with k components."""
        raise TypeError(f"{type(self).__name__} does not define a search.")

    def judge(self, problem: Problem, found: SearchResult) -> Verdicts:
        """Judge all rows by the subspace that was found."""
        sample = problem.sample
        judge = Judge(
            problem.hull,
            problem.counts,
            sample.index,
            sample.original,
            leveled=problem.leveled,
        )
        n = found.n_behind_variances or problem.n_copies
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
class FitResult:
    """A search and the verdicts that follow from it."""

    found: SearchResult
    verdicts: Verdicts

    @property
    def k(self) -> int:
        """Number of components."""
        return len(self.verdicts.subspace.basis)

    def explained_share(self) -> float:
        """Return the share of the variance that the components explain."""
        subspace = self.verdicts.subspace
        total = max(subspace.total, np.finfo(float).tiny)
        return float(subspace.variances.sum() / total)


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
        most = (1 + NOT_WORTH) * k if n_components == "auto" else k
        if suggested is None or (1 - NOT_WORTH) * k <= suggested <= most:
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
    return FitResult(found, recipe.judge(problem, found))


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
