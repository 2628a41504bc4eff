"""The null distribution of distances, from which every verdict follows.

A row has a p-value: the share of regular rows that lie at least as far away as it does,
by its orthogonal or its score distance. Ranking, flags, the cut-offs of the outlier map
and control of false discoveries all follow from it.

The distribution is learned from the inside out. It starts with the rows within the
reach of a Gaussian cloud that has the same lower half of distances. Their own tail then
says how far regular rows may lie; rows up to there join, and so on, as long as the
density of the rows falls ever faster, in logarithms, as in every distribution of the
family. So skewed and heavy tails are followed, and a gap, a group or a shoulder stops.

The logarithm of a squared distance is taken to follow a log-gamma law (Prentice, 1974)
with three parameters: location, scale and shape. If shape equals scale, it is the law
of Gaussian rows (chi-square); around 0 it is lognormal, and below 0 the tail falls like
a power. So one family follows light, skewed and heavy tails.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, gammaln

from trueaxis.core.moments import between, tie_of
from trueaxis.core.rules import RowDistances
from trueaxis.core.subspace import Subspace
from trueaxis.data.threads import cached_property

# Shapes that can be told apart from three quantiles. Between -0.05 and 0.05 the law is
# lognormal for all purposes.
SHAPES = np.concatenate([np.linspace(-2.0, -0.05, 40), np.linspace(0.05, 2.5, 50)])

# Three quantiles of few rows say little. With m rows, a tail counts as longer than that
# of Gaussian rows beyond a factor of exp(UNSURE / m), and as shorter below that of
# exp(-sqrt(UNSURE / m)).
UNSURE = 10.0
OFF_EXACT = -1e3  # log p-value of rows just beyond rounding errors, if the fit is exact
UNDERFLOW = -460.0  # log p-value (1e-200) beyond which asymptotes are used
LEAST_SHAPE = 1e-6  # that of Gaussian rows in 2e12 dimensions
LARGEST = 700.0  # of a logarithm whose exponential is finite


class Tail(NamedTuple):
    """Law of the logarithm of a squared distance.

    Attributes
    ----------
    location, scale, shape : float
        A scale of 0 means that regular rows have no distance beyond rounding errors, of
        which `location` is the largest.
    """

    location: float
    scale: float
    shape: float

    def is_valid(self) -> bool:
        """Return whether a fit can have led to these numbers."""
        if not np.isfinite(self).all():
            return False
        if self.scale == 0:
            return True
        least = np.finfo(float).tiny  # dividing by less overflows
        shaped = SHAPES[0] <= self.shape <= SHAPES[-1]
        return bool(self.scale >= least and shaped and abs(self.shape) >= LEAST_SHAPE)

    def log_sf(self, d2: NDArray[Any]) -> NDArray[np.float64]:
        """Return the logarithm of the share of regular rows that are farther away."""
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            y = np.log(d2) - self.location
            if self.scale == 0:
                return np.where(y <= 0, 0.0, OFF_EXACT * (1.0 + y))
            a = self.shape**-2
            t = a * np.exp(np.clip(self.shape / self.scale * y, -700.0, 700.0))
            if self.shape > 0:
                log_sf = np.log(gammaincc(a, t))
                far = (a - 1) * np.log(t) - t - gammaln(a)
            else:
                log_sf = np.log(gammainc(a, t))
                far = a * np.log(t) - gammaln(a + 1)
            return np.asarray(
                np.where(log_sf > UNDERFLOW, log_sf, np.minimum(far, UNDERFLOW))
            )

    def cut(self, log_p: float) -> float:
        """Return the squared distance that a share exp(log_p) of the rows exceeds."""
        return float(np.exp(self.log_cut(log_p)))

    def log_cut(self, log_p: float) -> float:
        """Return the logarithm of `cut`, finite so that infinity lies beyond it."""
        if self.scale == 0:
            return min(self.location + max(log_p / OFF_EXACT - 1.0, 0.0), LARGEST)
        upper = float(np.exp(max(log_p, UNDERFLOW)))
        quantile = _quantile(1 - upper, self.shape, upper)
        nearest = min(self.location + self.scale * quantile, LARGEST)
        return nearest if log_p >= UNDERFLOW else self._far_cut(log_p, nearest)

    def _far_cut(self, log_p: float, nearest: float) -> float:
        def missing(log_d2: float) -> float:
            return float(self.log_sf(np.exp([log_d2]))[0]) - log_p

        if missing(LARGEST) >= 0:
            return LARGEST
        # Where the asymptote takes over, the law has a small step.
        if missing(nearest) <= 0:
            return nearest
        from scipy.optimize import brentq  # takes long to import, and is rarely needed

        return float(brentq(missing, nearest, LARGEST, xtol=1e-14))

    def share_within(self, d2: float) -> float:
        """Return the share of the regular rows that lie within a squared distance.

        It is rounded, so that tables of quantiles can be kept.
        """
        if self.scale == 0:
            return 1.0
        return round(float(-np.expm1(self.log_sf(np.array([d2]))[0])), 3)


def fit_tail(
    y: NDArray[Any], share: float, dof: int, *, gaussian: bool = False
) -> Tail:
    """Fit the law to sorted log squared distances of some rows.

    Lower quartile and median give location and scale, an upper quantile the shape.

    Parameters
    ----------
    y : ndarray
        Sorted logarithms.
    share : float
        Share of the regular rows that they are; the others lie beyond.
    dof : int
        Number of dimensions of the distance. Rows are taken to vary at least as much
        as those of a Gaussian cloud with equal variances in all of them.
    gaussian : bool
        Whether to use the lower half only, with the tail of Gaussian rows.
    """
    m = len(y)
    upper = _upper(m)
    low, middle, high = (
        float(between(y, share * m - 0.5)) for share in (0.25, 0.5, upper)
    )
    half = middle - low
    below, above = _widths(upper, share)
    positive = SHAPES > 0
    least = (2.0 / dof) ** 0.5
    half = max(half, np.interp(least, SHAPES[positive], (SHAPES * below)[positive]))
    shape = np.interp(half, (SHAPES * below)[positive], SHAPES[positive])
    if not gaussian:
        expected = np.interp(shape, SHAPES, above / below)
        longer = np.log(max((high - middle) / half, 1e-300) / expected)
        # To miss a long tail costs false alarms, so that more evidence is asked of a
        # short one.
        doubt = UNSURE / m
        longer = max(longer - doubt, 0.0) + min(longer + doubt**0.5, 0.0)
        if longer != 0:
            ratio = expected * np.exp(longer)
            shape = np.interp(ratio, (above / below)[::-1], SHAPES[::-1])
    if abs(shape) < 0.05:
        shape = np.copysign(0.05, shape)
    quarter, center = (_quantile(p * share, float(shape)) for p in (0.25, 0.5))
    scale = half / (center - quarter)
    return Tail(float(middle - scale * center), float(scale), float(shape))


def _upper(m: int) -> float:
    """Return the upper quantile of m rows that shows their tail: 1 - 1/sqrt(m).

    It moves in steps, so that tables of quantiles can be kept.
    """
    step = 10 ** max(0, len(str(m)) - 2)
    return float(max(0.75, 1 - (m // step * step) ** -0.5))


@lru_cache(maxsize=256)
def _widths(upper: float, share: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distances between the three quantiles of the laws of all shapes."""
    low, middle, high = (
        np.array([_quantile(p * share, shape) for shape in SHAPES.tolist()])
        for p in (0.25, 0.5, upper)
    )
    return middle - low, high - middle


