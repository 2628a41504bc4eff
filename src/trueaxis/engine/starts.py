"""START: the half of the rows that lies deepest in the cloud.

Equal weights are a poor start, because gross outliers drag the mean. Stahel-Donoho
outlyingness looks at the rows along many directions, and takes the worst view of each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

DIRECTIONS = 250


def directions(S: NDArray, rng: np.random.Generator) -> NDArray[np.float64]:
    """Unit vectors through random pairs of rows, one per column."""
    pairs = rng.integers(len(S), size=(2 * DIRECTIONS, 2))
    between = (S[pairs[:, 0]] - S[pairs[:, 1]]).astype(float)
    length = np.linalg.norm(between, axis=1)
    usable = length > 1e-9 * length.max(initial=0.0)
    between, length = between[usable][:DIRECTIONS], length[usable][:DIRECTIONS]
    return (between / length[:, None]).T


def deepest_half(S: NDArray, directions: NDArray, least: int) -> NDArray[np.bool_]:
    """Mark the half of the rows (or `least`) with the least outlyingness."""
    n = len(S)
    half = np.zeros(n, dtype=bool)
    if directions.shape[1] == 0:  # all rows are equal
        return ~half
    Z = (S - S[0]) @ directions  # centred for the digits only
    half[np.argsort(outlyingness(Z), kind="stable")[: max(n // 2 + 1, least)]] = True
    return half


def outlyingness(Z: NDArray) -> NDArray[np.float64]:
    """Largest distance from the centre of a projection, in units of its spread."""
    h = len(Z) // 2 + 1
    centre, spread = shortest_variance(Z, h)
    # A direction in which half of the rows tie has no spread of its own.
    total = Z.std(axis=0)
    spread = np.where(spread > 1e-6 * total, spread, total)
    usable = spread > 0
    if not usable.any():
        return np.zeros(len(Z))
    out = np.abs(Z[:, usable] - centre[usable])
    out /= spread[usable]
    return out.max(axis=1)


def shortest_variance(
    Z: NDArray, h: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Univariate MCD of every column: mean and deviation of its tightest h values.

    Median and MAD would let a tight cluster of 35 % of the rows win; this does not.
    """
    S = np.sort(Z, axis=0)
    n, columns = S.shape
    length = S[h - 1 :] - S[: n - h + 1]
    at, each = length.argmin(axis=0), np.arange(columns)
    middle = S[at + h // 2, each]
    # Values far from the shortest half are in no candidate; clipped, they cannot spoil
    # the digits of the running sums.
    S -= middle
    reach = (np.sqrt(h) + 2.0) * length[at, each]
    np.clip(S, -reach, reach, out=S)
    mean = _running_means(S, h)
    np.square(S, out=S)
    variance = _running_means(S, h) - mean**2
    best = variance.argmin(axis=0)
    deviation = np.sqrt(np.maximum(variance[best, each], 0.0))
    return mean[best, each] + middle, deviation


def _running_means(S: NDArray, h: int) -> NDArray[np.float64]:
    total = np.zeros((len(S) + 1, S.shape[1]))
    np.cumsum(S, axis=0, out=total[1:])
    return (total[h:] - total[:-h]) / h
