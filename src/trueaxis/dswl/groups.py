"""Detection of separate clusters of rows, and tests for one cloud.

A tight cluster attracts smooth weights, however robust the start. But along some
direction the rows then fall into two groups. `split_in_two` finds the clearest such
direction, `bending_group` one along which a group bends an axis even if the fit
explains it; `heterogeneity` measures how far the rows of a fit are from one cloud.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, xlogy

from trueaxis.core.law import Sides
from trueaxis.core.moments import between, column_means, quantile
from trueaxis.core.starts import (
    ENOUGH_ROWS,
    enough_rows,
    lines_along,
    partial_sums,
    step_of,
)
from trueaxis.core.subspace import ROUNDINGS, rough_solve

CLIP = 3.0  # interquartile ranges beyond the quartiles at which values are winsorized
LEAST_SHARE = 0.08  # smallest share of the rows in the smaller group
LEAST_DEVIATION = 0.05  # of a group, relative to all rows; excludes groups of ties
LONGEST = 3  # axes of the whole cloud that a group may bend
FAR_STEPS, NEAR_STEPS = 4, 2  # toward axes, from random directions or axes nearby
CLEAR = -0.5  # a split is accepted if its gain is at most this,
APART = 2.5  # and its medians are this far apart (those of a tail are not)
QUARTILES, NORMAL_IQR = (0.25, 0.5, 0.75), 1.349
FINALISTS = 8  # directions, of those searched, that are compared in full precision
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
    separation : float
        Distance between the medians, divided by the sum of both spreads (interquartile
        range over 1.349): 1.1 for a normal distribution cut in two, 1.3 for a uniform
        one.
    """

    gain: float
    larger: NDArray[np.bool_]
    direction: NDArray[np.float64]
    center: float
    edge: float
    separation: float


def sides_of(
    splits: Sequence[GroupSplit], separable: NDArray[np.bool_]
) -> Sides | None:
    """Return the clusters that splits set aside, in all columns; or None."""
    if not splits:
        return None
    directions = np.zeros((len(splits), len(separable)))
    directions[:, separable] = [split.direction for split in splits]
    centers, edges = np.array([(split.center, split.edge) for split in splits]).T
    return Sides(directions, centers, edges)


def smallest_group(n: int) -> int:
    """Return the least number of rows, of n, that are a group."""
    return max(int(LEAST_SHARE * n), 2)


def split_in_two(
    X: NDArray[Any],
    directions: NDArray[Any],
    axes: NDArray[Any],
    rng: np.random.Generator,
) -> GroupSplit | None:
    """Return the clearest split of the rows in two; None if they look like one cloud.

    The clearest direction is searched for and sharpened on some of the rows; all rows
    are then split along it. `axes`, one per row, are those of a fit to all rows.
    """
    if _too_few(X, directions):
        return None
    few = X
    if len(X) > ENOUGH_ROWS:
        few = X[np.sort(rng.choice(len(X), ENOUGH_ROWS, replace=False))]
    splits = split_along(few, directions, 1)
    if not splits or splits[0].gain > 0:
        return None
    clearest = sharpen(few, splits[0], axes)
    if clearest.gain > CLEAR:
        return None
    final = split_along(X, clearest.direction[:, None], 1)
    return final[0] if final and _is_clear(final[0], X) else None


def bending_group(X: NDArray[Any], directions: NDArray[Any]) -> GroupSplit | None:
    """Return the split of a separate cluster along one of the longest axes.

    In many dimensions, a component may explain the group, so that none of its rows is
    far away; but the group is what bent the axis. Directions are not sharpened here, so
    that pure noise shows no such group, however few the rows are.
    """
    if _too_few(X, directions):
        return None
    splits = split_along(X, longest_axes(X, directions), LONGEST)
    for split in splits:
        if _is_clear(split, X):
            return split
    return None


def _is_clear(split: GroupSplit, X: NDArray[Any]) -> bool:
    """Return whether groups are separate, by more than rounding errors."""
    if split.gain > CLEAR or split.separation < APART:
        return False
    size = np.abs(split.direction) @ np.abs(np.median(X, axis=0))
    rounding = ROUNDINGS * np.finfo(X.dtype).eps * size
    return bool(abs(split.edge - split.center) > rounding)


def _too_few(X: NDArray[Any], directions: NDArray[Any]) -> bool:
    """Return whether there are too few different rows to tell groups apart."""
    return len(np.unique(X @ directions[:, :1])) < LEAST_ROWS


def longest_axes(X: NDArray[Any], directions: NDArray[Any]) -> NDArray[np.float64]:
    """Return approximations of the longest axes of the whole cloud, one per column."""
    few = X[:: enough_rows(X.shape)]
    return rough_solve(few, directions[:, : 2 * LONGEST], LONGEST, FAR_STEPS).basis.T


def sharpen(X: NDArray[Any], split: GroupSplit, axes: NDArray[Any]) -> GroupSplit:
    """Rotate the direction as long as that separates the groups better.

    The new direction is Fisher's, with the covariance of the larger group modeled as
    equal noise and as many components as there are axes, which they are near to.
    """
    while True:
        rotated = split_along(X, _fisher(X, split.larger, axes)[:, None], 1)
        if not rotated or rotated[0].gain >= split.gain:
            return split
        split = rotated[0]


