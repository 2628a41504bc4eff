"""Text of any size: its rows as cells, and its columns as numbers.

`TextFile` splits a text into rows, and `TextBlocks` finds out what its columns are.
Both read it from the start to the end, a block at a time, as often as needed; a table
in memory is the same blocks, kept.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import Column, Kind, TableError, as_objects
from trueaxis.io.cells import (
    DASHES,
    MISSING,
    ColumnFacts,
    DecimalSign,
    Reading,
    find_decimal,
    is_number,
    notes_about,
    parse,
    refuse_unclear,
)
from trueaxis.io.choice import Choice
from trueaxis.io.layout import (
    Layout,
    Record,
    describe,
    guess_encoding,
    is_comment,
    look_at,
    ragged,
    single_spaces,
    split_records,
)

Cells = Any  # a column of a block: strings of pyarrow, or a list of them

_SAMPLE_CHARACTERS = 1 << 16
_SAMPLE_LINES = 8  # however long they are
_BLOCK_BYTES = 1 << 20  # larger blocks do not fit into a cache
_BLOCK_CELLS = 1 << 17  # of Python's csv module
_MOST_COLUMNS = 1 << 10  # for each one, pyarrow would keep some 30 kB
_MOST_FOOTERS = 1000  # lines below a table
_UTF8 = ("utf-8", "utf-8-sig", "ascii")
_LEADING_ZERO = re.compile(r"^0[0-9]", re.MULTILINE)
_NOT_WHOLE = (b".", b",", b"e", b"E")
_WORDS = sorted(MISSING - DASHES)  # a dash is left to the rules, which tell


class IrregularError(Exception):
    """The text is not what pyarrow splits as it is meant: Python does, more slowly."""


class TextFile:
    """A text, how it is written, and its rows.

    Parameters
    ----------
    open_stream : callable
        Open the bytes of the text, unpacked, at their start.
    source : str
        Name of the file in messages.
    choice : Choice
    encoding : str

    Attributes
    ----------
    layout : Layout
    head : list of str
        The lines above the first row.
    below : list of Record
        Lines below the table, which are not part of it; known once all rows were read.
    empty : list of int
        Number of lines of empty cells between the rows, and the first of them.
    """

    def __init__(
        self,
        open_stream: Callable[[], IO[bytes]],
        source: str,
        choice: Choice,
        encoding: str,
    ) -> None:
        self._open, self.source, self.encoding = open_stream, source, encoding
        self._regular = True
        self.below: list[Record] = []
        self.empty = [0, 0]
        sample: list[str] = []
        n = 0
        with closing(self._lines()) as lines:
            for line in lines:
                sample.append(line)
                n += len(line)
                enough = len(sample) - choice.skip >= _SAMPLE_LINES
                if enough and n >= _SAMPLE_CHARACTERS and sample[-1].strip():
                    break
        if not any(map(str.strip, sample)):
            raise TableError(f"{source} is empty: there are no rows to analyze.")
        if len(sample) <= choice.skip:
            raise TableError(
                f"{source} has {len(sample)} lines, and --read skip={choice.skip} "
                "leaves none: skip fewer."
            )
        self.layout: Layout = look_at(sample, source, choice)
        self.head = sample[: self.layout.first_line - 1]
        first = re.search("\r\n|\r|\n", sample[0])
        self.newline = first[0] if first else "\n"

    def place(self, row: int) -> str:
        """Return the line of a row, for messages."""
        with closing(self.rows()) as rows:
            return f"line {next(islice(rows, row, None))[0]}"

    def rows(self) -> Generator[Record, None, None]:
        """Yield the rows of the table, each with the line where it begins.

        Raises
        ------
        TableError
            If a row has too many or too few cells.
        """
        layout, width = self.layout, len(self.layout.names)
        right, empty = 0, 0
        below: list[Record] = []
        skipped, self.empty = [0, 0], [0, 0]

        def wrong(record: Record) -> TableError:
            return ragged(
                self.source, record[0], len(record[1]),
                right or layout.first_line - 1, width, layout.delimiter,
            )  # fmt: skip

        with closing(self._body_lines()) as lines:
            records = split_records(
                lines, layout.delimiter, layout.comment, self.source,
                line=layout.first_line,
            )  # fmt: skip
            for record in records:
                if len(record[1]) != width:
                    below.append(record)
                    if len(below) > _MOST_FOOTERS:
                        raise wrong(below[0])
                elif not any(record[1]):
                    skipped = [skipped[0] + 1, skipped[1] or record[0]]
                else:
                    empty, right = skipped[0], right or record[0]
                    if below:
                        raise wrong(below[0])
                    yield record
        for record in below:
            # A remark, rather than a row cut short.
            if not right or not record[1][0] or is_number(record[1][0]):
                raise wrong(record)
        if not right:
            raise TableError(f"{self.source} has a header, but no rows.")
        self.below, self.empty = below, [empty, skipped[1]]

    def blocks(
        self, columns: Sequence[int] | None = None, decimal: str = ""
    ) -> Iterator[tuple[int, list[Cells]]]:
        """Yield the number of the first row of every block, and its columns.

        Parameters
        ----------
        columns : sequence of int, optional
            Positions of the columns; all by default.
        decimal : {"", ".", ","}
            The decimal sign, if all cells of these columns are plain numbers, which
            are then given as such where pyarrow reads them.

        Raises
        ------
        IrregularError
            If the text must be read once more from its start, which happens only while
            all columns are read for the first time.
        """
        if self._regular and self._is_simple():
            try:
                yield from self._arrow_blocks(columns, decimal)
                return
            except IrregularError:
                self._regular = False
                raise
        first = 0
        with closing(self.rows()) as rows:
            width = len(self.layout.names)
            while some := [
                cells for _, cells in islice(rows, max(1, _BLOCK_CELLS // width))
            ]:
                at = range(width) if columns is None else columns
                yield first, [[row[j] for row in some] for j in at]
                first += len(some)

    def _is_simple(self) -> bool:
        """Return whether pyarrow may be able to split the text."""
        layout = self.layout
        if not 1 < len(layout.names) <= _MOST_COLUMNS or not layout.delimiter.isascii():
            return False
        try:
            import pyarrow.csv  # noqa: F401
        except ImportError:
            return False
        return True

    def _arrow_blocks(
        self, columns: Sequence[int] | None, decimal: str
    ) -> Iterator[tuple[int, list[Cells]]]:
        """Split the text by pyarrow, which takes a tenth of the time."""
        import pyarrow
        from pyarrow import csv as arrow_csv

        at = range(len(self.layout.names)) if columns is None else columns
        faulty: list[str] = []
        quotes = 0
        kind = pyarrow.float64() if decimal else pyarrow.string()

        def refuse(row: Any) -> str:
            faulty.append(row.text.strip())
            return "skip"

        def counted() -> Generator[bytes, None, None]:
            nonlocal quotes
            for chunk in self._body_bytes():
                quotes += chunk.count(b'"')
                yield chunk

        first = 0
        # pyarrow takes a short read for the end of the file: a buffer fills it up.
        # Closing it waits for a thread of pyarrow that may be reading ahead.
        with io.BufferedReader(_ChunkFile(counted()), 1 << 22) as body:
            size = _BLOCK_BYTES + 64 * max(map(len, self.head), default=0)
            quoted = b'"' in body.peek()
            try:
                batches = arrow_csv.open_csv(
                    body,
                    # One thread: two take more CPU time, and do not count rows.
                    arrow_csv.ReadOptions(
                        use_threads=False, block_size=size,
                        column_names=[str(i) for i in range(len(self.layout.names))],
                    ),
                    arrow_csv.ParseOptions(
                        delimiter=self.layout.delimiter, newlines_in_values=quoted,
                        invalid_row_handler=refuse,
                    ),
                    arrow_csv.ConvertOptions(
                        include_columns=[str(i) for i in at], null_values=[""],
                        column_types={str(i): kind for i in at},
                        decimal_point=decimal or ".",
                    ),
                )  # fmt: skip
                for batch in batches:
                    if any(faulty) or (columns is None and _has_empty_row(batch)):
                        raise IrregularError
                    if batch.num_rows:
                        yield first, batch.columns
                    first += batch.num_rows
            except pyarrow.ArrowInvalid:
                raise IrregularError from None
        if any(faulty) or quotes % 2 or not first:
            raise IrregularError  # a footer, an inch mark, or what is not closed

    def _lines(self) -> Generator[str, None, None]:
        """Yield the lines of the text."""
        with self._open() as stream:
            with io.TextIOWrapper(stream, self.encoding, newline="") as lines:
                for line in lines:
                    yield line.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
                    break
                yield from lines

    def _body_lines(self) -> Generator[str, None, None]:
        """Yield the lines below the header."""
        with closing(self._lines()) as lines:
            yield from islice(lines, self.layout.first_line - 1, None)

    def _body_bytes(self) -> Generator[bytes, None, None]:
        """Yield the rows as UTF-8, without comments."""
        layout = self.layout
        if self.encoding in _UTF8 and not layout.comment and layout.delimiter != " ":
            skip = len("".join(self.head).encode())
            with self._open() as stream:
                start = stream.read(skip + _BLOCK_BYTES)
                yield start.removeprefix(codecs.BOM_UTF8)[skip:]
                yield from iter(lambda: stream.read(_BLOCK_BYTES), b"")
            return
        with closing(self._body_lines()) as lines:
            while some := list(islice(lines, 1 << 10)):
                kept = [
                    single_spaces(line) if layout.delimiter == " " else line
                    for line in some
                    if not is_comment(line, layout.comment)
                ]
                yield "".join(kept).encode()


class _ChunkFile(io.RawIOBase):
    """A file whose bytes come from an iterator."""

    def __init__(self, chunks: Generator[bytes, None, None]) -> None:
        self._chunks, self._rest = chunks, memoryview(b"")

    def close(self) -> None:
        """Close the file that the bytes come from."""
        self._chunks.close()
        super().close()

    def readable(self) -> bool:
        """Return that this file can be read."""
        return True

    def readinto(self, out: Any) -> int:
        """Fill a buffer with what is left of a chunk, or with the next one."""
        while not len(self._rest):
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        n = min(len(out), len(self._rest))
        out[:n] = self._rest[:n]
        self._rest = self._rest[n:]
        return n


# ---------------------------------------------------------------- columns of a block


def _has_empty_row(batch: Any) -> bool:
    """Return whether all cells of some row are empty."""
    from pyarrow import compute

    empty = np.ones(batch.num_rows, dtype=bool)
    for column in batch.columns:
        empty &= np.diff(_ends(compute.utf8_trim_whitespace(column))) == 0
        if not empty.any():
            return False
    return True


def _texts(cells: Cells) -> list[str]:
    """Return the cells of a block without blanks around them."""
    if isinstance(cells, list):
        return cells
    return [cell.strip() for cell in cells.to_pylist()]


def _bytes(cells: Cells) -> bytes:
    """Return all characters of a block of cells."""
    if isinstance(cells, list):
        return "\n".join(cells).encode()
    ends = _ends(cells)
    return bytes(cells.buffers()[2][ends[0] : ends[-1]]) if ends[-1] else b""


def _ends(cells: Any) -> NDArray[np.int32]:
    """Return where the characters of cells of pyarrow begin, and where they end."""
    return np.frombuffer(cells.buffers()[1], np.int32)[
        cells.offset : cells.offset + len(cells) + 1
    ]


def _begin_with_zero(cells: Cells, content: bytes) -> bool:
    """Return whether some cells begin with a zero and another digit."""
    if isinstance(cells, list):
        return _LEADING_ZERO.search(content.decode()) is not None
    ends = _ends(cells) - _ends(cells)[0]
    starts = ends[:-1][np.diff(ends) > 1]
    characters = np.frombuffer(content, np.uint8)
    second = characters[starts + 1]
    zero = ord("0")
    found = (characters[starts] == zero) & (second >= zero) & (second <= zero + 9)
    return bool(found.any())


def _plain_floats(
    cells: Cells, content: bytes, facts: ColumnFacts, decimal: str
) -> NDArray[Any] | None:
    """Return cells as floats if they are numbers as computers write them."""
    if decimal == "," and b"." in content:
        return None
    if isinstance(cells, list):
        facts.simple = False
        if any(sign in content for sign in (b"_", b"n", b"N")):  # 1_000; nan and inf
            return None
        if decimal == ",":
            cells = [cell.replace(",", ".") for cell in cells]
        try:
            return np.array(cells, dtype=float)
        except ValueError:
            return None
    import pyarrow
    from pyarrow import compute

    if decimal == "," and b"," in content:
        cells = compute.replace_substring(cells, ",", ".")
    empty = np.diff(_ends(cells)) == 0
    try:
        return floats_of_arrow(_without(cells, empty).cast("float64"))
    except pyarrow.ArrowInvalid:
        facts.simple = False
    cells = compute.utf8_trim_whitespace(cells)
    words = pyarrow.array(_WORDS)
    found = compute.is_in(compute.utf8_lower(cells), value_set=words)
    bits = np.frombuffer(found.buffers()[1], np.uint8)
    missing = np.unpackbits(bits, bitorder="little")[: len(cells)] == 1
    try:
        return floats_of_arrow(_without(cells, missing).cast("float64"))
    except pyarrow.ArrowInvalid:
        return None


def _without(cells: Any, missing: NDArray[np.bool_]) -> Any:
    """Return strings of pyarrow of which some are null; a None would import pandas."""
    if not missing.any():
        return cells
    import pyarrow

    _, ends, content = cells.buffers()
    known = np.concatenate([np.ones(cells.offset, dtype=bool), ~missing])
    bits = pyarrow.py_buffer(np.packbits(known, bitorder="little"))
    return pyarrow.Array.from_buffers(
        cells.type, len(cells), [bits, ends, content], offset=cells.offset
    )


def floats_of_arrow(cells: Any) -> NDArray[np.float64]:
    """Return an array of numbers of pyarrow as floats, NaN for missing ones.

    As `to_numpy` does, which would import pandas; without a copy if all are floats.
    """
    if not len(cells):
        return np.zeros(0)
    if str(cells.type) != "double":
        cells = cells.cast("float64", safe=False)
    if cells.null_count:
        cells = cells.fill_null(np.nan)
    return np.frombuffer(cells.buffers()[1], float, len(cells), 8 * cells.offset)


# ---------------------------------------------------------------- whole columns


class TextBlocks:
    """The columns of a text of any size, read block by block.

    What a column is, how its numbers are written and which sign is the decimal sign
    follows from all of its cells: the text is read once for that. All further passes
    give the numbers.

    Parameters
    ----------
    open_stream : callable
        Open the bytes of the text, unpacked, at their start.
    source : str
        Name of the file in messages.
    choice : Choice
    keep : bool
        Whether to keep the numbers in memory, for `columns`.

    Attributes
    ----------
    file : TextFile
    names : tuple of str
        All columns, except empty ones without a name.
    kinds, units : dict
        Kind and unit of every column.
    facts : dict
        What is known about the cells of every column.
    rows : int
        Number of rows.
    notes : list of str
    """

    def __init__(
        self,
        open_stream: Callable[[], IO[bytes]],
        source: str,
        choice: Choice,
        *,
        keep: bool = False,
    ) -> None:
        self.choice, self._keep = choice, keep
        with open_stream() as stream:
            start = stream.read(4096)
        encodings = [choice.encoding]
        if choice.encoding == "auto":
            guess = guess_encoding(start, source)
            # cp1252: the default of Western spreadsheets.
            encodings = [guess, "cp1252", "latin-1"] if guess == "utf-8" else [guess]
        for encoding in encodings:
            try:
                self.file = TextFile(open_stream, source, choice, encoding)
                self._judge()
                break
            except (UnicodeError, LookupError) as error:
                if encoding == encodings[-1]:
                    raise TableError(
                        f"{source} is not text in the encoding {encoding} ({error}): "
                        "set --read encoding, such as utf-8, utf-16 or cp1252."
                    ) from None

    def _judge(self, sign: DecimalSign | None = None) -> None:
        """Find out what all columns are."""
        choice, layout = self.choice, self.file.layout
        names = layout.names
        verbatim = choice.names_of_rows | {*(names[:1] if layout.row_names else ())}
        sign = sign or layout.decimal
        given = choice.decimal != "auto"
        mark = choice.decimal if given else sign.mark
        self.reading = Reading(
            mark or ".", choice.words, self.file.place,
            None if given else sign.evidence, given,
            choice.unwanted(names) | verbatim, verbatim,
        )  # fmt: skip
        facts = [ColumnFacts(name) for name in names]
        unclear: dict[str, Any] = {}
        self._kept: list[NDArray[np.float64]] = []
        self.rows = 0
        try:
            for first, block in self.file.blocks():
                if mark is None:
                    found = self._sign_in(block, first)
                    if found.mark == "," and self.rows and unclear:
                        self._judge(found)
                        return
                    mark, self.reading.evidence = found.mark, found.evidence
                    self.reading.decimal = mark or "."
                    for cell in found.unclear:
                        unclear.setdefault("," if "," in cell.text else ".", cell)
                self.rows = first + len(block[0])
                kept = (
                    np.full((len(block[0]), len(names)), np.nan) if self._keep else None
                )
                for j, cells in enumerate(block):
                    values = self._numbers(facts[j], cells, first)
                    if kept is not None and values is not None:
                        kept[:, j] = values
                if kept is not None:
                    self._kept.append(kept)
        except IrregularError:
            self._judge(sign)
            return
        self.notes = [
            *describe(layout, self.file.encoding, choice), *layout.notes,
            *self._notes_about_lines(),
        ]  # fmt: skip
        if mark is None:
            self._refuse_unclear([unclear[each] for each in ",." if each in unclear])
        self._finish(facts)

    def _sign_in(self, block: list[Cells], first: int) -> DecimalSign:
        """Return what a block shows about the decimal sign."""
        names, unwanted = self.file.layout.names, self.reading.unwanted
        shown = {}
        for name, cells in zip(names, block, strict=True):
            if name not in unwanted:
                content = _bytes(cells)
                if b"." in content or b"," in content:
                    shown[name] = _texts(cells)
        return find_decimal(shown, first) if shown else DecimalSign()

    def _numbers(
        self, facts: ColumnFacts, cells: Cells, first: int
    ) -> NDArray[np.float64] | None:
        """Judge a block of a column; return its numbers, if all cells are."""
        reading = self.reading
        if facts.name in reading.verbatim:
            return None
        content = _bytes(cells)
        plain = _plain_floats(cells, content, facts, reading.decimal)
        if plain is not None:
            if facts.alphanumeric and (b"." in content or b"-" in content):
                facts.alphanumeric = False
            codes = facts.alphanumeric and _begin_with_zero(cells, content)
            if not codes:
                facts.whole = facts.whole and not any(x in content for x in _NOT_WHOLE)
                facts.add_plain(plain, lambda row: str(cells[row]), first)
                return plain
        facts.simple = False
        return facts.add(_texts(cells), first, reading)

    def _refuse_unclear(self, unclear: Sequence[Any]) -> None:
        """Refuse cells that can be read in two ways, or say how they were read."""
        delimiter, place = self.file.layout.delimiter, self.file.place
        if delimiter == ",":  # between commas, points are decimal points
            unclear = [cell for cell in unclear if "," in cell.text]
        if not unclear:
            return
        first = unclear[0]
        if "," in first.text or delimiter == ";":
            # Semicolons are used where the comma is the decimal sign.
            refuse_unclear(unclear, place)
        self.notes.append(
            f"{first.quoted(place)} was read with a decimal point, because no cell "
            "shows otherwise: use --read decimal=, if it is "
            f"{first.text.replace('.', '')}."
        )

    def _notes_about_lines(self) -> Iterator[str]:
        """Yield notes about lines that are no rows."""
        n, line = self.file.empty
        if n == 1:
            yield f"Line {line} has only empty cells and was left out."
        elif n:
            yield (
                f"{n:,} lines have only empty cells and were left out; the first is "
                f"line {line}."
            )
        below = self.file.below
        if len(below) == 1:
            yield (
                f"Line {below[0][0]} is not part of the table and was left out: "
                f"{below[0][1][0]!r}."
            )
        elif below:
            yield (
                f"Lines {below[0][0]} to {below[-1][0]} are not part of the table and "
                f"were left out; the first is {below[0][1][0]!r}."
            )

    def _finish(self, facts: list[ColumnFacts]) -> None:
        """Decide what the columns are."""
        layout = self.file.layout
        given = dict(zip(layout.names, layout.units, strict=True))
        # Lines may begin or end with a delimiter.
        kept = [
            each
            for i, each in enumerate(facts)
            if i not in layout.unnamed
            or each.given
            or each.name in self.reading.verbatim
            or len(facts) == 1
        ]
        self.facts = {each.name: each for each in kept}
        found = {each.name: each.kind(self.reading) for each in kept}
        self.names = tuple(self.facts)
        self.kinds: dict[str, Kind] = {name: kind for name, (kind, _) in found.items()}
        self.units = {name: unit or given[name] for name, (_, unit) in found.items()}
        numbers = [each for each in kept if self.kinds[each.name] == "number"]
        self.notes += notes_about(numbers, self.file.place)

    @property
    def row_names(self) -> str | None:
        """A column without a name that holds row names."""
        return self.file.layout.names[0] if self.file.layout.row_names else None

    def sample(self) -> list[Column]:
        """Return the columns with their first rows, without names of rows."""
        numbers = [name for name in self.names if self.kinds[name] == "number"]
        found: dict[str, NDArray[Any]] = {}
        if numbers:
            with closing(self.blocks(numbers)) as blocks:
                found = dict(zip(numbers, next(blocks)[1].T, strict=True))
        none = as_objects([])
        return [
            Column(name, self.kinds[name], found.get(name, none), self.units[name])
            for name in self.names
            if name != self.row_names
        ]

    def columns(self) -> list[Column]:
        """Return all columns; the numbers must have been kept."""
        at = {name: j for j, name in enumerate(self.file.layout.names)}
        texts = [name for name in self.names if self.kinds[name] != "number"]
        cells: dict[str, list[str]] = {name: [] for name in texts}
        if texts:
            for _, block in self.texts(texts):
                for name, more in zip(texts, block, strict=True):
                    cells[name] += more
        whole = self._kept[0] if len(self._kept) == 1 else np.concatenate(self._kept)
        self._kept = []
        return [
            Column(name, kind, self._cells(name, cells[name]), self.units[name])
            if (kind := self.kinds[name]) != "number"
            else Column(name, kind, whole[:, at[name]], self.units[name])
            for name in self.names
        ]

    def _cells(self, name: str, cells: list[str]) -> NDArray[Any]:
        if name in self.reading.verbatim:
            return as_objects(cells)
        return self.reading.known(cells)

    def texts(
        self, names: Sequence[str]
    ) -> Generator[tuple[int, list[list[str]]], None, None]:
        """Yield the first row of every block, and the cells of columns as text."""
        at = [self.file.layout.names.index(name) for name in names]
        for first, block in self.file.blocks(at):
            yield first, [_texts(cells) for cells in block]

    def blocks(
        self, names: Sequence[str]
    ) -> Generator[tuple[int, NDArray[np.float64]], None, None]:
        """Yield the first row of every block, and columns of numbers as floats."""
        positions = {name: j for j, name in enumerate(self.file.layout.names)}
        simple = all(self.facts[name].simple for name in names)
        missing = self.missing_numbers()
        reading, at = self.reading, [positions[name] for name in names]
        for first, block in self.file.blocks(at, reading.decimal if simple else ""):
            out = np.full((len(block[0]), len(names)), np.nan)
            for j, (name, cells) in enumerate(zip(names, block, strict=True)):
                facts = ColumnFacts(name)
                values = (
                    floats_of_arrow(cells)
                    if not isinstance(cells, list) and str(cells.type) == "double"
                    else _plain_floats(cells, _bytes(cells), facts, reading.decimal)
                )
                if values is None:
                    values = facts.add(_texts(cells), first, reading)
                if values is None:
                    raise TableError(
                        f"{self.file.source} was modified while being read: run again "
                        "once it is complete."
                    )
                out[:, j] = values
            if missing:
                out[np.isin(out, missing)] = np.nan
            yield first, out

    def missing_numbers(self) -> list[float]:
        """Return further numbers that mean a missing cell: -999 also means -999.0."""
        return missing_numbers(self.choice.na, self.reading.decimal)


def missing_numbers(words: Collection[str], decimal: str) -> list[float]:
    """Return the words for missing cells that are numbers."""
    found = [parse(word, decimal) for word in words]
    return [number.value for number in found if number is not None and not number.unit]
