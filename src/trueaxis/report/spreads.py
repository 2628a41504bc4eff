"""Find the columns with the largest and the smallest spread, without sorting them all.

A sample of the rows bounds the spread of every column. Only columns that may be the
extreme ones are measured, as `uneven_columns` does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.preprocessing.scaler import (
    NORMAL_MAD,
    UNEVEN,
    UnevenSpread,
    uneven_columns,
)

SAMPLE_ROWS = 1 << 13
FEW = 4 * SAMPLE_ROWS  # rows; fewer are measured at once
CHANCE = 1e-9  # that a bound is wrong, whatever the rows are
SEED = 0


class Bounds(NamedTuple):
    """Bounds of the spread of every column; NaN if there are none."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]


def uneven_spreads(X: NDArray[Any]) -> UnevenSpread | None:
    """Return what `uneven_columns` returns, quickly for many rows.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Without holes.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.report.spreads import uneven_spreads
    >>> X = np.random.default_rng(0).standard_normal((50_000, 5))
    >>> uneven_spreads(X), uneven_spreads(X * [1, 1, 1e4, 1, 1]).wide
    (None, 2)
    """
    if len(X) < FEW:
        return uneven_columns(X)
    low, high = spread_bounds(X)
    bounded = ~np.isnan(low)
    if bounded.all() and high.max() <= UNEVEN * low.min():
        return None
    some = ~bounded
    if bounded.any():
        widest, narrowest = np.nanmax(low), np.nanmin(high)
        some |= (high >= widest) | (low <= narrowest)
    columns = np.flatnonzero(some)
    found = uneven_columns(X[:, columns])
    if found is None:
        return None
    wide, narrow = columns[[found.wide, found.narrow]].tolist()
    return found._replace(wide=wide, narrow=narrow)


def spread_bounds(X: NDArray[Any]) -> Bounds:
    """Bound the median absolute deviation of every column, by a sample of rows.

    By the inequality of Dvoretzky, Kiefer and Wolfowitz, no share of the rows below a
    value differs by more than `slack` in the sample.
    """
    n, D = X.shape
    rows = X[np.random.default_rng(SEED).integers(0, n, SAMPLE_ROWS)].astype(float) / 4
    slack = np.sqrt(np.log(2 * D / CHANCE) / (2 * SAMPLE_ROWS))
    below, center, above = np.quantile(rows, [0.5 - slack, 0.5, 0.5 + slack], axis=0)
    shift = np.maximum(above - center, center - below)  # of the median of all rows
    # The share of rows within a distance is the difference of two such shares.
    around = [0.5 - 2 * slack, 0.5 + 2 * slack]
    near, far = np.quantile(np.abs(rows - center), around, axis=0)
    low, high = 4 * NORMAL_MAD * (near - shift), 4 * NORMAL_MAD * (far + shift)
    # A column most of whose values are equal has another measure of spread.
    known = (low > 0) & np.isfinite(high)
    return Bounds(np.where(known, low, np.nan), np.where(known, high, np.nan))
