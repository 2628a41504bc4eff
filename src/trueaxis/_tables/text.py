"""Split text into columns of cells: delimiter, records, header, column names."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from trueaxis._tables.cells import TableError, is_missing, is_number
from trueaxis._tables.header import first_line_is_header

DELIMITERS = ",;\t| "
DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "space": " "}
_SAMPLE = 50  # maximum number of records used to find the delimiter
_LONG = 200_000  # characters after which no more records are used
_ENOUGH = 5000  # cells to check for numbers: the last ones, since headers are text
# The line that sets the delimiter for Excel.
_SEP = re.compile(r'"?sep=(.)"?[ ;,\t]*(\r\n|\r|\n|$)', re.IGNORECASE)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_QUOTED_OR_SPACES = re.compile(r'("[^"]*")| +')


@dataclass(frozen=True)
class TextColumns:
    """Columns of a text file, not converted yet.

    Attributes
    ----------
    columns : list of str
    by_column : list of list of str
    lines : list of int
        Number of the line where each row begins.
    delimiter : str
    ids : str or None
        A column without a name that holds row numbers or row names.
    notes : list of str
        Guesses that the user should know of.
    """

    columns: list[str]
    by_column: list[list[str]]
    lines: list[int]
    delimiter: str
    ids: str | None
    notes: list[str]


def read_cells(
    text: str,
    source: str,
    *,
    delimiter: str = "auto",
    header: str = "auto",
    decimal: str = "auto",
) -> TextColumns:
    r"""Split text into columns with names.

    Examples
    --------
    >>> from trueaxis._tables.text import read_cells
    >>> cells = read_cells("a;b\n1,5;2\n2,5;3\n", "a.csv")
    >>> cells.columns, cells.by_column
    (['a', 'b'], [['1,5', '2,5'], ['2', '3']])
    """
    delimiter = DELIMITER_NAMES.get(delimiter.lower(), delimiter)
    skipped = 0
    sep_line = _SEP.match(text)
    if sep_line:
        text, skipped = text[sep_line.end() :], 1
        delimiter = sep_line[1] if delimiter == "auto" else delimiter
    if delimiter == "auto":
        delimiter = find_delimiter(text, decimal)
    elif len(delimiter) != 1 or delimiter in '"\r\n':
        raise TableError(
            f"{delimiter!r} cannot separate cells: --delimiter must be one character, "
            "tab or space."
        )
    rows, lines, empty = _all_records(text, delimiter, skipped, source)
    if not rows:
        raise TableError(f"{source} is empty: there are no rows to analyze.")
    _refuse_ragged(rows, lines, delimiter, source)
    named, notes = first_line_is_header(rows[0], rows[1:], header)
    notes = notes + _note_empty(empty)
    names = rows[0] if named else [f"x{i}" for i in range(len(rows[0]))]
    if named:
        rows, lines = rows[1:], lines[1:]
    if not rows:
        raise TableError(f"{source} has a header, but no rows.")
    by_column = [list(column) for column in zip(*rows, strict=True)]
    while len(names) > 1 and not (named and names[-1]) and not any(by_column[-1]):
        # Every line ends with a delimiter.
        names, by_column = names[:-1], by_column[:-1]
    ids = None
    if named:
        names, ids = _complete_names(names, by_column)
        _refuse_repeated(names, source)
    return TextColumns(names, by_column, lines, delimiter, ids, notes)


# ---------------------------------------------------------------- records


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield records, except blank lines, each with the line where it begins."""
    # Lazily, because a sample needs only the first lines.
    lines = (match[0] for match in _LINE.finditer(text))
    if delimiter == " ":
        lines = (_single_spaces(line) for line in lines)
    reader = csv.reader(lines, delimiter=delimiter)
    begin = 1
    for row in reader:
        cells = [cell.strip() for cell in row]
        if any(cells) or len(cells) > 1:
            yield begin, cells
        begin = reader.line_num + 1


def _single_spaces(line: str) -> str:
    """Replace runs of spaces, which often align columns, by one space."""
    text = line.rstrip("\r\n")
    end = line[len(text) :]
    return _QUOTED_OR_SPACES.sub(lambda match: match[1] or " ", text.strip(" ")) + end


