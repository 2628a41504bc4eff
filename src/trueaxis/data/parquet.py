"""Rows of Parquet files, decoded a few row groups at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.binary import format_overall_index
from trueaxis.data.portions import Portion, part_starts
from trueaxis.data.rows import Rows, rows_per_block
from trueaxis.data.threads import decodes_in_threads
from trueaxis.data.watched_file import SourceError, WatchedFile

BATCH_BYTES = 1 << 25  # smaller batches take longer, larger ones more memory


def parquet_head(path: Path, name: str) -> tuple[int, list[str]]:
    """Return the number of rows and the names of all data columns, numeric or not."""
    with open_parquet(WatchedFile.of(path, name)) as file:
        return file.metadata.num_rows, data_columns(file.schema_arrow)


def parquet_kinds(path: Path, name: str) -> dict[str, str]:
    """Return "number", "calendar", "text" or "nested" for every data column."""

    def kind(type_: Any) -> str:
        from pyarrow import types

        if types.is_dictionary(type_):
            type_ = type_.value_type
        if _is_numeric(type_):
            return "number"
        if types.is_temporal(type_):
            return "calendar"
        return "nested" if types.is_nested(type_) else "text"

    with open_parquet(WatchedFile.of(path, name)) as file:
        fields = {field.name: field.type for field in file.schema_arrow}
        return {
            column: kind(fields[column]) for column in data_columns(file.schema_arrow)
        }


class ParquetRows(Rows):
    """Rows of one Parquet file.

    Parameters
    ----------
    path : Path
    name : str
        Name in error messages.
    columns : sequence of str, optional
        Columns to read; all by default.
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
        with open_parquet(self.watched) as file:
            schema, groups = file.schema_arrow, file.metadata
            sizes = [groups.row_group(i).num_rows for i in range(groups.num_row_groups)]
        self.names = _select_columns(schema, columns, name)
        fields = {field.name: field.type for field in schema}
        self.dtype = _float_type([fields[column] for column in self.names], self)
        # Index of the first row of each group, followed by the number of rows.
        self.starts = part_starts(sizes)
        self.shape = (int(self.starts[-1]), len(self.names))
        self.block_rows = block_rows or rows_per_block(self.shape, self.dtype)

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (index of the first row, block), in order."""
        return self._blocks(range(len(self.starts) - 1))

    def blocks_between(
        self, first: int, last: int
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the blocks of rows `first` up to, but not including, `last`."""
        low, high = self.starts.searchsorted([first, last - 1], side="right") - 1
        for begin, block in self._blocks(range(low, high + 1)):
            inside = block[max(first - begin, 0) : max(last - begin, 0)]
            if len(inside):
                yield max(begin, first), inside

    def portions(self, rows: int) -> Generator[Portion, None, None]:
        """Yield all rows, in order, in portions of about as many rows.

        Batches are decoded one after another, since a file may have one row group only,
        and arranged in rows by whoever reads the portion.
        """
        with closing(self._batches(range(len(self.starts) - 1))) as batches:
            for first, batch in batches:
                for offset in range(0, batch.num_rows, rows):
                    some = batch.slice(offset, rows)
                    read = partial(self._arrange, some, first + offset)
                    yield Portion(some.num_rows, read)

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices, decoding only their row groups."""
        order = np.argsort(index, kind="stable")
        wanted = index[order]
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        groups = np.unique(self.starts.searchsorted(wanted, side="right") - 1)
        window = self._window()
        with self._pass(f"selecting {len(index):,} rows", len(index)) as advance:
            for first, batch in self._batches(groups.tolist()):
                low, high = np.searchsorted(wanted, [first, first + batch.num_rows])
                selected = _take_sorted(batch, wanted[low:high] - first)
                for block in self._fill_blocks(selected, window):
                    out[order[low : low + len(block)]] = block
                    low += len(block)
                    advance(len(block))
        return out

    def place(self, row: int, overall: int | None = None) -> str:
        """Describe where a row is."""
        group = int(self.starts.searchsorted(row, side="right")) - 1
        overall = row if overall is None else overall
        within = row - int(self.starts[group])
        return f"{self.name}, row group {group}, row {within:,}" + format_overall_index(
            overall
        )

    def _blocks(self, groups: Sequence[int]) -> Iterator[tuple[int, NDArray[Any]]]:
        window = self._window()
        for first, batch in self._batches(groups):
            yield from self._arrange(batch, first, window)

    def _arrange(
        self, batch: Any, first: int, window: NDArray[Any] | None = None
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the blocks of a batch, whose first row has the index `first`."""
        window = self._window() if window is None else window
        for block in self._fill_blocks(batch, window):
            yield first, block
            first += len(block)

    def _window(self) -> NDArray[Any]:
        return np.empty((self.block_rows, self.shape[1]), dtype=self.dtype)

    def _batches(self, groups: Sequence[int]) -> Generator[tuple[int, Any], None, None]:
        """Decode row groups; yield (index of the first row, record batch)."""
        self.watched.check()
        with (
            open_parquet(self.watched) as file,
            closing(prefetch(self._decode(file, groups))) as batches,
        ):
            yield from batches
        self.watched.check()

    def _decode(self, file: Any, groups: Sequence[int]) -> Iterator[tuple[int, Any]]:
        import pyarrow

        # Batches are whole blocks, since a block of a few rows takes as long as a full
        # one.
        block_bytes = self.block_rows * self.shape[1] * self.dtype.itemsize
        batch_rows = self.block_rows * max(1, BATCH_BYTES // block_bytes)
        # Adjacent groups are read together: each new read costs as much as decoding
        # some thousand rows.
        edges = np.flatnonzero(np.diff(groups) != 1) + 1
        runs = np.split(np.asarray(groups, dtype=int), edges)
        for run in runs if len(groups) else []:
            first = int(self.starts[run[0]])
            try:
                for batch in file.iter_batches(
                    batch_rows,
                    row_groups=run.tolist(),
                    columns=list(self.names),
                    use_threads=decodes_in_threads(),
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

    def _fill_blocks(self, batch: Any, out: NDArray[Any]) -> Iterator[NDArray[Any]]:
        import pyarrow
        import pyarrow.compute as compute

        dtype = pyarrow.from_numpy_dtype(self.dtype)
        columns = [
            compute.cast(batch.column(name), dtype, safe=False).to_numpy(
                zero_copy_only=False  # a null becomes NaN
            )
            for name in self.names
        ]
        # Copy column by column into a block that stays in the cache.
        for begin in range(0, batch.num_rows, len(out)):
            block = out[: min(len(out), batch.num_rows - begin)]
            for j, column in enumerate(columns):
                block[:, j] = column[begin : begin + len(block)]
            yield block


def open_parquet(watched: WatchedFile) -> Any:
    """Open a Parquet file, reading only its metadata."""
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise SourceError(
            f"{watched.name} is a Parquet file, and pyarrow is not installed: pip "
            "install 'trueaxis[parquet]', or save the data as .npy."
        ) from None
    try:
        # Without a buffer, pyarrow would hold whole column chunks in memory; reads that
        # are larger than the buffer bypass it.
        return parquet.ParquetFile(watched.path, pre_buffer=False, buffer_size=1 << 14)
    except (OSError, pyarrow.ArrowException) as error:
        raise SourceError(
            f"{watched.name} ({watched.size:,} bytes) is not a complete Parquet "
            f"file ({error}): write it again."
        ) from None


def _take_sorted(batch: Any, index: NDArray[np.intp]) -> Any:
    """Select rows of a record batch by their sorted indices."""
    import pyarrow

    if len(index) and index[-1] - index[0] == len(index) - 1 and np.all(np.diff(index)):
        return batch.slice(index[0], len(index))  # a contiguous range needs no copy
    return batch.take(pyarrow.array(index))


def prefetch(items: Iterator[Any]) -> Generator[Any, None, None]:
    """Yield the items, producing each in a thread while the previous one is used."""
    with ThreadPoolExecutor(1) as worker:
        future = worker.submit(next, items, None)
        while (item := future.result()) is not None:
            future = worker.submit(next, items, None)
            yield item


def data_columns(schema: Any) -> list[str]:
    """Return all columns except the index of the data frame that was written."""
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    index = {column for column in stored if isinstance(column, str)}
    index.add("__null_dask_index__")
    return [name for name in schema.names if name not in index] or list(schema.names)


def _select_columns(
    schema: Any, columns: Sequence[str] | None, name: str
) -> tuple[str, ...]:
    available = schema.names if columns is not None else data_columns(schema)
    counts = Counter(available)
    selected = tuple(available if columns is None else columns)
    for column in selected:
        if (times := counts[column]) != 1:
            what = f"{times} columns named" if times else "no column"
            raise SourceError(
                f"{name} has {what} {column!r}; its {len(available)} columns are "
                f"{_format_names(available)}."
            )
    if not selected:
        raise SourceError(
            f"No column of {name} is selected: choose some of its {len(available)}."
        )
    return selected


def _format_names(names: Sequence[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def _is_numeric(type_: Any) -> bool:
    from pyarrow import types

    numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(is_kind(type_) for is_kind in numeric)


def _float_type(types: Sequence[Any], rows: ParquetRows) -> np.dtype[Any]:
    from pyarrow import types as kinds

    for column, type_ in zip(rows.names, types, strict=True):
        if not _is_numeric(type_):
            raise SourceError(
                f"Column {column!r} of {rows.name} has values of type {type_}, but "
                "only numbers can be analyzed. Choose the numeric columns with "
                "columns=[...]."
            )
    single = all(kinds.is_float32(type_) for type_ in types)
    return np.dtype(np.float32 if single else np.float64)
