"""Rows of a text file, as they are written there.

Nothing is parsed and formatted again: rows are cut out of the text, and only the
characters of a changed cell are replaced. So delimiters, quotes, decimal signs, ends of
lines, comments and the encoding stay as they are.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.formats import TEXT, ending_of
from trueaxis._tables.output.cell_text import (
    cell_spans,
    encoding_of,
    joined,
    number_like,
    style_of,
    unquoted,
    whole_or_float,
)
from trueaxis._tables.output.text_records import text_records
from trueaxis._tables.parsing.cells import (
    MINUS,
    number_pattern,
    parse_number,
    plain_digits,
)
from trueaxis._tables.parsing.numbers import Rules
from trueaxis._tables.parsing.records import LINE, csv_rows, is_left_out
from trueaxis._tables.parsing.text_file import TextFile
from trueaxis._tables.read import Choice
from trueaxis._tables.text import open_text, read_text

Changes = Mapping[str, Mapping[int, float]]  # new values by column and row


def positions_of(names: Sequence[str]) -> dict[str, int]:
    """Return the position of every column: to search each one would take D^2 steps."""
    return {name: position for position, name in enumerate(names)}


_PLAIN = re.compile(r"[0-9+\-.eE\n]*")
_LEADING_ZERO = re.compile(r"^[+-]?0\d", re.MULTILINE)  # 007 is a name
_MOST_DIGITS = 19  # of integers of 64 bits


class TextOriginal:
    """The rows of a text file.

    Parameters
    ----------
    data : bytes
        The content of the file, unpacked.
    source : str
        Its name.
    choice : Choice
        How it is read.
    """

    def __init__(self, data: bytes, source: str, choice: Choice) -> None:
        self.source, self.choice, self._data = source, choice, data
        self.native: tuple[str, ...] = (*TEXT, ending_of(source))
        self.file: TextFile = open_text(data, source, choice.text_format())
        self.layout = self.file.layout
        self.names = list(self.layout.names)
        self.mark, self.codec = encoding_of(data, self.file.encoding)
        self.text = self.file.content.decode("utf-8")
        self._starts = [match.start() for match in LINE.finditer(self.text)]
        self._starts.append(len(self.text))
        self._begins = self._first_lines()

    def write(
        self,
        file: IO[bytes],
        target: str,
        rows: NDArray[np.intp] | None,
        changes: Changes,
    ) -> list[str]:
        """Write rows, or the whole text with what is between and below them.

        The ending .tsv separates cells by tabs, and .csv by commas unless they are
        separated by semicolons. Only then, cells are written anew.
        """
        file.write(self.mark)
        delimiter = self._delimiter(target)
        if delimiter != self.layout.delimiter:
            pieces = self._separated_by(delimiter, rows, changes)
        elif rows is None:
            pieces = self._whole(changes)
        else:
            pieces = self._some(rows, changes)
        for piece in pieces:
            file.write(piece.encode(self.codec))
        return []

    def columns(self, rows: NDArray[np.intp], changes: Changes) -> dict[str, list[Any]]:
        """Return columns for a file of another format.

        Plain numbers become numbers. Cells with units or limits, or with zeros at the
        start, stay text, from which the same numbers are read.
        """
        cells = [self._records[row] for row in rows.tolist()]
        out: dict[str, list[Any]] = {}
        for i, name in enumerate(self.names[: self._width]):
            texts = [row[i] for row in cells]
            new = changes.get(name, {})
            values = self._values(texts)
            written: dict[int, Any] = {}
            if values is None:
                style = self._style(i) if new else ""
                values = [text or None for text in texts]
                written = {row: self._written(x, style) for row, x in new.items()}
            else:
                written = {row: whole_or_float(x) for row, x in new.items()}
            values = [
                written.get(row, value)
                for row, value in zip(rows.tolist(), values, strict=True)
            ]
            if any(isinstance(value, float) for value in values):
                values = [float(v) if isinstance(v, int) else v for v in values]
            out[name] = values
        return out

    def texts(self) -> list[str]:
        """Return the columns that are not plain numbers."""
        columns = self._columns_of_text
        return [
            name
            for name, texts in zip(self.names, columns[: self._width], strict=False)
            if self._values(list(texts)) is None
        ]

    @cached_property
    def _columns_of_text(self) -> list[tuple[str, ...]]:
        return list(zip(*self._records[: len(self)], strict=True))

    @cached_property
    def _records(self) -> list[list[str]]:
        """The cells of all rows, as text."""
        return [cells for _, cells in self.file.records() if any(cells)]

    @cached_property
    def _width(self) -> int:
        """Number of columns, without empty ones after the last delimiter of lines."""
        width = len(self.names)
        while width > 1 and width - 1 in self.layout.unnamed:
            if any(self._columns_of_text[width - 1]):
                break
            width -= 1
        return width

    @cached_property
    def _decimal(self) -> str:
        """The decimal sign; all of the file is read if its first part has none."""
        given = self.choice.decimal
        mark = self.layout.decimal.mark if given == "auto" else given
        if mark is not None:
            return mark
        how = self.choice.text_format()
        return read_text(self._data, self.source, how, self.choice.unwanted)[1].decimal

    def cells(self, row: int) -> list[str]:
        """Return the cells of a row as text."""
        text = self.text[slice(*self._span(row))]
        if self.layout.delimiter == " ":
            return [unquoted(text[a:b]) for a, b in cell_spans(text, " ")]
        lines = io.StringIO(text, newline="")
        row_cells = next(csv_rows(lines, self.layout.delimiter, len(text)))
        return [cell.strip() for cell in row_cells]

    def _written(self, x: float, style: str) -> str:
        """Return a number as text, in the style of another cell of its column."""
        unclear = self._decimal == "," or self.layout.delimiter != ","
        return number_like(x, style, self._decimal, unclear=unclear)

    @cached_property
    def _rules(self) -> Rules:
        """What is a missing cell."""
        return Rules(words=self.choice.text_format().words())

    def _values(self, texts: list[str]) -> list[Any] | None:
        """Return numbers; None if a cell has a unit, a limit or zeros at the start."""
        missing = {text for text in {*texts} if self._rules.is_missing(text)}
        given = [i for i, text in enumerate(texts) if text not in missing]
        if not given:
            return [None] * len(texts)
        lines = "\n".join(texts[i] for i in given)
        if self._decimal == "," or not _PLAIN.fullmatch(lines):
            found = number_pattern(self._decimal).findall(lines.translate(MINUS))
            # Signs of comparison, currencies and units.
            if len(found) != len(given) or any(
                a or b or c for a, _, b, _, _, c in found
            ):
                return None
            digits = plain_digits("\n".join(each[4] for each in found), self._decimal)
            signs = ["-" if "-" in (each[1], each[3]) else "" for each in found]
            cells = [a + b for a, b in zip(signs, digits.split("\n"), strict=True)]
            lines = "\n".join(cells)
        if _LEADING_ZERO.search(lines):
            return None
        cells = lines.split("\n")
        whole = not any(sign in lines for sign in ".eE")
        if whole and max(map(len, cells), default=0) >= _MOST_DIGITS:
            return None  # as text, they keep all digits
        out: list[Any] = [None] * len(texts)
        words = self._rules.words
        numbers = {parse_number(word, sign) for word in words for sign in ".,"}
        try:
            for i, x in zip(given, map(int if whole else float, cells), strict=True):
                out[i] = None if x in numbers else x
        except ValueError:
            return None
        return out

    def _first_lines(self) -> list[int]:
        """Return the line where each row begins; lines of empty cells are no rows."""
        if '"' in self.text:
            return [line for line, cells in self.file.records() if any(cells)]
        # Much faster: every line is a record.
        sign, delimiter = self.layout.comment, self.layout.delimiter
        return [
            number
            for number, match in enumerate(LINE.finditer(self.text), start=1)
            if number >= self.layout.first_line
            and match[0].replace(delimiter, " ").strip()
            and not is_left_out(match[0], sign, delimiter)
        ]

    # ------------------------------------------------------------ pieces of text

    def _delimiter(self, target: str) -> str:
        ending, now = ending_of(target), self.layout.delimiter
        if ending == ".tsv":
            return "\t"
        if ending == ".csv" and now not in ",;" and ending_of(self.source) != ".csv":
            return ","
        return now

    @property
    def _head(self) -> str:
        """What is above the first row."""
        return self.text[: self._starts[self.layout.first_line - 1]]

    def _span(self, row: int) -> tuple[int, int]:
        """Return where a row begins and ends in the text, with the end of its line."""
        line = self._begins[row] - 1
        start, end = self._starts[line], self._starts[line + 1]
        if '"' in self.text[start:end]:
            lines = (match[0] for match in LINE.finditer(self.text, start))
            records = text_records(lines, self.layout.delimiter, self.layout.comment)
            end = start + len(next(records).text)
        return start, end

    def _whole(self, changes: Changes) -> Iterator[str]:
        position = 0
        for row, new in self._by_row(changes).items():
            start, end = self._span(row)
            yield self.text[position:start]
            yield self._changed(self.text[start:end], row, new)
            position = end
        yield self.text[position:]

    def _some(self, rows: NDArray[np.intp], changes: Changes) -> Iterator[str]:
        yield self._head
        by_row, newline = self._by_row(changes), self.newline
        for place, row in enumerate(rows.tolist()):
            start, end = self._span(row)
            text = self.text[start:end]
            if row in by_row:
                text = self._changed(text, row, by_row[row])
            # The last line of the file may have no end.
            ended = text.endswith(("\n", "\r")) or place == len(rows) - 1
            yield text if ended else text + newline

    @property
    def newline(self) -> str:
        """How the first line ends."""
        match = re.search("\r\n|\r|\n", self.text)
        return match[0] if match else "\n"

    def _by_row(self, changes: Changes) -> dict[int, dict[int, str]]:
        """Return new cells as text, by row and position of the column."""
        out: dict[int, dict[int, str]] = {}
        positions = positions_of(self.names)
        for name, new in changes.items():
            position = positions[name]
            style = self._style(position) if new else ""
            for row, x in new.items():
                out.setdefault(row, {})[position] = self._written(x, style)
        return dict(sorted(out.items()))

    def _style(self, position: int) -> str:
        """Return a number of a column, with its unit; "" if there is none."""

        def given() -> Iterator[str]:
            for row in range(len(self)):
                cells = self.cells(row)
                if not self._rules.is_missing(cells[position]):
                    yield cells[position]

        return style_of(given(), self._decimal) or ""

    def _changed(self, text: str, row: int, new: Mapping[int, str]) -> str:
        """Return the text of a row with other cells."""
        delimiter, cells = self.layout.delimiter, self.cells(row)
        body = text.rstrip("\r\n")
        spans = cell_spans(body, delimiter)
        if len(spans) != len(cells):  # a comment inside quotes
            cells = [new.get(i, cell) for i, cell in enumerate(cells)]
            return joined(cells, delimiter) + text[len(body) :]
        pieces, position = [], 0
        for i, (start, end) in enumerate(spans):
            if i in new:
                cell = body[start:end]
                inner = cell.strip()
                left = cell[: len(cell) - len(cell.lstrip())] if inner else ""
                right = cell[len(cell.rstrip()) :] if inner else cell
                quoted = '"' if inner.startswith('"') or delimiter in new[i] else ""
                pieces += [body[position:start], left, quoted, new[i], quoted, right]
                position = end
        return "".join(pieces) + body[position:] + text[len(body) :]

    def _separated_by(
        self, delimiter: str, rows: NDArray[np.intp] | None, changes: Changes
    ) -> Iterator[str]:
        """Yield names, units and rows with another delimiter."""
        newline, unnamed = self.newline, self.layout.unnamed
        if len(unnamed) < len(self.names):  # there is a header
            names = ["" if i in unnamed else n for i, n in enumerate(self.names)]
            yield joined(names, delimiter) + newline
            if any(self.layout.units):
                yield joined(self.layout.units, delimiter) + newline
        by_row = self._by_row(changes)
        for row in range(len(self)) if rows is None else rows.tolist():
            new = by_row.get(row, {})
            cells = [new.get(i, cell) for i, cell in enumerate(self._records[row])]
            yield joined(cells, delimiter) + newline

    def __len__(self) -> int:
        """Return the number of rows."""
        width = len(self.names)
        n = len(self._begins)
        while n > 1 and len(self.cells(n - 1)) != width:
            n -= 1  # what is below the rows
        return n
