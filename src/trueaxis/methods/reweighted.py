"""Plain PCA, and PCA with a user-defined weight formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis.base import Method, MultistartMethod, checked, choice, reweighting
from trueaxis.core.iteration import at_once
from trueaxis.core.problem import Problem
from trueaxis.core.recipes import FitResult, Recipe
from trueaxis.core.reweighting import measure_rows
from trueaxis.core.rules import FunctionRule, Rule, UniformRule
from trueaxis.core.starts import equal_weights


@dataclass(eq=False, repr=False)
class PlainPCA(Method):
    """Plain PCA: all rows have equal weights.

    Minimizes sum e, with e the squared distance of a row from the subspace, in closed
    form.
    A single outlier can change the result arbitrarily.

    Confidence: as published.

    Parameters
    ----------
    n_components, random_state, level, contamination
        See `Method`.

    References
    ----------
    K. Pearson (1901): On lines and planes of closest fit to systems of points in space.

    Examples
    --------
    >>> from trueaxis.methods import PlainPCA
    >>> from trueaxis.datasets import planted
    >>> PlainPCA(3).fit_transform(planted("none").X).shape
    (500, 3)
    """

    def _search(self, problem: Problem, k: int) -> FitResult:
        rows, counts, n = problem.rows, problem.counts, problem.total_weight
        subspace = equal_weights(rows, k, counts)
        distances = measure_rows(rows, subspace, counts)
        iterations = at_once(UniformRule().objective(distances, 0.0), n)
        weights = problem.normalized(np.full(rows.shape[0], 1.0 / n))
        return FitResult(subspace, iterations, weights=weights)


def _check_rule(name: str, rule: Any) -> None:
    if not (rule is None or isinstance(rule, Rule) or callable(rule)):
        raise TypeError(
            f"{name}={rule!r} is a {type(rule).__name__}: pass a function (v, e, d) -> "
            "weights, an instance of a subclass of trueaxis.methods.Rule, or None."
        )


@dataclass(eq=False, repr=False, kw_only=True)
class ReweightedPCA(MultistartMethod):
    """PCA with a user-defined weight formula.

    Alternates two steps: compute the weights of the rows from their distances, then the
    weighted mean and the leading eigenvectors of the weighted scatter.

    Whether an objective falls at every iteration depends on the rule: it does if the
    weight is the derivative of a concave loss of e.

    Parameters
    ----------
    rule : callable, Rule or None, default=None
        A function (v, e, d) -> weights of all rows at once, with v the squared
        distances from the center inside the subspace, e those from the subspace, and
        d = v + e; or an instance of a subclass of `trueaxis.methods.Rule`, whose
        parameters a grid search reaches as ``rule__name``. None gives all rows equal
        weights.
    center : {"weighted", "mean", "median"}, default="weighted"
        Weighted mean, learned with the subspace; or fixed sample mean or spatial
        median.
    n_init : int, default=1
        Number of starts. All but the first are random; the largest objective wins (the
        smallest if the rule has aim = -1).
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    Examples
    --------
    >>> from trueaxis.methods import ReweightedPCA
    >>> from trueaxis.datasets import planted
    >>> model = ReweightedPCA(3, rule=lambda v, e, d: e < 2 * sorted(e)[len(e) // 2])
    >>> model.fit(planted("ocs", share=0.1).X).weights_.shape
    (500,)
    """

    rule: Callable[..., NDArray[Any]] | Rule | None = checked(None, _check_rule)
    center: Literal["weighted", "mean", "median"] = choice("weighted", "mean", "median")

    def _recipe(self) -> Recipe:
        rule = self.rule
        if not isinstance(rule, Rule):
            rule = UniformRule() if rule is None else FunctionRule(rule)
        return reweighting(self, rule, counts_effective_rows=True)
