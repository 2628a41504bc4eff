"""Rows of binary files that store numbers as in memory: .npy, memory maps, spools.

Files are read rather than mapped, since touched pages of a map count as memory in use.
"""

from __future__ import annotations

import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.progress import passing
from trueaxis.data.rows import Rows, rows_per_block
from trueaxis.data.watched_file import Read, SourceError, Storage, WatchedFile

GAP_BYTES = 1 << 16  # reading through a gap of this size is cheaper than a seek
COLUMN_BLOCKS = 16  # blocks to read at a time from files in Fortran order


def float_type(stored: np.dtype[Any], name: str) -> np.dtype[Any]:
    """Return the dtype used for computation: float32 stays, all else is float64."""
    if stored.kind not in "biuf":
        raise SourceError(
            f"{name} has values of type {stored}, but only numbers can be analyzed. "
            "Save the numeric columns only."
        )
    single = stored.kind == "f" and stored.itemsize == 4
    return np.dtype(np.float32 if single else np.float64)


class BinaryRows(Rows):
    """Rows of a binary file.

    Parameters
    ----------
    storage : Storage
    name : str
        Name in error messages.
    offset : int
        Position of the first number, in bytes.
    shape : tuple of two ints
        Shape of the stored array.
    stored : dtype
        Type of the stored numbers.
    by_column : bool
        Whether the array is stored in Fortran order.
    columns : sequence of int, optional
        Columns to read.
    block_rows : int, optional
    """

    independent = True

    def __init__(
        self,
        storage: Storage,
        name: str,
        offset: int,
        shape: tuple[int, int],
        stored: np.dtype[Any],
        *,
        by_column: bool = False,
        columns: Sequence[int] | None = None,
        block_rows: int | None = None,
    ) -> None:
        self.storage = storage
        self.name = name
        self.offset = offset
        self.stored = stored
        self.stored_shape = shape
        self.by_column = by_column
        self.columns = None if columns is None else list(columns)
        self.dtype = float_type(stored, name)
        self.shape = (shape[0], shape[1] if columns is None else len(columns))
        many = COLUMN_BLOCKS if by_column else 1
        self.block_rows = block_rows or many * rows_per_block(self.shape, self.dtype)

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (index of the first row, block), in order."""
        return self.blocks_between(0, self.shape[0])

    def blocks_between(
        self, first: int, last: int
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the blocks of rows `first` up to, but not including, `last`."""
        step = self.block_rows
        with self.storage.reader() as read:
            window = _Window(self, min(last - first, step))
            for begin in range(first, last, step):
                yield begin, window.rows(read, begin, min(begin + step, last))

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices, reading little beyond them."""
        order = np.argsort(index, kind="stable")
        wanted = index[order]
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        progress = passing(f"selecting {len(index):,} rows", len(index))
        with self.storage.reader() as read, progress as advance:
            window = _Window(self, min(self.shape[0], self.block_rows))
            for low, high in self._runs(wanted):
                first, last = int(wanted[low]), int(wanted[high - 1]) + 1
                block = window.rows(read, first, last)
                out[order[low:high]] = block[wanted[low:high] - first]
                advance(high - low)
        return out

    def place(self, row: int, overall: int | None = None) -> str:
        """Describe where a row is."""
        return f"{self.name}, row {row:,}" + format_overall_index(overall)

    def _runs(self, wanted: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
        """Split sorted row indices into runs of at most a block, each read at once."""
        row_bytes = self.stored_shape[1] * self.stored.itemsize
        # In Fortran order, each column is read separately: a skipped row is one number.
        max_gap = max(
            1, GAP_BYTES // (self.stored.itemsize if self.by_column else row_bytes)
        )
        low = 0
        while low < len(wanted):
            high = int(np.searchsorted(wanted, wanted[low] + self.block_rows))
            gaps = np.flatnonzero(np.diff(wanted[low:high]) > max_gap)
            high = low + int(gaps[0]) + 1 if len(gaps) else high
            yield low, high
            low = high


class _Window:
    """Buffers for a block, reused for the next one."""

    def __init__(self, rows: BinaryRows, max_rows: int) -> None:
        self.source = rows
        width = rows.stored_shape[1]
        self.columns = range(width) if rows.columns is None else rows.columns
        shape = (len(self.columns), max_rows) if rows.by_column else (max_rows, width)
        self.raw = np.empty(shape, dtype=rows.stored)
        self.out = self.raw
        if rows.by_column or rows.columns is not None or rows.stored != rows.dtype:
            self.out = np.empty((max_rows, rows.shape[1]), dtype=rows.dtype)

    def rows(self, read: Read, first: int, last: int) -> NDArray[Any]:
        """Read some rows into the buffers, which the next read overwrites."""
        source, m = self.source, last - first
        (n, width), size = source.stored_shape, source.stored.itemsize
        if source.by_column:
            for values, column in zip(self.raw, self.columns, strict=True):
                read(values[:m], source.offset + (column * n + first) * size)
            numbers = self.raw[:, :m].T
        else:
            numbers = self.raw[:m]
            read(numbers, source.offset + first * width * size)
        if self.out is self.raw:
            return numbers
        if not source.by_column and source.columns is not None:
            numbers = numbers[:, source.columns]
        self.out[:m] = numbers
        return self.out[:m]


def format_overall_index(overall: int | None) -> str:
    """Format the index of a row among the rows of all files."""
    return "" if overall is None else f" (row {overall:,} of all)"


def npy_rows(
    path: Path,
    name: str,
    columns: Sequence[int] | None = None,
    block_rows: int | None = None,
) -> BinaryRows:
    """Open the rows of a .npy file."""
    watched = WatchedFile.of(path, name)
    try:
        with open(path, "rb") as file:
            version = np.lib.format.read_magic(file)
            header = np.lib.format.read_array_header_1_0
            if version != (1, 0):
                header = np.lib.format.read_array_header_2_0
            shape, by_column, stored = header(file)
            offset = file.tell()
    except (OSError, ValueError, tokenize.TokenError) as error:
        raise SourceError(
            f"{name} ({watched.size:,} bytes) is not a .npy file ({error}): write it "
            "with numpy.save."
        ) from None
    if len(shape) != 2:
        raise SourceError(
            f"{name} contains an array of shape {shape}, but a 2D array is needed: "
            "reshape it to rows and columns."
        )
    float_type(stored, name)
    _refuse_short(watched, offset, shape, stored)
    columns = check_column_indices(columns, shape[1], name)
    return BinaryRows(
        watched, name, offset, shape, stored,
        by_column=by_column, columns=columns, block_rows=block_rows,
    )  # fmt: skip


def mapped_rows(
    array: np.memmap[Any, Any],
    columns: Sequence[int] | None = None,
    block_rows: int | None = None,
) -> BinaryRows | None:
    """Open the rows of a memory map through its file, or return None if impossible.

    It is impossible for maps that may be modified in memory only (mode "c"), and for
    views that leave out rows or columns.
    """
    whole: NDArray[Any] = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    ordered = array.flags.c_contiguous or array.flags.f_contiguous
    if not (isinstance(whole, np.memmap) and ordered and array.size):
        return None
    if whole.filename is None or whole.mode == "c":
        return None
    writable = whole.mode != "r"
    if writable:
        whole.flush()
    path = Path(whole.filename)
    # After a change through the map, the modification time may be updated late.
    watched = WatchedFile.of(path, times=not writable)
    name = str(path)
    # A view keeps the `offset` of the map that it is a part of.
    offset = whole.offset + array.ctypes.data - whole.ctypes.data
    shape = (array.shape[0], array.shape[1])
    _refuse_short(watched, offset, shape, array.dtype)
    return BinaryRows(
        watched, name, offset, shape, array.dtype,
        by_column=not array.flags.c_contiguous,
        columns=check_column_indices(columns, shape[1], name),
        block_rows=block_rows,
    )  # fmt: skip


def _refuse_short(
    watched: WatchedFile, offset: int, shape: tuple[int, int], stored: np.dtype[Any]
) -> None:
    need = offset + shape[0] * shape[1] * stored.itemsize
    if watched.size < need:
        raise SourceError(
            f"{watched.name} has {watched.size:,} bytes, but {shape[0]:,} rows of "
            f"{shape[1]} columns take {need:,}: it is truncated. Write it again."
        )


def check_column_indices(
    columns: Sequence[int] | None, width: int, name: str
) -> list[int] | None:
    """Return the indices of chosen columns of a source without column names."""
    if columns is None:
        return None
    for column in columns:
        valid = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
        if not valid or not -width <= column < width:
            raise SourceError(
                f"{name} has no column {column!r}: its {width} columns have no names; "
                f"choose them by index, 0 to {width - 1}."
            )
    if not len(columns):
        raise SourceError(
            f"columns={columns!r} selects no column of {name}: choose at least one."
        )
    return [int(column) % width for column in columns]
