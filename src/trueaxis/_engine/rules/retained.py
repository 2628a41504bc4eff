"""Weights from the part of each row that the subspace retains.

For methods with a fixed center, where v = d - e. Notation as in `base`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.kernels import RowWeights
from trueaxis._engine.rules.base import RowDistances
from trueaxis._engine.rules.losses import GuardedRule, usual_guard


@dataclass(eq=False)
class LengthRule(GuardedRule):
    """Projected length: w = 1 / sqrt(v). Power steps maximize sum sqrt(v)."""

    proven = True

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
    def proven(self) -> bool:  # type: ignore[override]  # depends on parameters
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
        """Return the squared distances inside; gamma guards those off the subspace."""
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
    def proven(self) -> bool:  # type: ignore[override]  # depends on parameters
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
