"""The start of a fit: the rows, the directions and the subspace that it begins with.

A few thousand rows determine the center and the subspace to statistical accuracy;
passes over all rows refine the answer. Gross outliers pull the mean of all rows away,
so equal weights are a poor start. The deepest half has the rows of least Stahel-Donoho
outlyingness: the largest robust z-score of a row over many directions. A search only
has to find the best direction, so that single precision is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.core.iteration import Squarem, iterate
from trueaxis.core.kernels import RowWeights
from trueaxis.core.moments import Moments, quantile
from trueaxis.core.reweighting import ReweightedStep, measure_rows, weighted_moments
from trueaxis.core.rules import PowerRule
from trueaxis.core.subspace import Subspace, solve
from trueaxis.data.rows import ArrayRows, Rows, rows_per_block

DIRECTIONS = 250
SEED = 791249417
ENOUGH_ROWS = 1000  # rows that show what a direction looks like
ROWS_PER_COLUMN = 1  # that are enough to start from
MEDIAN_ROWS = 128
PLACES = 128  # at which a line is cut, or a window on it begins, in a search
LINE_BYTES = 1 << 18  # several arrays of this size stay in a core's own cache


def rough_median(X: NDArray[Any]) -> NDArray[np.float64]:
    """Return the median of some rows, which is near most of the others."""
    some = X[:: max(1, len(X) // MEDIAN_ROWS)]
    middle = np.sort(some.T, axis=1)[:, len(some) // 2]
    return np.asarray(middle, dtype=float)


def direction_rng() -> np.random.Generator:
    """Return the generator of directions, always with the same seed.

    Directions are random, so that no data are aligned with them, but the same in every
    fit: a fit depends on `random_state` only where rows have to be sampled.
    """
    return np.random.default_rng(SEED)


def random_directions(
    X: NDArray[Any],
    rng: np.random.Generator,
    kept: NDArray[np.intp] | None = None,
) -> NDArray[np.float64]:
    """Return unit vectors between random pairs of rows, one per column.

    With `kept`, both rows of a pair are among these.
    """
    pairs = rng.integers(len(X if kept is None else kept), size=(2 * DIRECTIONS, 2))
    if kept is not None:
        pairs = kept[pairs]
    between = (X[pairs[:, 0]] - X[pairs[:, 1]]).astype(float)
    length = np.linalg.norm(between, axis=1)
    different = length > 1e-9 * length.max(initial=0.0)
    units: NDArray[np.float64] = (between[different] / length[different, None]).T
    return units[:, :DIRECTIONS]


def enough_rows(shape: tuple[int, ...]) -> int:
    """Return a step: every step-th row is enough to start from.

    The rows are sorted by their distance, so every i-th row is a fair sample.
    """
    n, D = shape
    return max(1, n // max(ENOUGH_ROWS, ROWS_PER_COLUMN * D))


def lines_along(
    X: NDArray[Any], directions: NDArray[Any]
) -> Iterator[NDArray[np.float32]]:
    """Yield projections of the rows, some directions at a time, one line for each.

    They are relative to the first row, in units in which single precision is enough.
    """
    origin = X[0]
    some = np.abs(X[:: max(1, len(X) // PLACES)] - origin).max()
    scale = some if some > 0 else np.abs(X - origin).max()
    rows = np.empty(X.shape, dtype=np.float32)
    block = max(1, LINE_BYTES // rows[0].nbytes)
    for first in range(0, len(X), block):
        y = X[first : first + block] - origin
        rows[first : first + block] = y / (scale if scale > 0 else 1.0)
    units = directions.T.astype(np.float32)
    step = max(1, LINE_BYTES // (len(X) * rows.itemsize))
    for first in range(0, len(units), step):
        yield units[first : first + step] @ rows.T


def step_of(n: int) -> int:
    """Return the distance between the places, along n values, that a search tries."""
    return max(1, n // PLACES)


def partial_sums(Z: NDArray[Any], step: int) -> NDArray[Any]:
    """Return the sums of the first step, 2 step, ... values of every line.

    Adding up steps first is several times as fast as one running sum.
    """
    end = Z.shape[1] // step * step
    total = Z[:, 0:end:step].copy()
    for i in range(1, step):
        total += Z[:, i:end:step]
    return np.cumsum(total, axis=1, out=total)


SAMPLE_ROWS = 4000

# Rows farther away than the others by this factor would reduce their precision.
TOO_FAR = 1e10


@dataclass(frozen=True)
class Sample:
    """The rows on which a fit starts.

    Attributes
    ----------
    X : ndarray
        The rows in the coordinates of the fit, repeated as often as they count.
    original : ndarray
        The same rows with the columns as given.
    index : ndarray
        Their row indices.
    large : bool
        Whether there are more rows than in the sample.
    exact : bool
        Whether every row, except those extremely far away, is included as often as it
        counts.
    """

    X: NDArray[Any]
    original: NDArray[Any]
    index: NDArray[np.intp]
    large: bool
    exact: bool


def draw_sample(
    rows: Rows, counts: NDArray[Any] | None, rng: np.random.Generator
) -> Sample:
    """Draw rows for the start, repeated as often as they count, in a canonical order.

    The order depends only on where the rows lie, so that permuting, rotating, shifting
    or scaling the data changes no later draw (unless the rows had to be subsampled).
    """
    n, D = rows.shape
    size = max(SAMPLE_ROWS, 4 * D)
    if counts is None:
        large = n > size
        index = np.sort(rng.choice(n, size, replace=False)) if large else np.arange(n)
    else:
        index = np.flatnonzero(counts)
        large = len(index) > size
    if large and counts is not None:
        index = rng.permutation(index)
        # Rows of large weight may be drawn more than once.
        index, counts = np.sort(index[repeated(counts[index], size)]), None
    if isinstance(rows, ArrayRows) and len(index) == n:
        X = rows.array  # it is copied below, in canonical order
    else:
        X = rows.take(index)
    center = rough_median(X)
    y, q = _about(X, center)
    near = within_reach(q)
    if len(near) < len(X):
        X, y, q, index = X[near], y[near], q[near], index[near]
    _refuse_units(X, q, center)
    repetitions = np.ones(len(X)) if counts is None else counts[index]
    order = canonical_order(y, q, repetitions)
    if counts is not None:
        order = order[repeated(repetitions[order], size)]
    whole = counts is None or bool((counts == np.round(counts)).all())
    exact = not large and whole and len(order) == round(repetitions.sum())
    X = X[order]
    return Sample(X, X, index[order], large, exact)


def _about(
    X: NDArray[Any], center: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return centered rows, in which constant columns are 0, and squared lengths."""
    with np.errstate(over="ignore", invalid="ignore"):
        y = np.subtract(X, center, dtype=float)
        return y, np.einsum("ij,ij->i", y, y)


