"""Files of all formats: which one a file has, and its columns.

Text goes to `text`; this module opens and unpacks files, and reads the other formats.
"""

from __future__ import annotations

import bz2
import datetime
import functools
import gzip
import io
import json
import lzma
import os
import re
import stat
import struct
import sys
import tokenize
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import Column, TableError, as_objects, quote
from trueaxis.data.memory import TooLarge, refuse_large, shown_size
from trueaxis.io.cells import (
    Cell,
    ColumnFacts,
    Place,
    Reading,
    mixed_column,
    notes_about,
)
from trueaxis.io.choice import Choice
from trueaxis.io.layout import layout_of
from trueaxis.io.text import TextBlocks, floats_of_arrow

STANDARD = "-"
MOST_PIPED = 1 << 28  # bytes of a pipe or device, which may never end
# A compressed file may unpack to so many times its size, or to MOST_PIPED bytes: text
# of numbers rarely shrinks to a tenth.
MOST_EXPANSION = 32
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")
TEXT = (".csv", ".tsv", ".txt", ".dat", ".data", "")
JSON = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
ARROW = (".feather", ".arrow", ".ipc")
SHEETS = (".xlsx", ".xls", ".xlsb", ".xlsm", ".ods")
NUMPY = (".npy", ".npz")
_MOST_CELLS = 1 << 26  # of JSON and sheets, which are held as Python's objects
_MOST_REPEATED = 1 << 14  # times that ODS repeats a cell
_CELL_NAME = re.compile(rb'<c [^<>]*?\br="([A-Z]{1,3})([0-9]{1,7})"')
_REPEATED_CELL = re.compile(rb"<table:table-cell [^<>]*repeated[^<>]*>")
_REPEATED = re.compile(rb'columns-repeated="([0-9]{1,18})"')
_STRINGS = ("string", "large_string", "string_view")
# What zipfile, NumPy and the like raise for what does not match its ending.
_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, KeyError,
    RuntimeError, TypeError, ValueError, tokenize.TokenError, OverflowError,
)  # fmt: skip


@dataclass(frozen=True)
class Content:
    """All columns of a file.

    Attributes
    ----------
    columns : tuple of Column
    place : callable
        Return the name of a row, such as "line 7", for messages.
    notes : tuple of str
        Guesses about the file that the user should know of.
    row_names : str or None
        A column without a name that holds row names.
    decimal : {".", ","}
        The decimal sign of text.
    raw : dict
        The cells of JSON and of sheets, by column, as Python's objects.
    """

    columns: tuple[Column, ...]
    place: Place = "row {}".format
    notes: tuple[str, ...] = ()
    row_names: str | None = None
    decimal: str = "."
    raw: dict[str, list[Any]] = field(default_factory=dict, repr=False)


def read_content(name: str, choice: Choice) -> Content:
    """Read all columns of a file, in the format that its ending tells."""
    ending = ending_of(name)
    if choice.sheet is not None and ending not in SHEETS:
        raise TableError(
            f"{display_name(name)} is not a spreadsheet and has no sheet "
            f"{choice.sheet!r}: leave out --read sheet."
        )
    if ending in NUMPY:
        X = read_numpy(Path(name)).astype(float)
        return Content(
            tuple(Column(f"x{i}", "number", each) for i, each in enumerate(X.T))
        )
    if ending in PARQUET + ARROW:
        return _arrow_content(name, choice)
    if ending in JSON:
        return _json_content(name, choice)
    if ending in SHEETS:
        return _sheet_content(name, choice)
    blocks = open_text(name, choice, keep=True)
    return Content(
        tuple(blocks.columns()), blocks.file.place, tuple(blocks.notes),
        blocks.row_names, blocks.reading.decimal,
    )  # fmt: skip


def open_text(name: str, choice: Choice, *, keep: bool = False) -> TextBlocks:
    """Open a text, which may be compressed or larger than memory."""
    return TextBlocks(opener_of(name), display_name(name), choice, keep=keep)


# ---------------------------------------------------------------- names and bytes


