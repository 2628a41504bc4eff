"""Quantiles in which a row that counts twice is two rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def total_count(x: NDArray, counts: NDArray | None = None) -> float:
    """Number of rows, repetitions included."""
    return float(len(x)) if counts is None else float(counts.sum())


def quantile(x: NDArray, q: float, counts: NDArray | None = None) -> float:
    """Quantile with linear interpolation, as of the rows repeated `counts` times.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.engine.quantiles import quantile
    >>> x = np.array([1.0, 5.0])
    >>> quantile(x, 0.5), quantile(x, 0.5, np.array([3, 1]))
    (3.0, 1.0)
    """
    if counts is None:
        n = len(x)
        place = q * (n - 1)
        low = int(place)
        pair = np.partition(x, [low, min(low + 1, n - 1)])
        below, above = pair[low], pair[min(low + 1, n - 1)]
    else:
        order = np.argsort(x, kind="stable")
        last = np.cumsum(counts[order])
        place = q * max(last[-1] - 1.0, 0.0)
        low = int(place)
        at = np.searchsorted(last, [low, low + 1], side="right")
        below, above = x[order[np.minimum(at, len(x) - 1)]]
    if below == above:  # also where both are infinite
        return float(below)
    return float(below + (place - low) * (above - below))


def n_different(x: NDArray) -> int:
    """Number of values that differ by more than rounding."""
    size = np.abs(x).max(initial=0.0)
    return 1 if size == 0 else len(np.unique(np.round(x / size, 12)))
