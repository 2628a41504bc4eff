"""Row-weighted methods that also select or weight columns."""

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
from trueaxis.estimators.parameters import count_or_share, number, number_or_none


@dataclass(eq=False, repr=False, kw_only=True)
class RSPCA(MultistartMethod):
    """Robust sparse PCA: an adaptive loss, and components that use only q columns.

    Minimizes sum (1 + sigma) r^2 / (r + sigma), r = sqrt(e), over the center and axes
    that are zero outside q columns, the same for all axes. The loss is between r
    (sigma -> 0) and r^2 (sigma -> infinity), with weights
    w = (r + 2 sigma) / (r + sigma)^2.

    The objective falls at every iteration. Selecting the columns is a combinatorial
    problem, and the selection found is good, but not always optimal. With q, the result
    is not invariant to rotations of the data, and a D x D matrix is kept in memory:
    do not use it for thousands of columns.

    Confidence: formulas as published (from the first author's code, which runs the
    outer loop once; here it converges).

    Parameters
    ----------
    q : int, float or None, default=None
        Number of columns to use, at least n_components, or their share. None uses all.
    sigma : float or "auto", default="auto"
        Scale of the loss, in the unit of X; "auto" is the median of r in plain PCA.
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    Attributes
    ----------
    sigma_ : float
        The value of sigma used.

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

    q: int | float | None = count_or_share(None, optional=True)
    sigma: float | Literal["auto"] = number("auto", 1e-150, auto=True)

    _own_attributes: ClassVar[frozenset[str]] = frozenset({"sigma_"})

    def _recipe(self) -> Recipe:
        sigma = number_or_none(self.sigma)
        large = sigma is not None and sigma > 1e150
        return reweighting(
            self,
            UniformRule() if large else AdaptiveRule(sigma),
            solver=EXACT if self.q is None else SparseSolver(self.q),
            constants={"sigma_": ("c", np.inf)},
            rotatable=self.q is None,
        )


@dataclass(eq=False, repr=False, kw_only=True)
class TwoWayPCA(IterativeMethod):
    """PCA with weights for both rows and columns: a model of our own.

    Minimizes sum_i (sum_j g_j E_ij^2)^(p/2) over the residuals E of a subspace and
    column weights g whose product is 1. Columns that the subspace explains badly, and
    rows far from it, count less.

    The objective plus floor * sum g (in units of the mean residual) falls at every
    iteration. Without the floor, a column that is fitted perfectly would get all the
    weight. With more rows than columns, a D x D matrix is kept in memory: do not use it
    for thousands of columns then.

    Confidence: ours, not a published algorithm. It takes the place of "Double-attentive
    principle component analysis" (D. Wu and others, 2020), which the DSWL paper cites,
    but whose model we could not establish.

    Parameters
    ----------
    p : float in (0, 2], default=1.0
        Power of the distances of rows.
    floor : float in [0.01, 1e6], default=0.1
        Added to the residual of every column, as a share of the mean residual.
    n_components, max_iter, tol, random_state, level, contamination
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
    floor: float = number(0.1, 0.01, 1e6, include_low=True)

    _own_attributes: ClassVar[frozenset[str]] = frozenset({"feature_weights_"})

    def _recipe(self) -> Recipe:
        return TwoWayRecipe(float(self.p), float(self.floor), self.max_iter, self.tol)
