"""Copy rows of files that are too large to be held in memory, block by block.

`original` does it for all other files. Rows keep their types and, in text, every
character.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.formats import ARROW as ARROW_ENDINGS
from trueaxis._tables.formats import (
    JSON,
    NUMPY,
    PARQUET,
    SHEETS,
    compression_of,
    ending_of,
)
from trueaxis._tables.output.arrow_rows import fields_of_arrow
from trueaxis._tables.output.cell_text import encoding_of
from trueaxis._tables.output.text_records import text_records
from trueaxis._tables.output.typed_rows import fields_of_array
from trueaxis._tables.parsing.cells import TableError
from trueaxis._tables.read import Choice
from trueaxis._tables.streamed_text import TextStream
from trueaxis._tables.write import arrow_writer, npy_header, write_content
from trueaxis.data.arrow import ArrowFile
from trueaxis.data.files import SourceError, WatchedFile, is_text, list_files
from trueaxis.data.progress import passing

BATCH_ROWS = 1 << 16  # rows that are held in memory at a time
_TYPED = (*PARQUET, *ARROW_ENDINGS)
_BINARY = (*_TYPED, *NUMPY, *JSON, *SHEETS)


def copy_rows(
    source: str, choice: Choice, kept: NDArray[np.bool_], file: IO[bytes], target: str
) -> None:
    """Write rows of a large file.

    Parameters
    ----------
    source : str
        A .npy, Parquet or text file, or a folder of .npy or Parquet files.
    choice : Choice
        How text is read.
    kept : ndarray of bool
        Which rows to write.
    file : binary file
    target : str
        Its name, whose ending tells the format.
    """
    path = Path(source)
    if is_text(path):
        _copy_text(path, choice, kept, file)
    elif list_files(path)[0][0].suffix.lower() == ".npy":
        _copy_arrays(path, kept, file, target)
    else:
        _copy_arrow(path, kept, file, target)


def refuse_copy(source: str, target: str) -> None:
    """Raise if rows of a large file cannot be written to a target."""
    ending, path = ending_of(target), Path(source)
    if is_text(path) and (ending in _BINARY or ending != ending_of(source)):
        raise TableError(
            f"{source} is so large that its rows are copied as text: choose the ending "
            f"{ending_of(source)} for {target}."
        )
    if ending == ".npy" and list_files(path)[0][0].suffix.lower() != ".npy":
        raise TableError(
            f"{source} has columns of several types, and {target} would hold one: "
            "choose the ending .parquet or .csv."
        )


class _Kept:
    """Which of the rows to come are kept, given out a few at a time."""

    def __init__(self, kept: NDArray[np.bool_], source: Path) -> None:
        self._kept, self._source, self._first = kept, source, 0

    @property
    def left(self) -> int:
        """Number of rows to come."""
        return len(self._kept) - self._first

    def next(self, n: int) -> NDArray[np.bool_]:
        part = self._kept[self._first : self._first + n]
        self._first += n
        if len(part) < n:
            self.refuse()
        return part

    def check_end(self) -> None:
        if self.left:
            self.refuse()

    def refuse(self) -> NoReturn:
        raise SourceError(
            f"{self._source} no longer has the {len(self._kept):,} rows that were "
            "analyzed: it was modified while being read. Run again once it is complete."
        )


# ---------------------------------------------------------------- Parquet


def _copy_arrow(
    path: Path, kept: NDArray[np.bool_], file: IO[bytes], target: str
) -> None:
    n = int(kept.sum())
    tables = _arrow_tables(path, kept)
    if ending_of(target) not in _TYPED:
        blocks = (fields_of_arrow(table) for table in tables)
        write_content(file, target, blocks, n)
        return
    first = next(tables)
    with arrow_writer(file, target, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _arrow_tables(path: Path, kept: NDArray[np.bool_]) -> Iterator[Any]:
    """Yield kept rows as tables of about `BATCH_ROWS` rows, at least one."""
    import pyarrow

    mask, schema = _Kept(kept, path), None
    pending: list[Any] = []
    yielded = False
    with passing("copying", len(kept)) as advance:
        for part, name in zip(*list_files(path), strict=True):
            opened = ArrowFile(WatchedFile.of(part, name))
            schema = schema or opened.schema
            for _, batch in opened.batches(opened.schema.names, BATCH_ROWS):
                rows = batch.filter(pyarrow.array(mask.next(batch.num_rows)))
                table = pyarrow.Table.from_batches([rows])
                pending.append(table.select(schema.names).cast(schema))
                advance(batch.num_rows)
                if sum(each.num_rows for each in pending) >= BATCH_ROWS:
                    yield pyarrow.concat_tables(pending).combine_chunks()
                    pending, yielded = [], True
        mask.check_end()
    if pending or not yielded:
        tables = pending or [schema.empty_table()]  # type: ignore[union-attr]
        yield pyarrow.concat_tables(tables).combine_chunks()


# ---------------------------------------------------------------- NumPy


def _copy_arrays(
    path: Path, kept: NDArray[np.bool_], file: IO[bytes], target: str
) -> None:
    n = int(kept.sum())
    blocks = _array_blocks(path, kept)
    if ending_of(target) != ".npy":
        write_content(file, target, map(fields_of_array, blocks), n)
        return
    first = next(blocks)
    npy_header(file, first.dtype, (n, first.shape[1]))
    for block in chain([first], blocks):
        file.write(np.ascontiguousarray(block, dtype=first.dtype).tobytes())


def _array_blocks(path: Path, kept: NDArray[np.bool_]) -> Iterator[NDArray[Any]]:
    mask = _Kept(kept, path)
    with passing("copying", len(kept)) as advance:
        for part, name in zip(*list_files(path), strict=True):
            watched = WatchedFile.of(part, name)
            array = np.load(part, mmap_mode="r", allow_pickle=False)
            for first in range(0, len(array), BATCH_ROWS):
                block = array[first : first + BATCH_ROWS]
                yield np.array(block[mask.next(len(block))])
                advance(len(block))
            watched.check()
        mask.check_end()


# ---------------------------------------------------------------- text


def _copy_text(
    path: Path, choice: Choice, kept: NDArray[np.bool_], file: IO[bytes]
) -> None:
    stream = TextStream(path, choice.text_format())
    layout, mask = stream.layout, _Kept(kept, path)
    with _open_bytes(path) as data:
        mark, codec = encoding_of(data.peek(4)[:4], stream.encoding)
        data.read(len(mark))
        file.write(mark)
        with (
            io.TextIOWrapper(data, codec, newline="") as lines,
            passing("copying", len(kept)) as advance,
        ):
            for _ in range(layout.first_line - 1):
                file.write(next(lines, "").encode(codec))
            records = text_records(lines, layout.delimiter, layout.comment)
            while n := min(BATCH_ROWS, mask.left):
                for keep in mask.next(n).tolist():
                    record = next(records, None)
                    if record is None:
                        mask.refuse()
                    if keep:
                        file.write(record.text.encode(codec))
                advance(n)
            # Only remarks are below the rows, and they have other numbers of cells.
            width = len(layout.names)
            if any(len(record.cells(layout.delimiter)) == width for record in records):
                mask.refuse()
    stream.watched.check()


def _open_bytes(path: Path) -> io.BufferedReader:
    opener: Any = {"": open, ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    stream: Any = opener[compression_of(str(path))](path, "rb")
    return stream if isinstance(stream, io.BufferedReader) else (
        io.BufferedReader(stream)
    )  # fmt: skip
