"""Cut-offs beyond which rows are outliers, for skewed, discrete and mixed data.

A continuous tail is not a group of outliers. So the *bulk* is found first: the rows
that no empty valley in the sorted distances separates from the majority. Rows beyond a
valley are flagged, however many they are. Each distance flags a share of the bulk from
`RIM` to `TAIL`, or up to `SPREAD` if the tail is longer than the shoulder of the
distances suggests.
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
RIM, TAIL = 0.005, 0.02  # smallest and largest share of the bulk that a distance flags
GAP = 1.5  # width of an empty valley, in deviations of the bulk; or, if larger,
REACH = 2.0  # in units of its reach above the median divided by this
COMPACT = 0.4  # width of a valley relative to the spread of rows beyond, in logarithms
STRAY = 0.05  # rows in the valley, as a share of the rows beyond it
GROUP = 8  # this many rows are a group; fewer need a wider valley
SPREAD = 0.25  # largest share of the bulk that may be flagged as spread out far away,
UNEXPECTED = 4.5  # beyond this many deviations of its shoulder
NORMAL_90 = 1.2816  # upper decile of a normal distribution
BORDERLINE = 0.02  # share of columns that may be discrete only in the remaining rows
POINT = 0.9  # if this share of the rows are copies of one, no other row is regular
LEAST_ROWS = 8
FEW_ROWS = 30  # with so few, quartiles are uncertain: valleys must be twice as wide

Which = Literal["e", "s"]


@dataclass(frozen=True)
class Cloud:
    """Rows, and their distances from a subspace.

    Attributes
    ----------
    distances : RowDistances
        Squared distances without leverage.
    original : ndarray of shape (n, D)
        The same rows with the columns as given.
    subspace : Subspace
        In the columns as given.
    """

    distances: RowDistances
    original: NDArray[Any]
    subspace: Subspace

    def distance(self, which: Which) -> NDArray[np.float64]:
        """Return squared distances, with rounding errors set to 0."""
        d2 = getattr(self.distances, which)
        raw = self.distances.e if which == "e" else self.distances.v
        return np.where(raw <= self.rounding(), 0.0, d2)

    def rounding(self) -> NDArray[np.float64]:
        """Return the squared distance below which each row's is a rounding error."""
        eps = np.finfo(self.original.dtype).eps
        # Rows are centered in float64, whatever their type; constant columns become 0.
        all_rows = np.ones(len(self.original), dtype=bool)
        mean = self.subspace.mean[varying_columns(self.original, all_rows)]
        shift = 4 * np.finfo(float).eps * np.linalg.norm(mean)
        d = self.distances.v + self.distances.e
        return np.asarray(eps**1.5 * d + shift**2)

    def distance_in(self, which: Which, columns: NDArray[Any]) -> NDArray[np.float64]:
        """Return the part of squared distances that the given columns contribute."""
        y = self.original - self.subspace.mean
        P = self.subspace.basis[:, columns]
        if which == "e":
            t = y @ self.subspace.basis.T
            return np.asarray(((y[:, columns] - t @ P) ** 2).sum(axis=1))
        t = y[:, columns] @ P.T
        return np.asarray((t**2 / self.subspace.floored_variances()).sum(axis=1))


def flag_cuts(cloud: Cloud) -> Cuts:
    """Return the cut-offs beyond which a row is an outlier."""
    copies = most_copied(cloud.original)
    if copies.sum() >= POINT * len(copies):
        # Regular rows differ by rounding errors only: flag whatever is farther away.
        e, s = cloud.distances.e[copies].max(), cloud.distances.s[copies].max()
        return Cuts(max(2 * e, cloud.rounding()[copies].max()), 2 * s)
    rows = bulk(cloud)
    # Distances of discrete rows come in clumps, so their shoulder means nothing.
    smooth = not discrete_among(cloud.original, rows, rows).any()
    e, s = (_cut(cloud.distance(which)[rows], smooth) for which in ("e", "s"))
    # Never flag rounding errors.
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
    return float(cut**3 * (1 + 1e-9))  # so that rounding errors flag no row


