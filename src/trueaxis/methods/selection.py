"""Row-weighted methods that keep the q best rows and drop the others.

Their rules need the distances of all rows at once, and so a second pass. Repetitions of
a row are counted, so that only some of the last row may be kept.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis._validation import validate_choice, validate_number
from trueaxis.base import (
    MultistartMethod,
    checked,
    choice,
    count_or_share,
    number,
    reweighting,
)
from trueaxis.core.kernels import RowWeights
from trueaxis.core.problem import Problem
from trueaxis.core.recipes import Recipe
from trueaxis.core.rules import GuardedRule, RowDistances, Rule

TIE = 1e-9


def smallest(
    x: NDArray[Any], q: float, counts: NDArray[Any] | None
) -> tuple[NDArray[np.float64], float]:
    """Find the q smallest values, with repetitions; of equal ones, the first.

    Returns
    -------
    share : ndarray
        Share of the repetitions of each value that is among them, 0 to 1.
    edge : float
        The smallest value that is not among them; infinity if all are.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.methods.selection import smallest
    >>> smallest(np.array([3.0, 1.0, 2.0]), 3.0, np.array([1.0, 2.0, 2.0]))[0]
    array([0. , 1. , 0.5])
    """
    order = np.argsort(x, kind="stable")
    c = np.ones(len(x)) if counts is None else counts[order]
    before = np.cumsum(c) - c
    share = np.empty(len(x))
    kept = np.clip(q - before, 0.0, c)
    np.divide(kept, c, out=kept, where=c > 0)
    # Remove rounding errors of the counts: a tiny share is none.
    kept = np.where(np.abs(kept - np.round(kept)) < TIE, np.round(kept), kept)
    share[order] = np.where(c > 0, kept, 0.0)
    # The first value with a dropped repetition.
    dropped = (c > 0) & (before + c > q * (1 + 1e-12))
    edge = float(x[order[dropped.argmax()]]) if dropped.any() else np.inf
    return share, edge


def _log(share: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(share))


@dataclass(eq=False)
class SelectingRule(Rule):
    """A rule that keeps q rows.

    Attributes
    ----------
    q : int or float
        Their number, repetitions included, or their share.
    left_out : int
        Number of rows that must be left out.
    """

    q: int | float
    left_out: int = 0
    smooth = False
    aim = -1

    def _for_problem(self, problem: Problem, k: int) -> SelectingRule:
        """Return the rule with the number of rows to keep; raise if impossible."""
        n, q = problem.total_weight, self.q
        least, most = min(k + 2, problem.n_rows), n - self.left_out
        if not isinstance(q, numbers.Integral):
            q = np.clip(np.ceil(float(q) * n - 1e-9), min(least, most), most)
        elif q > most:
            raise ValueError(
                f"q={q} rows are to be kept, but X has {n:g}: choose at most {most:g}, "
                "or a share of the rows."
            )
        elif q < least:
            raise ValueError(
                f"q={q} rows are too few for {k} components, because some subspace "
                f"fits {k + 1} rows or fewer exactly: choose at least {least} of the "
                f"{n:g} rows, or a share of the rows."
            )
        return replace(self, q=float(q))

    def for_part(self, share: float) -> SelectingRule:
        """Return the rule that keeps the same share of a sample."""
        return replace(self, q=share * self.q)


@dataclass(eq=False)
class NearestRule(SelectingRule, GuardedRule):
    """The q rows nearest to the subspace: w = r^(p-2). Minimizes the sum of their r^p.

    With p = 2 their weights are equal (DRPCA); p = 1 truncates RPCA-OM (T-RPCA).
    """

    p: float = 2.0
    row_local = False

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return (p/2 - 1) ln e for the rows kept, otherwise minus infinity."""
        share = smallest(distances.e, self.q, distances.counts)[0]
        power = self.p / 2 - 1
        return RowWeights(_log(share) + power * np.log(self.guarded(distances.e)))

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the sum of the q smallest r^p."""
        share = smallest(distances.e, self.q, distances.counts)[0]
        return distances.total(share * self.guarded(distances.e) ** (self.p / 2))


Gamma = Literal["adaptive", "frozen"]


@dataclass(eq=False)
class NeighborRule(SelectingRule):
    """RWL-AN: weights on the simplex that minimize sum w e + gamma sum w^2.

    Attributes
    ----------
    gamma : {"adaptive", "frozen"} or float
        "adaptive" chooses it in every round so that q weights are positive; "frozen"
        keeps the value of the first round, so that every step lowers the objective.
    """

    gamma: Gamma | float = "adaptive"

    def _for_problem(self, problem: Problem, k: int) -> SelectingRule:
        """Return the rule with the number of rows to keep, unless gamma is given."""
        if not isinstance(self.gamma, str):
            return self
        return super()._for_problem(problem, k)

    def for_part(self, share: float) -> NeighborRule:
        """Return the rule that keeps the same share of a sample.

        Weights of fewer rows are larger, so gamma must be smaller.
        """
        gamma = self.gamma if isinstance(self.gamma, str) else share * self.gamma
        return replace(self, q=share * self.q, gamma=gamma)

    def freeze(self, distances: RowDistances) -> NeighborRule:
        """Return the rule with gamma set, if it is "frozen"."""
        if self.gamma != "frozen":
            return self
        return replace(self, gamma=max(self.solved(distances)[0], np.finfo(float).tiny))

    def solved(self, distances: RowDistances) -> tuple[float, NDArray[np.float64]]:
        """Return gamma, and the weight of one repetition of every row."""
        if not isinstance(self.gamma, str):
            gamma, counts = float(self.gamma), distances.counts
            nearest = (distances.e if counts is None else distances.e[counts > 0]).min()
            with np.errstate(over="ignore"):
                x = (nearest - distances.e) / gamma / 2
                return gamma, project_on_simplex(x, counts)
        share, edge = smallest(distances.e, self.q, distances.counts)
        missing = np.maximum(edge - distances.e, 0.0)
        # With this gamma, exactly q weights are positive.
        gamma = 0.5 * distances.total(share * missing)
        if gamma == 0:  # the q nearest rows are equally near: equal weights
            return gamma, share / distances.total(share)
        return gamma, missing / (2 * gamma)

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return the logarithm of the weights."""
        return RowWeights(_log(self.solved(distances)[1]))

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the sum of w e + gamma w^2."""
        gamma, w = self.solved(distances)
        if np.isinf(gamma):  # weights are equal, and the second sum is constant
            return distances.total(w * distances.e)
        return distances.total(w * (distances.e + gamma * w))


def project_on_simplex(
    x: NDArray[Any], counts: NDArray[Any] | None
) -> NDArray[np.float64]:
    """Return the nearest nonnegative weights that, with repetitions, sum to 1."""
    order = np.argsort(-x, kind="stable")
    c = np.ones(len(x)) if counts is None else counts[order]
    # Shift the largest to 0 to keep digits; -1e200 in place of infinity avoids NaN.
    z = np.maximum(x[order] - x[order[0]], -1e200)
    total, n = np.cumsum(c * z), np.cumsum(c)
    # The projection subtracts a constant and clips at 0: find which stay positive.
    positive = (c > 0) & (1.0 + n * z > total)
    last = len(x) - 1 - positive[::-1].argmax()
    constant = (total[last] - 1.0) / n[last]
    weights = np.empty(len(x))
    weights[order] = np.maximum(z - constant, 0.0)
    return weights


Ratio = Literal["tan", "sin2"]


@dataclass(eq=False)
class RatioRule(SelectingRule, GuardedRule):
    """RPCA-RP: the q rows with the smallest e/d, which also determine the center.

    Attributes
    ----------
    ratio : {"tan", "sin2"}
        "tan" for w = d / (sqrt(e) v^1.5), the gradient of sqrt(e/v); "sin2" for
        w = 1/d, the gradient of e/d, whose sum falls if the center is fixed.
    """

    ratio: Ratio = "tan"
    row_local = False

    def score(self, distances: RowDistances) -> NDArray[np.float64]:
        """Return e/d; infinity for rows at the center, where it is undefined."""
        defined = self.off_center(distances) & (distances.d > 0)
        d = np.where(defined, distances.d, 1.0)
        return np.where(defined, distances.e / d, np.inf)

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return log-weights, and the rows that are kept as the core."""
        score = self.score(distances)
        share = smallest(score, self.q, distances.counts)[0]
        # The core includes all repetitions of the last row.
        core = score <= score[share > 0].max() * (1 + TIE)
        v, e = self.guarded(distances.v), self.guarded(distances.e)
        if self.ratio == "tan":
            log_weights = np.log(v + e) - 0.5 * np.log(e) - 1.5 * np.log(v)
        else:
            log_weights = -np.log(v + e)
        return RowWeights(_log(share) + log_weights, core)

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the sum of the q smallest e/d, or of their sqrt(e/v)."""
        v, e = self.guarded(distances.v), self.guarded(distances.e)
        x = np.sqrt(e / v) if self.ratio == "tan" else e / (v + e)
        share = smallest(self.score(distances), self.q, distances.counts)[0]
        return distances.total(share * x)


CONSTANTS = {"q_": ("q", None)}  # the number of rows kept


@dataclass(eq=False, repr=False, kw_only=True)
class SelectingMethod(MultistartMethod):
    """Base class of methods that keep q rows.

    Parameters
    ----------
    max_iter, tol, n_init
        See `MultistartMethod`.
    q : int or float, default=0.75
        Number of rows to keep, at least k + 2; or their share, which is raised if that
        gives too few rows.
    """

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
    >>> from trueaxis.methods import TRPCA
    >>> from trueaxis.datasets import planted
    >>> model = TRPCA(3).fit(planted("scatter", share=0.2).X)
    >>> int((model.weights_ > 0).sum())
    250
    """

    q: int | float = count_or_share(0.5)

    def _recipe(self) -> Recipe:
        return reweighting(self, NearestRule(self.q, p=1.0), constants=CONSTANTS)


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
    >>> from trueaxis.methods import DRPCA
    >>> from trueaxis.datasets import planted
    >>> cloud = planted("ocs", share=0.2)
    >>> float(DRPCA(3).fit(cloud.X).weights_[cloud.is_outlier].sum())
    0.0
    """

    n_init: int = number(10, 1, whole=True)

    def _recipe(self) -> Recipe:
        return reweighting(self, NearestRule(self.q, p=2.0), constants=CONSTANTS)


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
    >>> from trueaxis.methods import RWLAN
    >>> from trueaxis.datasets import planted
    >>> model = RWLAN(3, q=300).fit(planted("none").X)
    >>> int((model.weights_ > 0).sum())
    300
    """

    gamma: float | Literal["adaptive", "frozen"] = checked("adaptive", _check_gamma)

    def _recipe(self) -> Recipe:
        # At least one row must be left out to set the weights. A given gamma ignores q.
        q = self.q if isinstance(self.gamma, str) else 0.0
        rule = NeighborRule(q, 1, self.gamma)
        return reweighting(self, rule, constants=CONSTANTS)


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
    >>> from trueaxis.methods import RPCARP
    >>> from trueaxis.datasets import planted
    >>> model = RPCARP(3).fit(planted("scatter", share=0.2).X)
    >>> int((model.weights_ > 0).sum())
    375
    """

    ratio: Ratio = choice("sin2", "tan")
    center: Literal["selected", "mean", "median"] = choice("selected", "mean", "median")

    def _recipe(self) -> Recipe:
        rule = RatioRule(self.q, ratio=self.ratio)
        return reweighting(self, rule, constants=CONSTANTS)
