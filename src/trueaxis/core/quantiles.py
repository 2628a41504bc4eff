"""Means, medians, quantiles and counts, with repetitions and infinities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def total_count(n: int, counts: NDArray[Any] | None) -> float:
    """Return the number of rows, repetitions included."""
    return float(n) if counts is None else float(counts.sum())


def column_means(X: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean of every column, which is exact for constant columns."""
    first: NDArray[np.float64] = X[0].astype(float)
    means: NDArray[np.float64] = first + (X - first).mean(axis=0)
    return means


def quantile(x: NDArray[Any], q: float) -> float:
    """Return a quantile with linear interpolation.

    Faster than numpy's, and correct between infinite values.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.core.quantiles import quantile
    >>> quantile(np.array([5.0, 1.0, np.inf, np.inf]), 0.25)
    4.0
    """
    n = len(x)
    place = q * (n - 1)
    low = int(place)
    high = min(low + 1, n - 1)
    pair = np.partition(x, [low, high])
    below, above = pair[low], pair[high]
    if below == above:  # also if both are infinite
        return float(below)
    return float(below + (place - low) * (above - below))


def between(values: NDArray[Any], place: float) -> Any:
    """Interpolate sorted values, or lines of them, at a place between two of them."""
    last = values.shape[-1] - 1
    place = min(max(place, 0.0), float(last))
    low = int(place)
    below, above = values[..., low], values[..., min(low + 1, last)]
    return below + (above - below) * (place - low)


def n_different(x: NDArray[Any]) -> int:
    """Return the number of values that differ by more than rounding errors."""
    size = np.abs(x).max(initial=0.0)
    return 1 if size == 0 else len(np.unique(np.round(x / size, 12)))


def counted_median(x: NDArray[Any], counts: NDArray[Any] | None) -> float:
    """Return the median of values, each repeated as often as it counts.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.core.quantiles import counted_median
    >>> counted_median(np.array([5.0, 1.0, 2.0]), np.array([3.0, 1.0, 2.0]))
    3.5
    """
    if counts is None:
        return quantile(x, 0.5)
    order = np.argsort(x, kind="stable")
    last = np.cumsum(counts[order])
    half, rounding = last[-1] / 2, 1e-9 * last[-1]
    # If a count ends exactly in the middle, the median lies between two values.
    pair = np.searchsorted(last, [half - rounding, half + rounding], side="left")
    return float(x[order[np.minimum(pair, len(x) - 1)]].mean())


def n_different_rows(X: NDArray[Any]) -> int:
    """Return the number of distinct rows."""
    # Adding 0.0 turns -0.0 into 0.0, whose bytes differ.
    return len({row.tobytes() for row in np.ascontiguousarray(X) + 0.0})
