"""Draw the sample on which a fit starts: all rows, or a few thousand of them.

A few thousand rows determine the center, the subspace and the temperatures to
statistical accuracy; passes over all rows refine the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.starts.directions import rough_median
from trueaxis.data.rows import ArrayRows, Rows

SAMPLE_ROWS = 4000
# Rows this many times farther away than the others would cost those precision.
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
        Whether every row, except those absurdly far away, is included as often as it
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
    copies = np.ones(len(X)) if counts is None else counts[index]
    order = canonical_order(y, q, copies)
    if counts is not None:
        order = order[repeated(copies[order], size)]
    whole = counts is None or bool((counts == np.round(counts)).all())
    exact = not large and whole and len(order) == round(copies.sum())
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
    """Return the indices of rows that are not absurdly far from the others.

    Parameters
    ----------
    q : ndarray
        Squared lengths of centered rows.
    """
    d = np.sqrt(q)
    d[np.isnan(d)] = np.inf
    # Next to copies of one row, any other row is far: never drop more than a quarter.
    reach = np.quantile(d, 0.75, method="lower")
    if reach == 0:
        reach = d[d > 0].min(initial=np.inf)
    return np.flatnonzero(d <= TOO_FAR * reach)


def canonical_order(
    y: NDArray[np.float64], q: NDArray[np.float64], copies: NDArray[Any]
) -> NDArray[np.intp]:
    """Return an order of the rows that does not depend on axes, origin or units.

    Parameters
    ----------
    y : ndarray of shape (n, D)
        Rows about any center among them.
    q : ndarray of shape (n,)
        Their squared lengths.
    copies : ndarray of shape (n,)
    """
    mean = copies @ y / copies.sum()
    # Squared distances from the mean.
    d = np.maximum(q - 2 * (y @ mean) + mean @ mean, 0.0)
    d /= max(d.max(initial=0.0), np.finfo(float).tiny)
    # Break ties of distance by the side on which the longest rows lie.
    longest = copies * d
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
