"""READ: the data behind one interface, so that no method knows where its rows live.

`validation` turns what the user gave into a `Rows`; the engine hands it kernels. A new
source of rows writes `shape`, `dtype` and `blocks`, and inherits the rest; one whose
blocks live elsewhere (other processes) writes `scan` and `map` as well. `sources` has
those that read files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from trueaxis._rows.memory import SHARE_OF_ALL_ROWS, refuse_large
from trueaxis._rows.progress import SILENT, Advance, passing

# A block of this size stays in a core's own cache while a kernel goes over it
# several times.
BLOCK_BYTES = 1 << 20
MIN_BLOCK_ROWS = 256


def rows_per_block(n_columns: int, dtype: np.dtype[Any]) -> int:
    """Number of rows that a kernel works on at a time."""
    row_bytes = max(1, n_columns * dtype.itemsize)
    return max(MIN_BLOCK_ROWS, BLOCK_BYTES // row_bytes)


class Kernel:
    """What a pass over the rows does: a state, and how it takes in one block.

    Attributes
    ----------
    n_fields : int
        How many numbers the record has of every row.
    field_type : type
        Type of these numbers.
    title : str
        What the pass is for, in a progress bar.
    """

    n_fields: int = 0
    field_type: type = float
    title: str = "reading"

    def start(self) -> Any:
        """Return an empty state."""
        raise TypeError(f"{type(self).__name__} does not say how to start.")

    def absorb(
        self, state: Any, block: NDArray[Any], first: int
    ) -> NDArray[Any] | None:
        """Add a block to the state; return its per-row record (fields x rows)."""
        raise TypeError(f"{type(self).__name__} does not say what to do with a block.")

    def merge(self, state: Any, other: Any) -> Any:
        """Add the state of later rows to that of earlier ones."""
        raise TypeError(f"{type(self).__name__} does not say how to add up.")

    def part(self, first: int, n: int) -> Kernel:
        """The kernel for n rows from row `first` on, which become rows 0 to n - 1.

        Where blocks live elsewhere, it takes there no more than their own part of what
        it knows about every row.
        """
        return self


class Rows:
    """Rows that can be read block by block, any number of times.

    `with rows:` holds what reading them needs (such as a temporary file) until the end.

    Attributes
    ----------
    shape : tuple of two ints
    dtype : dtype
        float64 or float32.
    names : sequence of str, or None
        Of the columns, where known.
    largest : float or None
        Largest size of a value, where known.
    in_memory : bool
        Whether all rows lie in memory already.
    limit : float or None
        Largest size that a value may have, where rows are checked as they are read.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    names: tuple[str, ...] | None = None
    largest: float | None = None
    in_memory: bool = False
    limit: float | None = None
    _holders: int = 0  # `with` statements that are not over

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (number of the first row, block), in order.

        A block may be overwritten when the next one is asked for.
        """
        raise TypeError(f"{type(self).__name__} does not say how to read its blocks.")

    def scan(self, kernel: Kernel) -> tuple[NDArray[Any], Any]:
        """Read the data once; return the per-row records and the kernel's state."""
        record: NDArray[Any] = np.empty(
            (kernel.n_fields, self.shape[0]), dtype=kernel.field_type
        )
        state = kernel.start()
        with self._pass(kernel.title) as advance:
            for first, block in self._small_blocks():
                part = kernel.absorb(state, block, first)
                if part is not None:
                    record[:, first : first + len(block)] = part
                advance(len(block))
        return record, state

    def scan_in_place(self, kernel: Kernel) -> tuple[Any, Any]:
        """The same, but the records stay where the rows are: for very many rows."""
        return self.scan(kernel)

    def each(self, kernel: Kernel) -> Any:
        """The per-row records alone; made when they are asked for, if rows are lazy."""
        return self.scan(kernel)[0]

    def like_rows(self, vector: Any) -> Any:
        """What there is one of for every row, kept in the way that the rows are."""
        return vector

    def map(
        self,
        function: Callable[[NDArray[Any]], NDArray[Any]],
        width: int,
        dtype: DTypeLike | None = None,
    ) -> NDArray[Any]:
        """Apply a function to every block; it turns each row into `width` numbers.

        They have the type of the rows, if no other is given.
        """
        shape, kind = (self.shape[0], width), np.dtype(dtype or self.dtype)
        if not self.in_memory:
            size = shape[0] * width * kind.itemsize
            what = f"The answer of {shape[0]:,} rows x {width} numbers"
            refuse_large(size, what, "Ask for some of the rows at a time.", share=0.9)
        out = np.empty(shape, dtype=kind)
        with self._pass("transforming") as advance:
            for first, block in self._small_blocks():
                out[first : first + len(block)] = function(block)
                advance(len(block))
        return out

    def read(self) -> NDArray[Any]:
        """Return all rows in memory, if there is room."""
        if not self.in_memory:
            refuse_large(
                self.shape[0] * self.shape[1] * self.dtype.itemsize,
                f"Reading all {self.shape[0]:,} rows x {self.shape[1]} columns",
                "What was asked for needs all of them at once: use a method that "
                "weighs rows, such as DSWL, which reads them block by block, or fewer "
                "rows.",
                share=SHARE_OF_ALL_ROWS,
            )
        return self.take(np.arange(self.shape[0]))

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these numbers into memory, in the order of `index`."""
        order = np.argsort(index, kind="stable")
        wanted = index[order]
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        with self._pass(f"looking for {len(index):,} rows") as advance:
            for first, block in self.blocks():
                low, high = np.searchsorted(wanted, [first, first + len(block)])
                out[order[low:high]] = block[wanted[low:high] - first]
                advance(len(block))
        return out

    def blocks_between(
        self, first: int, last: int
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        """The blocks of the rows from `first` on, up to but not including `last`."""
        step = rows_per_block(self.shape[1], self.dtype)
        for begin in range(first, last, step):
            yield begin, self.take(np.arange(begin, min(begin + step, last)))

    def place(self, row: int, overall: int | None = None) -> str:
        """Say where a row is, in words; `overall` is its number among all files."""
        return f"row {row if overall is None else overall}"

    def close(self) -> None:
        """Give up what reading needs, such as a temporary file."""

    def __enter__(self) -> Self:
        self._holders += 1
        return self

    def __exit__(self, *raised: Any) -> None:
        self._holders -= 1
        if self._holders == 0:
            self.close()

    def _pass(
        self, title: str, total: int | None = None
    ) -> AbstractContextManager[Advance]:
        # What is in memory already takes no time worth telling of.
        if self.in_memory:
            return SILENT
        return passing(title, self.shape[0] if total is None else total)

    def _small_blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        # A source may hand out chunks of any size; kernels want what fits a cache.
        limit = rows_per_block(self.shape[1], self.dtype)
        for begin, chunk in self.blocks():
            for offset in range(0, len(chunk), limit):
                yield begin + offset, chunk[offset : offset + limit]


class ArrayRows(Rows):
    """Rows of an array in memory (or of anything that slices like one).

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis._rows.base import ArrayRows
    >>> rows = ArrayRows(np.arange(6.0).reshape(3, 2), block_rows=2)
    >>> [(first, len(block)) for first, block in rows.blocks()]
    [(0, 2), (2, 1)]
    """

    in_memory = True

    def __init__(self, array: NDArray[Any], block_rows: int | None = None) -> None:
        self.array = array
        self.shape = array.shape
        self.dtype = array.dtype
        self.block_rows = block_rows or rows_per_block(self.shape[1], self.dtype)

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (number of the first row, block), in order."""
        for first in range(0, self.shape[0], self.block_rows):
            yield first, self.array[first : first + self.block_rows]

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these numbers, in the order of `index`."""
        return self.array[index]


class WrappedRows(Rows):
    """Rows of a source that are seen otherwise; who holds them holds the source."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.shape, self.dtype = rows.shape, rows.dtype
        self.in_memory = rows.in_memory

    def place(self, row: int, overall: int | None = None) -> str:
        """Say where a row is."""
        return self.rows.place(row, overall)

    def close(self) -> None:
        """Give up what reading needs."""
        self.rows.close()

    def __enter__(self) -> Self:
        self.rows.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self.rows.__exit__(*raised)


def part_starts(lengths: Sequence[int]) -> NDArray[np.intp]:
    """Numbers of the rows with which parts begin, and of all rows."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
