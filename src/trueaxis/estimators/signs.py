"""Methods that maximise sums of absolute scores, or of powers of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trueaxis._engine.problem import Problem
from trueaxis._engine.starts import plain_moments
from trueaxis._engine.steps.signs import SignSearch
from trueaxis._engine.subspace import along
from trueaxis._validation import validate_choice, validate_flag, validate_number
from trueaxis.estimators.method import AboutGivenCentre, Found


@dataclass(eq=False, repr=False, kw_only=True)
class SignMethod(AboutGivenCentre):
    """Base of the sign and power family."""

    def _axes(
        self, problem: Problem, k: int, p: float, init: str, *, greedy: bool
    ) -> Found:
        moments = plain_moments(problem.rows, problem.counts, self.centre)
        tol = self._tol(problem)
        search = SignSearch(problem, moments, p, init, self.n_init, self.max_iter, tol)
        result = search.greedy(k) if greedy else search.together(k)
        subspace = along(result.turn.next.basis, moments)
        return Found(subspace if greedy else subspace.sorted(), result)


@dataclass(eq=False, repr=False, kw_only=True)
class PCAL1(SignMethod):
    """PCA-L1, greedy: the axis with the largest sum of absolute scores, k times.

    Maximises sum |w'x| over unit vectors w: w is the sum of the rows, each with the
    sign of its score; then again in what w left of the rows.

    The objective rises at every iteration of each component, and ends after finitely
    many. It depends on the axes and not only on their span, so they are not rotated;
    their scores may be correlated, and their variances in any order.

    Confidence: as published (a row with score 0 is given a side instead of turning w a
    little at random).

    Parameters
    ----------
    init : {"largest", "pca", "random"}, default="largest"
        Start at the longest row, as the paper suggests, at the principal axis, or at a
        random combination of rows.
    n_init : int, default=1
        Number of starts; all but the first are random, and the largest objective wins.
    centre : {"mean", "median"}, default="mean"
        The sample mean, as published, or the spatial median.
    n_components, max_iter, tol, random_state
        See `Method`; `max_iter` is for each component. `history_["component"]` tells
        whose iteration it was.

    References
    ----------
    N. Kwak (2008): Principal component analysis based on L1-norm maximization.

    Examples
    --------
    >>> from trueaxis import PCAL1
    >>> from trueaxis.datasets import planted
    >>> PCAL1(3).fit(planted("scatter", share=0.1).X).components_.shape
    (3, 20)
    """

    init: Literal["largest", "pca", "random"] = "largest"

    def _check(self) -> None:
        super()._check()
        validate_choice("init", self.init, ("largest", "pca", "random"))

    def _search(self, problem: Problem, k: int) -> Found:
        return self._axes(problem, k, 1.0, self.init, greedy=True)


@dataclass(eq=False, repr=False, kw_only=True)
class PCAL1NonGreedy(SignMethod):
    """PCA-L1, non-greedy: all axes together.

    Maximises sum |P x| (over rows and components) over orthonormal P: the basis nearest
    to the sums of rows, each with the signs of its scores.

    The objective rises at every iteration, and ends after finitely many. It depends on
    the axes and not only on their span, so they are not rotated, only sorted.

    Confidence: as published.

    Parameters
    ----------
    init : {"pca", "random"}, default="pca"
        Start at the principal axes, or at random combinations of rows.
    n_init : int, default=1
        Number of starts; all but the first are random, and the largest objective wins.
    centre : {"mean", "median"}, default="mean"
        The sample mean, as published, or the spatial median.
    n_components, max_iter, tol, random_state
        See `Method`.

    References
    ----------
    F. Nie, H. Huang, C. Ding, D. Luo, H. Wang (2011): Robust principal component
    analysis with non-greedy L1-norm maximization.

    Examples
    --------
    >>> from trueaxis import PCAL1NonGreedy
    >>> from trueaxis.datasets import planted
    >>> PCAL1NonGreedy(3).fit(planted("scatter", share=0.1).X).converged_
    True
    """

    init: Literal["pca", "random"] = "pca"

    def _check(self) -> None:
        super()._check()
        validate_choice("init", self.init, ("pca", "random"))

    def _search(self, problem: Problem, k: int) -> Found:
        return self._axes(problem, k, 1.0, self.init, greedy=False)


@dataclass(eq=False, repr=False, kw_only=True)
class PCALp(SignMethod):
    """PCA-Lp: axes with the largest sum of p-th powers of absolute scores.

    Maximises sum |w'x|^p over unit vectors w, by w = sum sign(t) |t|^(p-1) x, t = w'x,
    made a unit vector.

    The objective rises at every iteration: for p >= 1 by itself; for p < 1, where the
    published step may lower it, because steps are shortened until they do not (scores
    are smoothed there by 1e-6 of their size). Below 1 there is an optimum between any
    two rows, nearly: rounding may decide which of them is found.

    Confidence: as published for p >= 1; for p < 1 the shortened steps are ours.

    Parameters
    ----------
    p : float, default=0.5
        Above 0, at most 100. 1 is PCA-L1, 2 plain PCA.
    greedy : bool, default=True
        One axis after the other, as published, or all together.
    init : {"pca", "largest", "random"}, default="pca"
        Start at the principal axes, at the longest row (greedy only) or at random
        combinations of rows.
    n_init : int, default=1
        Number of starts; all but the first are random, and the largest objective wins.
    centre : {"mean", "median"}, default="mean"
        The sample mean, as published, or the spatial median.
    n_components, max_iter, tol, random_state
        See `Method`.

    References
    ----------
    N. Kwak (2013): Principal component analysis by Lp-norm maximization.

    Examples
    --------
    >>> from trueaxis import PCALp
    >>> from trueaxis.datasets import planted
    >>> PCALp(3, p=1.5).fit(planted("scatter", share=0.1).X).converged_
    True
    """

    p: float = 0.5
    max_iter: int = 2000
    greedy: bool = True
    init: Literal["pca", "largest", "random"] = "pca"

    def _check(self) -> None:
        super()._check()
        validate_number("p", self.p, 0, 100)
        validate_flag("greedy", self.greedy)
        choices = ("pca", "largest", "random") if self.greedy else ("pca", "random")
        validate_choice("init", self.init, choices)

    def _search(self, problem: Problem, k: int) -> Found:
        return self._axes(
            problem, k, float(self.p), self.init, greedy=bool(self.greedy)
        )
