"""READ several sources as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from trueaxis.rows import Rows


class StackedRows(Rows):
    """Rows of several sources, one after another."""

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.parts = list(parts)
        self.names = next((part.names for part in parts if part.names), None)
        lengths = [part.shape[0] for part in parts]
        self.starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
        self.shape = (int(self.starts[-1]), parts[0].shape[1])
        filled = [part for part in parts if part.shape[0]]
        self.dtype = np.result_type(*(part.dtype for part in filled or parts))

    def blocks(self) -> Iterator[tuple[int, NDArray]]:
        """Yield (number of the first row, block), in order."""
        for start, part in zip(self.starts, self.parts, strict=False):
            for first, block in part.blocks():
                yield int(start) + first, block.astype(self.dtype, copy=False)

    def take(self, index: NDArray[np.intp]) -> NDArray:
        """Copy the rows with these numbers into memory, in the order of `index`."""
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        owner = self.starts.searchsorted(index, side="right") - 1
        for number in np.unique(owner):
            mine = np.flatnonzero(owner == number)
            out[mine] = self.parts[number].take(index[mine] - self.starts[number])
        return out

    def place(self, row: int, overall: int | None = None) -> str:
        """Say where a row is."""
        number = int(self.starts.searchsorted(row, side="right")) - 1
        within = row - int(self.starts[number])
        return self.parts[number].place(within, row if overall is None else overall)
