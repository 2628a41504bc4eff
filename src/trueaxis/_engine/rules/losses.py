"""Weights from concave losses of the residual.

A weight is the derivative of the loss with respect to e, so that no step raises the sum
of losses. Notation as in `base`, and r = sqrt(e).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.kernels import RowWeights
from trueaxis._engine.rules.base import RowDistances, Rule

# Share of the mean squared distance that guards divisions. With an absolute guard, the
# weights of rows in the subspace may exceed the precision of the sums, and objectives
# rise.
GUARD = 1e-10
BOUND = 0.1  # share of the median squared distance that bounds weights
LEAST = float(np.finfo(float).tiny)


def usual_guard(distances: RowDistances) -> float:
    """Return the constant that is added to squared distances before dividing."""
    return max(GUARD * distances.mean(distances.d), LEAST)


@dataclass(eq=False, kw_only=True)
class GuardedRule(Rule):
    """A formula that divides by squared distances plus a small guard.

    Attributes
    ----------
    guard : float or None
        None to set it in proportion to the data.
    """

    guard: float | None = None
    row_local = True

    def freeze(self, distances: RowDistances) -> GuardedRule:
        """Return the rule with its guard set, if none is given."""
        if self.guard is not None:
            return self
        return replace(self, guard=usual_guard(distances))

    def _bounded(self, distances: RowDistances) -> GuardedRule:
        """Return the rule with a guard that bounds the weights of near rows."""
        bound = BOUND * distances.median(self.nearness(distances))
        return replace(self, guard=max(bound, self.guard or 0.0))

    def nearness(self, distances: RowDistances) -> NDArray[np.float64]:
        """Return the squared distances that the formula divides by."""
        return distances.e

    def guarded(self, d2: NDArray[Any]) -> NDArray[np.float64]:
        """Return squared distances that are safe to divide by."""
        assert self.guard is not None  # `freeze` comes first
        return d2 + self.guard

    def off_center(self, distances: RowDistances) -> NDArray[np.bool_]:
        """Mark the rows that are not at the center, and so have a direction.

        If all rows are at the center, all are marked.
        """
        assert self.guard is not None  # `freeze` comes first
        return (distances.d > GUARD * self.guard) | (self.guard <= LEAST)


@dataclass(eq=False)
class PowerRule(GuardedRule):
    """Power loss: w = e^(p/2 - 1). Minimizes sum r^p."""

    p: float
    aim = -1
    proven = True

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return (p/2 - 1) ln e."""
        return RowWeights((self.p / 2 - 1) * np.log(self.guarded(distances.e)))

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the sum of r^p."""
        return distances.total(self.guarded(distances.e) ** (self.p / 2))


@dataclass(eq=False)
class ScaledRule(Rule):
    """A loss with a scale c for r.

    Attributes
    ----------
    c : float or None
        None for the median of r at the start.
    """

    c: float | None = None
    row_local = True
    aim = -1
    proven = True

    def freeze(self, distances: RowDistances) -> ScaledRule:
        """Return the rule with c set, if none is given."""
        if self.c is not None:
            return self
        # The median is 0 if half of the rows are in the subspace: any scale will do.
        c = distances.median(np.sqrt(distances.e)) or np.sqrt(usual_guard(distances))
        return replace(self, c=float(c))

    def _bounded(self, distances: RowDistances) -> ScaledRule:
        """Return the rule with a c that bounds the weights of near rows."""
        bound = np.sqrt(BOUND * distances.median(distances.e))
        return replace(self, c=max(float(bound), self.c or 0.0))

    def scaled(self, distances: RowDistances) -> tuple[float, NDArray[np.float64]]:
        """Return c, and residuals in units of c."""
        assert self.c is not None  # `freeze` comes first
        return self.c, np.sqrt(distances.e) / self.c


@dataclass(eq=False)
class HuberRule(ScaledRule):
    """Huber's loss: w = min(1, c/r).

    Minimizes the sum of r^2 where r <= c, and 2 c r - c^2 beyond.
    """

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return 0 where r <= c, and ln(c/r) beyond."""
        _, x = self.scaled(distances)
        return RowWeights(-np.log(np.maximum(1.0, x)))

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the sum of losses."""
        c, x = self.scaled(distances)
        losses = np.where(x <= 1, np.minimum(x, 1) ** 2, 2 * x - 1)
        return c**2 * distances.total(losses)


@dataclass(eq=False)
class CauchyRule(ScaledRule):
    """Cauchy's loss: w = 1 / (1 + (r/c)^2). Minimizes sum ln(1 + (r/c)^2)."""

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return -ln(1 + (r/c)^2)."""
        _, x = self.scaled(distances)
        return RowWeights(-2 * np.log(np.hypot(1.0, x)))

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the sum of losses."""
        _, x = self.scaled(distances)
        return distances.total(2 * np.log(np.hypot(1.0, x)))


@dataclass(eq=False)
class AdaptiveRule(ScaledRule):
    """Adaptive loss: w = (r + 2 c) / (r + c)^2.

    Minimizes sum (1 + c) r^2 / (r + c), between r (small c) and r^2 (large c).
    """

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return ln((x + 2) / (x + 1)^2), x = r/c."""
        _, x = self.scaled(distances)
        return RowWeights(np.log(x + 2) - 2 * np.log(x + 1))

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the sum of losses."""
        c, x = self.scaled(distances)
        return c * (1 + c) * distances.total(x * (x / (x + 1)))
