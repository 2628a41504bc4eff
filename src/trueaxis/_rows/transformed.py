"""Rows as they are after a change that is made block by block, where they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from trueaxis._rows.base import Kernel, Rows, WrappedRows

Where = slice | NDArray[np.intp]  # which rows a block has


class BlockTransform(Protocol):
    """What is done to every block before anyone sees it."""

    def __call__(self, block: NDArray[Any], where: Where) -> NDArray[Any]:
        """Return the changed block."""

    def part(self, first: int, n: int) -> BlockTransform:
        """The change of n rows from row `first` on."""


class TransformedKernel(Kernel):
    """A kernel that sees the rows after a change."""

    def __init__(self, kernel: Kernel, change: BlockTransform) -> None:
        self.kernel, self.change = kernel, change
        self.n_fields, self.field_type = kernel.n_fields, kernel.field_type
        self.title = kernel.title
        self.start, self.merge = kernel.start, kernel.merge  # type: ignore[method-assign]

    def absorb(
        self, state: Any, block: NDArray[Any], first: int
    ) -> NDArray[Any] | None:
        """Change a block and hand it on."""
        changed = self.change(block, slice(first, first + len(block)))
        return self.kernel.absorb(state, changed, first)

    def part(self, first: int, n: int) -> Kernel:
        """The kernel for n rows from row `first` on."""
        kernel, change = self.kernel.part(first, n), self.change.part(first, n)
        if kernel is self.kernel and change is self.change:
            return self
        return TransformedKernel(kernel, change)


class TransformedRows(WrappedRows):
    """Rows as they are after a change that is made block by block."""

    def __init__(self, rows: Rows, change: BlockTransform) -> None:
        super().__init__(rows)
        self.change = change

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (number of the first row, block), in order."""
        for first, block in self.rows.blocks():
            yield first, self.change(block, slice(first, first + len(block)))

    def scan(self, kernel: Kernel) -> tuple[NDArray[Any], Any]:
        """Read the data once, where they are."""
        return self.rows.scan(TransformedKernel(kernel, self.change))

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these numbers, in the order of `index`."""
        return self.change(self.rows.take(index), index)

    def like_rows(self, vector: Any) -> Any:
        """What there is one of for every row, kept in the way that the rows are."""
        return self.rows.like_rows(vector)


class ReplaceUncounted(NamedTuple):
    """Rows that do not count are replaced by one that does.

    They keep their places, but can do no harm, whatever their values.
    """

    counts: NDArray[np.float64]
    row: NDArray[Any]

    def __call__(self, block: NDArray[Any], where: Where) -> NDArray[Any]:
        """Return the block with rows replaced."""
        return np.where(self.counts[where, None] > 0, block, self.row)

    def part(self, first: int, n: int) -> ReplaceUncounted:
        """The same for n rows from row `first` on."""
        return ReplaceUncounted(self.counts[first : first + n], self.row)


def replace_uncounted(rows: Rows, counts: NDArray[np.float64]) -> TransformedRows:
    """Rows of which those that do not count can do no harm."""
    row = rows.take(np.flatnonzero(counts)[:1])
    return TransformedRows(rows, ReplaceUncounted(counts, row))
