"""The interface between the engine and the data: `Rows`, and kernels that read them.

`_validation` turns user input into a `Rows`, and the engine passes kernels to it, so no
method knows where its rows are stored. A new source of rows implements `shape`, `dtype`
and `blocks`, and inherits the rest; a source whose blocks live in other processes also
implements `scan` and `map`. `open_rows` opens the sources that read files.
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
    """Return the number of rows that a kernel processes at a time."""
    row_bytes = max(1, n_columns * dtype.itemsize)
    return max(MIN_BLOCK_ROWS, BLOCK_BYTES // row_bytes)


class Kernel:
    """One pass over the rows: a state, and how each block updates it.

    Attributes
    ----------
    n_fields : int
        Number of values recorded for each row.
    field_type : type
        Type of these values.
    title : str
        Purpose of the pass, as shown by a progress bar.
    """

    n_fields: int = 0
    field_type: type = float
    title: str = "reading"

    def start(self) -> Any:
        """Return an empty state."""
        raise TypeError(f"{type(self).__name__} does not implement `start`.")

    def absorb(
        self, state: Any, block: NDArray[Any], first: int
    ) -> NDArray[Any] | None:
        """Add a block to the state; return its per-row record (fields x rows)."""
        raise TypeError(f"{type(self).__name__} does not implement `absorb`.")

    def merge(self, state: Any, other: Any) -> Any:
        """Add the state of later rows to the state of earlier ones."""
        raise TypeError(f"{type(self).__name__} does not implement `merge`.")

    def part(self, first: int, n: int) -> Kernel:
        """Return the kernel for n rows starting at `first`, renumbered from 0.

        A kernel that holds per-row values keeps only those of the n rows, so that
        only these are sent to the process that has the rows.
        """
        return self


class RecordKernel(Kernel):
    """Kernel without a state: it only records something about every row."""

    def start(self) -> None:
        """Return None: the pass has no state."""

    def merge(self, state: None, other: None) -> None:
        """Return None: the pass has no state."""


class Rows:
    """Rows that can be read block by block, any number of times.

    `with rows:` keeps the resources that reading needs, such as a temporary file, until
    the end of the statement.

    Attributes
    ----------
    shape : tuple of two ints
    dtype : dtype
        float64 or float32.
    names : sequence of str, or None
        Column names, if known.
    largest : float or None
        Largest absolute value, if known.
    complete : bool
        Whether it is known that no cell is missing.
    in_memory : bool
        Whether all rows are in memory already.
    lazy : bool
        Whether `map` and `each` return lazy arrays.
    limit : float or None
        Largest absolute value that is allowed, for rows that are checked while they
        are read.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    names: tuple[str, ...] | None = None
    largest: float | None = None
    complete: bool = False
    in_memory: bool = False
    lazy: bool = False
    limit: float | None = None
    _holders: int = 0  # number of `with` statements still open

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (index of the first row, block), in order.

        A block may be overwritten when the next one is requested.
        """
        raise TypeError(f"{type(self).__name__} does not implement `blocks`.")

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
        """Scan the data, but leave the per-row records where the rows are stored."""
        return self.scan(kernel)

    def each(self, kernel: Kernel) -> Any:
        """Return only the per-row records, lazily if the rows are lazy."""
        return self.scan(kernel)[0]

    def like_rows(self, vector: Any) -> Any:
        """Store a per-row vector the way the rows are stored."""
        return vector

    def map(
        self,
        function: Callable[[NDArray[Any]], NDArray[Any]],
        width: int,
        dtype: DTypeLike | None = None,
    ) -> NDArray[Any]:
        """Apply a function that turns each row of a block into `width` numbers.

        The result has the dtype of the rows unless another one is given.
        """
        shape, kind = (self.shape[0], width), np.dtype(dtype or self.dtype)
        if not self.in_memory:
            size = shape[0] * width * kind.itemsize
            what = f"The result of {shape[0]:,} rows x {width} numbers"
            refuse_large(size, what, "Pass fewer rows at a time.", share=0.9)
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
                "This computation needs all rows at once: pass fewer rows, or use a "
                "method that weights rows, such as DSWL, which reads them block by "
                "block.",
                share=SHARE_OF_ALL_ROWS,
            )
        return self.take(np.arange(self.shape[0]))

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices into memory, in the order of `index`."""
        order = np.argsort(index, kind="stable")
        wanted = index[order]
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        with self._pass(f"selecting {len(index):,} rows") as advance:
            for first, block in self.blocks():
                low, high = np.searchsorted(wanted, [first, first + len(block)])
                out[order[low:high]] = block[wanted[low:high] - first]
                advance(len(block))
        return out

    def blocks_between(
        self, first: int, last: int
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the blocks of rows `first` up to, but not including, `last`."""
        step = rows_per_block(self.shape[1], self.dtype)
        for begin in range(first, last, step):
            yield begin, self.take(np.arange(begin, min(begin + step, last)))

    def place(self, row: int, overall: int | None = None) -> str:
        """Describe where a row is; `overall` is its index among the rows of all files.

        The text is used in error messages.
        """
        return f"row {row if overall is None else overall}"

    def close(self) -> None:
        """Release the resources that reading needs, such as a temporary file."""

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
        # Passes over rows in memory are too short to report.
        if self.in_memory:
            return SILENT
        return passing(title, self.shape[0] if total is None else total)

    def _small_blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        # A source may yield blocks of any size; kernels need blocks that fit the cache.
        limit = rows_per_block(self.shape[1], self.dtype)
        for begin, chunk in self.blocks():
            for offset in range(0, len(chunk), limit):
                yield begin + offset, chunk[offset : offset + limit]


class ArrayRows(Rows):
    """Rows of an array in memory.

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
        """Yield (index of the first row, block), in order."""
        for first in range(0, self.shape[0], self.block_rows):
            yield first, self.array[first : first + self.block_rows]

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices, in the order of `index`."""
        return self.array[index]


class WrappedRows(Rows):
    """Wrapper of another source; `with` statements are passed on to that source."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.shape, self.dtype = rows.shape, rows.dtype
        self.in_memory, self.lazy = rows.in_memory, rows.lazy

    def place(self, row: int, overall: int | None = None) -> str:
        """Describe where a row is."""
        return self.rows.place(row, overall)

    def close(self) -> None:
        """Release the resources of the source."""
        self.rows.close()

    def __enter__(self) -> Self:
        self.rows.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self.rows.__exit__(*raised)


def part_starts(lengths: Sequence[int]) -> NDArray[np.intp]:
    """Return the index of each part's first row, followed by the number of rows."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
