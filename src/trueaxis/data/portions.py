"""Portions of large tables: rows that get a state of their own, one thread each.

The portions depend on the size of the table and on how it is stored, but never on the
number of threads. States are merged in the order of the rows, so sums are bitwise the
same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.threads import n_threads

# Threads gain nothing on smaller tables. In wider ones, the sums of a portion take more
# memory than its rows, and the BLAS makes good use of its own threads.
POOLED_BYTES = 1 << 23
MAX_COLUMNS = 1024
# Blocks per portion: enough for the cost of a new state not to matter, but few enough
# for all threads to end at about the same time.
PORTIONS, MIN_BLOCKS, MAX_BLOCKS = 16, 2, 8
ROWS_PER_COLUMN = 8  # at least, in a portion: fewer are added up faster than merged
GROUPS = 3  # of rows whose sums a state may keep separate
MEMORY = 1 << 30  # for what all threads need at the same time

Blocks = Iterator[tuple[int, NDArray[Any]]]  # index of the first row, and the rows


class Portion(NamedTuple):
    """Consecutive rows that get a state of their own.

    Attributes
    ----------
    n : int
        Number of rows.
    read : callable
        Yields their blocks; called once, perhaps in another thread.
    """

    n: int
    read: Callable[[], Blocks]


def has_portions(shape: tuple[int, int], dtype: np.dtype[Any]) -> bool:
    """Return whether a table is cut into portions; otherwise all rows share a state.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.data.portions import has_portions
    >>> has_portions((1_000_000, 50), np.dtype(float))
    True
    >>> has_portions((10_000, 50), np.dtype(float))
    False
    """
    n, D = shape
    return n * D * dtype.itemsize >= POOLED_BYTES and D <= MAX_COLUMNS


def rows_per_portion(shape: tuple[int, int], block_rows: int) -> int:
    """Return the number of rows in a portion, which has whole blocks.

    Examples
    --------
    >>> from trueaxis.data.portions import rows_per_portion
    >>> rows_per_portion((1_000_000, 50), 5_242)
    41936
    """
    n, D = shape
    blocks = -(-n // (PORTIONS * block_rows))
    blocks = min(max(blocks, MIN_BLOCKS), MAX_BLOCKS)
    return block_rows * max(blocks, -(-ROWS_PER_COLUMN * D // block_rows))


def threads_for(shape: tuple[int, int], portion_rows: int, held: int) -> int:
    """Return the number of threads for a pass, as far as portions and memory last.

    `held` is the memory of a portion under way, in bytes, besides its state.
    """
    n, D = shape
    # Twice as many portions as threads are under way: see `in_order`.
    each = 2 * (held + GROUPS * D * D * np.dtype(float).itemsize)
    return max(1, min(n_threads(), -(-n // portion_rows), MEMORY // each))


def part_starts(lengths: Sequence[int]) -> NDArray[np.intp]:
    """Return the index of each part's first row, followed by the number of rows."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)


def copied_portions(blocks: Blocks, rows: int) -> Iterator[Portion]:
    """Copy blocks, which may be overwritten, and yield them in portions."""
    held: list[tuple[int, NDArray[Any]]] = []
    size = 0
    for first, block in blocks:
        held.append((first, block.copy()))
        size += len(block)
        if size >= rows:
            yield Portion(size, partial(iter, held))
            held, size = [], 0
    if held:
        yield Portion(size, partial(iter, held))


def combine(portions: Iterable[Portion], rows: int) -> Iterator[Portion]:
    """Put small portions together until they have as many rows as asked for."""
    some: list[Portion] = []
    for portion in portions:
        if some and sum(part.n for part in some) + portion.n > rows:
            yield _joined(some)
            some = []
        some.append(portion)
    if some:
        yield _joined(some)


def _joined(some: list[Portion]) -> Portion:
    def read() -> Blocks:
        return chain.from_iterable(part.read() for part in some)

    return some[0] if len(some) == 1 else Portion(sum(part.n for part in some), read)