def _quantile(p: float, shape: float, upper: float | None = None) -> float:
    """Return the quantile p of a standard law; `upper` is 1 - p, if known better."""
    a = shape**-2
    rest = 1 - p if upper is None else upper
    lower, share = (gammaincinv, p) if p < 0.5 else (gammainccinv, rest)
    if shape < 0:
        lower = gammainccinv if p < 0.5 else gammaincinv
    t = float(lower(a, share))
    w = math.log(t / a) / shape if 0 < t < math.inf else -math.copysign(1e6, shape)
    return min(max(w, -1e6), 1e6)


REGULAR = 0.025  # share of regular rows that may be left out while it is learned
FEW = 8  # with fewer different rows, no distribution is learned
BAND = 0.02  # share of those that lie beyond the band in which rows are counted
Which = Literal["e", "s"]


def log_p_of_each(log_p: float, n_views: int) -> float:
    """Return the log p-value of one distance at which that of a row has this value.

    With two distances p is 1 - (1 - p_each)^2, as if they were independent.
    """
    if n_views < 2:
        return log_p
    return log_p - float(np.log1p(np.sqrt(-np.expm1(log_p))))


class Cuts(NamedTuple):
    """Largest squared distances, orthogonal and score, and largest place of a group."""

    e: float
    s: float
    beyond: float = np.inf


