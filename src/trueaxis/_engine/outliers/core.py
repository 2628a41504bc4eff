"""Rules of the stage between Algorithm 1 and the verdicts: find the core of the rows.

Smooth weights still carry a little of every outlier, and axes that outliers bent hide
them. Concentration on the inner half, and then on the rows within `CORE` deviations,
leaves a fit that owes them nothing. From it the law of regular rows is learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.kernels import RowWeights
from trueaxis._engine.outliers.law import Cuts, first_copies
from trueaxis._engine.quantiles import quantile
from trueaxis._engine.rules.base import RowDistances, Rule

NORMAL_75 = 0.6745  # upper quartile of a normal distribution
ROUNDING = 1e-24  # relative rounding error of a squared length
CORE = 1.5  # deviations from the median within which rows belong to the core


@dataclass(eq=False)
class HalfRule(Rule):
    """Equal weights of the rows that are nearest by the worse of both distances.

    Attributes
    ----------
    need : int
        Number of rows to keep.
    """

    need: int

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return 0 for rows that are kept, otherwise minus infinity."""
        return _equal(_nearest(deviations(without_leverage(distances)), self.need))


@dataclass(eq=False)
class CoreRule(Rule):
    """Equal weights of the rows within `CORE` deviations.

    Attributes
    ----------
    need : int
        Least number of rows to keep.
    """

    need: int

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return 0 for rows that are kept, otherwise minus infinity."""
        z = deviations(without_leverage(distances))
        core = z <= CORE
        return _equal(core if core.sum() >= self.need else _nearest(z, self.need))


@dataclass(eq=False)
class CutRule(Rule):
    """Equal weights of the rows within cut-offs."""

    cuts: Cuts
    row_local = True

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return 0 for rows that are kept, otherwise minus infinity."""
        return _equal((distances.e <= self.cuts.e) & (distances.s <= self.cuts.s))


def _equal(kept: NDArray[np.bool_]) -> RowWeights:
    return RowWeights(np.where(kept, 0.0, -np.inf))


def _nearest(z: NDArray[Any], need: int) -> NDArray[np.bool_]:
    kept = np.zeros(len(z), dtype=bool)
    kept[np.argsort(z, kind="stable")[:need]] = True
    return kept


def deviations(distances: RowDistances) -> NDArray[np.float64]:
    """Return how many deviations rows lie beyond the median, by the worse distance.

    Cube roots of squared distances are about normal. Their median and deviation come
    from the lower half of distinct rows, so that even 45 % of outliers do not move
    them.
    """
    distinct = first_copies(distances)
    d = distances.v + distances.e
    views = ((distances.e, distances.e), (distances.s, distances.v))
    e, s = (
        np.where((raw <= ROUNDING * d) & np.isfinite(raw), 0.0, d2) for d2, raw in views
    )
    return np.maximum(_deviations(e, distinct), _deviations(s, distinct))


def _deviations(d2: NDArray[Any], distinct: NDArray[np.bool_]) -> NDArray[np.float64]:
    z = np.cbrt(d2)
    some = z[distinct]
    q25, q50 = quantile(some, 0.25), quantile(some, 0.5)
    spread = (q50 - q25) / NORMAL_75
    with np.errstate(invalid="ignore"):
        above = z - q50
    if not spread > 1e-9 * q50:  # an exact fit, or ties: the median itself is the edge
        return np.where(above > 1e-9 * q50, np.inf, 0.0)
    return np.where(np.isnan(above), np.inf, above / spread)


def without_leverage(distances: RowDistances) -> RowDistances:
    """Return the distances that rows would have if they were not part of the fit.

    Residuals of rows in the fit are too small, unless k is small compared with the
    number of rows that carry it. The leverage of a row of weight w is w (1 + s).
    """
    if distances.fit_weight is None:
        return distances
    w = distances.fit_weight
    h = np.minimum(w * (1.0 + np.where(w > 0, distances.s, 0.0)), 0.99)
    factor = (1.0 - h) ** -2
    with np.errstate(over="ignore"):
        return distances._replace(e=distances.e * factor, s=distances.s * factor)
