"""Write tables as text, JSON lines, Parquet, Feather, Excel or .npy files.

The ending of the name gives the format; a further .gz compresses the file. Rows of a
file are written again with the text or the types that their cells had.
"""

from __future__ import annotations

import codecs
import csv
import datetime
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import TableError
from trueaxis._files import STANDARD, as_json, as_text, open_target, refuse_target
from trueaxis.io.cells import parse
from trueaxis.io.choice import Choice
from trueaxis.io.formats import (
    ARROW,
    JSON,
    NUMPY,
    PARQUET,
    SHEETS,
    TEXT,
    compression_of,
    ending_of,
    open_text,
    read_arrow,
    read_content,
    require,
)

Fields = dict[str, Any]  # name and values of every column
Changes = Mapping[str, Mapping[int, float]]  # new values by column and row

ENDINGS = (
    ".csv", ".tsv", ".txt", ".jsonl", ".parquet", ".feather", ".arrow", ".xlsx", "",
)  # fmt: skip
_OTHER_NAMES = (".ndjson", ".pq", ".ipc", ".dat", ".data")  # of the same formats
_ROWS = 1 << 14  # are text in memory at a time
_SHEET_ROWS, _SHEET_COLUMNS = 1 << 20, 1 << 14  # the most that Excel takes
_LARGEST_EXACT = 1 << 53  # integers beyond it are rounded in a sheet
_THOUSANDS = re.compile(r"-?\d{1,3}\.\d{3}")  # or decimals: 1.234
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
    _refuse_ending(str(path), ".npy")
    n = len(next(iter(fields.values()), ()))
    with open_target(str(path)) as file:
        write_content(file, str(path), iter([fields]), n)


def write_content(
    file: IO[bytes], name: str, blocks: Iterator[Fields], n: int, metadata: Any = None
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
        for fields in blocks:
            for row in zip(*map(_listed, fields.values()), strict=True):
                record = as_json(dict(zip(fields, row, strict=True)))
                text = json.dumps(record, ensure_ascii=False, allow_nan=False)
                file.write(text.encode() + b"\n")
    else:
        delimiter, first = "\t" if ending == ".tsv" else ",", True
        for fields in blocks:
            if first:
                file.write(_lines([fields], delimiter).encode())
            first = False
            for start in range(0, max(map(len, fields.values()), default=0), _ROWS):
                some = slice(start, start + _ROWS)
                rows = zip(*(_listed(x[some]) for x in fields.values()), strict=True)
                file.write(_lines(rows, delimiter).encode())


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


# ---------------------------------------------------------------- formats


def _lines(rows: Iterable[Iterable[Any]], delimiter: str = ",", end: str = "\n") -> str:
    """Return rows as delimited text."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerows([guarded(as_text(cell)) for cell in row] for row in rows)
    return text.getvalue()


def _listed(cells: Any) -> list[Any]:
    """Return a column as a list of Python's objects."""
    if hasattr(cells, "to_pylist"):
        return list(cells.to_pylist())
    return cells if isinstance(cells, list) else list(np.asarray(cells).tolist())


def _write_arrow(
    file: IO[bytes], name: str, blocks: Iterator[Fields], metadata: Any
) -> None:
    pyarrow = require("pyarrow", name, "choose the ending .csv")
    from pyarrow import ipc, parquet

    def column(values: Any) -> Any:
        if hasattr(values, "to_pylist"):
            return values
        values = values if isinstance(values, list) else np.asarray(values)
        try:
            array = pyarrow.array(values)
            # Text may follow in later rows; numbers have a type without values, too.
            return array.cast("string") if array.type == pyarrow.null() else array
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError):
            texts = [as_text(value) for value in values]  # of several types
            return pyarrow.array([str(text) if text != "" else None for text in texts])

    open_writer = parquet.ParquetWriter if ending_of(name) in PARQUET else ipc.new_file
    with ExitStack() as closing:
        writer: Any = None
        for fields in blocks:
            table = pyarrow.table({key: column(x) for key, x in fields.items()})
            if writer is None:
                schema = table.schema.with_metadata(metadata)
                writer = closing.enter_context(open_writer(file, schema))
            writer.write_table(table.cast(schema))


