"""Detection of groups of rows that stand apart, and tests for one cloud.

A tight cluster attracts smooth weights, however robust the start. But along some
direction the rows then fall into two groups. `cleave` finds the clearest such
direction, `bending` one along which a group bends an axis even if the fit explains it;
`heterogeneity` measures how far the rows of a fit are from one cloud.
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
CLIP = 3.0  # interquartile ranges beyond the quartiles at which values are winsorized
LEAST_SHARE = 0.08  # smallest share of the rows in the smaller group
LEAST_DEVIATION = 0.05  # of a group, relative to all rows; excludes groups of ties
SHARPENED = 8  # number of directions to sharpen, most promising first
SHARPENINGS = 3  # number of times that each is sharpened
MANY_COLUMNS, SHARPENED_OF_MANY = 300, 3  # slow: each solves an eigenproblem
# Directions with at most this gain are worth sharpening. With few rows per column, any
# direction can be sharpened until it splits the rows.
PROMISING = {"few rows": -0.3, "many rows": 0.0}
MANY_ROWS_PER_COLUMN = 10
LONGEST, POWERS = 3, 8  # axes of the whole cloud, and power steps to find them
CLEAR = -1.0  # a split is accepted if its gain is at most this,
APART = 2.5  # and its medians are this far apart (those of a tail are not);
FAR_APART = 5.0  # if this far, even a group that the fit explains is set aside
NORMAL_IQR = 1.349
LEAST_ROWS = 25  # fewer rows can always be split along some direction


@dataclass(frozen=True)
class GroupSplit:
    """Two groups of rows along a direction.

    Attributes
    ----------
    gain : float
        Twice the log-likelihood per row of one normal distribution minus that of two:
        the more negative, the clearer the split.
    larger : ndarray of bool
        Marks the rows of the larger group.
    direction : ndarray of shape (D,)
    threshold : float
        Boundary between the groups along the direction.
    low : bool
        Whether the larger group lies below.
    apart : float
        Distance between the medians, divided by the sum of both spreads (interquartile
        range over 1.349): 1.1 for a normal distribution cut in two, 1.3 for a uniform
        one.
    """

    gain: float
    larger: NDArray[np.bool_]
    direction: NDArray[np.float64]
    threshold: float
    low: bool
    apart: float


@dataclass(frozen=True)
class OtherSides:
    """Function that marks the rows, of any data, that the splits set aside.

    Attributes
    ----------
    columns : ndarray
        Indices of the columns in which the splits were found.
    sides : tuple of (direction, threshold, low)
    """

    columns: NDArray[np.intp]
    sides: tuple[tuple[NDArray[np.float64], float, bool], ...]

    def __call__(self, block: NDArray[Any]) -> NDArray[np.bool_]:
        """Mark the rows on the side of the smaller group of any split."""
        X = block[:, self.columns]
        apart = [_is_below(X, *side[:2]) != side[2] for side in self.sides]
        return np.asarray(np.logical_or.reduce(apart))


def other_sides(
    splits: Sequence[GroupSplit], separable: NDArray[np.bool_]
) -> OtherSides | None:
    """Return a function that marks the rows set aside; None without splits.

    Unlike the splits, it has no per-row arrays, and so is cheap to send to workers.
    """
    if not splits:
        return None
    sides = tuple((split.direction, split.threshold, split.low) for split in splits)
    return OtherSides(np.flatnonzero(separable), sides)


def _is_below(
    X: NDArray[Any], direction: NDArray[Any], threshold: float
) -> NDArray[np.bool_]:
    return np.asarray(X @ direction <= threshold)


def cleave(
    X: NDArray[Any], directions: NDArray[Any], k: int, rng: np.random.Generator
) -> GroupSplit | None:
    """Return the clearest split of the rows in two; None if they look like one cloud.

    Directions are screened on some of the rows and the most promising ones sharpened;
    all rows are then split along the clearest.
    """
    if len(X) < LEAST_ROWS:
        return None
    few = X
    if len(X) > SCREENED_ROWS:
        few = X[np.sort(rng.choice(len(X), SCREENED_ROWS, replace=False))]
    wide = few.shape[1] >= MANY_COLUMNS
    splits = split_along(few, directions, SHARPENED_OF_MANY if wide else SHARPENED)
    many = len(few) >= MANY_ROWS_PER_COLUMN * few.shape[1]
    if not splits or splits[0].gain > PROMISING["many rows" if many else "few rows"]:
        return None
    seen: set[bytes] = set()
    clearest = min(
        (sharpen(few, split, k, seen) for split in splits), key=lambda split: split.gain
    )
    if clearest.gain > CLEAR:
        return None
    final = split_along(X, clearest.direction[:, None], 1)
    clear = final and final[0].gain <= CLEAR and final[0].apart >= APART
    return final[0] if clear else None


def bending(X: NDArray[Any], directions: NDArray[Any]) -> GroupSplit | None:
    """Return the split of a group that stands apart along one of the longest axes.

    In many dimensions, a component may explain the group, so that none of its rows is
    far away; but the group is what bent the axis. Directions are not sharpened here, so
    that pure noise shows no such group, however few the rows are.
    """
    if len(X) < LEAST_ROWS or not directions.size:
        return None
    splits = split_along(X, longest_axes(X, directions), LONGEST)
    for split in splits:
        if split.gain <= CLEAR and split.apart >= FAR_APART:
            return split
    return None


def longest_axes(X: NDArray[Any], directions: NDArray[Any]) -> NDArray[np.float64]:
    """Return approximations of the longest axes of the whole cloud, one per column."""
    y = X - column_means(X)
    y /= max(np.abs(y).max(), np.finfo(float).tiny)  # fourth powers must not overflow
    axes = directions[:, : 2 * LONGEST]
    for _ in range(POWERS):
        axes = np.linalg.qr(y.T @ (y @ axes))[0]
    rotation = np.linalg.svd(y @ axes, full_matrices=False)[2]
    return np.asarray(axes @ rotation[:LONGEST].T)


def sharpen(X: NDArray[Any], split: GroupSplit, k: int, seen: set[bytes]) -> GroupSplit:
    """Rotate the direction as long as that separates the groups better.

    The new direction is Fisher's, with the covariance of the larger group modeled as k
    components and equal noise. Groupings in `seen` were tried before and are skipped.
    """
    for _ in range(SHARPENINGS):
        if split.larger.tobytes() in seen:
            break
        seen.add(split.larger.tobytes())
        rotated = split_along(X, _fisher(X, split.larger, k)[:, None], 1)
        if not rotated or rotated[0].gain >= split.gain:
            break
        split = rotated[0]
    return split


def _fisher(X: NDArray[Any], larger: NDArray[np.bool_], k: int) -> NDArray[np.float64]:
    moments = Moments(column_means(X[larger]))
    moments.add(X[larger] - moments.pivot, np.zeros(int(larger.sum())), None)
    sub = solve(moments, k)
    D = X.shape[1]
    noise = (sub.total - sub.variances.sum()) / max(D - k, 1)
    noise = max(noise, 1e-12 * sub.total, np.finfo(float).tiny)
    between = column_means(X[~larger]) - sub.mean
    inside = sub.basis @ between
    direction = (inside / np.maximum(sub.variances, noise)) @ sub.basis
    direction += (between - inside @ sub.basis) / noise
    length = max(np.linalg.norm(direction), np.finfo(float).tiny)
    return np.asarray(direction / length)


def split_along(
    X: NDArray[Any], directions: NDArray[Any], most: int
) -> list[GroupSplit]:
    """Return the `most` clearest splits into two normals along the directions."""
    raw = X @ directions
    n = len(raw)
    order = np.argsort(raw, axis=0, kind="stable")
    Z = _winsorized(np.take_along_axis(raw, order, axis=0))
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
            direction, apart = directions[:, column], _apart(raw[ranked, column], cut)
            split = GroupSplit(float(gain[column]), larger, direction, edge, low, apart)
            splits.append(split)
    return splits


def _apart(z: NDArray[Any], cut: int) -> float:
    (a25, a50, a75), (b25, b50, b75) = (
        np.quantile(side, [0.25, 0.5, 0.75]) for side in (z[:cut], z[cut:])
    )
    spread = (a75 - a25 + b75 - b25) / NORMAL_IQR
    return float((b50 - a50) / max(spread, np.finfo(float).tiny))


def _winsorized(Z: NDArray[Any]) -> NDArray[np.float64]:
    """Standardize columns, with tails clipped so that they do not hide a cluster."""
    q1, q3 = np.quantile(Z, [0.25, 0.75], axis=0)
    reach = np.where(q3 > q1, CLIP * (q3 - q1), np.inf)
    Z = np.clip(Z, q1 - reach, q3 + reach)
    Z -= Z.mean(axis=0)
    deviation = Z.std(axis=0)
    return np.asarray(Z / np.where(deviation > 0, deviation, 1.0))


def _two_normals(Z: NDArray[Any]) -> NDArray[np.float64]:
    """Return the cost of cutting each sorted column after each value but the last."""
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
    return np.asarray(cost - 2 * (xlogy(p, p) + xlogy(q, q)))


def heterogeneity(d2: NDArray[Any]) -> float:
    """Return how far squared distances are from those of one cloud, from 0 to 1.

    This is the Kolmogorov-Smirnov distance of their cube roots from a normal
    distribution.
    """
    z = np.sort(np.cbrt(d2[np.isfinite(d2)]))
    n = len(z)
    if n < 4 or not z.std() > 1e-9 * z[-1]:
        return 1.0
    deviation = z.std()
    F = ndtr((z - z.mean()) / deviation)
    upper = np.arange(1, n + 1) / n
    return float(max((upper - F).max(), (F - upper + 1 / n).max()))
