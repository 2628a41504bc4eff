"""How a text is written: its encoding, delimiter and header, and where its rows begin.

No library finds all of this without silent mistakes (docs/reading.md), so that it is
done here, from the first lines. `text` reads the rows once this is known.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import TableError, quote
from trueaxis.io.cells import DecimalSign, find_decimal, is_missing, is_number, parse
from trueaxis.io.choice import Choice

Record = tuple[int, list[str]]  # line where it begins, and its cells
_DELIMITERS = ",;\t| "
_DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "space": " "}
_LONGEST_CELL = (1 << 31) - 1
_SAMPLE_RECORDS = 50
_DELIMITER_CELLS = 5000  # to check for numbers: the last ones, since headers are text
_HEADER_LINES = 3  # names, and up to two lines of units or subtitles
_COMPARED_CELLS = 20_000  # with a first line of numbers
_FEWEST = 3  # numbers, and rows below them, that can be compared
# What begins with a # and is a cell: the failed formulas of spreadsheets, and numbers.
_CELL = re.compile(
    r"#(?:\d|(?:n/a|na|div/0!|value!|ref!|num!|name\?|null!)(?!\w))", re.IGNORECASE
)
_WITH_COMMA = re.compile(r"[+-]?\d[\d.]*(?:,\d+)?")
_QUOTED_OR_SPACES = re.compile(r'("[^"]*")|[ \t]+')
# The line that sets the delimiter for Excel.
_SEP = re.compile(r'"?sep=(.)"?[ ;,\t]*(\r\n|\r|\n|$)', re.IGNORECASE)
_SPOKEN = {"cp1252": "Windows-1252 text", "latin-1": "Latin-1 text"}
_SIGNS = {"\t": "tabs", " ": "spaces"}
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_AS_NAMES = (
    "The first line was read as column names, although it has numbers (use --read "
    "header=no if it is data)."
)
_AS_DATA = (
    "The first line was read as data, because it has numbers and text in the same "
    "columns as the rest (use --read header=yes if it is a header)."
)


@dataclass(frozen=True)
class Layout:
    """How the text of a table is written."""

    delimiter: str
    comment: str  # sign at the start of lines that are left out; "" for none
    first_line: int  # of the rows, counted from 1; all lines above it are skipped
    names: tuple[str, ...]
    units: tuple[str, ...]  # of the columns, "" where the file tells none
    unnamed: frozenset[int]  # positions of columns without a name of their own
    named: bool  # whether the file has names of columns
    row_names: str | None  # the first column, if it has no name and names rows
    decimal: DecimalSign  # what the first rows show
    notes: tuple[str, ...]  # guesses that the user should know of


# ---------------------------------------------------------------- encoding and records


def guess_encoding(head: bytes, source: str) -> str:
    """Return the name of the encoding of text, from its first bytes."""
    for bom, name in _BOMS.items():
        if head.startswith(bom):
            return name
    if b"\0" in head:
        # In UTF-16 without a mark, every other byte of Western text is 0.
        even, odd = head[::2].count(0), head[1::2].count(0)
        if even + odd > 0.2 * len(head) and not (even and odd):
            return "utf-16-le" if odd else "utf-16-be"
        raise TableError(
            f"{source} is not text: files in other formats must have their ending, "
            "such as .parquet, .xlsx, .npy or .gz. Rename it, unpack it, or save it as "
            "CSV (UTF-8)."
        )
    return "utf-8"  # or what `text` finds out when it decodes the whole file


def split_records(
    lines: Iterable[str],
    delimiter: str,
    comment: str,
    source: str,
    *,
    line: int = 1,
    whole: bool = True,
) -> Iterator[Record]:
    """Yield records, except blank lines, each with the line where it begins.

    `line` is the number of the first line; `whole` tells whether all quotation marks
    must be closed at the end of the last one.
    """
    begin, ended = 0, False

    def counted() -> Iterator[str]:
        nonlocal begin, ended
        for number, each in enumerate(lines, start=line):
            if not is_comment(each, comment):
                begin = begin or number
                yield single_spaces(each) if delimiter == " " else each
        ended = True

    reader = csv.reader(counted(), delimiter=delimiter)
    while True:
        begin = 0
        # The limit is one of the process, and others have their own.
        before = csv.field_size_limit(_LONGEST_CELL)
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise TableError(
                f"Line {begin} of {source} cannot be split into cells ({error}): "
                "correct the text."
            ) from None
        finally:
            csv.field_size_limit(before)
        # Only a record that is not complete makes the reader ask for more lines.
        if ended and whole:
            raise TableError(
                f"The record of {source} that begins in line {begin} never ends: a "
                "quotation mark is not closed. Close it."
            )
        cells = [cell.strip() for cell in row]
        if any(cells) or len(cells) > 1:
            yield begin, cells


def single_spaces(line: str) -> str:
    """Replace runs of spaces, which often align columns, by one space."""
    text = line.rstrip("\r\n")
    end = line[len(text) :]
    return _QUOTED_OR_SPACES.sub(lambda match: match[1] or " ", text.strip(" ")) + end


def is_comment(line: str, sign: str) -> bool:
    """Return whether a line is a comment, rather than a row that begins with #N/A."""
    return bool(sign) and line.startswith(sign) and not _CELL.match(line)