def _write_numbers(
    file: IO[bytes], name: str, blocks: Iterator[Fields], n: int
) -> None:
    header = False
    for fields in blocks:
        try:
            columns = [
                x if isinstance(x, np.ndarray) else np.array(_listed(x), dtype=float)
                for x in fields.values()
            ]
        except (ValueError, TypeError):
            raise TableError(
                f"{name} holds numbers only, but there are columns of other cells: "
                "choose the ending .parquet or .csv."
            ) from None
        block = np.column_stack(columns)
        if not header:
            dtype = np.lib.format.dtype_to_descr(block.dtype)
            shape = {"shape": (n, block.shape[1]), "fortran_order": False}
            np.lib.format.write_array_header_1_0(file, {**shape, "descr": dtype})
            header = True
        file.write(block.tobytes())


class _Exact(float):
    """A number that XlsxWriter writes with all digits, instead of 16."""

    def __format__(self, how: str) -> str:
        return repr(float(self))


def _write_sheet(file: IO[bytes], name: str, blocks: Iterator[Fields], n: int) -> None:
    xlsxwriter = require("xlsxwriter", name, "choose the ending .csv")
    options = {
        "in_memory": True, "default_date_format": "yyyy-mm-dd hh:mm:ss",
        "strings_to_formulas": False, "strings_to_urls": False,
    }  # fmt: skip
    buffer = io.BytesIO()  # a ZIP file is not written in order
    with xlsxwriter.Workbook(buffer, options) as book:
        sheet, row = book.add_worksheet(), 0
        for fields in blocks:
            if n >= _SHEET_ROWS or len(fields) > _SHEET_COLUMNS:
                raise TableError(
                    f"{name} would have {n + 1:,} rows and {len(fields):,} columns, "
                    f"but Excel takes {_SHEET_ROWS:,} and {_SHEET_COLUMNS:,}: choose "
                    "the ending .csv or .parquet."
                )
            rows = zip(*map(_listed, fields.values()), strict=True)
            for values in rows if row else chain([fields], rows):
                sheet.write_row(row, 0, map(_sheet_cell, values))
                row += 1
    file.write(buffer.getvalue())


def _sheet_cell(value: Any) -> Any:
    """Return a value as XlsxWriter takes it; as text if it would change otherwise."""
    if isinstance(value, bool) or (value is None or value != value):
        return value if isinstance(value, bool) else None
    if isinstance(value, float) and math.isfinite(value):
        return _Exact(value)
    if isinstance(value, int) and abs(value) <= _LARGEST_EXACT:
        return value
    # Excel knows no time zones: only as text, it is still the same instant.
    dates = (datetime.datetime, datetime.date, datetime.time)
    if isinstance(value, dates) and getattr(value, "tzinfo", None) is None:
        return value
    return str(as_text(value))


# ---------------------------------------------------------------- rows of a file


