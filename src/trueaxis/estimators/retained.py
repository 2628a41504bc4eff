"""Row-weighted methods that measure how much of each row the subspace retains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from trueaxis._engine.fit import Recipe
from trueaxis._engine.reweighted import EXACT, PowerSolver
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
)


@dataclass(eq=False, repr=False, kw_only=True)
class RPCADI(FixedCenterMethod):
    """Robust PCA based on discriminant information.

    Every row has memberships u in the subspace and 1 - u in its complement that
    maximize u r + (1 - u) r' + tau entropy(u), hence lambda = u / (1 - u) =
    exp((r - r') / tau). The subspace then maximizes sum lambda v / d, with weights
    w = lambda / d.

    With membership="ratio" the sum of lambda (`history_` has its logarithm) rises at
    every iteration. The other memberships have no such guarantee.

    Confidence: reconstructed. Known: w = lambda / d, with lambda a ratio of memberships
    from an entropy-regularized model. Assumed: the arguments r and r' of the
    memberships (`membership`), tau, and plain PCA as the start. Only "ratio" and "root"
    with tau near 1 agree with the ranking in the DSWL paper.

    Parameters
    ----------
    tau : float, default=1.0
        Temperature of the memberships, in the unit of X for "norm" and in squared units
        for "raw". Infinity gives spherical PCA.
    membership : {"ratio", "root", "norm", "raw"}, default="ratio"
        What r and r' are: v/d and e/d ("ratio"), their square roots ("root"), sqrt(v)
        and sqrt(e) ("norm"), or v and e ("raw").
    center : {"mean", "median"}, default="mean"
        Fixed center: sample mean, as published, or spatial median (more robust).
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    n_components, max_iter, tol, random_state, level, contamination
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
            center=self.center,
        )


@dataclass(eq=False, repr=False, kw_only=True)
class AnglePCA(FixedCenterMethod):
    """Angle PCA: largest sum of ratios of projected length to residual.

    Maximizes sum sqrt(v) / sqrt(e + gamma^2) with a fixed center. The method needs
    gamma: without it, the objective is infinite for any subspace through one row.

    With variant="exact", the iteration follows the gradient, w = d / (sqrt(v) e^1.5),
    and the objective rises at every iteration. "circulated" is the iteration of the
    code in circulation, eigenvectors with w = d / (sqrt(v) e). Its fixed points are
    stationary points of another objective, the sum of sqrt(d) artanh(sqrt(v / d)),
    which `history_` records; it need not rise.

    Confidence: objective as published; iteration from code that cites the paper, with a
    smooth guard against zero residuals; the exact ascent is ours.

    Parameters
    ----------
    variant : {"exact", "circulated"}, default="exact"
        Iteration.
    gamma : float or "auto", default="auto"
        Guard against zero residuals, in the unit of X; "auto" is the median residual of
        plain PCA. (The circulated code uses 1.)
    center : {"mean", "median"}, default="mean"
        Fixed center: sample mean, as published, or spatial median (more robust).
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    Attributes
    ----------
    gamma_ : float
        The value of gamma used.

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
            center=self.center,
            solver=PowerSolver(1) if exact else EXACT,
            constants={"gamma_": ("gamma", None)},
        )


@dataclass(eq=False, repr=False, kw_only=True)
class L21MaxPCA(FixedCenterMethod):
    """Non-greedy L2,1-norm maximization: largest sum of projected lengths.

    Maximizes sum sqrt(v) with a fixed center, with weights w = 1 / sqrt(v) and one
    power step per iteration.

    The objective rises at every iteration (it would not with eigenvectors instead of
    power steps).

    Confidence: as published.

    Parameters
    ----------
    center : {"mean", "median"}, default="mean"
        Fixed center: sample mean, as published, or spatial median (more robust).
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    n_components, max_iter, tol, random_state, level, contamination
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
            center=self.center,
            solver=PowerSolver(1),
        )
