"""The rows of a file, to write some of them again, with some cells changed.

`read_table` makes numbers of a file; this module gives back what they were made from:
all columns, in the order and the format of the file. Text is split into cells and
written by the csv module, so that every cell keeps its text.
"""

from __future__ import annotations

import csv
import decimal
import io
import json
import re
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import TableError
from trueaxis.io.cells import MINUS, number_pattern
from trueaxis.io.choice import Choice
from trueaxis.io.formats import (
    ARROW,
    JSON,
    NUMPY,
    PARQUET,
    SHEETS,
    STANDARD,
    TEXT,
    Content,
    ending_of,
    is_arrow_number,
    names_of_records,
    open_text,
    read_arrow,
    read_bytes,
    read_content,
    read_json,
    read_numpy,
)
from trueaxis.io.write import (
    arrow_writer,
    guarded,
    json_line,
    npy_header,
    refuse_ending,
    refuse_target,
    write_content,
    write_sheet_rows,
)

Changes = Mapping[str, Mapping[int, float]]  # new values by column and row

_BATCH_ROWS = 1 << 16
_BINARY = (*NUMPY, *PARQUET, *ARROW, *JSON, *SHEETS)
_THOUSANDS = re.compile(r"\d{1,3}\.\d{3}")  # or decimals: 1.234


