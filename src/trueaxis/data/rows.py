"""The interface between the engine and the data: `Rows`, and kernels that read them.

`_validation` turns user input into a `Rows`, and the engine passes kernels to it, so no
method knows where its rows are stored. A new source of rows implements `shape`, `dtype`
and `blocks`, and inherits the rest. It also implements `take` if it can read some rows
without the others, and `scan` and `each` if its blocks live in other processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial, reduce
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from trueaxis.data.memory import SHARE_OF_ALL_ROWS, refuse_large
from trueaxis.data.threads import ONE_BLAS_THREAD, in_order, n_threads

Block = tuple[int, NDArray[Any]]  # index of the first row, and the rows
Blocks = Iterator[Block]
Where = slice | NDArray[np.intp]  # the indices of a block's rows

# A block of this size stays in a core's own cache while a kernel goes over it
# several times.
BLOCK_BYTES = 1 << 20
MIN_BLOCK_ROWS = 256
MOST_AT_ONCE = 4 << 20  # rows of this size take one step of a fit together

# Threads gain nothing on smaller tables. In wider ones, the sums of a portion take more
# memory than its rows, and the BLAS makes good use of its own threads.
THREADED_BYTES = 1 << 23
MAX_COLUMNS = 1024
PORTION_BYTES = 1 << 23  # of rows with one state, so that its cost does not matter
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
    by_row : bool
        Whether the record is made for reading row by row instead of field by field.
    """

    n_fields: int = 0
    field_type: Any = float
    by_row: bool = False

    def start(self) -> Any:
        """Return an empty state; None if only the record matters."""
        return None

    def absorb(
        self, state: Any, block: NDArray[Any], first: int
    ) -> NDArray[Any] | None:
        """Add a block to the state; return its per-row record (fields x rows)."""
        raise TypeError(f"{type(self).__name__} does not implement `absorb`.")

    def merge(self, state: Any, other: Any) -> Any:
        """Add the state of later rows to the state of earlier ones."""
        return None

    def part(self, first: int, n: int) -> Kernel:
        """Return the kernel for n rows starting at `first`, renumbered from 0.

        A kernel that holds per-row values keeps only those of the n rows, so that
        only these are sent to the process that has the rows.
        """
        return self


class MapKernel(Kernel):
    """Kernel that records a function of every row: `width` numbers."""

    by_row = True

    def __init__(
        self,
        function: Callable[[NDArray[Any]], NDArray[Any]],
        width: int,
        dtype: DTypeLike,
    ) -> None:
        self.function, self.n_fields = function, width
        self.field_type = np.dtype(dtype)

    def absorb(self, state: None, block: NDArray[Any], first: int) -> NDArray[Any]:
        """Return the results of a block."""
        return self.function(block).T


class BlockTransform(Protocol):
    """Transform of a block that keeps its shape."""

    def __call__(self, block: NDArray[Any], where: Where) -> NDArray[Any]:
        """Return the transformed block."""

    def part(self, first: int, n: int) -> BlockTransform:
        """Return the transform for n rows starting at `first`."""


Changes = Sequence[BlockTransform]


