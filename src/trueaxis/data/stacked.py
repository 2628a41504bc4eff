"""Several sources of rows as one, and a range of rows of a source."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.portions import Blocks, Portion, combine, part_starts
from trueaxis.data.rows import Rows


class StackedRows(Rows):
    """Rows of several sources, one after another."""

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.parts = list(parts)
        self.names = next((part.names for part in parts if part.names), None)
        self.starts = part_starts([part.shape[0] for part in parts])
        self.shape = (int(self.starts[-1]), parts[0].shape[1])
        filled = [part for part in parts if part.shape[0]]
        self.dtype = np.result_type(*(part.dtype for part in filled or parts))
        self.independent = all(part.independent for part in parts)

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (index of the first row, block), in order."""
        return self.blocks_between(0, self.shape[0])

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices into memory, in the order of `index`."""
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        owner = self.starts.searchsorted(index, side="right") - 1
        for number in np.unique(owner):
            mine = np.flatnonzero(owner == number)
            out[mine] = self.parts[number].take(index[mine] - self.starts[number])
        return out

    def blocks_between(
        self, first: int, last: int
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the blocks of rows `first` up to, but not including, `last`."""
        for start, part in zip(self.starts.tolist(), self.parts, strict=False):
            low, high = max(first - start, 0), min(last - start, part.shape[0])
            if low < high:
                yield from self._moved(partial(part.blocks_between, low, high), start)

    def portions(self, rows: int) -> Generator[Portion, None, None]:
        """Yield all rows, in order, in portions of about as many rows."""
        own = super().portions if self.independent else self._portions_of_parts
        yield from own(rows)

    def _portions_of_parts(self, rows: int) -> Iterator[Portion]:
        def of(part: Rows, start: int) -> Iterator[Portion]:
            with closing(part.portions(rows)) as portions:
                for n, read in portions:
                    yield Portion(n, partial(self._moved, read, start))

        starts = self.starts.tolist()
        parts = (of(*each) for each in zip(self.parts, starts, strict=False))
        return combine(chain.from_iterable(parts), rows)

    def _moved(self, read: Callable[[], Blocks], start: int) -> Blocks:
        """Yield the blocks of a part, as those of all rows."""
        for begin, block in read():
            yield start + begin, block.astype(self.dtype, copy=False)

    def place(self, row: int, overall: int | None = None) -> str:
        """Describe where a row is."""
        number = int(self.starts.searchsorted(row, side="right")) - 1
        within = row - int(self.starts[number])
        return self.parts[number].place(within, row if overall is None else overall)


class RowRange(Rows):
    """Rows of a source from `first` up to, but not including, `last`."""

    def __init__(self, source: Rows, first: int, last: int) -> None:
        self.source, self.first, self.last = source, first, last
        self.shape, self.dtype = (last - first, source.shape[1]), source.dtype

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (index of the first row, block), in order."""
        for begin, block in self.source.blocks_between(self.first, self.last):
            yield begin - self.first, block

    def read(self) -> NDArray[Any]:
        """Return all rows of the range."""
        out = np.empty(self.shape, dtype=self.dtype)
        for begin, block in self.blocks():
            out[begin : begin + len(block)] = block
        return out
