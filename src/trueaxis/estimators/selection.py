"""Row-weighted methods that keep the q best rows and drop the others."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np

from trueaxis._engine.iterate import IterationResult
from trueaxis._engine.multistart import Search
from trueaxis._engine.problem import Problem
from trueaxis._engine.reweighted import Centre, ReweightedResult
from trueaxis._engine.rules.base import Rule
from trueaxis._engine.rules.selection import (
    NearestRule,
    NeighbourRule,
    Ratio,
    RatioRule,
)
from trueaxis._engine.starts import GivenCentre
from trueaxis._validation import validate_choice, validate_number, validate_part
from trueaxis.estimators.reweighted import RowWeighted


@dataclass(eq=False, repr=False, kw_only=True)
class Selecting(RowWeighted):
    """Base of methods that keep q rows.

    Parameters
    ----------
    q : int or float
        Number of rows to keep, at least k + 2; or their share (of few rows more).
    """

    q: int | float = 0.75

    def _check(self) -> None:
        super()._check()
        validate_part("q", self.q)

    def _learnt(self, rule: Any) -> dict[str, Any]:
        return {"q_": rule.q}

    def _kept(self, problem: Problem, k: int) -> float:
        """Number of rows to keep, copies counted."""
        n, q = problem.n_copies, self.q
        least, most = min(k + 2, problem.n_rows), self._most(n)
        if not isinstance(q, numbers.Integral):
            return float(np.clip(np.ceil(float(q) * n - 1e-9), min(least, most), most))
        if q > most:
            raise ValueError(
                f"q={q} rows are to be kept, but X has {n:g}: choose at most {most:g}, "
                "or a share."
            )
        if q < least:
            raise ValueError(
                f"q={q} rows are to be kept for {k} components: through {k + 1} rows "
                f"or fewer there is a subspace that fits exactly. Choose at least "
                f"{least} of the {n:g} rows, or a share."
            )
        return float(q)

    def _most(self, n: float) -> float:
        return n


@dataclass(eq=False, repr=False, kw_only=True)
class TRPCA(Selecting):
    """Truncated robust PCA: RPCA-OM for the q rows nearest the subspace.

    Minimises the sum of the q smallest sqrt(e) over centre and subspace, by
    w = 1 / (2 sqrt(e)) for these rows and 0 for the others.

    The objective falls at every iteration.

    Confidence: as published (the authors run 20 iterations; here to convergence).

    Parameters
    ----------
    q : int or float, default=0.5
        Number of rows to keep, or their share. The authors use 0.5 and 0.4.
    n_init : int, default=1
        Number of starts; all but the first are subspaces of a few random rows, and the
        least objective wins. One, as published, is often not enough for groups of bad
        rows.
    n_components, max_iter, tol, random_state
        See `Method`.

    Attributes
    ----------
    q_ : float
        Number of rows kept.

    References
    ----------
    F. Nie, D. Wu, R. Wang, X. Li (2020): Truncated robust principle component analysis
    with a general optimization framework.

    Examples
    --------
    >>> from trueaxis import TRPCA
    >>> from trueaxis.datasets import planted
    >>> model = TRPCA(3).fit(planted("scatter", share=0.2).X)
    >>> int((model.weights_ > 0).sum())
    250
    """

    q: int | float = 0.5

    def _rules(self, problem: Problem, k: int) -> Sequence[Rule]:
        return [NearestRule(self._kept(problem, k), 1.0)]


@dataclass(eq=False, repr=False, kw_only=True)
class DRPCA(Selecting):
    """Discrete robust PCA: binary weights, least squares for the q nearest rows.

    Minimises the sum of the q smallest e over centre and subspace: the mean and the
    principal axes of q rows, then the q rows nearest to these, and so on.

    The objective falls at every iteration, and a set of rows that repeats ends it.

    Confidence: reconstructed from the abstract (binary self-learning weights,
    projection and centre, in turns). Assumed: squared distances, and q given.

    Parameters
    ----------
    q : int or float, default=0.75
        Number of rows to keep, or their share.
    n_init : int, default=10
        Number of starts; all but the first are subspaces of a few random rows, and the
        least objective wins.
    n_components, max_iter, tol, random_state
        See `Method`.

    Attributes
    ----------
    q_ : float
        Number of rows kept.

    References
    ----------
    F. Nie, S. Wang, Z. Wang, R. Wang, X. Li (2022): Discrete robust principal component
    analysis via binary weights self-learning.

    Examples
    --------
    >>> from trueaxis import DRPCA
    >>> from trueaxis.datasets import planted
    >>> cloud = planted("ocs", share=0.2)
    >>> float(DRPCA(3).fit(cloud.X).weights_[cloud.is_outlier].sum())
    0.0
    """

    n_init: int = 10

    def _rules(self, problem: Problem, k: int) -> Sequence[Rule]:
        return [NearestRule(self._kept(problem, k), 2.0)]


@dataclass(eq=False, repr=False, kw_only=True)
class RWLAN(Selecting):
    """Robust weight learning with adaptive neighbours.

    Minimises sum w e + gamma sum w^2 over centre, subspace and weights w on the
    simplex: w = (e_(q+1) - e)_+ up to a factor, e_(q+1) the smallest e left out.

    With gamma="adaptive", as published, gamma changes in every round and nothing falls
    for sure, though it settles; with "frozen", or a number, the objective falls at
    every iteration.

    Confidence: as published (there with random weights as a start, here equal ones).

    Parameters
    ----------
    q : int or float, default=0.75
        Number of rows to keep, or their share; fewer than all. The authors give none.
    gamma : {"adaptive", "frozen"} or float, default="adaptive"
        Chosen in every round so that q weights are positive; kept from the first round;
        or given, in squared units of X, whatever q is (infinity is plain PCA).
    n_init : int, default=1
        Number of starts; all but the first are subspaces of a few random rows, and the
        least objective wins.
    n_components, max_iter, tol, random_state
        See `Method`.

    Attributes
    ----------
    q_ : float
        Number of rows kept.

    References
    ----------
    R. Zhang, H. Tong (2019): Robust principal component analysis with adaptive
    neighbors.

    Examples
    --------
    >>> from trueaxis import RWLAN
    >>> from trueaxis.datasets import planted
    >>> model = RWLAN(3, q=300).fit(planted("none").X)
    >>> int((model.weights_ > 0).sum())
    300
    """

    gamma: float | Literal["adaptive", "frozen"] = "adaptive"

    def _check(self) -> None:
        super()._check()
        if isinstance(self.gamma, str):
            validate_choice("gamma", self.gamma, ("adaptive", "frozen"))
        else:
            validate_number("gamma", self.gamma, 0, np.inf)

    def _most(self, n: float) -> float:
        return n - 1  # the row that is left out gives the weights

    def _rules(self, problem: Problem, k: int) -> Sequence[Rule]:
        adaptive = isinstance(self.gamma, str)
        return [NeighbourRule(self._kept(problem, k) if adaptive else 0.0, self.gamma)]


@dataclass(eq=False, repr=False, kw_only=True)
class RPCARP(Selecting):
    """Robust PCA by joint reconstruction and projection, with discrete weights.

    Keeps the q rows with the smallest e/d; their mean is the centre, and they weigh
    1/d, the gradient of e/d ("sin2"), or d / (sqrt(e) v^1.5), that of sqrt(e/v) ("tan",
    which may go round in circles where no subspace fits the rows).

    With ratio="sin2" and a fixed centre the sum of the q smallest e/d falls at every
    iteration; otherwise nothing is promised: a ratio must not be optimised over the
    centre.

    Confidence: reconstructed. Known: reconstruction error and projected variance in one
    ratio, with discrete weights, extending Angle PCA. Assumed: which ratio, the centre,
    and q given.

    Parameters
    ----------
    q : int or float, default=0.75
        Number of rows to keep, or their share.
    ratio : {"sin2", "tan"}, default="sin2"
    centre : {"selected", "mean", "median"}, default="selected"
        Mean of the rows kept (fixed after `max_iter` rounds, should they go in a
        circle), or sample mean or spatial median, fixed from the start.
    n_init : int, default=1
        Number of starts; all but the first are subspaces of a few random rows, and the
        least objective wins.
    n_components, max_iter, tol, random_state
        See `Method`.

    Attributes
    ----------
    q_ : float
        Number of rows kept.

    References
    ----------
    S. Wang, F. Nie, Z. Wang, R. Wang, X. Li (2024): Robust principal component analysis
    via joint reconstruction and projection.

    Examples
    --------
    >>> from trueaxis import RPCARP
    >>> from trueaxis.datasets import planted
    >>> model = RPCARP(3).fit(planted("scatter", share=0.2).X)
    >>> int((model.weights_ > 0).sum())
    375
    """

    ratio: Ratio = "sin2"
    centre: Literal["selected", "mean", "median"] = "selected"

    def _check(self) -> None:
        super()._check()
        validate_choice("ratio", self.ratio, ("tan", "sin2"))
        validate_choice("centre", self.centre, ("selected", "mean", "median"))

    def _about(self) -> tuple[Centre, GivenCentre]:
        if self.centre == "selected":
            return "core", "mean"
        return "fixed", self.centre

    def _rules(self, problem: Problem, k: int) -> Sequence[Rule]:
        fixed = self.centre != "selected"
        return [RatioRule(self._kept(problem, k), self.ratio, fixed)]

    def _run(
        self, search: Search, rules: Sequence[Rule]
    ) -> IterationResult[ReweightedResult]:
        found = super()._run(search, rules)
        if found.converged or self.centre != "selected":
            return found
        # Row sets and centres may follow each other in a circle; from a centre that
        # stays there is a way out.
        state = found.turn.next
        rule = replace(cast(RatioRule, rules[0]), centre_fixed=True)
        rule = rule.freeze(found.turn.view)
        stay = replace(search, centre="fixed")
        return stay.iterate(rule, state, self.max_iter).after(found)
