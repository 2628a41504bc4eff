"""How many components: chosen from the variances of the rows that carry the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# At least this many rows must carry each component that is chosen automatically.
ROWS_PER_COMPONENT = 5


def choose_dimension(
    n_components: float | str, variances: NDArray[Any], n: int, D: int
) -> int:
    """Turn what the user asked for into a number.

    Parameters
    ----------
    n_components : float or "auto"
        A share of the variance; or the components above the noise.
    variances : ndarray
        Robust variances, decreasing; those that are missing up to D are 0.
    n : int
        Number of different rows they were computed from.
    D : int
        Number of columns.

    Returns
    -------
    int
    """
    if n_components == "auto":
        return above_noise(variances, n, D)
    total = np.cumsum(variances)
    # A share of all variances but rounding must not ask for one component too many.
    return (
        int(np.searchsorted(total, float(n_components) * total[-1] * (1 - 1e-12))) + 1
    )


def above_noise(variances: NDArray[Any], n: int, D: int) -> int:
    """Number of variances that stand out of the noise, at least 1.

    The optimal hard threshold of Gavish and Donoho (2014) for unknown noise: a singular
    value counts if it exceeds omega(beta) times the median one, beta = D/n (or n/D).
    """
    beta = min(D, n) / max(D, n)
    omega = 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43
    # n rows have variance in n - 1 directions at most.
    known = np.zeros(max(1, min(D, n - 1)))
    known[: len(variances)] = variances[: len(known)]
    median = np.median(known)
    floor = 1e-12 * variances[0]
    count = int((variances > max(omega**2 * median, floor)).sum())
    return max(1, min(count, n // ROWS_PER_COMPONENT))
