"""Rows of text files that are larger than memory.

The text is decoded once, a few thousand rows at a time, to a temporary binary file that
all passes read. The first rows tell how it is written and which columns are numbers.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import logging
import lzma
import re
import zlib
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.column import describe_left_out, examine, floats_of_arrow
from trueaxis._tables.formats import compression_of, require
from trueaxis._tables.parsing.cells import TableError, is_number, parse_number
from trueaxis._tables.parsing.chunks import ChunkFile, complete_records
from trueaxis._tables.parsing.dialect import ragged
from trueaxis._tables.parsing.numbers import Rules
from trueaxis._tables.parsing.records import (
    OpenQuotes,
    csv_rows,
    guess_encoding,
    is_left_out,
    open_quotes,
    single_spaces,
)
from trueaxis._tables.parsing.splitting import arrow_options
from trueaxis._tables.parsing.text_file import HEAD_BYTES, TextFormat
from trueaxis._tables.read import Choice, FileContent
from trueaxis._tables.text import read_text
from trueaxis.data.files import BinaryRows, SourceError, WatchedFile, decoded_rows
from trueaxis.data.progress import passing
from trueaxis.data.rows import Rows

LOG = logging.getLogger("trueaxis")

_CHUNK_BYTES = 1 << 22
_UTF8 = ("utf-8", "utf-8-sig", "ascii")
_WRONG_CELL = re.compile(r"In CSV column #(\d+)")


class TextStream:
    """A text file that is read from its start to its end, a batch of rows at a time.

    Parameters
    ----------
    path : Path
    how : TextFormat
    as_text : callable
        Given the names of all columns, return those that need not be numbers.
    """

    def __init__(
        self,
        path: Path,
        how: TextFormat,
        as_text: Callable[[Sequence[str]], Collection[str]] = lambda names: (),
    ) -> None:
        require("pyarrow", str(path), "is read block by block", "use fewer rows")
        self.path, self.how = path, how
        self.watched = WatchedFile.of(path)
        chunks = self._chunks()
        head = b"".join(islice(chunks, HEAD_BYTES // _CHUNK_BYTES))
        chunks.close()
        whole = len(head) < HEAD_BYTES
        self.encoding = how.encoding
        if how.encoding == "auto":
            self.encoding = guess_encoding(head, str(path))
        if not whole:
            head = complete_records(head, self.encoding)
        self.columns, self.file = read_text(head, str(path), how, as_text)
        self.layout = self.file.layout
        self._footer_noted = whole

    def content(self) -> FileContent:
        """Return the first rows."""
        names = self.columns[0].name if self.layout.row_names else None
        notes = tuple(self.file.notes)
        return FileContent(tuple(self.columns), self.place, notes, names)

    def place(self, row: int) -> str:
        """Return the line of a row, for messages; reads the file up to it."""
        for line, cells in self._records():
            if cells:
                if not row:
                    return f"line {line}"
                row -= 1
        return f"line {self.layout.first_line}"

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the first line of every record, and its cells."""
        record: list[int] = []  # lines of the record that is being read

        def lines() -> Iterator[str]:
            for number, line in self._lines():
                record.append(number)
                yield line

        try:
            for cells in csv_rows(lines(), self.layout.delimiter, whole=True):
                yield record[0], cells
                record.clear()
        except OpenQuotes:
            raise open_quotes(str(self.path), record[0]) from None

    def batches(
        self, names: Sequence[str], texts: set[str]
    ) -> Iterator[tuple[int, Any]]:
        """Yield the number of the first row, and a record batch of some columns.

        Parameters
        ----------
        names : sequence of str
            Columns to read, in this order.
        texts : set of str
            Those to read as text; all others are numbers.
        """
        import pyarrow
        from pyarrow import csv as arrow_csv

        self.watched.check()
        faulty: list[Any] = []
        place = {name: str(i) for i, name in enumerate(self.layout.names)}
        positions = [place[name] for name in names]
        options = arrow_options(
            self.layout, self.file.decimal, self.how, faulty, self.file.body()
        )
        options["convert_options"].include_columns = positions
        options["convert_options"].column_types = {
            position: pyarrow.string() if name in texts else pyarrow.float64()
            for position, name in zip(positions, names, strict=True)
        }
        first = quotes = 0

        def counting_quotes() -> Iterator[bytes]:
            nonlocal quotes
            for chunk in self._body():
                quotes += chunk.count(b'"')
                yield chunk

        # pyarrow takes a short read for the end of the file: the buffer fills it up.
        with io.BufferedReader(ChunkFile(counting_quotes()), _CHUNK_BYTES) as body:
            for batch in arrow_csv.open_csv(body, **options):
                for before, row in enumerate(faulty):
                    follow = row.number - 1 - before < first + batch.num_rows
                    if follow and row.text.strip():
                        self._refuse(row)  # it is not below the table
                yield first, batch
                first += batch.num_rows
        if quotes % 2:  # an inch mark, or one that is open at the end
            deque(self._records(), maxlen=0)
        self._note_footer(faulty)
        self.watched.check()

    def _refuse(self, row: Any) -> None:
        """Raise for a line with too many or too few cells."""
        line = int(self.place(row.number - 1).removeprefix("line "))
        width, sign = row.expected_columns, self.layout.delimiter
        raise ragged(
            str(self.path),
            line,
            row.actual_columns,
            self.layout.first_line,
            width,
            sign,
        )

    def _note_footer(self, faulty: Sequence[Any]) -> None:
        faulty = [row for row in faulty if row.text.strip()]
        for row in faulty:
            first = row.text.split(self.layout.delimiter)[0].strip()
            if not first or is_number(first):
                self._refuse(row)
        if faulty and not self._footer_noted:
            self._footer_noted = True
            n, one = len(faulty), len(faulty) == 1
            self.file.notes.append(
                f"{n} line{'' if one else 's'} at the end {'is' if one else 'are'} not "
                f"part of the table and {'was' if one else 'were'} left out: "
                f"{faulty[0].text[:60]!r}{'' if one else ' and so on'}."
            )

    def _chunks(self) -> Generator[bytes, None, None]:
        """Yield the bytes of the file, unpacked."""
        name, ending = str(self.path), compression_of(str(self.path))
        opener: Any = {"": open, ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
        if ending not in opener:
            raise TableError(
                f"{name} is too large to be unpacked in memory: unpack it first."
            )
        with opener[ending](self.path, "rb") as file:
            try:
                while chunk := file.read(_CHUNK_BYTES):
                    yield chunk
            except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
                raise SourceError(
                    f"Reading {name} failed ({error}): if it is damaged or "
                    "incomplete, get or write it again."
                ) from error

    def _text(self) -> Iterator[str]:
        """Yield the decoded text."""
        decoder = codecs.getincrementaldecoder(self.encoding)()
        try:
            for chunk in self._chunks():
                yield decoder.decode(chunk)
            yield decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            raise SourceError(
                f"{self.path} is not text in the encoding {self.encoding} ({error}): "
                "set --encoding, such as cp1252."
            ) from None

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines of the rows with their numbers, without comments."""
        chunks = ChunkFile(text.encode() for text in self._text())
        with io.TextIOWrapper(io.BufferedReader(chunks), "utf-8", newline="") as lines:
            sign, spaces = self.layout.comment, self.layout.delimiter == " "
            for number, line in enumerate(lines, start=1):
                if number < self.layout.first_line:
                    continue
                if not is_left_out(line, sign, self.layout.delimiter):
                    yield number, single_spaces(line) if spaces else line

    def _body(self) -> Iterator[bytes]:
        """Yield the rows as UTF-8, without what is above them."""
        simple = self.encoding in _UTF8 and not self.layout.comment
        if not simple or self.layout.delimiter in " |":
            yield from (line.encode() for _, line in self._lines())
            return
        skip = len(self.file.content) - len(self.file.body())
        skip += 3 if self.encoding == "utf-8-sig" else 0
        for chunk in self._chunks():
            yield chunk[skip:]
            skip = max(0, skip - len(chunk))


class TextRows(Rows):
    """Rows of a text file, decoded once to a temporary binary file.

    Parameters
    ----------
    path : Path
    choice : Choice
        How the text is written; its columns are not used.
    columns : sequence of str, optional
        Columns to read; all columns of numbers by default.
    block_rows : int, optional
    """

    names: tuple[str, ...]

    def __init__(
        self,
        path: Path,
        choice: Choice | None = None,
        columns: Sequence[str] | None = None,
        block_rows: int | None = None,
    ) -> None:
        self._given = path, choice or Choice(), columns, block_rows
        chosen = self._given[1]
        self.stream = TextStream(path, chosen.text_format(), chosen.unwanted)
        kinds = {column.name: column.kind for column in self.stream.columns}
        for name in columns or ():
            if name not in kinds:
                raise SourceError(
                    f"{path} has no column {name!r}; its columns are "
                    f"{', '.join(map(repr, [*kinds][:12]))}."
                )
        if columns is None:
            columns = self._columns_to_analyze()
        self.names = tuple(columns)
        if not self.names:
            raise SourceError(f"{path} has no column of numbers: choose another file.")
        self.dtype = np.dtype(np.float64)
        self._rows = self._decode(block_rows)
        self.shape = self._rows.shape

    def _columns_to_analyze(self) -> list[str]:
        """Return the columns that `read_table` would analyze, by the first rows."""
        columns = self.stream.columns[1 if self.stream.layout.row_names else 0 :]
        left_out = examine(columns).left_out
        for note in describe_left_out(left_out):
            LOG.info(note)
        return [column.name for column in columns if column.name not in left_out]

    def __reduce__(self) -> tuple[Any, ...]:
        return TextRows, self._given  # elsewhere, the text is decoded again

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (index of the first row, block), in order."""
        return self._rows.blocks()

    def blocks_between(
        self, first: int, last: int
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the blocks of rows `first` up to, but not including, `last`."""
        return self._rows.blocks_between(first, last)

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices into memory, in the order of `index`."""
        return self._rows.take(index)

    def place(self, row: int, overall: int | None = None) -> str:
        """Describe where a row is."""
        return f"{self.stream.path}, {self.stream.place(row)}"

    def _decode(self, block_rows: int | None) -> BinaryRows:
        import pyarrow

        texts = {
            column.name for column in self.stream.columns
            if column.name in self.names and column.name in self.stream.file.by_rules
        }  # fmt: skip
        while True:
            blocks = self._decoded_blocks(texts)
            try:
                rows = decoded_rows(blocks, len(self.names), self.dtype, block_rows)
                break
            except pyarrow.ArrowInvalid as error:
                texts = self._with_text_column(error, texts)
        if not rows.shape[0]:
            raise SourceError(f"{self.stream.path} has a header, but no rows.")
        return rows

    def _decoded_blocks(self, texts: set[str]) -> Iterator[NDArray[np.float64]]:
        rules = self._rules()
        words = [parse_number(word, rules.decimal) for word in self.stream.how.na]
        missing = [number for number in words if number is not None]
        # The number of rows is known only at the end.
        with passing("decoding", self.stream.watched.size) as advance:
            for first, batch in self.stream.batches(self.names, texts):
                block = np.empty((batch.num_rows, len(self.names)))
                for j, name in enumerate(self.names):
                    cells = batch.column(j)
                    block[:, j] = (
                        self._convert(rules, name, cells, first)
                        if name in texts
                        else floats_of_arrow(cells)
                    )
                if missing:
                    block[np.isin(block, missing)] = np.nan
                yield block
                advance(batch.nbytes)

    def _rules(self) -> Rules:
        how = self.stream.how
        return Rules(self.stream.file.decimal, how.words(), given=how.decimal != "auto")

    def _convert(self, rules: Rules, name: str, cells: Any, first: int) -> Any:
        """Return text as numbers; raise if it is not, or the unit changes."""
        rules.place = lambda row: self.stream.place(first + row)
        column = rules.column(name, cells.to_pylist())
        before = next(each for each in self.stream.columns if each.name == name)
        if column.kind == "number" and column.unit in ("", before.unit):
            return column.values
        raise TableError(
            f"Column {name!r} of {self.stream.path} has numbers in its first rows, but "
            f"{column.kind} or another unit from {self.stream.place(first)} on: "
            "correct it, or leave out the column (--drop)."
        )

    def _with_text_column(self, error: Exception, texts: set[str]) -> set[str]:
        """Return the columns to read as text, with one that was not plain numbers."""
        match = _WRONG_CELL.search(str(error))
        name = self.stream.layout.names[int(match[1])] if match else None
        if name is None or name in texts:
            raise SourceError(
                f"Reading {self.stream.path} failed ({error}): correct the text, or "
                "write it again."
            ) from None
        return texts | {name}
