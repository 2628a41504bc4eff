"""The interface between the engine and the data: `Rows`, and kernels that read them.

`_validation` turns user input into a `Rows`, and the engine passes kernels to it, so no
method knows where its rows are stored. A new source of rows implements `shape`, `dtype`
and `blocks`, and inherits the rest. It is `independent` if it reads any range of rows
on its own; a source whose blocks live in other processes also implements `scan` and
`map`. `open_rows` opens the sources that read files.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing
from functools import partial, reduce
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from trueaxis.data.memory import SHARE_OF_ALL_ROWS, refuse_large
from trueaxis.data.portions import (
    Blocks,
    Portion,
    copied_portions,
    has_portions,
    rows_per_portion,
    threads_for,
)
from trueaxis.data.progress import SILENT, Advance, passing
from trueaxis.data.threads import ONE_BLAS_THREAD, in_order

# A block of this size stays in a core's own cache while a kernel goes over it
# several times.
BLOCK_BYTES = 1 << 20
MIN_BLOCK_ROWS = 256
MOST_AT_ONCE = 4 << 20  # rows of this size take one step of a fit together


def rows_per_block(shape: tuple[int, int], dtype: np.dtype[Any]) -> int:
    """Return the number of rows that a kernel processes at a time."""
    row_bytes = max(1, shape[1] * dtype.itemsize)
    # Threads may wait for each other at every call of NumPy: fewer calls, less waiting.
    size = 2 * BLOCK_BYTES if has_portions(shape, dtype) else BLOCK_BYTES
    return max(MIN_BLOCK_ROWS, size // row_bytes)


class Kernel:
    """One pass over the rows: a state, and how each block updates it.

    Threads share a kernel, but not its states: `absorb` changes nothing else.

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


class MapKernel(RecordKernel):
    """Kernel that writes a function of every row into an array."""

    title = "transforming"

    def __init__(
        self, function: Callable[[NDArray[Any]], NDArray[Any]], out: NDArray[Any]
    ) -> None:
        self.function, self.out = function, out

    def absorb(self, state: None, block: NDArray[Any], first: int) -> None:
        """Write the results of a block."""
        self.out[first : first + len(block)] = self.function(block)


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
    one_block : bool
        Whether they are also so few that a step may take them all at once.
    off : ndarray of shape (n,), or None
        Squared distances of the rows from the space in which they are given; None for
        no distance.
    lazy : bool
        Whether `map` and `each` return lazy arrays.
    independent : bool
        Whether `blocks_between` reads any range of rows without the rows before it, and
        several ranges at the same time, in different threads.
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
    one_block: bool = False
    off: NDArray[np.float64] | None = None
    lazy: bool = False
    independent: bool = False
    limit: float | None = None
    _holders: int = 0  # number of `with` statements still open

    def blocks(self) -> Blocks:
        """Yield (index of the first row, block), in order.

        A block may be overwritten when the next one is requested.
        """
        raise TypeError(f"{type(self).__name__} does not implement `blocks`.")

    def scan(self, kernel: Kernel) -> tuple[NDArray[Any], Any]:
        """Read the data once; return the per-row records and the kernel's state.

        All cores take part if the table is large.
        """
        if not has_portions(self.shape, self.dtype):
            return self.scan_in_sequence(kernel)
        step = rows_per_block(self.shape, self.dtype)
        rows = rows_per_portion(self.shape, step)
        held = 2 * step if self.independent else rows
        row_bytes = self.shape[1] * self.dtype.itemsize
        n = threads_for(self.shape, rows, held * row_bytes)
        record = self._empty_record(kernel)
        absorb = partial(self._absorb, kernel, record)
        with (
            ONE_BLAS_THREAD,
            self._pass(kernel.title) as advance,
            closing(self.portions(rows)) as portions,
        ):
            tasks = (partial(absorb, portion.read) for portion in portions)
            with closing(in_order(tasks, n, advance)) as states:
                return record, reduce(kernel.merge, states)

    def scan_in_sequence(self, kernel: Kernel) -> tuple[NDArray[Any], Any]:
        """Read the data once, in this thread and with one state."""
        record = self._empty_record(kernel)
        with self._pass(kernel.title) as advance:
            return record, self._absorb(kernel, record, self.blocks, advance)

    def portions(self, rows: int) -> Generator[Portion, None, None]:
        """Yield all rows, in order, in portions of about as many rows."""
        if self.independent:
            n = self.shape[0]
            for first in range(0, n, rows):
                last = min(first + rows, n)
                yield Portion(last - first, partial(self.blocks_between, first, last))
            return
        yield from copied_portions(self._small_blocks(self.blocks()), rows)

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
        kernel = MapKernel(function, out)
        # A kernel that is sent to other processes cannot write into this array.
        scan = self.scan_in_sequence if self.lazy else self.scan
        scan(kernel)
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

    def blocks_between(self, first: int, last: int) -> Blocks:
        """Yield the blocks of rows `first` up to, but not including, `last`."""
        step = rows_per_block(self.shape, self.dtype)
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

    def _empty_record(self, kernel: Kernel) -> NDArray[Any]:
        return np.empty((kernel.n_fields, self.shape[0]), dtype=kernel.field_type)

    def _absorb(
        self,
        kernel: Kernel,
        record: NDArray[Any],
        read: Callable[[], Blocks],
        advance: Advance,
    ) -> Any:
        """Return the state of some rows, and write their records."""
        state = kernel.start()
        for first, block in self._small_blocks(read()):
            part = kernel.absorb(state, block, first)
            if part is not None:
                record[:, first : first + len(block)] = part
            advance(len(block))
        return state

    def _small_blocks(self, blocks: Blocks) -> Blocks:
        # A source may yield blocks of any size; kernels need blocks that fit the cache.
        limit = rows_per_block(self.shape, self.dtype)
        for begin, chunk in blocks:
            for offset in range(0, len(chunk), limit):
                yield begin + offset, chunk[offset : offset + limit]


class ArrayRows(Rows):
    """Rows of an array in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.data.rows import ArrayRows
    >>> rows = ArrayRows(np.arange(6.0).reshape(3, 2), block_rows=2)
    >>> [(first, len(block)) for first, block in rows.blocks()]
    [(0, 2), (2, 1)]
    """

    in_memory = True
    independent = True

    def __init__(
        self,
        array: NDArray[Any],
        block_rows: int | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        self.array = array
        self.shape = array.shape
        self.dtype = array.dtype
        self.block_rows = block_rows or rows_per_block(self.shape, self.dtype)
        # Rows of a sample may come at once; others come in the blocks in which files
        # do, so that the bits of a fit are the same.
        self.one_block = 0 < len(array) <= self.block_rows
        self.one_block |= at_once and array.nbytes <= MOST_AT_ONCE

    def blocks(self) -> Blocks:
        """Yield (index of the first row, block), in order."""
        return self.blocks_between(0, self.shape[0])

    def blocks_between(self, first: int, last: int) -> Blocks:
        """Yield the blocks of rows `first` up to, but not including, `last`."""
        for begin in range(first, last, self.block_rows):
            yield begin, self.array[begin : min(begin + self.block_rows, last)]

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices, in the order of `index`."""
        return self.array[index]

    def every(self, step: int) -> ArrayRows:
        """Return every step-th row; the same rows if step is 1."""
        if step == 1:
            return self
        some = ArrayRows(self.array[::step], at_once=True)
        some.off = None if self.off is None else self.off[::step]
        return some


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
