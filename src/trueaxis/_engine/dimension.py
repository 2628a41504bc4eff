"""Choose the number of components from the variances of regular rows.

Notation: n rows, D columns; the variances decrease.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


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

    Noise that is correlated between columns, as in spectra, has large variances of its
    own, and all of them exceed the threshold for white noise. So that is the most there
    can be. Of these, count those before the steepest drop, and those that even noise
    with all of the variance would not reach.
    """
    # n rows vary in at most n - 1 directions.
    padded = np.zeros(max(1, min(D, n - 1)))
    padded[: len(variances)] = variances[: len(padded)]
    most = above_white_noise(padded, n, D)
    if most <= 1:
        return 1
    return min(most, max(before_drop(padded, most), above_chance(padded, n, D)))


def above_white_noise(variances: NDArray[Any], n: int, D: int) -> int:
    """Return the number of variances above the threshold for white noise.

    A singular value counts if it exceeds `hard_threshold` times the median one.
    """
    median = np.median(variances)
    floor = 1e-12 * variances[0]
    return int((variances > max(hard_threshold(n, D) ** 2 * median, floor)).sum())


def hard_threshold(n: int, D: int) -> float:
    """Return the threshold of singular values of n x D noise, relative to their median.

    The optimal hard threshold for unknown noise: Gavish and Donoho (2014), equation 5.
    """
    beta = min(D, n) / max(D, n)
    return 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43


def above_chance(variances: NDArray[Any], n: int, D: int) -> int:
    """Return the number of variances above all those of white noise of the same total.

    This is Horn's parallel analysis, with the limit of the largest variance (Marchenko
    and Pastur 1967) in place of simulated noise.
    """
    largest = variances.sum() / D * (1 + np.sqrt(D / n)) ** 2
    return int((variances > largest).sum())


def before_drop(variances: NDArray[Any], most: int) -> int:
    """Return the number of variances before the steepest drop, between 1 and `most`.

    The drop is steepest where the growth ratio of Ahn and Horenstein (2013) is largest.
    With V(k) the variance left by k components, that is the ratio of log V(k-1)/V(k) to
    log V(k)/V(k+1). It is 1 if the variances decay geometrically.
    """
    rounding = np.finfo(float).eps * variances[0]
    left = np.cumsum(np.maximum(variances, rounding)[::-1])[::-1][: most + 2]
    growth = np.log(left[:-1] / left[1:])
    return int((growth[:-1] / growth[1:]).argmax()) + 1