# ---------------------------------------------------------------- the whole layout


def look_at(lines: Sequence[str], source: str, choice: Choice) -> Layout:
    r"""Return how a text is written, from its first lines.

    Examples
    --------
    >>> from trueaxis.io.layout import Choice, look_at
    >>> text = "Run 7\na;b\nmm;kg\n1,5;2\n2,5;3\n"
    >>> layout = look_at(text.splitlines(True), "a.csv", Choice())
    >>> layout.delimiter, layout.names, layout.units, layout.first_line
    (';', ('a', 'b'), ('mm', 'kg'), 4)
    """
    delimiter = _DELIMITER_NAMES.get(choice.delimiter.lower(), choice.delimiter)
    skip = choice.skip
    sep = _SEP.match(lines[0]) if lines and not skip else None
    if sep:
        skip = 1
        delimiter = sep[1] if delimiter == "auto" else delimiter
    lines = lines[skip:]
    sign = {"auto": "#", "none": ""}.get(choice.comment, choice.comment)
    if delimiter == "auto":
        delimiter = _find_delimiter(lines, sign, choice.decimal)
    elif len(delimiter) != 1 or delimiter in '"\r\n':
        raise TableError(
            f"{delimiter!r} cannot separate cells: --read delimiter must be one "
            "character, tab or space."
        )
    records = split_records(lines, delimiter, sign, source, line=skip + 1, whole=False)
    rows = [record for record in records if any(record[1])]
    # A comment above the rows may have their names, as numpy.savetxt writes it.
    marks = [is_comment(line, sign) for line in lines]
    above = lines[marks.index(False) - 1] if marks[0] and not all(marks) else ""
    commented = split_records([above[len(sign) :]], delimiter, "", "", whole=False)
    layout = layout_of(rows, source, choice.header, [cells for _, cells in commented])
    return replace(layout, delimiter=delimiter, comment=sign)