def _refuse_units(
    X: NDArray[Any], q: NDArray[np.float64], center: NDArray[np.float64]
) -> None:
    """Raise if squared distances of the rows overflow or underflow."""
    limits = np.finfo(X.dtype)
    low, high = 10 * np.sqrt(limits.tiny), 1e-3 * np.sqrt(limits.max)
    longest = float(np.sqrt(q.max(initial=0.0)))
    farthest = longest + float(np.abs(center).max(initial=0.0))
    if low * np.sqrt(2 * X.shape[1]) < longest and 2 * farthest < high:
        return  # whatever the columns, none of the limits is reached
    with np.errstate(over="ignore"):
        size = float(np.abs(X - X[0]).max(initial=0.0))
    if size > high or 0 < size < low:
        raise ValueError(
            f"Rows of X differ by up to {size:.1g}, but squares of {X.dtype} values "
            f"underflow below {low:.0g} and overflow beyond {high:.0g}: rescale X."
        )
    largest = float(np.abs(X).max(initial=0.0))
    if largest > high:
        raise ValueError(
            f"X has values up to {largest:.1g}, but squares of {X.dtype} values "
            f"overflow beyond {high:.0g}: rescale X, or subtract a constant from each "
            "column."
        )


def within_reach(q: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the indices of rows that are not extremely far from the others.

    Parameters
    ----------
    q : ndarray
        Squared lengths of centered rows.
    """
    d = np.sqrt(q)
    d[np.isnan(d)] = np.inf
    # If most rows are equal, any other row is far: never drop more than a quarter.
    reach = np.quantile(d, 0.75, method="lower")
    if reach == 0:
        reach = d[d > 0].min(initial=np.inf)
    return np.flatnonzero(d <= TOO_FAR * reach)


def canonical_order(
    y: NDArray[np.float64], q: NDArray[np.float64], repetitions: NDArray[Any]
) -> NDArray[np.intp]:
    """Return an order of the rows that does not depend on axes, origin or units.

    Parameters
    ----------
    y : ndarray of shape (n, D)
        Rows about any center among them.
    q : ndarray of shape (n,)
        Their squared lengths.
    repetitions : ndarray of shape (n,)
    """
    mean = repetitions @ y / repetitions.sum()
    # Squared distances from the mean.
    d = np.maximum(q - 2 * (y @ mean) + mean @ mean, 0.0)
    d /= max(d.max(initial=0.0), np.finfo(float).tiny)
    # Break ties of distance by the side on which the longest rows lie.
    longest = repetitions * d
    toward = longest @ y - longest.sum() * mean
    side = y @ toward - mean @ toward
    return np.lexsort((side, np.sqrt(d) + 0.1 * _unit(side, d)))


def _unit(side: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
    size = np.abs(side).max(initial=0.0)
    return side * (np.sqrt(d.max(initial=0.0)) / size) if size > 0 else side


def repeated(counts: NDArray[Any], size: int) -> NDArray[np.intp]:
    """Return indices repeated in proportion to counts (exactly, for integer counts)."""
    last = np.cumsum(counts)
    n = max(2, min(round(last[-1]), size))
    places = (np.arange(n) + 0.5) * (last[-1] / n)
    index: NDArray[np.intp] = np.searchsorted(last, places, side="right")
    return np.minimum(index, len(counts) - 1)


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
        return weighted_moments(rows, pivot, weighting, counts)
    center = spatial_median(rows, counts)
    return weighted_moments(rows, center, weighting, counts).about(center)


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
    # The deepest half may be repetitions of one row, which have no variance.
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
    moments = weighted_moments(ArrayRows(X), center, weighting)
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


def _tightest(X: NDArray[Any], h: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return mean and deviation of the tightest h values of every sorted line.

    This is the univariate MCD. Unlike median and MAD, it withstands a tight cluster of
    35 % of the rows. On long lines, not every window of values is tried. The lines are
    overwritten.
    """
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
