"""L1-PCA: least absolute residuals in every cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trueaxis._engine.fit import Recipe
from trueaxis._engine.recipes import LeastAbsoluteRecipe
from trueaxis.estimators.method import IterativeMethod
from trueaxis.estimators.parameters import (
    choice,
    deprecated_centre,
    number,
    renamed_center,
)


@dataclass(eq=False, repr=False, kw_only=True)
class L1PCA(IterativeMethod):
    """L1-PCA: scores and loadings with the least sum of absolute residuals.

    Minimises |X - V U'|_1 over scores V and loadings U, in turns: each row, then each
    column, is a least absolute deviations fit, solved exactly (weighted medians for one
    component, linear programs for more). The components are an orthonormal basis of U.

    The objective falls at every iteration; where it ends depends on the start. Turning
    the axes of the data changes the answer. Linear programs take their time.

    Confidence: as published, from memory of the paper (there without centering, from
    another start; here the start does not see the lengths of the rows).

    Parameters
    ----------
    center : {"median", "mean", "none"}, default="median"
        Median of every column, the mean, or zero (as in the paper).
    centre : deprecated
        Old spelling of `center`.
    n_components, max_iter, tol, random_state
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
    centre: str = deprecated_centre("median", "mean", "none")
    max_iter: int = number(50, 1, whole=True)
    tol: float = number(1e-4, 0)

    def _recipe(self) -> Recipe:
        return LeastAbsoluteRecipe(renamed_center(self), self.max_iter, self.tol)
