"""Starts of the iteration: all rows, a few of them, or the deepest half.

Gross outliers pull the mean of all rows away, so equal weights are a poor start. The
deepest half has the rows of least Stahel-Donoho outlyingness: the largest robust
z-score of a row over many directions.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.iterate import iterate
from trueaxis._engine.kernels import RowWeights
from trueaxis._engine.moments import Moments
from trueaxis._engine.quantiles import quantile
from trueaxis._engine.reweighted import ReweightedStep, measure_rows, weighted_moments
from trueaxis._engine.rules.losses import PowerRule
from trueaxis._engine.squarem import Squarem
from trueaxis._engine.starts.directions import (
    ENOUGH_ROWS,
    lines_along,
    partial_sums,
    rough_median,
    step_of,
)
from trueaxis._engine.subspace import Subspace, solve
from trueaxis.data.rows import ArrayRows, Rows, rows_per_block

MEDIAN_ROUNDS = 500
CENTER_ROUNDS = 10  # that find the spatial median well enough to start from

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
    size = min(rows.shape[0], rows_per_block(rows.shape, rows.dtype))
    index = np.arange(size) if counts is None else np.flatnonzero(counts)[:size]
    return rough_median(rows.take(index))


def few_rows_start(
    X: NDArray[Any], k: int, rng: np.random.Generator, center: NDArray[Any] | None
) -> Subspace:
    """Return the subspace of k + 2 random rows, or of k if a center is given."""
    size = min(k + 2 if center is None else k, len(X))
    rows = X[rng.choice(len(X), size, replace=False)]
    moments = plain_moments(ArrayRows(rows), None)
    return solve(moments if center is None else moments.about(center), k)


class Depth(NamedTuple):
    """Outlyingness of some rows of a table.

    Attributes
    ----------
    rows : ndarray
        Their indices, increasing.
    outlyingness : ndarray
    """

    rows: NDArray[np.intp]
    outlyingness: NDArray[np.float32]

    def deepest_half(self, least: int = 0) -> NDArray[np.intp]:
        """Return the half of the rows (at least `least`) that are least outlying."""
        n = max(len(self.rows) // 2 + 1, least)
        half = np.argsort(self.outlyingness, kind="stable")[:n]
        return self.rows[np.sort(half)]

    def among(self, kept: NDArray[np.intp]) -> Depth:
        """Return the depth of the rows that are kept."""
        some = np.isin(self.rows, kept, assume_unique=True)
        return Depth(self.rows[some], self.outlyingness[some])


def depth(X: NDArray[Any], directions: NDArray[Any], step: int = 1) -> Depth:
    """Measure the outlyingness of every step-th row along all directions."""
    rows = np.arange(0, len(X), step)
    worst = np.zeros(len(rows), dtype=np.float32)
    if directions.shape[1] > 0:  # otherwise all rows are equal
        for lines in lines_along(X[::step], directions):
            np.maximum(worst, outlyingness(lines), out=worst)
    return Depth(rows, worst)


def moments_of(X: NDArray[Any]) -> Moments:
    """Return moments of a few rows, each of weight 1."""
    pivot = X[0].astype(float)
    moments = Moments(pivot)
    y = (X - pivot).astype(X.dtype, copy=False)
    moments.add(y, np.zeros(len(y)), None)
    return moments


def deep_start(X: NDArray[Any], half: NDArray[Any], k: int) -> Subspace:
    """Return the subspace of the deepest half of the rows X, the robust start."""
    start = solve(moments_of(half), k)
    # The deepest half may be copies of one row, which have no variance.
    return start if start.total > 0 else equal_weights(ArrayRows(X), k)


def spherical_start(X: NDArray[Any], k: int) -> Subspace:
    """Return the subspace of rows that are scaled to equal distance from the center.

    With few rows per component, the deepest half of them says little about the axes,
    and which half it is depends on the directions. Rows of equal length are all used,
    and far ones have no more influence than others.
    """
    center = np.median(X, axis=0).astype(float)
    for _ in range(CENTER_ROUNDS):
        y = X - center
        d = np.sqrt(np.einsum("ij,ij->i", y, y, dtype=float))
        floor = 1e-6 * quantile(d, 0.75)
        if floor == 0:  # most rows are equal
            return equal_weights(ArrayRows(X), k)
        d = np.maximum(d, floor)
        center = center + (y / d[:, None]).sum(axis=0) / (1 / d).sum()
    weighting = RowWeights(-2.0 * np.log(d))
    moments = weighted_moments(ArrayRows(X), center, weighting).span()
    return solve(moments.about(center), k)


def outlyingness(Z: NDArray[Any]) -> NDArray[Any]:
    """Return the Stahel-Donoho outlyingness of each row, given projections Z.

    Z has one line per direction. The outlyingness is the largest distance from the
    center of a projection, in units of its spread.
    """
    some = np.sort(Z[:, :: max(1, Z.shape[1] // ENOUGH_ROWS)], axis=1)
    n = some.shape[1]
    width = some[:, 7 * n // 8] - some[:, n // 8]
    center, spread = _tightest(some, n // 2 + 1)
    # If half of the projections are equal, their spread is 0: use that of all.
    spread = np.where(spread > 1e-6 * width, spread, Z.std(axis=1))
    usable = spread > 0
    if not usable.all():
        Z, center, spread = Z[usable], center[usable], spread[usable]
    scores = Z - center[:, None]
    np.abs(scores, out=scores)
    scores /= spread[:, None]
    return np.asarray(scores.max(axis=0, initial=0.0))


def shortest_variance(Z: NDArray[Any], h: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return mean and deviation of the tightest h values of every line of Z.

    This is the univariate MCD. Unlike median and MAD, it withstands a tight cluster of
    35 % of the rows. On long lines, not every window of values is tried.
    """
    return _tightest(np.sort(Z, axis=1), h)


def _tightest(X: NDArray[Any], h: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the same for sorted lines, which are overwritten."""
    lines, n = X.shape
    length = X[:, h - 1 :] - X[:, : n - h + 1]
    at, each = length.argmin(axis=1), np.arange(lines)
    middle = X[each, at + h // 2]
    # Values far from the shortest half are not among the tightest values. They are
    # clipped, so that they do not cost digits of the running sums.
    X -= middle[:, None]
    reach = (float(np.sqrt(h) + 2.0) * length[each, at])[:, None]
    np.minimum(np.maximum(X, -reach, out=X), reach, out=X)
    step = step_of(n)
    steps = -(-h // step)  # at least h values, if there are as many
    steps = min(steps, n // step)
    mean = _running_means(X, step, steps)
    variance = _running_means(np.square(X, out=X), step, steps)
    variance -= mean * mean
    best = variance.argmin(axis=1)
    deviation = np.sqrt(np.maximum(variance[each, best], 0.0))
    return mean[each, best] + middle, deviation


def _running_means(X: NDArray[Any], step: int, steps: int) -> NDArray[Any]:
    total = np.zeros((len(X), X.shape[1] // step + 1), dtype=X.dtype)
    total[:, 1:] = partial_sums(X, step)
    means: NDArray[Any] = total[:, steps:] - total[:, :-steps]
    means /= step * steps
    return means
