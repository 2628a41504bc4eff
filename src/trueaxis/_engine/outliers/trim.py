"""Cut-offs of the last stage of a fit, which keeps all rows within them.

Smooth weights find the cloud, but give the rows at its rim little weight, which costs
efficiency. Hard cut-offs, computed from the lower half of the distances, keep nearly
all regular rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.kernels import RowWeights
from trueaxis._engine.quantiles import n_different, quantile
from trueaxis._engine.rules.base import RowDistances, Rule

NORMAL_75 = 0.6745  # upper quartile of a normal distribution
ROUNDING = 1e-24  # relative rounding error of a squared length
MANY = 8  # an exact fit needs at least this many distinct rows
KEEP = 3.09  # keeps 99.9 % of regular rows: every row trimmed costs accuracy


class Cuts(NamedTuple):
    """Largest squared distances, orthogonal and score."""

    e: float
    s: float


def cube_root_cut(d2: NDArray[Any], deviations: float) -> float:
    """Return a cut-off for squared distances, whose cube roots are about normal.

    Center and scale come from the lower half only, so that even 45 % of outliers
    do not move the cut-off.
    """
    z = np.cbrt(d2)
    q25, q50 = quantile(z, 0.25), quantile(z, 0.5)
    if q50 - q25 <= 1e-9 * q50:  # copies of a row: count each distance once
        z = np.unique(np.round(z / max(q50, np.finfo(float).tiny), 9)) * q50
        q25, q50 = quantile(z, 0.25), quantile(z, 0.5)
    with np.errstate(over="ignore"):
        return float(np.power(q50 + deviations * (q50 - q25) / NORMAL_75, 3))


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


@dataclass(eq=False)
class CutRule(Rule):
    """Weights of rows within cut-offs.

    Far rows inside the subspace have good leverage and sharpen the span. Beyond
    `far_s` their weight is far_s / s, which bounds their influence under heavy tails.

    Attributes
    ----------
    span_e : float
        Largest e of the rows that determine the span.
    far_s : float
        Rows with a larger s get less weight.
    core : Cuts
        Cut-offs of the rows that determine center and variances.
    """

    span_e: float
    far_s: float
    core: Cuts
    row_local = True

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return 0 for rows that are kept, less if far, otherwise minus infinity."""
        core = (distances.e <= self.core.e) & (distances.s <= self.core.s)
        log_weights = np.where(distances.e <= self.span_e, 0.0, -np.inf)
        far = (distances.s > self.far_s) & ~core
        with np.errstate(divide="ignore", over="ignore"):
            log_weights[far] += np.log(self.far_s / distances.s[far])
        return RowWeights(log_weights, core)


@dataclass(eq=False)
class TrimRule(Rule):
    """`CutRule` with cut-offs computed from all rows.

    Attributes
    ----------
    need : int
        Least number of rows to keep.
    """

    need: int

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Compute the cut-offs, and return the log-weights they give."""
        distances = without_leverage(distances)
        return self.cut_rule(distances).weigh(distances)

    def cut_rule(self, distances: RowDistances) -> CutRule:
        """Return the rule with cut-offs for distances without leverage."""
        cuts = natural_cuts(distances)
        need = min(self.need, len(distances.e))
        nearest = np.partition(distances.e, need - 1)[need - 1]
        worst = worst_ratio(distances, cuts)
        widen = max(1.0, np.partition(worst, need - 1)[need - 1])
        core = Cuts(cuts.e * widen, cuts.s * widen)
        return CutRule(max(cuts.e, nearest), cuts.s, core)


def natural_cuts(distances: RowDistances) -> Cuts:
    """Return cut-offs of both distances, regardless of how many rows are within.

    Rows at the center, such as copies of one row, are ignored. If half of the others
    lie in the subspace exactly, only such rows are regular.
    """
    d = distances.v + distances.e
    rounding = ROUNDING * d
    away = d > ROUNDING * np.median(d[d > 0]) if (d > 0).any() else d > 0
    off = away & (distances.e > rounding) & np.isfinite(d)
    e = rounding[np.isfinite(d)].max(initial=np.finfo(float).tiny)
    if off.any() and not is_exact_fit(distances, away & ~off, away):
        e = max(e, cube_root_cut(distances.e[off], KEEP))
    inside = away & (distances.v > rounding) & np.isfinite(distances.s)
    s = cube_root_cut(distances.s[inside], KEEP) if inside.any() else np.inf
    return Cuts(float(e), float(s))


def is_exact_fit(
    distances: RowDistances, exact: NDArray[Any], rows: NDArray[Any]
) -> bool:
    """Return whether half of the rows are `exact`, and not copies of a few."""
    if 2 * exact.sum() < rows.sum() or not exact.any():
        return False
    return bool(n_different(distances.v[exact]) >= max(MANY, 0.2 * exact.sum()))


def worst_ratio(distances: RowDistances, cuts: Cuts) -> NDArray[np.float64]:
    """Return the larger of the two squared distances, in units of its cut-off."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.fmax(distances.e / cuts.e, distances.s / cuts.s)
