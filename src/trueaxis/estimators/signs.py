"""Methods that maximise sums of absolute scores, or of powers of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trueaxis._engine.fit import Recipe
from trueaxis._engine.recipes import SignRecipe
from trueaxis._validation import validate_choice
from trueaxis.estimators.method import FixedCenterMethod
from trueaxis.estimators.parameters import choice, flag, number, renamed_center


@dataclass(eq=False, repr=False, kw_only=True)
class PCAL1(FixedCenterMethod):
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
    center : {"mean", "median"}, default="mean"
        The sample mean, as published, or the spatial median.
    centre : deprecated
        Old spelling of `center`.
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

    init: Literal["largest", "pca", "random"] = choice("largest", "pca", "random")

    def _recipe(self) -> Recipe:
        return _sign_recipe(self, p=1.0, greedy=True, init=self.init)


@dataclass(eq=False, repr=False, kw_only=True)
class PCAL1NonGreedy(FixedCenterMethod):
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
    center : {"mean", "median"}, default="mean"
        The sample mean, as published, or the spatial median.
    centre : deprecated
        Old spelling of `center`.
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

    init: Literal["pca", "random"] = choice("pca", "random")

    def _recipe(self) -> Recipe:
        return _sign_recipe(self, p=1.0, greedy=False, init=self.init)


@dataclass(eq=False, repr=False, kw_only=True)
class PCALp(FixedCenterMethod):
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
    center : {"mean", "median"}, default="mean"
        The sample mean, as published, or the spatial median.
    centre : deprecated
        Old spelling of `center`.
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

    p: float = number(0.5, 0, 100)
    max_iter: int = number(2000, 1, whole=True)
    greedy: bool = flag(True)
    init: Literal["pca", "largest", "random"] = choice("pca", "largest", "random")

    def _recipe(self) -> Recipe:
        if not self.greedy:
            validate_choice("init", self.init, ("pca", "random"))
        return _sign_recipe(
            self, p=float(self.p), greedy=bool(self.greedy), init=self.init
        )


def _sign_recipe(
    method: FixedCenterMethod,
    *,
    p: float,
    greedy: bool,
    init: Literal["largest", "pca", "random"],
) -> Recipe:
    return SignRecipe(
        p=p,
        greedy=greedy,
        init=init,
        center=renamed_center(method),
        n_init=method.n_init,
        max_iter=method.max_iter,
        tol=method.tol,
    )
