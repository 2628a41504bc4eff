"""CHECK values: no NaN, no infinity, nothing whose square is beyond floats.

Rows in memory are checked at once. Rows of a source are checked when they are read for
the first time, since a pass of its own may cost as much as the fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._rows.base import Kernel, Rows, WrappedRows
from trueaxis._rows.transformed import TransformedRows


def refuse_nonfinite(rows: Rows, names: Sequence[Any] | None) -> None:
    """Refuse NaN and infinity, and note the largest size of a value."""
    largest = 0.0
    for first, block in rows.blocks():
        size = largest_magnitude(block)
        if not np.isfinite(size):
            where = f"rows {first} to {first + len(block) - 1}"
            raise_nonfinite(
                rows, block, np.arange(first, first + len(block)), where, names
            )
        largest = max(largest, size)
    rows.largest = largest


def refuse_overflow(rows: Rows) -> None:
    """Refuse rows whose squares are beyond floats."""
    limit = largest_squarable(rows.dtype)
    if rows.limit is not None:
        rows.limit = limit
        return
    # What does not count may be of any size: ask all rows first, who know already.
    known = rows.rows.largest if isinstance(rows, TransformedRows) else rows.largest
    if known is not None and known <= limit:
        return
    _, (size, row) = rows.scan(LargestValueKernel())
    if size > limit:
        raise_overflow(rows, rows.take(np.array([row])), np.array([row]), limit)


class LargestValueKernel(Kernel):
    """Largest size of a value, and its row."""

    title = "largest value"

    def __init__(self, before: int = 0) -> None:
        self.before = before  # rows

    def part(self, first: int, n: int) -> LargestValueKernel:
        """The kernel for n rows from row `first` on."""
        return LargestValueKernel(self.before + first)

    def start(self) -> list[Any]:
        """Nothing yet."""
        return [0.0, 0]

    def absorb(self, state: list[Any], block: NDArray[Any], first: int) -> None:
        """Look at a block."""
        size = largest_magnitude(block)
        if size > state[0]:
            row = int(np.abs(block).max(axis=1).argmax())
            state[:] = [size, self.before + first + row]

    def merge(self, state: list[Any], other: list[Any]) -> list[Any]:
        """The larger one."""
        return other if other[0] > state[0] else state


def largest_squarable(dtype: np.dtype[Any]) -> float:
    """Largest value that can be squared and summed."""
    return float(np.sqrt(np.finfo(dtype).max) * 1e-4)


class ValueCheck(NamedTuple):
    """What is looked for in a block before anything is made of it.

    places : says where a row is
    names : of the columns, for messages
    limit : largest size that a value may have
    """

    places: Rows
    names: Sequence[Any] | None
    limit: float

    def __call__(self, block: NDArray[Any], index: NDArray[Any]) -> None:
        """Refuse NaN, infinity and values beyond the limit in rows of these numbers."""
        size = largest_magnitude(block)
        if not np.isfinite(size):
            where = f"{len(index):,} rows from row {index.min():,} on"
            raise_nonfinite(self.places, block, index, where, self.names)
        if size > self.limit:
            raise_overflow(self.places, block, index, self.limit)


class CheckedRows(WrappedRows):
    """Rows that are checked when they are read for the first time.

    Parameters
    ----------
    rows : Rows
    names : sequence of str, or None
        Of the columns, for messages.
    """

    def __init__(self, rows: Rows, names: Sequence[Any] | None = None) -> None:
        super().__init__(rows)
        self.names = rows.names
        self.limit: float = np.inf
        self._columns = names if rows.names is None else rows.names
        self._checked = 0  # rows from the first on

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (number of the first row, block), in order."""
        for first, block in self.rows.blocks():
            if first + len(block) > self._checked:
                self._check(block, np.arange(first, first + len(block)))
                if first <= self._checked:
                    self._checked = first + len(block)
            yield first, block

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these numbers into memory, in the order of `index`."""
        out = self.rows.take(index)
        self._check(out, index)
        return out

    def _check(self, block: NDArray[Any], index: NDArray[Any]) -> None:
        ValueCheck(self, self._columns, self.limit)(block, index)


def check_columns(estimator: Any, rows: Rows, reset: bool) -> None:
    """Store number and names of columns, or compare them with those of the fit."""
    n, names = rows.shape[1], rows.names
    if reset:
        estimator.n_features_in_ = n
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return
    kind, fitted = type(estimator).__name__, estimator.n_features_in_
    if n != fitted:
        raise ValueError(
            f"X has {n} features, but {kind} is expecting {fitted} features as input. "
            "Pass the columns that it was fitted on, in the same order."
        )
    known = getattr(estimator, "feature_names_in_", None)
    if names is None or known is None or list(names) == list(known):
        return
    at = next(i for i in range(n) if names[i] != known[i])
    raise ValueError(
        f"Column {at} of X is {names[at]!r}, but {kind} was fitted on {known[at]!r} "
        "there. Open the source with columns=list(model.feature_names_in_)."
    )


def largest_magnitude(block: NDArray[Any]) -> float:
    """Largest size of a value; not finite, if any is not."""
    # The extremes tell of any NaN or infinity without a temporary array.
    return max(float(block.max(initial=0.0)), -float(block.min(initial=0.0)))


def raise_nonfinite(
    rows: Rows,
    block: NDArray[Any],
    index: NDArray[Any],
    where: str,
    names: Sequence[Any] | None,
) -> None:
    """Say where a NaN or infinity is."""
    bad = ~np.isfinite(block)
    row, column = np.argwhere(bad)[0]
    what = "NaN" if np.isnan(block[row, column]) else "infinity"
    name = column if names is None else repr(str(names[column]))
    raise ValueError(
        f"X contains {what} in {rows.place(int(index[row]))}, column {name} (such "
        f"cells in {where}: {bad.sum()}). Distances need finite numbers: drop or "
        "impute the rows."
    )


def raise_overflow(
    rows: Rows, block: NDArray[Any], index: NDArray[Any], limit: float
) -> None:
    """Say where a value is whose square is beyond floats."""
    row = int(np.abs(block).max(axis=1).argmax())
    place = rows.place(int(index[row]))
    raise ValueError(
        f"The squared distances of the rows overflow: {place} of X has a value of "
        f"{np.abs(block).max():.1g}, and squares of {rows.dtype} end at "
        f"{limit:.0g}. Remove such rows, rescale X, or use DSWL, whose robust start "
        "leaves them out."
    )
