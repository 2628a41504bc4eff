"""What regular rows look like: the law that every verdict follows from.

A row has a p-value: the share of regular rows that lie at least as far away as it does,
off the subspace or inside it. Ranking, flags, the lines of the outlier map and control
of false discoveries all follow from it.

The law is learned from the inside out. It starts with the rows within the reach of a
Gaussian cloud that has the same lower half of distances. Their own tail then says how
far regular rows may lie; rows up to there join, and so on, as long as the density of
the rows falls ever faster, in logarithms, as that of every single law does. So skewed
and heavy tails are followed, and a gap, a group or a shoulder stops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.outliers.discrete import tie_of
from trueaxis._engine.outliers.tail import LARGEST, Tail, fit_tail
from trueaxis._engine.rules.base import RowDistances
from trueaxis._engine.subspace import Subspace
from trueaxis.data.threads import cached_property

REGULAR = 0.025  # share of regular rows that may be left out while the law is learned
FEW = 8  # fewer different rows have no law
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
        """Return how far rows lie towards a group: 1 on its boundary, 0 at the center.

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
        """Mark the rows to learn from; the others are copies of them."""
        return first_copies(self.distances)

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
    """Learn the law of regular rows from a sample of all rows."""
    distinct, views = cloud.distinct, cloud.views
    if distinct.sum() < min(FEW, len(distinct) / 2):
        e, s = (_reach_of_copies(view, distinct) for view in views)
    else:
        e, s = _grow(views, distinct, cloud.leveled)
    return Law(s, e, sides)


def law_of_fit(cloud: Cloud) -> Law:
    """Return the law by which rows take part in a fit.

    Off the subspace, rows must be within reach of a Gaussian cloud with the same lower
    half of distances: heavy tails only cost accuracy. Inside it, far rows sharpen the
    axes, and the law is the one that is learned.
    """
    all_rows = np.ones(int(cloud.distinct.sum()), dtype=bool)
    e = _Measure(cloud.views[0], cloud.distinct).tail(all_rows, gaussian=True)
    return Law(learn_law(cloud).score, e)


def _reach_of_copies(view: View, distinct: NDArray[np.bool_]) -> Tail:
    """Return a law by which the copies are regular, and nothing beyond them.

    A few different rows have no law, but rows that come again and again are regular.
    """
    copied = np.isin(view.d2, view.d2[~distinct])
    farthest = max(float(view.d2[copied].max()), view.floor)
    farthest = min(farthest, float(np.finfo(float).max))
    return Tail(float(np.log(farthest)) + 1e-9, 0.0, 0.0)


def _grow(views: list[View], distinct: NDArray[np.bool_], leveled: bool) -> list[Tail]:
    """Return the laws of several distances, all learned from the same rows.

    Parameters
    ----------
    views : list of View
    distinct : ndarray of bool
        Rows to learn from; the others are copies.
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
        for _ in range(2):  # what lies beyond the reach depends on the law
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


def first_copies(distances: RowDistances) -> NDArray[np.bool_]:
    """Mark one row of each set of rows with equal distances, such as copies."""
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
