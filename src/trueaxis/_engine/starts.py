"""Starts of the iteration: all rows, a few of them, or the deepest half.

Gross outliers pull the mean of all rows away, so equal weights are a poor start. The
deepest half has the rows of least Stahel-Donoho outlyingness: the largest robust
z-score of a row over many directions.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.iterate import iterate
from trueaxis._engine.kernels import RowWeights
from trueaxis._engine.moments import Moments
from trueaxis._engine.reweighted import ReweightedStep, measure_rows, weighted_moments
from trueaxis._engine.rules.losses import PowerRule
from trueaxis._engine.squarem import Squarem
from trueaxis._engine.subspace import Subspace, solve
from trueaxis._rows.base import ArrayRows, Rows, rows_per_block

DIRECTIONS = 250
ENOUGH_ROWS = 1000  # rows that show what a direction looks like
MEDIAN_ROUNDS = 500

# Centers of methods that do not learn one; "median" is the spatial median.
FixedCenter = Literal["mean", "median"]


def equal_weights(rows: Rows, k: int, counts: NDArray[Any] | None = None) -> Subspace:
    """Return the subspace of plain PCA, the start used in the paper."""
    return solve(plain_moments(rows, counts), k)


def plain_moments(
    rows: Rows, counts: NDArray[Any] | None, origin: FixedCenter = "mean"
) -> Moments:
    """Return moments of equally weighted rows about their mean or spatial median."""
    weighting = RowWeights(np.zeros(rows.shape[0]))
    if origin == "mean":
        pivot = first_center(rows, counts)
        return weighted_moments(rows, pivot, weighting, counts).span()
    center = spatial_median(rows, counts)
    return weighted_moments(rows, center, weighting, counts).span().about(center)


def spatial_median(rows: Rows, counts: NDArray[Any] | None) -> NDArray[np.float64]:
    """Return the point with the least sum of distances: RPCA-OM without components."""
    start = equal_weights(rows, 0, counts)
    rule = PowerRule(1.0).freeze(measure_rows(rows, start, counts))
    step = ReweightedStep(rows, rule, counts)
    found = iterate(
        step, start, max_iter=MEDIAN_ROUNDS, tol=1e-9, accelerator=Squarem(), sense=-1
    )
    center: NDArray[np.float64] = found.last.next.mean
    return center


def first_center(rows: Rows, counts: NDArray[Any] | None) -> NDArray[np.float64]:
    """Return the median of the first rows that count, as a pivot for moments."""
    size = min(rows.shape[0], rows_per_block(rows.shape[1], rows.dtype))
    index = np.arange(size) if counts is None else np.flatnonzero(counts)[:size]
    return np.asarray(np.median(rows.take(index), axis=0), dtype=float)


def few_rows_start(
    X: NDArray[Any], k: int, rng: np.random.Generator, center: NDArray[Any] | None
) -> Subspace:
    """Return the subspace of k + 2 random rows, or of k if a center is given."""
    size = min(k + 2 if center is None else k, len(X))
    rows = X[rng.choice(len(X), size, replace=False)]
    moments = plain_moments(ArrayRows(rows), None)
    return solve(moments if center is None else moments.about(center), k)


def deep_moments(X: NDArray[Any], directions: NDArray[Any], least: int = 0) -> Moments:
    """Return moments of the deepest half of the rows (at least `least` of them)."""
    half = deepest_half(X, directions, least)
    weighting = RowWeights(np.where(half, 0.0, -np.inf))
    return weighted_moments(ArrayRows(X), X[0].astype(float), weighting).span()


def deep_start(X: NDArray[Any], directions: NDArray[Any], k: int) -> Subspace:
    """Return the subspace of the deepest half of the rows, the robust start."""
    start = solve(deep_moments(X, directions, least=k + 2), k)
    # The deepest half may be copies of one row, which have no variance.
    return start if start.total > 0 else equal_weights(ArrayRows(X), k)


def random_directions(X: NDArray[Any], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return unit vectors between random pairs of rows, one per column."""
    pairs = rng.integers(len(X), size=(2 * DIRECTIONS, 2))
    between = (X[pairs[:, 0]] - X[pairs[:, 1]]).astype(float)
    length = np.linalg.norm(between, axis=1)
    different = length > 1e-9 * length.max(initial=0.0)
    units: NDArray[np.float64] = (between[different] / length[different, None]).T
    return units[:, :DIRECTIONS]


def deepest_half(
    X: NDArray[Any], directions: NDArray[Any], least: int
) -> NDArray[np.bool_]:
    """Mark the half of the rows (at least `least`) with the least outlyingness."""
    n = len(X)
    half = np.zeros(n, dtype=bool)
    if directions.shape[1] == 0:  # all rows are equal
        return ~half
    Z = directions.T @ (X - X[0]).T  # centered to keep digits
    order = np.argsort(outlyingness(Z), kind="stable")
    half[order[: max(n // 2 + 1, least)]] = True
    return half


def outlyingness(Z: NDArray[Any]) -> NDArray[np.float64]:
    """Return the Stahel-Donoho outlyingness of each row, given projections Z.

    Z has one line per direction. The outlyingness is the largest distance from the
    center of a projection, in units of its spread.
    """
    # The rows are sorted by their distance, so every i-th row is a fair sample.
    some = Z[:, :: max(1, Z.shape[1] // ENOUGH_ROWS)]
    center, spread = shortest_variance(some, some.shape[1] // 2 + 1)
    # If half of the projections are equal, their spread is 0: use that of all.
    total = Z.std(axis=1)
    spread = np.where(spread > 1e-6 * total, spread, total)
    usable = spread > 0
    if not usable.any():
        return np.zeros(Z.shape[1])
    scores = Z[usable] - center[usable, None]
    np.abs(scores, out=scores)
    scores /= spread[usable, None]
    return np.asarray(scores.max(axis=0))


def shortest_variance(
    Z: NDArray[Any], h: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and deviation of the tightest h values of every line of Z.

    This is the univariate MCD. Unlike median and MAD, it withstands a tight cluster of
    35 % of the rows.
    """
    X = np.sort(Z, axis=1)
    lines, n = X.shape
    length = X[:, h - 1 :] - X[:, : n - h + 1]
    at, each = length.argmin(axis=1), np.arange(lines)
    middle = X[each, at + h // 2]
    # Values far from the shortest half are not among the tightest values. They are
    # clipped, so that they do not cost digits of the running sums.
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
