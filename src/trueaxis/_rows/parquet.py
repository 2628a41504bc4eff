"""READ Parquet files, a row group at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._rows.base import Rows, part_starts, rows_per_block
from trueaxis._rows.binary import of_all
from trueaxis._rows.watched_file import SourceError, WatchedFile

BATCH_BYTES = 1 << 25  # less at a time takes longer, more takes memory


def parquet_head(path: Path, name: str) -> tuple[int, list[str]]:
    """Number of rows and names of all columns of data, numbers or not."""
    with opened(WatchedFile.of(path, name)) as file:
        return file.metadata.num_rows, data_columns(file.schema_arrow)


class ParquetRows(Rows):
    """Rows of one Parquet file.

    Parameters
    ----------
    path : Path
    name : str
        In messages.
    columns : sequence of str, optional
        Those to read; all, if not given.
    block_rows : int, optional
    """

    names: tuple[str, ...]

    def __init__(
        self,
        path: Path,
        name: str,
        columns: Sequence[str] | None = None,
        block_rows: int | None = None,
    ) -> None:
        self.watched, self.name = WatchedFile.of(path, name), name
        with opened(self.watched) as file:
            schema, groups = file.schema_arrow, file.metadata
            sizes = [groups.row_group(i).num_rows for i in range(groups.num_row_groups)]
        self.names = _chosen(schema, columns, name)
        fields = {field.name: field.type for field in schema}
        self.dtype = _float_type([fields[column] for column in self.names], self)
        # Numbers of the rows with which groups begin, and of all.
        self.starts = part_starts(sizes)
        self.shape = (int(self.starts[-1]), len(self.names))
        self.block_rows = block_rows or rows_per_block(self.shape[1], self.dtype)

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (number of the first row, block), in order."""
        return self._blocks(range(len(self.starts) - 1))

    def blocks_between(
        self, first: int, last: int
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        """The blocks of the rows from `first` on, up to but not including `last`."""
        low, high = self.starts.searchsorted([first, last - 1], side="right") - 1
        for begin, block in self._blocks(range(low, high + 1)):
            inside = block[max(first - begin, 0) : max(last - begin, 0)]
            if len(inside):
                yield max(begin, first), inside

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these numbers; groups without any are not read."""
        order = np.argsort(index, kind="stable")
        wanted = index[order]
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        groups = np.unique(self.starts.searchsorted(wanted, side="right") - 1)
        window = self._window()
        with self._pass(f"looking for {len(index):,} rows", len(index)) as advance:
            for first, batch in self._batches(groups.tolist()):
                low, high = np.searchsorted(wanted, [first, first + batch.num_rows])
                picked = _picked(batch, wanted[low:high] - first)
                for block in self._numbers(picked, window):
                    out[order[low : low + len(block)]] = block
                    low += len(block)
                    advance(len(block))
        return out

    def place(self, row: int, overall: int | None = None) -> str:
        """Say where a row is."""
        group = int(self.starts.searchsorted(row, side="right")) - 1
        overall = row if overall is None else overall
        within = row - int(self.starts[group])
        return f"{self.name}, row group {group}, row {within:,}" + of_all(overall)

    def _blocks(self, groups: Sequence[int]) -> Iterator[tuple[int, NDArray[Any]]]:
        window = self._window()
        for first, batch in self._batches(groups):
            for block in self._numbers(batch, window):
                yield first, block
                first += len(block)

    def _window(self) -> NDArray[Any]:
        return np.empty((self.block_rows, self.shape[1]), dtype=self.dtype)

    def _batches(self, groups: Sequence[int]) -> Iterator[tuple[int, Any]]:
        """Decode row groups; yield (number of the first row, columns)."""
        self.watched.check()
        with (
            opened(self.watched) as file,
            closing(ahead(self._decoded(file, groups))) as batches,
        ):
            yield from batches
        self.watched.check()

    def _decoded(self, file: Any, groups: Sequence[int]) -> Iterator[tuple[int, Any]]:
        import pyarrow

        # Whole blocks: one of a few rows takes as long, and ends a row group at most.
        block_bytes = self.block_rows * self.shape[1] * self.dtype.itemsize
        batch_rows = self.block_rows * max(1, BATCH_BYTES // block_bytes)
        # Neighbours at a time: each beginning costs as much as some thousand rows.
        edges = np.flatnonzero(np.diff(groups) != 1) + 1
        runs = np.split(np.asarray(groups, dtype=int), edges)
        for run in runs if len(groups) else []:
            first = int(self.starts[run[0]])
            try:
                for batch in file.iter_batches(
                    batch_rows,
                    row_groups=run.tolist(),
                    columns=list(self.names),
                    use_threads=True,
                ):
                    yield first, batch
                    first += batch.num_rows
            except (OSError, pyarrow.ArrowException) as error:
                self.watched.check()
                group = int(self.starts.searchsorted(first, side="right")) - 1
                raise SourceError(
                    f"Reading {self.name}, row group {group}, failed after row "
                    f"{first:,} of {self.starts[group + 1]:,} ({error}). Write the "
                    "file again."
                ) from error

    def _numbers(self, batch: Any, out: NDArray[Any]) -> Iterator[NDArray[Any]]:
        import pyarrow
        import pyarrow.compute as compute

        wanted = pyarrow.from_numpy_dtype(self.dtype)
        lines = [
            compute.cast(batch.column(name), wanted, safe=False).to_numpy(
                zero_copy_only=False  # a null becomes NaN
            )
            for name in self.names
        ]
        # By columns into a block that stays in cache.
        for begin in range(0, batch.num_rows, len(out)):
            block = out[: min(len(out), batch.num_rows - begin)]
            for j, line in enumerate(lines):
                block[:, j] = line[begin : begin + len(block)]
            yield block


def opened(watched: WatchedFile) -> Any:
    """The file, of which nothing but its end has been read."""
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise SourceError(
            f"{watched.name} is a Parquet file, and pyarrow is not installed: pip "
            "install 'trueaxis[parquet]', or save it as .npy."
        ) from None
    try:
        # Without a buffer of its own it would hold every column chunk whole; what is
        # larger than the buffer goes past it.
        return parquet.ParquetFile(watched.path, pre_buffer=False, buffer_size=1 << 14)
    except (OSError, pyarrow.ArrowException) as error:
        raise SourceError(
            f"{watched.name} ({watched.size:,} bytes) is no whole Parquet file "
            f"({error}): write it again."
        ) from None


def _picked(batch: Any, index: NDArray[np.intp]) -> Any:
    """Some rows of what was decoded, by their sorted numbers."""
    import pyarrow

    if len(index) and index[-1] - index[0] == len(index) - 1 and np.all(np.diff(index)):
        return batch.slice(index[0], len(index))  # neighbours need no copy
    return batch.take(pyarrow.array(index))


def ahead(items: Iterator[Any]) -> Generator[Any, None, None]:
    """The same items, each made by a thread while the one before it is used."""
    with ThreadPoolExecutor(1) as worker:
        coming = worker.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = worker.submit(next, items, None)
            yield item


def data_columns(schema: Any) -> list[str]:
    """All columns but the index of the data frame that was written."""
    written = (schema.pandas_metadata or {}).get("index_columns", [])
    index = {column for column in written if isinstance(column, str)}
    index.add("__null_dask_index__")
    return [name for name in schema.names if name not in index] or list(schema.names)


def _chosen(schema: Any, columns: Sequence[str] | None, name: str) -> tuple[str, ...]:
    known = schema.names if columns is not None else data_columns(schema)
    there = Counter(known)
    for column in known if columns is None else columns:
        if (times := there[column]) != 1:
            what = f"{times} columns" if times else "no column"
            raise SourceError(
                f"{name} has {what} {column!r}; its {len(known)} columns are "
                f"{_listed(known)}."
            )
    chosen = tuple(known if columns is None else columns)
    if not chosen:
        raise SourceError(f"{name} has no column to read, of {len(known)}.")
    return chosen


def _listed(names: Sequence[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def _float_type(types: Sequence[Any], rows: ParquetRows) -> np.dtype[Any]:
    from pyarrow import types as kinds

    known = (kinds.is_integer, kinds.is_floating, kinds.is_boolean, kinds.is_decimal)
    for column, type_ in zip(rows.names, types, strict=True):
        if not any(is_kind(type_) for is_kind in known):
            raise SourceError(
                f"Column {column!r} of {rows.name} has values of type {type_}: only "
                "numbers can be analysed. Choose the others with columns=[...]."
            )
    single = all(kinds.is_float32(type_) for type_ in types)
    return np.dtype(np.float32 if single else np.float64)