@dataclass(frozen=True)
class Sides:
    """Directions along which a group of rows stands apart from the others.

    Attributes
    ----------
    directions : ndarray of shape (g, D)
    centers, edges : ndarray of shape (g,)
        Along each direction, the median of the larger group and the boundary between
        both groups.
    """

    directions: NDArray[np.float64]
    centers: NDArray[np.float64]
    edges: NDArray[np.float64]

    def beyond(self, block: NDArray[Any]) -> NDArray[np.float64]:
        """Return how far rows lie toward a group: 1 on its boundary, 0 at the center.

        Of several groups, the one that the row is nearest to counts.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            return self.place(self.directions @ block.T)

    def place(self, lines: NDArray[Any]) -> NDArray[np.float64]:
        """Return the same, given projections of rows, one line per direction."""
        places = lines - self.centers[:, None]
        places /= (self.edges - self.centers)[:, None]
        return np.asarray(np.fmax(places, 0.0).max(axis=0))

    def about(self, pivot: NDArray[np.float64]) -> Sides:
        """Return the same groups, of rows about a pivot."""
        shift = self.directions @ pivot
        return Sides(self.directions, self.centers - shift, self.edges - shift)

    def __call__(self, block: NDArray[Any]) -> NDArray[np.bool_]:
        """Mark the rows of the groups."""
        return self.beyond(block) > 1.0

    def lifted(self, origin: NDArray[np.float64], frame: NDArray[np.float64]) -> Sides:
        """Return the same groups, of rows x for which (x - origin) frame' was given."""
        directions = self.directions @ frame
        shift = directions @ origin
        return Sides(directions, self.centers + shift, self.edges + shift)


