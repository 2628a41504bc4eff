"""Methods that maximize a sum of absolute scores, or of their powers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trueaxis._engine.fit import Recipe
from trueaxis._engine.recipes import SignRecipe
from trueaxis._validation import validate_choice
from trueaxis.estimators.method import FixedCenterMethod
from trueaxis.estimators.parameters import choice, flag, number


@dataclass(eq=False, repr=False, kw_only=True)
class PCAL1(FixedCenterMethod):
    """PCA-L1, greedy: one axis after the other, by largest sum of absolute scores.

    Maximizes ``sum |w'x|`` over unit vectors w. The next w is the normalized sum of the
    rows, each multiplied by the sign of its score. Further axes are found in the
    residuals of the rows.

    The objective rises at every iteration of each component, and converges after a
    finite number of them. It depends on the axes, not only on their span, so the axes
    are not rotated: their scores may be correlated, and their variances unsorted.

    Confidence: as published (a score of 0 is given a sign, where the paper perturbs w
    at random).

    Parameters
    ----------
    init : {"largest", "pca", "random"}, default="largest"
        Start: the longest row, as the paper suggests, the principal axis, or a random
        combination of rows.
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    center : {"mean", "median"}, default="mean"
        Fixed center: sample mean, as published, or spatial median (more robust).
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`. `max_iter` applies to
        each component; `history_["component"]` has the component of every iteration.

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

    Maximizes ``sum |P x|`` (over rows and components) over orthonormal P. The next P
    is the orthonormal basis nearest to the sums of the rows, each multiplied by the
    signs of its scores.

    The objective rises at every iteration, and converges after a finite number of them.
    It depends on the axes, not only on their span, so the axes are not rotated, only
    sorted.

    Confidence: as published.

    Parameters
    ----------
    init : {"pca", "random"}, default="pca"
        Start: the principal axes, or random combinations of rows.
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    center : {"mean", "median"}, default="mean"
        Fixed center: sample mean, as published, or spatial median (more robust).
    n_components, max_iter, tol, random_state, level, contamination
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

    Maximizes ``sum |w'x|^p`` over unit vectors w. The next w is the normalized sum of
    ``sign(t) |t|^(p-1) x``, t = w'x.

    The objective rises at every iteration. For p < 1, where the published step may
    lower it, steps are shortened until they do not (and scores are smoothed by 1e-6 of
    their size). Below 1 there is a local maximum between almost any two rows, and
    rounding may decide which one is found.

    Confidence: as published for p >= 1; for p < 1 the shortened steps are ours.

    Parameters
    ----------
    p : float, default=0.5
        Power of the scores, in (0, 100]; 1 is PCA-L1, 2 plain PCA.
    greedy : bool, default=True
        Whether to find one axis after the other, as published, or all together.
    init : {"pca", "largest", "random"}, default="pca"
        Start: the principal axes, the longest row (greedy only), or random combinations
        of rows.
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    center : {"mean", "median"}, default="mean"
        Fixed center: sample mean, as published, or spatial median (more robust).
    n_components, max_iter, tol, random_state, level, contamination
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
        center=method.center,
        n_init=method.n_init,
        max_iter=method.max_iter,
        tol=method.tol,
    )