def ending_of(name: str) -> str:
    """Return the ending that tells the format, without that of a compression.

    Examples
    --------
    >>> from trueaxis.io.formats import ending_of
    >>> ending_of("pumps.CSV.gz"), ending_of("-")
    ('.csv', '')
    """
    path = Path("" if name == STANDARD else name)
    return Path(path.stem if compression_of(name) else path).suffix.lower()


def compression_of(name: str) -> str:
    """Return the ending of a compression; "" if there is none."""
    ending = Path(name).suffix.lower()
    return ending if name != STANDARD and ending in COMPRESSED else ""


def display_name(name: str) -> str:
    """Return what a file is called in messages."""
    return "standard input" if name == STANDARD else name


def opener_of(name: str) -> Callable[[], IO[bytes]]:
    """Return a function that opens the bytes of a file, unpacked, at their start.

    What can be read only once is held in memory.
    """
    if compression_of(name):
        return functools.partial(_open_compressed, name)
    if name != STANDARD and stat.S_ISREG(os.stat(name).st_mode):
        return lambda: open(name, "rb")
    content = read_bytes(name)
    return lambda: io.BytesIO(content)


def read_bytes(name: str) -> bytes:
    """Return the content of a file, unpacked, or of standard input."""
    if compression_of(name):
        with _open_compressed(name) as unpacked:
            return unpacked.read()
    if name == STANDARD:
        return _read_stream(sys.stdin.buffer, name)
    with open(name, "rb") as file:
        return _read_stream(file, name)


def _read_stream(stream: IO[bytes], name: str) -> bytes:
    """Return all bytes of a file, pipe or device; raise if these may never end."""
    try:
        ends = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except OSError:  # bytes in memory
        ends = True
    if ends:
        return stream.read()
    content = stream.read(MOST_PIPED + 1)
    if len(content) > MOST_PIPED:
        raise TableError(
            f"{display_name(name)} is not a file, and has not ended after "
            f"{shown_size(MOST_PIPED)}: what is not a file is held in memory, up to "
            "that. Save it to a file, and pass that."
        )
    return content


