"""Detection of discrete columns, whose levels must not be mistaken for groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOSTLY = 1 / 3  # data are mostly discrete if more than this share of the columns are
TIE = 1e-5  # values that differ by less, relative to their spread, are the same level


def discrete_columns(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark columns with a value that most rows share, or with few values.

    Few are at most the square root of the number of rows.
    """
    n = len(X)
    values = np.sort(X, axis=0)
    tie = tie_of(values)
    few = (np.diff(values, axis=0) > tie).sum(axis=0) + 1 <= np.sqrt(n)
    shared = (np.abs(X - values[n // 2]) <= tie).sum(axis=0)
    return np.asarray(few | (2 * shared > n))


def tie_of(values: NDArray[Any]) -> Any:
    """Return the difference up to which sorted values, or columns of them, are equal.

    It is relative to the shortest interval with three quarters of the values: the
    others may be far away, and half of the values may be the same.
    """
    n = len(values)
    most = 3 * n // 4
    with np.errstate(invalid="ignore"):
        widths = values[most:] - values[: n - most]
    return TIE * np.nan_to_num(widths.min(axis=0).astype(float), posinf=0.0)


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
