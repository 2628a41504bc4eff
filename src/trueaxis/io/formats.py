"""Files of all formats: which one a file has, and its columns.

Text goes to `text`; this module opens and unpacks files, and reads the other formats.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import json
import lzma
import os
import re
import stat
import sys
import tokenize
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import TableError, quote
from trueaxis._files import STANDARD
from trueaxis.data.arrow import arrow_kind, data_columns
from trueaxis.data.memory import TooLarge, refuse_large, shown_size
from trueaxis.io.cells import Content, Reading, as_name, judged
from trueaxis.io.choice import Choice
from trueaxis.io.layout import layout_of, not_part
from trueaxis.io.text import Store, Text, floats_of_arrow, kept

_input: ContextVar[bytes | None] = ContextVar("input", default=None)
MOST_PIPED = 1 << 28  # bytes of a pipe or device, which may never end
# A compressed file may unpack to so many times its size, or to MOST_PIPED bytes: text
# of numbers rarely shrinks to a tenth.
MOST_EXPANSION = 32
COMPRESSED = (".gz", ".bz2", ".xz")
TEXT = (".csv", ".tsv", ".txt", ".dat", ".data", "")
JSON = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
ARROW = (".feather", ".arrow", ".ipc")
SHEETS = (".xlsx", ".xls", ".xlsb", ".xlsm", ".ods")
NUMPY = (".npy", ".npz")
_MOST_CELLS = 1 << 26  # of JSON and sheets, which are held as Python's objects
_MOST_REPEATED = 1 << 14  # columns of a sheet
_CELL_NAME = re.compile(rb'<(?:\w+:)?c [^<>]*?\br="([A-Z]{1,3})([0-9]{1,7})"')
_REPEATED = re.compile(
    rb"<table:table-cell [^<>]*columns-repeated=\"([0-9]{1,18})[^<>]*>"
)
_STRINGS = ("string", "large_string", "string_view")
# What NumPy and the like raise for what does not match its ending.
_UNREADABLE = (
    zlib.error, lzma.LZMAError, EOFError, ValueError, TypeError, tokenize.TokenError,
)  # fmt: skip


def read_content(name: str, choice: Choice) -> Content:
    """Read all columns of a file, in the format that its ending tells."""
    ending = ending_of(name)
    if choice.sheet is not None and ending not in SHEETS:
        raise TableError(
            f"{display_name(name)} is not a spreadsheet and has no sheet "
            f"{choice.sheet!r}: leave out --read sheet."
        )
    if ending in NUMPY:
        return _numpy_content(name, choice)
    if ending in PARQUET + ARROW:
        return _arrow_content(name, choice)
    if ending in JSON:
        return _json_content(name, choice)
    if ending in SHEETS:
        return _sheet_content(name, choice)
    return open_text(name, choice).content()


def open_text(name: str, choice: Choice, store: Store = kept) -> Text:
    """Read a text, which may be compressed; see `Text`."""
    return Text(opener_of(name), display_name(name), choice, store)


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
        return lambda: _open_compressed(name)
    if name != STANDARD and stat.S_ISREG(os.stat(name).st_mode):
        return lambda: open(name, "rb")
    content = read_bytes(name)
    return lambda: io.BytesIO(content)


@contextmanager
def kept_standard_input(source: str) -> Iterator[None]:
    """Let standard input be read more than once, if it is the source."""
    token = _input.set(read_bytes(STANDARD) if source == STANDARD else None)
    try:
        yield
    finally:
        _input.reset(token)


def read_bytes(name: str) -> bytes:
    """Return the content of a file, unpacked, or of standard input."""
    given = _input.get() if name == STANDARD else None
    if given is not None:
        return given
    if compression_of(name):
        stream = _open_compressed(name)
    else:
        stream = sys.stdin.buffer if name == STANDARD else open(name, "rb")
    with nullcontext(stream) if name == STANDARD else stream:
        try:
            ends = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
        except OSError:  # bytes in memory, or unpacked up to a bound
            ends = True
        content = stream.read(-1 if ends else MOST_PIPED + 1)
    if not ends and len(content) > MOST_PIPED:
        raise TableError(
            f"{display_name(name)} is not a file, and has not ended after "
            f"{shown_size(MOST_PIPED)}: what is not a file is held in memory, up to "
            "that. Save it to a file, and pass that."
        )
    return content


class _Unpacked(io.RawIOBase):
    """What is in a compressed file, up to a bound on its size."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream, self._name, self._read = stream, name, 0
        self._size = os.stat(name).st_size

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
            raise TableError(
                f"{self._name} cannot be unpacked ({error}): it is damaged or "
                "incomplete. Get or write it again."
            ) from None
        self._read += len(data)
        most = max(MOST_PIPED, MOST_EXPANSION * self._size)
        if self._read > most:
            raise TableError(
                f"{self._name} has {shown_size(self._size)}, and unpacks to more than "
                f"{shown_size(most)}: so much is not unpacked. If that is meant, "
                "unpack it to a file, and pass that."
            )
        out[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        super().close()


def _open_compressed(name: str) -> IO[bytes]:
    openers: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    stream = openers[compression_of(name)](name, "rb")
    return io.BufferedReader(_Unpacked(stream, name), 1 << 20)


def require(module: str, name: str, remedy: str) -> Any:
    """Import a package that a file needs; raise if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0].replace("_", "-")
        raise TableError(
            f"{name} needs {package}, which is not installed: pip install "
            f"'trueaxis[io]', or {remedy}."
        ) from None


# ---------------------------------------------------------------- Parquet, Feather


def read_arrow(name: str, *, coded: bool = False) -> Iterator[Any]:
    """Yield a Parquet file a few rows at a time, or a Feather file at once.

    The first block may be without rows. With `coded`, a long text that Parquet stores
    once, although it stands in many rows, is in memory once.
    """
    parquet = ending_of(name) in PARQUET
    module = "pyarrow.parquet" if parquet else "pyarrow.ipc"
    library = require(module, name, "save the table as CSV")
    import pyarrow

    try:
        # Opened here, for clearer errors than those of pyarrow.
        with open(name, "rb") as file:
            packed = compression_of(name)
            source = pyarrow.BufferReader(read_bytes(name)) if packed else file
            if not parquet:
                yield library.open_file(source).read_all()
                return
            opened = library.ParquetFile(source)
            schema = opened.schema_arrow
            texts = [each.name for each in schema if str(each.type) in _STRINGS]
            if coded:
                rows, width = opened.metadata.num_rows, len(schema.names)
                refuse_large(
                    8 * rows * width,
                    f"{name}, which has {rows:,} rows and {width:,} columns,",
                    "Keep fewer columns or rows of it with another program.", 0.8,
                )  # fmt: skip
                source.seek(0)
                opened = library.ParquetFile(source, read_dictionary=texts)
            yield opened.schema_arrow.empty_table()
            for batch in opened.iter_batches(1 << 16):
                yield pyarrow.Table.from_batches([batch])
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk failed, not the format
        raise TableError(
            f"{name} is not a complete {'Parquet' if parquet else 'Arrow'} file "
            f"({str(error).strip()}): write it again."
        ) from None


def _arrow_content(name: str, choice: Choice) -> Content:
    """Return the columns of a Parquet or Feather file, except a data frame's index."""
    blocks = [*read_arrow(name, coded=True)]
    import pyarrow

    table = pyarrow.concat_tables(blocks)
    if not table.column_names:
        raise TableError(f"{name} has no columns: there is nothing to analyze.")
    repeated, times = Counter(table.column_names).most_common(1)[0]
    if times > 1:
        raise TableError(
            f"{name} has {times} columns named {repeated!r}: give each column its own "
            "name."
        )
    reading = Reading(choice, table.column_names)
    data = {*data_columns(table.schema), *reading.verbatim}
    names = [name for name in table.column_names if name in data]
    return judged(
        {name: _cells_of_arrow(table.column(name), name in reading.verbatim)
         for name in names}, reading,
    )  # fmt: skip


def _cells_of_arrow(cells: Any, verbatim: bool) -> Any:
    """Return a column of pyarrow as an array of numbers, or as Python's objects."""
    from pyarrow import compute

    kind = cells.type.value_type if _is_coded(cells) else cells.type
    number = arrow_kind(kind) == "number" or str(kind) == "null"
    if number and not verbatim:
        floats = compute.cast(compute.cast(cells, kind), "float64", safe=False)
        parts = [floats_of_arrow(chunk) for chunk in floats.chunks]
        return np.concatenate([np.zeros(0), *parts])
    out: list[Any] = []
    for chunk in cells.chunks:
        if _is_coded(cells):
            values = chunk.dictionary.to_pylist()  # each of them only once
            indices = chunk.indices.to_pylist()
            out += [None if i is None else values[i] for i in indices]
        else:
            out += chunk.to_pylist()
    return out


def _is_coded(cells: Any) -> bool:
    return str(cells.type).startswith("dictionary")


# ---------------------------------------------------------------- JSON


def _json_content(name: str, choice: Choice) -> Content:
    """Read JSON lines, or a list of objects."""
    records, places = list[dict[str, Any]](), list[str]()
    names: dict[str, None] = {}
    for record, place in _json_records(name):
        if not isinstance(record, dict):
            raise TableError(
                f"{name} has {type(record).__name__} {str(record)[:40]!r} in {place}, "
                'but every row must be an object such as {"flow": 1.5}.'
            )
        records.append(record)
        places.append(place)
        names |= dict.fromkeys(record)
    if not names:
        raise TableError(f"{name} is empty: there are no rows to analyze.")
    if len(names) * len(records) > max(_MOST_CELLS, 100 * sum(map(len, records))):
        raise TooLarge(
            f"{name} has {len(records):,} rows with {len(names):,} different keys, "
            "most of which are in few rows: use the same keys in all rows."
        )
    cells = {each: [record.get(each) for record in records] for each in names}
    return judged(cells, Reading(choice, list(names), places.__getitem__))


def _json_records(name: str) -> Iterator[tuple[Any, str]]:
    number = 1
    try:
        text = read_bytes(name).decode("utf-8-sig")
        if text.lstrip().startswith("["):
            yield from ((x, f"row {i}") for i, x in enumerate(json.loads(text)))
            return
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield json.loads(line), f"line {number}"
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        at = getattr(error, "lineno", 1) + number - 1
        cause = getattr(error, "msg", getattr(error, "reason", "nested too deeply"))
        raise TableError(
            f"Line {at} of {name} is not JSON ({cause}): write one object per line, "
            "or a list of objects, in UTF-8."
        ) from None


# ---------------------------------------------------------------- sheets


def _sheet_content(name: str, choice: Choice) -> Content:
    """Read a sheet like a text: it may have a title, units and notes below the rows."""
    grid, sheet, notes = _read_sheet(name, choice.sheet)
    records = [
        (number, [as_name(cell).strip() for cell in row])
        for number, row in enumerate(grid, start=1)
        if number > choice.skip and any(cell != "" for cell in row)
    ]
    # Empty columns beside the table belong to no cell.
    columns = enumerate(zip(*(cells for _, cells in records), strict=True))
    used = [i for i, cells in columns if any(cells)]
    records = [(number, [cells[i] for i in used]) for number, cells in records]
    layout = layout_of(records, name, choice.header, noun="Row")
    body = [record for record in records if record[0] >= layout.first_line]
    n = len(body)
    while n > 1 and len(used) > 2 and sum(map(bool, body[n - 1][1])) == 1:
        n -= 1
    if n < len(body):
        notes.append(not_part(body[n:], "Row", "left out"))
    if not n:
        raise TableError(f"{name} has a header, but no rows.")
    rows = [number for number, _ in body[:n]]

    def place(row: int) -> str:
        return f"row {rows[row]} of sheet {sheet!r}"

    cells = {
        each: [None if (x := grid[row - 1][i]) == "" else x for row in rows]
        for each, i in zip(layout.names, used, strict=True)
    }
    reading = Reading(choice, layout.names, place, layout.row_names)
    return judged(cells, reading, (*notes, *layout.notes), layout.units)


def _read_sheet(name: str, sheet: str | None) -> tuple[list[list[Any]], str, list[str]]:
    """Return the rows of a sheet, its name, and notes.

    `sheet` is its name, or its number from 1; the first that is not empty by default.
    """
    calamine = require("python_calamine", name, "save the sheet as CSV")
    content = io.BytesIO(read_bytes(name))
    if zipfile.is_zipfile(content):
        _refuse_far_cells(content, name)
    try:
        book = calamine.CalamineWorkbook.from_filelike(content)
        names = book.sheet_names
        chosen = names if sheet is None else [each for each in names if each == sheet]
        if not chosen and sheet and sheet.isdigit():
            chosen = names[int(sheet) - 1 : int(sheet)] if int(sheet) else []
        if not chosen:
            raise TableError(
                f"{name} has no sheet {sheet!r}; its {len(names)} sheets are "
                f"{quote(names)}."
            )
        for read in chosen:
            rows = book.get_sheet_by_name(read).to_python(skip_empty_area=False)
            if any(any(cell != "" for cell in row) for row in rows):
                break
    except calamine.CalamineError as error:
        raise TableError(
            f"{name} cannot be read as a spreadsheet ({error}): save it again, or save "
            "the sheet as CSV."
        ) from None
    others = quote([each for each in names if each != read])
    note = f"Sheet {read!r} was read; --read sheet chooses another: {others}."
    return rows, read, [note] if sheet is None and len(names) > 1 else []


def _refuse_far_cells(content: IO[bytes], name: str) -> None:
    """Raise if a sheet is so large that reading it would end the process.

    All cells up to the last one are in memory, however few there are.
    """
    most = max(4 * MOST_PIPED, MOST_EXPANSION * content.seek(0, io.SEEK_END))
    try:
        with zipfile.ZipFile(content) as archive:
            for info in archive.infolist():
                n = 0
                if info.filename.endswith(".xml"):
                    with archive.open(info) as sheet:
                        n = _n_cells(sheet)
                if info.file_size > most or n > _MOST_CELLS:
                    raise TableError(
                        f"{name} has a sheet of {n:,} cells or {info.file_size:,} "
                        "bytes, which does not fit into memory: delete the cells that "
                        "are far from the table, or save it as CSV."
                    )
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError):
        pass  # calamine says what is wrong
    content.seek(0)


