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
from pathlib import Path
from typing import IO, Any

import numpy as np

from trueaxis._columns import TableError
from trueaxis._files import (
    DISK_FULL,
    as_json,
    as_text,
    atomic_write,
    check_target,
    harmless,
    naming,
    temporary_folder,
)
from trueaxis.io.formats import (
    ARROW,
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
    write_blocks(path, iter([fields]), len(next(iter(fields.values()), ())))


def write_blocks(path: str | Path, blocks: Iterator[Fields], n: int) -> None:
    """Write a table a few rows at a time, in the formats of `write_table` and .npy.

    Parameters
    ----------
    path : str or Path
    blocks : iterator of dict
        Tables with the same columns.
    n : int
        Total number of rows, for the header of .npy files. These hold only numbers.
    """
    name = str(path)
    if ending_of(name) != ".npy":
        refuse_ending(name)
    with open_target(name) as file:
        write_content(file, name, blocks, n)


def write_content(file: IO[bytes], name: str, blocks: Iterator[Fields], n: int) -> None:
    """Write a table to an open file, in the format that its name tells."""
    ending = ending_of(name)
    writers: dict[str, Callable[[Any, str, Iterator[Fields], int], None]] = {
        ".jsonl": _write_json_lines,
        ".ndjson": _write_json_lines,
        **dict.fromkeys(PARQUET + ARROW, _write_arrow),
        ".xlsx": _write_sheet,
        ".npy": _write_numbers,
    }
    writers.get(ending, _write_text)(file, name, blocks, n)


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


def items(values: Any) -> Sequence[Any]:
    """Return values of Python's own types."""
    items: Sequence[Any] = values if isinstance(values, list) else (
        np.asarray(values).tolist()
    )  # fmt: skip
    return items


def json_line(record: dict[str, Any]) -> bytes:
    """Return a record as one line of JSON; NaN and infinity are null."""
    text = json.dumps(as_json(record), ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8")


# ---------------------------------------------------------------- text


def _write_text(file: IO[bytes], name: str, blocks: Iterator[Fields], n: int) -> None:
    delimiter = "\t" if ending_of(name) == ".tsv" else ","
    for number, fields in enumerate(blocks):
        columns = [
            values if isinstance(values, list) else np.asarray(values)
            for values in fields.values()
        ]
        if number == 0:
            _write_lines(file, delimiter, [[*map(guarded, fields)]])
        for start in range(0, max(map(len, columns), default=0), _TEXT_ROWS):
            some = slice(start, start + _TEXT_ROWS)
            cells = [_text_cells(column[some]) for column in columns]
            _write_lines(file, delimiter, zip(*cells, strict=True))


def _write_lines(
    file: IO[bytes], delimiter: str, rows: Iterable[Sequence[Any]]
) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    file.write(text.getvalue().encode("utf-8"))


def _text_cells(values: Any) -> Iterable[Any]:
    """Return a column as cells that the csv module writes as `as_text` does."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        holes = values.dtype.kind == "f" and np.isnan(values).any()
        cells = values.tolist()
        return ["" if cell != cell else cell for cell in cells] if holes else cells
    cells = items(values)
    if set(map(type, cells)) == {str}:  # often the same few, such as kinds
        texts = {cell: guarded(cell) for cell in set(cells)}
        return map(texts.__getitem__, cells)
    return (guarded(as_text(cell)) for cell in cells)


def _write_json_lines(
    file: IO[bytes], name: str, blocks: Iterator[Fields], n: int
) -> None:
    for fields in blocks:
        for row in zip(*map(items, fields.values()), strict=True):
            file.write(json_line(dict(zip(fields, row, strict=True))))


# ---------------------------------------------------------------- Parquet, Feather


def _write_arrow(file: IO[bytes], name: str, blocks: Iterator[Fields], n: int) -> None:
    with ExitStack() as closing:
        writer: Any = None
        for fields in blocks:
            table = arrow_table(fields, name)
            if writer is None:
                writer = closing.enter_context(arrow_writer(file, name, table.schema))
            writer.write_table(table.cast(writer.schema))


def arrow_writer(file: IO[bytes], name: str, schema: Any) -> Any:
    """Return a writer of tables of pyarrow, for a Parquet or Feather file."""
    require_writer("pyarrow", name)
    if ending_of(name) in PARQUET:
        import pyarrow.parquet as parquet

        return parquet.ParquetWriter(file, schema)
    return _IpcWriter(file, schema)


class _IpcWriter:
    """Writer of Arrow files, which is also version 2 of Feather."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        from pyarrow import ipc

        self.schema = schema
        self._writer = ipc.new_file(file, schema)

    def write_table(self, table: Any) -> None:
        self._writer.write_table(table)

    def __enter__(self) -> _IpcWriter:
        return self

    def __exit__(self, *_: Any) -> None:
        self._writer.close()


def arrow_table(fields: Fields, name: str) -> Any:
    """Return columns as a table of pyarrow; those of several types are text."""
    pyarrow = require_writer("pyarrow", name)

    def column(values: Any) -> Any:
        values = values if isinstance(values, list) else np.asarray(values)
        try:
            return pyarrow.array(values)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError):
            texts = [as_text(value) for value in values]
            return pyarrow.array([str(text) if text != "" else None for text in texts])

    return pyarrow.table({key: column(values) for key, values in fields.items()})


# ---------------------------------------------------------------- Excel and NumPy


def _write_sheet(file: IO[bytes], name: str, blocks: Iterator[Fields], n: int) -> None:
    def rows() -> Iterator[Sequence[Any]]:
        for number, fields in enumerate(blocks):
            if number == 0:
                yield list(fields)
            yield from zip(*map(items, fields.values()), strict=True)

    write_sheet_rows(file, name, rows(), n + 1)


def _write_numbers(
    file: IO[bytes], name: str, blocks: Iterator[Fields], n: int
) -> None:
    written, begun = 0, False
    for fields in blocks:
        block = np.column_stack(list(fields.values()))
        if not begun:
            begun = True
            npy_header(file, block.dtype, (n, block.shape[1]))
        file.write(block.tobytes())
        written += len(block)
    if written != n or not begun:
        raise ValueError(f"{name} needs {n:,} rows, but got {written:,}.")


def npy_header(file: IO[bytes], dtype: Any, shape: tuple[int, int]) -> None:
    """Write the header of a .npy file, whose rows follow."""
    header: dict[str, Any] = {"shape": shape, "fortran_order": False}
    header["descr"] = np.lib.format.dtype_to_descr(np.dtype(dtype))
    np.lib.format.write_array_header_1_0(file, header)


class _Exact(float):
    """A number that XlsxWriter writes with all digits, instead of 16."""

    def __format__(self, how: str) -> str:
        return repr(float(self))


def write_sheet_rows(
    file: IO[bytes], name: str, rows: Iterator[Sequence[Any]], n: int, title: str = ""
) -> None:
    """Write rows of values to the only sheet of an Excel file.

    Parameters
    ----------
    file : binary file
    name : str
        For messages.
    rows : iterator
        Of lists of values; None and NaN are empty cells.
    n : int
        Number of rows.
    title : str
        Name of the sheet.
    """
    xlsxwriter = require_writer("xlsxwriter", name)
    if n > _SHEET_ROWS:
        raise TableError(
            f"{name} would have {n:,} rows, but Excel takes {_SHEET_ROWS:,}: choose "
            "the ending .csv or .parquet."
        )
    buffer = io.BytesIO()  # a ZIP file is not written in order
    options = {
        "constant_memory": True, "default_date_format": "yyyy-mm-dd hh:mm:ss",
        "strings_to_formulas": False, "strings_to_urls": False,
    }  # fmt: skip
    with (
        _naming_full_disks(name),
        temporary_folder() as folder,
        xlsxwriter.Workbook(buffer, options | {"tmpdir": folder}) as book,
    ):
        sheet = book.add_worksheet(title or None)
        formats = {
            datetime.date: book.add_format({"num_format": "yyyy-mm-dd"}),
            datetime.time: book.add_format({"num_format": "hh:mm:ss"}),
        }
        for i, row in enumerate(rows):
            if len(row) > _SHEET_COLUMNS:
                raise TableError(
                    f"{name} would have {len(row):,} columns, but Excel takes "
                    f"{_SHEET_COLUMNS:,}: choose the ending .csv or .parquet."
                )
            for j, value in enumerate(row):
                _write_sheet_cell(sheet, i, j, value, formats.get(type(value)))
    file.write(buffer.getvalue())


@contextmanager
def _naming_full_disks(name: str) -> Iterator[None]:
    """Name the file if there is no space for the temporary ones of XlsxWriter."""
    try:
        yield
    except Exception as error:
        # XlsxWriter wraps the error in one of its own when it closes a file.
        cause = error if isinstance(error, OSError) else next(iter(error.args), None)
        if isinstance(cause, OSError) and cause.errno in DISK_FULL:
            with naming(name):
                raise cause from None
        raise


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