def beyond_shoulder(z: NDArray[Any]) -> float:
    """Return a value that the tail of sorted values should not reach.

    Rows spread out far away leave no valley. But the shoulder between median and upper
    decile predicts how long a tail is. Both quantiles are those of the rows below the
    value. Returns the largest such value, or infinity if there is none.
    """
    n = len(z)
    if n < FEW_ROWS:
        return np.inf
    size = np.arange(int(n * (1 - SPREAD)), n)
    q25, q50, q90 = (z[((size - 1) * q).astype(int)] for q in (0.25, 0.5, 0.9))
    lower, upper = (q50 - q25) / NORMAL_75, (q90 - q50) / NORMAL_90
    defined = lower > 1e-9 * q50
    heavy = np.sqrt(np.divide(upper, lower, out=np.ones_like(upper), where=defined))
    value = q50 + UNEXPECTED * np.maximum(lower, upper * heavy)
    consistent = defined & (z[size - 1] <= value) & (value < z[size])
    return float(value[consistent][-1]) if consistent.any() else np.inf


def bulk(cloud: Cloud) -> NDArray[np.bool_]:
    """Mark the rows that no valley separates from the majority.

    A cluster off the subspace has tiny score distances, and one inside it tiny
    orthogonal distances: each distorts the quantiles of the other distance. So the
    valley of one distance is searched for in the bulk of the other, in either order.
    """
    n = len(cloud.original)
    all_rows = best = np.ones(n, dtype=bool)
    orders: tuple[tuple[Which, Which], ...] = (("e", "s"), ("s", "e"))
    for first, second in orders:
        rows = _bulk_of(cloud, first, all_rows)
        if rows.all():
            continue
        rows = _bulk_of(cloud, second, rows)
        if rows.sum() >= n // 2 and (best.all() or rows.sum() > best.sum()):
            best = rows
    return best


def _bulk_of(cloud: Cloud, which: Which, rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the bulk of some rows by one distance; ignore valleys between levels."""
    d2 = cloud.distance(which)
    exact: NDArray[np.bool_] = rows & (d2 == 0)
    if which == "e" and is_exact_fit(cloud.distances, exact, rows):
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
    outlying = columnwise(cloud.original[:, continuous], rows)
    return np.asarray(level & _below_valley(outlying, rows))


def most_copied(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark rows that equal the median of every column; many are copies of one row."""
    copies = np.ones(len(X), dtype=bool)
    for column in X.T:  # usually stops after the first column
        copies &= column == np.partition(column, len(column) // 2)[len(column) // 2]
        if not copies.any():
            break
    return copies


def columnwise(X: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return the largest squared distance of a value from its column's median, in MADs.

    Levels of discrete columns leave valleys in any distance that mixes columns. This
    distance shows gross errors in the continuous columns, and nothing else.
    """
    away = np.abs(X - np.median(X[rows], axis=0))
    mad = np.median(away[rows], axis=0)
    return np.asarray((away[:, mad > 0] / mad[mad > 0]).max(axis=1, initial=0.0) ** 2)


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
    """Return the number of sorted values below the innermost valley, or of all values.

    For every possible bulk of at least half the values, checks whether an empty stretch
    follows its edge, with more than a tail beyond it.
    """
    n = len(z)
    if n < LEAST_ROWS:
        return n
    size = np.arange((n + 1) // 2, n)
    last, q50, q25 = z[size - 1], z[(size - 1) // 2], z[(size - 1) // 4]
    deviation = (q50 - q25) / NORMAL_75
    edge = np.maximum(last, q50 + REGULAR * deviation)
    # Quartiles of few rows are uncertain.
    wider = 1.0 + FEW_ROWS / n
    width = wider * GAP * np.maximum(deviation, (last - q50) / REACH)
    inside = np.searchsorted(z, edge, side="right")
    beyond = n - np.searchsorted(z, edge + width, side="right")
    # A few rows of a tail may lie apart by chance: require a wider valley for fewer.
    width *= np.sqrt(np.maximum(1.0, GROUP / np.maximum(beyond, 1)))
    beyond = n - np.searchsorted(z, edge + width, side="right")
    stray = n - beyond - inside
    found = (deviation > 1e-9 * q50) & (beyond > TAIL * n) & (stray <= STRAY * beyond)
    # The gaps in a long tail grow with the distance; those within a group do not.
    first = np.minimum(n - beyond, n - 1)
    spread = np.log(z[first + 3 * beyond // 4 - (beyond > 3)] / z[first + beyond // 4])
    found &= np.log(z[first] / edge) >= COMPACT * spread
    # Rows in the valley may be the tail of the bulk, and are counted with it.
    return int(n - beyond[found.argmax()]) if found.any() else n