@dataclass(frozen=True)
class Law:
    """The law of the distances of regular rows.

    Attributes
    ----------
    score, orthogonal : Tail
    sides : Sides or None
        Groups of rows that are not regular, wherever their distances lie.
    """

    score: Tail
    orthogonal: Tail
    sides: Sides | None = None

    def log_p(
        self,
        e: NDArray[Any],
        s: NDArray[Any],
        beyond: NDArray[Any] | None = None,
    ) -> NDArray[np.float64]:
        """Return the logarithms of p-values, given squared distances."""
        log_p = np.minimum(self.score.log_sf(s), self.orthogonal.log_sf(e))
        if self.n_views() == 2:
            log_p += np.log(2.0 - np.exp(log_p))
        if beyond is not None:
            # REGULAR on the boundary, falling like a Gaussian density.
            np.minimum(log_p, np.square(beyond) * np.log(REGULAR), out=log_p)
        return np.asarray(log_p)

    def cuts(self, log_p: float) -> Cuts:
        """Return the distances of rows with a given p-value."""
        each = log_p_of_each(log_p, self.n_views())
        beyond = float(np.sqrt(log_p / np.log(REGULAR)))
        return Cuts(self.orthogonal.cut(each), self.score.cut(each), beyond)

    def to_arrays(self, D: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the tails, and a row per group: direction, center and edge."""
        sides = np.zeros((0, D + 2))
        if self.sides is not None:
            ends = np.column_stack([self.sides.centers, self.sides.edges])
            sides = np.hstack([self.sides.directions, ends])
        return np.array([self.score, self.orthogonal], dtype=float), sides

    @classmethod
    def from_arrays(cls, tails: NDArray[Any], sides: NDArray[Any]) -> Law:
        """Return the law that `to_arrays` wrote."""
        score, orthogonal = (Tail(*map(float, tail)) for tail in tails)
        if not len(sides):
            return cls(score, orthogonal)
        return cls(score, orthogonal, Sides(sides[:, :-2], sides[:, -2], sides[:, -1]))

    def n_views(self) -> int:
        """Return the number of distances that vary among regular rows, at least 1."""
        return max(1, (self.score.scale > 0) + (self.orthogonal.scale > 0))


@dataclass(frozen=True)
class Cloud:
    """Rows, and their distances from a subspace.

    Attributes
    ----------
    distances : RowDistances
        Squared distances without leverage.
    precision : float
        Relative rounding error of the rows as given.
    varying : ndarray of bool
        The columns, as given, that are not constant.
    subspace : Subspace
        In the columns as given.
    leveled : bool
        Whether some of the columns are discrete.
    """

    distances: RowDistances
    precision: float
    varying: NDArray[np.bool_]
    subspace: Subspace
    leveled: bool = False

    def distance(self, which: Which) -> NDArray[np.float64]:
        """Return squared distances, with rounding errors set to 0."""
        raw = self.distances.e if which == "e" else self.distances.v
        rounding = (raw <= self.rounding) & np.isfinite(raw)
        return np.where(rounding, 0.0, getattr(self.distances, which))

    @cached_property
    def rounding(self) -> NDArray[np.float64]:
        """The squared distance below which each row's is a rounding error."""
        # Rows are centered in float64, whatever their type; constant columns become 0.
        mean = self.subspace.mean[self.varying]
        shift = 4 * np.finfo(float).eps * np.linalg.norm(mean)
        d = self.distances.v + self.distances.e
        return np.asarray(self.precision**1.5 * d + shift**2)

    def floor(self, which: Which) -> float:
        """Return the largest rounding error of a squared distance."""
        rounding = self.rounding
        floor = float(rounding[np.isfinite(rounding)].max(initial=0.0))
        if which == "s" and self.subspace.total > 0:
            floor /= float(self.subspace.floored_variances().min(initial=np.inf))
        limits = np.finfo(float)
        return float(np.clip(floor, limits.tiny, limits.max))

    @cached_property
    def distinct(self) -> NDArray[np.bool_]:
        """Mark the rows to learn from; the others are repetitions of them."""
        return distinct_rows(self.distances)

    @cached_property
    def views(self) -> list[View]:
        """Orthogonal and score distances."""
        k = len(self.subspace.basis)
        D = int(self.varying.sum())
        dof: dict[Which, int] = {"e": max(D - k, 1), "s": max(k, 1)}
        return [View(self.distance(w), self.floor(w), dof[w]) for w in dof]


class View(NamedTuple):
    """Squared distances of all rows.

    Attributes
    ----------
    d2 : ndarray
    floor : float
        Their largest rounding error.
    dof : int
        Number of dimensions in which they are measured.
    """

    d2: NDArray[np.float64]
    floor: float
    dof: int


def learn_law(cloud: Cloud, sides: Sides | None = None) -> Law:
    """Learn the null distribution from a sample of all rows."""
    distinct, views = cloud.distinct, cloud.views
    if distinct.sum() < min(FEW, len(distinct) / 2):
        e, s = (_reach_of_repeated_rows(view, distinct) for view in views)
    else:
        e, s = _grow(views, distinct, cloud.leveled)
    return Law(s, e, sides)


def law_of_fit(cloud: Cloud) -> Law:
    """Return the distribution that decides which rows take part in a fit.

    Orthogonal distances must be within reach of a Gaussian cloud with the same lower
    half of distances: heavy tails only cost accuracy. Rows with large score distances
    sharpen the axes, and their distribution is the one that is learned.
    """
    all_rows = np.ones(int(cloud.distinct.sum()), dtype=bool)
    e = _Measure(cloud.views[0], cloud.distinct).tail(all_rows, gaussian=True)
    return Law(learn_law(cloud).score, e)


def _reach_of_repeated_rows(view: View, distinct: NDArray[np.bool_]) -> Tail:
    """Return a distribution by which only repeated rows are regular.

    A few different rows have no distribution, but rows that are repeated are regular.
    """
    copied = np.isin(view.d2, view.d2[~distinct])
    farthest = max(float(view.d2[copied].max()), view.floor)
    farthest = min(farthest, float(np.finfo(float).max))
    return Tail(float(np.log(farthest)) + 1e-9, 0.0, 0.0)


def _grow(views: list[View], distinct: NDArray[np.bool_], leveled: bool) -> list[Tail]:
    """Return the distributions of several distances, all learned from the same rows.

    Parameters
    ----------
    views : list of View
    distinct : ndarray of bool
        Rows to learn from; the others are repetitions.
    leveled : bool
        Whether levels of columns make the density of the rows uneven. Then only a gap
        says that something else begins.
    """
    measures = [_Measure(view, distinct) for view in views]
    n_views = sum(measure.varies for measure in measures)
    each = log_p_of_each(float(np.log(REGULAR)), n_views)
    all_rows = np.ones(int(distinct.sum()), dtype=bool)
    tails = [measure.tail(all_rows, gaussian=True) for measure in measures]
    reach = [tail.cut(each) for tail in tails]
    members = _bands(measures, tails, each)[0]
    while members.any():
        for _ in range(2):  # what lies beyond the reach depends on the tails
            shares = [t.share_within(r) for t, r in zip(tails, reach, strict=True)]
            pairs = zip(measures, shares, strict=True)
            tails = [measure.tail(members, share) for measure, share in pairs]
        within, next_band, counts = _bands(measures, tails, each)
        grown = members | within | next_band
        goes_on = counts[2] > 0 if leveled else _log_concave(counts)
        if (grown == members).all() or not goes_on:
            break
        farther = (tail.cut(each + float(np.log(BAND))) for tail in tails)
        members, reach = grown, [max(*r) for r in zip(reach, farther, strict=True)]
    return tails


def _bands(
    measures: list[_Measure], tails: list[Tail], each: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], list[int]]:
    """Mark rows within the cut-offs, and those in a band beyond them.

    Also count the rows in four bands that are equally wide, in logarithms: two inside
    the cut-offs, then the band beyond, and one more.
    """
    within = [np.ones(len(measures[0].d2), dtype=bool) for _ in range(5)]
    for measure, tail in zip(measures, tails, strict=True):
        near = tail.log_cut(each)
        width = tail.log_cut(each + float(np.log(BAND))) - near
        for i, rows in enumerate(within):
            rows &= measure.d2 <= np.exp(min(near + (i - 2) * width, LARGEST))
    sizes = [int(rows.sum()) for rows in within]
    counts = [outer - inner for inner, outer in pairwise(sizes)]
    return within[2], within[3] & ~within[2], counts


