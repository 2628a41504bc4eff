"""Which rows to call outliers: cut-offs that know skewed, discrete and mixed tables.

A continuous tail is no outlier group. So the *bulk* is found first: the rows that no
empty valley in the sorted distances separates from the majority. Rows beyond a valley
are flagged however many they are; of the bulk, each distance flags `RIM` to `TAIL`, or
up to `SPREAD` where the shoulder of the distances does not announce such a tail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.outliers.discrete import (
    MOSTLY,
    beyond_levels,
    discrete_among,
    varying_columns,
)
from trueaxis._engine.outliers.trim import NORMAL_75, Cuts, is_exact_fit
from trueaxis._engine.rules.base import RowDistances
from trueaxis._engine.subspace import Subspace

REGULAR = 2.326  # 99 % of regular rows, if the cube roots of distances are normal
RIM, TAIL = 0.005, 0.02  # of the bulk, a distance flags at least and at most this
GAP = 1.5  # width of an empty valley in deviations of the bulk,
REACH = 2.0  # or in parts of its reach above the median, whichever is wider
COMPACT = 0.4  # width of a valley over the spread of the rows beyond, in logarithms
STRAY = 0.05  # rows in the valley, as a share of the rows beyond it
GROUP = 8  # rows that are a group; fewer need a wider valley
SPREAD = 0.25  # share of the bulk that may be spread out far away, at most,
UNHEARD = 4.5  # beyond this many deviations of its shoulder
NORMAL_90 = 1.2816  # upper decile of a normal
BORDERLINE = 0.02  # share of columns that may turn discrete with the rows that are left
POINT = 0.9  # share of the rows that, if they are copies of one, leave no other regular
LEAST_ROWS = 8
FEW_ROWS = 30  # of which quartiles are so uncertain that valleys must be twice as wide

Which = Literal["e", "s"]


@dataclass(frozen=True)
class Cloud:
    """Rows as seen from a subspace, and the table that they come from.

    Attributes
    ----------
    view : RowDistances
        Squared distances, leverage taken out.
    original : ndarray of shape (n, D)
        The same rows with the columns as given.
    subspace : Subspace
        In the columns as given.
    """

    view: RowDistances
    original: NDArray[Any]
    subspace: Subspace

    def distance(self, which: Which) -> NDArray[np.float64]:
        """Squared distances, 0 where they are rounding."""
        d2 = getattr(self.view, which)
        raw = self.view.e if which == "e" else self.view.v
        return np.where(raw <= self.rounding(), 0.0, d2)

    def rounding(self) -> NDArray[np.float64]:
        """Squared distances that are no more than rounding."""
        eps = np.finfo(self.original.dtype).eps
        # Centering is done in float64, whatever the table is; a constant column is 0.
        everything = np.ones(len(self.original), dtype=bool)
        mean = self.subspace.mean[varying_columns(self.original, everything)]
        shift = 4 * np.finfo(float).eps * np.linalg.norm(mean)
        return eps**1.5 * (self.view.v + self.view.e) + shift**2

    def distance_in(self, which: Which, columns: NDArray[Any]) -> NDArray[np.float64]:
        """The part of squared distances that comes from some columns."""
        y = self.original - self.subspace.mean
        P = self.subspace.basis[:, columns]
        if which == "e":
            t = y @ self.subspace.basis.T
            return ((y[:, columns] - t @ P) ** 2).sum(axis=1)
        t = y[:, columns] @ P.T
        return (t**2 / self.subspace.floored_variances()).sum(axis=1)


def flag_cuts(cloud: Cloud) -> Cuts:
    """Cut-offs beyond which a row is called an outlier."""
    copies = most_copied(cloud.original)
    if copies.sum() >= POINT * len(copies):
        # Nothing varies but by rounding: what is further away than that stands out.
        e, s = cloud.view.e[copies].max(), cloud.view.s[copies].max()
        return Cuts(max(2 * e, cloud.rounding()[copies].max()), 2 * s)
    rows = bulk(cloud)
    # Levels of a category come in clumps, of which the inner one is no bulk.
    smooth = not discrete_among(cloud.original, rows, rows).any()
    e, s = (_cut(cloud.distance(which)[rows], smooth) for which in ("e", "s"))
    # What is no more than rounding is never beyond.
    least = cloud.rounding()[rows].max()
    if cloud.subspace.total > 0:
        s = max(s, least / cloud.subspace.floored_variances().min())
    return Cuts(max(e, least), s)


def _cut(d2: NDArray[Any], smooth: bool) -> float:
    z = np.cbrt(d2[(d2 > 0) & np.isfinite(d2)])
    if not len(z):
        return 0.0
    q25, q50 = np.quantile(z, [0.25, 0.5])
    cut = q50 + REGULAR * (q50 - q25) / NORMAL_75
    cut = min(cut, np.quantile(z, 1 - RIM, method="higher"))
    tail = np.quantile(z, 1 - TAIL, method="higher")
    if smooth:
        tail = min(tail, beyond_shoulder(np.sort(z)))
    cut = max(cut, tail)
    return float(cut**3 * (1 + 1e-9))  # rounding must not put a row beyond itself


def beyond_shoulder(z: NDArray[Any]) -> float:
    """Value that the tail of sorted values does not reach, judged by its shoulder.

    Rows spread out far away leave no valley. But a tail announces itself between the
    median and the upper decile, of the rows that the value leaves: the outermost such
    value is taken.
    """
    n = len(z)
    if n < FEW_ROWS:
        return np.inf
    size = np.arange(int(n * (1 - SPREAD)), n)
    q25, q50, q90 = (z[((size - 1) * q).astype(int)] for q in (0.25, 0.5, 0.9))
    lower, upper = (q50 - q25) / NORMAL_75, (q90 - q50) / NORMAL_90
    told = lower > 1e-9 * q50
    heavy = np.sqrt(np.divide(upper, lower, out=np.ones_like(upper), where=told))
    value = q50 + UNHEARD * np.maximum(lower, upper * heavy)
    found = told & (z[size - 1] <= value) & (value < z[size])
    return float(value[found][-1]) if found.any() else np.inf


def bulk(cloud: Cloud) -> NDArray[np.bool_]:
    """Rows that no valley separates from the majority.

    A cluster off the subspace has tiny score distances and one inside it tiny
    orthogonal ones: both spoil the quantiles of the other distance until they are set
    aside. So the valley of one is sought in the bulk of the other, in either order.
    """
    n = len(cloud.original)
    everything = best = np.ones(n, dtype=bool)
    orders: tuple[tuple[Which, Which], ...] = (("e", "s"), ("s", "e"))
    for first, second in orders:
        rows = _bulk_of(cloud, first, everything)
        if rows.all():
            continue
        rows = _bulk_of(cloud, second, rows)
        if rows.sum() >= n // 2 and (best.all() or rows.sum() > best.sum()):
            best = rows
    return best


def _bulk_of(cloud: Cloud, which: Which, rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Bulk of some rows by one distance; discrete columns give no valley."""
    d2 = cloud.distance(which)
    exact = rows & (d2 == 0)
    if which == "e" and is_exact_fit(cloud.view, exact, rows):
        if (
            exact.sum() < rows.sum()
            and not discrete_among(cloud.original, exact, rows).any()
        ):
            return exact
    inner = _below_valley(d2, rows)
    if inner.sum() == rows.sum():
        return rows
    discrete = discrete_among(cloud.original, inner, rows)
    if not discrete.any():
        return inner
    vary = varying_columns(cloud.original, rows)
    continuous = vary & ~discrete
    level = rows & ~beyond_levels(cloud.original[:, discrete], rows)
    if not continuous.any():
        return level
    if discrete.sum() <= MOSTLY * vary.sum():
        part = np.where(d2 > 0, cloud.distance_in(which, continuous), 0.0)
        inner = _below_valley(np.where(part > 1e-12 * part.mean(), part, 0.0), rows)
        more = discrete_among(cloud.original, inner, rows) & continuous
        if more.sum() <= BORDERLINE * continuous.sum():
            return inner
    return level & _below_valley(columnwise(cloud.original[:, continuous], rows), rows)


