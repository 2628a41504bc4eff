"""Row-weighted methods that measure what the subspace keeps of every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from trueaxis._engine.fit import Recipe
from trueaxis._engine.reweighted import EXACT, Powers
from trueaxis._engine.rules.retained import (
    AngleRule,
    LengthRule,
    Membership,
    MembershipRule,
)
from trueaxis.estimators.method import FixedCenterMethod, reweighting
from trueaxis.estimators.parameters import (
    choice,
    number,
    number_or_none,
    renamed_center,
)


@dataclass(eq=False, repr=False, kw_only=True)
class RPCADI(FixedCenterMethod):
    """Robust PCA based on discriminant information.

    Every row gets memberships u and 1 - u in the subspace and its complement that
    maximise u r + (1 - u) r' + tau entropy(u), so that lambda = u / (1 - u) =
    exp((r - r') / tau); then sum lambda v / d is maximised: w = lambda / d.

    With membership="ratio" the sum of lambda (history_ has its logarithm) rises at
    every iteration; with the others nothing is promised.

    Confidence: reconstructed. Known is w = lambda / d with lambda a ratio of
    memberships from an entropy-regularised model. Assumed: what enters them
    (`membership`), tau, plain PCA as a start. Only "ratio" and "root" with tau near 1
    fit the ranking that the DSWL paper prints.

    Parameters
    ----------
    tau : float, default=1.0
        Temperature of the memberships, in the unit of X for "norm" and its square for
        "raw"; infinity gives spherical PCA.
    membership : {"ratio", "root", "norm", "raw"}, default="ratio"
        r and r' are v/d and e/d, the roots of these, sqrt(v) and sqrt(e), or v and e.
    center : {"mean", "median"}, default="mean"
        The sample mean, as published, or the spatial median, which bad rows move less.
    centre : deprecated
        Old spelling of `center`.
    n_init : int, default=1
        Number of starts; all but the first are subspaces through random rows, and the
        best objective wins.
    n_components, max_iter, tol, random_state
        See `Method`.

    References
    ----------
    Y. Gao, T. Lin, Y. Zhang, S. Luo, F. Nie (2023): Robust principal component analysis
    based on discriminant information.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis import RPCADI
    >>> from trueaxis.datasets import planted
    >>> model = RPCADI(3).fit(planted("scatter", share=0.2).X)
    >>> bool((np.diff(model.history_["objective"]) >= 0).all())
    True
    """

    tau: float = number(1.0, 1e-6)
    membership: Membership = choice("ratio", "root", "norm", "raw")

    def _recipe(self) -> Recipe:
        return reweighting(
            self,
            MembershipRule(float(self.tau), self.membership),
            center=renamed_center(self),
        )


@dataclass(eq=False, repr=False, kw_only=True)
class AnglePCA(FixedCenterMethod):
    """Angle PCA: largest sum of ratios of projected length to residual.

    Maximises sum sqrt(v) / sqrt(e + gamma^2) about a fixed center. Without gamma any
    subspace through one row would give infinity, so gamma belongs to the method.

    variant="exact" steps along the gradient, w = d / (sqrt(v) e^1.5), and the objective
    rises at every iteration. "circulated" is the iteration of the code in circulation,
    w = d / (sqrt(v) e) with eigenvectors: it comes to rest where another sum, that of
    sqrt(d) artanh(sqrt(v / d)), is stationary (and recorded), and nothing is promised.

    Confidence: objective as published; iteration from code that cites the paper, its
    guard made smooth; the exact ascent is ours.

    Parameters
    ----------
    variant : {"exact", "circulated"}, default="exact"
    gamma : float or "auto", default="auto"
        Guard, in the unit of X; "auto" is the median residual of plain PCA. (The
        circulated code has 1.)
    center : {"mean", "median"}, default="mean"
        The sample mean, as published, or the spatial median, which bad rows move less.
    centre : deprecated
        Old spelling of `center`.
    n_init : int, default=1
        Number of starts; all but the first are subspaces through random rows, and the
        best objective wins.
    n_components, max_iter, tol, random_state
        See `Method`.

    Attributes
    ----------
    gamma_ : float
        The guard used.

    References
    ----------
    Q. Wang, Q. Gao, X. Gao, F. Nie (2017): Angle principal component analysis.

    Examples
    --------
    >>> from trueaxis import AnglePCA
    >>> from trueaxis.datasets import planted
    >>> AnglePCA(3).fit(planted("ocs", share=0.2).X).components_.shape
    (3, 20)
    """

    variant: Literal["exact", "circulated"] = choice("exact", "circulated")
    gamma: float | Literal["auto"] = number("auto", 1e-150, 1e150, auto=True)

    _own_attributes: ClassVar[frozenset[str]] = frozenset({"gamma_"})

    def _recipe(self) -> Recipe:
        exact = self.variant == "exact"
        return reweighting(
            self,
            AngleRule(number_or_none(self.gamma), exact=exact),
            center=renamed_center(self),
            solver=Powers(1) if exact else EXACT,
            learned={"gamma_": ("gamma", None)},
        )


@dataclass(eq=False, repr=False, kw_only=True)
class L21MaxPCA(FixedCenterMethod):
    """Non-greedy L2,1-norm maximisation: largest sum of projected lengths.

    Maximises sum sqrt(v) about a fixed center, by w = 1 / sqrt(v) and one power step.

    The objective rises at every iteration (with eigenvectors instead of power steps it
    would not).

    Confidence: as published.

    Parameters
    ----------
    center : {"mean", "median"}, default="mean"
        The sample mean, as published, or the spatial median, which bad rows move less.
    centre : deprecated
        Old spelling of `center`.
    n_init : int, default=1
        Number of starts; all but the first are subspaces through random rows, and the
        best objective wins.
    n_components, max_iter, tol, random_state
        See `Method`.

    References
    ----------
    F. Nie, L. Tian, H. Huang, C. Ding (2021): Non-greedy L21-norm maximization for
    principal component analysis.

    Examples
    --------
    >>> from trueaxis import L21MaxPCA
    >>> from trueaxis.datasets import planted
    >>> L21MaxPCA(3).fit(planted("scatter", share=0.1).X).n_components_
    3
    """

    def _recipe(self) -> Recipe:
        return reweighting(
            self,
            LengthRule(),
            center=renamed_center(self),
            solver=Powers(1),
        )