class _Unpacked(io.RawIOBase):
    """What is in a compressed file, up to a bound on its size."""

    def __init__(self, stream: IO[bytes], name: str, archive: Any = None) -> None:
        self._stream, self._name, self._archive = stream, name, archive
        self._size = os.stat(name).st_size
        self._most = max(MOST_PIPED, MOST_EXPANSION * self._size)
        self._read = 0

    def readable(self) -> bool:
        """Return that this can be read."""
        return True

    def readinto(self, out: Any) -> int:
        """Unpack some bytes."""
        try:
            data = self._stream.read(len(out))
        except (OSError, *_UNREADABLE) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the disk failed, not the format
            raise _damaged(self._name, error) from None
        self._read += len(data)
        if self._read > self._most:
            raise TableError(
                f"{self._name} has {shown_size(self._size)}, and unpacks to more than "
                f"{shown_size(self._most)}: so much is not unpacked. If that is "
                "meant, unpack it to a file, and pass that."
            )
        out[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        if self._archive is not None:
            self._archive.close()
        super().close()


def _damaged(name: str, error: Exception) -> TableError:
    return TableError(
        f"{name} cannot be unpacked ({error}): it is damaged or incomplete. Get or "
        "write it again."
    )


def _open_compressed(name: str) -> IO[bytes]:
    ending, archive = compression_of(name), None
    stream: Any
    try:
        if ending == ".zip":
            archive = zipfile.ZipFile(name)
            try:
                stream = archive.open(_only_file(archive))
            except BaseException:
                archive.close()
                raise
        elif ending == ".zst":
            fact = "is compressed by Zstandard"
            stream = require("pyarrow", name, fact, "unpack it").input_stream(
                name, compression="zstd"
            )
        else:
            openers: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
            stream = openers[ending](name, "rb")
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise _damaged(name, error) from None
    raw = _Unpacked(stream, name, archive)
    return io.BufferedReader(raw, 1 << 20)


def _only_file(archive: zipfile.ZipFile) -> str:
    files = [
        info.filename
        for info in archive.infolist()
        if not info.is_dir() and not info.filename.startswith("__MACOSX/")
    ]
    if len(files) != 1:
        listed = f": {', '.join(files[:5])}" if files else ""
        raise TableError(
            f"{archive.filename} has {len(files)} files{listed}. Unpack it, and pass "
            "the table."
        )
    return files[0]


def require(module: str, name: str, fact: str, remedy: str) -> Any:
    """Import a package that reads a format; raise if it is not installed."""
    import importlib

    package = {"python_calamine": "python-calamine"}.get(module, module)
    try:
        return importlib.import_module(module)
    except ImportError:
        raise TableError(
            f"{name} {fact}, but {package} is not installed: pip install "
            f"'trueaxis[io]', or {remedy}."
        ) from None


def reading_of(choice: Choice, place: Place = "row {}".format) -> Reading:
    """Return how the text in a file that has other cells as well is read."""
    return Reading(
        "," if choice.decimal == "," else ".", choice.words, place,
        given=choice.decimal != "auto", verbatim=choice.names_of_rows,
    )  # fmt: skip


# ---------------------------------------------------------------- Parquet, Feather


def read_arrow(name: str) -> Any:
    """Read a Parquet or Feather file as a table of pyarrow."""
    parquet = ending_of(name) in PARQUET
    what = "is a Parquet file" if parquet else "is an Arrow file"
    pyarrow = require("pyarrow", name, what, "save it as CSV")
    content = pyarrow.py_buffer(read_bytes(name)) if compression_of(name) else None
    try:
        # Opened here, for clearer errors than those of pyarrow.
        with open(name, "rb") as file:
            source = pyarrow.BufferReader(content) if content is not None else file
            if parquet:
                require("pyarrow.parquet", name, what, "save it as CSV")
                return _read_parquet(pyarrow, source, name)
            require("pyarrow.ipc", name, what, "save it as CSV")
            return pyarrow.ipc.open_file(source).read_all()
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk failed, not the format
        if isinstance(error, MemoryError):
            raise TooLarge(
                f"{name} asks for more memory than there is ({error}): if it is not "
                "damaged, read some of its columns with another program, and save them."
            ) from None
        raise TableError(
            f"{name} is not a complete {'Parquet' if parquet else 'Arrow'} file "
            f"({str(error).strip()}): write it again."
        ) from None


def read_arrow_blocks(name: str) -> Iterator[Any]:
    """Yield a Parquet file a few rows at a time, or a Feather file at once."""
    if ending_of(name) not in PARQUET or compression_of(name):
        yield read_arrow(name)
        return
    pyarrow = require("pyarrow", name, "is a Parquet file", "save it as CSV")
    require("pyarrow.parquet", name, "is a Parquet file", "save it as CSV")
    with pyarrow.parquet.ParquetFile(name) as opened:
        yield opened.schema_arrow.empty_table()
        for batch in opened.iter_batches(1 << 16):
            yield pyarrow.Table.from_batches([batch])


def _read_parquet(pyarrow: Any, source: Any, name: str) -> Any:
    """Read columns of a Parquet file, which may have many rows in a few kB.

    Text stays coded: a long value that is stored once may stand in all rows.
    """
    opened = pyarrow.parquet.ParquetFile(source)
    schema, rows = opened.schema_arrow, opened.metadata.num_rows
    width = len(schema.names)
    refuse_large(
        8 * rows * width, f"{name}, which has {rows:,} rows and {width:,} columns,",
        "Keep fewer columns or rows of it with another program.", share=0.8,
    )  # fmt: skip
    texts = [each.name for each in schema if str(each.type) in _STRINGS]
    source.seek(0)
    return pyarrow.parquet.ParquetFile(source, read_dictionary=texts).read()


def data_columns(schema: Any) -> list[str]:
    """Return all columns except the index of the data frame that was written."""
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    index = {column for column in stored if isinstance(column, str)}
    index.add("__null_dask_index__")
    return [name for name in schema.names if name not in index] or list(schema.names)


def _arrow_content(name: str, choice: Choice) -> Content:
    """Return the columns of a Parquet or Feather file, except a data frame's index."""
    table = read_arrow(name)
    if not table.column_names:
        raise TableError(f"{name} has no columns: there is nothing to analyze.")
    repeated, times = Counter(table.column_names).most_common(1)[0]
    if times > 1:
        raise TableError(
            f"{name} has {times} columns named {repeated!r}: give each column its own "
            "name."
        )
    reading = reading_of(choice)
    reading.unwanted = choice.unwanted(table.column_names)
    data = {*data_columns(table.schema), *reading.verbatim}
    names = [each for each in table.column_names if each in data]
    reading.decide(
        {
            each: _texts_of_arrow(table.column(each))
            for each in names
            if _is_text(table.column(each).type)
        }
    )
    facts: list[ColumnFacts] = []
    columns = [_column_of_arrow(n, table.column(n), reading, facts) for n in names]
    return Content(
        tuple(columns), notes=tuple(notes_about(facts, reading.place)),
        decimal=reading.decimal,
    )  # fmt: skip


def _column_of_arrow(
    name: str, cells: Any, reading: Reading, facts: list[ColumnFacts]
) -> Column:
    """Return a column of pyarrow as numbers, or as Python's objects."""
    from pyarrow import compute, types

    kind = cells.type
    if types.is_dictionary(kind) and not _is_text(kind):
        cells = compute.cast(cells, kind.value_type)
        kind = cells.type
    if name in reading.verbatim:  # without a detour over floats
        found = _texts_of_arrow(cells) if _is_text(kind) else cells.to_pylist()
        names = ["" if cell is None else str(cell) for cell in found]
        return Column(name, "text", as_objects(names))
    if _is_text(kind):
        return _column_of_text(name, _texts_of_arrow(cells), reading, facts)
    if is_arrow_number(kind):
        floats = compute.cast(cells, "float64", safe=False)
        parts = [floats_of_arrow(chunk) for chunk in floats.chunks]
        return Column(name, "number", np.concatenate([np.zeros(0), *parts]))
    calendar = types.is_temporal(kind)
    return Column(
        name, "calendar" if calendar else "nested", as_objects(cells.to_pylist())
    )


def _is_text(kind: Any) -> bool:
    return str(getattr(kind, "value_type", kind)) in _STRINGS


def _texts_of_arrow(cells: Any) -> list[str | None]:
    """Return text as Python's, every value of a dictionary only once."""
    out: list[str | None] = []
    for chunk in cells.chunks:
        if not hasattr(chunk, "dictionary"):
            out += chunk.to_pylist()
            continue
        values = chunk.dictionary.to_pylist()
        out += [None if i is None else values[i] for i in chunk.indices.to_pylist()]
    return out


def is_arrow_number(kind: Any) -> bool:
    """Return whether a type of pyarrow is that of numbers, or has only nulls."""
    from pyarrow import types

    tests = (
        types.is_integer, types.is_floating, types.is_boolean, types.is_decimal,
        types.is_null,
    )  # fmt: skip
    return any(is_kind(kind) for is_kind in tests)


# ---------------------------------------------------------------- columns of objects


def _column_of_text(
    name: str,
    cells: Sequence[str | None],
    reading: Reading,
    facts: list[ColumnFacts],
) -> Column:
    """Return a column of text in memory: numbers, dates, or text."""
    texts = ["" if cell is None else cell.strip() for cell in cells]
    found = ColumnFacts(name)
    values = found.add(texts, 0, reading)
    kind, unit = found.kind(reading)
    if kind == "number" and values is not None:
        facts.append(found)
        return Column(name, kind, values, unit)
    return Column(name, kind, reading.known(texts), unit)


def _columns_of_objects(
    cells: dict[str, list[Any]], reading: Reading
) -> tuple[list[Column], list[str]]:
    """Return columns of Python's objects, and notes about their cells."""
    reading.decide(
        {
            name: [cell if isinstance(cell, str) else None for cell in column]
            for name, column in cells.items()
        }
    )
    facts: list[ColumnFacts] = []
    columns = [
        _column_of_objects(name, column, reading, facts)
        for name, column in cells.items()
    ]
    return columns, notes_about(facts, reading.place)


def _column_of_objects(
    name: str, cells: Sequence[Any], reading: Reading, facts: list[ColumnFacts]
) -> Column:
    kinds = {type(cell) for cell in cells if cell is not None}
    if name in reading.verbatim:
        return Column(name, "text", as_objects([*map(_as_name, cells)]))
    if str in kinds:  # dates among text are text, such as genes in Excel
        cells = [
            cell.isoformat() if hasattr(cell, "isoformat") else cell for cell in cells
        ]
        kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {int, float, bool}:
        numbers = [np.nan if cell is None else _as_float(cell) for cell in cells]
        return Column(name, "number", np.array(numbers, dtype=float))
    if kinds <= {int, float, bool, str}:
        # What is a number already must stay the same number.
        written = [
            cell if cell is None or isinstance(cell, str) else _written(cell, reading)
            for cell in cells
        ]
        return _column_of_text(name, written, reading, facts)
    bad = [
        (row, str(cell))
        for row, cell in enumerate(cells)
        if cell is not None and not isinstance(cell, (int, float))
    ]
    n = sum(cell is not None for cell in cells)
    if 2 * len(bad) < n and name not in reading.unwanted:
        words, first = [*{text for _, text in bad}], Cell(bad[0][1], name, bad[0][0])
        raise mixed_column(words, first, len(bad), n, reading.place)
    nested = bool(kinds & {dict, list})
    return Column(name, "nested" if nested else "calendar", as_objects(cells))


def _as_name(cell: Any) -> str:
    """Return a cell as the name of a row: 7 instead of 7.0."""
    if cell is None:
        return ""
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell) if whole else cell)


