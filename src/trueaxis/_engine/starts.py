"""START: all rows alike, a few of them, or the half that lies deepest in the cloud.

Equal weights are a poor start, because gross outliers drag the mean. Stahel-Donoho
outlyingness looks at the rows along many directions, and takes the worst view of each.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.iterate import iterate
from trueaxis._engine.kernels import RowWeights
from trueaxis._engine.moments import Moments
from trueaxis._engine.quantiles import column_means
from trueaxis._engine.reweighted import ReweightedStep, measure_rows, weighted_moments
from trueaxis._engine.rules.losses import PowerRule
from trueaxis._engine.squarem import Squarem
from trueaxis._engine.subspace import Subspace, solve
from trueaxis._rows.base import ArrayRows, Rows, rows_per_block

DIRECTIONS = 250
ENOUGH_ROWS = 2000
DEFLATED = (50, 50)  # directions without the first axis, without the first two
ROWS_PER_COLUMN = 5  # fewer say nothing about the shape of the whole cloud
MEDIAN_ROUNDS = 500


# Centers of methods that do not learn one; "median" is the spatial median.
FixedCenter = Literal["mean", "median"]


def equal_weights(rows: Rows, k: int, counts: NDArray[Any] | None = None) -> Subspace:
    """Plain PCA: the paper's start."""
    return solve(plain_moments(rows, counts), k)


def plain_moments(
    rows: Rows, counts: NDArray[Any] | None, origin: FixedCenter = "mean"
) -> Moments:
    """Moments of all rows, weighed alike, about their mean or spatial median."""
    weighing = RowWeights(np.zeros(rows.shape[0]))
    if origin == "mean":
        return weighted_moments(
            rows, first_center(rows, counts), weighing, counts
        ).span()
    center = spatial_median(rows, counts)
    return weighted_moments(rows, center, weighing, counts).span().about(center)


def spatial_median(rows: Rows, counts: NDArray[Any] | None) -> NDArray[np.float64]:
    """The point with the least sum of distances: RPCA-OM without components."""
    start = equal_weights(rows, 0, counts)
    rule = PowerRule(1.0).freeze(measure_rows(rows, start, counts))
    step = ReweightedStep(rows, rule, counts)
    found = iterate(
        step, start, max_iter=MEDIAN_ROUNDS, tol=1e-9, accelerator=Squarem(), sense=-1
    )
    return found.last.next.mean


def first_center(rows: Rows, counts: NDArray[Any] | None) -> NDArray[np.float64]:
    """Median of the first rows that count: a pivot to sum about."""
    most = min(rows.shape[0], rows_per_block(rows.shape[1], rows.dtype))
    few = np.arange(most) if counts is None else np.flatnonzero(counts)[:most]
    return np.median(rows.take(few), axis=0).astype(float)


def few_rows_start(
    X: NDArray[Any], k: int, rng: np.random.Generator, center: NDArray[Any] | None
) -> Subspace:
    """Return the subspace of k + 2 random rows; through k of them if given a center."""
    wanted = k + 2 if center is None else k
    rows = X[rng.choice(len(X), min(wanted, len(X)), replace=False)]
    moments = plain_moments(ArrayRows(rows), None)
    return solve(moments if center is None else moments.about(center), k)


def deep_moments(X: NDArray[Any], views: NDArray[Any], least: int = 0) -> Moments:
    """Moments of the deepest half of the rows, or of the `least` deepest."""
    half = deepest_half(X, views, least)
    weighing = RowWeights(np.where(half, 0.0, -np.inf))
    return weighted_moments(ArrayRows(X), X[0].astype(float), weighing).span()


def deep_start(X: NDArray[Any], views: NDArray[Any], k: int) -> Subspace:
    """Subspace of the deepest half of the rows: the robust start."""
    start = solve(deep_moments(X, views, least=k + 2), k)
    # Copies of one row are as deep as can be, and say nothing about the others.
    return start if start.total > 0 else equal_weights(ArrayRows(X), k)


