"""The interface between the engine and the data: `Rows`, and kernels that read them.

`_validation` turns user input into a `Rows`, and the engine passes kernels to it, so no
method knows where its rows are stored. A new source of rows implements `shape`, `dtype`
and `blocks` or `blocks_between`, and inherits the rest. A source whose blocks live in
other processes also implements `scan` and `map`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial, reduce
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from trueaxis.data.memory import SHARE_OF_ALL_ROWS, refuse_large
from trueaxis.data.progress import passing
from trueaxis.data.threads import ONE_BLAS_THREAD, in_order, n_threads

Blocks = Iterator[tuple[int, NDArray[Any]]]  # index of the first row, and the rows

# A block of this size stays in a core's own cache while a kernel goes over it
# several times.
BLOCK_BYTES = 1 << 20
MIN_BLOCK_ROWS = 256
MOST_AT_ONCE = 4 << 20  # rows of this size take one step of a fit together

# Threads gain nothing on smaller tables. In wider ones, the sums of a portion take more
# memory than its rows, and the BLAS makes good use of its own threads.
THREADED_BYTES = 1 << 23
MAX_COLUMNS = 1024
# Blocks per portion: enough for the cost of a new state not to matter, but few enough
# for all threads to end at about the same time.
PORTIONS, MIN_BLOCKS, MAX_BLOCKS = 16, 2, 8
ROWS_PER_COLUMN = 8  # at least, in a portion: fewer are added up faster than merged
GROUPS = 3  # of rows whose sums a state may keep separate
MEMORY = 1 << 30  # for what all threads need at the same time


def is_threaded(shape: tuple[int, int], dtype: np.dtype[Any]) -> bool:
    """Return whether several threads share a pass, each with a state of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.data.rows import is_threaded
    >>> is_threaded((1_000_000, 50), np.dtype(float))
    True
    >>> is_threaded((10_000, 50), np.dtype(float))
    False
    """
    n, D = shape
    return n * D * dtype.itemsize >= THREADED_BYTES and D <= MAX_COLUMNS


def rows_per_block(shape: tuple[int, int], dtype: np.dtype[Any]) -> int:
    """Return the number of rows that a kernel processes at a time."""
    row_bytes = max(1, shape[1] * dtype.itemsize)
    # Threads may wait for each other at every call of NumPy: fewer calls, less waiting.
    size = 2 * BLOCK_BYTES if is_threaded(shape, dtype) else BLOCK_BYTES
    return max(MIN_BLOCK_ROWS, size // row_bytes)


def row_starts(lengths: Sequence[int]) -> NDArray[np.intp]:
    """Return the index of each part's first row, followed by the number of rows."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)


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


def _ignore(rows: int) -> None:
    pass


