"""Row-weighted methods that keep the q best rows and drop the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from trueaxis._engine.fit import Recipe
from trueaxis._engine.rules.selection import (
    NearestRule,
    NeighborRule,
    Ratio,
    RatioRule,
    Selection,
)
from trueaxis._validation import validate_choice, validate_number
from trueaxis.estimators.method import Method, reweighting
from trueaxis.estimators.parameters import (
    checked,
    choice,
    count_or_share,
    number,
)

CONSTANTS = {"q_": ("q", None)}  # the number of rows kept


@dataclass(eq=False, repr=False, kw_only=True)
class SelectingMethod(Method):
    """Base class of methods that keep q rows.

    Parameters
    ----------
    max_iter, tol, n_init
        See `MultistartMethod`.
    q : int or float, default=0.75
        Number of rows to keep, at least k + 2; or their share, which is raised if that
        gives too few rows.
    """

    max_iter: int = number(200, 1, whole=True)
    tol: float = number(1e-6, 0)
    n_init: int = number(1, 1, whole=True)
    q: int | float = count_or_share(0.75)

    _own_attributes: ClassVar[frozenset[str]] = frozenset({"q_"})


@dataclass(eq=False, repr=False, kw_only=True)
class TRPCA(SelectingMethod):
    """Truncated robust PCA: RPCA-OM for the q rows nearest the subspace.

    Minimizes the sum of the q smallest sqrt(e) over center and subspace, with weights
    w = 1 / (2 sqrt(e)) for these rows and 0 for the others.

    The objective falls at every iteration.

    Confidence: as published (the authors run 20 iterations; here they converge).

    Parameters
    ----------
    q : int or float, default=0.5
        Number of rows to keep, or their share. The authors use 0.5 and 0.4.
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins. One, as
        published, is often not enough for groups of outliers.
    n_components, max_iter, tol, random_state, level, contamination
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

    q: int | float = count_or_share(0.5)

    def _recipe(self) -> Recipe:
        return reweighting(
            self, NearestRule(Selection(self.q), 1.0), constants=CONSTANTS
        )


@dataclass(eq=False, repr=False, kw_only=True)
class DRPCA(SelectingMethod):
    """Discrete robust PCA: binary weights, least squares for the q nearest rows.

    Minimizes the sum of the q smallest e over center and subspace. Alternates two
    steps: the mean and the principal axes of q rows, and the q rows nearest to these.

    The objective falls at every iteration, and the iteration ends when the rows repeat.

    Confidence: reconstructed from the abstract (binary self-learning weights,
    alternating with projection and center). Assumed: squared distances, and a given q.

    Parameters
    ----------
    q : int or float, default=0.75
        Number of rows to keep, or their share.
    n_init : int, default=10
        Number of starts. All but the first are random; the best objective wins.
    n_components, max_iter, tol, random_state, level, contamination
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

    n_init: int = number(10, 1, whole=True)

    def _recipe(self) -> Recipe:
        return reweighting(
            self, NearestRule(Selection(self.q), 2.0), constants=CONSTANTS
        )


def _check_gamma(name: str, value: Any) -> None:
    if isinstance(value, str):
        validate_choice(name, value, ("adaptive", "frozen"))
    else:
        validate_number(name, value, 0, np.inf)


@dataclass(eq=False, repr=False, kw_only=True)
class RWLAN(SelectingMethod):
    """Robust weight learning with adaptive neighbors.

    Minimizes sum w e + gamma sum w^2 over center, subspace and weights w on the
    simplex. The weights are proportional to (e_(q+1) - e)_+, with e_(q+1) the smallest
    e that is left out.

    With a "frozen" gamma, or a number, the objective falls at every iteration. With
    gamma="adaptive", as published, gamma changes in every iteration: the iteration
    converges in practice, but its objective need not fall.

    Confidence: as published (the authors start with random weights, here with equal
    ones).

    Parameters
    ----------
    q : int or float, default=0.75
        Number of rows to keep, or their share; fewer than all. The authors recommend no
        value.
    gamma : {"adaptive", "frozen"} or float, default="adaptive"
        "adaptive" chooses gamma in every iteration so that q weights are positive,
        "frozen" in the first one only. A number, in squared units of X, is used as it
        is, and q is ignored; infinity is plain PCA.
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    n_components, max_iter, tol, random_state, level, contamination
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

    gamma: float | Literal["adaptive", "frozen"] = checked("adaptive", _check_gamma)

    def _recipe(self) -> Recipe:
        # At least one row must be left out to set the weights. A given gamma ignores q.
        q = Selection(self.q, left_out=1) if isinstance(self.gamma, str) else 0.0
        return reweighting(self, NeighborRule(q, self.gamma), constants=CONSTANTS)


@dataclass(eq=False, repr=False, kw_only=True)
class RPCARP(SelectingMethod):
    """Robust PCA by joint reconstruction and projection, with discrete weights.

    Keeps the q rows with the smallest e/d; their mean is the center. Their weights are
    the gradient of e/d, 1/d ("sin2"), or that of sqrt(e/v), d / (sqrt(e) v^1.5)
    ("tan", which may cycle if no subspace fits the rows).

    With ratio="sin2" and a fixed center the sum of the q smallest e/d falls at every
    iteration. Otherwise it need not: a ratio cannot be minimized over the center.

    Confidence: reconstructed. Known: reconstruction error and projected variance in one
    ratio, with discrete weights, extending Angle PCA. Assumed: which ratio, the center,
    and a given q.

    Parameters
    ----------
    q : int or float, default=0.75
        Number of rows to keep, or their share.
    ratio : {"sin2", "tan"}, default="sin2"
        Ratio whose gradient gives the weights.
    center : {"selected", "mean", "median"}, default="selected"
        Mean of the rows kept (fixed after `max_iter` iterations if these cycle); or
        sample mean or spatial median, fixed from the start.
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    n_components, max_iter, tol, random_state, level, contamination
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

    ratio: Ratio = choice("sin2", "tan")
    center: Literal["selected", "mean", "median"] = choice("selected", "mean", "median")

    def _recipe(self) -> Recipe:
        center = self.center
        rule = RatioRule(Selection(self.q), self.ratio, center != "selected")
        return reweighting(self, rule, center=center, constants=CONSTANTS)
