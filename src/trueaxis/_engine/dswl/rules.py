"""The weights of DSWL, with temperatures given or calibrated."""

from __future__ import annotations

from dataclasses import dataclass

from trueaxis._engine.dswl.temperatures import calibrate
from trueaxis._engine.kernels import RowWeights
from trueaxis._engine.rules.base import RowDistances, Rule


@dataclass(eq=False)
class EntropyRule(Rule):
    """DSWL with given temperatures: w = exp(-(v/a + e/b + d/c)).

    a, b and c are n times the paper's tau_a, tau_b and tau_c. The three softmaxes of
    the paper are merged in log space, because each may underflow. As d = v + e, only
    1/a + 1/c and 1/b + 1/c matter. The sum of weights rises if b <= a.
    """

    a: float
    b: float
    c: float
    row_local = True
    proven = True

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return -(v/a + e/b + d/c)."""
        inside, off = 1 / self.a + 1 / self.c, 1 / self.b + 1 / self.c
        return RowWeights(-(inside * distances.v + off * distances.e))


@dataclass(eq=False)
class TrustRule(Rule):
    """DSWL with temperatures calibrated in every round, by the share `trust`.

    Not row-local: the temperatures depend on medians and a perplexity over all rows.
    """

    trust: float

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Calibrate the temperatures, and return the log-weights they give."""
        temperatures = calibrate(distances.v, distances.e, self.trust)
        return EntropyRule(*temperatures).weigh(distances)
