"""Detection of discrete columns, whose levels must not be mistaken for groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOSTLY = 1 / 3  # data are mostly discrete if more than this share of the columns are
GLANCE = 8  # rows, times the square root of their number, that are looked at first
TIE = 1e-5  # values that differ by less, relative to their spread, are the same level


def discrete_columns(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark columns with a value that most rows share, or with few values.

    Few are at most the square root of the number of rows. Most columns are plainly
    continuous in some of the rows already, and are not looked at again.
    """
    n = len(X)
    few = np.sqrt(n)
    size = min(n, int(GLANCE * few))
    # Drawn at random: values may come back every other row.
    some = X[np.random.default_rng(0).permutation(n)[:size]]
    discrete = _has_levels(some, 2 * few, len(some) // 4)
    if discrete.any():
        discrete[discrete] = _has_levels(X[:, discrete], few, n // 2)
    return discrete


def _has_levels(X: NDArray[Any], few: float, many: int) -> NDArray[np.bool_]:
    """Mark columns with at most `few` values, or one that more than `many` rows share.

    Values within a tie are the same.
    """
    values = np.sort(X.T, axis=1)
    tie = np.asarray(tie_of(values.T))[:, None]
    n_values = (np.diff(values, axis=1) > tie).sum(axis=1) + 1
    shared = (values[:, many:] - values[:, : len(X) - many] <= tie).any(axis=1)
    return np.asarray((n_values <= few) | shared)


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
