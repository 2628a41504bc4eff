"""READ rows of Dask: kernels go to where the blocks are, small sums come back.

Sums of blocks are merged in the order of the blocks, in a tree whose shape depends on
their number alone: who computed what, and when, changes no bit of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from trueaxis._rows.base import Kernel, Rows, part_starts
from trueaxis._rows.checked import ValueCheck
from trueaxis._rows.dask.blocks import DaskRowNames, bundled
from trueaxis._rows.dask.scheduler import TaskRunner
from trueaxis._rows.dask.tasks import (
    absorbed,
    added_up,
    applied,
    merged,
    new_name,
    picked,
    read,
    recorded,
    shared,
)
from trueaxis._rows.memory import refuse_large
from trueaxis._rows.progress import heard

FAN = 8  # sums that are merged at a time
FILE_PASSES = 2  # over files, before workers keep what they read


class DaskRows(Rows):
    """Rows of a Dask array, cut into blocks of rows.

    While they are held by a `with` statement, as in a fit, blocks are kept by the
    workers from their first use on, if these have the memory, and otherwise made anew
    in every pass.

    Parameters
    ----------
    array : dask.array.Array
        Two-dimensional, of float64 or float32, with blocks of whole rows and of known
        length.
    names : sequence of str, optional
        Of the columns.
    origin : Rows, optional
        That the blocks are read from by the workers.
    what : str
        A block is called in messages.
    crew : TaskRunner, optional
        Who reads them.
    """

    def __init__(
        self,
        array: Any,
        names: Sequence[str] | None = None,
        origin: Rows | None = None,
        what: str = "block",
        crew: TaskRunner | None = None,
    ) -> None:
        self.array = array
        self.crew = crew or TaskRunner()
        self.names = None if names is None else tuple(names)
        self.origin = origin
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = np.dtype(array.dtype)
        given = tuple(int(length) for length in array.chunks[0])
        self._given_starts = part_starts(given)
        # Many small blocks are more work for Dask than for us: a few at a time.
        self.lengths = bundled(given, self.shape[1] * self.dtype.itemsize)
        self.starts = part_starts(self.lengths)
        same = self.lengths == given
        self._bundles = array if same else array.rechunk({0: self.lengths})
        self.limit: float = np.inf
        self.columns: Sequence[Any] | None = self.names  # in messages
        places = DaskRowNames(self._given_starts, self.dtype, what)
        self._places: Rows = places if origin is None else origin
        self._checked = False
        self._held: Any = None
        self._passes = 0

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (number of the first row, block), in order, one at a time."""
        from dask.delayed import delayed

        chunks = self._chunks()
        for number, chunk in enumerate(chunks):
            first, shape = int(self.starts[number]), self._shape_of(number)
            whole = delayed(read, pure=False)(chunk, first, shape)
            ((_, block),) = self.crew.completed([whole])
            self._check()(block, np.arange(first, first + len(block)))
            yield first, block

    def scan(self, kernel: Kernel) -> tuple[NDArray[Any], Any]:
        """Read the data once; return the per-row records and the kernel's state."""
        n, fields = self.shape[0], kernel.n_fields
        size = n * fields * np.dtype(kernel.field_type).itemsize
        refuse_large(
            size,
            f"What is kept of each of {n:,} rows ({fields} numbers) in this process",
            "Use DSWL with its defaults, which leaves it with the workers, or fewer "
            "rows.",
            share=0.9,
        )
        record: NDArray[Any] = np.empty((fields, n), dtype=kernel.field_type)
        records, total = self._tasks(kernel)
        state = None
        # Where nothing is kept of the rows, blocks tell at least how far it is.
        asked = [*records, total] if fields or heard() else [total]
        stay = 0 if fields else len(asked) - 1
        for number, found in self.crew.completed(
            asked, stay, kernel.title, self.lengths
        ):
            if number == len(asked) - 1:
                state = found
            elif fields:
                record[:, self.starts[number] : self.starts[number + 1]] = found
        self._checked = True
        return record, state

    def scan_in_place(self, kernel: Kernel) -> tuple[Any, Any]:
        """The same; the records become a Dask array that stays with the workers."""
        import dask.array

        records, total = self._tasks(kernel)
        name, state = new_name("record"), None
        parts: dict[tuple[str, int, int], Any] = {}
        for number, found in self.crew.completed(
            [*records, total], len(records), kernel.title, self.lengths
        ):
            if number < len(records):
                parts[name, 0, number] = found
            else:
                state = found
        self._checked = True
        chunks = ((kernel.n_fields,), self.lengths)
        record = dask.array.Array(parts, name, chunks, dtype=kernel.field_type)
        return record.rechunk({1: self.array.chunks[0]}), state

    def each(self, kernel: Kernel) -> Any:
        """The per-row records, as a lazy Dask array (fields x rows)."""
        assert kernel.part(0, 0) is kernel  # it knows nothing about single rows
        return self._mapped(recorded, kernel, kernel.n_fields, kernel.field_type).T

    def map(
        self,
        function: Callable[[NDArray[Any]], NDArray[Any]],
        width: int,
        dtype: DTypeLike | None = None,
    ) -> Any:
        """Apply a function to every block; the answer is a lazy Dask array."""
        return self._mapped(applied, function, width, dtype or self.dtype)

    def like_rows(self, vector: Any) -> Any:
        """A vector as a Dask array with blocks like those of the rows."""
        import dask.array

        if isinstance(vector, dask.array.Array):
            return vector
        name = new_name("vector")
        chunks = (self.array.chunks[0],)
        return dask.array.from_array(vector, chunks=chunks, name=name)

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these numbers into memory, in the order of `index`."""
        from dask.delayed import delayed

        owner = self.starts.searchsorted(index, side="right") - 1
        numbers = np.unique(owner)
        mine = [np.flatnonzero(owner == number) for number in numbers]
        pick = delayed(picked, pure=False)
        # Files give single rows; other blocks are made whole.
        if self._is_streamed():
            files = shared(self.origin)
            tasks = [pick(files, index[some], 0, (0, 0)) for some in mine]
        else:
            chunks = self._chunks()
            tasks = [
                pick(
                    chunks[number],
                    index[some],
                    int(self.starts[number]),
                    self._shape_of(number),
                )
                for number, some in zip(numbers, mine, strict=True)
            ]
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        sizes = [len(some) for some in mine]
        for number, found in self.crew.completed(
            tasks, title=f"looking for {len(index):,} rows", rows=sizes
        ):
            out[mine[number]] = found
        self._check()(out, index)
        return out

    def place(self, row: int, overall: int | None = None) -> str:
        """Say where a row is."""
        return self._places.place(row, overall)

    def check_anew(self, columns: Sequence[Any] | None) -> None:
        """Look at all values again, as any finite number may be, with these names."""
        self.columns, self.limit, self._checked = columns, np.inf, False

    def mapped(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> DaskRows:
        """The rows after a change that leaves their number and columns."""
        changed = self.map(function, self.shape[1])
        rows = DaskRows(changed, self.names, crew=TaskRunner(self.crew.given))
        rows._places = self._places
        return rows

    def close(self) -> None:
        """Let go of the blocks that workers keep."""
        self._held, self._passes = None, 0
        self.crew.part()

    def __enter__(self) -> DaskRows:
        if not self._holders:
            self.crew.settle()
        return super().__enter__()

    def _kept(self) -> Any:
        """The array; kept by the workers, if somebody holds it and there is room.

        Files can be read twice in less time than memory takes to be filled: only who
        reads them more often keeps them.
        """
        worth_it = self.origin is None or self._passes > FILE_PASSES
        if self._held is None and self._holders and worth_it:
            self._held = self.crew.kept(self._bundles)
        return self._bundles if self._held is None else self._held

    def _is_streamed(self) -> bool:
        """Whether workers read files in every pass, without making whole blocks."""
        return self.origin is not None and self._kept() is self._bundles

    def _chunks(self) -> Sequence[Any]:
        if not self._is_streamed():
            return list(self._kept().to_delayed().ravel())
        return [shared(self.origin)] * len(self.lengths)

    def _shape_of(self, number: int) -> tuple[int, int]:
        return self.lengths[number], self.shape[1]

    def _check(self) -> ValueCheck:
        return ValueCheck(self._places, self.columns, self.limit)

    def _tasks(self, kernel: Kernel) -> tuple[list[Any], Any]:
        """What makes the records of all blocks, and the state of all together.

        Where there are no records, states of blocks stand for them.
        """
        from dask.delayed import delayed

        self._passes += 1
        absorb = delayed(absorbed, pure=False, nout=2)
        add_up = delayed(added_up, pure=False)
        merge = delayed(merged, pure=False)
        check = None if self._checked else shared(self._check())
        common = shared(kernel.part(0, 0))
        alike = kernel.part(0, 0) is kernel
        records, states = [], []
        for first, length, chunk in zip(
            self.starts, self.lengths, self._chunks(), strict=False
        ):
            mine = common if alike else shared(kernel.part(int(first), length))
            given = chunk, mine, check, int(first), (length, self.shape[1])
            if kernel.n_fields:
                record, state = absorb(*given)
                records.append(record)
            else:
                state = add_up(*given)
                records.append(state)
            states.append(state)
        while len(states) > 1:
            states = [
                merge(common, states[at : at + FAN])
                for at in range(0, len(states), FAN)
            ]
        return records, states[0]

    def _mapped(
        self, function: Callable[..., NDArray[Any]], what: Any, width: int, dtype: Any
    ) -> Any:
        return self.array.map_blocks(
            function,
            what=what,
            check=self._check(),
            starts=self._given_starts,
            chunks=(self.array.chunks[0], (width,)),
            dtype=dtype,
            meta=np.empty((0, 0), dtype=dtype),
            name=new_name("answer"),
        )
