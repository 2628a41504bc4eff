"""Write tables as text, JSON lines, Parquet, Feather, Excel or .npy files.

The ending of the name gives the format; a further ending such as .gz compresses the
file. `original` writes the rows of a file again.
"""

from __future__ import annotations

import bz2
import csv
import datetime
import gzip
import io
import json
import lzma
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from trueaxis._columns import TableError
from trueaxis._files import (
    as_json,
    as_text,
    atomic_write,
    check_target,
    harmless,
)
from trueaxis.io.formats import (
    ARROW,
    JSON,
    PARQUET,
    STANDARD,
    compression_of,
    ending_of,
    require,
)

Fields = dict[str, Any]  # name and values of every column

ENDINGS = (
    ".csv", ".tsv", ".txt", ".jsonl", ".parquet", ".feather", ".arrow", ".xlsx", "",
)  # fmt: skip
_OTHER_NAMES = (".ndjson", ".pq", ".ipc", ".dat", ".data")  # of the same formats
_COMPRESSIONS = (".gz", ".bz2", ".xz")  # of text and JSON lines
_TEXT_ROWS = 1 << 14  # are text in memory at a time
_SHEET_ROWS, _SHEET_COLUMNS = 1 << 20, 1 << 14  # the most that Excel takes
_LARGEST_EXACT = 1 << 53  # integers beyond it are rounded in a sheet
# Spreadsheets run text that begins with one of these signs as a formula, some of them
# after a control character.
_FORMULA = re.compile(r"[=+\-@\x00-\x1f]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?", re.IGNORECASE)
_guards: ContextVar[bool] = ContextVar("guards", default=False)


def write_table(path: str | Path, fields: Fields) -> None:
    """Write columns to a file, or to standard output as CSV.

    Parameters
    ----------
    path : str or Path
        The suffix gives the format; "-" writes CSV to standard output.
    fields : dict
        Name and values of every column, all of the same length. Values may be None.
    """
    name = str(path)
    if ending_of(name) != ".npy":
        refuse_ending(name)
    n = len(next(iter(fields.values()), ()))
    with open_target(name) as file:
        write_content(file, name, iter([fields]), n)


def write_content(
    file: IO[bytes],
    name: str,
    blocks: Iterator[Fields],
    n: int,
    metadata: dict[bytes, bytes] | None = None,
) -> None:
    """Write a table of n rows to an open file, in the format that its name tells.

    `metadata` is that of the schema of Parquet and Feather files.
    """
    ending = ending_of(name)
    if ending in PARQUET + ARROW:
        _write_arrow(file, name, blocks, metadata)
    elif ending == ".npy":
        _write_numbers(file, name, blocks, n)
    elif ending == ".xlsx":
        _write_sheet(file, name, blocks, n)
    elif ending in JSON:
        _write_json(file, ending == ".json", blocks)
    else:
        _write_text(file, "\t" if ending == ".tsv" else ",", blocks)


# ---------------------------------------------------------------- single values


@contextmanager
def formulas_guarded() -> Iterator[None]:
    """Guard cells of text that are written in this context against spreadsheets.

    Examples
    --------
    >>> from trueaxis.io.write import formulas_guarded, guarded
    >>> with formulas_guarded():
    ...     [guarded(cell) for cell in ("=1+1", "-5", "-x", 3.5)]
    ["'=1+1", '-5', "'-x", 3.5]
    """
    token = _guards.set(True)
    try:
        yield
    finally:
        _guards.reset(token)


def guarded(cell: Any) -> Any:
    """Return a cell of text with a ' before what a spreadsheet takes for a formula."""
    if not (_guards.get() and isinstance(cell, str) and _FORMULA.match(cell)):
        return cell
    return cell if _NUMBER.fullmatch(cell) else f"'{cell}"


# ---------------------------------------------------------------- text


def _write_text(file: IO[bytes], delimiter: str, blocks: Iterator[Fields]) -> None:
    for number, fields in enumerate(blocks):
        if number == 0:
            _write_lines(file, delimiter, [[*map(guarded, fields)]])
        n = max(map(len, fields.values()), default=0)
        for start in range(0, n, _TEXT_ROWS):
            some = slice(start, start + _TEXT_ROWS)
            cells = [_text_cells(values[some]) for values in fields.values()]
            _write_lines(file, delimiter, zip(*cells, strict=True))


def _write_lines(
    file: IO[bytes], delimiter: str, rows: Iterable[Sequence[Any]]
) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    file.write(text.getvalue().encode("utf-8"))


def _text_cells(values: Any) -> Iterable[Any]:
    """Return a column as cells that the csv module writes as `as_text` does."""
    cells = _items(values)
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return ["" if cell != cell else cell for cell in cells]
    return (guarded(as_text(cell)) for cell in cells)


def _items(values: Any) -> list[Any]:
    """Return values of Python's own types."""
    items: list[Any] = (
        values if isinstance(values, list) else np.asarray(values).tolist()
    )
    return items


