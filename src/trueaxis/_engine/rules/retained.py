"""WEIGH by what the subspace keeps of every row.

For methods about a fixed center, where v = d - e. Notation as in `rules`.
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
    """With power steps it maximises sum sqrt(v): w = 1 / sqrt(v)."""

    proven = True

    def nearness(self, view: RowDistances) -> NDArray[np.float64]:
        """Distance inside the subspace."""
        return view.v

    def weigh(self, view: RowDistances) -> RowWeights:
        """-ln(v) / 2."""
        log_weights = -0.5 * np.log(self.guarded(view.v))
        return RowWeights(np.where(self.off_center(view), log_weights, -np.inf))

    def objective(self, view: RowDistances, log_total: float) -> float:
        """Sum of projected lengths."""
        return view.total(np.sqrt(self.guarded(view.v)))


@dataclass(eq=False)
class AngleRule(GuardedRule):
    """Ratio of projected length to residual, sqrt(v) / sqrt(e + g^2), g = `gamma`.

    exact : w = d / (sqrt(v) e^1.5), its gradient; with power steps the sum rises
    not exact : w = d / (sqrt(v) e), gradient of sum sqrt(d) artanh(sqrt(v / d))

    `gamma` None is the median residual at the first look.
    """

    gamma: float | None = None
    exact: bool = True

    @property
    def proven(self) -> bool:  # type: ignore[override]
        """For the gradient only."""
        return self.exact

    def freeze(self, view: RowDistances) -> AngleRule:
        """Set gamma, and the guard."""
        gamma = self.gamma
        if gamma is None:
            gamma = np.sqrt(view.median(view.e)) or np.sqrt(usual_guard(view))
        guard = usual_guard(view) if self.guard is None else self.guard
        return replace(self, guard=guard, gamma=float(gamma))

    def nearness(self, view: RowDistances) -> NDArray[np.float64]:
        """Distance inside the subspace; off it gamma is the guard."""
        return view.v

    def both(
        self, view: RowDistances
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Distances inside and off the subspace that are safe to divide by."""
        assert self.gamma is not None  # `freeze` comes first
        return self.guarded(view.v), view.e + self.gamma**2

    def weigh(self, view: RowDistances) -> RowWeights:
        """Logarithm of the formula."""
        v, e = self.both(view)
        power = 1.5 if self.exact else 1.0
        log_weights = np.log(v + e) - 0.5 * np.log(v) - power * np.log(e)
        return RowWeights(np.where(self.off_center(view), log_weights, -np.inf))

    def objective(self, view: RowDistances, log_total: float) -> float:
        """Sum of sqrt(v / e), or of sqrt(d) artanh(sqrt(v / d))."""
        v, e = self.both(view)
        if self.exact:
            return view.total(np.sqrt(v / e))
        d = v + e
        return view.total(np.sqrt(d) * np.arctanh(np.sqrt(v / d)))


Membership = Literal["ratio", "root", "norm", "raw"]


@dataclass(eq=False)
class MembershipRule(GuardedRule):
    """RPCA-DI: w = lambda / d, lambda = exp((inside - off) / tau).

    inside and off are what a row has in the subspace and off it, by `membership`:
    "ratio" v/d and e/d, "root" their roots, "norm" sqrt(v) and sqrt(e), "raw" v and e.
    With a fixed center and "ratio" the sum of lambda rises.
    """

    tau: float = 1.0
    membership: Membership = "ratio"

    @property
    def proven(self) -> bool:  # type: ignore[override]
        """For "ratio" only."""
        return self.membership == "ratio"

    def log_lambda(self, view: RowDistances) -> NDArray[np.float64]:
        """How much more a row belongs into the subspace than off it."""
        v, e = view.v, view.e
        if self.membership in ("ratio", "root"):
            d = self.guarded(view.d)
            v, e = v / d, e / d
        if self.membership in ("root", "norm"):
            v, e = np.sqrt(v), np.sqrt(e)
        return (v - e) / self.tau

    def nearness(self, view: RowDistances) -> NDArray[np.float64]:
        """Distance from the center."""
        return view.d

    def weigh(self, view: RowDistances) -> RowWeights:
        """Logarithm of lambda / d; a row on the center says nothing and is left out."""
        log_weights = self.log_lambda(view) - np.log(self.guarded(view.d))
        return RowWeights(np.where(self.off_center(view), log_weights, -np.inf))

    def objective(self, view: RowDistances, log_total: float) -> float:
        """Logarithm of the sum of lambda."""
        x = self.log_lambda(view)
        top = x.max()
        return float(top + np.log(view.total(np.exp(x - top))))
