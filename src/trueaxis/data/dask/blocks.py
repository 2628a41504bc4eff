"""Lengths of Dask blocks, and descriptions of where their rows are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.binary import format_overall_index
from trueaxis.data.rows import Rows

MANY_BLOCKS = 64  # above this number, blocks are bundled
BUNDLE_BYTES = 1 << 24  # maximum size of a bundle


def bundle_lengths(lengths: Sequence[int], row_bytes: int) -> tuple[int, ...]:
    """Return the lengths of blocks after bundling neighbors, if there are many."""
    if len(lengths) <= MANY_BLOCKS:
        return tuple(lengths)
    return tuple(join_lengths(lengths, BUNDLE_BYTES // row_bytes))


def join_lengths(lengths: Sequence[int], max_rows: int) -> list[int]:
    """Return the lengths after joining neighbors to at most `max_rows` rows."""
    out: list[int] = []
    for length in lengths:
        if out and out[-1] + length <= max_rows:
            out[-1] += length
        else:
            out.append(length)
    return out


class BlockPlaces(Rows):
    """Description of where rows of Dask blocks are, for error messages."""

    def __init__(
        self, starts: NDArray[np.intp], dtype: np.dtype[Any], block_name: str
    ) -> None:
        self.starts, self.dtype, self.block_name = starts, dtype, block_name

    def place(self, row: int, overall: int | None = None) -> str:
        """Describe where a row is."""
        number = int(self.starts.searchsorted(row, side="right")) - 1
        within = row - int(self.starts[number])
        return f"{self.block_name} {number}, row {within:,}" + format_overall_index(row)
