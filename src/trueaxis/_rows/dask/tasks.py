"""DO what workers of Dask do with a block: look at it, absorb, merge, apply, pick."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._rows.base import ArrayRows, Kernel, Rows
from trueaxis._rows.checked import ValueCheck
from trueaxis._rows.stacked import RowRange
from trueaxis._rows.transformed import TransformedKernel, Where
from trueaxis._rows.watched_file import SourceError


class CheckedBlock(NamedTuple):
    """Blocks are looked at, and not changed; the first row has number `before`."""

    check: ValueCheck
    before: int

    def __call__(self, block: NDArray[Any], where: Where) -> NDArray[Any]:
        """Return the block."""
        assert isinstance(where, slice)
        self.check(block, self.before + np.arange(where.start, where.stop))
        return block

    def part(self, first: int, n: int) -> CheckedBlock:
        """The same for n rows from row `first` on."""
        return CheckedBlock(self.check, self.before + first)


def new_name(what: str) -> str:
    """A name for a collection that no other has."""
    return f"trueaxis-{what}-{uuid.uuid4().hex}"


def shared(thing: Any) -> Any:
    """Something that many tasks need, sent to each worker once."""
    from dask.delayed import delayed

    return delayed(thing, name=new_name("shared"), traverse=False)


def part_of(block: Any, first: int, shape: tuple[int, int]) -> Rows:
    """A block that was made, or the rows of files that are it."""
    if isinstance(block, Rows):
        return RowRange(block, first, first + shape[0])
    return ArrayRows(as_promised(block, shape, first))


def as_promised(block: Any, shape: tuple[int, int], first: int) -> NDArray[Any]:
    """A block, if it is what its collection says that it is."""
    plain = type(block) is np.ndarray and block.dtype.kind == "f"
    if plain and block.shape == shape:
        return block
    kind = f"{type(block).__name__} ({getattr(block, 'dtype', 'no numbers')})"
    raise SourceError(
        f"The block of Dask that begins with row {first:,} is a {kind} of shape "
        f"{getattr(block, 'shape', '()')}, but was declared to be an ndarray of floats "
        f"of shape {shape}. Mend what makes it, or what its collection says of it "
        "(dtype, meta, chunks)."
    )


def read(block: Any, first: int, shape: tuple[int, int]) -> NDArray[Any]:
    """All rows of a block."""
    return part_of(block, first, shape).read()


def absorbed(
    block: Any,
    kernel: Kernel,
    check: ValueCheck | None,
    first: int,
    shape: tuple[int, int],
) -> tuple[NDArray[Any], Any]:
    """The records of a block, and its state."""
    if check is not None:
        kernel = TransformedKernel(kernel, CheckedBlock(check, first))
    return part_of(block, first, shape).scan(kernel)


def added_up(
    block: Any,
    kernel: Kernel,
    check: ValueCheck | None,
    first: int,
    shape: tuple[int, int],
) -> Any:
    """The state of a block."""
    return absorbed(block, kernel, check, first, shape)[1]


def merged(kernel: Kernel, states: Sequence[Any]) -> Any:
    """The states of several blocks as one."""
    # Into a new one: what a task was given may be needed again, if a worker dies.
    total = kernel.start()
    for state in states:
        total = kernel.merge(total, state)
    return total


def recorded(
    block: NDArray[Any],
    what: Kernel,
    check: ValueCheck,
    starts: NDArray[Any],
    block_id: tuple[int, int],
) -> NDArray[Any]:
    """The records of a block, row by row."""
    first = int(starts[block_id[0]])
    return absorbed(block, what, check, first, block.shape)[0].T


def applied(
    block: NDArray[Any],
    what: Callable[[NDArray[Any]], NDArray[Any]],
    check: ValueCheck,
    starts: NDArray[Any],
    block_id: tuple[int, int],
) -> NDArray[Any]:
    """What a function makes of a block."""
    first = int(starts[block_id[0]])
    check(block, np.arange(first, first + len(block)))
    return what(block)


def picked(
    block: Any, index: NDArray[np.intp], first: int, shape: tuple[int, int]
) -> NDArray[Any]:
    """Some rows of a block, or of files."""
    if isinstance(block, Rows):
        return block.take(index)
    return as_promised(block, shape, first)[index - first]
