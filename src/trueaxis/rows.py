"""READ: the data behind one interface, so that no method knows where its rows live.

`validation` turns what the user gave into a `Rows`; the engine hands it kernels. A new
source of rows writes `shape`, `dtype` and `blocks`, and inherits the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

# A block of this size stays in a core's own cache while a kernel goes over it
# several times.
BLOCK_BYTES = 1 << 20
MIN_BLOCK_ROWS = 256


def rows_per_block(n_columns: int, dtype: np.dtype) -> int:
    """Number of rows that a kernel works on at a time."""
    row_bytes = max(1, n_columns * dtype.itemsize)
    return max(MIN_BLOCK_ROWS, BLOCK_BYTES // row_bytes)


class Kernel(Protocol):
    """What a pass over the rows does: a state, and how it takes in one block."""

    n_fields: int

    def start(self) -> Any:
        """Return an empty state."""

    def absorb(
        self, state: Any, block: NDArray, first: int
    ) -> NDArray[np.float64] | None:
        """Add a block to the state; return its per-row record (fields x rows)."""

    def merge(self, state: Any, other: Any) -> Any:
        """Add the state of later rows to that of earlier ones."""


class Rows:
    """Rows that can be read block by block, any number of times."""

    shape: tuple[int, int]
    dtype: np.dtype

    def blocks(self) -> Iterator[tuple[int, NDArray]]:
        """Yield (number of the first row, block), in order."""
        raise TypeError(f"{type(self).__name__} does not say how to read its blocks.")

    def scan(self, kernel: Kernel) -> tuple[NDArray[np.float64], Any]:
        """Read the data once; return the per-row records and the kernel's state."""
        record = np.empty((kernel.n_fields, self.shape[0]))
        state = kernel.start()
        limit = rows_per_block(self.shape[1], self.dtype)
        for begin, chunk in self.blocks():
            # A source may hand out chunks of any size; kernels want what fits a cache.
            for offset in range(0, len(chunk), limit):
                block, first = chunk[offset : offset + limit], begin + offset
                part = kernel.absorb(state, block, first)
                if part is not None:
                    record[:, first : first + len(block)] = part
        return record, state

    def map(self, function: Callable[[NDArray], NDArray], width: int) -> NDArray:
        """Apply a function to every block; it turns each row into `width` numbers."""
        out = np.empty((self.shape[0], width), dtype=self.dtype)
        for first, block in self.blocks():
            out[first : first + len(block)] = function(block)
        return out

    def read(self) -> NDArray:
        """Return all rows in memory."""
        return self.take(np.arange(self.shape[0]))

    def take(self, index: NDArray[np.intp]) -> NDArray:
        """Copy the rows with these numbers into memory, in the order of `index`."""
        order = np.argsort(index, kind="stable")
        wanted = index[order]
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        for first, block in self.blocks():
            low, high = np.searchsorted(wanted, [first, first + len(block)])
            out[order[low:high]] = block[wanted[low:high] - first]
        return out


class ArrayRows(Rows):
    """Rows of an array in memory (or of anything that slices like one).

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.rows import ArrayRows
    >>> rows = ArrayRows(np.arange(6.0).reshape(3, 2), block_rows=2)
    >>> [(first, len(block)) for first, block in rows.blocks()]
    [(0, 2), (2, 1)]
    """

    def __init__(self, array: NDArray, block_rows: int | None = None) -> None:
        self.array = array
        self.shape = array.shape
        self.dtype = array.dtype
        self.block_rows = block_rows or rows_per_block(self.shape[1], self.dtype)

    def blocks(self) -> Iterator[tuple[int, NDArray]]:
        """Yield (number of the first row, block), in order."""
        for first in range(0, self.shape[0], self.block_rows):
            yield first, self.array[first : first + self.block_rows]

    def take(self, index: NDArray[np.intp]) -> NDArray:
        """Copy the rows with these numbers, in the order of `index`."""
        return self.array[index]


class CountedRows(Rows):
    """Rows of which those that do not count are replaced by one that does.

    They keep their places, but can do no harm, whatever their values.
    """

    def __init__(self, rows: Rows, counts: NDArray[np.float64]) -> None:
        self.rows = rows
        self.counts = counts
        self.shape, self.dtype = rows.shape, rows.dtype
        self.stand_in = rows.take(np.flatnonzero(counts)[:1])

    def blocks(self) -> Iterator[tuple[int, NDArray]]:
        """Yield (number of the first row, block), in order."""
        for first, block in self.rows.blocks():
            counted = self.counts[first : first + len(block), None] > 0
            yield first, np.where(counted, block, self.stand_in)