def most_copied(table: NDArray[Any]) -> NDArray[np.bool_]:
    """Rows that equal the median of every column: copies of one, if they are many."""
    copies = np.ones(len(table), dtype=bool)
    for column in table.T:  # mostly the first one tells that there are none
        copies &= column == np.partition(column, len(column) // 2)[len(column) // 2]
        if not copies.any():
            break
    return copies


def columnwise(table: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.float64]:
    """Squared distance in the worst column, from its median over all rows, in MADs.

    Levels of a category make valleys in any distance that mixes the columns; this one
    shows gross errors in the columns that have no levels, and nothing else.
    """
    away = np.abs(table - np.median(table[rows], axis=0))
    mad = np.median(away[rows], axis=0)
    return (away[:, mad > 0] / mad[mad > 0]).max(axis=1, initial=0.0) ** 2


def _below_valley(d2: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.bool_]:
    index = np.flatnonzero(rows & (d2 > 0))
    order = index[np.argsort(d2[index], kind="stable")]
    inner = rows.copy()
    z = np.cbrt(d2[order])
    far = ~np.isfinite(z)
    z[far] = 1e6 * z[~far].max(initial=1.0)
    inner[order[valley(z) :]] = False
    return inner


def valley(z: NDArray[Any]) -> int:
    """Number of sorted values below the innermost valley; all of them if there is none.

    For every possible size of the bulk from one half on: is there an empty stretch
    beyond its edge, and more than a tail behind it?
    """
    n = len(z)
    if n < LEAST_ROWS:
        return n
    size = np.arange((n + 1) // 2, n)
    last, q50, q25 = z[size - 1], z[(size - 1) // 2], z[(size - 1) // 4]
    deviation = (q50 - q25) / NORMAL_75
    edge = np.maximum(last, q50 + REGULAR * deviation)
    # Quartiles of few rows are not to be trusted.
    wider = 1.0 + FEW_ROWS / n
    width = wider * GAP * np.maximum(deviation, (last - q50) / REACH)
    inside = np.searchsorted(z, edge, side="right")
    beyond = n - np.searchsorted(z, edge + width, side="right")
    # A few rows of the tail lie apart by chance: the fewer, the wider the valley.
    width *= np.sqrt(np.maximum(1.0, GROUP / np.maximum(beyond, 1)))
    beyond = n - np.searchsorted(z, edge + width, side="right")
    stray = n - beyond - inside
    found = (deviation > 1e-9 * q50) & (beyond > TAIL * n) & (stray <= STRAY * beyond)
    # The gaps of a long tail grow with it; those behind a group do not.
    first = np.minimum(n - beyond, n - 1)
    spread = np.log(z[first + 3 * beyond // 4 - (beyond > 3)] / z[first + beyond // 4])
    found &= np.log(z[first] / edge) >= COMPACT * spread
    # The strays may well be the bulk's own tail: they stay with it.
    return int(n - beyond[found.argmax()]) if found.any() else n