def _as_float(cell: float) -> float:
    try:
        return float(cell)
    except OverflowError:  # an integer beyond the largest float
        return float("inf")


def _written(cell: Any, reading: Reading) -> str:
    text = str(int(cell)) if isinstance(cell, bool) else repr(cell)
    return text.replace(".", reading.decimal)


# ---------------------------------------------------------------- JSON


def _json_content(name: str, choice: Choice) -> Content:
    """Read JSON lines, or a list of objects."""
    records, places = read_json(name)
    names = names_of_records(records, name)
    reading = reading_of(choice, places.__getitem__)
    reading.unwanted = choice.unwanted(names)
    cells = {each: [record.get(each) for record in records] for each in names}
    columns, notes = _columns_of_objects(cells, reading)
    return Content(
        tuple(columns), reading.place, tuple(notes), decimal=reading.decimal, raw=cells
    )


def read_json(name: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the objects in a file of JSON, and where each of them is."""
    records: list[dict[str, Any]] = []
    places: list[str] = []
    for record, place in _json_records(name):
        if not isinstance(record, dict):
            raise TableError(
                f"{name} has {type(record).__name__} {str(record)[:40]!r} in {place}, "
                'but every row must be an object such as {"flow": 1.5}.'
            )
        records.append(record)
        places.append(place)
    return records, places


def names_of_records(records: Sequence[dict[str, Any]], name: str) -> list[str]:
    """Return the keys of all objects, in their order."""
    names: dict[str, None] = {}
    for record in records:
        names |= dict.fromkeys(record)
    if not names:
        raise TableError(f"{name} is empty: there are no rows to analyze.")
    cells = len(names) * len(records)
    if cells > max(_MOST_CELLS, 100 * sum(map(len, records))):
        raise TooLarge(
            f"{name} has {len(records):,} rows with {len(names):,} different keys, "
            "most of which are in few rows: use the same keys in all rows."
        )
    return list(names)


def _json_records(name: str) -> Iterator[tuple[Any, str]]:
    try:
        text = read_bytes(name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(f"{name} is not UTF-8 text ({error}): convert it.") from None
    if text.lstrip().startswith("["):
        try:
            records = json.loads(text)
        except RecursionError:
            raise TableError(
                f"{name} is nested too deeply: write one object per row."
            ) from None
        except json.JSONDecodeError as error:
            raise TableError(
                f"{name} is not JSON: {error.msg} in line {error.lineno}, character "
                f"{error.colno}. Correct it."
            ) from None
        yield from ((record, f"row {i}") for i, record in enumerate(records))
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield json.loads(line), f"line {number}"
            except (json.JSONDecodeError, RecursionError) as error:
                cause = getattr(error, "msg", "nested too deeply")
                raise TableError(
                    f"Line {number} of {name} is not JSON ({cause}): write one object "
                    "per line, or a list of objects."
                ) from None


# ---------------------------------------------------------------- sheets


def _sheet_content(name: str, choice: Choice) -> Content:
    """Read a sheet like a text: it may have a title, units and notes below the rows."""
    grid, above, sheet, notes = _read_sheet(name, choice.sheet)
    cells = [[_sheet_cell(cell) for cell in row] for row in grid]
    records = [
        (number, row)
        for number, row in enumerate(cells, start=above + 1)
        if any(row) and number > choice.skip
    ]
    # Empty columns beside the table belong to no cell.
    used = [
        i for i in range(len(cells[0]) if cells else 0) if any(r[1][i] for r in records)
    ]
    records = [(number, [row[i] for i in used]) for number, row in records]
    layout = layout_of(records, name, header=choice.header, noun="Row")
    rows = [n - above - 1 for n, _ in records if n >= layout.first_line]
    while len(rows) > 1 and _is_remark(cells[rows[-1]], len(used)):
        notes.append(
            f"Row {above + rows[-1] + 1} of the sheet is not part of the table and was "
            f"left out: {next(filter(None, cells[rows[-1]]))!r}."
        )
        rows.pop()
    if not rows:
        raise TableError(f"{name} has a header, but no rows.")

    def place(row: int) -> str:
        return f"row {above + rows[row] + 1} of sheet {sheet!r}"

    reading = reading_of(choice, place)
    reading.unwanted = choice.unwanted(layout.names)
    row_names = layout.names[0] if layout.row_names else None
    if row_names is not None:
        reading.verbatim = {*reading.verbatim, row_names}
    objects = {
        name: [None if grid[row][i] == "" else grid[row][i] for row in rows]
        for name, i in zip(layout.names, used, strict=True)
    }
    columns, more = _columns_of_objects(objects, reading)
    columns = [
        replace(column, unit=column.unit or unit)
        for column, unit in zip(columns, layout.units, strict=True)
    ]
    return Content(
        tuple(columns), place, (*notes, *layout.notes, *more), row_names,
        reading.decimal, objects,
    )  # fmt: skip


def _sheet_cell(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))  # 1990, as the sheet shows it
    return cell.strip() if isinstance(cell, str) else str(cell)


def _is_remark(cells: Sequence[str], width: int) -> bool:
    return width > 2 and sum(map(bool, cells)) == 1


def _read_sheet(
    name: str, sheet: str | None
) -> tuple[list[list[Any]], int, str, list[str]]:
    """Return rows of a sheet, how many are empty above them, its name, and notes.

    Parameters
    ----------
    name : str
    sheet : str or None
        Name of the sheet, or its number from 1; the first that is not empty by default.
    """
    calamine = require(
        "python_calamine", name, "is a spreadsheet", "save the sheet as CSV"
    )
    content = io.BytesIO(read_bytes(name))
    if zipfile.is_zipfile(content):
        _refuse_far_cells(content, name)
    try:
        book = calamine.CalamineWorkbook.from_filelike(content)
        names = book.sheet_names
        chosen, rows = _choose_sheet(names, sheet, name), []
        for each in [chosen] if sheet is not None else names:
            chosen = each
            opened = book.get_sheet_by_name(chosen)
            above = (opened.start or (0, 0))[0]
            rows = opened.to_python(skip_empty_area=True)
            if any(any(cell != "" for cell in row) for row in rows):
                break
    except calamine.CalamineError as error:
        raise TableError(
            f"{name} cannot be read as a spreadsheet ({error}): save it again, or save "
            "the sheet as CSV."
        ) from None
    _complete_dates(rows)
    notes = []
    if sheet is None and len(names) > 1:
        others = quote([each for each in names if each != chosen])
        notes.append(
            f"Sheet {chosen!r} was read; --read sheet chooses another: {others}."
        )
    return rows, above, chosen, notes


def _refuse_far_cells(content: IO[bytes], name: str) -> None:
    """Raise if a sheet is so large that reading it would end the process.

    All cells between the first and the last one are in memory, however few there are.
    """
    size = content.seek(0, io.SEEK_END)
    try:
        with zipfile.ZipFile(content) as archive:
            for info in archive.infolist():
                if info.file_size > max(4 * MOST_PIPED, MOST_EXPANSION * size):
                    raise _too_large(name, shown_size(info.file_size))
                if "sheet" in info.filename and info.filename.endswith(".xml"):
                    with archive.open(info) as sheet:
                        _check_cells(sheet, name)
                elif info.filename == "content.xml":
                    with archive.open(info) as sheet:
                        _check_repeated(sheet, name)
    except (OSError, *_UNREADABLE) as error:
        if isinstance(error, TableError):
            raise
        return  # calamine says what is wrong
    finally:
        content.seek(0)


def _too_large(name: str, what: str) -> TableError:
    return TableError(
        f"{name} has a sheet of {what}, which does not fit into memory: delete the "
        "cells that are far from the table, or save it as CSV."
    )


def _check_cells(sheet: IO[bytes], name: str) -> None:
    rows, columns = set[int](), set[int]()
    for text in _pieces(sheet):
        for letters, number in _CELL_NAME.findall(text):
            column = 0
            for letter in letters:
                column = 26 * column + letter - ord("A") + 1
            columns.add(column)
            rows.add(int(number))
    if rows:
        height, width = max(rows) - min(rows) + 1, max(columns) - min(columns) + 1
        if height * width > _MOST_CELLS:
            raise _too_large(name, f"{height:,} x {width:,} cells")


def _check_repeated(sheet: IO[bytes], name: str) -> None:
    for text in _pieces(sheet):
        for cell in _REPEATED_CELL.findall(text):
            n = int(_REPEATED.search(cell)[1])  # type: ignore[index]
            if n > _MOST_REPEATED and b"value" in cell:
                raise _too_large(name, f"{n:,} equal cells")


def _pieces(sheet: IO[bytes]) -> Iterator[bytes]:
    """Yield the text of a sheet, so that every cell is whole in one of the pieces."""
    rest = b""
    for chunk in iter(lambda: sheet.read(1 << 20), b""):
        text = rest + chunk
        end = text.rfind(b"<") if len(text) < 1 << 22 else len(text)
        rest = text[end:]
        yield text[:end]
    yield rest


def _complete_dates(rows: list[list[Any]]) -> None:
    """Give dates a time in columns with times: calamine leaves out midnight."""
    for column in range(len(rows[0]) if rows else 0):
        kinds = {type(row[column]) for row in rows}
        if {datetime.date, datetime.datetime} <= kinds:
            for row in rows:
                if type(row[column]) is datetime.date:
                    midnight = datetime.time()
                    row[column] = datetime.datetime.combine(row[column], midnight)


def _choose_sheet(names: Sequence[str], sheet: str | None, file: str) -> str:
    if not names:
        raise TableError(f"{file} has no sheets: there are no rows to analyze.")
    if sheet is None:
        return names[0]
    if sheet in names:
        return sheet
    if sheet.isdigit() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise TableError(
        f"{file} has no sheet {sheet!r}; its {len(names)} sheets are "
        f"{', '.join(map(repr, names[:12]))}."
    )


# ---------------------------------------------------------------- NumPy


def read_numpy(path: Path) -> NDArray[Any]:
    """Read the table in a .npy file."""
    if path.suffix.lower() == ".npz":
        raise TableError(
            f"{path} is a model file, not a table: pass the file with the rows (score, "
            "transform and report --model take a model as well). If it holds arrays, "
            "save one of them as .npy."
        )
    try:
        with path.open("rb") as file:
            array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except (*_UNREADABLE, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk failed, not the format
        if "Object arrays" in str(error):
            raise TableError(
                f"{path} holds Python objects instead of plain numbers: save it as an "
                "array of floats."
            ) from None
        raise TableError(
            f"{path} is damaged, or was not written by numpy.save: save it again; if "
            "it is text, rename it to end in .csv, .tsv or .txt."
        ) from None
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise TableError(
            f"{path} holds an array of {array.dtype} with {array.ndim} dimensions: "
            "save numbers in two dimensions, rows and columns."
        )
    return array