class Original:
    """Rows of a file; each format has its own class.

    Attributes
    ----------
    names : list of str
        All columns.
    native : tuple of str
        Endings of files that hold rows as they are in this one; "" is also that of
        standard output.
    """

    names: list[str]
    native: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of rows."""
        raise NotImplementedError

    def texts(self) -> list[str]:
        """Return the columns that are not numbers."""
        raise NotImplementedError

    def write(
        self, file: IO[bytes], target: str, kept: NDArray[np.bool_] | None, new: Changes
    ) -> list[str]:
        """Write rows to a file of the same format; return notes about their types.

        Parameters
        ----------
        file : binary file
        target : str
            Its name.
        kept : ndarray of bool, or None
            Which rows to write; None for all, with remarks below them.
        new : dict
            New values by column and row.
        """
        raise NotImplementedError

    def columns(self, kept: NDArray[np.bool_], new: Changes) -> dict[str, Any]:
        """Return columns for a file of another format."""
        raise NotImplementedError


def open_original(
    source: str, choice: Choice | None = None, files: Sequence[Path] = ()
) -> Original:
    r"""Open the rows of a file for writing some of them again.

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
    >>> from trueaxis.io.original import open_original, write_rows
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pumps.csv"
    >>> _ = path.write_text("pump;flow\nA; 1,50\nB;\n")
    >>> original, out = open_original(str(path)), io.BytesIO()
    >>> _ = write_rows(original, out, "out.csv", np.array([1]), {"flow": {1: 2.5}})
    >>> out.getvalue()
    b'pump;flow\nB;2,5\n'
    """
    choice = choice or Choice()
    parts = [str(file) for file in files] or [source]
    ending = ending_of(parts[0])
    if ending in PARQUET + ARROW:
        return _ArrowOriginal(parts, choice)
    if ending in NUMPY:
        return _ArrayOriginal(parts)
    if ending in JSON:
        return _JsonOriginal(source, choice)
    if ending in SHEETS:
        return _SheetOriginal(source, choice)
    return _TextOriginal(source, choice)


def write_rows(
    original: Original,
    file: IO[bytes],
    target: str,
    rows: NDArray[np.intp] | None = None,
    changes: Changes | None = None,
) -> list[str]:
    """Write rows of a file, in its own format or in that of the target.

    Parameters
    ----------
    original : Original
    file : binary file
    target : str
        Its name, whose ending tells the format; "-" for that of the original if it is
        text, and CSV otherwise.
    rows : ndarray of int, optional
        Which rows, in ascending order; all by default.
    changes : dict, optional
        New values by column and row.

    Returns
    -------
    list of str
        Notes about types that could not be kept.
    """
    new = {name: cells for name, cells in (changes or {}).items() if cells}
    kept = None
    if rows is not None:
        kept = np.zeros(len(original), dtype=bool)
        kept[rows] = True
    ending = ending_of(target)
    if ending in original.native:
        return original.write(file, target, kept, new)
    kept = np.ones(len(original), dtype=bool) if kept is None else kept
    fields = original.columns(kept, new)
    if ending in (*TEXT, ".npy"):
        fields = {name: _without_booleans(values) for name, values in fields.items()}
    if ending == ".npy":
        fields = {name: _floats(values) for name, values in fields.items()}
    write_content(file, target, iter([fields]), int(kept.sum()))
    return []


def refuse_other_rows(original: Original, n: int, source: str) -> None:
    """Raise if a file does not have the rows that were analyzed."""
    if len(original) != n:
        raise TableError(
            f"{source} has {len(original):,} rows, but {n:,} were analyzed: it was "
            "modified while being read. Run again once it is complete."
        )


def refuse_original(target: str, data: str, *sources: str) -> None:
    """Raise early if rows of a file cannot be written to a target."""
    if target in ("", STANDARD):
        return
    refuse_target(target, data, *sources)
    ending, source = ending_of(target), ending_of(data)
    if ending in SHEETS and ending != ".xlsx":
        raise TableError(
            f"{target} ends in {ending}, which cannot be written: choose the ending "
            ".xlsx or .csv."
        )
    if ending == ".npz":
        raise TableError(
            f"{target} ends in .npz, as models do: choose the ending .npy for an array."
        )
    more = [".npy"]
    if source not in _BINARY and ending not in _BINARY:
        more.append(source)  # text with another ending
    if source in JSON:
        more += JSON
    refuse_ending(target, *more)


def refuse_text(original: Original, target: str) -> None:
    """Raise if the target is an array of numbers, but columns are not numbers."""
    texts = original.texts() if ending_of(target) == ".npy" else []
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
    sys.stdin = io.TextIOWrapper(_Rewound(read_bytes(STANDARD)), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = before


class _Rewound(io.BytesIO):
    """Bytes that begin anew once all of them were read."""

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        if not data or size is None or size < 0:
            self.seek(0)
        return data


def _without_booleans(values: Any) -> Any:
    """Return numbers for booleans: as words, they would be read as text."""
    if isinstance(values, np.ndarray):
        return values.astype(int) if values.dtype == bool else values
    return [int(value) if isinstance(value, bool) else value for value in values]


def _floats(values: Any) -> NDArray[Any]:
    """Return numbers as an array, with NaN for those that are missing."""
    if isinstance(values, np.ndarray):
        return values
    if all(isinstance(value, int) for value in values):
        return np.array(values)
    return np.array([np.nan if v is None else float(v) for v in values])


# ---------------------------------------------------------------- numbers as text


def format_number(x: float) -> str:
    """Return a number with as many digits as it needs, whole ones without decimals."""
    return str(_whole_or_float(x)) if abs(x) < 1e15 else repr(float(x))


def _whole_or_float(x: float) -> int | float:
    return int(x) if float(x).is_integer() and abs(x) < 1 << 53 else float(x)


def style_of(cells: Iterable[str], mark: str) -> str:
    """Return a cell to write others like: the first number, with its unit; or "".

    Examples
    --------
    >>> from trueaxis.io.original import style_of
    >>> style_of(["n.d.", "0", "1.5 kg", "2 kg"], ".")
    '1.5 kg'
    """
    pattern, zero = number_pattern(mark), ""
    for cell in cells:
        match = pattern.fullmatch(cell.strip().translate(MINUS))
        if match and (match[3] or match[6] or match[5].strip("0.,")):
            return cell
        if match:
            zero = zero or cell  # which needs no unit, so that it shows none
    return zero


def number_like(x: float, style: str, mark: str, *, unclear: bool = False) -> str:
    """Return a number as text, with the decimal sign and the unit of another cell.

    Parameters
    ----------
    x : float
    style : str
        A cell of the same column, or "".
    mark : {".", ","}
        The decimal sign.
    unclear : bool
        Whether 1.234 could be taken for thousands.

    Examples
    --------
    >>> from trueaxis.io.original import number_like
    >>> number_like(-2.5, "3,0 kg", ","), number_like(7, "$ 12.50", ".")
    ('-2,5 kg', '$7')
    """
    digits = format_number(x)
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    if unclear and _THOUSANDS.fullmatch(digits):
        digits += "0"
    digits = digits.replace(".", mark)
    style = style.strip()
    match = number_pattern(mark).fullmatch(style.translate(MINUS))
    if match is None:
        return sign + digits
    return f"{sign}{match[3] or ''}{digits}{style[match.end(5) :]}"


def _changed_objects(
    columns: Mapping[str, Sequence[Any]], changes: Changes, mark: str
) -> dict[str, dict[int, Any]]:
    """Return new cells of columns of objects: as text, where most cells are text."""
    out: dict[str, dict[int, Any]] = {}
    for name, new in changes.items():
        cells = columns[name]
        texts = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
        numbers = sum(isinstance(cell, (int, float)) for cell in cells)
        style = style_of(texts, mark) if len(texts) > numbers else None
        out[name] = {
            row: _whole_or_float(x)
            if style is None or isinstance(cells[row], (int, float))
            else number_like(x, style, mark, unclear=mark == ",")
            for row, x in new.items()
        }
    return out


# ---------------------------------------------------------------- text


class _TextOriginal(Original):
    """The rows of a text, which may be larger than memory, as cells of text."""

    def __init__(self, source: str, choice: Choice) -> None:
        # Roles do not matter here, but no column may be refused for its cells.
        roles = [*choice.names_of_rows]
        how = replace(choice, drop=[*choice.drop, *roles], id=None, label=None)
        self.source, self.text = source, open_text(source, how)
        self.layout = self.text.file.layout
        self.names = list(self.layout.names)
        self.native = (*TEXT, ending_of(source))
        self.mark = self.text.reading.decimal

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.text.rows

    def texts(self) -> list[str]:
        """Return the columns that are not plain numbers."""
        return [name for name in self.text.names if not self._is_plain(name)]

    def _is_plain(self, name: str) -> bool:
        """Return whether a column has numbers without units, limits and codes."""
        return self.text.facts[name].plain

    def write(
        self, file: IO[bytes], target: str, kept: NDArray[np.bool_] | None, new: Changes
    ) -> list[str]:
        """Write what is above the rows, and rows; the delimiter follows the ending."""
        content = self.text.file
        out = io.TextIOWrapper(io.BytesIO(), content.encoding, newline="")
        delimiter = self._delimiter(target)
        writer = csv.writer(out, delimiter=delimiter, lineterminator=content.newline)
        if delimiter == self.layout.delimiter:
            self._write_head(out)
        elif self.layout.named:
            unnamed = self.layout.unnamed
            writer.writerow(
                guarded("" if i in unnamed else name)
                for i, name in enumerate(self.names)
            )
            if any(self.layout.units):
                writer.writerow(map(guarded, self.layout.units))
        changed = self._by_row(new)
        for cells in self._rows(kept, changed):
            writer.writerow(map(guarded, cells))
            if out.buffer.tell() > _BATCH_ROWS:
                _pour(out, file)
        if kept is None:
            for _, cells in content.below:
                writer.writerow(map(guarded, cells))
        _pour(out, file)
        return []

    def columns(self, kept: NDArray[np.bool_], new: Changes) -> dict[str, Any]:
        """Return columns for a file of another format.

        Plain numbers become numbers. Cells with units or limits, or with zeros at the
        start, stay text, from which the same numbers are read.
        """
        plain = [name for name in self.text.names if self._is_plain(name)]
        other = [name for name in self.text.names if not self._is_plain(name)]
        numbers = [block for _, block in self.text.blocks(plain)] if plain else []
        X = np.concatenate([np.empty((0, len(plain))), *numbers])
        texts: dict[str, list[str | None]] = {name: [] for name in other}
        for _, block in self.text.texts(other) if other else ():
            for name, cells in zip(other, block, strict=True):
                missing = {*filter(self.text.reading.is_missing, {*cells})}
                texts[name] += [None if cell in missing else cell for cell in cells]
        out: dict[str, Any] = {}
        by_column = self._by_column(new)
        rows = np.flatnonzero(kept)
        for name in self.text.names:
            if name in texts:
                for row, text in by_column.get(name, {}).items():
                    texts[name][row] = text
                out[name] = [texts[name][row] for row in rows.tolist()]
                continue
            values = X[:, plain.index(name)]
            for row, x in new.get(name, {}).items():
                values[row] = x
            whole = self.text.facts[name].whole and (values % 1 == 0).all()
            out[name] = values[kept].astype(int) if whole else values[kept]
        return out

    def _rows(
        self, kept: NDArray[np.bool_] | None, changed: Mapping[int, Mapping[int, str]]
    ) -> Iterator[list[str]]:
        with closing(self.text.file.rows()) as records:
            for row, (_, cells) in enumerate(records):
                if kept is None or kept[row]:
                    for i, text in changed.get(row, {}).items():
                        cells[i] = text
                    yield cells

    def _write_head(self, out: IO[str]) -> None:
        for line in self.text.file.head:
            if guarded("=") == "=":
                out.write(line)
                continue
            end = line[len(line.rstrip("\r\n")) :]
            for cells in csv.reader([line], delimiter=self.layout.delimiter):
                how: Any = {"delimiter": self.layout.delimiter, "lineterminator": end}
                csv.writer(out, **how).writerow(map(guarded, cells))

    def _delimiter(self, target: str) -> str:
        ending, now = ending_of(target), self.layout.delimiter
        if ending == ".tsv":
            return "\t"
        if ending == ".csv" and now not in ",;" and ending_of(self.source) != ".csv":
            return ","
        return now

    def _by_column(self, changes: Changes) -> dict[str, dict[int, str]]:
        """Return new cells as text, in the style of others of their columns."""
        unclear = self.mark == "," or self.layout.delimiter != ","
        out = {}
        for name, new in changes.items():
            with closing(self.text.texts([name])) as blocks:
                cells = (
                    cell
                    for _, block in blocks
                    for cell in block[0]
                    if not self.text.reading.is_missing(cell)
                )
                style = style_of(cells, self.mark)
            out[name] = {
                row: number_like(x, style, self.mark, unclear=unclear)
                for row, x in new.items()
            }
        return out

    def _by_row(self, changes: Changes) -> dict[int, dict[int, str]]:
        out: dict[int, dict[int, str]] = {}
        positions = {name: i for i, name in enumerate(self.names)}
        for name, new in self._by_column(changes).items():
            for row, text in new.items():
                out.setdefault(row, {})[positions[name]] = text
        return out


def _pour(out: io.TextIOWrapper, file: IO[bytes]) -> None:
    """Move what was written as text to a binary file."""
    out.flush()
    buffer: Any = out.buffer
    file.write(buffer.getvalue())
    buffer.seek(0)
    buffer.truncate()


# ---------------------------------------------------------------- Parquet, Feather


class _ArrowOriginal(Original):
    """The rows of Parquet files, or of a Feather file, as tables of pyarrow."""

    native = PARQUET + ARROW

    def __init__(self, parts: Sequence[str], choice: Choice) -> None:
        self.parts, self.choice = parts, choice
        with closing(self._batches()) as batches:
            self.schema = next(batches).schema
        self.names = list(self.schema.names)
        self._rows: int = sum(table.num_rows for table in self._batches(self.names[:1]))

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._rows

    def texts(self) -> list[str]:
        """Return the columns that are not numbers."""
        return [
            each.name
            for each in self.schema
            if not is_arrow_number(getattr(each.type, "value_type", each.type))
        ]

    def write(
        self, file: IO[bytes], target: str, kept: NDArray[np.bool_] | None, new: Changes
    ) -> list[str]:
        """Write rows to a Parquet or Feather file."""
        schema, notes = self._schema_for(new)
        with arrow_writer(file, target, schema) as writer:
            for table in self._tables(schema, kept, new):
                writer.write_table(table)
        return notes

    def columns(self, kept: NDArray[np.bool_], new: Changes) -> dict[str, Any]:
        """Return columns for a file of another format.

        The index of a data frame comes first and has no name, as pandas writes it.
        """
        import pyarrow

        schema = self._schema_for(new)[0]
        table = pyarrow.concat_tables(self._tables(schema, kept, new))
        stored = (schema.pandas_metadata or {}).get("index_columns", [])
        unnamed = [each for each in stored if str(each).startswith("__index_level_")]
        names = table.column_names
        if len(unnamed) == 1 and unnamed[0] in names:
            names = [unnamed[0], *(name for name in names if name != unnamed[0])]
            table = table.select(names)
            names = ["", *names[1:]]
        return {
            name: _python_values(column)
            for name, column in zip(names, table.columns, strict=True)
        }

    def _batches(
        self, columns: Sequence[str] | None = None
    ) -> Generator[Any, None, None]:
        """Yield the table, a few rows at a time if it is in a Parquet file."""
        import pyarrow

        for part in self.parts:
            if ending_of(part) != ".parquet" or not Path(part).suffix == ".parquet":
                yield read_arrow(part, columns)
                continue
            from pyarrow import parquet

            with parquet.ParquetFile(part) as opened:
                yield opened.schema_arrow.empty_table().select(
                    columns or opened.schema_arrow.names
                )
                for batch in opened.iter_batches(_BATCH_ROWS, columns=columns):
                    yield pyarrow.Table.from_batches([batch])

    def _tables(
        self, schema: Any, kept: NDArray[np.bool_] | None, new: Changes
    ) -> Iterator[Any]:
        """Yield rows with their new cells."""
        import pyarrow

        first = 0
        for table in self._batches():
            table = table.select(self.names)
            last = first + table.num_rows
            for i, field in enumerate(schema):
                column = table.column(i)
                here = {
                    row - first: x
                    for row, x in new.get(field.name, {}).items()
                    if first <= row < last
                }
                if column.type != field.type or here:
                    column = _with_cells(column, here, field.type, self._style(field))
                    table = table.set_column(i, field, column)
            table = table.cast(schema)
            if kept is not None:
                table = table.filter(pyarrow.array(kept[first:last]))
            yield table
            first = last

    def _schema_for(self, new: Changes) -> tuple[Any, list[str]]:
        """Return the types of the columns, which can hold the new cells, and notes."""
        import pyarrow
        from pyarrow import types

        schema, notes = self.schema, []
        for name, cells in new.items():
            i = schema.get_field_index(name)
            kind = before = schema.field(i).type
            if types.is_dictionary(kind):
                kind = kind.value_type
            if types.is_null(kind) or not _fits(kind, list(cells.values())):
                kind = pyarrow.float64()
            if kind != before:
                notes.append(
                    f"Column {name!r} was {before}, which cannot hold its new cells: "
                    f"it was written as {kind}."
                )
                schema = schema.set(i, schema.field(i).with_type(kind))
                schema = _without_pandas_type(schema, name, str(kind))
        return schema, notes

    def _style(self, field: Any) -> tuple[str, str]:
        """Return a cell of text to write others like, and the decimal sign."""
        if is_arrow_number(field.type):
            return "", "."
        mark = read_content(self.parts[0], self.choice).decimal
        cells = next(self._batches([field.name])).column(0).to_pylist()
        for table in self._batches([field.name]):
            cells += table.column(0).to_pylist()
        return style_of(filter(None, cells), mark), mark


def _with_cells(
    column: Any, new: Mapping[int, float], kind: Any, style: tuple[str, str]
) -> Any:
    """Return a column with other cells, as a type that can hold them."""
    import pyarrow
    from pyarrow import compute, types

    column = pyarrow.concat_arrays(
        [chunk.cast(kind, safe=False) for chunk in column.chunks]
    ) if column.num_chunks else pyarrow.array([], kind)  # fmt: skip
    if not new:
        return column
    rows = sorted(new)
    values: list[Any] = [new[row] for row in rows]
    if types.is_decimal(kind):
        values = [round(decimal.Decimal(repr(float(x))), kind.scale) for x in values]
    elif types.is_boolean(kind):
        values = [bool(x) for x in values]
    elif types.is_integer(kind):
        values = [int(x) for x in values]
    elif not types.is_floating(kind):
        values = [number_like(x, *style, unclear=style[1] == ",") for x in values]
    mask = np.zeros(len(column), dtype=bool)
    mask[rows] = True
    cells = pyarrow.array(values).cast(kind, safe=False)
    return compute.replace_with_mask(column, pyarrow.array(mask), cells)


def _fits(kind: Any, values: Sequence[float]) -> bool:
    """Return whether an integer type, or booleans, can hold numbers exactly."""
    from pyarrow import types

    if types.is_boolean(kind):
        return all(x in (0, 1) for x in values)
    if not types.is_integer(kind):
        return True
    limits = np.iinfo(kind.to_pandas_dtype())
    return all(
        float(x).is_integer() and abs(x) < 1 << 53 and limits.min <= x <= limits.max
        for x in values
    )


def _without_pandas_type(schema: Any, name: str, kind: str) -> Any:
    """Correct what pandas has noted about a column whose type has changed."""
    metadata = dict(schema.metadata or {})
    if b"pandas" not in metadata:
        return schema
    noted = json.loads(metadata[b"pandas"])
    kind = {"double": "float64", "string": "object"}.get(kind, kind)
    for column in noted.get("columns", []):
        if column.get("field_name", column.get("name")) == name:
            column |= {"pandas_type": kind, "numpy_type": kind, "metadata": None}
    metadata[b"pandas"] = json.dumps(noted).encode()
    return schema.with_metadata(metadata)


def _python_values(column: Any) -> list[Any]:
    from pyarrow import types

    values: list[Any] = column.to_pylist()
    if types.is_float16(column.type) or types.is_float32(column.type):
        # 0.1 rather than 0.10000000149011612, which is the same number there.
        return [None if x is None else float(str(np.float32(x))) for x in values]
    return values


# ---------------------------------------------------------------- JSON, sheets, NumPy


class _JsonOriginal(Original):
    """The rows of JSON lines, or of a list of objects."""

    native = JSON

    def __init__(self, source: str, choice: Choice) -> None:
        self.source, self.choice = source, choice
        self.records, places = read_json(source)
        self._is_list = places[:1] == ["row 0"]
        self.names = names_of_records(self.records, source)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.records)

    def texts(self) -> list[str]:
        """Return the columns that are not numbers."""
        numbers = (int, float, type(None))
        return [
            name
            for name in self.names
            if not all(isinstance(each.get(name), numbers) for each in self.records)
        ]

    def write(
        self, file: IO[bytes], target: str, kept: NDArray[np.bool_] | None, new: Changes
    ) -> list[str]:
        """Write rows as JSON lines, or as a list if the ending is .json."""
        lines = [json_line(record)[:-1] for record in self._changed(kept, new)]
        if ending_of(target) == ".json" and self._is_list:
            file.write(b"[\n" + b",\n".join(lines) + b"\n]\n")
        else:
            file.write(b"".join(line + b"\n" for line in lines))
        return []

    def columns(self, kept: NDArray[np.bool_], new: Changes) -> dict[str, Any]:
        """Return columns for a file of another format."""
        records = self._changed(kept, new)
        return {name: [each.get(name) for each in records] for name in self.names}

    def _changed(
        self, kept: NDArray[np.bool_] | None, changes: Changes
    ) -> list[dict[str, Any]]:
        records = list(self.records)
        if changes:
            mark = read_content(self.source, self.choice).decimal
            cells = {name: [each.get(name) for each in records] for name in changes}
            for name, new in _changed_objects(cells, changes, mark).items():
                for row, cell in new.items():
                    records[row] = records[row] | {name: cell}
        chosen = range(len(records)) if kept is None else np.flatnonzero(kept).tolist()
        return [records[row] for row in chosen]


class _SheetOriginal(Original):
    """The rows of a sheet of Excel or ODS: its values, without formats."""

    native = (".xlsx",)

    def __init__(self, source: str, choice: Choice) -> None:
        self.content: Content = read_content(source, choice)
        assert self.content.sheet is not None
        self.sheet = self.content.sheet
        self.names = [column.name for column in self.content.columns]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.sheet.rows)

    def texts(self) -> list[str]:
        """Return the columns that are not numbers."""
        return [each.name for each in self.content.columns if each.kind != "number"]

    def write(
        self, file: IO[bytes], target: str, kept: NDArray[np.bool_] | None, new: Changes
    ) -> list[str]:
        """Write rows to a sheet, below all that is above them."""
        grid, rows = self._changed(new), self.sheet.rows
        chosen = grid
        if kept is not None:
            below = [grid[at] for at, keep in zip(rows, kept, strict=True) if keep]
            chosen = grid[: rows[0]] + below
        write_sheet_rows(file, target, iter(chosen), len(chosen), self.sheet.name)
        return []

    def columns(self, kept: NDArray[np.bool_], new: Changes) -> dict[str, Any]:
        """Return columns for a file of another format."""
        grid = self._changed(new)
        rows = [at for at, keep in zip(self.sheet.rows, kept, strict=True) if keep]
        return {
            name: [_sheet_value(grid[at][i]) for at in rows]
            for name, i in zip(self.names, self.sheet.used, strict=True)
        }

    def _changed(self, changes: Changes) -> list[list[Any]]:
        grid, at = [list(row) for row in self.sheet.grid], self.sheet.rows
        position = dict(zip(self.names, self.sheet.used, strict=True))
        cells = {name: [grid[row][position[name]] for row in at] for name in changes}
        new = _changed_objects(cells, changes, self.content.decimal)
        for name, written in new.items():
            for row, cell in written.items():
                grid[at[row]][position[name]] = cell
        return grid


def _sheet_value(value: Any) -> Any:
    """Return a value of a sheet, where all numbers are floats."""
    if isinstance(value, str):
        return value or None
    return _whole_or_float(value) if isinstance(value, float) else value


class _ArrayOriginal(Original):
    """The rows of arrays in .npy files, or in a .npz file."""

    native = (".npy",)

    def __init__(self, parts: Sequence[str]) -> None:
        self.arrays = [
            np.load(part, mmap_mode="r", allow_pickle=False)
            if Path(part).suffix.lower() == ".npy"
            else read_numpy(Path(part))
            for part in parts
        ]
        self.names = [f"x{i}" for i in range(self.arrays[0].shape[1])]

    def __len__(self) -> int:
        """Return the number of rows."""
        return sum(map(len, self.arrays))

    def texts(self) -> list[str]:
        """Return the columns that are not numbers: none."""
        return []

    def write(
        self, file: IO[bytes], target: str, kept: NDArray[np.bool_] | None, new: Changes
    ) -> list[str]:
        """Write rows to a .npy file."""
        before = self.arrays[0].dtype
        dtype = self._type_for(new)
        n = len(self) if kept is None else int(kept.sum())
        npy_header(file, dtype, (n, len(self.names)))
        for block in self._blocks(dtype, kept, new):
            file.write(np.ascontiguousarray(block).tobytes())
        if dtype == before:
            return []
        return [
            f"The array was {before}, which cannot hold its new cells: it was written "
            f"as {dtype}."
        ]

    def columns(self, kept: NDArray[np.bool_], new: Changes) -> dict[str, Any]:
        """Return columns for a file of another format."""
        dtype = self._type_for(new).newbyteorder("=")
        array = np.concatenate([*self._blocks(dtype, kept, new)])
        if array.dtype.kind == "f" and array.dtype.itemsize < 8:
            array = np.array([float(str(x)) for x in array.ravel()])
            array = array.reshape(-1, len(self.names))
        return dict(zip(self.names, array.T, strict=True))

    def _type_for(self, changes: Changes) -> Any:
        dtype = self.arrays[0].dtype
        values = np.array([x for new in changes.values() for x in new.values()])
        with np.errstate(invalid="ignore", over="ignore"):
            exact = (values.astype(dtype).astype(float) == values).all()
        return dtype if exact or dtype.kind == "f" else np.dtype(float)

    def _blocks(
        self, dtype: Any, kept: NDArray[np.bool_] | None, changes: Changes
    ) -> Iterator[NDArray[Any]]:
        first = 0
        for array in self.arrays:
            for start in range(0, max(len(array), 1), _BATCH_ROWS):
                block = np.array(array[start : start + _BATCH_ROWS], dtype=dtype)
                for name, new in changes.items():
                    for row, x in new.items():
                        if first <= row < first + len(block):
                            block[row - first, int(name[1:])] = x
                last = first + len(block)
                yield block if kept is None else block[kept[first:last]]
                first = last
