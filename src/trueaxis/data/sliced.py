"""Rows of array-like objects that support slicing, such as HDF5 and Zarr arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.binary import check_column_indices, float_type
from trueaxis.data.memory import refuse_large
from trueaxis.data.rows import Rows, rows_per_block
from trueaxis.data.watched_file import SourceError

CHUNK_BYTES = 1 << 24  # maximum to read at a time from an array stored in chunks


class SlicedRows(Rows):
    """Rows of an object that supports slicing, such as an HDF5 or Zarr array.

    Parameters
    ----------
    source : object
        With `shape`, `dtype` and slices of rows. If it has `chunks`, whole chunks are
        read.
    columns : sequence of int, optional
        Columns to read.
    block_rows : int, optional
    """

    def __init__(
        self,
        source: Any,
        columns: Sequence[int] | None = None,
        block_rows: int | None = None,
    ) -> None:
        self.source = source
        n, width = (int(size) for size in source.shape)
        label = getattr(source, "name", None)
        self.name = type(source).__name__ + (f" {label}" if label else "")
        self.columns = check_column_indices(columns, width, self.name)
        self.dtype = float_type(np.dtype(source.dtype), self.name)
        self.stored_shape = (n, width)
        self.shape = (n, width if columns is None else len(columns))
        self.block_rows = block_rows or self._whole_chunks(width)

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (index of the first row, block), in order."""
        for first in range(0, self.shape[0], self.block_rows):
            yield first, self._slice(first)

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices, reading only their blocks."""
        order = np.argsort(index, kind="stable")
        wanted = index[order]
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        with self._pass(f"selecting {len(index):,} rows", len(index)) as advance:
            for number in np.unique(wanted // self.block_rows):
                first = int(number) * self.block_rows
                low, high = np.searchsorted(wanted, [first, first + self.block_rows])
                out[order[low:high]] = self._slice(first)[wanted[low:high] - first]
                advance(int(high - low))
        return out

    def place(self, row: int, overall: int | None = None) -> str:
        """Describe where a row is."""
        return f"{self.name}, row {row:,}"

    def _slice(self, first: int) -> NDArray[Any]:
        last = min(first + self.block_rows, self.shape[0])
        try:
            block = np.asarray(self.source[first:last])
        except Exception as error:  # any error of the library that reads
            raise SourceError(
                f"Reading rows {first:,} to {last - 1:,} of {self.name} failed "
                f"({type(error).__name__}: {error}). Keep it open and unchanged until "
                "the end."
            ) from error
        expected = (last - first, self.stored_shape[1])
        if block.shape != expected:
            raise SourceError(
                f"Rows {first:,} to {last - 1:,} of {self.name} have shape "
                f"{block.shape} instead of {expected}, which does not match the "
                "object's own shape. Keep it unchanged until the end."
            )
        if self.columns is not None:
            block = block[:, self.columns]
        return block.astype(self.dtype, copy=False)

    def _whole_chunks(self, width: int) -> int:
        cached = rows_per_block(self.stored_shape, self.dtype)
        chunks = getattr(self.source, "chunks", None)
        if not chunks or not isinstance(chunks[0], (int, np.integer)):
            return cached
        # Reading a part of a chunk decodes all of it, and reading the next part would
        # decode it again.
        chunk = min(int(chunks[0]), max(1, self.stored_shape[0]))
        chunk_bytes = chunk * max(1, width) * self.dtype.itemsize
        refuse_large(
            chunk_bytes,
            f"A chunk of {self.name} ({chunk:,} rows)",
            "Store it in smaller chunks, or pass block_rows to read parts of them.",
        )
        return chunk * min(max(1, CHUNK_BYTES // chunk_bytes), -(-cached // chunk))