def _fisher(
    X: NDArray[Any], larger: NDArray[np.bool_], axes: NDArray[Any]
) -> NDArray[np.float64]:
    k, D = len(axes), X.shape[1]
    sub = rough_solve(X[larger], axes.T, k, NEAR_STEPS)
    noise = (sub.total - sub.variances.sum()) / max(D - k, 1)
    noise = max(noise, 1e-12 * sub.total, np.finfo(float).tiny)
    gap = column_means(X[~larger]) - sub.mean
    inside = sub.basis @ gap
    # Fisher's direction times the noise, which may be tiny.
    direction = (inside * (noise / np.maximum(sub.variances, noise))) @ sub.basis
    direction += gap - inside @ sub.basis
    length = max(np.linalg.norm(direction), np.finfo(float).tiny)
    return np.asarray(direction / length)


def split_along(
    X: NDArray[Any], directions: NDArray[Any], most: int
) -> list[GroupSplit]:
    """Return the `most` clearest splits into two normals along the directions."""
    if directions.shape[1] > FINALISTS:
        directions = directions[:, _promising(X, directions)]
    raw = directions.T @ X.T
    n = len(X)
    cost = _costs(np.sort(raw, axis=1))
    at = cost.argmin(axis=1)
    gain = cost[np.arange(len(at)), at]
    splits = []
    for line in np.argsort(gain, kind="stable")[:most]:
        if gain[line] < np.inf:
            z, cut = raw[line], at[line] + 1
            ranked = np.argsort(z, kind="stable")
            most_rows = ranked[:cut] if 2 * cut >= n else ranked[cut:]
            larger = np.zeros(n, dtype=bool)
            larger[most_rows] = True
            splits.append(
                GroupSplit(
                    gain=float(gain[line]),
                    larger=larger,
                    direction=directions[:, line],
                    center=quantile(z[most_rows], 0.5),
                    edge=float(z[ranked[cut - 1 : cut + 1]].mean()),
                    separation=_separation(z[ranked], cut),
                )
            )
    return splits


def _promising(X: NDArray[Any], directions: NDArray[Any]) -> NDArray[np.intp]:
    """Return the directions of the clearest splits, with cuts at some places only."""
    step = step_of(len(X))
    gains = [
        _costs(np.sort(lines, axis=1), step).min(axis=1)
        for lines in lines_along(X, directions)
    ]
    best = np.argsort(np.concatenate(gains), kind="stable")[:FINALISTS]
    return np.sort(best)


def _costs(lines: NDArray[Any], step: int = 1) -> NDArray[Any]:
    """Return the cost of cutting sorted lines after step, 2 step, ... values.

    It is twice the log-likelihood per value of one normal distribution minus that of
    two.
    """
    n = lines.shape[1]
    Z = _winsorized(lines)
    left = np.arange(step, n, step)
    p = left / n
    weights = [
        x.astype(Z.dtype) for x in (p, 1 - p, -2 * (xlogy(p, p) + xlogy(1 - p, 1 - p)))
    ]
    sums, squares = (
        partial_sums(x, step)[:, : len(left)] / Z.dtype.type(n)
        for x in (Z, np.square(Z))
    )
    # Standardized lines have the sum 0 and the mean square 1.
    cost = weights[0] * _log_variances(squares, sums, weights[0])
    cost += weights[1] * _log_variances(1 - squares, sums, weights[1])
    cost += weights[2]
    least = smallest_group(n)
    cost[:, (left < least) | (left > n - least)] = np.inf
    # Never cut between ties.
    tie = max(1e-9, 10 * float(np.finfo(Z.dtype).eps))
    cost[Z[:, left] - Z[:, left - 1] < tie] = np.inf
    return np.asarray(cost)


def _separation(z: NDArray[Any], cut: int) -> float:
    (a25, a50, a75), (b25, b50, b75) = (
        [float(between(side, share * (len(side) - 1))) for share in QUARTILES]
        for side in (z[:cut], z[cut:])
    )
    spread = (a75 - a25 + b75 - b25) / NORMAL_IQR
    return float((b50 - a50) / max(spread, np.finfo(float).tiny))


def _winsorized(lines: NDArray[Any]) -> NDArray[Any]:
    """Standardize sorted lines, with tails clipped so that they hide no cluster."""
    last = lines.shape[1] - 1
    q1, q3 = (between(lines, share * last) for share in (0.25, 0.75))
    reach = np.where(q3 > q1, CLIP * (q3 - q1), np.inf).astype(lines.dtype)
    Z = np.maximum(lines, (q1 - reach)[:, None])
    np.minimum(Z, (q3 + reach)[:, None], out=Z)
    Z -= Z.mean(axis=1, keepdims=True)
    deviation = np.sqrt(np.einsum("ij,ij->i", Z, Z) / Z.dtype.type(last + 1))
    Z /= np.where(deviation > 0, deviation, 1)[:, None]
    return np.asarray(Z)


def _log_variances(
    squares: NDArray[Any], sums: NDArray[Any], share: NDArray[Any]
) -> NDArray[Any]:
    """Return logarithms of variances, none of them below that of a group of ties."""
    mean = sums / share
    variances = squares / share
    variances -= np.square(mean, out=mean)
    np.maximum(variances, LEAST_DEVIATION**2, out=variances)
    return np.asarray(np.log(variances, out=variances))


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
