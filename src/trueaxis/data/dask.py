"""Rows of Dask collections: kernels run where the blocks are, small states come back.

States are merged in the order of the blocks, in a tree whose shape depends only on
their number. Unlike scikit-learn, this never silently computes a whole collection in
this process.
"""

from __future__ import annotations

import operator
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.files import SourceError, column_names, column_positions, float_type
from trueaxis.data.memory import SHARE, available_memory
from trueaxis.data.rows import ArrayRows, Blocks, Changes, Kernel, Rows, row_starts
from trueaxis.data.threads import ignore_float_errors
from trueaxis.data.transformed import ValueCheck

MERGED_AT_ONCE = 8  # number of states merged at a time
WORKER_SHARE = 0.5  # share of the workers' memory for rows


class DaskRows(Rows):
    """Rows of a Dask array whose blocks have whole rows.

    Inside a `with` statement, as in a fit, workers keep the blocks after their first
    use if they have enough memory; otherwise every pass computes them again.

    Parameters
    ----------
    array : dask.array.Array
        2D array of float64 or float32, with blocks of whole rows and of known length.
    names : sequence of str, optional
        Column names.
    """

    lazy = True

    def __init__(self, array: Any, names: Sequence[str] | None = None) -> None:
        self.array = array
        self.names = None if names is None else tuple(names)
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = np.dtype(array.dtype)
        self.starts = row_starts(array.chunks[0])
        self._kept: Any = None  # the blocks, while workers hold them
        self.check_anew(self.names)

    def check_anew(
        self, columns: Sequence[Any] | None, *, missing_ok: bool = False
    ) -> None:
        """Have the next pass check all values again, with these column names.

        Any finite value is allowed until `refuse_above`, and NaN if `missing_ok` is
        set.
        """
        place = partial(_place_in_block, self.starts)
        self._check = ValueCheck(place, columns, missing_ok=missing_ok)

    def refuse_above(self, limit: float) -> bool:
        """Refuse larger values when they are read."""
        self._check = self._check._replace(limit=limit)
        return True

    def blocks(self) -> Blocks:
        """Yield (index of the first row, block), in order, fetching one at a time."""
        for first, block in zip(
            self.starts.tolist(), self._checked_array().blocks, strict=False
        ):
            yield first, _compute(block)[0]

    def scan(self, kernel: Kernel, changes: Changes = ()) -> tuple[NDArray[Any], Any]:
        """Read the data once; return the per-row records and the kernel's state."""
        from dask.delayed import delayed

        record = self._empty_record(kernel)
        absorb = delayed(_absorb_block, pure=False, nout=2)
        merge = delayed(_merge_states, pure=False)
        pieces: list[Any] = [kernel, *changes]
        common = [piece.part(0, 0) for piece in pieces]  # without values of rows
        same = all(map(operator.is_, common, pieces))
        shared = _share(common)
        records, states = [], []
        for first, last, block in zip(
            self.starts.tolist(),
            self.starts[1:].tolist(),
            self._checked_array().to_delayed().ravel(),
            strict=False,
        ):
            work = shared
            if not same:
                work = _share([each.part(first, last - first) for each in pieces])
            part_record, state = absorb(block, work)
            records.append(part_record)
            states.append(state)
        while len(states) > 1:
            states = [
                merge(shared, states[at : at + MERGED_AT_ONCE])
                for at in range(0, len(states), MERGED_AT_ONCE)
            ]
        *parts, total = _compute(*(records if kernel.n_fields else ()), states[0])
        if kernel.n_fields:
            np.concatenate(parts, axis=1, out=record)
        return record, total

    def each(self, kernel: Kernel, changes: Changes = ()) -> Any:
        """Return the per-row records as a lazy Dask array (fields x rows)."""
        record = partial(_record_block, [kernel, *changes])
        array = self._checked_array(keep=False)
        return _map_blocks(record, array, kernel.n_fields, kernel.field_type).T

    def mapped(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> DaskRows:
        """Return the rows after a transform that keeps their shape."""
        return DaskRows(self.map(function, self.shape[1]), self.names)

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices into memory, in the order of `index`."""
        order = np.argsort(index, kind="stable")
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        (out[order],) = _compute(self._checked_array()[index[order]])
        return out

    def place(self, row: int) -> str:
        """Describe where a row is."""
        return _place_in_block(self.starts, row)

    def close(self) -> None:
        """Release the blocks that workers keep."""
        self._kept = None

    def _checked_array(self, *, keep: bool = True) -> Any:
        """Return the array with checks of its values.

        Workers keep it in a `with` statement if memory allows.
        """
        array = self._kept
        if array is None:
            array = self.array
            if keep and self._holders and array.nbytes <= self._room():
                array = self._kept = array.persist()
        checks = partial(_check_block, self._check, self.starts)
        return _map_blocks(checks, array, self.shape[1], self.dtype)

    def _room(self) -> float:
        """Return the memory for rows in bytes, in this process or that of workers."""
        from dask.base import get_scheduler

        client = getattr(get_scheduler(), "__self__", None)
        if client is None:
            return SHARE * (available_memory() or 0)
        return WORKER_SHARE * float(sum(client.run(_memory_limit).values()))


# ---------------------------------------------------------------- tasks of Dask


def _compute(*tasks: Any) -> Any:
    from dask.base import compute

    return compute(*tasks)


def _map_blocks(function: Any, array: Any, width: int, dtype: Any) -> Any:
    """Return the lazy array of a function of every block."""
    return array.map_blocks(
        function,
        chunks=(array.chunks[0], (width,)),
        dtype=dtype,
        meta=np.empty((0, 0), dtype=dtype),
        name=f"trueaxis-{uuid.uuid4().hex}",
    )


@ignore_float_errors
def _check_block(
    check: ValueCheck,
    starts: NDArray[np.intp],
    block: Any,
    block_id: tuple[int, int] | None = None,
) -> NDArray[Any]:
    """Return a block; raise if its values or its type are not valid."""
    assert block_id is not None
    first, last = starts[block_id[0] : block_id[0] + 2].tolist()
    plain = type(block) in (np.ndarray, np.memmap) and block.dtype.kind == "f"
    if plain and block.ndim == 2 and len(block) == last - first:
        for at, part in ArrayRows(np.asarray(block)).blocks():  # which fit the cache
            check(part, slice(first + at, first + at + len(part)))
        return np.asarray(block)
    raise SourceError(
        f"The Dask block that starts at row {first:,} is of type "
        f"{type(block).__name__} ({getattr(block, 'dtype', 'not numeric')}) and shape "
        f"{getattr(block, 'shape', '()')}, but was declared as an ndarray of floats "
        f"with {last - first} rows. Correct the function that makes it, or the "
        "metadata of its collection (dtype, meta, chunks)."
    )


@ignore_float_errors
def _absorb_block(block: NDArray[Any], work: list[Any]) -> tuple[NDArray[Any], Any]:
    """Return the records of a block and its state."""
    kernel, *changes = work
    # Dask decides how many threads work at a time.
    return ArrayRows(block).scan_in_sequence(kernel, changes)


def _record_block(work: list[Any], block: NDArray[Any]) -> NDArray[Any]:
    return _absorb_block(block, work)[0].T


def _merge_states(work: list[Any], states: Sequence[Any]) -> Any:
    # Merge into a new state: if a worker dies, Dask needs a task's arguments again.
    total = work[0].start()
    for state in states:
        total = work[0].merge(total, state)
    return total


def _place_in_block(starts: NDArray[np.intp], row: int) -> str:
    number = int(starts.searchsorted(row, side="right")) - 1
    within = row - int(starts[number])
    return f"block {number}, row {within:,} (row {row:,} of all)"


def _memory_limit(dask_worker: Any) -> int:
    return int(dask_worker.memory_manager.memory_limit or 0)


def _share(value: Any) -> Any:
    """Wrap a value that many tasks need, so that each worker receives it once."""
    from dask.delayed import delayed

    return delayed(value, name=f"trueaxis-{uuid.uuid4().hex}", traverse=False)


# ---------------------------------------------------------------- opening


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection (Dask need not be installed)."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


def dask_rows(X: Any, columns: Sequence[Any] | None = None) -> DaskRows:
    """Open the rows of a Dask array or data frame."""
    import dask.array

    if isinstance(X, dask.array.Array):
        return _array_rows(X, columns)
    is_frame = all(hasattr(type(X), name) for name in ("npartitions", "columns"))
    if is_frame and X.ndim == 2:
        return _frame_rows(X, columns)
    raise TypeError(
        f"X is a Dask {type(X).__name__}: pass a Dask array or data frame with one row "
        "per sample."
    )


def _array_rows(X: Any, columns: Sequence[int] | None) -> DaskRows:
    if X.ndim != 2:
        raise SourceError(
            f"X is a Dask array with {X.ndim} dimension(s), but a 2D array is needed: "
            "reshape it to rows and columns."
        )
    if np.isnan(X.shape).any():
        X = X.copy()
        X.compute_chunk_sizes()
    dtype = float_type(X.dtype, "The Dask array")
    selected = column_positions(columns, X.shape[1], "The Dask array")
    X = X if selected is None else X[:, selected]
    return DaskRows(X.astype(dtype).rechunk({1: -1}))


def _frame_rows(X: Any, columns: Sequence[Any] | None) -> DaskRows:
    kinds = {
        name: "number" if getattr(kind, "kind", "O") in "biuf" else str(kind)
        for name, kind in X.dtypes.items()
    }
    chosen = column_names(columns or [*kinds], kinds, "The Dask data frame")
    X = X[list(chosen)]
    single = all(str(kind).lower() == "float32" for kind in X.dtypes)
    # A data frame does not know the lengths of its partitions: the workers count.
    array = X.astype("float32" if single else "float64").to_dask_array(lengths=True)
    return DaskRows(array, [*map(str, chosen)])


def refuse_frames(estimator: Any) -> None:
    """Raise if a lazy result would be wrapped in a data frame, which computes it."""
    from sklearn import get_config  # takes long, and files are read without it

    output = get_config()["transform_output"]
    output = getattr(estimator, "_sklearn_output_config", {}).get("transform", output)
    if output != "default":
        raise TypeError(
            f"X is a Dask collection, but set_output(transform={output!r}) would load "
            "the whole result into memory. Use set_output(transform='default') to get "
            "a Dask array."
        )
