"""L1-PCA: smallest sum of absolute residuals over all cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trueaxis._engine.fit import Recipe
from trueaxis._engine.recipes import LeastAbsoluteRecipe
from trueaxis.estimators.method import IterativeMethod
from trueaxis.estimators.parameters import (
    choice,
    number,
)


@dataclass(eq=False, repr=False, kw_only=True)
class L1PCA(IterativeMethod):
    """L1-PCA: scores and loadings with the smallest sum of absolute residuals.

    Minimizes ``|X - V U'|_1`` alternately over the scores V and the loadings U. Every
    row, then every column, is a least absolute deviations fit, which is solved exactly
    (by weighted medians for one component, by moving along edges, as Barrodale and
    Roberts (1973) do, for more). The components are an orthonormal basis of U.

    The objective falls at every iteration; the minimum found depends on the start. The
    result is not invariant to rotations of the data.

    Confidence: as published, from memory of the paper (there without centering and from
    another start; here the start is independent of the lengths of the rows).

    Parameters
    ----------
    center : {"median", "mean", "none"}, default="median"
        Median or mean of every column, or zero (as in the paper).
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    References
    ----------
    Q. Ke, T. Kanade (2005): Robust L1 norm factorization in the presence of outliers
    and missing data by alternative convex programming.

    Examples
    --------
    >>> from trueaxis import L1PCA
    >>> from trueaxis.datasets import sensors
    >>> L1PCA(2).fit(sensors().X).components_.shape
    (2, 6)
    """

    center: Literal["median", "mean", "none"] = choice("median", "mean", "none")
    max_iter: int = number(50, 1, whole=True)
    tol: float = number(1e-4, 0)

    def _recipe(self) -> Recipe:
        return LeastAbsoluteRecipe(self.center, self.max_iter, self.tol)