def _log_concave(counts: Sequence[int]) -> bool:
    """Return whether counts in bands of equal width may come from one tail.

    All laws of the family have a log-concave density, so no count may lie below its
    neighbors, in logarithms, by more than a standard error: that would be a gap, or the
    beginning of something else. Adding half a row makes logarithms of small counts
    nearly unbiased.
    """
    c = np.asarray(counts) + 0.5
    bend = np.diff(np.log(c), 2)
    error = np.sqrt(1 / c[:-2] + 4 / c[1:-1] + 1 / c[2:])
    return bool((bend <= error).all())


class _Measure:
    """One distance of some rows, sorted once."""

    def __init__(self, view: View, some: NDArray[np.bool_]) -> None:
        self.d2 = d2 = view.d2[some]
        self.floor, self.dof = view.floor, view.dof
        self.order = np.argsort(d2, kind="stable")
        positive = (d2 > 0) & np.isfinite(d2)
        self.varies = bool(2 * positive.sum() > len(d2))
        with np.errstate(divide="ignore"):
            self.log = np.log(d2[self.order])

    def tail(
        self, members: NDArray[np.bool_], share: float = 1.0, *, gaussian: bool = False
    ) -> Tail:
        y = self.log[members[self.order]]
        exact = int(np.searchsorted(y, -np.inf, side="right"))
        y = y[exact : int(np.searchsorted(y, np.inf))]
        if len(y) <= exact or not self.varies:
            # Most rows have no distance: only rounding errors are regular.
            return Tail(float(np.log(self.floor)), 0.0, 0.0)
        return fit_tail(y, share, self.dof, gaussian=gaussian)


def distinct_rows(distances: RowDistances) -> NDArray[np.bool_]:
    """Mark one row of each set of rows with equal distances, such as repetitions."""
    v, e = np.sqrt(distances.v), np.sqrt(distances.e)
    tie = tie_of(np.sort(np.sqrt(distances.d)))
    order = np.argsort(v, kind="stable")
    same = np.ones(max(len(v) - 1, 0), dtype=bool)
    for d in (v, e):
        with np.errstate(invalid="ignore"):
            same &= np.abs(np.diff(d[order])) <= tie
    first = np.ones(len(v), dtype=bool)
    first[order[1:]] = ~same
    return first
