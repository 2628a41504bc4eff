"""Low rank plus sparse: matrices are split, and the low rank gives the components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from numpy.typing import ArrayLike

from trueaxis._engine.fit import Recipe
from trueaxis._engine.recipes import PursuitRecipe, StablePursuitRecipe
from trueaxis.estimators.method import Method
from trueaxis.estimators.parameters import (
    choice,
    deprecated_centre,
    number,
    number_or_none,
    renamed_center,
)


@dataclass(eq=False, repr=False, kw_only=True)
class Pursuit(Method):
    """Base of methods that split X into a low rank and a sparse matrix.

    Where they find nothing of low rank (small tables), components are plain PCA's.

    Parameters
    ----------
    lam : float or "auto", default="auto"
        Price of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    center : {"none", "median"}, default="none"
        What is taken off X before it is split.
    centre : deprecated
        Old spelling of `center`.
    """

    max_iter: int = number(5000, 1, whole=True)
    tol: float = number(1e-6, 0)
    lam: float | Literal["auto"] = number("auto", 0, auto=True)
    center: Literal["none", "median"] = choice("none", "median")
    centre: str = deprecated_centre("none", "median")

    def fit(self, X: ArrayLike, y: Any = None) -> Self:  # type: ignore[override]
        """Split X, and take the components of its low rank part.

        Parameters
        ----------
        X : array-like of shape (n, D)
        y : ignored

        Returns
        -------
        self
        """
        return super().fit(X)


@dataclass(eq=False, repr=False, kw_only=True)
class PCP(Pursuit):
    """Principal component pursuit: X = low rank + sparse, exactly.

    Minimises |L|_* + lam |S|_1 (sum of singular values, sum of absolute entries) where
    L + S = X, by the inexact augmented Lagrangian method. For gross errors in single
    cells rather than bad rows. Components and mean are those of L, variances those of
    X - S; new rows are transformed as by any other method. `n_components` does not
    enter the split.

    The objective is not monotone on the way; the end is the optimum of a convex
    problem.

    Confidence: as published with balance=inf, which on tall tables ends 1 % short of
    the optimum; the default waits for the multipliers and reaches it.

    Parameters
    ----------
    lam : float or "auto", default="auto"
        Price of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    center : {"none", "median"}, default="none"
        What is taken off X before it is split; the paper takes off nothing, and far
        from the origin "median" is better.
    centre : deprecated
        Old spelling of `center`.
    rho : float, default=1.5
        Factor by which the penalty grows; above 1.
    balance : float, default=10.0
        The penalty waits while the error of the multipliers is more than so many times
        that of L + S = X. Infinity never waits.
    n_components, max_iter, tol, random_state
        See `Method`.

    Attributes
    ----------
    low_rank_, sparse_ : ndarray of shape (n, D)
        The low rank part has the center added again.
    lam_ : float

    References
    ----------
    J. Wright, A. Ganesh, S. Rao, Y. Peng, Y. Ma (2009): Robust principal component
    analysis: exact recovery of corrupted low-rank matrices by convex optimization.
    Z. Lin, M. Chen, Y. Ma (2010): The augmented Lagrange multiplier method for exact
    recovery of corrupted low-rank matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis import PCP
    >>> truth = np.outer(np.arange(1.0, 31), np.arange(1.0, 21))
    >>> X = truth.copy()
    >>> X[3, 4] += 500
    >>> bool(np.abs(PCP(1).fit(X).low_rank_ - truth).max() < 0.01)
    True
    """

    rho: float = number(1.5, 1, 100)
    balance: float = number(10.0, 0)

    _own_attributes: ClassVar[frozenset[str]] = frozenset(
        {"low_rank_", "sparse_", "lam_"}
    )

    def _recipe(self) -> Recipe:
        return PursuitRecipe(
            lam=number_or_none(self.lam),
            center=renamed_center(self),
            max_iter=self.max_iter,
            tol=self.tol,
            rho=float(self.rho),
            balance=float(self.balance),
        )


@dataclass(eq=False, repr=False, kw_only=True)
class SPCP(Pursuit):
    """Stable principal component pursuit: X = low rank + sparse + noise.

    Minimises |L|_* + lam |S|_1 + |X - L - S|^2 / (2 mu), mu = sigma sqrt(2 max(n, D)),
    by exact steps in L and S in turns, accelerated. Components and mean are those of
    L, variances those of X - S; `n_components` does not enter the split.

    The objective falls at every iteration.

    Confidence: as published in this penalised form, defaults from third-party codes;
    how sigma is estimated is ours.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Standard deviation of the noise in a cell; "auto" estimates it from X.
    lam : float or "auto", default="auto"
        Price of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    center : {"none", "median"}, default="none"
        What is taken off X before it is split; the paper takes off nothing, and far
        from the origin "median" is better.
    centre : deprecated
        Old spelling of `center`.
    n_components, max_iter, tol, random_state
        See `Method`.

    Attributes
    ----------
    low_rank_, sparse_ : ndarray of shape (n, D)
        The low rank part has the center added again.
    lam_ : float
    sigma_ : float

    References
    ----------
    Z. Zhou, X. Li, J. Wright, E. Candes, Y. Ma (2010): Stable principal component
    pursuit.

    Examples
    --------
    >>> from trueaxis import SPCP
    >>> from trueaxis.datasets import planted
    >>> round(SPCP(3).fit(planted("none").X).sigma_, 1)
    0.3
    """

    sigma: float | Literal["auto"] = number("auto", 0, 1e150, auto=True)

    _own_attributes: ClassVar[frozenset[str]] = frozenset(
        {"low_rank_", "sparse_", "lam_", "sigma_"}
    )

    def _recipe(self) -> Recipe:
        return StablePursuitRecipe(
            lam=number_or_none(self.lam),
            center=renamed_center(self),
            max_iter=self.max_iter,
            tol=self.tol,
            sigma=number_or_none(self.sigma),
        )


@dataclass(eq=False, repr=False, kw_only=True)
class RRPCP(Pursuit):
    """Robust PCP with outlying rows: X = low rank + sparse + a few whole rows + noise.

    Minimises |L|_* + lam |S|_1 + gam sum |o_i| + |X - L - S - O|^2 / (2 mu), with o_i
    the rows of O, most of them zero; mu as for SPCP.

    The objective falls at every iteration.

    Confidence: reconstructed. Known are the two kinds of outliers, cells and rows off
    the subspace; the surrogate and its constants are ours.

    Parameters
    ----------
    gam : float or "auto", default="auto"
        Price of the length of an outlying row. Above sqrt(D / max(n, D)) there are none
        (sparse cells are cheaper), below half of it they swallow everything; "auto" is
        0.85 of it. Infinity gives SPCP.
    sigma : float or "auto", default="auto"
        Standard deviation of the noise in a cell; "auto" estimates it from X.
    lam : float or "auto", default="auto"
        Price of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    center : {"none", "median"}, default="none"
        What is taken off X before it is split; the paper takes off nothing, and far
        from the origin "median" is better.
    centre : deprecated
        Old spelling of `center`.
    n_components, max_iter, tol, random_state
        See `Method`.

    Attributes
    ----------
    low_rank_, sparse_, outlying_ : ndarray of shape (n, D)
        The low rank part has the center added again.
    lam_ : float
    sigma_, gam_ : float

    References
    ----------
    P. P. Brahma, Y. She, S. Li, J. Li, D. Wu (2017): Reinforced robust principal
    component pursuit.

    Examples
    --------
    >>> from trueaxis import RRPCP
    >>> from trueaxis.datasets import planted
    >>> cloud = planted("scatter", share=0.1)
    >>> found = (RRPCP(3).fit(cloud.X).outlying_ != 0).any(axis=1)
    >>> bool(found[cloud.is_outlier].all())
    True
    """

    sigma: float | Literal["auto"] = number("auto", 0, 1e150, auto=True)
    gam: float | Literal["auto"] = number("auto", 0, auto=True)

    _own_attributes: ClassVar[frozenset[str]] = frozenset(
        {"low_rank_", "sparse_", "outlying_", "lam_", "sigma_", "gam_"}
    )

    def _recipe(self) -> Recipe:
        return StablePursuitRecipe(
            lam=number_or_none(self.lam),
            center=renamed_center(self),
            max_iter=self.max_iter,
            tol=self.tol,
            sigma=number_or_none(self.sigma),
            with_rows=True,
            gam=number_or_none(self.gam),
        )
