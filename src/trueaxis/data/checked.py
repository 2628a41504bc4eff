"""Checks of values: no infinity, nothing whose square overflows, no holes (NaN).

Methods that take rows with holes allow NaN.

Rows in memory are checked immediately. Rows of a source are checked when they are first
read, since a separate pass may cost as much as the fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.rows import Kernel, Rows, WrappedRows
from trueaxis.data.transformed import TransformedKernel, TransformedRows, Where


class IncompleteRows(ValueError):
    """Rows have holes (NaN), where complete rows are needed."""


def refuse_nonfinite(
    rows: Rows, names: Sequence[Any] | None, holes: bool = False
) -> None:
    """Raise if a value is infinite, or NaN unless holes are allowed.

    The largest absolute value is stored, and whether there are holes.
    """
    _, state = rows.scan(FiniteKernel(rows, names, holes))
    rows.largest, rows.complete = state


def refuse_overflow(rows: Rows) -> None:
    """Raise if squares of values overflow, now or when the rows are first read."""
    limit = largest_squarable(rows.dtype)
    if rows.limit is not None:
        rows.limit = limit
        return
    # Masked rows may have values of any size. The maximum over all rows is already
    # known, and often makes a pass unnecessary.
    largest = rows.rows.largest if isinstance(rows, TransformedRows) else rows.largest
    if largest is not None and largest <= limit:
        return
    _, (size, row) = rows.scan(LargestValueKernel())
    if size > limit:
        raise_overflow(rows, rows.take(np.array([row])), np.array([row]), limit)


class FiniteKernel(Kernel):
    """Kernel that raises if a value is infinite, or NaN unless holes are allowed.

    Its state is the largest absolute value, and whether there are no holes.
    """

    title = "finite values"

    def __init__(self, rows: Rows, names: Sequence[Any] | None, holes: bool) -> None:
        self.rows, self.names, self.holes = rows, names, holes

    def start(self) -> list[Any]:
        """Return an empty state."""
        return [0.0, True]

    def absorb(self, state: list[Any], block: NDArray[Any], first: int) -> None:
        """Check a block."""
        size = largest_magnitude(block)
        if self.holes and np.isnan(size):
            size, state[1] = largest_seen(block), False
        if not np.isfinite(size):
            index = np.arange(first, first + len(block))
            where = f"rows {first} to {index[-1]}"
            raise_nonfinite(self.rows, block, index, where, self.names)
        state[0] = max(state[0], size)

    def merge(self, state: list[Any], other: list[Any]) -> list[Any]:
        """Return the larger value, and whether neither has holes."""
        return [max(state[0], other[0]), state[1] and other[1]]


class LargestValueKernel(Kernel):
    """Kernel that finds the largest absolute value and its row.

    Parameters
    ----------
    offset : int
        Number of rows before those of this part.
    """

    title = "largest value"

    def __init__(self, offset: int = 0) -> None:
        self.offset = offset

    def part(self, first: int, n: int) -> LargestValueKernel:
        """Return the kernel for n rows starting at `first`."""
        return LargestValueKernel(self.offset + first)

    def start(self) -> list[Any]:
        """Return an empty state: value and row."""
        return [0.0, 0]

    def absorb(self, state: list[Any], block: NDArray[Any], first: int) -> None:
        """Update the state with a block."""
        size = largest_magnitude(block)
        if size > state[0]:
            row = int(np.nan_to_num(np.abs(block)).max(axis=1).argmax())
            state[:] = [size, self.offset + first + row]

    def merge(self, state: list[Any], other: list[Any]) -> list[Any]:
        """Return the state with the larger value."""
        return other if other[0] > state[0] else state


def largest_squarable(dtype: np.dtype[Any]) -> float:
    """Return the largest value whose squares can be summed without overflow."""
    return float(np.sqrt(np.finfo(dtype).max) * 1e-4)


class ValueCheck(NamedTuple):
    """Check of the values of a block.

    Attributes
    ----------
    places : Rows
        Describes where a row is, for error messages.
    names : sequence or None
        Column names, for error messages.
    limit : float
        Largest absolute value that is allowed.
    holes : bool
        Whether NaN are allowed.
    """

    places: Rows
    names: Sequence[Any] | None
    limit: float
    holes: bool = False

    def __call__(self, block: NDArray[Any], index: NDArray[Any]) -> None:
        """Raise if the rows with these indices have NaN, infinity or larger values."""
        size = largest_magnitude(block)
        if self.holes and np.isnan(size):
            size = largest_seen(block)
        if not np.isfinite(size):
            where = f"{len(index):,} rows from row {index.min():,} on"
            raise_nonfinite(self.places, block, index, where, self.names)
        if size > self.limit:
            raise_overflow(self.places, block, index, self.limit)


class CheckedBlock(NamedTuple):
    """Transform that checks the values of a block and returns it unchanged.

    Attributes
    ----------
    check : ValueCheck
    offset : int
        Number of rows before those of this part.
    """

    check: ValueCheck
    offset: int = 0

    def __call__(self, block: NDArray[Any], where: Where) -> NDArray[Any]:
        """Check and return the block."""
        assert isinstance(where, slice)
        self.check(block, self.offset + np.arange(where.start, where.stop))
        return block

    def part(self, first: int, n: int) -> CheckedBlock:
        """Return the transform for n rows starting at `first`."""
        return CheckedBlock(self.check, self.offset + first)


class CheckedRows(WrappedRows):
    """Rows whose values are checked when they are first read.

    Parameters
    ----------
    rows : Rows
    names : sequence of str, or None
        Column names for error messages, if the rows have none.
    holes : bool
        Whether NaN are allowed.
    """

    def __init__(
        self, rows: Rows, names: Sequence[Any] | None = None, *, holes: bool = False
    ) -> None:
        super().__init__(rows)
        self.holes = holes
        self.names = rows.names
        self.limit: float = np.inf
        self._columns = names if rows.names is None else rows.names
        self._checked = 0  # rows before this one have been checked

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (index of the first row, block), in order."""
        for first, block in self.rows.blocks():
            if first + len(block) > self._checked:
                self._check()(block, np.arange(first, first + len(block)))
                if first <= self._checked:
                    self._checked = first + len(block)
            yield first, block

    def scan(self, kernel: Kernel) -> tuple[NDArray[Any], Any]:
        """Read the data once; return the per-row records and the kernel's state."""
        n = self.shape[0]
        if self._checked < n:
            kernel = TransformedKernel(kernel, CheckedBlock(self._check()))
        answer = self.rows.scan(kernel)
        self._checked = n
        return answer

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices into memory, in the order of `index`."""
        out = self.rows.take(index)
        self._check()(out, index)
        return out

    def _check(self) -> ValueCheck:
        return ValueCheck(self, self._columns, self.limit, self.holes)


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
    """Return the largest absolute value, holes left out."""
    low = np.fmin.reduce(block, axis=None, initial=0.0)
    high = np.fmax.reduce(block, axis=None, initial=0.0)
    return max(float(high), -float(low))


def raise_nonfinite(
    rows: Rows,
    block: NDArray[Any],
    index: NDArray[Any],
    where: str,
    names: Sequence[Any] | None,
) -> None:
    """Raise an error that names the first NaN or infinite cell of a block."""
    infinite = np.isinf(block)
    bad = infinite if infinite.any() else np.isnan(block)
    row, column = np.argwhere(bad)[0]
    name = column if names is None else repr(str(names[column]))
    what = "infinity" if infinite.any() else "NaN"
    found = (
        f"X contains {what} in {rows.place(int(index[row]))}, column {name} (such "
        f"cells in {where}: {bad.sum()})."
    )
    if infinite.any():
        raise ValueError(
            f"{found} Distances need finite numbers: drop these rows, or replace the "
            "cells by NaN, which DSWL takes as missing."
        )
    raise IncompleteRows(
        f"{found} Complete rows are needed here: use DSWL, which takes missing cells, "
        "fill them with DSWL().fit(X).impute(X), or drop the rows."
    )


def raise_overflow(
    rows: Rows, block: NDArray[Any], index: NDArray[Any], limit: float
) -> None:
    """Raise an error that names the row with the largest value of a block."""
    row = int(np.nan_to_num(np.abs(block)).max(axis=1).argmax())
    place = rows.place(int(index[row]))
    raise ValueError(
        f"The squared distances of the rows overflow: {place} of X has a value of "
        f"{largest_seen(block):.2g}, and {rows.dtype} can only square values up to "
        f"{limit:.0g}. Remove such rows, rescale X, or use DSWL, whose robust start "
        "leaves them out."
    )
