"""Tasks that Dask workers run on blocks of rows."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.checked import CheckedBlock, ValueCheck
from trueaxis.data.rows import ArrayRows, Kernel, Rows
from trueaxis.data.stacked import RowRange
from trueaxis.data.threads import own_floats
from trueaxis.data.transformed import TransformedKernel
from trueaxis.data.watched_file import SourceError


def new_name(kind: str) -> str:
    """Return a unique name for a collection."""
    return f"trueaxis-{kind}-{uuid.uuid4().hex}"


def share(value: Any) -> Any:
    """Wrap a value that many tasks need, so that each worker receives it once."""
    from dask.delayed import delayed

    return delayed(value, name=new_name("shared"), traverse=False)


def rows_of(block: Any, first: int, shape: tuple[int, int]) -> Rows:
    """Return the rows of a computed block, or those to read from files instead."""
    if isinstance(block, Rows):
        return RowRange(block, first, first + shape[0])
    return ArrayRows(check_block(block, shape, first))


def check_block(block: Any, shape: tuple[int, int], first: int) -> NDArray[Any]:
    """Return a block; raise if it is not what its collection declares."""
    plain = type(block) in (np.ndarray, np.memmap)
    if plain and block.dtype.kind == "f" and block.shape == shape:
        return np.asarray(block)
    kind = f"{type(block).__name__} ({getattr(block, 'dtype', 'not numeric')})"
    raise SourceError(
        f"The Dask block that starts at row {first:,} is of type {kind} and shape "
        f"{getattr(block, 'shape', '()')}, but was declared as an ndarray of floats "
        f"of shape {shape}. Correct the function that makes it, or the metadata of its "
        "collection (dtype, meta, chunks)."
    )


def read_block(block: Any, first: int, shape: tuple[int, int]) -> NDArray[Any]:
    """Return all rows of a block."""
    return rows_of(block, first, shape).read()


@own_floats
def absorb_block(
    block: Any,
    kernel: Kernel,
    check: ValueCheck | None,
    first: int,
    shape: tuple[int, int],
) -> tuple[NDArray[Any], Any]:
    """Return the records of a block and its state."""
    if check is not None:
        kernel = TransformedKernel(kernel, CheckedBlock(check, first))
    # Dask decides how many threads work at a time.
    return rows_of(block, first, shape).scan_in_sequence(kernel)


def block_state(
    block: Any,
    kernel: Kernel,
    check: ValueCheck | None,
    first: int,
    shape: tuple[int, int],
) -> Any:
    """Return the state of a block."""
    return absorb_block(block, kernel, check, first, shape)[1]


def merge_states(kernel: Kernel, states: Sequence[Any]) -> Any:
    """Merge the states of several blocks."""
    # Merge into a new state: if a worker dies, Dask needs a task's arguments again.
    total = kernel.start()
    for state in states:
        total = kernel.merge(total, state)
    return total


def record_block(
    block: NDArray[Any],
    operation: Kernel,
    check: ValueCheck,
    starts: NDArray[Any],
    block_id: tuple[int, int],
) -> NDArray[Any]:
    """Return the records of a block (rows x fields)."""
    first = int(starts[block_id[0]])
    return absorb_block(block, operation, check, first, block.shape)[0].T


@own_floats
def apply_to_block(
    block: NDArray[Any],
    operation: Callable[[NDArray[Any]], NDArray[Any]],
    check: ValueCheck,
    starts: NDArray[Any],
    block_id: tuple[int, int],
) -> NDArray[Any]:
    """Check a block and apply a function to it."""
    first = int(starts[block_id[0]])
    check(block, np.arange(first, first + len(block)))
    return operation(block)


def take_from_block(
    block: Any, index: NDArray[np.intp], first: int, shape: tuple[int, int]
) -> NDArray[Any]:
    """Return some rows of a block, or of files."""
    if isinstance(block, Rows):
        return block.take(index)
    return check_block(block, shape, first)[index - first]
