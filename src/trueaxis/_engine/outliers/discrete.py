"""Find discrete columns, in which levels must not be mistaken for groups of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

TIE = 1 / 3  # a column is discrete if one value holds more than this share of the rows,
LEVELS = 10  # or if it has no more values than these;
SCREENED = 64  # rows in which that shows first
GOLDEN = 0.6180339887498949
MOSTLY = 1 / 3  # a table is if more of its columns are than this
FAR = 8.0  # from the levels of a discrete column, in units of their range


def discrete_columns(table: NDArray[Any]) -> NDArray[np.bool_]:
    """Columns of few values, or with a value that a third of the rows share."""
    n = len(table)
    # Either shows in some rows already, unless there is a pattern in how they are
    # chosen: the golden ratio has none.
    some = table
    if n > SCREENED:
        some = table[np.unique((np.arange(SCREENED) * GOLDEN % 1.0 * n).astype(int))]
    tied = (np.diff(np.sort(some, axis=0), axis=0) == 0).any(axis=0)
    out = np.zeros(table.shape[1], dtype=bool)
    places = [int(q * (n - 1)) for q in (0.25, 0.5, 0.75)]
    for column in np.flatnonzero(tied):
        values = np.sort(table[:, column])
        shares = [(values == values[place]).mean() for place in places]
        few = n > 2 * LEVELS and (np.diff(values) > 0).sum() < LEVELS
        out[column] = few or max(shares) > TIE
    return out


def separable_columns(table: NDArray[Any]) -> NDArray[np.bool_]:
    """Columns in which a group of rows can be told from a level: the continuous ones.

    None, if the table is mostly discrete.
    """
    vary = table.min(axis=0) < table.max(axis=0)
    discrete = discrete_columns(table) & vary
    return ~discrete & bool(discrete.sum() <= MOSTLY * vary.sum())


def discrete_among(
    table: NDArray[Any], inner: NDArray[Any], rows: NDArray[Any]
) -> NDArray[np.bool_]:
    return discrete_columns(table[inner]) & varying_columns(table, rows)


def varying_columns(table: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.bool_]:
    return table[rows].min(axis=0) < table[rows].max(axis=0)


def beyond_levels(table: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Rows with a value that is no level of its column: 99 among marks from 1 to 5.

    Levels are what most rows have; a column of which nearly all rows have the same
    value does not tell how far apart levels are.
    """
    low, high = np.quantile(table[rows], [0.1, 0.9], axis=0)
    away = np.maximum(low - table, table - high)
    return ((away > FAR * (high - low)) & (high > low)).any(axis=1)
