"""The rows of a file, to write some of them again, with some cells changed.

`read_table` makes numbers of a file; this module gives back what they were made from:
all columns, in the order and the format of the file. Text is split into cells and
written by the csv module, so that every cell keeps its text.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, compress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import TableError
from trueaxis.io.choice import Choice
from trueaxis.io.formats import (
    ARROW,
    JSON,
    NUMPY,
    PARQUET,
    SHEETS,
    STANDARD,
    TEXT,
    ending_of,
    is_arrow_number,
    open_text,
    read_arrow_blocks,
    read_bytes,
    read_content,
)
from trueaxis.io.write import (
    Fields,
    guarded,
    refuse_ending,
    refuse_target,
    write_content,
)

Changes = Mapping[str, Mapping[int, float]]  # new values by column and row
Kept = NDArray[np.bool_] | None  # which rows; None for all

_BATCH_ROWS = 1 << 16
_BINARY = (*NUMPY, *PARQUET, *ARROW, *JSON, *SHEETS)
_THOUSANDS = re.compile(r"\d{1,3}\.\d{3}")  # or decimals: 1.234


class Original:
    """Rows of a file.

    Attributes
    ----------
    names : list of str
        All columns.
    n_rows : int
    texts : list of str
        The columns that are not numbers.
    """

    names: list[str]
    n_rows: int
    texts: list[str]

    def write(
        self, file: IO[bytes], target: str, kept: Kept, new: Changes
    ) -> list[str]:
        """Write rows to a file; return notes about types that could not be kept.

        Parameters
        ----------
        file : binary file
        target : str
            Its name, whose ending tells the format.
        kept : ndarray of bool, or None
            Which rows to write; None for all, with remarks below them.
        new : dict
            New values by column and row.
        """
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
        return _Typed(partial(_arrow_blocks, parts), parts[0], choice)
    if ending in NUMPY:
        return _Typed(partial(_array_blocks, parts), source, choice)
    if ending in JSON + SHEETS:
        content = read_content(source, choice)
        return _Typed(lambda: iter([content.raw]), source, choice)
    return _Text(source, choice)


def write_rows(
    original: Original,
    file: IO[bytes],
    target: str,
    rows: NDArray[np.intp] | None = None,
    changes: Changes | None = None,
) -> list[str]:
    """Write rows of a file, in the format of the target.

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
        kept = np.zeros(original.n_rows, dtype=bool)
        kept[rows] = True
    return original.write(file, target, kept, new)