def layout_of(
    rows: list[Record],
    source: str,
    header: str,
    commented: Sequence[list[str]] = (),
    noun: str = "Line",
) -> Layout:
    """Return the layout of records that are not empty, as `look_at` does.

    `commented` has the cells of a comment above them, which may be names of columns;
    `noun` is what a record is called in notes.
    """
    if not rows:
        raise TableError(f"{source} is empty: there are no rows to analyze.")
    notes: list[str] = []
    names, units, body = _find_header(rows, source, header, noun, notes)
    if not names and commented and header == "auto":
        names = commented[0] if len(commented[0]) == len(units) else []
    alike = [cells for _, cells in body if len(cells) == len(units)]
    columns = [*map(list, zip(*alike, strict=True))] or [[] for _ in units]
    complete = [f"x{i}" for i in range(len(units))]
    row_names = None
    if names:
        complete = [name or f"column {i}" for i, name in enumerate(names, start=1)]
        complete = _distinct_names(complete, notes)
        if len(names) > 1 and not names[0] and _are_row_names(columns[0]):
            row_names = complete[0]
    shown = dict(zip(complete, columns, strict=True))
    if row_names is not None:  # says nothing about the decimal sign
        del shown[row_names]
    return Layout(
        ",", "", body[0][0] if body else rows[-1][0] + 1, tuple(complete), tuple(units),
        frozenset(i for i, name in enumerate(names or units) if not name or not names),
        bool(names), row_names, find_decimal(shown), tuple(notes),
    )  # fmt: skip


def describe(layout: Layout, encoding: str, choice: Choice) -> list[str]:
    """Return one sentence about what was guessed, if it is not the usual."""
    parts = []
    width = len(layout.names)
    if encoding not in ("utf-8", "utf-8-sig", "ascii") and choice.encoding == "auto":
        parts.append(_SPOKEN.get(encoding, f"{encoding.upper()} text"))
    if layout.delimiter != "," and width > 1 and choice.delimiter == "auto":
        sign = _SIGNS.get(layout.delimiter, repr(layout.delimiter))
        parts.append(f"cells separated by {sign}")
    if layout.decimal.mark == "," and choice.decimal == "auto":
        parts.append("with decimal commas")
    if not layout.named and choice.header == "auto":
        columns = f"columns x0 to x{width - 1}" if width > 1 else "column x0"
        parts.append(f"without a header ({columns})")
    if not parts:
        return []
    start = "Read " if parts[0].startswith("with") else "Read as "
    return [f"{start}{', '.join(parts)}."]


# ---------------------------------------------------------------- delimiter


def _find_delimiter(lines: Sequence[str], comment: str, decimal: str) -> str:
    """Find the delimiter: it gives records of equal length, and cells with numbers."""
    quoted = any('"' in line for line in lines)
    best, most = ",", (0.0, 0.0, 0)
    for delimiter in _DELIMITERS:
        rows = _some_records(lines, delimiter, comment)
        width, alike = Counter(map(len, rows)).most_common(1)[0] if rows else (1, 0)
        equal = alike / max(len(rows), 1)
        cells = [cell for row in rows for cell in row][-_DELIMITER_CELLS:]
        share = sum(map(is_number, cells)) / max(len(cells), 1)
        if delimiter == "," and not quoted:
            if decimal == "," or _is_decimal_comma(rows):
                best = ";"  # one column with decimal commas, unless others fit better
                continue
        if width == 1 or equal < 0.5 or (delimiter == " " and not share):
            continue
        # Prefer records of equal length; then numbers to cells like "5;2".
        if (float(equal == 1), share, width) > most:
            best, most = delimiter, (float(equal == 1), share, width)
    return best


def _is_decimal_comma(rows: Sequence[list[str]]) -> bool:
    """Return whether a comma only separates the decimals of a single column."""
    if len(rows) < 2 or len(rows[0]) != 1:
        return False
    return all(
        len(row) in (1, 2) and _WITH_COMMA.fullmatch(",".join(row)) for row in rows[1:]
    )


def _some_records(
    lines: Sequence[str], delimiter: str, comment: str
) -> list[list[str]]:
    """Return the first records, or none if the text cannot be split like that."""
    records = split_records(lines, delimiter, comment, "", whole=False)
    try:
        filled = (cells for _, cells in records if any(cells))
        return [*islice(filled, _SAMPLE_RECORDS)]
    except TableError:  # raised again when the whole text is read
        return []


# ---------------------------------------------------------------- title and header


