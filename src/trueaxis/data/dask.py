"""Rows of Dask collections: kernels run where the blocks are, small states come back.

States are merged in the order of the blocks, in a tree whose shape depends only on
their number. Unlike scikit-learn, this never silently computes a whole collection in
this process.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.files import SourceError, column_positions, float_type
from trueaxis.data.memory import SHARE, available_memory
from trueaxis.data.rows import ArrayRows, Blocks, Kernel, Rows, row_starts
from trueaxis.data.threads import own_floats
from trueaxis.data.transformed import ValueCheck

FAN = 8  # number of states merged at a time
MANY_BLOCKS = 64  # above this number, blocks are bundled
BUNDLE_BYTES = 1 << 24  # maximum size of a bundle
WORKER_SHARE = 0.5  # share of the workers' memory that rows may take
LOST = ("KilledWorker", "CancelledError", "FutureCancelledError")  # errors of a cluster


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
    place : callable, optional
        Describes where a row is, for error messages.
    """

    lazy = True

    def __init__(
        self,
        array: Any,
        names: Sequence[str] | None = None,
        place: Callable[[int], str] | None = None,
    ) -> None:
        self.array = self._bundled = array
        self.names = None if names is None else tuple(names)
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = np.dtype(array.dtype)
        lengths = array.chunks[0]
        self._place = place or partial(_place_in_block, row_starts(lengths), "block")
        # Dask spends more time on many small blocks than the kernels do: bundle them.
        most = BUNDLE_BYTES // (self.shape[1] * self.dtype.itemsize)
        if len(lengths) > MANY_BLOCKS and max(lengths) < most:
            self._bundled = array.rechunk((most, -1))
        self._kept: Any = None  # the blocks, while workers hold them
        self.check_anew(self.names)

    def check_anew(self, columns: Sequence[Any] | None, *, holes: bool = False) -> None:
        """Have the next pass check all values again, with these column names.

        Any finite value is allowed until `refuse_above`, and NaN if `holes` is set.
        """
        self._check, self._checked = (
            ValueCheck(self._place, columns, holes=holes),
            False,
        )

    def refuse_above(self, limit: float) -> bool:
        """Refuse larger values when they are read."""
        self._check = self._check._replace(limit=limit)
        return True

    def blocks(self) -> Blocks:
        """Yield (index of the first row, block), in order, fetching one at a time."""
        array = self._read()
        for first, block in zip(
            row_starts(array.chunks[0]).tolist(), array.blocks, strict=False
        ):
            yield first, self._compute(block)[0]

    def scan(self, kernel: Kernel) -> tuple[NDArray[Any], Any]:
        """Read the data once; return the per-row records and the kernel's state."""
        from dask.delayed import delayed

        record, array = self._empty_record(kernel), self._read()
        absorb = delayed(_absorb_block, pure=False, nout=2)
        merge = delayed(_merge_states, pure=False)
        common = kernel.part(0, 0)  # without values of single rows
        shared = _share(common)
        records, states = [], []
        for first, n, block in zip(
            row_starts(array.chunks[0]).tolist(),
            array.chunks[0],
            array.to_delayed().ravel(),
            strict=False,
        ):
            part = shared if common is kernel else _share(kernel.part(first, n))
            part_record, state = absorb(block, part)
            records.append(part_record)
            states.append(state)
        while len(states) > 1:
            states = [
                merge(shared, states[at : at + FAN])
                for at in range(0, len(states), FAN)
            ]
        *parts, total = self._compute(*(records if kernel.n_fields else ()), states[0])
        if kernel.n_fields:
            np.concatenate(parts, axis=1, out=record)
        self._checked = True
        return record, total

    def each(self, kernel: Kernel) -> Any:
        """Return the per-row records as a lazy Dask array (fields x rows)."""
        assert kernel.part(0, 0) is kernel  # it holds no per-row values
        record = partial(_record_block, kernel)
        return _map_blocks(
            record, self._with_checks(self.array), kernel.n_fields, kernel.field_type
        ).T

    def mapped(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> DaskRows:
        """Return the rows after a transform that keeps their shape."""
        return DaskRows(self.map(function, self.shape[1]), self.names, self._place)

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices into memory, in the order of `index`."""
        order = np.argsort(index, kind="stable")
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        (out[order],) = self._compute(self._read()[index[order]])
        return out

    def place(self, row: int) -> str:
        """Describe where a row is."""
        return self._place(row)

    def close(self) -> None:
        """Release the blocks that workers keep."""
        self._kept = None

    def _read(self) -> Any:
        """Return the array to read, which workers keep in a `with` if memory allows."""
        if self._kept is None and self._holders and self.array.nbytes <= self._room():
            self._kept = self._bundled.persist()
        array = self._bundled if self._kept is None else self._kept
        return array if self._checked else self._with_checks(array)

    def _with_checks(self, array: Any) -> Any:
        checks = partial(_check_block, self._check, row_starts(array.chunks[0]))
        return _map_blocks(checks, array, self.shape[1], self.dtype)

    def _room(self) -> float:
        """Return the memory for rows in bytes, in this process or that of workers."""
        client = _default_client()
        if client is None:
            return SHARE * (available_memory() or 0)
        return WORKER_SHARE * float(sum(client.run(_memory_limit).values()))

    def _compute(self, *tasks: Any) -> Sequence[Any]:
        from dask.base import compute

        try:
            return list(compute(*tasks))
        except Exception as error:
            if type(error).__name__ not in LOST:
                raise
            raise SourceError(
                f"The Dask cluster gave up ({type(error).__name__}: {error}): it was "
                "shut down, or workers died, most likely for lack of memory. Give them "
                "more, or use smaller chunks of rows, and fit again."
            ) from error


# ---------------------------------------------------------------- tasks of workers


def _map_blocks(function: Any, array: Any, width: int, dtype: Any) -> Any:
    """Return the lazy array of a function of every block."""
    return array.map_blocks(
        function,
        chunks=(array.chunks[0], (width,)),
        dtype=dtype,
        meta=np.empty((0, 0), dtype=dtype),
        name=f"trueaxis-{uuid.uuid4().hex}",
    )


@own_floats
def _check_block(
    check: ValueCheck,
    starts: NDArray[np.intp],
    block: Any,
    block_id: tuple[int, int] | None = None,
) -> NDArray[Any]:
    """Return a block; raise if its values or its type are not what they should be."""
    assert block_id is not None
    first, last = starts[block_id[0] : block_id[0] + 2].tolist()
    plain = type(block) in (np.ndarray, np.memmap) and block.dtype.kind == "f"
    if plain and block.ndim == 2 and len(block) == last - first:
        return check(np.asarray(block), slice(first, last))
    raise SourceError(
        f"The Dask block that starts at row {first:,} is of type "
        f"{type(block).__name__} ({getattr(block, 'dtype', 'not numeric')}) and shape "
        f"{getattr(block, 'shape', '()')}, but was declared as an ndarray of floats "
        f"with {last - first} rows. Correct the function that makes it, or the "
        "metadata of its collection (dtype, meta, chunks)."
    )


@own_floats
def _absorb_block(block: NDArray[Any], kernel: Kernel) -> tuple[NDArray[Any], Any]:
    """Return the records of a block and its state."""
    # Dask decides how many threads work at a time.
    return ArrayRows(block).scan_in_sequence(kernel)


def _record_block(kernel: Kernel, block: NDArray[Any]) -> NDArray[Any]:
    return _absorb_block(block, kernel)[0].T


def _merge_states(kernel: Kernel, states: Sequence[Any]) -> Any:
    # Merge into a new state: if a worker dies, Dask needs a task's arguments again.
    total = kernel.start()
    for state in states:
        total = kernel.merge(total, state)
    return total


def _place_in_block(starts: NDArray[np.intp], kind: str, row: int) -> str:
    number = int(starts.searchsorted(row, side="right")) - 1
    within = row - int(starts[number])
    return f"{kind} {number}, row {within:,} (row {row:,} of all)"


def _memory_limit(dask_worker: Any) -> int:
    return int(dask_worker.memory_manager.memory_limit or 0)


def _share(value: Any) -> Any:
    """Wrap a value that many tasks need, so that each worker receives it once."""
    from dask.delayed import delayed

    return delayed(value, name=f"trueaxis-{uuid.uuid4().hex}", traverse=False)


def _default_client() -> Any:
    """Return the client that Dask would use; None if it runs tasks in this process."""
    import dask.config

    if dask.config.get("scheduler", None) not in (None, "dask.distributed"):
        return None
    try:
        import distributed

        return distributed.default_client()
    except (ImportError, ValueError):  # not installed, or no client
        return None


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
        raise SourceError(
            f"X is a Dask array whose shape {X.shape} is partly unknown: call "
            "X.compute_chunk_sizes() first."
        )
    if X.numblocks[1] > 1:
        raise SourceError(
            f"X is a Dask array with {X.numblocks[1]} blocks of columns, but blocks "
            'need whole rows: pass X.rechunk({0: "auto", 1: -1}).'
        )
    if not isinstance(X._meta, np.ndarray):
        raise TypeError(
            f"X is a Dask array with blocks of type {type(X._meta).__name__}, but only "
            "NumPy arrays can be analyzed. Convert them with X.map_blocks(...)."
        )
    dtype = float_type(X.dtype, "The Dask array")
    selected = column_positions(columns, X.shape[1], "The Dask array")
    if selected is not None:
        X = X[:, selected].rechunk({1: -1})
    return DaskRows(X.astype(dtype))


def _frame_rows(X: Any, columns: Sequence[Any] | None) -> DaskRows:
    if columns is not None:
        missing = [name for name in columns if name not in list(X.columns)]
        if missing:
            raise SourceError(
                f"The Dask data frame has no column {missing[0]!r}; its "
                f"{len(X.columns)} columns are {list(X.columns)[:12]}."
            )
        X = X[list(columns)]
    for name, kind in X.dtypes.items():
        if getattr(kind, "kind", "O") not in "biuf":
            raise SourceError(
                f"Column {name!r} of the Dask data frame has values of type {kind}, "
                "but only numbers can be analyzed. Drop it, or choose columns."
            )
    single = all(str(kind).lower() == "float32" for kind in X.dtypes)
    names = [str(name) for name in X.columns]
    # A data frame does not know the lengths of its partitions: the workers count.
    array = X.astype("float32" if single else "float64").to_dask_array(lengths=True)
    place = partial(_place_in_block, row_starts(array.chunks[0]), "partition")
    return DaskRows(array, names, place)


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
