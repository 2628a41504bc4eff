"""Random directions, and what the rows look like along them.

Many directions are only searched for the best of them, so that single precision is
enough: sorting and summing then takes less than half of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIRECTIONS = 250
SEED = 791249417
ENOUGH_ROWS = 1000  # rows that show what a direction looks like
ROWS_PER_COLUMN = 1  # that are enough to start from
MEDIAN_ROWS = 128
PLACES = 128  # at which a line is cut, or a window on it begins, in a search
LINE_BYTES = 1 << 18  # several arrays of this size stay in a core's own cache


def rough_median(X: NDArray[Any]) -> NDArray[np.float64]:
    """Return the median of some rows, which lies among most of the others."""
    some = X[:: max(1, len(X) // MEDIAN_ROWS)]
    middle = np.sort(some.T, axis=1)[:, len(some) // 2]
    return np.asarray(middle, dtype=float)


def direction_rng() -> np.random.Generator:
    """Return the generator of directions, always with the same seed.

    Random they must be, so that no data can hide from them, but not from fit to fit: a
    fit depends on `random_state` only where rows have to be sampled.
    """
    return np.random.default_rng(SEED)


def random_directions(
    X: NDArray[Any],
    rng: np.random.Generator,
    kept: NDArray[np.intp] | None = None,
) -> NDArray[np.float64]:
    """Return unit vectors between random pairs of rows, one per column.

    With `kept`, both rows of a pair are among these.
    """
    pairs = rng.integers(len(X if kept is None else kept), size=(2 * DIRECTIONS, 2))
    if kept is not None:
        pairs = kept[pairs]
    between = (X[pairs[:, 0]] - X[pairs[:, 1]]).astype(float)
    length = np.linalg.norm(between, axis=1)
    different = length > 1e-9 * length.max(initial=0.0)
    units: NDArray[np.float64] = (between[different] / length[different, None]).T
    return units[:, :DIRECTIONS]


def enough_rows(shape: tuple[int, ...]) -> int:
    """Return a step: every step-th row is enough to start from.

    The rows are sorted by their distance, so every i-th row is a fair sample.
    """
    n, D = shape
    return max(1, n // max(ENOUGH_ROWS, ROWS_PER_COLUMN * D))


def lines_along(
    X: NDArray[Any], directions: NDArray[Any]
) -> Iterator[NDArray[np.float32]]:
    """Yield projections of the rows, some directions at a time, one line for each.

    They are relative to the first row, in units in which single precision is enough.
    """
    origin = X[0]
    some = np.abs(X[:: max(1, len(X) // PLACES)] - origin).max()
    scale = some if some > 0 else np.abs(X - origin).max()
    rows = np.empty(X.shape, dtype=np.float32)
    block = max(1, LINE_BYTES // rows[0].nbytes)
    for first in range(0, len(X), block):
        y = X[first : first + block] - origin
        rows[first : first + block] = y / (scale if scale > 0 else 1.0)
    units = directions.T.astype(np.float32)
    step = max(1, LINE_BYTES // (len(X) * rows.itemsize))
    for first in range(0, len(units), step):
        yield units[first : first + step] @ rows.T


def step_of(n: int) -> int:
    """Return the distance between the places, along n values, that a search tries."""
    return max(1, n // PLACES)


def partial_sums(Z: NDArray[Any], step: int) -> NDArray[Any]:
    """Return the sums of the first step, 2 step, ... values of every line.

    Adding up steps first is several times as fast as one running sum.
    """
    end = Z.shape[1] // step * step
    total = Z[:, 0:end:step].copy()
    for i in range(1, step):
        total += Z[:, i:end:step]
    return np.cumsum(total, axis=1, out=total)
