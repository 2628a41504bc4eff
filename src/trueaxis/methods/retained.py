"""Row-weighted methods that measure how much of each row the subspace retains.

Their center is fixed, and v = d - e.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis.base import FixedCenterMethod, choice, number, number_or_none, reweighting
from trueaxis.core.kernels import RowWeights
from trueaxis.core.recipes import Recipe
from trueaxis.core.reweighting import EXACT, PowerSolver
from trueaxis.core.rules import GuardedRule, RowDistances, usual_guard


@dataclass(eq=False)
class LengthRule(GuardedRule):
    """Projected length: w = 1 / sqrt(v). Power steps maximize sum sqrt(v)."""

    smooth = True

    def nearness(self, distances: RowDistances) -> NDArray[np.float64]:
        """Return the squared distances inside the subspace."""
        return distances.v

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return -ln(v) / 2."""
        log_weights = -0.5 * np.log(self.guarded(distances.v))
        return RowWeights(np.where(self.off_center(distances), log_weights, -np.inf))

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the sum of projected lengths."""
        return distances.total(np.sqrt(self.guarded(distances.v)))


@dataclass(eq=False)
class AngleRule(GuardedRule):
    """Ratio of projected length to residual, sqrt(v) / sqrt(e + gamma^2).

    Attributes
    ----------
    gamma : float or None
        None for the median residual at the start.
    exact : bool
        If True, w = d / (sqrt(v) e^1.5), the gradient of the sum of ratios, which rises
        with power steps. If False, w = d / (sqrt(v) e), the gradient of
        sum sqrt(d) artanh(sqrt(v / d)).
    """

    gamma: float | None = None
    exact: bool = True

    @property
    def smooth(self) -> bool:  # type: ignore[override]  # depends on parameters
        """Whether the weights are the gradient of the ratios."""
        return self.exact

    def freeze(self, distances: RowDistances) -> AngleRule:
        """Return the rule with gamma and the guard set, if not given."""
        gamma = self.gamma
        if gamma is None:
            # The median is 0 if half of the rows are in the subspace.
            median = distances.median(distances.e)
            gamma = np.sqrt(median) or np.sqrt(usual_guard(distances))
        guard = usual_guard(distances) if self.guard is None else self.guard
        return replace(self, guard=guard, gamma=float(gamma))

    def nearness(self, distances: RowDistances) -> NDArray[np.float64]:
        """Return the squared distances inside; gamma guards the orthogonal ones."""
        return distances.v

    def both(
        self, distances: RowDistances
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return v and e, made safe to divide by."""
        assert self.gamma is not None  # `freeze` comes first
        return self.guarded(distances.v), distances.e + self.gamma**2

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return the logarithm of the formula."""
        v, e = self.both(distances)
        power = 1.5 if self.exact else 1.0
        log_weights = np.log(v + e) - 0.5 * np.log(v) - power * np.log(e)
        return RowWeights(np.where(self.off_center(distances), log_weights, -np.inf))

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the sum of sqrt(v / e), or of sqrt(d) artanh(sqrt(v / d))."""
        v, e = self.both(distances)
        if self.exact:
            return distances.total(np.sqrt(v / e))
        d = v + e
        return distances.total(np.sqrt(d) * np.arctanh(np.sqrt(v / d)))


Membership = Literal["ratio", "root", "norm", "raw"]


@dataclass(eq=False)
class MembershipRule(GuardedRule):
    """RPCA-DI: w = lambda / d, lambda = exp((inside - off) / tau).

    With a fixed center and membership "ratio", the sum of lambda rises.

    Attributes
    ----------
    tau : float
    membership : {"ratio", "root", "norm", "raw"}
        The values of inside and off: v/d and e/d, their square roots, sqrt(v) and
        sqrt(e), or v and e.
    """

    tau: float = 1.0
    membership: Membership = "ratio"

    @property
    def smooth(self) -> bool:  # type: ignore[override]  # depends on parameters
        """Whether the membership is "ratio"."""
        return self.membership == "ratio"

    def log_lambda(self, distances: RowDistances) -> NDArray[np.float64]:
        """Return the logarithm of lambda."""
        v, e = distances.v, distances.e
        if self.membership in ("ratio", "root"):
            d = self.guarded(distances.d)
            v, e = v / d, e / d
        if self.membership in ("root", "norm"):
            v, e = np.sqrt(v), np.sqrt(e)
        return (v - e) / self.tau

    def nearness(self, distances: RowDistances) -> NDArray[np.float64]:
        """Return the squared distances from the center."""
        return distances.d

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return the logarithm of lambda / d; a row at the center gets no weight."""
        log_weights = self.log_lambda(distances) - np.log(self.guarded(distances.d))
        return RowWeights(np.where(self.off_center(distances), log_weights, -np.inf))

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the logarithm of the sum of lambda."""
        x = self.log_lambda(distances)
        top = x.max()
        return float(top + np.log(distances.total(np.exp(x - top))))


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
    >>> from trueaxis.methods import RPCADI
    >>> from trueaxis.datasets import planted
    >>> model = RPCADI(3).fit(planted("scatter", share=0.2).X)
    >>> bool((np.diff(model.history_["objective"]) >= 0).all())
    True
    """

    tau: float = number(1.0, 1e-6)
    membership: Membership = choice("ratio", "root", "norm", "raw")

    def _recipe(self) -> Recipe:
        return reweighting(self, MembershipRule(float(self.tau), self.membership))


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
    >>> from trueaxis.methods import AnglePCA
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
    >>> from trueaxis.methods import L21MaxPCA
    >>> from trueaxis.datasets import planted
    >>> L21MaxPCA(3).fit(planted("scatter", share=0.1).X).n_components_
    3
    """

    def _recipe(self) -> Recipe:
        return reweighting(self, LengthRule(), solver=PowerSolver(1))
