"""Rows of Dask arrays: kernels run where the blocks are, and small states come back.

States are merged in the order of the blocks, in a tree whose shape depends only on
their number, so the result is bitwise the same whichever worker computes which block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from trueaxis.data.checked import ValueCheck
from trueaxis.data.dask.blocks import BlockPlaces, bundle_lengths
from trueaxis.data.dask.scheduler import TaskRunner
from trueaxis.data.dask.tasks import (
    absorb_block,
    apply_to_block,
    block_state,
    merge_states,
    new_name,
    read_block,
    record_block,
    share,
    take_from_block,
)
from trueaxis.data.memory import refuse_large
from trueaxis.data.portions import part_starts
from trueaxis.data.progress import has_listener
from trueaxis.data.rows import Kernel, Rows

FAN = 8  # number of states merged at a time
FILE_PASSES = 2  # passes over files before workers keep their blocks


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
    origin : Rows, optional
        Files that the workers read the blocks from.
    block_name : str
        What error messages call a block.
    runner : TaskRunner, optional
    """

    lazy = True

    def __init__(
        self,
        array: Any,
        names: Sequence[str] | None = None,
        origin: Rows | None = None,
        block_name: str = "block",
        runner: TaskRunner | None = None,
    ) -> None:
        self.array = array
        self.runner = runner or TaskRunner()
        self.names = None if names is None else tuple(names)
        self.origin = origin
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = np.dtype(array.dtype)
        given = tuple(int(length) for length in array.chunks[0])
        self._given_starts = part_starts(given)
        # Dask spends more time on many small blocks than the kernels do: bundle them.
        self.lengths = bundle_lengths(given, self.shape[1] * self.dtype.itemsize)
        self.starts = part_starts(self.lengths)
        same = self.lengths == given
        self._bundles = array if same else array.rechunk({0: self.lengths})
        self.limit: float = np.inf
        self.holes = False
        self.columns: Sequence[Any] | None = self.names  # for error messages
        places = BlockPlaces(self._given_starts, self.dtype, block_name)
        self._places: Rows = places if origin is None else origin
        self._checked = False
        self._persistent: Any = None
        self._passes = 0

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (index of the first row, block), in order, fetching one at a time."""
        from dask.delayed import delayed

        for number, chunk in enumerate(self._chunks()):
            first, shape = int(self.starts[number]), self._shape_of(number)
            task = delayed(read_block, pure=False)(chunk, first, shape)
            ((_, block),) = self.runner.run([task])
            self._check()(block, np.arange(first, first + len(block)))
            yield first, block

    def scan(self, kernel: Kernel) -> tuple[NDArray[Any], Any]:
        """Read the data once; return the per-row records and the kernel's state."""
        n, fields = self.shape[0], kernel.n_fields
        size = n * fields * np.dtype(kernel.field_type).itemsize
        refuse_large(
            size,
            f"Keeping {fields} value(s) per row for {n:,} rows in this process",
            "Use DSWL with its defaults, which leaves them with the workers, or pass "
            "fewer rows.",
            share=0.9,
        )
        record: NDArray[Any] = np.empty((fields, n), dtype=kernel.field_type)
        records, total = self._tasks(kernel)
        state = None
        # Without records, the states of the blocks still show the progress.
        tasks = [*records, total] if fields or has_listener() else [total]
        n_remote = 0 if fields else len(tasks) - 1
        for number, result in self.runner.run(
            tasks, n_remote, kernel.title, self.lengths
        ):
            if number == len(tasks) - 1:
                state = result
            elif fields:
                record[:, self.starts[number] : self.starts[number + 1]] = result
        self._checked = True
        return record, state

    def scan_in_place(self, kernel: Kernel) -> tuple[Any, Any]:
        """Scan, but return the records as a Dask array that stays with the workers."""
        import dask.array

        records, total = self._tasks(kernel)
        name, state = new_name("record"), None
        parts: dict[tuple[str, int, int], Any] = {}
        for number, result in self.runner.run(
            [*records, total], len(records), kernel.title, self.lengths
        ):
            if number < len(records):
                parts[name, 0, number] = result
            else:
                state = result
        self._checked = True
        chunks = ((kernel.n_fields,), self.lengths)
        record = dask.array.Array(parts, name, chunks, dtype=kernel.field_type)
        return record.rechunk({1: self.array.chunks[0]}), state

    def each(self, kernel: Kernel) -> Any:
        """Return the per-row records as a lazy Dask array (fields x rows)."""
        assert kernel.part(0, 0) is kernel  # it holds no per-row values
        fields, dtype = kernel.n_fields, kernel.field_type
        return self._map_blocks(record_block, kernel, fields, dtype).T

    def map(
        self,
        function: Callable[[NDArray[Any]], NDArray[Any]],
        width: int,
        dtype: DTypeLike | None = None,
    ) -> Any:
        """Apply a function to every block; return a lazy Dask array."""
        return self._map_blocks(apply_to_block, function, width, dtype or self.dtype)

    def like_rows(self, vector: Any) -> Any:
        """Return a per-row vector as a Dask array with the blocks of the rows."""
        import dask.array

        if isinstance(vector, dask.array.Array):
            return vector
        name = new_name("vector")
        chunks = (self.array.chunks[0],)
        return dask.array.from_array(vector, chunks=chunks, name=name)

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices into memory, in the order of `index`."""
        from dask.delayed import delayed

        owner = self.starts.searchsorted(index, side="right") - 1
        numbers = np.unique(owner)
        mine = [np.flatnonzero(owner == number) for number in numbers]
        take = delayed(take_from_block, pure=False)
        # Single rows can be read from files; other blocks must be computed as a whole.
        if self._is_streamed():
            files = share(self.origin)
            tasks = [take(files, index[some], 0, (0, 0)) for some in mine]
        else:
            chunks = self._chunks()
            tasks = [
                take(
                    chunks[number],
                    index[some],
                    int(self.starts[number]),
                    self._shape_of(number),
                )
                for number, some in zip(numbers, mine, strict=True)
            ]
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        sizes = [len(some) for some in mine]
        for number, result in self.runner.run(
            tasks, title=f"selecting {len(index):,} rows", rows=sizes
        ):
            out[mine[number]] = result
        self._check()(out, index)
        return out

    def place(self, row: int, overall: int | None = None) -> str:
        """Describe where a row is."""
        return self._places.place(row, overall)

    def check_anew(self, columns: Sequence[Any] | None, *, holes: bool = False) -> None:
        """Have the next pass check all values again, with these column names.

        Any finite value is allowed until a new `limit` is set, and NaN if `holes` is.
        """
        self.columns, self.limit, self._checked = columns, np.inf, False
        self.holes = holes

    def mapped(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> DaskRows:
        """Return the rows after a transform that keeps their shape."""
        array = self.map(function, self.shape[1])
        rows = DaskRows(array, self.names, runner=TaskRunner(self.runner.given_client))
        rows._places = self._places
        return rows

    def close(self) -> None:
        """Release the blocks that workers keep."""
        self._persistent, self._passes = None, 0
        self.runner.unpin()

    def __enter__(self) -> DaskRows:
        if not self._holders:
            self.runner.pin()
        return super().__enter__()

    def _persisted(self) -> Any:
        """Return the array, kept by the workers inside a `with` if memory allows.

        Reading files twice takes less time than filling memory, so blocks of files are
        kept only if there are more passes.
        """
        worth_it = self.origin is None or self._passes > FILE_PASSES
        if self._persistent is None and self._holders and worth_it:
            self._persistent = self.runner.persist(self._bundles)
        return self._bundles if self._persistent is None else self._persistent

    def _is_streamed(self) -> bool:
        """Return whether workers read the files in every pass and keep no blocks."""
        return self.origin is not None and self._persisted() is self._bundles

    def _chunks(self) -> Sequence[Any]:
        if not self._is_streamed():
            return list(self._persisted().to_delayed().ravel())
        return [share(self.origin)] * len(self.lengths)

    def _shape_of(self, number: int) -> tuple[int, int]:
        return self.lengths[number], self.shape[1]

    def _check(self) -> ValueCheck:
        return ValueCheck(self._places, self.columns, self.limit, self.holes)

    def _tasks(self, kernel: Kernel) -> tuple[list[Any], Any]:
        """Return the tasks for the records of all blocks, and for the total state.

        If the kernel has no records, tasks for the states of the blocks are returned
        instead.
        """
        from dask.delayed import delayed

        self._passes += 1
        absorb = delayed(absorb_block, pure=False, nout=2)
        state_only = delayed(block_state, pure=False)
        merge = delayed(merge_states, pure=False)
        check = None if self._checked else share(self._check())
        common = share(kernel.part(0, 0))
        same_for_all = kernel.part(0, 0) is kernel
        records, states = [], []
        for first, length, chunk in zip(
            self.starts, self.lengths, self._chunks(), strict=False
        ):
            part = common if same_for_all else share(kernel.part(int(first), length))
            arguments = chunk, part, check, int(first), (length, self.shape[1])
            if kernel.n_fields:
                record, state = absorb(*arguments)
                records.append(record)
            else:
                state = state_only(*arguments)
                records.append(state)
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
            starts=self._given_starts,
            chunks=(self.array.chunks[0], (width,)),
            dtype=dtype,
            meta=np.empty((0, 0), dtype=dtype),
            name=new_name("answer"),
        )
