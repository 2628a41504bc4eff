"""Split the rows of a text into columns: pyarrow does, or the csv module of Python.

Columns of plain numbers come out as floats; `numbers` reads the others.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.column import floats_of_arrow
from trueaxis._tables.parsing.cells import DASHES, MISSING, TableError, is_number
from trueaxis._tables.parsing.dialect import Layout, ragged
from trueaxis._tables.parsing.numbers import plain_numbers
from trueaxis._tables.parsing.text_file import (
    HEAD_BYTES,
    TextFile,
    TextFormat,
    contains,
    has_odd_quotes,
)

Cells = NDArray[Any] | list[str]  # floats, or text
_BLANK_LINE = re.compile(rb'^(?:[ \t]+|"[ \t]*")\r?$', re.MULTILINE)
_HEXADECIMAL = re.compile(rb"\b0[xX][0-9a-fA-F]")
_BLOCK_BYTES = 1 << 20  # larger ones do not fit into a cache
# Of more columns than rows, pyarrow would keep some 30 kB for each column.
_MANY_COLUMNS = 1 << 10


def split(
    file: TextFile, decimal: str, how: TextFormat, as_text: Collection[str]
) -> list[Cells]:
    """Return floats for columns of plain numbers, and text for all others."""
    file.rows = None
    width = len(file.layout.names)
    if width > max(_MANY_COLUMNS, file.content.count(b"\n")):
        return _split_wide(file, decimal, how, as_text)
    if not file.layout.delimiter.isascii():
        return _split_slowly(file)
    try:
        import pyarrow
    except ImportError:
        return _split_slowly(file)
    body = file.body()
    if not len(body):
        raise TableError(f"{file.source} has a header, but no rows.")
    if len(file.layout.names) == 1 and _BLANK_LINE.search(body):
        return _split_slowly(file)  # pyarrow would take it for a row
    # Searching for a single letter first is much faster.
    letters = contains(body, b"x") or contains(body, b"X")
    if letters and _HEXADECIMAL.search(body):
        as_text = file.layout.names  # pyarrow would take it for a number
    faulty: list[Any] = []
    options = arrow_options(file.layout, decimal, how, faulty, body)
    if not as_text and not contains(body, b'"'):
        numbers = _only_numbers(body, options, faulty)
        if numbers is not None:
            return [*numbers.T]
        faulty.clear()
    try:
        table = _read_arrow(body, options, file.layout, as_text)
    except pyarrow.ArrowInvalid:
        return _split_slowly(file)  # which says what is wrong
    if any(row.text.strip() for row in faulty) or _ends_in_quotes(body, table):
        return _split_slowly(file)
    if has_odd_quotes(body):  # an inch mark, or one that is open at the end
        deque(file.records(), maxlen=0)
    if not table.num_rows:
        raise TableError(f"{file.source} has a header, but no rows.")
    return _from_arrow(table)


def arrow_options(
    layout: Layout, decimal: str, how: TextFormat, faulty: list[Any], body: memoryview
) -> dict[str, Any]:
    """Return the options with which pyarrow reads rows.

    Parameters
    ----------
    layout : Layout
    decimal : {".", ","}
    how : TextFormat
    faulty : list
        Gets the lines with too many or too few cells, which are left out.
    body : memoryview
        The rows, or the first of them.
    """
    from pyarrow import csv

    def refuse(row: Any) -> str:
        faulty.append(row)
        return "skip"

    return {
        "read_options": csv.ReadOptions(
            # One thread: two take more CPU time, and do not count rows.
            use_threads=False,
            column_names=[str(i) for i in range(len(layout.names))],  # all distinct
            block_size=_block_size(body),
        ),
        "parse_options": csv.ParseOptions(
            delimiter=layout.delimiter,
            newlines_in_values=contains(body, b'"'),
            invalid_row_handler=refuse,
        ),
        "convert_options": csv.ConvertOptions(
            null_values=_null_values(how),
            strings_can_be_null=False,
            true_values=[],
            false_values=[],
            decimal_point=decimal,
        ),
    }


def _only_numbers(
    body: memoryview, options: dict[str, Any], faulty: list[Any]
) -> NDArray[np.float64] | None:
    """Read a text that has nothing but plain numbers; return None for any other.

    Block by block, which takes less time and memory than a table of pyarrow.
    """
    import pyarrow
    from pyarrow import csv

    names = options["read_options"].column_names
    convert = options["convert_options"]
    convert.column_types = dict.fromkeys(names, pyarrow.float64())
    numbers = np.empty((0, len(names)))
    n = 0
    try:
        source = pyarrow.BufferReader(pyarrow.py_buffer(body))
        for batch in csv.open_csv(source, **options):
            if faulty:
                return None
            if not n:  # the first rows are numbers: it is worth counting them all
                numbers = np.empty((_most_rows(body), len(names)))
            rows = numbers[n : n + batch.num_rows]
            for j, column in enumerate(batch.columns):
                rows[:, j] = floats_of_arrow(column)
            n += len(rows)
    except pyarrow.ArrowInvalid:
        return None
    return numbers[:n] if n and not faulty else None


def _most_rows(body: memoryview) -> int:
    """Return the number of lines, of which some may be blank."""
    whole: Any = body.obj
    start = len(whole) - len(body)
    return int(max(whole.count(b"\n", start), whole.count(b"\r", start))) + 1


def _read_arrow(
    body: memoryview, options: dict[str, Any], layout: Layout, as_text: Collection[str]
) -> Any:
    import pyarrow
    from pyarrow import csv

    options["convert_options"].column_types = {
        str(i): pyarrow.string()
        for i, name in enumerate(layout.names)
        if name in as_text
    }
    return csv.read_csv(pyarrow.BufferReader(pyarrow.py_buffer(body)), **options)


def _null_values(how: TextFormat) -> list[str]:
    """Return the words for missing cells; a dash is left to the rules, which tell."""
    words = (MISSING | how.words()) - DASHES
    return [*dict.fromkeys(
        form for word in words
        for form in (word, word.upper(), word.capitalize(), word.title())
    ), *how.na]  # fmt: skip


def _block_size(body: Any) -> int:
    """Return how much pyarrow reads at a time: more than the longest line."""
    head = bytes(body[:HEAD_BYTES])
    longest = max(map(len, head.split(b"\n")))
    return int(min(max(_BLOCK_BYTES, 64 * longest), 1 << 30))


def _ends_in_quotes(body: Any, table: Any) -> bool:
    """Return whether the last cell is open: pyarrow then takes the rest of the file."""
    if not contains(body, b'"') or not table.num_rows:
        return False
    last = [str(column[-1].as_py()) for column in table.columns]
    return any("\n" in cell or "\r" in cell for cell in last)


def _from_arrow(table: Any) -> list[Cells]:
    """Return the columns: views of one array of all numbers, or lists of text."""
    from pyarrow import types

    numeric = [
        j
        for j, kind in enumerate(table.schema.types)
        if types.is_floating(kind) or types.is_integer(kind) or types.is_null(kind)
    ]
    numbers = np.empty((table.num_rows, len(numeric)))
    start = 0
    # Batch by batch, so that the rows that are written stay in the cache.
    for batch in table.select(numeric).to_batches():
        rows = numbers[start : start + batch.num_rows]
        for j, column in enumerate(batch.columns):
            empty = types.is_null(column.type)
            rows[:, j] = np.nan if empty else floats_of_arrow(column)
        start += len(rows)
    columns: list[Cells] = [_texts(column) for column in table.columns]
    for i, j in enumerate(numeric):
        columns[j] = numbers[:, i]
    return columns


def _texts(column: Any) -> list[str]:
    from pyarrow import types

    kind = column.type
    if types.is_floating(kind) or types.is_integer(kind) or types.is_null(kind):
        return []
    if not types.is_string(kind):  # dates and times, written as ISO does
        column = column.cast("string")
    cells: list[str] = column.to_pylist()
    return [cell or "" for cell in cells] if column.null_count else cells


def _split_wide(
    file: TextFile, decimal: str, how: TextFormat, as_text: Collection[str]
) -> list[Cells]:
    """Split rows with many cells: each of them becomes numbers before the next."""
    if decimal != "." or b'"' in file.content:
        return _split_slowly(file)  # which knows more ways of writing
    names, missing = file.layout.names, {*_null_values(how)}
    kept = {*as_text}
    texts: dict[int, Cells] = {j: [] for j, name in enumerate(names) if name in kept}
    numbers: list[NDArray[np.float64]] = []
    for _, cells in file.records():
        if len(cells) != len(names):
            return _split_slowly(file)  # which says what is wrong
        for j, column in texts.items():
            column.append(cells[j])  # type: ignore[union-attr]
            cells[j] = ""
        given = np.array([cell not in missing for cell in cells])
        plain = plain_numbers([cell for cell in cells if cell not in missing])
        if plain is None:
            return _split_slowly(file)
        numbers.append(np.full(len(cells), np.nan))
        numbers[-1][given] = plain
    if not numbers:
        return _split_slowly(file)
    columns: list[Cells] = [*np.array(numbers).T]
    for j, column in texts.items():
        columns[j] = column
    return columns


def _split_slowly(file: TextFile) -> list[Cells]:
    """Split rows by the csv module; say which line has too many or too few cells."""
    records, layout = [*file.records()], file.layout
    rows = [record for record in records if any(record[1])]
    width = len(layout.names)
    if not rows:
        raise TableError(f"{file.source} has a header, but no rows.")
    end = len(records)
    while end > 1 and _is_footer(records[end - 1][1], width):
        end -= 1
    for line, cells in records[:end]:
        if len(cells) != width:
            right = next((at for at, row in rows if len(row) == width), None)
            other = layout.first_line - 1 if right is None else right
            raise ragged(file.source, line, len(cells), other, width, layout.delimiter)
    if end < len(records):
        file.notes.append(_note_footer(records[end:]))
        records = records[:end]
    return [list(column) for column in zip(*(c for _, c in records), strict=True)]


def _is_footer(cells: list[str], width: int) -> bool:
    """Return whether a line below the rows is a remark, rather than a row cut short."""
    return len(cells) != width and bool(cells[0]) and not is_number(cells[0])


def _note_footer(below: Sequence[tuple[int, list[str]]]) -> str:
    (line, cells), n = below[0], len(below)
    if n == 1:
        return f"Line {line} is not part of the table and was left out: {cells[0]!r}."
    return (
        f"Lines {line} to {below[-1][0]} are not part of the table and were left out; "
        f"the first is {cells[0]!r}."
    )


def without_empty_rows(file: TextFile, cells: list[Cells]) -> list[Cells]:
    """Leave out records whose cells are all empty; note them unless at the end."""
    empty = np.ones(len(cells[0]), dtype=bool)
    for column in cells:
        candidates = np.flatnonzero(empty)
        if not len(candidates):
            return cells
        if isinstance(column, np.ndarray):
            empty &= np.isnan(column)
        else:
            empty[candidates] = [not column[i].strip() for i in candidates.tolist()]
    # Words like NA are not empty cells.
    records = [*file.records()]
    for i in np.flatnonzero(empty).tolist():
        empty[i] = not any(records[i][1])
    if not empty.any():
        return cells
    kept = np.flatnonzero(~empty)
    if not len(kept):
        raise TableError(f"{file.source} has a header, but no rows.")
    lines = [records[i][0] for i in np.flatnonzero(empty) if i < kept[-1]]
    if len(lines) == 1:
        file.notes.append(f"Line {lines[0]} has only empty cells and was left out.")
    elif lines:
        file.notes.append(
            f"{len(lines):,} lines have only empty cells and were left out; the first "
            f"is line {lines[0]}."
        )
    file.rows = kept
    return [
        column[kept] if isinstance(column, np.ndarray) else [column[i] for i in kept]
        for column in cells
    ]
