"""Choose the number of components from the variances of regular rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# At least this many rows must support each component chosen automatically.
ROWS_PER_COMPONENT = 5


def choose_dimension(
    n_components: float | str, variances: NDArray[Any], n: int, D: int
) -> int:
    """Turn a share of the variance, or "auto", into a number of components.

    Parameters
    ----------
    n_components : float or "auto"
        A share of the variance, or "auto" for the components above the noise.
    variances : ndarray
        Robust variances, decreasing; any missing up to D are taken as 0.
    n : int
        Number of distinct rows they were computed from.
    D : int
        Number of columns.

    Returns
    -------
    int
    """
    if n_components == "auto":
        return above_noise(variances, n, D)
    total = np.cumsum(variances)
    # Rounding errors must not add a component.
    return (
        int(np.searchsorted(total, float(n_components) * total[-1] * (1 - 1e-12))) + 1
    )


def above_noise(variances: NDArray[Any], n: int, D: int) -> int:
    """Return the number of variances that stand out from the noise, at least 1.

    A singular value counts if it exceeds `hard_threshold` times the median one.
    """
    omega = hard_threshold(n, D)
    # n rows vary in at most n - 1 directions.
    padded = np.zeros(max(1, min(D, n - 1)))
    padded[: len(variances)] = variances[: len(padded)]
    median = np.median(padded)
    floor = 1e-12 * variances[0]
    count = int((variances > max(omega**2 * median, floor)).sum())
    return max(1, min(count, n // ROWS_PER_COMPONENT))


def hard_threshold(n: int, D: int) -> float:
    """Return the threshold of singular values of n x D noise, relative to their median.

    The optimal hard threshold for unknown noise: Gavish and Donoho (2014), equation 5.
    """
    beta = min(D, n) / max(D, n)
    return 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43
