"""Small order statistics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def total_count(n: int, counts: NDArray | None) -> float:
    """Number of n rows, repetitions included."""
    return float(n) if counts is None else float(counts.sum())


def quantile(x: NDArray, q: float) -> float:
    """Quantile with linear interpolation; faster than numpy's, and at home in infinity.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.engine.quantiles import quantile
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


def n_different(x: NDArray) -> int:
    """Number of values that differ by more than rounding."""
    size = np.abs(x).max(initial=0.0)
    return 1 if size == 0 else len(np.unique(np.round(x / size, 12)))