def _write_json(file: IO[bytes], as_list: bool, blocks: Iterator[Fields]) -> None:
    """Write objects: one in every line, or all in a list."""
    before = b"[\n" if as_list else b""
    for fields in blocks:
        for row in zip(*map(_items, fields.values()), strict=True):
            record = as_json(dict(zip(fields, row, strict=True)))
            text = json.dumps(record, ensure_ascii=False, allow_nan=False).encode()
            file.write(before + text if as_list else text + b"\n")
            before = b",\n"
    if as_list:
        file.write(b"\n]\n" if before == b",\n" else b"[]\n")


# ---------------------------------------------------------------- typed formats


def _write_arrow(
    file: IO[bytes], name: str, blocks: Iterator[Fields], metadata: Any
) -> None:
    require_writer("pyarrow", name)
    from pyarrow import ipc, parquet

    open_writer = parquet.ParquetWriter if ending_of(name) in PARQUET else ipc.new_file
    with ExitStack() as closing:
        writer: Any = None
        for fields in blocks:
            table = _arrow_table(fields)
            if writer is None:
                schema = table.schema.with_metadata(metadata)
                writer = closing.enter_context(open_writer(file, schema))
            writer.write_table(table.cast(schema))


def _arrow_table(fields: Fields) -> Any:
    """Return columns as a table of pyarrow; those of several types are text."""
    import pyarrow

    def column(values: Any) -> Any:
        if isinstance(values, (pyarrow.Array, pyarrow.ChunkedArray)):
            return values
        values = values if isinstance(values, list) else np.asarray(values)
        try:
            return pyarrow.array(values)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError):
            texts = [as_text(value) for value in values]
            return pyarrow.array([str(text) if text != "" else None for text in texts])

    return pyarrow.table({key: column(values) for key, values in fields.items()})


def _write_numbers(
    file: IO[bytes], name: str, blocks: Iterator[Fields], n: int
) -> None:
    written, header = 0, False
    for fields in blocks:
        block = np.column_stack(list(fields.values()))
        if not header:
            header = True
            np.lib.format.write_array_header_1_0(
                file,
                {
                    "shape": (n, block.shape[1]),
                    "fortran_order": False,
                    "descr": np.lib.format.dtype_to_descr(block.dtype),
                },
            )
        file.write(block.tobytes())
        written += len(block)
    if written != n or not header:
        raise ValueError(f"{name} needs {n:,} rows, but got {written:,}.")


class _Exact(float):
    """A number that XlsxWriter writes with all digits, instead of 16."""

    def __format__(self, how: str) -> str:
        return repr(float(self))


def _write_sheet(file: IO[bytes], name: str, blocks: Iterator[Fields], n: int) -> None:
    xlsxwriter = require_writer("xlsxwriter", name)
    options = {
        "in_memory": True, "default_date_format": "yyyy-mm-dd hh:mm:ss",
        "strings_to_formulas": False, "strings_to_urls": False,
    }  # fmt: skip
    buffer = io.BytesIO()  # a ZIP file is not written in order
    with xlsxwriter.Workbook(buffer, options) as book:
        sheet, row = book.add_worksheet(), 0
        formats = {
            datetime.date: book.add_format({"num_format": "yyyy-mm-dd"}),
            datetime.time: book.add_format({"num_format": "hh:mm:ss"}),
        }
        for fields in blocks:
            if n >= _SHEET_ROWS or len(fields) > _SHEET_COLUMNS:
                raise TableError(
                    f"{name} would have {n + 1:,} rows and {len(fields):,} columns, "
                    f"but Excel takes {_SHEET_ROWS:,} and {_SHEET_COLUMNS:,}: choose "
                    "the ending .csv or .parquet."
                )
            rows = zip(*map(_items, fields.values()), strict=True)
            for values in rows if row else chain([fields], rows):
                for column, value in enumerate(values):
                    how = formats.get(type(value))
                    _write_sheet_cell(sheet, row, column, value, how)
                row += 1
    file.write(buffer.getvalue())


def _write_sheet_cell(sheet: Any, i: int, j: int, value: Any, how: Any) -> None:
    if value is None or value == "" or value != value:
        return
    if isinstance(value, bool):
        sheet.write_boolean(i, j, value)
    elif isinstance(value, (int, float)):
        exact = abs(value) <= _LARGEST_EXACT or isinstance(value, float)
        if exact and math.isfinite(value):
            sheet.write_number(i, j, _Exact(value))
        else:
            sheet.write_string(i, j, str(value))
    elif getattr(value, "tzinfo", None) is not None:
        # Excel knows no time zones: only as text, it is still the same instant.
        sheet.write_string(i, j, value.isoformat())
    elif isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        sheet.write_datetime(i, j, value, how)
    elif isinstance(value, datetime.timedelta):
        sheet.write_datetime(i, j, value)
    else:
        sheet.write_string(i, j, str(as_text(value)))