def _all_records(
    text: str, delimiter: str, skipped: int, source: str
) -> tuple[list[list[str]], list[int], list[int]]:
    """Return the records, and their lines; also the lines with empty cells only."""
    rows, lines, empty, line = [], [], [], 0
    try:
        for line, row in _records(text, delimiter):
            if any(row):
                rows.append(row)
                lines.append(line + skipped)
            else:
                empty.append(line + skipped)
    except csv.Error as error:
        # The reader does not name the record; it is the one after the last it returned.
        cause = (
            f"has a cell of more than {csv.field_size_limit():,} characters: probably "
            "a quotation mark is not closed. Close it, or shorten the cell"
            if "field limit" in str(error)
            else f"cannot be split into cells ({error}): correct the text"
        )
        raise TableError(
            f"{source} {cause}; it is in the record after line {line + skipped}."
        ) from None
    # Spreadsheets write such lines below a table.
    return rows, lines, [at for at in empty if at < max(lines, default=0)]


def _note_empty(empty: list[int]) -> list[str]:
    if not empty:
        return []
    if len(empty) == 1:
        return [f"Line {empty[0]} has only empty cells and was left out."]
    return [
        f"{len(empty):,} lines have only empty cells and were left out; the first is "
        f"line {empty[0]}."
    ]


def _refuse_ragged(
    rows: list[list[str]], lines: list[int], delimiter: str, source: str
) -> None:
    width = len(rows[0])
    for line, row in zip(lines, rows, strict=True):
        if len(row) != width:
            raise TableError(
                f"Line {line} of {source} has {len(row)} cells, but line {lines[0]} "
                f"has {width} (separated by {delimiter!r}). Correct the line, or set "
                "--delimiter if that is wrong."
            )


# ---------------------------------------------------------------- delimiters


def find_delimiter(text: str, decimal: str = "auto") -> str:
    r"""Find the delimiter: it gives records of equal length, and cells with numbers.

    Examples
    --------
    >>> from trueaxis._tables.text import find_delimiter
    >>> find_delimiter("a;b\n1,5;2,5")
    ';'
    """
    best, most = ",", (0.0, 0.0, 0)
    for delimiter in DELIMITERS:
        try:
            rows = _sample(text, delimiter)
        except csv.Error:  # raised again when the whole text is read
            continue
        width, lines = Counter(map(len, rows)).most_common(1)[0] if rows else (1, 0)
        alike = lines / max(len(rows), 1)
        cells = [cell for row in rows for cell in row]
        share = sum(map(is_number, cells[-_ENOUGH:])) / max(len(cells[-_ENOUGH:]), 1)
        if width == 1 or alike < 0.5 or (delimiter == " " and (alike < 1 or not share)):
            continue
        if delimiter == "," == decimal and '"' not in text:
            continue
        # Prefer records of equal length; then numbers to cells like "5;2".
        if (float(alike == 1), share, width) > most:
            best, most = delimiter, (float(alike == 1), share, width)
    if decimal == "," and most[0] == 0 and '"' not in text:
        return ";"  # one column with decimal commas
    return best


def _sample(text: str, delimiter: str) -> list[list[str]]:
    """Return the first records; fewer if they are very long."""
    rows, size = [], 0
    some = (row for _, row in _records(text, delimiter) if any(row))
    for row in islice(some, _SAMPLE):
        rows.append(row)
        size += sum(map(len, row))
        if size > _LONG and len(rows) >= 5:
            break
    return rows


# ---------------------------------------------------------------- column names


def _complete_names(
    names: Sequence[str], by_column: list[list[str]]
) -> tuple[list[str], str | None]:
    """Name all columns; also return the name of the first if it holds row names."""
    complete = [name or f"column {i}" for i, name in enumerate(names, start=1)]
    first = by_column[0]
    whole = all(cell.isascii() and cell.isdigit() for cell in first)
    distinct = len(set(first)) == len(first)
    text = not any(is_number(cell) or is_missing(cell) for cell in first)
    # pandas and R write such a column by default.
    only_names = len(names) > 1 and not names[0] and distinct and (whole or text)
    return complete, complete[0] if only_names else None


def _refuse_repeated(columns: Sequence[str], source: str) -> None:
    seen: set[str] = set()
    for column in columns:
        if column in seen:
            raise TableError(
                f"{source} has two columns named {column!r}: rename one of them, or "
                "use --header no if the first line has no names."
            )
        seen.add(column)