def _find_header(
    rows: list[Record], source: str, header: str, noun: str, notes: list[str]
) -> tuple[list[str], list[str], list[Record]]:
    """Return names of columns, none if there are none, their units, and the rows."""
    counts = Counter(len(cells) for _, cells in rows)
    width = max(counts, key=lambda width: (counts[width], width))
    start = next(i for i, (_, cells) in enumerate(rows) if len(cells) == width)
    # Spreadsheets write as many cells for a title as for a row.
    first = start
    while width > 2 and first + 1 < len(rows) and _is_title(rows[first][1]):
        first += 1
    below = [cell for cell in rows[first][1] if cell]
    if len(below) > 1 and not any(map(is_number, below)):
        start = first
    above, body = rows[:start], rows[start:]
    if above and len(above[-1][1]) == width + 1 and not above[-1][1][-1]:
        # Only the header ends with a delimiter.
        line, cells = above.pop()
        body = [(line, cells[:-1]), *body]
    alike = [cells for _, cells in body if len(cells) == width]
    names: list[str] = []
    short = above[-1][1] if above and header != "no" else None
    if short is not None and len(short) == width - 1:
        begins = {cells[0] for cells in alike}
        if not any(cells[-1] for cells in alike):
            if _is_header(short, [cells[:-1] for cells in alike]):
                names = [*short, ""]  # rows end with a delimiter, but not the header
        elif len(begins) == len(alike) and (
            not any(map(is_number, begins)) or _is_header(short, [c[1:] for c in alike])
        ):
            names = ["", *short]  # R leaves out the name of the column of row names
    if names:
        above.pop()
    else:
        named, doubts = _first_line_is_header(alike[0], alike[1:], header)
        notes += doubts
        if above and not (named or all(_is_title(cells) for _, cells in above)):
            raise ragged(source, above[-1], body[0][0], width)
        if named:
            names, body, alike = alike[0], body[1:], alike[1:]
    units = [""] * width
    for _ in range(_HEADER_LINES - 1):
        if not (names and len(alike) > 1 and header == "auto"):
            break
        if body[0][1] is not alike[0] or not _is_header(alike[0], alike[1:]):
            break
        second, line = alike[0], body[0][0]
        blank = [not a and b for a, b in zip(names[1:], second[1:], strict=True)]
        if len({*names}) < len(names) or any(blank):
            # A name above several columns stands above the first of them.
            for i in range(1, width):
                names[i] = names[i] or (names[i - 1] if second[i] else "")
            names = [f"{a} {b}".strip() for a, b in zip(names, second, strict=True)]
            what = "joined to the names of the line above"
        else:
            units = [cell.strip("()[]") for cell in second]
            what = "taken for units"
        notes.append(f"{noun} {line} has text above columns of numbers: it was {what}.")
        body, alike = body[1:], alike[1:]
    if above:
        notes.insert(0, not_part(above, noun, "skipped"))
    return names, units, body


def _is_header(cells: list[str], below: Sequence[list[str]]) -> bool:
    """Return whether a line has no number, and text above a column of numbers."""
    return not any(map(is_number, cells)) and any(
        cell and not is_missing(cell) and _mostly_numbers(below, i)
        for i, cell in enumerate(cells)
    )


def _mostly_numbers(rows: Sequence[list[str]], column: int) -> bool:
    cells = [row[column] for row in rows[:_SAMPLE_RECORDS]]
    given = [cell for cell in cells if not is_missing(cell)]
    return 2 * sum(map(is_number, given)) > len(given)


def _is_title(cells: list[str]) -> bool:
    """Return whether a line has a single cell with text."""
    given = [cell for cell in cells if cell]
    return len(given) == 1 and not is_number(given[0])


def not_part(records: Sequence[Record], noun: str, done: str) -> str:
    """Return the note about lines above or below the table."""
    first, last = records[0][0], records[-1][0]
    shown = next(cell for cell in records[0][1] if cell)
    if first == last:
        return f"{noun} {first} is not part of the table and was {done}: {shown!r}."
    return (
        f"{noun}s {first} to {last} are not part of the table and were {done}; the "
        f"first is {shown!r}."
    )