# ---------------------------------------------------------------- files to write


def refuse_table(path: str, *sources: str) -> None:
    """Raise as `refuse_target` does, or if the suffix is not that of a table."""
    refuse_target(path, *sources)
    refuse_ending(path)


def refuse_ending(path: str, *more: str) -> None:
    """Raise if the ending of a name is not that of a table, nor one of `more`."""
    if path in ("", STANDARD):
        return
    ending, packed = ending_of(path), compression_of(path)
    endings = (*ENDINGS, *more)
    if ending not in (*endings, *_OTHER_NAMES) or (ending == "" and packed):
        raise TableError(
            f"{path} ends in {Path(path).suffix}, but tables are written as "
            f"{', '.join(filter(None, endings))}: choose one of these endings."
        )
    typed = (*PARQUET, *ARROW, ".xlsx", ".npy")
    if packed and (packed not in _COMPRESSIONS or ending in typed):
        raise TableError(
            f"{path} ends in {ending}{packed}, but only text and JSON lines are "
            f"compressed, and only as {', '.join(_COMPRESSIONS)}: choose another "
            "ending."
        )
    if ending in PARQUET + ARROW:
        require_writer("pyarrow", path)
    if ending == ".xlsx":
        require_writer("xlsxwriter", path)


def refuse_target(path: str, *sources: str) -> None:
    """Raise early if a file cannot be written, or is one of the inputs."""
    if path in ("", STANDARD):
        return
    target = Path(os.path.realpath(path))
    for source in sources:
        if source in ("", STANDARD):
            continue
        # Another name of the same file may be a hard link.
        if target == Path(os.path.realpath(source)) or _same_file(target, source):
            raise TableError(
                f"{path} is an input and would be overwritten: choose another name."
            )
    check_target(target, path)


def refuse_same_targets(targets: dict[str, str]) -> None:
    """Raise if two options name the same file.

    Parameters
    ----------
    targets : dict
        File of every option; "" for none.
    """
    seen: dict[str, str] = {}
    for name, path in targets.items():
        if not path:
            continue
        real = path if path == STANDARD else os.path.realpath(path)
        if real in seen:
            where = "standard output" if path == STANDARD else path
            raise TableError(
                f"{seen[real]} and {name} would both write to {where}: choose another "
                "name for one of them."
            )
        seen[real] = name


def _same_file(target: Path, source: str) -> bool:
    try:
        return os.path.samefile(target, source)
    except OSError:  # one of them does not exist
        return False


@contextmanager
def open_target(name: str) -> Iterator[IO[bytes]]:
    """Open a file that appears once it is complete, compressed if its ending says so.

    "-" is standard output.
    """
    if name == STANDARD:
        yield StandardOutput()  # type: ignore[misc]
        return
    with atomic_write(name) as file, _compressed(file, compression_of(name)) as out:
        yield out


@contextmanager
def written_together(
    targets: Mapping[str, Callable[[IO[bytes]], object]],
) -> Iterator[None]:
    """Write files that appear after the `with` statement, if it succeeds.

    Standard output comes last, when they are complete: whoever reads it may close it
    early.

    Parameters
    ----------
    targets : dict
        Name of every file, "-" for standard output, and what writes it.
    """
    with ExitStack() as opened:
        for name, write in targets.items():
            if name != STANDARD:
                file = opened.enter_context(open_target(name))
                write(file)
                file.flush()  # a full disk must show before the first one appears
        yield
    if STANDARD in targets:
        with open_target(STANDARD) as file:
            targets[STANDARD](file)


class StandardOutput:
    """Standard output as a file of bytes."""

    def write(self, data: bytes) -> int:
        """Write all bytes."""
        binary = getattr(sys.stdout, "buffer", None)
        # A terminal must not follow what a cell says, and the stream may have been
        # replaced by a file of text, as in a notebook.
        if binary is None or sys.stdout.isatty():
            sys.stdout.write(harmless(bytes(data).decode("utf-8", errors="replace")))
        else:
            sys.stdout.flush()
            binary.write(data)
        return len(data)


@contextmanager
def _compressed(file: IO[bytes], ending: str) -> Iterator[IO[bytes]]:
    out: Any = None
    if ending == ".gz":
        # Without name and time: the same rows give the same bytes.
        out = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)
    elif ending == ".bz2":
        out = bz2.BZ2File(file, "wb")
    elif ending == ".xz":
        out = lzma.LZMAFile(file, "wb")
    if out is None:
        yield file
        return
    with out:
        yield out


def require_writer(module: str, path: str | Path) -> Any:
    """Import a package that writes a format; raise if it is not installed."""
    package = {"xlsxwriter": "XlsxWriter"}.get(module, module)
    try:
        return require(module, str(path), "", "")
    except TableError:
        raise TableError(
            f"Writing {path} needs {package}: pip install 'trueaxis[io]', or choose "
            "the ending .csv."
        ) from None