class Original:
    r"""Rows of a file, to write some of them again, with some cells changed.

    Parameters
    ----------
    source : str
    choice : Choice, optional
        How the file is read.
    files : sequence of path, optional
        Parts of the table, if the source is a folder.

    Examples
    --------
    >>> import io, pathlib, tempfile
    >>> import numpy as np
    >>> from trueaxis.io.write import Original
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pumps.csv"
    >>> _ = path.write_text("pump;flow\nA; 1,50\nB;\n")
    >>> original, out = Original(str(path)), io.BytesIO()
    >>> original.write(out, "out.csv", np.array([1]), {"flow": {1: 2.5}})
    >>> out.getvalue()
    b'pump;flow\nB;2,5\n'
    """

    def __init__(
        self, source: str, choice: Choice | None = None, files: Sequence[Path] = ()
    ) -> None:
        choice = choice or Choice()
        # Roles do not matter here, but no column may be refused for its cells.
        roles = [*choice.drop, *choice.names_of_rows]
        self._choice = replace(choice, drop=roles, id=None, label=None)
        self._source, self._parts = source, [*map(str, files)] or [source]
        self._ending = ending_of(self._parts[0])
        self._text = self._raw = None
        self._styles: dict[str, tuple[str, str, bool]] = {}
        if self._ending in JSON + SHEETS:
            self._raw = read_content(source, self._choice).raw
        elif self._ending not in (*PARQUET, *ARROW, *NUMPY):
            self._text = open_text(source, self._choice, _counted)
            self.n_rows = self._text.rows
            return
        self.n_rows = sum(len(next(iter(each.values()))) for each in self._blocks())

    def write(
        self,
        file: IO[bytes],
        target: str,
        rows: NDArray[np.intp] | None = None,
        changes: Changes | None = None,
    ) -> None:
        """Write rows to a file, in the format of the target.

        Parameters
        ----------
        file : binary file
        target : str
            Its name, whose ending tells the format; "-" for that of the original if it
            is text, and CSV otherwise.
        rows : ndarray of int, optional
            Which rows, in ascending order; all by default, with remarks below them.
        changes : dict, optional
            New values by column and row.
        """
        kept = np.full(self.n_rows, rows is None)
        kept[rows if rows is not None else []] = True
        blocks, ending = self._changed(kept, changes or {}), ending_of(target)
        metadata = None
        if self._text is not None:
            if ending in (*TEXT, self._ending):
                self._write_text(file, ending, blocks, rows is None)
                return
            blocks = map(self._typed, blocks)
        elif ending in PARQUET + ARROW and self._ending in PARQUET + ARROW:
            metadata = next(read_arrow(self._parts[0])).schema.metadata
        elif ending in TEXT:  # as words, booleans would be read as text
            blocks = (
                {name: [*map(_without_bool, _listed(x))] for name, x in fields.items()}
                for fields in blocks
            )
        write_content(file, target, blocks, int(kept.sum()), metadata)

    def _blocks(self) -> Iterator[Fields]:
        """Yield columns with all their cells, a few rows at a time."""
        if self._raw is not None:
            yield self._raw
        elif self._text is not None:
            names = self._text.layout.names
            for _, block in self._text.texts(names):
                yield dict(zip(names, block, strict=True))
        elif self._ending in NUMPY:
            for stored in (np.load(part, mmap_mode="r") for part in self._parts):
                native = stored.dtype.newbyteorder("=")
                for first in range(0, max(len(stored), 1), _ROWS):
                    array = np.array(stored[first : first + _ROWS], dtype=native)
                    yield {f"x{i}": column for i, column in enumerate(array.T)}
        else:
            names = None
            for table in chain.from_iterable(map(read_arrow, self._parts)):
                names = names or table.column_names
                yield {name: table.column(name) for name in names}

    def _changed(self, kept: NDArray[np.bool_], changes: Changes) -> Iterator[Fields]:
        """Yield rows with their new cells."""
        first = 0
        for fields in self._blocks():
            last = first + len(next(iter(fields.values())))
            new_fields = dict(fields)
            for name, new in changes.items():
                here = {i - first: x for i, x in new.items() if first <= i < last}
                whole = all(float(x).is_integer() for x in new.values())
                new_fields[name] = self._with(name, fields[name], here, whole)
            some = np.flatnonzero(kept[first:last])
            yield {name: _taken(x, some) for name, x in new_fields.items()}
            first = last

    def _with(
        self, name: str, cells: Any, new: Mapping[int, float], whole: bool
    ) -> Any:
        """Return a column with new cells, as floats if its type cannot hold them."""
        listed = [*_listed(cells)]
        kind = getattr(cells, "type", getattr(cells, "dtype", ""))
        kind = getattr(kind, "value_type", kind)
        is_text = any(isinstance(x, str) for x in listed) or "string" in str(kind)
        if is_text and name not in self._styles:
            self._styles[name] = self._style(name)
        for row, x in new.items():
            number = not is_text or isinstance(listed[row], (int, float))
            listed[row] = _exact(x) if number else as_text_cell(x, *self._styles[name])
        if isinstance(cells, list):
            return listed
        floats = "float" in str(kind) or str(kind) == "double"
        if not (is_text or floats or (whole and "int" in str(kind))):
            kind = float
            listed = [None if x is None else float(x) for x in listed]
        if isinstance(cells, np.ndarray):
            return np.array(listed, dtype=kind)
        import pyarrow

        return pyarrow.array(listed, pyarrow.float64() if kind is float else kind)

    def _style(self, name: str) -> tuple[str, str, bool]:
        """Return decimal sign and unit of a column, and if 1.234 may be thousands."""
        if self._text is not None:
            mark = self._text.reading.decimal
            unit = self._text.facts[name].kind(self._text.reading)[1]
            return mark, unit, mark == "," or self._text.layout.delimiter != ","
        content = read_content(self._parts[0], self._choice)
        mark = content.reading.decimal
        return mark, content.columns[name].unit, mark == ","

    def _typed(self, fields: Fields) -> Fields:
        """Return columns of text for a file of another format.

        Plain numbers become numbers. Cells with units or limits, or with zeros at the
        start, stay text, from which the same numbers are read.
        """
        text, out = self._text, dict[str, Any]()
        assert text is not None
        for name, facts in text.facts.items():
            cells = [None if text.reading.is_missing(x) else x for x in fields[name]]
            if not facts.plain or name == text.layout.row_names:
                out[name] = cells
            else:
                found = [parse(x or "", text.reading.decimal) for x in cells]
                values = np.array([np.nan if x is None else x.value for x in found])
                out[name] = text.reading.without_missing(values)
        return out

    def _write_text(
        self, file: IO[bytes], ending: str, blocks: Iterator[Fields], whole: bool
    ) -> None:
        """Write rows of text, and what is above them."""
        text = self._text
        assert text is not None
        layout = text.layout
        delimiter = "\t" if ending == ".tsv" else layout.delimiter
        encode = codecs.getincrementalencoder(text.encoding)().encode

        def write(rows: Iterable[Iterable[str]]) -> None:
            file.write(encode(_lines(rows, delimiter, text.newline)))

        if delimiter != layout.delimiter:
            named = [
                "" if i in layout.unnamed else x for i, x in enumerate(layout.names)
            ]
            write([each for each in (named, layout.units) if any(each)])
        elif _guards.get():
            write(csv.reader(text.head, delimiter=delimiter))
        else:
            file.write(encode("".join(text.head)))
        for fields in blocks:
            write(zip(*fields.values(), strict=True))
        if whole:
            write(cells for _, cells in text.below)


