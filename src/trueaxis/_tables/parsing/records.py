"""Split text into records: encodings, delimiters, lines that are left out.

`dialect` looks at the first records, and `splitting` falls back on these functions.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from trueaxis._tables.parsing.cells import TableError, is_number

Record = tuple[int, list[str]]  # line where it begins, and its cells
DELIMITERS = ",;\t| "
DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "space": " "}
COMMENT = "#"
# Lines between the rows of tables that are drawn with - and |, or aligned by spaces.
DRAWN = "| "
SAMPLE_RECORDS = 50
LONGEST_CELL = (1 << 31) - 1  # of texts whose length is not known
_DELIMITER_CELLS = 5000  # to check for numbers: the last ones, since headers are text
# What spreadsheets write into cells whose formulas failed.
ERROR_WORDS = re.compile(
    r"#(?:n/a|na|div/0!|value!|ref!|num!|name\?|null!)(?!\w)", re.IGNORECASE
)
_RULED = re.compile(r"[\s|+:=-]*[-=]{3}[\s|+:=-]*")
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_WITH_COMMA = re.compile(r"[+-]?\d[\d.]*(?:,\d+)?")
_QUOTED_OR_SPACES = re.compile(r'("[^"]*")|[ \t]+')
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def guess_encoding(data: bytes, source: str) -> str:
    """Return the name of the encoding of text, from its first bytes.

    Raises
    ------
    TableError
        If the data are not text.
    """
    for bom, name in _BOMS.items():
        if data.startswith(bom):
            return name
    if b"\0" in data[:4096]:
        # In UTF-16 without a mark, every other byte of Western text is 0.
        even, odd = data[:4096:2].count(0), data[1:4096:2].count(0)
        if odd > 0.4 * len(data[:4096]) / 2 and even == 0:
            return "utf-16-le"
        if even > 0.4 * len(data[:4096]) / 2 and odd == 0:
            return "utf-16-be"
        raise TableError(
            f"{source} is not text: files in other formats must have their ending, "
            "such as .parquet, .xlsx or .npy; or save it as CSV (UTF-8)."
        )
    if data.isascii():
        return "utf-8"
    for name in ("utf-8", "cp1252"):  # cp1252: the default of Western spreadsheets
        decoder = codecs.getincrementaldecoder(name)()
        try:
            decoder.decode(data)  # a character may be cut off at the end
        except UnicodeDecodeError:
            continue
        return name
    return "latin-1"


def read_records(
    text: str, delimiter: str, comment: str, skip: int, source: str, whole: bool = False
) -> Iterator[Record]:
    """Yield records, except blank lines, each with the line where it begins.

    If the text is a whole file, quotation marks must be closed at its end.
    """
    lines = _Lines(text, comment, skip, delimiter)
    rows = csv_rows(lines, delimiter, len(text), whole)
    while True:
        begin = lines.number + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except OpenQuotes:
            raise open_quotes(source, lines.first_of_record(begin)) from None
        except csv.Error as error:
            raise TableError(
                f"Line {begin} of {source} cannot be split into cells ({error}): "
                "correct the text."
            ) from None
        cells = [cell.strip() for cell in row]
        if any(cells) or len(cells) > 1:
            yield lines.first_of_record(begin), cells


class OpenQuotes(Exception):
    """The last record of a file never ends."""


def open_quotes(source: str, line: int) -> TableError:
    """Return the error for a record that never ends."""
    return TableError(
        f"The record of {source} that begins in line {line} never ends: a quotation "
        "mark is not closed. Close it."
    )


def csv_rows(
    lines: Iterable[str],
    delimiter: str,
    limit: int = LONGEST_CELL,
    whole: bool = False,
) -> Iterator[list[str]]:
    """Yield the cells of records by the csv module, which refuses long cells.

    Parameters
    ----------
    lines : iterable of str
    delimiter : str
    limit : int
        Number of characters that a cell may have, such as that of the whole text.
    whole : bool
        Whether to raise OpenQuotes if quotation marks are open after the last line.
    """
    ended = False

    def until_end() -> Iterator[str]:
        nonlocal ended
        yield from lines
        ended = True

    reader = csv.reader(until_end(), delimiter=delimiter)
    while True:
        # The limit is one of the process, and others have their own.
        before = csv.field_size_limit(max(limit, 1 << 17))
        try:
            row = next(reader)
        except StopIteration:
            return
        finally:
            csv.field_size_limit(before)
        # Only a record that is not complete makes the reader ask for more lines.
        if ended and whole:
            raise OpenQuotes
        yield row


class _Lines:
    """Lines of a text without comments, and the number of the last one."""

    def __init__(self, text: str, comment: str, skip: int, delimiter: str) -> None:
        self.number = 0
        self._matches = LINE.finditer(text)
        self._comment, self._delimiter = comment, delimiter
        self._left_out: set[int] = set()
        for _ in range(skip):
            next(self._matches, None)
            self.number += 1

    def __iter__(self) -> Iterator[str]:
        for match in self._matches:
            self.number += 1
            line = match[0]
            if is_left_out(line, self._comment, self._delimiter):
                self._left_out.add(self.number)
            else:
                yield single_spaces(line) if self._delimiter == " " else line

    def first_of_record(self, line: int) -> int:
        """Return the first line from here that is not a comment."""
        while line in self._left_out:
            line += 1
        return line


def single_spaces(line: str) -> str:
    """Replace runs of spaces, which often align columns, by one space."""
    text = line.rstrip("\r\n")
    end = line[len(text) :]
    return _QUOTED_OR_SPACES.sub(lambda match: match[1] or " ", text.strip(" ")) + end


def is_left_out(line: str, sign: str, delimiter: str) -> bool:
    """Return whether a line is a comment, or drawn between rows."""
    return is_comment(line, sign) or (
        delimiter in DRAWN and _RULED.fullmatch(line) is not None
    )


def is_comment(line: str, sign: str) -> bool:
    """Return whether a line is a comment, rather than a row that begins with #N/A."""
    return bool(sign) and line.startswith(sign) and not ERROR_WORDS.match(line)


