"""Rows of Parquet and Feather files, decoded batch by batch."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.files import SourceError, WatchedFile, decoded_rows
from trueaxis.data.memory import refuse_large
from trueaxis.data.progress import passing
from trueaxis.data.rows import Blocks, Rows, rows_per_block
from trueaxis.data.threads import n_threads

# A default fit of DSWL, which reads its sample and makes two passes, would not recover
# the cost of writing a file.
FREE_READS = 4
BATCH_BYTES = 1 << 24  # smaller batches take longer to decode, larger ones more memory


class ArrowFile:
    """A Parquet or Feather file, decoded batch by batch.

    Row groups of Parquet are decoded a part at a time, so that neither large groups nor
    values that take little space in the file need much memory. The scanner of a pyarrow
    dataset would decode whole groups: 858 MB instead of 60 in one measurement.
    """

    def __init__(self, watched: WatchedFile) -> None:
        self.watched, self.name = watched, watched.name
        try:
            import pyarrow
            from pyarrow import dataset, parquet
        except ImportError:
            raise SourceError(
                f"{self.name} needs pyarrow, which is not installed: pip install "
                "'trueaxis[parquet]', or save the data as .npy."
            ) from None
        self.is_parquet = watched.path.suffix.lower() == ".parquet"
        try:
            if self.is_parquet:
                found = parquet.read_metadata(watched.path)
                self.schema, self.n_rows = (
                    found.schema.to_arrow_schema(),
                    found.num_rows,
                )
            else:
                table = dataset.dataset(watched.path, format="ipc")
                self.schema, self.n_rows = table.schema, table.count_rows()
        except (OSError, pyarrow.ArrowException) as error:
            kind = "Parquet" if self.is_parquet else "Arrow"
            raise SourceError(
                f"{self.name} ({watched.size:,} bytes) is not a complete {kind} file "
                f"({error}): write it again."
            ) from None

    def batches(
        self, columns: Sequence[str], batch_rows: int
    ) -> Iterator[tuple[int, Any]]:
        """Yield (index of the first row, record batch); raise if the file changes."""
        import pyarrow

        self.watched.check()
        first = 0
        decode = self._decode_parquet if self.is_parquet else self._decode_feather
        try:
            for batch in decode(columns, batch_rows):
                yield first, batch
                first += batch.num_rows
        except (OSError, pyarrow.ArrowException) as error:
            self.watched.check()
            raise SourceError(
                f"Reading {self.name} failed after row {first:,} of {self.n_rows:,} "
                f"({error}). Write the file again."
            ) from error
        self.watched.check()

    def _decode_parquet(self, columns: Sequence[str], batch_rows: int) -> Iterator[Any]:
        from pyarrow import parquet

        # Without a buffer, pyarrow would hold whole column chunks in memory; reads that
        # are larger than the buffer bypass it.
        path, options = self.watched.path, {"pre_buffer": False, "buffer_size": 1 << 14}
        with parquet.ParquetFile(path, **options) as file:
            yield from file.iter_batches(
                batch_rows, columns=list(columns), use_threads=n_threads() > 1
            )

    def _decode_feather(self, columns: Sequence[str], batch_rows: int) -> Iterator[Any]:
        from pyarrow import ipc

        fields = [self.schema.get_field_index(name) for name in columns]
        options = ipc.IpcReadOptions(included_fields=fields)
        with ipc.open_file(self.watched.path, options=options) as file:
            rows = self.n_rows // max(1, file.num_record_batches)
            refuse_large(
                8 * rows * len(fields),
                f"A batch of {self.name} ({rows:,} rows)",
                "Write it again in smaller batches (chunksize).",
            )
            for i in range(file.num_record_batches):
                batch = file.get_batch(i)
                for offset in range(0, batch.num_rows, batch_rows):
                    yield batch.slice(offset, batch_rows)


class ArrowRows(Rows):
    """Rows of one Parquet or Feather file.

    Parameters
    ----------
    path : Path
    name : str
        Name in error messages.
    columns : sequence of str, optional
        Columns to read; all by default. No others are decoded.
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
        self.file = ArrowFile(WatchedFile.of(path, name))
        schema = self.file.schema
        available = schema.names if columns is not None else data_columns(schema)
        self.names = tuple(available if columns is None else columns)
        for column, times in ((each, available.count(each)) for each in self.names):
            if times != 1:
                what = f"{times} columns named" if times else "no column"
                more = "" if len(available) < 13 else f" and {len(available) - 12} more"
                raise SourceError(
                    f"{name} has {what} {column!r}; its {len(available)} columns are "
                    f"{', '.join(map(repr, available[:12]))}{more}."
                )
            if arrow_kind(schema.field(column).type) != "number":
                raise SourceError(
                    f"Column {column!r} of {name} has values of type "
                    f"{schema.field(column).type}, but only numbers can be analyzed. "
                    "Choose the numeric columns with columns=[...]."
                )
        if not self.names:
            raise SourceError(
                f"No column of {name} is selected: choose some of its {len(available)}."
            )
        single = all(str(schema.field(each).type) == "float" for each in self.names)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.shape = (self.file.n_rows, len(self.names))
        self.block_rows = block_rows or rows_per_block(self.shape, self.dtype)

    def blocks(self) -> Blocks:
        """Yield (index of the first row, block), in order."""
        import pyarrow
        from pyarrow import compute

        # Batches are whole blocks, since a block of a few rows takes as long as a full
        # one.
        block_bytes = self.block_rows * self.shape[1] * self.dtype.itemsize
        batch_rows = self.block_rows * max(1, BATCH_BYTES // block_bytes)
        kind = pyarrow.from_numpy_dtype(self.dtype)
        for first, batch in self.file.batches(self.names, batch_rows):
            columns = [
                compute.cast(batch.column(name), kind, safe=False).to_numpy(
                    zero_copy_only=False  # a null becomes NaN
                )
                for name in self.names
            ]
            # Copy column by column into a block that stays in the cache.
            for begin in range(0, batch.num_rows, self.block_rows):
                m = min(self.block_rows, batch.num_rows - begin)
                block = np.empty((m, len(columns)), dtype=self.dtype)
                for j, column in enumerate(columns):
                    block[:, j] = column[begin : begin + m]
                yield first + begin, block

    def place(self, row: int) -> str:
        """Describe where a row is."""
        return f"{self.file.name}, row {row:,}"


class OftenReadRows(Rows):
    """Rows that are slow to decode, in a temporary file once a fit has read them often.

    The file exists until the last `with` statement that holds these rows ends.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.shape, self.dtype, self.names = rows.shape, rows.dtype, rows.names
        self.close()

    def blocks(self) -> Blocks:
        """Yield (index of the first row, block), in order."""
        return self._source().blocks()

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices into memory, in the order of `index`."""
        return self._source().take(index)

    def place(self, row: int) -> str:
        """Describe where a row is."""
        return self.rows.place(row)

    def close(self) -> None:
        """Remove the file; later reads decode the rows again."""
        self._decoded: Rows | None = None
        self._reads = 0

    def _source(self) -> Rows:
        # No lock: two threads at worst decode twice, and a fork cannot inherit a lock.
        self._reads += 1
        if self._decoded is None and self._reads > FREE_READS and self._holders:
            size = self.shape[0] * self.shape[1] * self.dtype.itemsize
            if size < shutil.disk_usage(gettempdir()).free:
                self._decoded = decoded_rows(self._decode(), self.shape[1], self.dtype)
        return self._decoded or self.rows

    def _decode(self) -> Iterator[NDArray[Any]]:
        with passing("decoding", self.shape[0]) as advance:
            for _, block in self.rows.blocks():
                yield block
                advance(len(block))


def data_columns(schema: Any) -> list[str]:
    """Return all columns except the index of the data frame that was written."""
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    index = {column for column in stored if isinstance(column, str)}
    index.add("__null_dask_index__")
    return [name for name in schema.names if name not in index] or list(schema.names)


def arrow_kind(type_: Any) -> str:
    """Return "number", "calendar", "text" or "nested"."""
    from pyarrow import types

    if types.is_dictionary(type_):
        return "text"
    numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    if any(is_kind(type_) for is_kind in numeric):
        return "number"
    if types.is_temporal(type_):
        return "calendar"
    return "nested" if types.is_nested(type_) else "text"