class Rows:
    """Rows that can be read block by block, any number of times.

    `with rows:` keeps what reading needs, such as blocks that Dask workers hold, until
    the end of the statement.

    Attributes
    ----------
    shape : tuple of two ints
    dtype : dtype
        float64 or float32.
    name : str or None
        Name of the source, for error messages.
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
    orthogonal : ndarray of shape (n,), or None
        Squared orthogonal distances of the rows from the space in which they are given;
        None for no distance.
    lazy : bool
        Whether `map` and `each` return lazy arrays.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    name: str | None = None
    names: tuple[str, ...] | None = None
    largest: float | None = None
    complete: bool = False
    in_memory: bool = False
    one_block: bool = False
    orthogonal: NDArray[np.float64] | None = None
    lazy: bool = False
    _holders: int = 0  # number of `with` statements still open

    def blocks(self) -> Blocks:
        """Yield (index of the first row, block), in order.

        A block stays as it is when the next one is requested.
        """
        raise TypeError(f"{type(self).__name__} does not implement `blocks`.")

    def scan(self, kernel: Kernel, changes: Changes = ()) -> tuple[NDArray[Any], Any]:
        """Read the data once; return the per-row records and the kernel's state.

        The kernel gets the rows after the changes. This thread reads; if the table is
        large, others compute: each adds up some blocks, and the states are merged in
        the order of the rows.
        """
        if not is_threaded(self.shape, self.dtype):
            return self.scan_in_sequence(kernel, changes)
        D, row_bytes = self.shape[1], self.shape[1] * self.dtype.itemsize
        rows = max(PORTION_BYTES // row_bytes, ROWS_PER_COLUMN * D)
        # Twice, because the next portions are read while others are computed.
        held = 2 * (rows * row_bytes + GROUPS * 8 * D * D)
        threads = max(1, min(n_threads(), MEMORY // held))
        record = self._empty_record(kernel)
        absorb = partial(self._absorb, kernel, changes, record)
        portions = _portions(self.blocks(), rows)
        with ONE_BLAS_THREAD, closing(in_order(absorb, portions, threads)) as states:
            return record, reduce(kernel.merge, states)

    def scan_in_sequence(
        self, kernel: Kernel, changes: Changes = ()
    ) -> tuple[NDArray[Any], Any]:
        """Read the data once, in this thread and with one state."""
        record = self._empty_record(kernel)
        return record, self._absorb(kernel, changes, record, self.blocks())

    def each(self, kernel: Kernel, changes: Changes = ()) -> Any:
        """Return only the per-row records, lazily if the rows are lazy."""
        return self.scan(kernel, changes)[0]

    def map(
        self,
        function: Callable[[NDArray[Any]], NDArray[Any]],
        width: int,
        dtype: DTypeLike | None = None,
    ) -> Any:
        """Apply a function that turns each row of a block into `width` numbers.

        The result has the dtype of the rows unless another one is given.
        """
        return self.each(MapKernel(function, width, dtype or self.dtype)).T

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
        for begin, block in self.blocks() if len(wanted) else ():
            low, high = np.searchsorted(wanted, [begin, begin + len(block)])
            out[order[low:high]] = block[wanted[low:high] - begin]
            if high == len(wanted):
                break
        return out

    def refuse_above(self, limit: float) -> bool:
        """Refuse larger values when they are read; False if this cannot be done."""
        return False

    def place(self, row: int) -> str:
        """Describe where a row is, for error messages."""
        return f"row {row}" if self.name is None else f"{self.name}, row {row:,}"

    def close(self) -> None:
        """Release what was kept for the next reads."""

    def __enter__(self) -> Self:
        self._holders += 1
        return self

    def __exit__(self, *raised: Any) -> None:
        self._holders -= 1
        if self._holders == 0:
            self.close()

    def _empty_record(self, kernel: Kernel) -> NDArray[Any]:
        (n, _), fields, dtype = self.shape, kernel.n_fields, np.dtype(kernel.field_type)
        if not self.in_memory:  # a small file may expand to very many rows
            what = f"Keeping {fields} value(s) per row for {n:,} rows"
            size = fields * n * dtype.itemsize
            refuse_large(size, what, "Pass fewer rows at a time.", share=0.9)
        return np.empty((fields, n), dtype, order="F" if kernel.by_row else "C")

    def _absorb(
        self, kernel: Kernel, changes: Changes, record: NDArray[Any], blocks: Blocks
    ) -> Any:
        """Write the records of some blocks; return their state."""
        state, limit = kernel.start(), rows_per_block(self.shape, self.dtype)
        for begin, chunk in blocks:
            # A source may yield blocks of any size; kernels need those that fit the
            # cache.
            for first in range(begin, begin + len(chunk), limit):
                block = chunk[first - begin : first - begin + limit]
                where = slice(first, first + len(block))
                for change in changes:
                    block = change(block, where)
                part = kernel.absorb(state, block, first)
                if part is not None:
                    record[:, where] = part
        return state


def _portions(blocks: Blocks, rows: int) -> Iterator[Blocks]:
    """Yield neighboring blocks together, about as many rows at a time."""
    held: list[Block] = []
    for first, block in blocks:
        held.append((first, block))
        if first + len(block) - held[0][0] >= rows:
            yield iter(held)
            held = []
    if held:
        yield iter(held)


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
        for first in range(0, len(self.array), self.block_rows):
            yield first, self.array[first : first + self.block_rows]

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices, in the order of `index`."""
        return self.array[index]

    def every(self, step: int) -> ArrayRows:
        """Return every step-th row; the same rows if step is 1."""
        if step == 1:
            return self
        some = ArrayRows(self.array[::step], at_once=True)
        some.orthogonal = None if self.orthogonal is None else self.orthogonal[::step]
        return some