def _n_cells(sheet: IO[bytes]) -> int:
    """Return how many cells there are up to the last one of a sheet."""
    last, column, text = 0, 0, b""
    while chunk := sheet.read(1 << 20):
        text = text[-300:] + chunk  # so that every cell is whole in one of them
        for letters, row in _CELL_NAME.findall(text):
            last, number = max(last, int(row)), 0
            for letter in letters:
                number = 26 * number + letter - ord("A") + 1
            column = max(column, number)
        for cell in _REPEATED.finditer(text):
            if b"value" in cell[0]:  # of ODS; empty ones take no memory
                column = max(column, int(cell[1]))
    return (
        max(last, _MOST_REPEATED) * column if column > _MOST_REPEATED else last * column
    )


# ---------------------------------------------------------------- NumPy


def _numpy_content(name: str, choice: Choice) -> Content:
    """Read the table in a .npy file."""
    if ending_of(name) == ".npz":
        raise TableError(
            f"{name} is a model file, not a table: pass the file with the rows (score, "
            "transform and report --model take a model as well). If it holds arrays, "
            "save one of them as .npy."
        )
    try:
        with open(name, "rb") as file:
            array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except (*_UNREADABLE, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk failed, not the format
        raise TableError(
            f"{name} is damaged, or holds Python objects, or was not written by "
            "numpy.save: save an array of floats; if it is text, rename it to end in "
            ".csv, .tsv or .txt."
        ) from None
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise TableError(
            f"{name} holds an array of {array.dtype} with {array.ndim} dimensions: "
            "save numbers in two dimensions, rows and columns."
        )
    names = [f"x{i}" for i in range(array.shape[1])]
    X = array.astype(float)
    return judged(dict(zip(names, X.T, strict=True)), Reading(choice, names))
