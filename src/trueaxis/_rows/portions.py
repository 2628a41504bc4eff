"""Portions of large tables: rows that get a state of their own, one thread each.

The portions depend on the size of the table and on how it is stored, but never on the
number of threads. States are merged in the order of the rows, so sums are bitwise the
same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._rows.threads import n_threads

# Threads gain nothing on smaller tables. In wider ones, the sums of a portion take more
# memory than its rows, and the BLAS makes good use of its own threads.
POOLED_BYTES = 1 << 23
MAX_COLUMNS = 1024
# Blocks per portion: enough for the cost of a new state not to matter, but few enough
# for all threads to end at about the same time.
PORTIONS, MIN_BLOCKS, MAX_BLOCKS = 16, 4, 16
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


def rows_per_portion(
    shape: tuple[int, int], dtype: np.dtype[Any], block_rows: int
) -> int | None:
    """Return the number of rows in a portion, whole blocks; None if all share a state.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis._rows.portions import rows_per_portion
    >>> float64 = np.dtype(float)
    >>> rows_per_portion((1_000_000, 50), float64, 2_621)
    41936
    >>> rows_per_portion((10_000, 50), float64, 2_621) is None
    True
    """
    n, D = shape
    if n * D * dtype.itemsize < POOLED_BYTES or D > MAX_COLUMNS:
        return None
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
