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
from trueaxis._engine.outliers.law import Sides
from trueaxis._engine.quantiles import column_means
from trueaxis._engine.starts import ENOUGH_ROWS
from trueaxis._engine.subspace import solve

CLIP = 3.0  # interquartile ranges beyond the quartiles at which values are winsorized
LEAST_SHARE = 0.08  # smallest share of the rows in the smaller group
LEAST_DEVIATION = 0.05  # of a group, relative to all rows; excludes groups of ties
LONGEST, POWERS = 3, 8  # axes of the whole cloud, and power steps to find them
CLEAR = -0.5  # a split is accepted if its gain is at most this,
APART = 2.5  # and its medians are this far apart (those of a tail are not)
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
    center, edge : float
        Along the direction, the median of the larger group, and the boundary between
        both groups.
    apart : float
        Distance between the medians, divided by the sum of both spreads (interquartile
        range over 1.349): 1.1 for a normal distribution cut in two, 1.3 for a uniform
        one.
    """

    gain: float
    larger: NDArray[np.bool_]
    direction: NDArray[np.float64]
    center: float
    edge: float
    apart: float


def sides_of(
    splits: Sequence[GroupSplit], separable: NDArray[np.bool_]
) -> Sides | None:
    """Return what the splits set aside, in all columns; None without splits."""
    if not splits:
        return None
    directions = np.zeros((len(splits), len(separable)))
    directions[:, separable] = [split.direction for split in splits]
    centers, edges = np.array([(split.center, split.edge) for split in splits]).T
    return Sides(directions, centers, edges)


def cleave(
    X: NDArray[Any], directions: NDArray[Any], k: int, rng: np.random.Generator
) -> GroupSplit | None:
    """Return the clearest split of the rows in two; None if they look like one cloud.

    The clearest direction is searched for and sharpened on some of the rows; all rows
    are then split along it.
    """
    if _too_few(X, directions):
        return None
    few = X
    if len(X) > ENOUGH_ROWS:
        few = X[np.sort(rng.choice(len(X), ENOUGH_ROWS, replace=False))]
    splits = split_along(few, directions, 1)
    if not splits or splits[0].gain > 0:
        return None
    clearest = sharpen(few, splits[0], k)
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
    if _too_few(X, directions):
        return None
    splits = split_along(X, longest_axes(X, directions), LONGEST)
    for split in splits:
        if split.gain <= CLEAR and split.apart >= APART:
            return split
    return None


def _too_few(X: NDArray[Any], directions: NDArray[Any]) -> bool:
    """Return whether there are too few different rows to tell groups apart."""
    return len(np.unique(X @ directions[:, :1])) < LEAST_ROWS


def longest_axes(X: NDArray[Any], directions: NDArray[Any]) -> NDArray[np.float64]:
    """Return approximations of the longest axes of the whole cloud, one per column."""
    y = X - column_means(X)
    y /= max(np.abs(y).max(), np.finfo(float).tiny)  # fourth powers must not overflow
    axes = directions[:, : 2 * LONGEST]
    for _ in range(POWERS):
        axes = np.linalg.qr(y.T @ (y @ axes))[0]
    rotation = np.linalg.svd(y @ axes, full_matrices=False)[2]
    return np.asarray(axes @ rotation[:LONGEST].T)


def sharpen(X: NDArray[Any], split: GroupSplit, k: int) -> GroupSplit:
    """Rotate the direction as long as that separates the groups better.

    The new direction is Fisher's, with the covariance of the larger group modeled as k
    components and equal noise.
    """
    while True:
        rotated = split_along(X, _fisher(X, split.larger, k)[:, None], 1)
        if not rotated or rotated[0].gain >= split.gain:
            return split
        split = rotated[0]


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
            most_rows = ranked[:cut] if 2 * cut >= n else ranked[cut:]
            larger = np.zeros(n, dtype=bool)
            larger[most_rows] = True
            splits.append(
                GroupSplit(
                    gain=float(gain[column]),
                    larger=larger,
                    direction=directions[:, column],
                    center=float(np.median(raw[most_rows, column])),
                    edge=float(raw[ranked[cut - 1 : cut + 1], column].mean()),
                    apart=_apart(raw[ranked, column], cut),
                )
            )
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
