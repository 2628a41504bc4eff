"""Small order statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def total_count(n: int, counts: NDArray[Any] | None) -> float:
    """Number of n rows, repetitions included."""
    return float(n) if counts is None else float(counts.sum())


def column_means(S: NDArray[Any]) -> NDArray[np.float64]:
    """Mean of every column; that of a constant column is exact, however large."""
    first = S[0].astype(float)
    return first + (S - first).mean(axis=0)


def quantile(x: NDArray[Any], q: float) -> float:
    """Quantile with linear interpolation; faster than numpy's, and at home in infinity.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis._engine.quantiles import quantile
    >>> quantile(np.array([5.0, 1.0, np.inf, np.inf]), 0.25)
    4.0
    """
    n = len(x)
    place = q * (n - 1)
    low = int(place)
    high = min(low + 1, n - 1)
    pair = np.partition(x, [low, high])
    below, above = pair[low], pair[high]
    if below == above:  # also where both are infinite
        return float(below)
    return float(below + (place - low) * (above - below))


def n_different(x: NDArray[Any]) -> int:
    """Number of values that differ by more than rounding."""
    size = np.abs(x).max(initial=0.0)
    return 1 if size == 0 else len(np.unique(np.round(x / size, 12)))


def counted_median(x: NDArray[Any], counts: NDArray[Any] | None) -> float:
    """Median of values that count a number of times.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis._engine.quantiles import counted_median
    >>> counted_median(np.array([5.0, 1.0, 2.0]), np.array([3.0, 1.0, 2.0]))
    3.5
    """
    if counts is None:
        return quantile(x, 0.5)
    order = np.argsort(x, kind="stable")
    last = np.cumsum(counts[order])
    half, rounding = last[-1] / 2, 1e-9 * last[-1]
    # A count that ends in the middle leaves it between two values.
    pair = np.searchsorted(last, [half - rounding, half + rounding], side="left")
    return float(x[order[np.minimum(pair, len(x) - 1)]].mean())


def n_different_rows(table: NDArray[Any]) -> int:
    """Number of rows that are not copies of another."""
    return len({row.tobytes() for row in np.ascontiguousarray(table) + 0.0})