def _without_bool(cell: Any) -> Any:
    return int(cell) if isinstance(cell, bool) else cell


def _counted(blocks: Iterable[NDArray[np.float64]], width: int) -> None:
    """Read the numbers of a text without keeping them."""
    for _ in blocks:
        pass


def _taken(cells: Any, rows: NDArray[np.intp]) -> Any:
    if isinstance(cells, list):
        return [cells[row] for row in rows.tolist()]
    return cells[rows] if isinstance(cells, np.ndarray) else cells.take(rows)


def as_text_cell(x: float, mark: str, unit: str, unclear: bool) -> str:
    """Return a number as text, with the decimal sign and the unit of its column.

    `unclear` tells whether 1.234 could be taken for thousands.

    Examples
    --------
    >>> from trueaxis.io.write import as_text_cell
    >>> as_text_cell(-2.5, ",", "kg", True), as_text_cell(1.234, ",", "", True)
    ('-2,5 kg', '1,2340')
    """
    digits = str(_exact(x)) if abs(x) < 1e15 else repr(float(x))
    if unclear and _THOUSANDS.fullmatch(digits):
        digits += "0"
    return " ".join(filter(None, [digits.replace(".", mark), unit]))


def _exact(x: float) -> int | float:
    return int(x) if abs(x) < _LARGEST_EXACT and x % 1 == 0 else float(x)


# ---------------------------------------------------------------- names of targets


def refuse_table(path: str, *sources: str, rows_of: str | None = None) -> None:
    """Raise early if a table cannot be written, or its ending is not that of one.

    `rows_of` is the file whose rows are written, if they are those of one.
    """
    refuse_target(path, *sources)
    if rows_of is None:
        _refuse_ending(path)
        return
    source, binary = ending_of(rows_of), (*NUMPY, *PARQUET, *ARROW, *JSON, *SHEETS)
    like = source not in binary and ending_of(path) not in binary
    _refuse_ending(path, ".npy", *[source] * like)  # text may keep another ending


def _refuse_ending(path: str, *more: str) -> None:
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
    if packed and (packed != ".gz" or ending in typed):
        raise TableError(
            f"{path} ends in {ending}{packed}, but only text and JSON lines are "
            "compressed, and only as .gz: choose another ending."
        )
    if ending in PARQUET + ARROW:
        require("pyarrow", path, "choose the ending .csv")
    if ending == ".xlsx":
        require("xlsxwriter", path, "choose the ending .csv")
