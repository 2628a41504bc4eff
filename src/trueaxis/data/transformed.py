"""Rows that are changed or checked, block by block, as they are read.

Values are checked for infinity, for values whose square overflows, and for missing
cells (NaN) unless a method takes them. Rows in memory are checked immediately; rows of
a source whenever they are read, since a separate pass may cost as much as the fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.rows import (
    Blocks,
    BlockTransform,
    Changes,
    Kernel,
    Rows,
)
from trueaxis.data.rows import (
    Where as Where,
)


class TransformedRows(Rows):
    """Rows after a transform that is applied block by block."""

    def __init__(self, rows: Rows, change: BlockTransform) -> None:
        self.rows, self.change = rows, change
        self.shape, self.dtype = rows.shape, rows.dtype
        self.in_memory, self.lazy = rows.in_memory, rows.lazy

    def blocks(self) -> Blocks:
        """Yield (index of the first row, block), in order."""
        for first, block in self.rows.blocks():
            yield first, self.change(block, slice(first, first + len(block)))

    def scan(self, kernel: Kernel, changes: Changes = ()) -> tuple[NDArray[Any], Any]:
        """Read the data once; return the per-row records and the kernel's state."""
        return self.rows.scan(kernel, [self.change, *changes])

    def each(self, kernel: Kernel, changes: Changes = ()) -> Any:
        """Return only the per-row records, lazily if the rows are lazy."""
        return self.rows.each(kernel, [self.change, *changes])

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices, in the order of `index`."""
        return self.change(self.rows.take(index), index)

    def refuse_above(self, limit: float) -> bool:
        """Refuse larger values when they are read; False if this cannot be done."""
        if not isinstance(self.change, ValueCheck):
            return False
        self.change = self.change._replace(limit=limit)
        return True

    def place(self, row: int) -> str:
        """Describe where a row is."""
        return self.rows.place(row)

    def __enter__(self) -> Self:
        self.rows.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self.rows.__exit__(*raised)


class ReplaceUncounted(NamedTuple):
    """Transform that replaces rows with zero sample weight by a fixed row.

    Their values may be of any size, and must not overflow in a kernel.
    """

    counts: NDArray[np.float64]
    row: NDArray[Any]

    def __call__(self, block: NDArray[Any], where: Where) -> NDArray[Any]:
        """Return the block with these rows replaced."""
        return np.where(self.counts[where, None] > 0, block, self.row)

    def part(self, first: int, n: int) -> ReplaceUncounted:
        """Return the transform for n rows starting at `first`."""
        return ReplaceUncounted(self.counts[first : first + n], self.row)


def replace_uncounted(rows: Rows, counts: NDArray[np.float64]) -> TransformedRows:
    """Replace rows with zero sample weight by the first row with a positive one."""
    row = rows.take(np.flatnonzero(counts)[:1])
    return TransformedRows(rows, ReplaceUncounted(counts, row))


# ---------------------------------------------------------------- checks of values


class IncompleteRows(ValueError):
    """Rows have missing cells (NaN), where complete rows are needed."""


class ValueCheck(NamedTuple):
    """Check of the values of a block, which is returned unchanged.

    Attributes
    ----------
    place : callable
        Describes where the row with an index is, for error messages.
    names : sequence or None
        Column names, for error messages.
    limit : float
        Largest absolute value that is allowed.
    missing_ok : bool
        Whether NaN are allowed.
    offset : int
        Number of rows before those of this part.
    """

    place: Callable[[int], str]
    names: Sequence[Any] | None
    limit: float = np.inf
    missing_ok: bool = False
    offset: int = 0

    def __call__(self, block: NDArray[Any], where: Where) -> NDArray[Any]:
        """Raise if the rows with these indices have NaN, infinity or larger values."""
        size = largest_magnitude(block)
        if self.missing_ok and np.isnan(size):
            size = largest_seen(block)
        if not size <= self.limit or np.isinf(size):
            index = (
                np.arange(where.start, where.stop)
                if isinstance(where, slice)
                else where
            )
            self._refuse(block, self.offset + index, size)
        return block

    def part(self, first: int, n: int) -> ValueCheck:
        """Return the check for n rows starting at `first`."""
        return self._replace(offset=self.offset + first)

    def _refuse(self, block: NDArray[Any], index: NDArray[Any], size: float) -> None:
        """Raise an error that names the first wrong cell, or the largest value."""
        if np.isfinite(size):
            row = int(np.nan_to_num(np.abs(block)).max(axis=1).argmax())
            raise ValueError(
                "The squared distances of the rows overflow: "
                f"{self.place(int(index[row]))} of X has a value of {size:.2g}, and "
                f"{block.dtype} can only square values up to {self.limit:.0g}. Remove "
                "such rows, rescale X, or use DSWL, whose robust start leaves them out."
            )
        infinite = np.isinf(block)
        bad = infinite if infinite.any() else np.isnan(block)
        row, column = np.argwhere(bad)[0]
        name = column if self.names is None else repr(str(self.names[column]))
        found = (
            f"X contains {'infinity' if infinite.any() else 'NaN'} in "
            f"{self.place(int(index[row]))}, column {name} (such cells in "
            f"{len(index):,} rows from row {index.min():,} on: {bad.sum()})."
        )
        if infinite.any():
            raise ValueError(
                f"{found} Distances need finite numbers: drop these rows, or replace "
                "the cells by NaN, which DSWL takes as missing."
            )
        raise IncompleteRows(
            f"{found} Complete rows are needed here: use DSWL, which takes missing "
            "cells, fill them with DSWL().fit(X).repair(X), or drop the rows."
        )


class RangeKernel(Kernel):
    """Kernel that checks all values.

    Its state is the largest absolute value, and whether no cell is missing.
    """

    def __init__(self, check: ValueCheck) -> None:
        self.check = check

    def start(self) -> list[Any]:
        """Return an empty state."""
        return [0.0, True]

    def absorb(self, state: list[Any], block: NDArray[Any], first: int) -> None:
        """Check a block."""
        self.check(block, slice(first, first + len(block)))
        size = largest_magnitude(block)
        complete = not np.isnan(size)
        size = size if complete else largest_seen(block)
        state[:] = [max(state[0], size), state[1] and complete]

    def merge(self, state: list[Any], other: list[Any]) -> list[Any]:
        """Return the larger value, and whether neither has missing cells."""
        return [max(state[0], other[0]), state[1] and other[1]]

    def part(self, first: int, n: int) -> RangeKernel:
        """Return the kernel for n rows starting at `first`."""
        return RangeKernel(self.check.part(first, n))


def refuse_nonfinite(
    rows: Rows, names: Sequence[Any] | None, missing_ok: bool = False
) -> None:
    """Raise if a value is infinite, or NaN unless missing cells are allowed.

    The largest absolute value is stored, and whether cells are missing.
    """
    _, state = rows.scan(
        RangeKernel(ValueCheck(rows.place, names, missing_ok=missing_ok))
    )
    rows.largest, rows.complete = state


def refuse_overflow(rows: Rows) -> None:
    """Raise if squares of values overflow, now or when the rows are first read."""
    limit = largest_squarable(rows.dtype)
    if rows.refuse_above(limit):
        return
    # Masked rows may have values of any size. The maximum over all rows is already
    # known, and often makes a pass unnecessary.
    largest = rows.rows.largest if isinstance(rows, TransformedRows) else rows.largest
    if largest is None or largest > limit:
        rows.scan(RangeKernel(ValueCheck(rows.place, None, limit, missing_ok=True)))


def checked_rows(
    rows: Rows, names: Sequence[Any] | None = None, *, missing_ok: bool = False
) -> TransformedRows:
    """Return rows whose values are checked as they are read, with these column names.

    NaN are allowed if `missing_ok` is set.
    """
    names = names if rows.names is None else rows.names
    checked = TransformedRows(
        rows, ValueCheck(rows.place, names, missing_ok=missing_ok)
    )
    checked.names = rows.names
    return checked


def largest_squarable(dtype: np.dtype[Any]) -> float:
    """Return the largest value whose squares can be summed without overflow."""
    return float(np.sqrt(np.finfo(dtype).max) * 1e-4)


def check_columns(estimator: Any, rows: Rows, reset: bool) -> None:
    """Store the number and names of columns, or compare them with those of the fit."""
    n, names = rows.shape[1], rows.names
    if reset:
        estimator.n_features_in_ = n
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return
    kind, n_fitted = type(estimator).__name__, estimator.n_features_in_
    if n != n_fitted:
        raise ValueError(
            f"X has {n} features, but {kind} is expecting {n_fitted} features as "
            "input. Pass the columns that it was fitted on, in the same order."
        )
    fitted = getattr(estimator, "feature_names_in_", None)
    if names is None or fitted is None or list(names) == list(fitted):
        return
    at = next(i for i in range(n) if names[i] != fitted[i])
    raise ValueError(
        f"Column {at} of X is {names[at]!r}, but {kind} was fitted on {fitted[at]!r} "
        "there. Open the source with columns=list(model.feature_names_in_)."
    )


def largest_magnitude(block: NDArray[Any]) -> float:
    """Return the largest absolute value; NaN or infinite if any value is."""
    # The extremes reveal any NaN or infinity without a temporary array.
    return max(float(block.max(initial=0.0)), -float(block.min(initial=0.0)))


def largest_seen(block: NDArray[Any]) -> float:
    """Return the largest absolute value, without missing cells."""
    low = np.fmin.reduce(block, axis=None, initial=0.0)
    high = np.fmax.reduce(block, axis=None, initial=0.0)
    return max(float(high), -float(low))
