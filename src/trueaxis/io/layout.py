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
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import TableError, quote
from trueaxis.io.cells import DecimalSign, find_decimal, is_missing, is_number, parse
from trueaxis.io.choice import Choice

Record = tuple[int, list[str]]  # line where it begins, and its cells
COMMENT = "#"
_DELIMITERS = ",;\t| "
_DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "space": " "}
_LONGEST_CELL = (1 << 31) - 1
_SAMPLE_RECORDS = 50
_DELIMITER_CELLS = 5000  # to check for numbers: the last ones, since headers are text
_HEADER_LINES = 3  # names, and up to two lines of units or subtitles
_COMPARED_ROWS, _COMPARED_CELLS = 200, 20_000  # with a first line of numbers
_FEWEST = 3  # numbers, and rows below them, that can be compared
# What spreadsheets write into cells whose formulas failed.
_ERROR_WORDS = re.compile(
    r"#(?:n/a|na|div/0!|value!|ref!|num!|name\?|null!)(?!\w)", re.IGNORECASE
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
_AS_DATA = (
    "The first line was read as data because {} (use --read header=yes if it is a "
    "header)."
)
_AS_NAMES = (
    "The first line was read as column names, although it has numbers, because {} (use "
    "--read header=no if it is data)."
)


@dataclass(frozen=True)
class Layout:
    """How the text of a table is written.

    Attributes
    ----------
    delimiter : str
    comment : str
        Sign at the start of lines that are left out; "" for none.
    first_line : int
        Line of the first row, counted from 1; all lines above it are skipped.
    names : tuple of str
        Names of the columns.
    units : tuple of str
        Units of the columns, "" where the file tells none.
    unnamed : frozenset of int
        Positions of columns without a name of their own.
    named : bool
        Whether the file has names of columns.
    row_names : bool
        Whether the first column has no name, as that of row names.
    decimal : DecimalSign
        What the first rows show about the decimal sign.
    notes : tuple of str
        Guesses that the user should know of.
    """

    delimiter: str
    comment: str
    first_line: int
    names: tuple[str, ...]
    units: tuple[str, ...]
    unnamed: frozenset[int]
    named: bool
    row_names: bool
    decimal: DecimalSign
    notes: tuple[str, ...]


# ---------------------------------------------------------------- encoding and records


def guess_encoding(data: bytes, source: str) -> str:
    """Return the name of the encoding of text, from its first bytes."""
    for bom, name in _BOMS.items():
        if data.startswith(bom):
            return name
    head = data[:4096]
    if b"\0" in head:
        # In UTF-16 without a mark, every other byte of Western text is 0.
        even, odd = head[::2].count(0), head[1::2].count(0)
        if even + odd > 0.2 * len(head) and not (even and odd):
            return "utf-16-le" if odd else "utf-16-be"
        raise TableError(
            f"{source} is not text: files in other formats must have their ending, "
            "such as .parquet, .xlsx or .npy; or save it as CSV (UTF-8)."
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

    Parameters
    ----------
    lines : iterable of str
        Lines with their ends.
    delimiter, comment, source : str
    line : int
        Number of the first line.
    whole : bool
        Whether the last line is that of the file, where all quotes must be closed.
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
    return bool(sign) and line.startswith(sign) and not _ERROR_WORDS.match(line)


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
    sign, commented = _find_comments(lines, choice.comment)
    found = _find_delimiter(lines, sign, choice.decimal)
    if sign and choice.comment == "auto" and _are_rows(lines, found):
        sign, commented = "", ""
    if delimiter == "auto":
        delimiter = found
    elif len(delimiter) != 1 or delimiter in '"\r\n':
        raise TableError(
            f"{delimiter!r} cannot separate cells: --read delimiter must be one "
            "character, "
            "tab or space."
        )
    records = [
        *split_records(lines, delimiter, sign, source, line=skip + 1, whole=False)
    ]
    rows = [record for record in records if any(record[1])]
    layout = layout_of(rows, source, delimiter, sign, choice.header, commented)
    first = layout.first_line
    for line, cells in reversed(records):
        # Empty rows below the header are rows, which are left out with a note.
        if layout.named and line < first:
            if any(cells):
                break
            first = line
    return replace(layout, first_line=first)


def layout_of(
    rows: list[Record],
    source: str,
    delimiter: str = ",",
    comment: str = "",
    header: str = "auto",
    commented: str = "",
    noun: str = "Line",
) -> Layout:
    """Return the layout of records that are not empty, as `look_at` does.

    Parameters
    ----------
    rows : list of Record
    source : str
    delimiter, comment, header : str
    commented : str
        The last comment above the first record, which may have the names.
    noun : str
        What a record is called in notes.
    """
    if not rows:
        raise TableError(f"{source} is empty: there are no rows to analyze.")
    body = _find_body(rows, delimiter, header, commented, source, noun)
    names, row_names = [f"x{i}" for i in range(len(body.names))], False
    notes = body.notes
    if body.named:
        names, row_names = _complete_names(body.names, body.rows)
        names = _distinct_names(names, notes)
    alike = [cells for _, cells in body.rows if len(cells) == len(names)]
    columns = zip(*alike, strict=True) if alike else ([] for _ in names)
    # Names of rows say nothing about the decimal sign.
    shown = dict([*zip(names, columns, strict=True)][1 if row_names else 0 :])
    return Layout(
        delimiter,
        comment,
        body.rows[0][0] if body.rows else body.next_line,
        tuple(names),
        tuple(body.units),
        frozenset(i for i, name in enumerate(body.names) if not name),
        body.named,
        row_names,
        find_decimal(shown),
        tuple(notes),
    )


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


# ---------------------------------------------------------------- delimiter, comments


def _find_delimiter(lines: Sequence[str], comment: str, decimal: str) -> str:
    """Find the delimiter: it gives records of equal length, and cells with numbers."""
    best, most = ",", (0.0, 0.0, 0)
    quoted = any('"' in line for line in lines)
    for delimiter in _DELIMITERS:
        rows = _some_records(lines, delimiter, comment)
        if delimiter == "," and not quoted:
            if decimal == "," or _is_decimal_comma(rows):
                continue
        width, alike = Counter(map(len, rows)).most_common(1)[0] if rows else (1, 0)
        equal = alike / max(len(rows), 1)
        cells = [cell for row in rows for cell in row][-_DELIMITER_CELLS:]
        share = sum(map(is_number, cells)) / max(len(cells), 1)
        if width == 1 or equal < 0.5 or (delimiter == " " and not share):
            continue
        # Prefer records of equal length; then numbers to cells like "5;2".
        if (float(equal == 1), share, width) > most:
            best, most = delimiter, (float(equal == 1), share, width)
    if most[0] == 0 and not quoted:
        if decimal == "," or _is_decimal_comma(_some_records(lines, ",", comment)):
            return ";"  # one column with decimal commas
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
    rows: list[list[str]] = []
    try:
        for _, row in split_records(lines, delimiter, comment, "", whole=False):
            if any(row):
                rows.append(row)
            if len(rows) == _SAMPLE_RECORDS:
                break
    except TableError:  # raised again when the whole text is read
        return []
    return rows


def _find_comments(lines: Sequence[str], comment: str) -> tuple[str, str]:
    """Return the sign of comments, and the last comment above the first row.

    A table may begin with such a line that has its names, as numpy.savetxt writes it.
    """
    if comment == "none":
        return "", ""
    sign = COMMENT if comment == "auto" else comment
    marked = [is_comment(line, sign) for line in lines]
    if not any(marked):
        return ("" if comment == "auto" else sign), ""
    first = marked.index(False) if not all(marked) else 0
    return sign, lines[first - 1][len(sign) :] if first else ""


def _are_rows(lines: Sequence[str], delimiter: str) -> bool:
    """Return whether lines that begin with the sign of comments are rows."""
    records = [*split_records(lines, delimiter, "", "", whole=False)]
    width = Counter(len(cells) for _, cells in records).most_common(1)[0][0]
    return any(
        cells[0].startswith(COMMENT)
        and len(cells) == width > 1
        and any(map(is_number, cells[1:]))
        and all(is_number(cell) or is_missing(cell) for cell in cells[1:])
        for _, cells in records
    )


# ---------------------------------------------------------------- header and body


@dataclass(frozen=True)
class _Body:
    """Rows of a table, and what is above them: names, units, a title."""

    names: list[str]
    named: bool
    units: list[str]
    rows: list[Record]
    next_line: int
    notes: list[str]


def _find_body(
    rows: list[Record],
    delimiter: str,
    header: str,
    commented: str,
    source: str,
    noun: str,
) -> _Body:
    """Tell title, header and rows apart."""
    counts = Counter(len(cells) for _, cells in rows)
    width = max(counts, key=lambda width: (counts[width], width))
    start = next(i for i, (_, cells) in enumerate(rows) if len(cells) == width)
    # Spreadsheets write as many cells for a title as for a row.
    while width > 2 and start + 1 < len(rows) and _is_title(rows[start][1]):
        below = [cell for cell in rows[start + 1][1] if cell]
        if len(below) < 2 or any(map(is_number, below)):
            break
        start += 1
    above, rest = rows[:start], rows[start:]
    notes: list[str]
    alike = [cells for _, cells in rest if len(cells) == width]
    if above and len(above[-1][1]) == width + 1 and not above[-1][1][-1]:
        # Only the header ends with a delimiter.
        line, cells = above.pop()
        rest, alike = [(line, cells[:-1]), *rest], [cells[:-1], *alike]
    short = above[-1][1] if above and len(above[-1][1]) == width - 1 else None
    if short is not None and header != "no" and _are_names_of_r(short, alike):
        # R leaves out the name of the column of row names; others end every row, but
        # not the header, with a delimiter.
        at_end = not any(cells[-1] for cells in alike)
        names = [*short, ""] if at_end else ["", *short]
        above, notes = above[:-1], []
    else:
        named, notes = _first_line_is_header(alike[0], alike[1:], header)
        names = alike[0] if named else []
        rest, alike = (rest[1:], alike[1:]) if named else (rest, alike)
        if above and not (named or all(_is_title(cells) for _, cells in above)):
            line, cells = above[-1]
            raise ragged(source, line, len(cells), rest[0][0], width, delimiter)
    if not names and commented and header == "auto":
        found = split_records([commented], delimiter, "", "", whole=False)
        words = next(found, (0, []))[1]
        names = words if len(words) == width else []
    units = [""] * width
    for _ in range(_HEADER_LINES - 1):
        if not (names and len(alike) > 1 and header == "auto"):
            break
        if rest[0][1] is not alike[0] or not _is_header_of(alike[0], alike[1:]):
            break
        subtitle, line = alike[0], rest[0][0]
        blank = [not a and b for a, b in zip(names[1:], subtitle[1:], strict=True)]
        if len({*names}) < len(names) or any(blank):
            # A name above several columns stands above the first of them.
            for i in range(1, width):
                names[i] = names[i] or (names[i - 1] if subtitle[i] else "")
            names = [f"{a} {b}".strip() for a, b in zip(names, subtitle, strict=True)]
            what = "joined to the names of the line above"
        else:
            units = [cell.strip("()[]") for cell in subtitle]
            what = "taken for units"
        notes.append(f"{noun} {line} has text above columns of numbers: it was {what}.")
        rest, alike = rest[1:], alike[1:]
    if above:
        notes.insert(0, _note_title(above, noun))
    last = rest[-1][0] if rest else rows[-1][0]
    return _Body(names or [""] * width, bool(names), units, rest, last + 1, notes)


def _is_header_of(cells: list[str], below: Sequence[list[str]]) -> bool:
    """Return whether a line has no number, and text above a column of numbers."""
    if any(map(is_number, cells)):
        return False
    offset = len(below[0]) - len(cells) if below else 0
    return any(
        cell and not is_missing(cell) and _mostly_numbers(below, i + offset)
        for i, cell in enumerate(cells)
    )


def _are_names_of_r(cells: list[str], below: Sequence[list[str]]) -> bool:
    """Return whether a line one cell shorter than the rows has their names."""
    if not any(row[-1] for row in below):  # the rows end with a delimiter
        return _is_header_of(cells, [row[:-1] for row in below])
    first = [row[0] for row in below]
    if len({*first}) < len(first):
        return False
    return not any(map(is_number, first)) or _is_header_of(cells, below)


def _mostly_numbers(rows: Sequence[list[str]], column: int) -> bool:
    cells = [row[column] for row in rows[:_SAMPLE_RECORDS]]
    given = [cell for cell in cells if not is_missing(cell)]
    return 2 * sum(map(is_number, given)) > len(given)


def _is_title(cells: list[str]) -> bool:
    """Return whether a line has a single cell with text."""
    given = [cell for cell in cells if cell]
    return len(given) == 1 and not is_number(given[0])


def _note_title(above: list[Record], noun: str) -> str:
    first, last = above[0][0], above[-1][0]
    shown = next(cell for cell in above[0][1] if cell)
    if first == last:
        return f"{noun} {first} is not part of the table and was skipped: {shown!r}."
    return (
        f"{noun}s {first} to {last} are not part of the table and were skipped; the "
        f"first is {shown!r}."
    )


def ragged(
    source: str, line: int, cells: int, other: int, width: int, delimiter: str
) -> TableError:
    """Return the error for a line with too many or too few cells."""
    return TableError(
        f"Line {line} of {source} has {cells} cell{'' if cells == 1 else 's'}, but "
        f"line {other} has {width} (separated by {delimiter!r}). Correct the line, or "
        "set --read delimiter, or --read skip if the lines above are not part of the "
        "table."
    )


def _first_line_is_header(
    first: list[str], rest: list[list[str]], header: str
) -> tuple[bool, list[str]]:
    """Return whether the first line is a header, and notes if that is doubtful."""
    if header != "auto":
        return header == "yes", []
    numeric = [*map(is_number, first)]
    numbers = [i for i, number in enumerate(numeric) if number]
    texts = [
        i for i, cell in enumerate(first) if not numeric[i] and not is_missing(cell)
    ]
    if not numbers:
        return bool(texts), []
    spaced, far = _looks_like_names([first[i] for i in numbers], numbers, rest)
    if not texts:
        if spaced and far:
            return True, [
                _AS_NAMES.format("they are evenly spaced and far from those below")
            ]
        return False, [_AS_DATA.format("it has only numbers")] if spaced or far else []
    if not rest or any(is_number(row[column]) for row in rest for column in texts):
        reason = "it has text in a column of numbers"
        return True, [] if far else [_AS_NAMES.format(reason)]
    if far and len(numbers) >= _FEWEST:
        return True, [_AS_NAMES.format("they are far from those below")]
    reason = "it has numbers and text in the same columns as the rest"
    return False, [_AS_DATA.format(reason)]


def _looks_like_names(
    cells: list[str], columns: list[int], rest: list[list[str]]
) -> tuple[bool, bool]:
    """Return whether numbers are evenly spaced, and whether they are far from the rest.

    Numbers are far if they rise or fall, and if in every column they are outside the
    range of the rows below by more than three times that range: wavelengths above
    absorbances, years above rates. A row of data that is both would be an outlier in
    all columns, in equal steps. The numbers 0, 1, 2, ... or 1, 2, 3, ..., which pandas
    writes for columns without names, are far as well if all rows below have decimals.
    """
    if len({*cells}) < len(cells) or len(cells) < 2:
        return False, False
    n_rows = max(_FEWEST, min(_COMPARED_ROWS, _COMPARED_CELLS // len(cells)))
    given = _values(cells)
    below = np.array([_values([row[i] for i in columns]) for row in rest[:n_rows]])
    below = below.reshape(-1, len(columns))
    known = (~np.isnan(below)).sum(axis=0) >= _FEWEST
    spaced = _evenly_spaced(given) and not any(_evenly_spaced(row) for row in below)
    steps = np.diff(given)
    if known.sum() < 2 or not ((steps > 0).all() or (steps < 0).all()):
        return spaced, False
    below, given = below[:, known], given[known]
    if cells in ([str(i + base) for i in range(len(cells))] for base in (0, 1)):
        finite = np.where(np.isfinite(below), below, 0.5)
        if (finite % 1 != 0).any(axis=1).all():
            return spaced, True
    low, high = np.nanmin(below, axis=0), np.nanmax(below, axis=0)
    away = np.maximum(low - given, given - high)
    return spaced, bool((away > 3 * (high - low)).all())


def _evenly_spaced(numbers: NDArray[np.float64]) -> bool:
    steps = np.diff(numbers)
    if len(numbers) < _FEWEST or np.isnan(steps).any() or not steps[0]:
        return False
    return bool(np.allclose(steps, steps[0], rtol=1e-3, atol=0))


def _values(cells: list[str]) -> NDArray[np.float64]:
    """Parse numbers with either decimal sign, well enough to compare sizes."""
    found = [parse(cell, "," if "," in cell else ".") for cell in cells]
    return np.array([np.nan if each is None else each.value for each in found])


def _complete_names(
    names: Sequence[str], rows: Sequence[Record]
) -> tuple[list[str], bool]:
    """Name all columns; also return whether the first holds row names."""
    complete = [name or f"column {i}" for i, name in enumerate(names, start=1)]
    first = [cells[0] for _, cells in rows]
    whole = all(cell.isascii() and cell.isdigit() for cell in first)
    text = not any(is_number(cell) or is_missing(cell) for cell in first)
    # pandas and R write such a column by default; R writes times like 1962.25, too.
    numbers = [parse(cell, ".") for cell in first]
    rising = all(
        a is not None and b is not None and a.value < b.value
        for a, b in pairwise(numbers)
    )
    named = whole or text or (rising and len(first) > 2)
    distinct = len({*first}) == len(first)
    return complete, len(names) > 1 and not names[0] and distinct and named


def _distinct_names(names: Sequence[str], notes: list[str]) -> list[str]:
    """Return names without repetitions; append to the notes if there are any."""
    taken = {*names}
    seen: Counter[str] = Counter()
    distinct: list[str] = []
    for name in names:
        seen[name] += 1
        new = name
        while new != name and new in taken or seen[name] > 1 and new == name:
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
