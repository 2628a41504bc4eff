"""Rows of Dask collections: kernels run where the blocks are, small states come back.

States are merged in the order of the blocks, in a tree whose shape depends only on
their number. Unlike scikit-learn, this never silently computes a whole collection in
this process.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from trueaxis.data.files import (
    SourceError,
    column_positions,
    float_type,
    overall_index,
)
from trueaxis.data.memory import SHARE, available_memory
from trueaxis.data.rows import ArrayRows, Blocks, Kernel, Rows, row_starts
from trueaxis.data.threads import own_floats
from trueaxis.data.transformed import TransformedKernel, ValueCheck

FAN = 8  # number of states merged at a time
MANY_BLOCKS = 64  # above this number, blocks are bundled
BUNDLE_BYTES = 1 << 24  # maximum size of a bundle
WORKER_SHARE = 0.5  # share of the workers' memory that rows may take


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
    limit: float

    def __init__(
        self,
        array: Any,
        names: Sequence[str] | None = None,
        place: Callable[[int], str] | None = None,
    ) -> None:
        self.array = array
        self.names = None if names is None else tuple(names)
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = np.dtype(array.dtype)
        given = tuple(int(length) for length in array.chunks[0])
        # Dask spends more time on many small blocks than the kernels do: bundle them.
        self.lengths = given
        if len(given) > MANY_BLOCKS:
            most = BUNDLE_BYTES // (self.shape[1] * self.dtype.itemsize)
            self.lengths = join_lengths(given, most)
        self.starts = row_starts(self.lengths)
        self._describe = place or partial(_place_in_block, row_starts(given), "block")
        self._kept: Any = None  # the blocks, while workers hold them
        self.check_anew(self.names)

    def check_anew(self, columns: Sequence[Any] | None, *, holes: bool = False) -> None:
        """Have the next pass check all values again, with these column names.

        Any finite value is allowed until a new `limit` is set, and NaN if `holes` is.
        """
        self.limit, self._checked = np.inf, False
        self._columns, self._holes = columns, holes

    def blocks(self) -> Blocks:
        """Yield (index of the first row, block), in order, fetching one at a time."""
        for first, block in zip(self.starts, self._blocks(), strict=False):
            (rows,) = self._compute(block)
            where = slice(int(first), int(first) + len(rows))
            yield int(first), self._check()(rows, where)

    def scan(self, kernel: Kernel) -> tuple[NDArray[Any], Any]:
        """Read the data once; return the per-row records and the kernel's state."""
        record = self._empty_record(kernel)
        records, total = self._tasks(kernel)
        if kernel.n_fields:
            *parts, state = self._compute(*records, total)
            np.concatenate(parts, axis=1, out=record)
        else:
            (state,) = self._compute(total)
        self._checked = True
        return record, state

    def each(self, kernel: Kernel) -> Any:
        """Return the per-row records as a lazy Dask array (fields x rows)."""
        assert kernel.part(0, 0) is kernel  # it holds no per-row values
        fields, dtype = kernel.n_fields, kernel.field_type
        return self._map_blocks(_record_block, kernel, fields, dtype).T

    def map(
        self,
        function: Callable[[NDArray[Any]], NDArray[Any]],
        width: int,
        dtype: DTypeLike | None = None,
    ) -> Any:
        """Apply a function to every block; return a lazy Dask array."""
        return self._map_blocks(_apply_to_block, function, width, dtype or self.dtype)

    def mapped(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> DaskRows:
        """Return the rows after a transform that keeps their shape."""
        array = self.map(function, self.shape[1])
        return DaskRows(array, self.names, self._describe)

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices into memory, in the order of `index`."""
        from dask.delayed import delayed

        owner = self.starts.searchsorted(index, side="right") - 1
        blocks, select = self._blocks(), delayed(_take_from_block, pure=False)
        mine = {number: np.flatnonzero(owner == number) for number in np.unique(owner)}
        firsts, D = self.starts.tolist(), self.shape[1]
        parts = self._compute(
            *(
                select(blocks[i], index[some], firsts[i], (self.lengths[i], D))
                for i, some in mine.items()
            )
        )
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        for some, part in zip(mine.values(), parts, strict=True):
            out[some] = part
        return self._check()(out, index)

    def place(self, row: int, overall: int | None = None) -> str:
        """Describe where a row is."""
        return self._describe(row)

    def close(self) -> None:
        """Release the blocks that workers keep."""
        self._kept = None

    def _check(self) -> ValueCheck:
        return ValueCheck(self._describe, self._columns, self.limit, self._holes)

    def _blocks(self) -> Sequence[Any]:
        """Return the blocks, which workers keep inside a `with` if memory allows."""
        array = self._kept
        if array is None:
            array = self.array.rechunk({0: self.lengths})
            if self._holders and array.nbytes <= self._room():
                array = self._kept = array.persist()
        return list(array.to_delayed().ravel())

    def _room(self) -> float:
        """Return the memory for rows in bytes, in this process or that of workers."""
        client = _default_client()
        if client is None:
            return SHARE * (available_memory() or 0)
        return WORKER_SHARE * float(sum(client.run(_memory_limit).values()))

    def _compute(self, *tasks: Any) -> Sequence[Any]:
        from dask.base import compute

        lost: tuple[type[BaseException], ...] = (CancelledError,)
        if _default_client() is not None:
            from distributed import KilledWorker

            lost += (KilledWorker,)
        try:
            return list(compute(*tasks))
        except lost as error:
            raise SourceError(
                f"The Dask cluster gave up ({type(error).__name__}: {error}): it was "
                "shut down, or workers died, most likely for lack of memory. Give them "
                "more, or use smaller chunks of rows, and fit again."
            ) from error

    def _tasks(self, kernel: Kernel) -> tuple[list[Any], Any]:
        """Return the tasks for the records of all blocks, and for the total state."""
        from dask.delayed import delayed

        absorb = delayed(_absorb_block, pure=False, nout=2)
        merge = delayed(_merge_states, pure=False)
        check = None if self._checked else _share(self._check())
        common, same = _share(kernel.part(0, 0)), kernel.part(0, 0) is kernel
        records, states = [], []
        for first, length, block in zip(
            self.starts.tolist(), self.lengths, self._blocks(), strict=False
        ):
            part = common if same else _share(kernel.part(first, length))
            shape = (length, self.shape[1])
            record, state = absorb(block, part, check, first, shape)
            records.append(record)
            states.append(state)
        while len(states) > 1:
            states = [
                merge(common, states[at : at + FAN])
                for at in range(0, len(states), FAN)
            ]
        return records, states[0]

    def _map_blocks(
        self,
        function: Callable[..., NDArray[Any]],
        operation: Any,
        width: int,
        dtype: Any,
    ) -> Any:
        return self.array.map_blocks(
            function,
            operation=operation,
            check=self._check(),
            starts=row_starts(self.array.chunks[0]),
            chunks=(self.array.chunks[0], (width,)),
            dtype=dtype,
            meta=np.empty((0, 0), dtype=dtype),
            name=_new_name("answer"),
        )


# ---------------------------------------------------------------- tasks of workers


def _declared(block: Any, first: int, shape: tuple[int, int]) -> NDArray[Any]:
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


@own_floats
def _absorb_block(
    block: Any,
    kernel: Kernel,
    check: ValueCheck | None,
    first: int,
    shape: tuple[int, int],
) -> tuple[NDArray[Any], Any]:
    """Return the records of a block and its state."""
    block = _declared(block, first, shape)
    if check is not None:
        kernel = TransformedKernel(kernel, check.part(first, len(block)))
    # Dask decides how many threads work at a time.
    return ArrayRows(block).scan_in_sequence(kernel)


def _merge_states(kernel: Kernel, states: Sequence[Any]) -> Any:
    # Merge into a new state: if a worker dies, Dask needs a task's arguments again.
    total = kernel.start()
    for state in states:
        total = kernel.merge(total, state)
    return total


def _record_block(
    block: NDArray[Any],
    operation: Kernel,
    check: ValueCheck,
    starts: NDArray[Any],
    block_id: tuple[int, int],
) -> NDArray[Any]:
    first = int(starts[block_id[0]])
    return _absorb_block(block, operation, check, first, block.shape)[0].T


@own_floats
def _apply_to_block(
    block: NDArray[Any],
    operation: Callable[[NDArray[Any]], NDArray[Any]],
    check: ValueCheck,
    starts: NDArray[Any],
    block_id: tuple[int, int],
) -> NDArray[Any]:
    first = int(starts[block_id[0]])
    return operation(check(block, slice(first, first + len(block))))


def _take_from_block(
    block: Any, index: NDArray[np.intp], first: int, shape: tuple[int, int]
) -> NDArray[Any]:
    return _declared(block, first, shape)[index - first]


def _place_in_block(starts: NDArray[np.intp], kind: str, row: int) -> str:
    number = int(starts.searchsorted(row, side="right")) - 1
    within = row - int(starts[number])
    return f"{kind} {number}, row {within:,}" + overall_index(row)


def _memory_limit(dask_worker: Any) -> int:
    return int(dask_worker.memory_manager.memory_limit or 0)


def _new_name(kind: str) -> str:
    return f"trueaxis-{kind}-{uuid.uuid4().hex}"


def _share(value: Any) -> Any:
    """Wrap a value that many tasks need, so that each worker receives it once."""
    from dask.delayed import delayed

    return delayed(value, name=_new_name("shared"), traverse=False)


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
    import dask.array
    from dask.base import compute
    from dask.delayed import delayed

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
    dtype = np.dtype(np.float32 if single else np.float64)
    # A data frame does not know the lengths of its partitions: the workers count
    # the rows.
    parts, width = X.to_delayed(), len(X.columns)
    counts = [delayed(len, pure=True)(part) for part in parts]
    lengths = compute(*counts)
    to_array = delayed(_to_array, pure=True)
    arrays = [
        dask.array.from_delayed(to_array(part, dtype), (n, width), dtype=dtype)
        for part, n in zip(parts, lengths, strict=True)
    ]
    array = dask.array.concatenate(arrays)
    names = [str(name) for name in X.columns]
    place = partial(_place_in_block, row_starts(array.chunks[0]), "partition")
    return DaskRows(array, names, place)


def _to_array(part: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    array: NDArray[Any] = part.to_numpy(dtype=dtype, na_value=np.nan)
    return array


def join_lengths(lengths: Sequence[int], most: int) -> tuple[int, ...]:
    """Return the lengths after joining neighbors to at most so many rows."""
    out: list[int] = []
    for length in lengths:
        if out and out[-1] + length <= most:
            out[-1] += length
        else:
            out.append(length)
    return tuple(out)


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
