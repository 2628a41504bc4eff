"""Draw the rows on which a fit starts: all of them, or a few thousand.

A few thousand rows tell the centre, the subspace and the temperatures to statistical
accuracy; the passes over all rows that follow do the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._rows.base import Rows

SAMPLE_ROWS = 4000
# Beside a row this many times further away than the others, their digits are lost.
TOO_FAR = 1e10


@dataclass(frozen=True)
class Sample:
    """Rows to start on.

    Attributes
    ----------
    S : ndarray
        The rows, repeated as often as they count.
    index : ndarray
        Their numbers among all rows.
    large : bool
        Whether there are more rows than these.
    exact : bool
        Whether every row, but for those absurdly far, is there as often as it counts.
    """

    S: NDArray[Any]
    index: NDArray[np.intp]
    large: bool
    exact: bool


def draw_sample(
    rows: Rows, counts: NDArray[Any] | None, rng: np.random.Generator
) -> Sample:
    """Rows for the start, repeated as often as they count, in an order of their own.

    The order depends on nothing but where the rows lie, so that (unless a sample had to
    be drawn) permuting, rotating, shifting or scaling the data changes no later draw.
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
        # Heavy rows may come more than once: that is their weight in the sample.
        index, counts = np.sort(index[_resampled(counts[index], size)]), None
    S = rows.take(index)
    near = within_reach(S)
    _refuse_units(S[near])
    copies = np.ones(len(near)) if counts is None else counts[index[near]]
    order = near[canonical_order(S[near], copies)]
    if counts is not None:
        order = order[_resampled(counts[index[order]], size)]
    whole = counts is None or bool((counts == np.round(counts)).all())
    exact = not large and whole and len(order) == round(copies.sum())
    return Sample(S[order], index[order], large, exact)


def _refuse_units(S: NDArray[Any]) -> None:
    """Refuse rows whose squared distances are beyond what floats can hold."""
    limits = np.finfo(S.dtype)
    with np.errstate(over="ignore"):
        size = float(np.abs(S - S[0]).max(initial=0.0))
    low, high = 10 * np.sqrt(limits.tiny), 1e-3 * np.sqrt(limits.max)
    if size > high or 0 < size < low:
        raise ValueError(
            f"Rows of X differ by up to {size:.1g}, but squares of {S.dtype} hold "
            f"differences from {low:.0g} to {high:.0g} only: rescale X."
        )
    largest = float(np.abs(S).max(initial=0.0))
    if largest > high:
        raise ValueError(
            f"X has values up to {largest:.1g}, but squares of {S.dtype} end at "
            f"{high:.0g}: rescale X, or subtract what is common to all rows."
        )


def within_reach(S: NDArray[Any]) -> NDArray[np.intp]:
    """Numbers of the rows that are not absurdly far from the others."""
    with np.errstate(over="ignore", invalid="ignore"):
        y = S - np.median(S, axis=0)
        d = np.sqrt(np.einsum("ij,ij->i", y, y, dtype=float))
    d[np.isnan(d)] = np.inf
    # Copies of one row make any other look far: never leave out more than a quarter.
    reach = np.quantile(d, 0.75, method="lower")
    if reach == 0:
        reach = d[d > 0].min(initial=np.inf)
    return np.flatnonzero(d <= TOO_FAR * reach)


def canonical_order(S: NDArray[Any], copies: NDArray[Any]) -> NDArray[np.intp]:
    """Sort the rows by where they lie in the cloud, whatever the axes and the unit."""
    y = (S - S[0]).astype(float)  # first, so that a constant column is 0
    y -= np.average(y, axis=0, weights=copies)
    y /= max(np.abs(y).max(initial=0.0), np.finfo(float).tiny)
    d = np.einsum("ij,ij->i", y, y)
    # Rows at equal distances are told apart by their side of the longest rows.
    side = y @ ((copies * d) @ y)
    return np.lexsort((side, np.sqrt(d) + 0.1 * _unit(side, d)))


def _unit(side: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
    size = np.abs(side).max(initial=0.0)
    return side * (np.sqrt(d.max(initial=0.0)) / size) if size > 0 else side


def _resampled(counts: NDArray[Any], size: int) -> NDArray[np.intp]:
    """Repeat numbers in proportion to counts: whole counts are met exactly."""
    last = np.cumsum(counts)
    n = max(2, min(round(last[-1]), size))
    places = (np.arange(n) + 0.5) * (last[-1] / n)
    return np.minimum(np.searchsorted(last, places, side="right"), len(counts) - 1)
