"""Set aside a group of rows that stands apart, and see whether the rest is one cloud.

A tight cluster attracts smooth weights, however robust the start. But it also shows:
along some direction the rows fall into two groups. `cleave` finds the clearest such
direction, `bending` one that no fit may explain away; `heterogeneity` tells how little
the rows of a fit look like one cloud.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, xlogy

from trueaxis._engine.moments import Moments
from trueaxis._engine.quantiles import column_means
from trueaxis._engine.subspace import solve

SCREENED_ROWS = 1000
CLIP = 3.0  # winsorise beyond the quartiles by this many interquartile ranges
LEAST_SHARE = 0.08  # of the rows, in the smaller group
LEAST_DEVIATION = 0.05  # of a group, in units of the whole: ties are no tight cluster
SHARPENED = 8  # directions that are sharpened, the most promising first ...
SHARPENINGS = 3  # ... and how often
MANY_COLUMNS, SHARPENED_OF_MANY = 300, 3  # sharpening costs an eigenproblem each time
# Gain from which a direction is worth sharpening. With few rows per column, any can be
# sharpened into a split of its own.
PROMISING = {"few rows": -0.3, "many rows": 0.0}
MANY_ROWS_PER_COLUMN = 10
LONGEST, POWERS = 3, 8  # axes of the whole cloud, and power steps to find them
CLEAR = -1.0  # gain from which a split is believed,
APART = 2.5  # if the medians are so many sums of both spreads apart: a tail is not;
FAR_APART = 5.0  # if so many, whatever fit explains both
NORMAL_IQR = 1.349
LEAST_ROWS = 25  # fewer can be split along some direction whatever they are


@dataclass(frozen=True)
class GroupSplit:
    """Two groups of rows along a direction.

    Attributes
    ----------
    gain : float
        Twice the log-likelihood per row that one normal has over two: the more
        negative, the clearer the split.
    larger : ndarray of bool
        Marks the rows of the larger group.
    direction : ndarray of shape (D,)
    threshold : float
        Where the groups part along the direction.
    low : bool
        Whether the larger group lies below.
    apart : float
        Distance of the medians in sums of both spreads (interquartile range over
        1.349). One normal distribution cut in two has 1.1, a uniform one 1.3.
    """

    gain: float
    larger: NDArray[np.bool_]
    direction: NDArray[np.float64]
    threshold: float
    low: bool
    apart: float

    def keeps(self, S: NDArray[Any]) -> NDArray[np.bool_]:
        """Which rows, of this or another table, are on the larger group's side."""
        return _is_below(S, self.direction, self.threshold) == self.low


@dataclass(frozen=True)
class OtherSides:
    """Marks the rows of any table that splits set apart.

    Attributes
    ----------
    columns : ndarray
        Numbers of the columns in which the splits were found.
    sides : tuple of (direction, threshold, low)
    """

    columns: NDArray[np.intp]
    sides: tuple[tuple[NDArray[np.float64], float, bool], ...]

    def __call__(self, block: NDArray[Any]) -> NDArray[np.bool_]:
        """Rows that are on the smaller group's side of any split."""
        S = block[:, self.columns]
        apart = [_is_below(S, *side[:2]) != side[2] for side in self.sides]
        return np.logical_or.reduce(apart)


def other_sides(
    splits: Sequence[GroupSplit], separable: NDArray[np.bool_]
) -> OtherSides | None:
    """What splits, found in the separable columns, set apart; None if there are none.

    It is small: the splits themselves remember which rows they were found in.
    """
    if not splits:
        return None
    sides = tuple((one.direction, one.threshold, one.low) for one in splits)
    return OtherSides(np.flatnonzero(separable), sides)


def _is_below(
    S: NDArray[Any], direction: NDArray[Any], threshold: float
) -> NDArray[np.bool_]:
    return S @ direction <= threshold


def cleave(
    S: NDArray[Any], directions: NDArray[Any], k: int, rng: np.random.Generator
) -> GroupSplit | None:
    """The clearest split of the rows in two, or None if they look like one cloud.

    Directions are screened on some of the rows and the most promising ones sharpened;
    all rows are then split along the clearest.
    """
    if len(S) < LEAST_ROWS:
        return None
    few = S
    if len(S) > SCREENED_ROWS:
        few = S[np.sort(rng.choice(len(S), SCREENED_ROWS, replace=False))]
    dear = few.shape[1] >= MANY_COLUMNS
    splits = split_along(few, directions, SHARPENED_OF_MANY if dear else SHARPENED)
    many = len(few) >= MANY_ROWS_PER_COLUMN * few.shape[1]
    if not splits or splits[0].gain > PROMISING["many rows" if many else "few rows"]:
        return None
    seen: set[bytes] = set()
    clearest = min(
        (sharpen(few, split, k, seen) for split in splits), key=lambda split: split.gain
    )
    if clearest.gain > CLEAR:
        return None
    whole = split_along(S, clearest.direction[:, None], 1)
    clear = whole and whole[0].gain <= CLEAR and whole[0].apart >= APART
    return whole[0] if clear else None


def bending(S: NDArray[Any], directions: NDArray[Any]) -> GroupSplit | None:
    """A group that stands apart along one of the longest axes of the whole cloud.

    Among many dimensions it may be explained as a component, along which no row is far
    out; but it is what bent the axis. Nothing is sharpened here, so that rows of pure
    noise show no such group, however few they are.
    """
    if len(S) < LEAST_ROWS or not directions.size:
        return None
    splits = split_along(S, longest_axes(S, directions), LONGEST)
    bent = [one for one in splits if one.gain <= CLEAR and one.apart >= FAR_APART]
    return bent[0] if bent else None


