"""What a pass carries along: who counts, and a buffer to work in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

RowMask = Callable[[NDArray[Any]], NDArray[np.bool_]]  # marks some rows of a block


class RowCounts(NamedTuple):
    """How often rows count: given for all of them, or seen in the rows themselves.

    counts : for every row; None where each counts once
    apart : marks the rows of a block that do not count at all
    """

    counts: NDArray[np.float64] | None = None
    apart: RowMask | None = None

    def of(self, block: NDArray[Any], first: int) -> NDArray[np.float64] | None:
        """How often the rows of a block count."""
        counts = None
        if self.counts is not None:
            counts = self.counts[first : first + len(block)]
        if self.apart is None:
            return counts
        return np.where(self.apart(block), 0.0, 1.0 if counts is None else counts)

    def part(self, first: int, n: int) -> RowCounts:
        """The roll of n rows from row `first` on."""
        if self.counts is None:
            return self
        return self._replace(counts=self.counts[first : first + n])


class Scratch:
    """A buffer of the size of a block, allocated once per pass."""

    def __init__(self) -> None:
        self.buffer: NDArray[Any] | None = None

    def like(self, block: NDArray[Any]) -> NDArray[Any]:
        """An array of the block's shape, with anything in it."""
        if self.buffer is None or len(self.buffer) < len(block):
            self.buffer = np.empty_like(block, order="C")
        return self.buffer[: len(block)]

    def __reduce__(self) -> tuple[Any, ...]:
        return Scratch, ()  # it does not travel


ALL_ROWS = RowCounts()
