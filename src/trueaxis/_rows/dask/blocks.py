"""Blocks of Dask: where they begin, how many are taken together, what to call them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._rows.base import Rows
from trueaxis._rows.binary import of_all

MANY_BLOCKS = 64  # more of them are bundled,
BUNDLE_BYTES = 1 << 24  # into blocks of up to this size


def bundled(lengths: Sequence[int], row_bytes: int) -> tuple[int, ...]:
    """Lengths of blocks that neighbours are joined to, if there are many."""
    if len(lengths) <= MANY_BLOCKS:
        return tuple(lengths)
    return tuple(joined(lengths, BUNDLE_BYTES // row_bytes))


def joined(lengths: Sequence[int], most: int) -> list[int]:
    """Lengths after neighbours were joined, up to `most` rows."""
    out: list[int] = []
    for length in lengths:
        if out and out[-1] + length <= most:
            out[-1] += length
        else:
            out.append(length)
    return out


class DaskRowNames(Rows):
    """Where rows of Dask are, in words."""

    def __init__(
        self, starts: NDArray[np.intp], dtype: np.dtype[Any], what: str
    ) -> None:
        self.starts, self.dtype, self.what = starts, dtype, what

    def place(self, row: int, overall: int | None = None) -> str:
        """Say where a row is."""
        number = int(self.starts.searchsorted(row, side="right")) - 1
        within = row - int(self.starts[number])
        return f"{self.what} {number}, row {within:,}" + of_all(row)
