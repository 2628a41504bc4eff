"""Detection of discrete columns, whose levels must not be mistaken for groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOSTLY = 1 / 3  # data are mostly discrete if more than this share of the columns are
SCREENED = 64  # rows that are checked for ties first
GOLDEN = 0.6180339887498949
TIE = 1e-4  # values that differ by less, in standard deviations, are the same level


def discrete_columns(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark columns with a value that most rows share, or with few values.

    Few are at most the square root of the number of rows.
    """
    n = len(X)
    # Either shows as ties even in a few rows, unless these are chosen with the same
    # period as a pattern in the data; multiples of the golden ratio have no period.
    some = X
    if n > SCREENED:
        some = X[np.unique((np.arange(SCREENED) * GOLDEN % 1.0 * n).astype(int))]
    tie = TIE * X.std(axis=0, dtype=float)
    tied = (np.diff(np.sort(some, axis=0), axis=0) <= tie).any(axis=0)
    discrete = np.zeros(X.shape[1], dtype=bool)
    for column in np.flatnonzero(tied):
        values = np.sort(X[:, column])
        few = (np.diff(values) > tie[column]).sum() + 1 <= np.sqrt(n)
        shared = np.abs(values - values[n // 2]) <= tie[column]
        discrete[column] = few or 2 * shared.sum() > n
    return discrete


def separable_columns(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the columns in which a group of rows can stand apart: the continuous ones.

    If the data are mostly discrete, none is marked.
    """
    vary = varying_columns(X)
    discrete = discrete_columns(X) & vary
    return np.asarray(~discrete & bool(discrete.sum() <= MOSTLY * vary.sum()))


def varying_columns(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the columns that are not constant."""
    return np.asarray(X.min(axis=0) < X.max(axis=0))