def ragged(source: str, record: Record, other: int, width: int) -> TableError:
    """Return the error for a line with too many or too few cells."""
    line, cells = record[0], len(record[1])
    return TableError(
        f"Line {line} of {source} has {cells} cell{'' if cells == 1 else 's'}, but "
        f"line {other} has {width}. Correct the line, or set --read delimiter, or "
        "--read skip if the lines above are not part of the table."
    )


def _first_line_is_header(
    first: list[str], rest: list[list[str]], header: str
) -> tuple[bool, list[str]]:
    """Return whether the first line is a header, and notes if that is doubtful."""
    if header != "auto":
        return header == "yes", []
    numbers = [i for i, cell in enumerate(first) if is_number(cell)]
    given = {i for i, cell in enumerate(first) if not is_missing(cell)}
    texts = given - {*numbers}
    if not numbers:
        return bool(texts), []
    if _are_names([first[i] for i in numbers], [[x[i] for i in numbers] for x in rest]):
        return True, [_AS_NAMES]
    if not texts:
        return False, []
    if not rest or any(is_number(row[column]) for row in rest for column in texts):
        return True, [_AS_NAMES]
    return False, [_AS_DATA]


def _are_names(cells: list[str], below: list[list[str]]) -> bool:
    """Return whether numbers above numbers are names, such as wavelengths and years.

    They are evenly spaced, as no row is, and whole above numbers with decimals, or in
    every column farther from the rows than three times the range of these.
    """
    some = below[: max(_FEWEST, _COMPARED_CELLS // len(cells))]
    given, rows = _values(cells), np.array([*map(_values, some)])
    if len(some) < _FEWEST or not _evenly_spaced(given):
        return False
    if any(map(_evenly_spaced, rows)):
        return False
    known = np.isfinite(rows).sum(axis=0) >= _FEWEST
    if not known.any():
        return False
    rows, given = rows[:, known], given[known]
    if (given % 1 == 0).all() and (np.nan_to_num(rows, nan=0.5) % 1 != 0).any(1).all():
        return True
    low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
    away = np.maximum(low - given, given - high)
    return bool((away > 3 * (high - low)).all())


def _evenly_spaced(numbers: NDArray[np.float64]) -> bool:
    steps = np.diff(numbers)
    if len(numbers) < _FEWEST or np.isnan(steps).any() or not steps[0]:
        return False
    return bool(np.allclose(steps, steps[0], rtol=1e-3, atol=0))


def _values(cells: list[str]) -> NDArray[np.float64]:
    """Parse numbers with either decimal sign, well enough to compare sizes."""
    found = [parse(cell, "," if "," in cell else ".") for cell in cells]
    return np.array([np.nan if each is None else each.value for each in found])


def _are_row_names(cells: list[str]) -> bool:
    """Return whether a column without a name, as pandas and R write it, names rows."""
    if len({*cells}) < len(cells):
        return False
    if not any(is_number(cell) or is_missing(cell) for cell in cells):
        return True
    # Counts, and times like 1962.25.
    return all(map(str.isdigit, cells)) or (
        len(cells) > 2 and bool((np.diff(_values(cells)) > 0).all())
    )


def _distinct_names(names: Sequence[str], notes: list[str]) -> list[str]:
    """Return names without repetitions; append to the notes if there are any."""
    taken, seen, distinct = {*names}, Counter[str](), list[str]()
    for name in names:
        seen[name] += 1
        new = name
        while seen[name] > 1 and new in taken:
            new = f"{name} ({seen[name]})"
            seen[name] += new in taken
        taken.add(new)
        distinct.append(new)
    changed = [new for name, new in zip(names, distinct, strict=True) if new != name]
    if changed:
        notes.append(
            f"Names of columns are repeated, and were numbered: {quote(changed)}."
        )
    return distinct
