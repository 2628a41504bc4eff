"""WEIGH: every weight formula, side by side.

A rule turns the distances of rows into log-weights; `reweighted` does the rest.
Notation: v squared distance inside the subspace, e off it, d = v + e, w weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from trueaxis.engine.calibrate import calibrate
from trueaxis.engine.kernels import Weighing


class View(NamedTuple):
    """What a rule sees of the rows at hand, all of them or one block.

    v, e : squared distance inside the subspace and off it
    s : squared score distance (v with every component in units of its deviation)
    carried : weight of each row (of one copy) in the fit that is looked from, None
        where that is not known
    """

    v: NDArray[np.float64]
    e: NDArray[np.float64]
    s: NDArray[np.float64]
    carried: NDArray[np.float64] | None = None


class Rule(BaseEstimator):
    """A weight formula; its parameters are reachable by a grid search.

    `row_local` rules need nothing but a row's own distances, so that looking, weighing
    and summing share one pass over the data; others see all rows at once and pay a
    second pass.
    """

    row_local = True

    def weigh(self, view: View) -> Weighing:
        """Log-weights of the rows in view, up to a common constant."""
        raise TypeError(f"{type(self).__name__} has no formula for its weights.")


@dataclass(eq=False)
class UniformRule(Rule):
    """Equal weights: plain PCA."""

    def weigh(self, view: View) -> Weighing:
        """Zero for every row."""
        return Weighing(np.zeros_like(view.v))


@dataclass(eq=False)
class EntropyRule(Rule):
    """DSWL with given temperatures: w = exp(-(v/a + e/b + d/c)).

    a, b and c are n times the paper's tau_a, tau_b and tau_c. Its three softmaxes are
    merged in log space, because apart they overflow; and as d = v + e only 1/a + 1/c
    and 1/b + 1/c matter.
    """

    a: float
    b: float
    c: float

    def weigh(self, view: View) -> Weighing:
        """Return -(v/a + e/b + d/c)."""
        inside, off = 1 / self.a + 1 / self.c, 1 / self.b + 1 / self.c
        return Weighing(-(inside * view.v + off * view.e))


@dataclass(eq=False)
class TrustRule(Rule):
    """DSWL calibrated anew in every round, so that a share `trust` of the rows counts.

    Not row-local: the temperatures are medians and a perplexity over all rows.
    """

    trust: float
    row_local = False

    def weigh(self, view: View) -> Weighing:
        """Calibrate, then weigh with those temperatures."""
        temperatures = calibrate(view.v, view.e, self.trust)
        return EntropyRule(*temperatures).weigh(view)
