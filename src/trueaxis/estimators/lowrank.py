"""Methods that split X into a low-rank part, which gives the components, and errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from numpy.typing import ArrayLike

from trueaxis._engine.fit import Recipe
from trueaxis._engine.lowrank.recipe import (
    ExactSplitting,
    PursuitRecipe,
    Splitting,
    StableSplitting,
)
from trueaxis.estimators.method import Method
from trueaxis.estimators.parameters import (
    choice,
    number,
    number_or_none,
)


@dataclass(eq=False, repr=False, kw_only=True)
class Pursuit(Method):
    """Base class of methods that split X into a low-rank and a sparse matrix.

    If the low-rank part is zero (small tables), the components are those of plain PCA.

    Parameters
    ----------
    lam : float or "auto", default="auto"
        Penalty of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    center : {"none", "median"}, default="none"
        Subtracted from X before it is split.
    """

    max_iter: int = number(5000, 1, whole=True)
    tol: float = number(1e-6, 0)
    lam: float | Literal["auto"] = number("auto", 0, auto=True)
    center: Literal["none", "median"] = choice("none", "median")

    def fit(  # type: ignore[override]  # a split has no sample weights
        self, X: ArrayLike, y: Any = None, **unknown: Any
    ) -> Self:
        """Split X, and compute the components of its low-rank part.

        Parameters
        ----------
        X : array-like of shape (n, D)
        y : ignored
        **unknown
            Refused: a split has no sample weights.

        Returns
        -------
        self
        """
        # As a named parameter, scikit-learn would take it for supported.
        if unknown.pop("sample_weight", None) is not None:
            raise TypeError(
                f"{type(self).__name__} splits X cell by cell and cannot weight rows: "
                "leave out sample_weight, repeat rows (numpy.repeat), or use a method "
                "that takes weights, such as DSWL."
            )
        if unknown:
            raise TypeError(
                f"{type(self).__name__}.fit has no parameter {next(iter(unknown))!r}: "
                "pass X alone."
            )
        return super().fit(X)

    def _split(self, splitting: Splitting) -> Recipe:
        center = self.center
        return PursuitRecipe(splitting, center, self.max_iter, self.tol)


@dataclass(eq=False, repr=False, kw_only=True)
class PCP(Pursuit):
    """Principal component pursuit: X = low rank + sparse, exactly.

    Minimizes ``|L|_* + lam |S|_1`` (sum of singular values, sum of absolute entries)
    subject to L + S = X, by the inexact augmented Lagrangian method. It is meant for
    gross errors in single cells rather than in whole rows. Components and mean are
    those of L, variances those of X - S; new rows are transformed as by any other
    method. The split does not depend on `n_components`.

    The objective is not monotone, but the result is the optimum of a convex problem.

    Confidence: as published with balance=inf, which ends 1 % short of the optimum on
    tall tables; the default waits for the multipliers and reaches it.

    Parameters
    ----------
    lam : float or "auto", default="auto"
        Penalty of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    center : {"none", "median"}, default="none"
        Subtracted from X before it is split: nothing, as published, or the median of
        every column, which is better far from the origin.
    rho : float, default=1.5
        Growth factor of the penalty of L + S = X; above 1.
    balance : float, default=10.0
        The penalty does not grow while the error of the multipliers exceeds this
        multiple of the error of L + S = X. With infinity it always grows.
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    Attributes
    ----------
    low_rank_, sparse_ : ndarray of shape (n, D)
        The parts of X. The low-rank part includes the center.
    lam_ : float
        The value of lam used.

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
        lam, rho, balance = number_or_none(self.lam), self.rho, self.balance
        return self._split(ExactSplitting(lam, float(rho), float(balance)))


@dataclass(eq=False, repr=False, kw_only=True)
class SPCP(Pursuit):
    """Stable principal component pursuit: X = low rank + sparse + noise.

    Minimizes ``|L|_* + lam |S|_1 + |X - L - S|^2 / (2 mu)``, where mu is
    sigma sqrt(2 max(n, D)), by exact alternating steps in L and S, accelerated.
    Components and mean are those of L, variances those of X - S. The split does not
    depend on `n_components`.

    The objective falls at every iteration.

    Confidence: as published in this penalized form, with defaults from third-party
    code; the estimate of sigma is ours.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Standard deviation of the noise in a cell; "auto" estimates it from X.
    lam : float or "auto", default="auto"
        Penalty of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    center : {"none", "median"}, default="none"
        Subtracted from X before it is split: nothing, as published, or the median of
        every column, which is better far from the origin.
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    Attributes
    ----------
    low_rank_, sparse_ : ndarray of shape (n, D)
        The parts of X. The low-rank part includes the center.
    lam_ : float
        The value of lam used.
    sigma_ : float
        The value of sigma used.

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
        lam, sigma = number_or_none(self.lam), number_or_none(self.sigma)
        return self._split(StableSplitting(lam, sigma))


@dataclass(eq=False, repr=False, kw_only=True)
class RRPCP(Pursuit):
    """Robust PCP with outlying rows: X = low rank + sparse + a few whole rows + noise.

    Minimizes ``|L|_* + lam |S|_1 + gam sum |o_i| + |X - L - S - O|^2 / (2 mu)``, with
    o_i the rows of O, most of them zero, and mu as in `SPCP`.

    The objective falls at every iteration.

    Confidence: reconstructed. Known: two kinds of outliers, cells and rows off the
    subspace. The convex surrogate and its constants are ours.

    Parameters
    ----------
    gam : float or "auto", default="auto"
        Penalty of the length of an outlying row. Above sqrt(D / max(n, D)) no row is
        outlying (sparse cells cost less), below half of that, outlying rows explain
        everything; "auto" is 0.85 times that. Infinity gives SPCP.
    sigma : float or "auto", default="auto"
        Standard deviation of the noise in a cell; "auto" estimates it from X.
    lam : float or "auto", default="auto"
        Penalty of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    center : {"none", "median"}, default="none"
        Subtracted from X before it is split: nothing, as published, or the median of
        every column, which is better far from the origin.
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    Attributes
    ----------
    low_rank_, sparse_, outlying_ : ndarray of shape (n, D)
        The parts of X. The low-rank part includes the center.
    lam_, sigma_, gam_ : float
        The values of lam, sigma and gam used.

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
        lam, sigma = number_or_none(self.lam), number_or_none(self.sigma)
        gam = number_or_none(self.gam)
        return self._split(StableSplitting(lam, sigma, with_rows=True, gam=gam))
