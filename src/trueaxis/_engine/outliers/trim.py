"""The last stage of a fit: keep the rows within cut-offs, for efficiency.

Smooth weights find the cloud, but waste the rows at its rim. Hard cut-offs, set by the
lower half of the distances, keep nearly all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.kernels import RowWeights
from trueaxis._engine.quantiles import n_different, quantile
from trueaxis._engine.rules.base import RowDistances, Rule

NORMAL_75 = 0.6745
ROUNDING = 1e-24  # of a squared length
MANY = 8  # different rows that make an exact fit
KEEP = 3.09  # 99.9 % of regular rows: what is trimmed costs accuracy


class Cuts(NamedTuple):
    """Largest squared distances, orthogonal and score."""

    e: float
    s: float


def cube_root_cut(d2: NDArray[Any], deviations: float) -> float:
    """Cut-off for squared distances, whose cube roots are about normal.

    Only the lower half sets center and scale, so that 45 % outliers don't move it.
    """
    z = np.cbrt(d2)
    q25, q50 = quantile(z, 0.25), quantile(z, 0.5)
    if q50 - q25 <= 1e-9 * q50:  # copies of a row: let each distance count once
        z = np.unique(np.round(z / max(q50, np.finfo(float).tiny), 9)) * q50
        q25, q50 = quantile(z, 0.25), quantile(z, 0.5)
    with np.errstate(over="ignore"):
        return float(np.power(q50 + deviations * (q50 - q25) / NORMAL_75, 3))


def without_leverage(view: RowDistances) -> RowDistances:
    """Distances as they would be had each row not been in the fit.

    Residuals of rows inside the fit are too small when k is not small against the rows
    that carry it. The leverage of a row of weight w is w (1 + s).
    """
    if view.fit_weight is None:
        return view
    used = view.fit_weight > 0
    h = np.minimum(view.fit_weight * (1.0 + np.where(used, view.s, 0.0)), 0.99)
    factor = (1.0 - h) ** -2
    with np.errstate(over="ignore"):
        return view._replace(e=view.e * factor, s=view.s * factor)


@dataclass(eq=False)
class CutRule(Rule):
    """Rows within `span_e` give the span, rows within `core` center and variances.

    Far rows inside the subspace are good leverage and sharpen the span; beyond far_s
    they count far_s / s, which bounds their influence under heavy tails.
    """

    span_e: float
    far_s: float
    core: Cuts
    row_local = True

    def weigh(self, view: RowDistances) -> RowWeights:
        """Log-weight of rows that are kept: 0, or less if far; else minus infinity."""
        core = (view.e <= self.core.e) & (view.s <= self.core.s)
        log_weights = np.where(view.e <= self.span_e, 0.0, -np.inf)
        far = (view.s > self.far_s) & ~core
        with np.errstate(divide="ignore", over="ignore"):
            log_weights[far] += np.log(self.far_s / view.s[far])
        return RowWeights(log_weights, core)


@dataclass(eq=False)
class TrimRule(Rule):
    """`CutRule` with cut-offs from all rows, that keeps at least `need` of them."""

    need: int

    def weigh(self, view: RowDistances) -> RowWeights:
        """Find the cut-offs, then keep the rows within them."""
        view = without_leverage(view)
        return self.cut_rule(view).weigh(view)

    def cut_rule(self, view: RowDistances) -> CutRule:
        """Cut-offs for distances from which the leverage has been taken."""
        cuts = natural_cuts(view)
        need = min(self.need, len(view.e))
        nearest = np.partition(view.e, need - 1)[need - 1]
        worst = worst_ratio(view, cuts)
        widen = max(1.0, np.partition(worst, need - 1)[need - 1])
        core = Cuts(cuts.e * widen, cuts.s * widen)
        return CutRule(max(cuts.e, nearest), cuts.s, core)


def natural_cuts(view: RowDistances) -> Cuts:
    """Cut-offs of both distances, whatever number of rows lies within.

    Rows on the center, such as copies of one row, say nothing about the spread. If half
    of the others lie in the subspace exactly, so must every regular row.
    """
    d = view.v + view.e
    rounding = ROUNDING * d
    away = d > ROUNDING * np.median(d[d > 0]) if (d > 0).any() else d > 0
    off = away & (view.e > rounding) & np.isfinite(d)
    e = rounding[np.isfinite(d)].max(initial=np.finfo(float).tiny)
    if off.any() and not is_exact_fit(view, away & ~off, away):
        e = max(e, cube_root_cut(view.e[off], KEEP))
    inside = away & (view.v > rounding) & np.isfinite(view.s)
    s = cube_root_cut(view.s[inside], KEEP) if inside.any() else np.inf
    return Cuts(float(e), float(s))


def is_exact_fit(view: RowDistances, exact: NDArray[Any], rows: NDArray[Any]) -> bool:
    """Whether half of the rows lie in the subspace, and not as copies of a few."""
    if 2 * exact.sum() < rows.sum() or not exact.any():
        return False
    return n_different(view.v[exact]) >= max(MANY, 0.2 * exact.sum())


def worst_ratio(view: RowDistances, cuts: Cuts) -> NDArray[np.float64]:
    """Larger of both squared distances in units of its cut-off."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.fmax(view.e / cuts.e, view.s / cuts.s)