def find_delimiter(
    sample: str, comment: str = "", skip: int = 0, decimal: str = "auto"
) -> str:
    r"""Find the delimiter: it gives records of equal length, and cells with numbers.

    Examples
    --------
    >>> from trueaxis._tables.parsing.dialect import find_delimiter
    >>> find_delimiter("a;b\n1,5;2,5")
    ';'
    """
    best, most = ",", (0.0, 0.0, 0)
    for delimiter in DELIMITERS:
        rows = _some_records(sample, delimiter, comment, skip)
        if delimiter == "," and _is_decimal_comma(rows, sample):
            continue
        width, lines = Counter(map(len, rows)).most_common(1)[0] if rows else (1, 0)
        alike = lines / max(len(rows), 1)
        cells = [cell for row in rows for cell in row][-_DELIMITER_CELLS:]
        share = sum(map(is_number, cells)) / max(len(cells), 1)
        if width == 1 or alike < 0.5 or (delimiter == " " and not share):
            continue
        if delimiter == "," == decimal and '"' not in sample:
            continue
        # Prefer records of equal length; then numbers to cells like "5;2".
        if (float(alike == 1), share, width) > most:
            best, most = delimiter, (float(alike == 1), share, width)
    if most[0] == 0 and '"' not in sample:
        rows = _some_records(sample, ",", comment, skip)
        if decimal == "," or _is_decimal_comma(rows, sample):
            return ";"  # one column with decimal commas
    return best


def _is_decimal_comma(rows: Sequence[list[str]], sample: str) -> bool:
    """Return whether a comma only separates the decimals of a single column."""
    if len(rows) < 2 or len(rows[0]) != 1 or '"' in sample:
        return False
    return all(
        len(row) in (1, 2) and _WITH_COMMA.fullmatch(",".join(row)) for row in rows[1:]
    )


def _some_records(
    sample: str, delimiter: str, comment: str, skip: int
) -> list[list[str]]:
    """Return the first records, or fewer if the text cannot be split like that."""
    rows: list[list[str]] = []
    try:
        for _, row in read_records(sample, delimiter, comment, skip, ""):
            if any(row):
                rows.append(row)
            if len(rows) == SAMPLE_RECORDS:
                break
    except TableError:  # raised again when the whole text is read
        return []
    return rows