class Rows:
    """Rows that can be read block by block, any number of times.

    `with rows:` keeps what reading needs, such as blocks that Dask workers hold, until
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

        A block stays as it is when the next one is requested.
        """
        return self.blocks_between(0, self.shape[0])

    def blocks_between(self, first: int, last: int) -> Blocks:
        """Yield the blocks of rows `first` up to, but not including, `last`."""
        for begin, block in self.blocks():
            inside = block[max(first - begin, 0) : max(last - begin, 0)]
            if len(inside):
                yield max(begin, first), inside

    def scan(self, kernel: Kernel) -> tuple[NDArray[Any], Any]:
        """Read the data once; return the per-row records and the kernel's state.

        All cores take part if the table is large.
        """
        if not is_threaded(self.shape, self.dtype):
            return self.scan_in_sequence(kernel)
        (n, D), step = self.shape, rows_per_block(self.shape, self.dtype)
        blocks = min(max(-(-n // (PORTIONS * step)), MIN_BLOCKS), MAX_BLOCKS)
        rows = step * max(blocks, -(-ROWS_PER_COLUMN * D // step))
        held = (2 * step if self.independent else rows) * D * self.dtype.itemsize
        # Twice as many portions as threads are under way: see `in_order`.
        each = 2 * (held + GROUPS * D * D * np.dtype(float).itemsize)
        threads = max(1, min(n_threads(), -(-n // rows), MEMORY // each))
        record = self._empty_record(kernel)
        absorb = partial(self._absorb, kernel, record)
        with (
            ONE_BLAS_THREAD,
            self._counted(kernel.title) as advance,
            closing(self._portions(rows)) as portions,
        ):
            tasks = (partial(absorb, portion) for portion in portions)
            with closing(in_order(tasks, threads)) as results:

                def states() -> Iterator[Any]:
                    for n_rows, state in results:
                        advance(n_rows)
                        yield state

                return record, reduce(kernel.merge, states())

    def scan_in_sequence(self, kernel: Kernel) -> tuple[NDArray[Any], Any]:
        """Read the data once, in this thread and with one state."""
        record = self._empty_record(kernel)
        with self._counted(kernel.title) as advance:
            return record, self._absorb(kernel, record, self.blocks, advance)[1]

    def each(self, kernel: Kernel) -> Any:
        """Return only the per-row records, lazily if the rows are lazy."""
        return self.scan(kernel)[0]

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
        first, last = (wanted[0], wanted[-1] + 1) if len(wanted) else (0, 0)
        title = f"selecting {len(index):,} rows"
        with self._counted(title, int(last - first)) as advance:
            for begin, block in self.blocks_between(int(first), int(last)):
                low, high = np.searchsorted(wanted, [begin, begin + len(block)])
                out[order[low:high]] = block[wanted[low:high] - begin]
                advance(len(block))
        return out

    def place(self, row: int, overall: int | None = None) -> str:
        """Describe where a row is; `overall` is its index among the rows of all files.

        The text is used in error messages.
        """
        return f"row {row if overall is None else overall}"

    def close(self) -> None:
        """Release the resources that reading needs."""

    def __enter__(self) -> Self:
        self._holders += 1
        return self

    def __exit__(self, *raised: Any) -> None:
        self._holders -= 1
        if self._holders == 0:
            self.close()

    def _counted(
        self, title: str, total: int | None = None
    ) -> AbstractContextManager[Callable[[int], None]]:
        # Passes over rows in memory are too short to report.
        if self.in_memory:
            return nullcontext(_ignore)
        return passing(title, self.shape[0] if total is None else total)

    def _empty_record(self, kernel: Kernel) -> NDArray[Any]:
        (n, _), fields, dtype = self.shape, kernel.n_fields, np.dtype(kernel.field_type)
        if not self.in_memory:  # a small file may expand to very many rows
            what = f"Keeping {fields} value(s) per row for {n:,} rows"
            size = fields * n * dtype.itemsize
            refuse_large(size, what, "Pass fewer rows.", share=0.9)
        return np.empty((fields, n), dtype=dtype)

    def _portions(self, rows: int) -> Generator[Callable[[], Blocks], None, None]:
        """Yield all rows, in order, in portions of about as many rows."""
        if self.independent:
            for first in range(0, self.shape[0], rows):
                last = min(first + rows, self.shape[0])
                yield partial(self.blocks_between, first, last)
            return
        held: list[tuple[int, NDArray[Any]]] = []
        size = 0
        for first, block in self._small_blocks(self.blocks()):
            held.append((first, block))
            size += len(block)
            if size >= rows:
                yield partial(iter, held)
                held, size = [], 0
        if held:
            yield partial(iter, held)

    def _absorb(
        self,
        kernel: Kernel,
        record: NDArray[Any],
        read: Callable[[], Blocks],
        advance: Callable[[int], None] = _ignore,
    ) -> tuple[int, Any]:
        """Write the records of some rows; return their number and their state."""
        state, n = kernel.start(), 0
        for first, block in self._small_blocks(read()):
            part = kernel.absorb(state, block, first)
            if part is not None:
                record[:, first : first + len(block)] = part
            n += len(block)
            advance(len(block))
        return n, state

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


class StackedRows(Rows):
    """Rows of several sources, one after another."""

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.parts = list(parts)
        self.names = next((part.names for part in parts if part.names), None)
        self.starts = row_starts([part.shape[0] for part in parts])
        self.shape = (int(self.starts[-1]), parts[0].shape[1])
        filled = [part for part in parts if part.shape[0]]
        self.dtype = np.result_type(*(part.dtype for part in filled or parts))
        self.independent = all(part.independent for part in parts)

    def blocks_between(self, first: int, last: int) -> Blocks:
        """Yield the blocks of rows `first` up to, but not including, `last`."""
        for start, part in zip(self.starts.tolist(), self.parts, strict=False):
            low, high = max(first - start, 0), min(last - start, part.shape[0])
            for begin, block in part.blocks_between(low, high) if low < high else ():
                yield start + begin, block.astype(self.dtype, copy=False)

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices into memory, in the order of `index`."""
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        owner = self.starts.searchsorted(index, side="right") - 1
        for number in np.unique(owner):
            mine = np.flatnonzero(owner == number)
            out[mine] = self.parts[number].take(index[mine] - self.starts[number])
        return out

    def place(self, row: int, overall: int | None = None) -> str:
        """Describe where a row is."""
        number = int(self.starts.searchsorted(row, side="right")) - 1
        within = row - int(self.starts[number])
        return self.parts[number].place(within, row if overall is None else overall)


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
