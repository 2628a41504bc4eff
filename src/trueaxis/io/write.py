"""Write tables as text, JSON lines, Parquet, Feather, Excel or .npy files.

The ending of the name gives the format; a further .gz compresses the file. Rows of a
file are written again with the text or the types that their cells had.
"""

from __future__ import annotations

import codecs
import csv
import datetime
import gzip
import importlib
import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import TableError
from trueaxis._files import as_json, as_text, atomic_write, check_target, harmless
from trueaxis.io.cells import parse
from trueaxis.io.choice import Choice
from trueaxis.io.formats import (
    ARROW,
    JSON,
    NUMPY,
    PARQUET,
    SHEETS,
    STANDARD,
    TEXT,
    compression_of,
    ending_of,
    is_arrow_number,
    open_text,
    read_arrow,
    read_bytes,
    read_content,
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
_THOUSANDS = re.compile(r"\d{1,3}\.\d{3}")  # or decimals: 1.234
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
    refuse_ending(str(path), ".npy")
    n = len(next(iter(fields.values()), ()))
    with open_target(str(path)) as file:
        write_content(file, str(path), iter([fields]), n)


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
        _write_numbers(file, blocks, n)
    elif ending == ".xlsx":
        _write_sheet(file, name, blocks, n)
    elif ending in JSON:
        for fields in blocks:
            for row in zip(*map(_listed, fields.values()), strict=True):
                record = as_json(dict(zip(fields, row, strict=True)))
                text = json.dumps(record, ensure_ascii=False, allow_nan=False)
                file.write(text.encode() + b"\n")
    else:
        _write_text(file, "\t" if ending == ".tsv" else ",", blocks)


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


def _write_text(file: IO[bytes], delimiter: str, blocks: Iterator[Fields]) -> None:
    for number, fields in enumerate(blocks):
        if number == 0:
            file.write(_lines([map(guarded, fields)], delimiter).encode())
        n = max(map(len, fields.values()), default=0)
        for start in range(0, n, _ROWS):
            some = slice(start, start + _ROWS)
            cells = [map(_text_cell, _listed(x[some])) for x in fields.values()]
            file.write(_lines(zip(*cells, strict=True), delimiter).encode())


def _text_cell(cell: Any) -> Any:
    return guarded(as_text(cell))


def _lines(rows: Iterable[Iterable[Any]], delimiter: str = ",", end: str = "\n") -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(rows)
    return text.getvalue()


def _listed(cells: Any) -> list[Any]:
    """Return a column as a list of Python's objects."""
    if hasattr(cells, "to_pylist"):
        return list(cells.to_pylist())
    return cells if isinstance(cells, list) else list(np.asarray(cells).tolist())


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


def _write_numbers(file: IO[bytes], blocks: Iterator[Fields], n: int) -> None:
    written = 0
    for number, fields in enumerate(blocks):
        block = np.column_stack([*fields.values()])
        if number == 0:
            dtype = np.lib.format.dtype_to_descr(block.dtype)
            shape = {"shape": (n, block.shape[1]), "fortran_order": False}
            np.lib.format.write_array_header_1_0(file, {**shape, "descr": dtype})
        file.write(block.tobytes())
        written += len(block)
    if written != n:
        raise ValueError(f"An array of {n:,} rows was begun, but got {written:,}.")


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
            rows = zip(*map(_listed, fields.values()), strict=True)
            for values in rows if row else chain([fields], rows):
                for column, value in enumerate(map(_sheet_cell, values)):
                    if value != "":
                        sheet.write(row, column, value, formats.get(type(value)))
                row += 1
    file.write(buffer.getvalue())


def _sheet_cell(value: Any) -> Any:
    """Return a value as XlsxWriter takes it; as text if it would change otherwise."""
    if isinstance(value, float) and math.isfinite(value):
        return _Exact(value)
    if isinstance(value, bool) or isinstance(value, datetime.timedelta):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST_EXACT else str(value)
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

    Attributes
    ----------
    n_rows : int
    texts : list of str
        The columns that are not numbers.

    Examples
    --------
    >>> import io, pathlib, tempfile
    >>> import numpy as np
    >>> from trueaxis.io.write import Original
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pumps.csv"
    >>> _ = path.write_text("pump;flow\nA; 1,50\nB;\n")
    >>> original, out = Original(str(path)), io.BytesIO()
    >>> _ = original.write(out, "out.csv", np.array([1]), {"flow": {1: 2.5}})
    >>> out.getvalue()
    b'pump;flow\nB;2,5\n'
    """

    def __init__(
        self, source: str, choice: Choice | None = None, files: Sequence[Path] = ()
    ) -> None:
        choice, self.source = choice or Choice(), source
        parts = [str(file) for file in files] or [source]
        # Roles do not matter here, but no column may be refused for its cells.
        self._choice = replace(
            choice, drop=[*choice.drop, *choice.names_of_rows], id=None, label=None
        )
        ending, self._text = ending_of(parts[0]), None
        if ending in PARQUET + ARROW:
            self._blocks = partial(_arrow_blocks, parts)
        elif ending in NUMPY:
            self._blocks = partial(_array_blocks, parts)
        elif ending in JSON + SHEETS:
            raw = read_content(source, self._choice).raw
            self._blocks = lambda: iter([raw])
        else:
            self._text = open_text(source, self._choice, _counted)
            self._blocks = self._text_blocks
            self.n_rows = self._text.rows
            row_names = self._text.layout.row_names
            self.texts = [
                name
                for name, facts in self._text.facts.items()
                if not facts.plain or name == row_names
            ]
            return
        self.n_rows, texts = 0, dict[str, None]()
        for fields in self._blocks():
            self.n_rows += len(next(iter(fields.values())))
            texts |= {name: None for name, x in fields.items() if not _are_numbers(x)}
        self.texts = list(texts)

    def write(
        self,
        file: IO[bytes],
        target: str,
        rows: NDArray[np.intp] | None = None,
        changes: Changes | None = None,
    ) -> list[str]:
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

        Returns
        -------
        list of str
            Notes about types that could not be kept.
        """
        notes: dict[str, None] = {}
        kept = np.full(self.n_rows, rows is None)
        kept[rows if rows is not None else []] = True
        blocks = self._changed(kept, changes or {}, notes)
        ending, source = ending_of(target), ending_of(self.source)
        if self._text is not None and ending in (*TEXT, source):
            self._write_like_text(file, ending, blocks, rows is None)
            return []
        metadata = None
        if self._text is not None:
            blocks = map(self._typed, blocks)
        elif ending not in PARQUET + ARROW:
            blocks = (
                {_data_name(name): _plain(x, ending) for name, x in fields.items()}
                for fields in blocks
            )
        elif source in PARQUET + ARROW:
            metadata = next(read_arrow(self.source)).schema.metadata
        write_content(file, target, blocks, int(kept.sum()), metadata)
        return list(notes)

    def _changed(
        self, kept: NDArray[np.bool_], changes: Changes, notes: dict[str, None]
    ) -> Iterator[Fields]:
        """Yield rows with their new cells; add notes about types."""
        first, styles = 0, self._styles(changes)
        for fields in self._blocks():
            fields = dict(fields)
            last = first + len(next(iter(fields.values())))
            for name, new in changes.items():
                before = fields[name]
                here = {i - first: x for i, x in new.items() if first <= i < last}
                fields[name] = _with(before, here, styles.get(name), [*new.values()])
                kinds = [str(_type_of(each)) for each in (before, fields[name])]
                if kinds[0] != kinds[1]:
                    notes[
                        f"Column {name!r} was {kinds[0]}, which cannot hold its new "
                        f"cells: it was written as {kinds[1]}."
                    ] = None
            some = np.flatnonzero(kept[first:last])
            yield {name: _taken(x, some) for name, x in fields.items()}
            first = last

    def _styles(self, names: Iterable[str]) -> dict[str, tuple[str, str, bool]]:
        """Return how new cells of columns of text are written; see `as_text_cell`."""
        if self._text is not None:
            reading, facts = self._text.reading, self._text.facts
            unclear = reading.decimal == "," or self._text.layout.delimiter != ","
            return {
                name: (reading.decimal, facts[name].kind(reading)[1], unclear)
                for name in names
            }
        texts = {*names} & {*self.texts}
        if not texts:
            return {}
        content = read_content(self.source, self._choice)
        mark = content.reading.decimal
        return {name: (mark, content.columns[name].unit, mark == ",") for name in texts}

    def _text_blocks(self) -> Iterator[Fields]:
        assert self._text is not None
        names = self._text.layout.names
        for _, block in self._text.texts(names):
            yield dict(zip(names, block, strict=True))

    def _typed(self, fields: Fields) -> Fields:
        """Return columns of text for a file of another format.

        Plain numbers become numbers. Cells with units or limits, or with zeros at the
        start, stay text, from which the same numbers are read.
        """
        text, out = self._text, dict[str, Any]()
        assert text is not None
        for name, facts in text.facts.items():
            cells = [None if text.reading.is_missing(x) else x for x in fields[name]]
            if name in self.texts:
                out[name] = cells
            elif facts.whole and facts.given == self.n_rows:
                out[name] = [int(x) for x in cells]
            else:
                found = [parse(x or "", text.reading.decimal) for x in cells]
                out[name] = np.array([np.nan if x is None else x.value for x in found])
        return out

    def _write_like_text(
        self, file: IO[bytes], ending: str, blocks: Iterator[Fields], whole: bool
    ) -> None:
        """Write rows, and what is above them; the delimiter follows the ending."""
        text = self._text
        assert text is not None
        layout, delimiter = text.layout, text.layout.delimiter
        if ending == ".tsv":
            delimiter = "\t"
        elif ending == ".csv" and delimiter not in ",;":
            delimiter = ","
        encode = codecs.getincrementalencoder(text.encoding)().encode

        def write(rows: Iterable[Iterable[str]]) -> None:
            guarded_rows = (map(guarded, row) for row in rows)
            file.write(encode(_lines(guarded_rows, delimiter, text.newline)))

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


def _counted(blocks: Iterable[NDArray[np.float64]], width: int) -> None:
    """Read the numbers of a text without keeping them."""
    for _ in blocks:
        pass


def as_text_cell(x: float, mark: str, unit: str, unclear: bool) -> str:
    """Return a number as text, with the decimal sign and the unit of its column.

    `unclear` tells whether 1.234 could be taken for thousands.

    Examples
    --------
    >>> from trueaxis.io.write import as_text_cell
    >>> as_text_cell(-2.5, ",", "kg", True), as_text_cell(1.234, ",", "", True)
    ('-2,5 kg', '1,2340')
    """
    digits = str(_whole_or_float(x)) if abs(x) < 1e15 else repr(float(x))
    if unclear and _THOUSANDS.fullmatch(digits.lstrip("-")):
        digits += "0"
    return " ".join(filter(None, [digits.replace(".", mark), unit]))


def _whole_or_float(x: float) -> int | float:
    return int(x) if float(x).is_integer() and abs(x) < _LARGEST_EXACT else float(x)


def _arrow_blocks(parts: Sequence[str]) -> Iterator[Fields]:
    """Yield the columns of Parquet or Feather files, a few rows at a time."""
    names: list[str] = []
    for table in chain.from_iterable(map(read_arrow, parts)):
        # The index of a data frame comes first, as pandas writes it.
        names = names or sorted(
            table.column_names, key=lambda name: name != _data_name(name), reverse=True
        )
        yield {name: table.column(name) for name in names}


def _data_name(name: str) -> str:
    """Return the name of a column; the index of a data frame has none."""
    return "" if name.startswith("__index_level_") else name


def _array_blocks(parts: Sequence[str]) -> Iterator[Fields]:
    for part in parts:
        array = np.load(part, mmap_mode="r")
        native = array.dtype.newbyteorder("=")
        for first in range(0, max(len(array), 1), _ROWS):
            block = np.array(array[first : first + _ROWS], dtype=native)
            yield {f"x{i}": column for i, column in enumerate(block.T)}


def _type_of(cells: Any) -> Any:
    return getattr(cells, "type", getattr(cells, "dtype", "list"))


def _are_numbers(cells: Any) -> bool:
    if isinstance(cells, list):
        return all(isinstance(cell, (int, float, type(None))) for cell in cells)
    kind = getattr(cells, "type", None)
    return kind is None or is_arrow_number(getattr(kind, "value_type", kind))


def _taken(cells: Any, rows: NDArray[np.intp]) -> Any:
    if isinstance(cells, list):
        return [cells[row] for row in rows.tolist()]
    return cells[rows] if isinstance(cells, np.ndarray) else cells.take(rows)


def _with(
    cells: Any,
    new: Mapping[int, float],
    style: tuple[str, str, bool] | None,
    all_new: Sequence[float],
) -> Any:
    """Return a column with new cells, as floats if its type cannot hold them."""
    listed = list(_listed(cells))
    for row, x in new.items():
        number = style is None or isinstance(listed[row], (int, float))
        listed[row] = _whole_or_float(x) if number else as_text_cell(x, *style)
    if isinstance(cells, list):
        return listed
    kind = _type_of(cells)
    holds = "float" in str(kind) or str(kind) in ("double", "halffloat")
    whole = all(float(x).is_integer() for x in all_new)
    if style is None and not (holds or (whole and "int" in str(kind))):
        kind = float
        listed = [None if x is None else float(x) for x in listed]
    if isinstance(cells, np.ndarray):
        return np.array(listed, dtype=kind)
    import pyarrow

    kind = pyarrow.float64() if kind is float else getattr(kind, "value_type", kind)
    return pyarrow.array(listed, kind)


def _plain(cells: Any, ending: str) -> Any:
    """Return a column for a file without the types of this one."""
    listed = _listed(cells)
    if ending == ".npy":
        if isinstance(cells, np.ndarray):
            return cells
        return np.array([np.nan if x is None else float(x) for x in listed])
    if str(_type_of(cells)) in ("float16", "halffloat", "float32", "float"):
        # 0.1 rather than 0.10000000149011612, which is the same number there.
        return [x if x is None else float(str(np.float32(x))) for x in listed]
    if ending in TEXT:  # as words, booleans would be read as text
        return [int(x) if isinstance(x, bool) else x for x in listed]
    return listed


def refuse_other_rows(original: Original, n: int, source: str) -> None:
    """Raise if a file does not have the rows that were analyzed."""
    if original.n_rows != n:
        raise TableError(
            f"{source} has {original.n_rows:,} rows, but {n:,} were analyzed: it was "
            "modified while being read. Run again once it is complete."
        )


def refuse_text(original: Original, target: str) -> None:
    """Raise if the target is an array of numbers, but columns are not numbers."""
    texts = original.texts if ending_of(target) == ".npy" else []
    if texts:
        raise TableError(
            f"{target} holds numbers only, but {texts[0]!r} is a column of other cells "
            f"({len(texts)} such columns): choose the ending .parquet or .csv."
        )


@contextmanager
def kept_standard_input(source: str) -> Iterator[None]:
    """Let standard input be read more than once, if it is the source."""
    if source != STANDARD:
        yield
        return
    before = sys.stdin
    sys.stdin = _Rewound(read_bytes(STANDARD))  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.stdin = before


class _Rewound:
    """Standard input that begins anew whenever it is read."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    @property
    def buffer(self) -> IO[bytes]:
        """All of its bytes."""
        return io.BytesIO(self._content)


# ---------------------------------------------------------------- files to write


def refuse_original(target: str, data: str, *sources: str) -> None:
    """Raise early if rows of a file cannot be written to a target."""
    source = ending_of(data)
    binary = (*NUMPY, *PARQUET, *ARROW, *JSON, *SHEETS)
    more = [".npy"]
    if source not in binary and ending_of(target) not in binary:
        more.append(source)  # text with another ending
    refuse_target(target, data, *sources)
    refuse_ending(target, *more)


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
    if packed and (packed != ".gz" or ending in typed):
        raise TableError(
            f"{path} ends in {ending}{packed}, but only text and JSON lines are "
            "compressed, and only as .gz: choose another ending."
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
    with atomic_write(name) as file:
        if compression_of(name) != ".gz":
            yield file
            return
        # Without name and time: the same rows give the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc]


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


def require_writer(module: str, path: str | Path) -> Any:
    """Import a package that writes a format; raise if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = {"xlsxwriter": "XlsxWriter"}.get(module, module)
        raise TableError(
            f"Writing {path} needs {package}: pip install 'trueaxis[io]', or choose "
            "the ending .csv."
        ) from None
