"""Rows with a transform applied to every block as it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from trueaxis.data.rows import Kernel, Rows, WrappedRows

Where = slice | NDArray[np.intp]  # the indices of a block's rows


class BlockTransform(Protocol):
    """Transform of a block that keeps its shape."""

    def __call__(self, block: NDArray[Any], where: Where) -> NDArray[Any]:
        """Return the transformed block."""

    def part(self, first: int, n: int) -> BlockTransform:
        """Return the transform for n rows starting at `first`."""


class TransformedKernel(Kernel):
    """Kernel that receives the rows after a transform."""

    def __init__(self, kernel: Kernel, change: BlockTransform) -> None:
        self.kernel, self.change = kernel, change
        self.n_fields, self.field_type = kernel.n_fields, kernel.field_type
        self.title = kernel.title

    def start(self) -> Any:
        """Return an empty state."""
        return self.kernel.start()

    def absorb(
        self, state: Any, block: NDArray[Any], first: int
    ) -> NDArray[Any] | None:
        """Transform a block and pass it to the wrapped kernel."""
        changed = self.change(block, slice(first, first + len(block)))
        return self.kernel.absorb(state, changed, first)

    def merge(self, state: Any, other: Any) -> Any:
        """Add the state of later rows to the state of earlier ones."""
        return self.kernel.merge(state, other)

    def part(self, first: int, n: int) -> Kernel:
        """Return the kernel for n rows starting at `first`."""
        kernel, change = self.kernel.part(first, n), self.change.part(first, n)
        if kernel is self.kernel and change is self.change:
            return self
        return TransformedKernel(kernel, change)


class TransformedRows(WrappedRows):
    """Rows after a transform that is applied block by block."""

    def __init__(self, rows: Rows, change: BlockTransform) -> None:
        super().__init__(rows)
        self.change = change

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (index of the first row, block), in order."""
        for first, block in self.rows.blocks():
            yield first, self.change(block, slice(first, first + len(block)))

    def scan(self, kernel: Kernel) -> tuple[NDArray[Any], Any]:
        """Read the data once; return the per-row records and the kernel's state."""
        return self.rows.scan(TransformedKernel(kernel, self.change))

    def scan_in_place(self, kernel: Kernel) -> tuple[Any, Any]:
        """Scan the data, but leave the per-row records where the rows are stored."""
        return self.rows.scan_in_place(TransformedKernel(kernel, self.change))

    def each(self, kernel: Kernel) -> Any:
        """Return only the per-row records, lazily if the rows are lazy."""
        return self.rows.each(TransformedKernel(kernel, self.change))

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices, in the order of `index`."""
        return self.change(self.rows.take(index), index)

    def like_rows(self, vector: Any) -> Any:
        """Store a per-row vector the way the rows are stored."""
        return self.rows.like_rows(vector)


class RowwiseRows(TransformedRows):
    """Rows after a transform that depends on nothing but each row."""

    def map(
        self,
        function: Callable[[NDArray[Any]], NDArray[Any]],
        width: int,
        dtype: DTypeLike | None = None,
    ) -> Any:
        """Apply a function to the transformed rows, lazily if the rows are lazy."""
        change, anywhere = self.change, slice(None)

        def composed(block: NDArray[Any]) -> NDArray[Any]:
            return function(change(block, anywhere))

        return self.rows.map(composed, width, dtype)


class ReplaceUncounted(NamedTuple):
    """Transform that replaces rows with zero sample weight by a fixed row.

    Their values may be of any size, and must not overflow in a kernel.
    """

    counts: NDArray[np.float64]
    row: NDArray[Any]

    def __call__(self, block: NDArray[Any], where: Where) -> NDArray[Any]:
        """Return the block with these rows replaced."""
        return np.where(self.counts[where, None] > 0, block, self.row)

    def part(self, first: int, n: int) -> ReplaceUncounted:
        """Return the transform for n rows starting at `first`."""
        return ReplaceUncounted(self.counts[first : first + n], self.row)


def replace_uncounted(rows: Rows, counts: NDArray[np.float64]) -> TransformedRows:
    """Replace rows with zero sample weight by the first row with a positive one."""
    row = rows.take(np.flatnonzero(counts)[:1])
    return TransformedRows(rows, ReplaceUncounted(counts, row))
