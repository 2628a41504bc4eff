"""WEIGH by concave losses of the residual.

A weight is the derivative of the loss by e, so that no step raises the sum of losses.
Notation as in `rules`, and r = sqrt(e).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.kernels import RowWeights
from trueaxis._engine.rules.base import RowDistances, Rule

# Of the mean squared distance. An absolute guard lets objectives rise: rows in the
# subspace get weights beyond what the sums can hold.
GUARD = 1e-10
CALM = 0.1  # of the median squared distance
LEAST = float(np.finfo(float).tiny)


def usual_guard(view: RowDistances) -> float:
    """What squared distances get added before they are divided by."""
    return max(GUARD * view.mean(view.d), LEAST)


@dataclass(eq=False, kw_only=True)
class GuardedRule(Rule):
    """A formula that divides by distances, which get a little more to be safe."""

    guard: float | None = None
    row_local = True

    def freeze(self, view: RowDistances) -> GuardedRule:
        """Guard in proportion to the data, if no guard is given."""
        if self.guard is not None:
            return self
        return replace(self, guard=usual_guard(view))

    def bounded(self, view: RowDistances) -> GuardedRule:
        """No row may weigh much more than usual because it is near."""
        usual = CALM * view.median(self.nearness(view))
        return replace(self, guard=max(usual, self.guard or 0.0))

    def nearness(self, view: RowDistances) -> NDArray[np.float64]:
        """The squared distances that the formula divides by."""
        return view.e

    def guarded(self, d2: NDArray[Any]) -> NDArray[np.float64]:
        """Squared distances that are safe to divide by."""
        assert self.guard is not None  # `freeze` comes first
        return d2 + self.guard

    def off_center(self, view: RowDistances) -> NDArray[np.bool_]:
        """Rows that are not on the center, where directions mean nothing.

        All, if all rows are there.
        """
        assert self.guard is not None  # `freeze` comes first
        return (view.d > GUARD * self.guard) | (self.guard <= LEAST)


@dataclass(eq=False)
class PowerRule(GuardedRule):
    """Minimises sum r^p: w = e^(p/2 - 1)."""

    p: float
    aim = -1
    proven = True

    def weigh(self, view: RowDistances) -> RowWeights:
        """(p/2 - 1) ln e."""
        return RowWeights((self.p / 2 - 1) * np.log(self.guarded(view.e)))

    def objective(self, view: RowDistances, log_total: float) -> float:
        """Sum of r^p."""
        return view.total(self.guarded(view.e) ** (self.p / 2))


@dataclass(eq=False)
class ScaledRule(Rule):
    """A loss with a scale c for r; None takes the median of r at the first look."""

    c: float | None = None
    row_local = True
    aim = -1
    proven = True

    def freeze(self, view: RowDistances) -> ScaledRule:
        """Set c."""
        if self.c is not None:
            return self
        # Half of the rows in the subspace exactly: any positive residual will do.
        c = view.median(np.sqrt(view.e)) or np.sqrt(usual_guard(view))
        return replace(self, c=float(c))

    def bounded(self, view: RowDistances) -> ScaledRule:
        """A small c leaves the weights of near rows unbounded."""
        usual = np.sqrt(CALM * view.median(view.e))
        return replace(self, c=max(float(usual), self.c or 0.0))

    def scaled(self, view: RowDistances) -> tuple[float, NDArray[np.float64]]:
        """Return c, and residuals in units of it."""
        assert self.c is not None  # `freeze` comes first
        return self.c, np.sqrt(view.e) / self.c


@dataclass(eq=False)
class HuberRule(ScaledRule):
    """Minimises sum of r^2 up to c, of 2 c r - c^2 beyond: w = min(1, c/r)."""

    def weigh(self, view: RowDistances) -> RowWeights:
        """0 up to c, ln(c/r) beyond."""
        _, x = self.scaled(view)
        return RowWeights(-np.log(np.maximum(1.0, x)))

    def objective(self, view: RowDistances, log_total: float) -> float:
        """Sum of losses."""
        c, x = self.scaled(view)
        return c**2 * view.total(np.where(x <= 1, np.minimum(x, 1) ** 2, 2 * x - 1))


@dataclass(eq=False)
class CauchyRule(ScaledRule):
    """Minimises sum ln(1 + (r/c)^2): w = 1 / (1 + (r/c)^2)."""

    def weigh(self, view: RowDistances) -> RowWeights:
        """-ln(1 + (r/c)^2)."""
        _, x = self.scaled(view)
        return RowWeights(-2 * np.log(np.hypot(1.0, x)))

    def objective(self, view: RowDistances, log_total: float) -> float:
        """Sum of losses."""
        _, x = self.scaled(view)
        return view.total(2 * np.log(np.hypot(1.0, x)))


@dataclass(eq=False)
class AdaptiveRule(ScaledRule):
    """Minimises sum (1 + c) r^2 / (r + c), from r to r^2: w = (r + 2 c) / (r + c)^2."""

    def weigh(self, view: RowDistances) -> RowWeights:
        """ln((x + 2) / (x + 1)^2), x = r/c."""
        _, x = self.scaled(view)
        return RowWeights(np.log(x + 2) - 2 * np.log(x + 1))

    def objective(self, view: RowDistances, log_total: float) -> float:
        """Sum of losses."""
        c, x = self.scaled(view)
        return c * (1 + c) * view.total(x * (x / (x + 1)))