def longest_axes(S: NDArray[Any], directions: NDArray[Any]) -> NDArray[np.float64]:
    """About the longest axes of the whole cloud, one per column."""
    y = S - column_means(S)
    y /= max(np.abs(y).max(), np.finfo(float).tiny)  # fourth powers are to come
    axes = directions[:, : 2 * LONGEST]
    for _ in range(POWERS):
        axes = np.linalg.qr(y.T @ (y @ axes))[0]
    turn = np.linalg.svd(y @ axes, full_matrices=False)[2]
    return axes @ turn[:LONGEST].T


def sharpen(S: NDArray[Any], split: GroupSplit, k: int, seen: set[bytes]) -> GroupSplit:
    """Turn the direction so that it separates the groups better, while that helps.

    Fisher's direction, with the covariance of the larger group modelled as k components
    and equal noise. Groupings that were `seen` before lead nowhere new.
    """
    for _ in range(SHARPENINGS):
        if split.larger.tobytes() in seen:
            break
        seen.add(split.larger.tobytes())
        turned = split_along(S, _fisher(S, split.larger, k)[:, None], 1)
        if not turned or turned[0].gain >= split.gain:
            break
        split = turned[0]
    return split


def _fisher(S: NDArray[Any], larger: NDArray[np.bool_], k: int) -> NDArray[np.float64]:
    moments = Moments(column_means(S[larger]))
    moments.add(S[larger] - moments.pivot, np.zeros(int(larger.sum())), None)
    sub = solve(moments, k)
    D = S.shape[1]
    noise = (sub.total - sub.variances.sum()) / max(D - k, 1)
    noise = max(noise, 1e-12 * sub.total, np.finfo(float).tiny)
    between = column_means(S[~larger]) - sub.mean
    inside = sub.basis @ between
    turned = (inside / np.maximum(sub.variances, noise)) @ sub.basis
    turned += (between - inside @ sub.basis) / noise
    return turned / max(np.linalg.norm(turned), np.finfo(float).tiny)


def split_along(
    S: NDArray[Any], directions: NDArray[Any], most: int
) -> list[GroupSplit]:
    """Best split of the rows in two normals along each direction, clearest first."""
    raw = S @ directions
    n = len(raw)
    order = np.argsort(raw, axis=0, kind="stable")
    Z = _winsorised(np.take_along_axis(raw, order, axis=0))
    cost = _two_normals(Z)
    least = max(int(LEAST_SHARE * n), 2)
    cost[: least - 1] = cost[n - least :] = np.inf
    cost[np.diff(Z, axis=0) < 1e-9] = np.inf  # never cut between ties
    at = cost.argmin(axis=0)
    gain = cost[at, np.arange(len(at))]
    splits = []
    for column in np.argsort(gain, kind="stable")[:most]:
        if gain[column] < np.inf:
            ranked, cut = order[:, column], at[column] + 1
            low = bool(2 * cut >= n)
            larger = np.zeros(n, dtype=bool)
            larger[ranked[:cut] if low else ranked[cut:]] = True
            edge = float(raw[ranked[cut - 1 : cut + 1], column].mean())
            direction, apart = (
                directions[:, column],
                _apart(raw[ranked, column], cut),
            )
            split = GroupSplit(float(gain[column]), larger, direction, edge, low, apart)
            splits.append(split)
    return splits


def _apart(z: NDArray[Any], cut: int) -> float:
    (a25, a50, a75), (b25, b50, b75) = (
        np.quantile(side, [0.25, 0.5, 0.75]) for side in (z[:cut], z[cut:])
    )
    spread = (a75 - a25 + b75 - b25) / NORMAL_IQR
    return float((b50 - a50) / max(spread, np.finfo(float).tiny))


def _winsorised(Z: NDArray[Any]) -> NDArray[np.float64]:
    """Standardised columns of sorted values; tails must not hide a cluster."""
    q1, q3 = np.quantile(Z, [0.25, 0.75], axis=0)
    reach = np.where(q3 > q1, CLIP * (q3 - q1), np.inf)
    Z = np.clip(Z, q1 - reach, q3 + reach)
    Z -= Z.mean(axis=0)
    deviation = Z.std(axis=0)
    return Z / np.where(deviation > 0, deviation, 1.0)


def _two_normals(Z: NDArray[Any]) -> NDArray[np.float64]:
    """Cost of cutting each sorted column after each of its values but the last."""
    n = len(Z)
    left = np.arange(1, n)[:, None]
    right = n - left
    sums, squares = np.cumsum(Z, axis=0), np.cumsum(Z * Z, axis=0)
    below = squares[:-1] / left - (sums[:-1] / left) ** 2
    above = (squares[-1] - squares[:-1]) / right
    above -= ((sums[-1] - sums[:-1]) / right) ** 2
    floor = LEAST_DEVIATION**2
    p, q = left / n, right / n
    cost = p * np.log(np.maximum(below, floor)) + q * np.log(np.maximum(above, floor))
    return cost - 2 * (xlogy(p, p) + xlogy(q, q))


def heterogeneity(d2: NDArray[Any]) -> float:
    """How far squared distances are from those of one cloud (0 to 1).

    The Kolmogorov-Smirnov distance of their cube roots from a normal distribution.
    """
    z = np.sort(np.cbrt(d2[np.isfinite(d2)]))
    n = len(z)
    if n < 4 or not z.std() > 1e-9 * z[-1]:
        return 1.0
    deviation = z.std()
    F = ndtr((z - z.mean()) / deviation)
    upper = np.arange(1, n + 1) / n
    return float(max((upper - F).max(), (F - upper + 1 / n).max()))