def directions(X: NDArray[Any], rng: np.random.Generator) -> NDArray[np.float64]:
    """Unit vectors through random pairs of rows, one per column.

    A column of large scale would turn all of them its own way; so for some the longest
    axes of the whole cloud are taken out first.
    """
    pairs = rng.integers(len(X), size=(2 * (DIRECTIONS + sum(DEFLATED)), 2))
    between = (X[pairs[:, 0]] - X[pairs[:, 1]]).astype(float)
    length = np.linalg.norm(between, axis=1)
    between = between[length > 1e-9 * length.max(initial=0.0)]
    parts = [between[:DIRECTIONS]]
    if len(X) >= ROWS_PER_COLUMN * X.shape[1] > ROWS_PER_COLUMN * len(DEFLATED):
        y = X - column_means(X)
        axes = np.linalg.eigh(y.T @ y)[1].T[::-1]
        rest = iter(np.split(between[DIRECTIONS:], np.cumsum(DEFLATED)))
        for j in range(1, len(DEFLATED) + 1):
            part = next(rest)
            parts.append(part - (part @ axes[:j].T) @ axes[:j])
    found = np.vstack(parts)
    length = np.linalg.norm(found, axis=1)
    usable = length > 0
    return (found[usable] / length[usable, None]).T


def deepest_half(
    X: NDArray[Any], directions: NDArray[Any], least: int
) -> NDArray[np.bool_]:
    """Mark the half of the rows (or `least`) with the least outlyingness."""
    n = len(X)
    half = np.zeros(n, dtype=bool)
    if directions.shape[1] == 0:  # all rows are equal
        return ~half
    Z = directions.T @ (X - X[0]).T  # centered for the digits only
    order = np.argsort(outlyingness(Z), kind="stable")
    half[order[: max(n // 2 + 1, least)]] = True
    return half


def outlyingness(Z: NDArray[Any]) -> NDArray[np.float64]:
    """Largest distance of each row from the center of a projection, over its spread.

    Z has a line per direction (Stahel and Donoho).
    """
    # The rows are in order of their distance: every other one is a fair sample.
    some = Z[:, :: max(1, Z.shape[1] // ENOUGH_ROWS)]
    center, spread = shortest_variance(some, some.shape[1] // 2 + 1)
    # A direction in which half of the rows tie has no spread of its own.
    total = Z.std(axis=1)
    spread = np.where(spread > 1e-6 * total, spread, total)
    usable = spread > 0
    if not usable.any():
        return np.zeros(Z.shape[1])
    out = Z[usable] - center[usable, None]
    np.abs(out, out=out)
    out /= spread[usable, None]
    return out.max(axis=0)


def shortest_variance(
    Z: NDArray[Any], h: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Univariate MCD of every line: mean and deviation of its tightest h values.

    Median and MAD would let a tight cluster of 35 % of the rows win; this does not.
    """
    X = np.sort(Z, axis=1)
    lines, n = X.shape
    length = X[:, h - 1 :] - X[:, : n - h + 1]
    at, each = length.argmin(axis=1), np.arange(lines)
    middle = X[each, at + h // 2]
    # Values far from the shortest half are in no candidate; clipped, they cannot spoil
    # the digits of the running sums.
    X -= middle[:, None]
    reach = ((np.sqrt(h) + 2.0) * length[each, at])[:, None]
    np.clip(X, -reach, reach, out=X)
    mean = _running_means(X, h)
    np.square(X, out=X)
    variance = _running_means(X, h) - mean**2
    best = variance.argmin(axis=1)
    deviation = np.sqrt(np.maximum(variance[each, best], 0.0))
    return mean[each, best] + middle, deviation


def _running_means(X: NDArray[Any], h: int) -> NDArray[np.float64]:
    total = np.zeros((len(X), X.shape[1] + 1))
    np.cumsum(X, axis=1, out=total[:, 1:])
    return (total[:, h:] - total[:, :-h]) / h
