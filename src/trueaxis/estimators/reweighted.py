"""Row-weighted methods: each is a rule, a centre and a solver.

The rules are in `engine/rules`, `engine/search` iterates them; here are the bases of
the family, equal weights, and a rule of your own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.iterate import IterationResult, at_once
from trueaxis._engine.multistart import Search, with_variances
from trueaxis._engine.problem import Problem
from trueaxis._engine.reweighted import (
    EXACT,
    Centre,
    ReweightedResult,
    Solver,
    measure_rows,
)
from trueaxis._engine.rules.base import (
    FunctionRule,
    Rule,
    UniformRule,
)
from trueaxis._engine.starts import GivenCentre, equal_weights
from trueaxis._validation import validate_choice
from trueaxis.estimators.method import AboutGivenCentre, Found, Method, StartedMethod


@dataclass(eq=False, repr=False)
class PlainPCA(Method):
    """Plain PCA, on the engine of the robust methods: all weights equal.

    Minimises sum e. What outliers do to it is what the other methods are for.

    Confidence: as published.

    Parameters
    ----------
    n_components, random_state
        See `Method`.

    References
    ----------
    K. Pearson (1901): On lines and planes of closest fit to systems of points in space.

    Examples
    --------
    >>> from trueaxis import PlainPCA
    >>> from trueaxis.datasets import planted
    >>> PlainPCA(3).fit_transform(planted("none").X).shape
    (500, 3)
    """

    def _search(self, problem: Problem, k: int) -> Found:
        rows, counts = problem.rows, problem.counts
        subspace = equal_weights(rows, k, counts)
        objective = UniformRule().objective(measure_rows(rows, subspace, counts), 0.0)
        weights = np.full(rows.shape[0], 1.0 / problem.n_copies)
        return Found(subspace, at_once(objective, problem.n_copies), weights)


@dataclass(eq=False, repr=False, kw_only=True)
class RowWeighted(StartedMethod):
    """Base of methods that a rule defines."""

    def _rules(self, problem: Problem, k: int) -> Sequence[Rule]:
        """The rule; or several, of which each starts where the one before ended."""
        raise TypeError(f"{type(self).__name__} has no rule.")

    def _solver(self, problem: Problem, k: int) -> Solver:
        return EXACT

    def _about(self) -> tuple[Centre, GivenCentre]:
        """Which centre the rows scatter about, and where it starts."""
        return "weighted", "mean"

    def _search(self, problem: Problem, k: int) -> Found:
        centre, origin = self._about()
        search = Search(
            problem,
            k,
            centre=centre,
            origin=origin,
            solver=self._solver(problem, k),
            max_iter=self.max_iter,
            tol=self._tol(problem),
        )
        found = self._run(search, self._rules(problem, k))
        subspace, n = with_variances(problem, found.turn)
        learnt = self._learnt(found.turn.rule)
        return Found(subspace, found, found.turn.copy_weights(), n, learnt)

    def _run(
        self, search: Search, rules: Sequence[Rule]
    ) -> IterationResult[ReweightedResult]:
        return search.best(rules, self.n_init)

    def _learnt(self, rule: Any) -> dict[str, Any]:
        """Constants that the rule took from the data, by the attributes they become."""
        return {}


@dataclass(eq=False, repr=False, kw_only=True)
class FixedCentre(AboutGivenCentre, RowWeighted):
    """Base of row-weighted methods that do not learn a centre."""

    def _about(self) -> tuple[Centre, GivenCentre]:
        return "fixed", self.centre


@dataclass(eq=False, repr=False, kw_only=True)
class ReweightedPCA(RowWeighted):
    """PCA with a weight formula of your own.

    In turns: distances of the rows from centre and subspace, weights from these
    distances, weighted mean and leading eigenvectors of the weighted scatter.

    Whether that lowers anything at every step is up to the rule: it does if the weight
    is the derivative of a concave loss of e.

    Parameters
    ----------
    rule : callable, Rule or None, default=None
        A function (v, e, d) -> w of all rows at once, with v the squared distance from
        the centre inside the subspace, e that off it and d = v + e; or an object
        derived from `trueaxis.Rule`, whose parameters a grid search reaches as
        ``rule__name``. None weighs all rows alike.
    centre : {"weighted", "mean", "median"}, default="weighted"
        Weighted mean, learnt with the subspace; or sample mean or spatial median.
    n_init : int, default=1
        Number of starts; all but the first are random, and the largest objective (the
        smallest, if the rule has aim = -1) wins.
    n_components, max_iter, tol, random_state
        See `Method`.

    Examples
    --------
    >>> from trueaxis import ReweightedPCA
    >>> from trueaxis.datasets import planted
    >>> model = ReweightedPCA(3, rule=lambda v, e, d: e < 2 * sorted(e)[len(e) // 2])
    >>> model.fit(planted("ocs", share=0.1).X).weights_.shape
    (500,)
    """

    rule: (
        Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], NDArray[Any]] | Rule | None
    ) = None
    centre: Literal["weighted", "mean", "median"] = "weighted"

    def _check(self) -> None:
        super()._check()
        validate_choice("centre", self.centre, ("weighted", "mean", "median"))
        if not (
            self.rule is None or isinstance(self.rule, Rule) or callable(self.rule)
        ):
            raise TypeError(
                f"rule={self.rule!r} is a {type(self.rule).__name__}: pass a function "
                "(v, e, d) -> weights, an object derived from trueaxis.Rule, or None."
            )

    def _rules(self, problem: Problem, k: int) -> Sequence[Rule]:
        if isinstance(self.rule, Rule):
            return [self.rule]
        return [UniformRule() if self.rule is None else FunctionRule(self.rule)]

    def _about(self) -> tuple[Centre, GivenCentre]:
        if self.centre == "weighted":
            return "weighted", "mean"
        return "fixed", self.centre

    def _carrying(self, found: Found, weights: NDArray[Any]) -> float:
        return float(found.result.turn.effective)
