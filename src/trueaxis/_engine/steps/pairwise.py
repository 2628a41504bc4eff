"""Scatter of all pairs of rows, for the method that weights pairs instead of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

PAIRS_AT_A_TIME = 1 << 21
SAME = 1e-8  # relative to the length of rows; smaller differences lack digits


def pairwise_scatter(
    X: NDArray[Any], power: float, counts: NDArray[Any] | None
) -> NDArray[np.float64]:
    """Return the sum of (x - x')(x - x')' / |x - x'|^power over all pairs.

    Pairs of equal or nearly equal rows are skipped.
    """
    n, D = X.shape
    length = np.linalg.norm(X, axis=1)
    c = np.ones(n) if counts is None else counts
    scatter = np.zeros((D, D))
    block = max(1, PAIRS_AT_A_TIME // n)
    for first in range(0, n, block):
        some = slice(first, first + block)
        distance = cdist(X[some], X)
        apart = distance > SAME * np.maximum(length[some, None], length)
        weight = np.zeros_like(distance)
        np.power(distance, -power, out=weight, where=apart)
        weight *= c[some, None] * c
        # Each pair occurs in both orders, and one half of it is added each time.
        degree = weight.sum(axis=1)
        scatter += X[some].T @ (degree[:, None] * X[some] - weight @ X)
    return 0.5 * (scatter + scatter.T)