def refuse_other_rows(original: Original, n: int, source: str) -> None:
    """Raise if a file does not have the rows that were analyzed."""
    if original.n_rows != n:
        raise TableError(
            f"{source} has {original.n_rows:,} rows, but {n:,} were analyzed: it was "
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


# ---------------------------------------------------------------- numbers as text


def format_number(x: float) -> str:
    """Return a number with as many digits as it needs, whole ones without decimals."""
    return str(_whole_or_float(x)) if abs(x) < 1e15 else repr(float(x))


def _whole_or_float(x: float) -> int | float:
    return int(x) if float(x).is_integer() and abs(x) < 1 << 53 else float(x)


def number_as_text(x: float, mark: str, unit: str, unclear: bool) -> str:
    """Return a number as text, with the decimal sign and the unit of its column.

    Parameters
    ----------
    x : float
    mark : {".", ","}
    unit : str
    unclear : bool
        Whether 1.234 could be taken for thousands.

    Examples
    --------
    >>> from trueaxis.io.original import number_as_text
    >>> number_as_text(-2.5, ",", "kg", True), number_as_text(1.234, ",", "", True)
    ('-2,5 kg', '1,2340')
    """
    digits = format_number(x)
    if unclear and _THOUSANDS.fullmatch(digits.lstrip("-")):
        digits += "0"
    return " ".join(filter(None, [digits.replace(".", mark), unit]))


# ---------------------------------------------------------------- text


class _Text(Original):
    """The rows of a text, which may be larger than memory, as cells of text."""

    def __init__(self, source: str, choice: Choice) -> None:
        # Roles do not matter here, but no column may be refused for its cells.
        roles = [*choice.names_of_rows]
        how = replace(choice, drop=[*choice.drop, *roles], id=None, label=None)
        self.source, self.text = source, open_text(source, how)
        self.layout = self.text.file.layout
        self.names, self.n_rows = list(self.layout.names), self.text.rows
        facts = self.text.facts
        self.texts = [
            name
            for name in self.text.names
            if not facts[name].plain or name == self.text.row_names
        ]
        self.mark = self.text.reading.decimal

    def write(
        self, file: IO[bytes], target: str, kept: Kept, new: Changes
    ) -> list[str]:
        """Write what is above the rows, and rows; the delimiter follows the ending."""
        if ending_of(target) not in (*TEXT, ending_of(self.source)):
            fields = self._columns(kept, new)
            write_content(file, target, iter([fields]), self.n_rows)
            return []
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

    def _columns(self, kept: Kept, new: Changes) -> dict[str, Any]:
        """Return columns for a file of another format.

        Plain numbers become numbers. Cells with units or limits, or with zeros at the
        start, stay text, from which the same numbers are read.
        """
        out: dict[str, Any] = {}
        written = self._by_column(new)
        missing = self.text.reading.is_missing
        for name in self.text.names:
            if name in self.texts:
                cells = [x for _, block in self.text.texts([name]) for x in block[0]]
                for row, text in written.get(name, {}).items():
                    cells[row] = text
                chosen = cells if kept is None else [*compress(cells, kept)]
                out[name] = [None if missing(cell) else cell for cell in chosen]
                continue
            values = np.concatenate([x[:, 0] for _, x in self.text.blocks([name])])
            for row, x in new.get(name, {}).items():
                values[row] = x
            whole = (
                self.text.facts[name].whole
                and ((values % 1 == 0) & (np.abs(values) < 1 << 53)).all()
            )
            values = values if kept is None else values[kept]
            out[name] = values.astype(int) if whole else values
        return out

    def _rows(
        self, kept: Kept, changed: Mapping[int, Mapping[int, str]]
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
        """Return new cells as text, with the units of their columns."""
        reading, facts = self.text.reading, self.text.facts
        unclear = self.mark == "," or self.layout.delimiter != ","
        out = {}
        for name, new in changes.items():
            how = self.mark, facts[name].kind(reading)[1], unclear
            out[name] = {row: number_as_text(x, *how) for row, x in new.items()}
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


# ---------------------------------------------------------------- other formats


class _Typed(Original):
    """The rows of a file whose cells have types, block by block.

    Parameters
    ----------
    blocks : callable
        Return the columns of every block, in arrays or lists; the first block may be
        without rows.
    source : str
    choice : Choice
    """

    def __init__(
        self, blocks: Callable[[], Iterator[Fields]], source: str, choice: Choice
    ) -> None:
        self.source, self.choice, self._blocks = source, choice, blocks
        self.n_rows, texts = 0, dict[str, None]()
        for fields in blocks():
            self.names = list(fields)
            self.n_rows += len(fields[self.names[0]])
            texts |= {name: None for name in fields if not _are_numbers(fields[name])}
        self.texts = list(texts)

    def write(
        self, file: IO[bytes], target: str, kept: Kept, new: Changes
    ) -> list[str]:
        """Write rows to a file of any format."""
        notes: dict[str, None] = {}
        to_arrow = ending_of(target) in PARQUET + ARROW
        blocks = (
            fields
            if to_arrow
            else {
                name if _is_data(name) else "": _plain(cells, target)
                for name, cells in fields.items()
            }
            for fields in self._changed(kept, new, notes)
        )
        first = next(blocks)
        n = self.n_rows if kept is None else int(kept.sum())
        # What pandas has noted about types may not be true of new ones.
        metadata = None
        if to_arrow and ending_of(self.source) in PARQUET + ARROW and not notes:
            metadata = next(read_arrow_blocks(self.source)).schema.metadata
        write_content(file, target, chain([first], blocks), n, metadata)
        return list(notes)

    def _changed(
        self, kept: Kept, new: Changes, notes: dict[str, None]
    ) -> Iterator[Fields]:
        """Yield rows with their new cells; add notes about types."""
        styles: dict[str, tuple[str, str]] = {}
        if any(name in self.texts for name in new):
            content = read_content(self.source, self.choice)
            styles = {
                each.name: (content.decimal, each.unit)
                for each in content.columns
                if each.name in self.texts
            }
        first = 0
        for fields in self._blocks():
            fields = dict(fields)
            last = first + len(fields[self.names[0]])
            for name, cells in new.items():
                here = {
                    row - first: x for row, x in cells.items() if first <= row < last
                }
                before = fields[name]
                if name in styles:
                    fields[name] = _with_texts(before, here, *styles[name])
                    continue
                fields[name] = _with_numbers(before, here, [*cells.values()])
                kinds = [str(_type_of(each)) for each in (before, fields[name])]
                if kinds[0] != kinds[1]:
                    notes[
                        f"Column {name!r} was {kinds[0]}, which cannot hold its new "
                        f"cells: it was written as {kinds[1]}."
                    ] = None
            if kept is not None:
                some = np.flatnonzero(kept[first:last])
                fields = {name: _taken(x, some) for name, x in fields.items()}
            yield fields
            first = last


def _arrow_blocks(parts: Sequence[str]) -> Iterator[Fields]:
    """Yield the columns of Parquet or Feather files, a few rows at a time."""
    names: list[str] = []
    for part in parts:
        for table in read_arrow_blocks(part):
            # The index of a data frame comes first, as pandas writes it.
            names = names or sorted(table.column_names, key=_is_data)
            yield {name: table.column(name) for name in names}


def _is_data(name: str) -> bool:
    """Return whether a column is not the index of a data frame without a name."""
    return not name.startswith("__index_level_")


def _array_blocks(parts: Sequence[str]) -> Iterator[Fields]:
    for part in parts:
        array = np.load(part, mmap_mode="r")
        native = array.dtype.newbyteorder("=")
        for first in range(0, max(len(array), 1), _BATCH_ROWS):
            block = np.array(array[first : first + _BATCH_ROWS], dtype=native)
            yield {f"x{i}": column for i, column in enumerate(block.T)}


def _type_of(cells: Any) -> Any:
    return getattr(cells, "type", getattr(cells, "dtype", "list"))


def _listed(cells: Any) -> list[Any]:
    """Return a column as a list of Python's objects."""
    if isinstance(cells, list):
        return cells
    listed: list[Any] = (
        cells.to_pylist() if hasattr(cells, "to_pylist") else cells.tolist()
    )
    return listed


def _are_numbers(cells: Any) -> bool:
    if isinstance(cells, list):
        return all(isinstance(cell, (int, float, type(None))) for cell in cells)
    if isinstance(cells, np.ndarray):
        return True
    return is_arrow_number(getattr(cells.type, "value_type", cells.type))


def _taken(cells: Any, rows: NDArray[np.intp]) -> Any:
    if isinstance(cells, list):
        return [cells[row] for row in rows.tolist()]
    return cells[rows] if isinstance(cells, np.ndarray) else cells.take(rows)


def _with_numbers(cells: Any, new: Mapping[int, float], all_new: list[float]) -> Any:
    """Return numbers with others, as floats if their type cannot hold these."""
    whole = all(float(x).is_integer() and abs(x) < 1 << 31 for x in all_new)
    if isinstance(cells, list):
        cells = list(cells)
        for row, x in new.items():
            cells[row] = _whole_or_float(x)
        return cells
    if isinstance(cells, np.ndarray):
        if cells.dtype.kind != "f" and not whole:
            cells = cells.astype(float)
        cells = cells.copy()
        cells[[*new]] = [*new.values()]
        return cells
    import pyarrow
    from pyarrow import types

    kind = cells.type
    if not (types.is_floating(kind) or (types.is_integer(kind) and whole)):
        kind = pyarrow.float64()
    listed = cells.cast(kind, safe=False).to_pylist()
    for row, x in new.items():
        listed[row] = x if types.is_floating(kind) else int(x)
    return pyarrow.array(listed, kind)


def _with_texts(cells: Any, new: Mapping[int, float], mark: str, unit: str) -> Any:
    """Return cells of text with numbers, with their decimal sign and unit."""
    listed = list(_listed(cells))
    for row, x in new.items():
        text = number_as_text(x, mark, unit, mark == ",")
        number = isinstance(listed[row], (int, float))
        listed[row] = _whole_or_float(x) if number else text
    if isinstance(cells, list):
        return listed
    import pyarrow

    return pyarrow.array(listed, getattr(cells.type, "value_type", cells.type))


def _plain(cells: Any, target: str) -> Any:
    """Return a column for a file without the types of this one."""
    kind = str(_type_of(cells))
    cells = cells if isinstance(cells, np.ndarray) else _listed(cells)
    if (
        kind in ("float16", "halffloat", "float32", "float")
        and ending_of(target) != ".npy"
    ):
        # 0.1 rather than 0.10000000149011612, which is the same number there.
        return [x if x is None else float(str(np.float32(x))) for x in cells]
    ending = ending_of(target)
    if ending == ".npy" and isinstance(cells, list):
        return np.array([np.nan if x is None else float(x) for x in cells])
    if ending in TEXT:  # as words, booleans would be read as text
        if isinstance(cells, np.ndarray):
            return cells.astype(int) if cells.dtype == bool else cells
        return [int(x) if isinstance(x, bool) else x for x in cells]
    return cells
