"""DO what workers of Dask do with a block: look at it, absorb, merge, apply, pick."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.changes import Through, Where
from trueaxis.checking import Check
from trueaxis.rows import ArrayRows, Kernel, Rows
from trueaxis.stacked import Section


class Looked(NamedTuple):
    """Blocks are looked at, and not changed; the first row has number `before`."""

    check: Check
    before: int

    def __call__(self, block: NDArray, where: Where) -> NDArray:
        """Return the block."""
        assert isinstance(where, slice)
        self.check(block, self.before + np.arange(where.start, where.stop))
        return block

    def part(self, first: int, n: int) -> Looked:
        """The same for n rows from row `first` on."""
        return Looked(self.check, self.before + first)


def new_name(what: str) -> str:
    """A name for a collection that no other has."""
    return f"trueaxis-{what}-{uuid.uuid4().hex}"


def shared(thing: Any) -> Any:
    """Something that many tasks need, sent to each worker once."""
    from dask.delayed import delayed

    return delayed(thing, name=new_name("shared"), traverse=False)


def part_of(block: NDArray | Rows, first: int, length: int) -> Rows:
    """A block that was made, or the rows of files that are it."""
    if isinstance(block, Rows):
        return Section(block, first, first + length)
    return ArrayRows(block)


def read(block: NDArray | Rows, first: int, length: int) -> NDArray:
    """All rows of a block."""
    return part_of(block, first, length).read()


def absorbed(
    block: NDArray | Rows, kernel: Kernel, check: Check | None, first: int, length: int
) -> tuple[NDArray, Any]:
    """The records of a block, and its state."""
    if check is not None:
        kernel = Through(kernel, Looked(check, first))
    return part_of(block, first, length).scan(kernel)


def added_up(
    block: NDArray | Rows, kernel: Kernel, check: Check | None, first: int, length: int
) -> Any:
    """The state of a block."""
    return absorbed(block, kernel, check, first, length)[1]


def merged(kernel: Kernel, states: Sequence[Any]) -> Any:
    """The states of several blocks as one."""
    # Into a new one: what a task was given may be needed again, if a worker dies.
    total = kernel.start()
    for state in states:
        total = kernel.merge(total, state)
    return total


def recorded(
    block: NDArray,
    what: Kernel,
    check: Check,
    starts: NDArray,
    block_id: tuple[int, int],
) -> NDArray:
    """The records of a block, row by row."""
    first = int(starts[block_id[0]])
    return absorbed(block, what, check, first, len(block))[0].T


def applied(
    block: NDArray,
    what: Callable[[NDArray], NDArray],
    check: Check,
    starts: NDArray,
    block_id: tuple[int, int],
) -> NDArray:
    """What a function makes of a block."""
    first = int(starts[block_id[0]])
    check(block, np.arange(first, first + len(block)))
    return what(block)


def picked(block: NDArray | Rows, index: NDArray[np.intp]) -> NDArray:
    """Some rows of a block, or of files."""
    return block.take(index) if isinstance(block, Rows) else block[index]
