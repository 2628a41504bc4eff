"""Row-weighted methods that also choose or weight columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from trueaxis._engine.fit import Recipe
from trueaxis._engine.recipes import TwoWayRecipe
from trueaxis._engine.reweighted import EXACT
from trueaxis._engine.rules.base import UniformRule
from trueaxis._engine.rules.losses import AdaptiveRule
from trueaxis._engine.steps.sparse_axes import SparseSolver
from trueaxis.estimators.method import IterativeMethod, MultistartMethod, reweighting
from trueaxis.estimators.parameters import number, number_or_none, part


@dataclass(eq=False, repr=False, kw_only=True)
class RSPCA(MultistartMethod):
    """Robust sparse PCA: an adaptive loss, and components that use q columns only.

    Minimises sum (1 + sigma) r^2 / (r + sigma), r = sqrt(e), over the center and axes
    that are zero outside q columns, the same for all axes. The loss is between r
    (sigma -> 0) and r^2 (sigma -> infinity): w = (r + 2 sigma) / (r + sigma)^2.

    The objective falls at every iteration. Which columns are best is a combinatorial
    question; the answer is a good one, not always the best. With q turning the axes of
    the data changes the answer, and D x D sums are kept: not for thousands of columns.

    Confidence: formulas as published (from the first author's code, which goes through
    the outer loop once; here to convergence).

    Parameters
    ----------
    q : int, float or None, default=None
        Number of columns to use, at least n_components, or their share. None uses all.
    sigma : float or "auto", default="auto"
        In the unit of X; "auto" is the median of r in plain PCA.
    n_init : int, default=1
        Number of starts; all but the first are subspaces of a few random rows (the
        columns of which are chosen in the first step), and the best objective wins.
    n_components, max_iter, tol, random_state
        See `Method`.

    Attributes
    ----------
    sigma_ : float
        The sigma used.

    References
    ----------
    J. Bian, D. Zhao, F. Nie, R. Wang, X. Li (2022): Robust and sparse principal
    component analysis with adaptive loss minimization for feature selection.

    Examples
    --------
    >>> from trueaxis import RSPCA
    >>> from trueaxis.datasets import sensors
    >>> model = RSPCA(2, q=3).fit(sensors().X)
    >>> int((model.components_ != 0).any(axis=0).sum())
    3
    """

    q: int | float | None = part(None, optional=True)
    sigma: float | Literal["auto"] = number("auto", 1e-150, auto=True)

    _own_attributes: ClassVar[frozenset[str]] = frozenset({"sigma_"})

    def _recipe(self) -> Recipe:
        sigma = number_or_none(self.sigma)
        large = sigma is not None and sigma > 1e150
        return reweighting(
            self,
            UniformRule() if large else AdaptiveRule(sigma),
            solver=EXACT if self.q is None else SparseSolver(self.q),
            learned={"sigma_": ("c", np.inf)},
            rotatable=self.q is None,
        )


@dataclass(eq=False, repr=False, kw_only=True)
class TwoWayPCA(IterativeMethod):
    """Rows and columns weighed in turns: a model of our own.

    Minimises sum_i (sum_j g_j E_ij^2)^(p/2) over the residuals E of a subspace and
    column weights g whose product is 1: columns that the subspace explains badly count
    less, and rows far off it count less.

    The objective, with floor * sum g (in units of the mean residual) added, falls at
    every iteration. Without the floor a column that is fitted perfectly would get all
    weight. D x D sums are kept: not for thousands of columns.

    Confidence: ours, not a published algorithm. It stands where the model of
    "Double-attentive principle component analysis" (D. Wu and others, 2020), which the
    DSWL paper cites, could not be established.

    Parameters
    ----------
    p : float in (0, 2], default=1.0
        Power of the distances of rows.
    floor : float in [0.01, 1e6], default=0.1
        What is added to the residual of every column, as a share of their mean.
    n_components, max_iter, tol, random_state
        See `Method`.

    Attributes
    ----------
    feature_weights_ : ndarray of shape (D,)
        Weights of the columns; their product is 1.

    Examples
    --------
    >>> from trueaxis import TwoWayPCA
    >>> from trueaxis.datasets import planted
    >>> model = TwoWayPCA(3).fit(planted("scatter", share=0.1).X)
    >>> model.feature_weights_.shape
    (20,)
    """

    p: float = number(1.0, 0, 2)
    floor: float = number(0.1, 0.01, 1e6, low_too=True)

    _own_attributes: ClassVar[frozenset[str]] = frozenset({"feature_weights_"})

    def _recipe(self) -> Recipe:
        return TwoWayRecipe(float(self.p), float(self.floor), self.max_iter, self.tol)
