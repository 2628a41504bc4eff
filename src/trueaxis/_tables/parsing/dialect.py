"""Look at the first records of a text: how it is written, where its rows begin.

`text` reads all rows once this is known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from trueaxis._tables.parsing.cells import (
    TableError,
    are_codes,
    is_missing,
    is_number,
)
from trueaxis._tables.parsing.decimal_sign import DecimalSign, find_decimal
from trueaxis._tables.parsing.header import first_line_is_header
from trueaxis._tables.parsing.names import complete_names, distinct_names
from trueaxis._tables.parsing.records import (
    COMMENT,
    DELIMITER_NAMES,
    LINE,
    SAMPLE_RECORDS,
    Record,
    find_delimiter,
    is_comment,
    read_records,
)

SAMPLE_CHARACTERS = 1 << 16
_SAMPLE_LINES = 8  # however long they are
_HEADER_LINES = 3  # names, and up to two lines of units or subtitles
# The line that sets the delimiter for Excel.
_SEP = re.compile(r'"?sep=(.)"?[ ;,\t]*(\r\n|\r|\n|$)', re.IGNORECASE)
_SPOKEN = {"cp1252": "Windows-1252 text", "latin-1": "Latin-1 text"}
_SIGNS = {"\t": "tabs", " ": "spaces"}


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
    codes : frozenset of str
        Columns of digits that begin with zeros, such as 01067: they name something.
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
    codes: frozenset[str]
    notes: tuple[str, ...]


def look_at(
    sample: str,
    source: str,
    *,
    delimiter: str = "auto",
    header: str = "auto",
    decimal: str = "auto",
    skip: int = 0,
    comment: str = "auto",
) -> Layout:
    r"""Return how a text is written, from its first lines.

    Examples
    --------
    >>> from trueaxis._tables.parsing.dialect import look_at
    >>> layout = look_at("Run 7\na;b\nmm;kg\n1,5;2\n2,5;3\n", "a.csv")
    >>> layout.delimiter, layout.names, layout.units, layout.first_line
    (';', ('a', 'b'), ('mm', 'kg'), 4)
    """
    delimiter = DELIMITER_NAMES.get(delimiter.lower(), delimiter)
    if skip < 0:
        raise TableError(f"--skip is {skip}: give a number of lines, 0 or more.")
    sep = _SEP.match(sample) if not skip else None
    if sep:
        skip = 1
        delimiter = sep[1] if delimiter == "auto" else delimiter
    sign, commented = _find_comments(sample, comment, skip)
    found = find_delimiter(sample, sign, skip, decimal)
    if sign and comment == "auto" and _are_rows(sample, skip, found):
        sign, commented = "", ""
    if delimiter == "auto":
        delimiter = found
    elif len(delimiter) != 1 or delimiter in '"\r\n':
        raise TableError(
            f"{delimiter!r} cannot separate cells: --delimiter must be one character, "
            "tab or space."
        )
    records = [*read_records(sample, delimiter, sign, skip, source)]
    rows = [record for record in records if any(record[1])]
    layout = layout_of(rows, source, delimiter, sign, header, commented)
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
        names, row_names = complete_names(body.names, body.rows)
        names = distinct_names(names, notes)
    columns = _by_column([cells for _, cells in body.rows], names)
    # Names of rows say nothing about the decimal sign.
    shown = {name: columns[name] for name in names[1 if row_names else 0 :]}
    return Layout(
        delimiter,
        comment,
        body.rows[0][0] if body.rows else body.next_line,
        tuple(names),
        tuple(body.units),
        frozenset(i for i, name in enumerate(body.names) if not name),
        body.named,
        row_names,
        find_decimal(shown, points_are_clear=delimiter == ","),
        frozenset(
            name
            for name, cells in columns.items()
            if are_codes([cell for cell in cells if not is_missing(cell)])
        ),
        tuple(notes),
    )


def sample_of(text: str) -> str:
    """Return the first lines of a text: some, however long, or many if short."""
    end = 0
    for number, match in enumerate(LINE.finditer(text), start=1):
        end = match.end()
        if number >= _SAMPLE_LINES and end >= SAMPLE_CHARACTERS:
            break
    return text[:end]


def describe(layout: Layout, encoding: str, given: Collection[str]) -> list[str]:
    """Return one sentence about what was guessed, if it is not the usual.

    Parameters
    ----------
    layout : Layout
    encoding : str
    given : collection of str
        What the user has said: "encoding", "delimiter", "decimal" or "header".
    """
    parts = []
    if encoding not in ("utf-8", "utf-8-sig", "ascii") and "encoding" not in given:
        parts.append(_SPOKEN.get(encoding, f"{encoding.upper()} text"))
    if layout.delimiter != "," and len(layout.names) > 1 and "delimiter" not in given:
        sign = _SIGNS.get(layout.delimiter, repr(layout.delimiter))
        parts.append(f"cells separated by {sign}")
    if layout.decimal.mark == "," and "decimal" not in given:
        parts.append("with decimal commas")
    if not layout.named and "header" not in given:
        last = len(layout.names) - 1
        columns = f"columns x0 to x{last}" if last else "column x0"
        parts.append(f"without a header ({columns})")
    if not parts:
        return []
    start = "Read " if parts[0].startswith("with") else "Read as "
    return [f"{start}{', '.join(parts)}."]


def _find_comments(sample: str, comment: str, skip: int) -> tuple[str, str]:
    """Return the sign of comments, and the last comment above the first row.

    A table may begin with such a line that has its names, as numpy.savetxt writes it.
    """
    if comment == "none":
        return "", ""
    sign = COMMENT if comment == "auto" else comment
    lines = [match[0] for match in LINE.finditer(sample)][skip:]
    marked = [is_comment(line, sign) for line in lines]
    if not any(marked):
        return ("", "") if comment == "auto" else (sign, "")
    first = next((i for i, is_comment in enumerate(marked) if not is_comment), 0)
    return sign, lines[first - 1][len(sign) :] if first else ""


def _are_rows(sample: str, skip: int, delimiter: str) -> bool:
    """Return whether lines that begin with the sign of comments are rows."""
    records = [*read_records(sample, delimiter, "", skip, "")]
    width = Counter(len(cells) for _, cells in records).most_common(1)[0][0]
    return any(
        cells[0].startswith(COMMENT)
        and len(cells) == width > 1
        and any(map(is_number, cells[1:]))
        and all(is_number(cell) or is_missing(cell) for cell in cells[1:])
        for _, cells in records
    )


@dataclass(frozen=True)
class _Body:
    """Rows of a table, and the lines above them."""

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
        named, notes = first_line_is_header(alike[0], alike[1:], header)
        names = alike[0] if named else []
        rest, alike = (rest[1:], alike[1:]) if named else (rest, alike)
        if above and not (named or all(_is_title(cells) for _, cells in above)):
            line, cells = above[-1]
            raise ragged(source, line, len(cells), rest[0][0], width, delimiter)
    if not names and commented and header == "auto":
        words = next(read_records(commented, delimiter, "", 0, ""), (0, []))[1]
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
    if any(is_number(cell) for cell in cells):
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
    cells = [row[column] for row in rows[:SAMPLE_RECORDS]]
    given = [cell for cell in cells if not is_missing(cell)]
    return 2 * sum(map(is_number, given)) > len(given)


def _is_title(cells: list[str]) -> bool:
    """Return whether a line has a single cell with text."""
    given = [cell for cell in cells if cell]
    return len(given) == 1 and not is_number(given[0])


def _note_title(above: list[Record], noun: str) -> str:
    first = next(cell for cell in above[0][1] if cell)
    if len(above) == 1:
        return (
            f"{noun} {above[0][0]} is not part of the table and was skipped: {first!r}."
        )
    return (
        f"{noun}s {above[0][0]} to {above[-1][0]} are not part of the table and were "
        f"skipped; the first is {first!r}."
    )


def ragged(
    source: str, line: int, cells: int, other: int, width: int, delimiter: str
) -> TableError:
    """Return the error for a line with too many or too few cells."""
    return TableError(
        f"Line {line} of {source} has {cells} cell{'' if cells == 1 else 's'}, but "
        f"line {other} has {width} (separated by {delimiter!r}). Correct the line, or "
        "set --delimiter, or --skip if the lines above are not part of the table."
    )


def _by_column(rows: Sequence[list[str]], names: Sequence[str]) -> dict[str, list[str]]:
    alike = [row for row in rows if len(row) == len(names)]
    columns = zip(*alike, strict=True) if alike else ([] for _ in names)
    return {name: list(column) for name, column in zip(names, columns, strict=True)}
