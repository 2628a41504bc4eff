"""Text of any size: its rows as cells, and its columns as numbers.

A text is read from its start to its end, a piece of a few thousand rows at a time.
pyarrow splits the pieces that are as they should be, and Python's csv module the others
and all texts where pyarrow is not installed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import Column, Kind, TableError
from trueaxis.io.cells import (
    DASHES,
    MISSING,
    ColumnFacts,
    Content,
    DecimalSign,
    Reading,
    find_decimal,
    is_number,
    notes_about,
)
from trueaxis.io.choice import Choice
from trueaxis.io.layout import (
    Layout,
    Record,
    describe,
    guess_encoding,
    is_comment,
    look_at,
    not_part,
    ragged,
    single_spaces,
    split_records,
)

Cells = Any  # a column of a block: strings of pyarrow, or a list of them
Piece = tuple[int, str]  # the line where it begins, and its text
Store = Callable[[Iterable[NDArray[np.float64]], int], Any]

PIECE = 1 << 20  # characters; larger ones do not fit into a cache
_SAMPLE_CHARACTERS = 1 << 16
_SAMPLE_LINES = 8  # however long they are
_MOST_COLUMNS = 1 << 10  # for each one, pyarrow would keep some 30 kB
_MOST_FOOTERS = 1000  # lines below a table
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"  # at the start of a text
_CODE, _NO_CODE = "^0[0-9]", "-[0-9]|[0-9][.,]|[.,][0-9]"  # 007; a number with a sign
_WORDS = sorted(MISSING - DASHES)  # a dash is left to the rules, which tell


class _OtherSignError(Exception):
    """The decimal sign is not the one that the first pieces were read with."""


def kept(blocks: Iterable[NDArray[np.float64]], width: int) -> Any:
    """Keep the numbers of a text in memory."""
    return list(blocks)


class Text:
    """A text that was read once: what its columns are, and their numbers.

    What a column is, how its numbers are written and which sign is the decimal sign
    follows from all of its cells.

    `open_stream` opens its bytes, unpacked, at their start, and `source` is its name in
    messages. `store` takes blocks of all columns as floats, NaN for those that are not
    numbers, and how many columns these are, and keeps them somewhere.

    Attributes
    ----------
    layout : Layout
    names : list of str
        All columns, except empty ones without a name.
    facts, kinds, units : dict
        What is known about the cells of these columns, their kinds and units.
    rows : int
        Number of rows.
    head, below : list
        Lines above the first row; records below the table, which are no part of it.
    notes : list of str
    stored : object
        What `store` returned.
    """

    def __init__(
        self,
        open_stream: Callable[[], IO[bytes]],
        source: str,
        choice: Choice,
        store: Store = kept,
    ) -> None:
        self._open, self.source, self.choice = open_stream, source, choice
        self._right = self._between = 0  # first row that is right; empty lines above it
        encodings = [choice.encoding]
        if choice.encoding == "auto":
            with open_stream() as stream:
                guess = guess_encoding(stream.read(4096), source)
            # cp1252: the default of Western spreadsheets.
            encodings = [guess, "cp1252", "latin-1"] if guess == "utf-8" else [guess]
        for encoding in encodings:
            try:
                self.encoding = encoding
                self._look()
                self._read(store)
                return
            except (UnicodeError, LookupError) as error:
                if encoding == encodings[-1]:
                    raise TableError(
                        f"{source} is not text in the encoding {encoding} ({error}): "
                        "set --read encoding, such as utf-8, utf-16 or cp1252."
                    ) from None

    def _look(self) -> None:
        """Find out how the text is written."""
        skip, n = self.choice.skip, 0
        sample: list[str] = []
        with self._open() as stream:
            with io.TextIOWrapper(stream, self.encoding, newline="") as lines:
                for line in lines:
                    sample.append(line)
                    n += len(line)
                    enough = len(sample) - skip >= _SAMPLE_LINES
                    if enough and n >= _SAMPLE_CHARACTERS and line.strip():
                        break
        sample[:1] = [line.removeprefix(_MARK) for line in sample[:1]]
        if not any(map(str.strip, sample)):
            raise TableError(f"{self.source} is empty: there are no rows to analyze.")
        if len(sample) <= skip:
            raise TableError(
                f"{self.source} has {len(sample)} lines, and --read skip={skip} leaves "
                "none: skip fewer."
            )
        self.layout: Layout = look_at(sample, self.source, self.choice)
        self.head = sample[: self.layout.first_line - 1]
        first = re.search("\r\n|\r|\n", sample[0])
        self.newline = first[0] if first else "\n"

    # ------------------------------------------------------------ rows

    def _pieces(self) -> Generator[Piece, None, None]:
        """Yield the text below the header in pieces that end with a row."""
        with self._open() as stream:
            with io.TextIOWrapper(stream, self.encoding, newline="") as lines:
                for _ in self.head:
                    lines.readline()
                line = 1 + len(self.head)
                while piece := lines.read(PIECE):
                    piece += lines.readline()
                    # A cell of several lines must not be cut, but quotation marks may
                    # be inches, too.
                    more, room = list[str](), PIECE
                    odd = piece.count('"') % 2 if '"' in piece else 0
                    while odd and room > 0 and (next_line := lines.readline()):
                        more.append(next_line)
                        room -= len(next_line)
                        odd ^= next_line.count('"') % 2
                    piece += "".join(more)
                    yield line, piece.removeprefix(_MARK)
                    line += piece.count("\n")
                    if "\r" in piece:
                        line += piece.count("\r") - piece.count("\r\n")

    def _records(self, piece: Piece) -> Iterator[Record]:
        """Yield the rows of a piece, each with the line where it begins.

        Raises
        ------
        TableError
            If a row has too many or too few cells, and is not below the table.
        """
        layout, (line, text) = self.layout, piece
        lines = io.StringIO(text, newline="")
        for record in split_records(
            lines, layout.delimiter, layout.comment, self.source, line=line
        ):
            if not any(record[1]):
                self._empty.append(record[0])
            elif len(record[1]) != len(layout.names):
                self.below.append(record)
                if len(self.below) > _MOST_FOOTERS:
                    raise self._ragged(self.below[0])
            else:
                if self.below:
                    raise self._ragged(self.below[0])
                self._right = self._right or record[0]
                self._between = len(self._empty)
                yield record

    def _ragged(self, record: Record) -> TableError:
        right = self._right or self.layout.first_line - 1
        return ragged(self.source, record, right, len(self.layout.names))

    def _split(
        self, columns: Sequence[int] | None = None
    ) -> Generator[tuple[int, Piece, list[Cells]], None, None]:
        """Yield the first row of every piece, the piece, and its columns."""
        at = range(len(self.layout.names)) if columns is None else columns
        self.below: list[Record] = []
        self._empty: list[int] = []  # lines with only empty cells
        first = self._right = self._between = 0
        # pyarrow takes a tenth of the time, if it is installed.
        narrow = 1 < len(self.layout.names) <= _MOST_COLUMNS
        regular = narrow and self.layout.delimiter.isascii() and _has_pyarrow()
        with closing(self._pieces()) as pieces:
            for piece in pieces:
                block = None
                if regular and not self.below:
                    block = _split_by_arrow(piece[1], self.layout, at)
                if block is None:
                    rows = [cells for _, cells in self._records(piece)]
                    block = [[row[j] for row in rows] for j in at]
                else:
                    self._right = self._right or piece[0]
                    self._between = len(self._empty)
                if len(block[0]):
                    yield first, piece, block
                    first += len(block[0])
        for record in self.below:
            # A remark, rather than a row cut short.
            if not first or not record[1][0] or is_number(record[1][0]):
                raise self._ragged(record)
        if not first:
            raise TableError(f"{self.source} has a header, but no rows.")

    def place(self, row: int) -> str:
        """Return the line of a row, for messages."""
        with closing(self._split([0])) as pieces:
            for first, piece, (cells,) in pieces:
                if row < first + len(cells):
                    self.below = []  # of the same piece
                    line, _ = next(islice(self._records(piece), row - first, None))
                    return f"line {line}"
        return f"row {row}"  # the file was modified

    def texts(
        self, names: Sequence[str]
    ) -> Generator[tuple[int, list[list[str]]], None, None]:
        """Yield the first row of every block, and the cells of columns as text."""
        with closing(self._split([*map(self.layout.names.index, names)])) as pieces:
            for first, _, block in pieces:
                yield first, [_texts(cells) for cells in block]

    # ------------------------------------------------------------ columns

    def _read(self, store: Store) -> None:
        """Read all of the text, and decide what its columns are."""
        names, sign = self.layout.names, self.layout.decimal
        while True:
            try:
                self.stored = store(self._numbers(sign), len(names))
                break
            except _OtherSignError as error:
                sign = error.args[0]
        self.notes = [
            *describe(self.layout, self.encoding, self.choice), *self.layout.notes,
            *self._notes_about_lines(), *self._note_unclear(),
        ]  # fmt: skip
        facts = [
            each
            for i, each in enumerate(self._facts)
            # Lines may begin or end with a delimiter.
            if i not in self.layout.unnamed
            or each.given
            or each.name in self.reading.verbatim
            or len(names) == 1
        ]
        self.facts = {each.name: each for each in facts}
        self.names = list(self.facts)
        self.units = dict(zip(names, self.layout.units, strict=True))
        self.kinds: dict[str, Kind] = {}
        for each in facts:
            self.kinds[each.name], unit = each.kind(self.reading)
            self.units[each.name] = unit or self.units[each.name]
        numbers = [each for each in facts if self.kinds[each.name] == "number"]
        self.notes += notes_about(numbers, self.place)

    def _numbers(self, sign: DecimalSign) -> Iterator[NDArray[np.float64]]:
        """Judge all columns; yield blocks of their numbers."""
        choice, names = self.choice, self.layout.names
        self.reading = reading = Reading(
            choice, names, self.place, self.layout.row_names, sign
        )
        self._facts = [ColumnFacts(name) for name in names]
        self.rows = 0
        for first, _, block in self._split():
            if not reading.known:
                found = self._sign_in(block, first)
                if found.mark == "," and reading.unclear:
                    raise _OtherSignError(found)
                reading.see(found)
            self.rows = first + len(block[0])
            out = np.full((len(block[0]), len(names)), np.nan)
            for j, cells in enumerate(block):
                if names[j] not in reading.verbatim:
                    values = _judge(cells, self._facts[j], first, reading)
                    if values is not None:
                        out[:, j] = values
            yield reading.without_missing(out)

    def _sign_in(self, block: list[Cells], first: int) -> DecimalSign:
        """Return what a block shows about the decimal sign."""
        shown = {}
        for name, cells in zip(self.layout.names, block, strict=True):
            if name not in self.reading.unwanted:
                content = _bytes(cells)
                if b"." in content or b"," in content:
                    shown[name] = _texts(cells)
        return find_decimal(shown, first) if shown else DecimalSign()

    def _note_unclear(self) -> Iterator[str]:
        """Refuse cells that can be read in two ways, or say how they were read."""
        unclear, delimiter = self.reading.unclear, self.layout.delimiter
        # Semicolons are used where the comma is the decimal sign.
        if "," in unclear or delimiter == ";":
            self.reading.refuse_unclear("," if delimiter == "," else ",.")
        elif unclear and delimiter != ",":
            cell = unclear["."]
            yield (
                f"{cell.quoted(self.place)} was read with a decimal point, because no "
                "cell shows otherwise: use --read decimal=, if it is "
                f"{cell.text.replace('.', '')}."
            )

    def _notes_about_lines(self) -> Iterator[str]:
        """Yield notes about lines that are no rows."""
        empty = self._empty[: self._between]
        if len(empty) == 1:
            yield f"Line {empty[0]} has only empty cells and was left out."
        elif empty:
            yield (
                f"{len(empty):,} lines have only empty cells and were left out; the "
                f"first is line {empty[0]}."
            )
        if self.below:
            yield not_part(self.below, "Line", "left out")

    def sample(self) -> list[Column]:
        """Return the columns with some rows, without names of rows."""
        rows, at = next(iter(self.stored.blocks()))[1], self.layout.names.index
        return [
            Column(name, kind, rows[:, at(name)] if kind == "number" else rows[:0, 0])
            for name, kind in self.kinds.items()
            if name != self.layout.row_names
        ]

    def content(self) -> Content:
        """Return all columns of a text whose numbers were kept in memory.

        Cells of text are read again, and only where they are needed.
        """
        numbers = [name for name in self.names if self.kinds[name] == "number"]
        others = [name for name in self.names if self.kinds[name] != "number"]
        at = [*map(self.layout.names.index, numbers)]
        X, first = np.empty((self.rows, len(at))), 0
        self.stored.reverse()
        while self.stored:  # and are freed, so that they are not in memory twice
            block = self.stored.pop()
            X[first : first + len(block)] = block[:, at]
            first += len(block)
        needed = self.reading.verbatim | self.choice.named(self.names)
        wanted = [name for name in others if name in needed]
        cells: dict[str, list[str]] = {name: [] for name in wanted}
        for _, texts in self.texts(wanted) if wanted else ():
            for name, more in zip(wanted, texts, strict=True):
                cells[name] += more
        values: dict[str, Any] = dict.fromkeys(others, np.full(self.rows, None))
        for name in wanted:
            values[name] = self.reading.as_objects(name, cells.pop(name))
        values |= dict(zip(numbers, X.T, strict=True))
        columns = {
            name: Column(name, self.kinds[name], values[name], self.units[name])
            for name in self.names
        }
        return Content(columns, self.reading, self.notes, X)


# ---------------------------------------------------------------- columns of a block


def _judge(
    cells: Cells, facts: ColumnFacts, first: int, reading: Reading
) -> NDArray[np.float64] | None:
    """Judge a block of a column; return its numbers, if all cells are."""
    content = _bytes(cells)
    values = _plain_floats(cells, content, reading.decimal)
    if values is None:
        return facts.add(_texts(cells), first, reading)
    # All cells of a column of codes are letters and digits.
    if facts.alphanumeric and any(sign in content for sign in (b".", b",", b"-")):
        facts.alphanumeric = not _any(cells, _NO_CODE)
    if facts.alphanumeric and _any(cells, _CODE):
        return facts.add(_texts(cells), first, reading)
    facts.add_plain(values, lambda row: str(cells[row]), first)
    return values


def _plain_floats(
    cells: Cells, content: bytes, decimal: str
) -> NDArray[np.float64] | None:
    """Return cells as floats if they are numbers as computers write them."""
    if decimal == "," and b"." in content:
        return None
    if isinstance(cells, list):
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
    try:
        return floats_of_arrow(cells.cast("float64"))
    except pyarrow.ArrowInvalid:
        pass
    cells = compute.utf8_trim_whitespace(cells)
    words = compute.is_in(compute.utf8_lower(cells), value_set=pyarrow.array(_WORDS))
    nothing = pyarrow.nulls(1, cells.type)[0]  # a None would import pandas
    try:
        return floats_of_arrow(compute.if_else(words, nothing, cells).cast("float64"))
    except pyarrow.ArrowInvalid:
        return None


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


def _any(cells: Cells, pattern: str) -> bool:
    """Return whether a pattern is found in some cells of a block."""
    if isinstance(cells, list):
        return any(re.search(pattern, cell) for cell in cells)
    from pyarrow import compute

    return bool(compute.any(compute.match_substring_regex(cells, pattern)).as_py())


def _texts(cells: Cells) -> list[str]:
    """Return the cells of a block without blanks around them."""
    if isinstance(cells, list):
        return cells
    return ["" if cell is None else cell.strip() for cell in cells.to_pylist()]


def _bytes(cells: Cells) -> bytes:
    """Return all characters of a block of cells."""
    if isinstance(cells, list):
        return "\n".join(cells).encode()
    _, ends, content = cells.buffers()
    last = np.frombuffer(ends, np.int32)[cells.offset + len(cells)]
    return bytes(content[:last]) if last else b""


def _has_pyarrow() -> bool:
    try:
        import pyarrow.csv  # noqa: F401
    except ImportError:
        return False
    return True


def _split_by_arrow(text: str, layout: Layout, at: Sequence[int]) -> list[Cells] | None:
    """Return columns of a piece of text; None if Python should split it."""
    from pyarrow import ArrowInvalid, BufferReader, csv, string

    sign, quoted = layout.delimiter, '"' in text
    if quoted and text.count('"') % 2:
        return None
    if "\r" in text and text.count("\r") != text.count("\r\n"):
        return None
    if sign == " " or (layout.comment and layout.comment in text):
        text = "".join(
            single_spaces(line) if sign == " " else line
            for line in io.StringIO(text, newline="")
            if not is_comment(line, layout.comment)
        )
    # A line of blank cells is no row.
    if re.search(rf'\n[ \t"{re.escape(sign)}]++\r?(?:\n|\Z)', "\n" + text):
        return None
    data, names = text.encode(), [str(i) for i in range(len(layout.names))]
    faulty, some = list[str](), [str(i) for i in at]

    def refuse(row: Any) -> str:
        faulty.append(row.text.strip())
        return "skip"

    try:
        table = csv.read_csv(
            BufferReader(data),
            csv.ReadOptions(
                use_threads=False, block_size=len(data) + 1, column_names=names
            ),
            csv.ParseOptions(
                delimiter=sign, newlines_in_values=quoted,
                invalid_row_handler=refuse,
            ),
            csv.ConvertOptions(
                include_columns=some, column_types=dict.fromkeys(some, string()),
                null_values=[""], strings_can_be_null=True,
            ),
        )  # fmt: skip
    except ArrowInvalid:
        return None
    batches = table.to_batches()
    if any(faulty) or len(batches) != 1:
        return None
    columns: list[Cells] = batches[0].columns
    return columns
