"""Detection of discrete columns, whose levels must not be mistaken for groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

TIE = 1 / 3  # a column is discrete if more than this share of the rows are equal,
LEVELS = 10  # or if it has at most this many different values
SCREENED = 64  # rows that are checked for ties first
GOLDEN = 0.6180339887498949
MOSTLY = 1 / 3  # data are mostly discrete if more than this share of the columns are
FAR = 8.0  # distance from the levels of a discrete column, in units of their range


def discrete_columns(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark columns with few values, or with a value that a third of the rows share."""
    n = len(X)
    # Either shows as ties even in a few rows, unless these are chosen with the same
    # period as a pattern in the data; multiples of the golden ratio have no period.
    some = X
    if n > SCREENED:
        some = X[np.unique((np.arange(SCREENED) * GOLDEN % 1.0 * n).astype(int))]
    tied = (np.diff(np.sort(some, axis=0), axis=0) == 0).any(axis=0)
    discrete = np.zeros(X.shape[1], dtype=bool)
    places = [int(q * (n - 1)) for q in (0.25, 0.5, 0.75)]
    for column in np.flatnonzero(tied):
        values = np.sort(X[:, column])
        shares = [(values == values[place]).mean() for place in places]
        few = n > 2 * LEVELS and (np.diff(values) > 0).sum() < LEVELS
        discrete[column] = few or max(shares) > TIE
    return discrete


def separable_columns(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the columns in which a group of rows can stand apart: the continuous ones.

    If the data are mostly discrete, none is marked.
    """
    vary = X.min(axis=0) < X.max(axis=0)
    discrete = discrete_columns(X) & vary
    return np.asarray(~discrete & bool(discrete.sum() <= MOSTLY * vary.sum()))


def discrete_among(
    X: NDArray[Any], inner: NDArray[Any], rows: NDArray[Any]
) -> NDArray[np.bool_]:
    """Mark columns that are discrete in the rows `inner` and vary in `rows`."""
    return discrete_columns(X[inner]) & varying_columns(X, rows)


def varying_columns(X: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the columns that are not constant in some rows."""
    return np.asarray(X[rows].min(axis=0) < X[rows].max(axis=0))


def beyond_levels(X: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark rows with a value far from its column's levels, such as 99 among 1 to 5.

    Levels are the values of most rows. Columns with one value in nearly all rows are
    skipped, because the distance between their levels is unknown.
    """
    low, high = np.quantile(X[rows], [0.1, 0.9], axis=0)
    away = np.maximum(low - X, X - high)
    return np.asarray(((away > FAR * (high - low)) & (high > low)).any(axis=1))
