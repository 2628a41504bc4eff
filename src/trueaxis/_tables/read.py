"""Read tables from CSV, TSV, Parquet, .npy or .npz files, or standard input.

The command line passes a path and gets numbers with column names. Errors name the line
and the column of cells that are not numbers. `write` does the reverse.
"""

from __future__ import annotations

import struct
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._rows.parquet import data_columns
from trueaxis._rows.watched_file import refuse_odd_paths
from trueaxis._tables.cells import TableError as TableError
from trueaxis._tables.errors import option, refuse_infinite, refuse_missing
from trueaxis._tables.numbers import to_numbers
from trueaxis._tables.text import read_cells

STANDARD = "-"
MISSING = ("fill", "error", "drop")  # what can be done about missing cells
# As in `_persistence.archive`, which is not imported: tables do not need models.
MODEL_HEADER = "header.json"
# What NumPy and zipfile raise for files whose content does not match their suffix.
_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError,
    NotImplementedError, RuntimeError, TypeError, ValueError,
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    """Numbers with names of columns and rows.

    Attributes
    ----------
    X : ndarray of shape (n, D)
        NaN for missing cells.
    columns : tuple of str
    ids : ndarray of shape (n,), or None
        Names of the rows.
    labels : ndarray of shape (n,), or None
        A column that is shown, but not analyzed.
    notes : tuple of str
        Guesses about the file that the user should know of.
    header : tuple of str
        Names of all columns in the order of the file, also of those that are not
        analyzed; "" for an unnamed column of row names. Empty if it is `columns`.
    others : dict
        Cells of the columns that are not analyzed.
    """

    X: NDArray[np.float64]
    columns: tuple[str, ...]
    ids: NDArray[np.str_] | None = None
    labels: NDArray[np.str_] | None = None
    notes: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    others: dict[str, list[Any]] = field(default_factory=dict)

    def select(self, kept: NDArray[np.bool_]) -> Table:
        """Return the table with some of its rows."""
        return replace(
            self,
            X=self.X[kept],
            ids=None if self.ids is None else self.ids[kept],
            labels=None if self.labels is None else self.labels[kept],
            others={name: [*compress(x, kept)] for name, x in self.others.items()},
        )


@dataclass(frozen=True)
class Choice:
    """Roles of the columns of a file, and how its text is to be read.

    Attributes
    ----------
    columns : sequence of str, or None
        Columns to analyze; None for all others.
    drop : sequence of str
        Columns not to analyze.
    id, label : str or None
        Column of row names; column that is shown, but not analyzed.
    decimal : {"auto", ".", ","}
        The decimal sign; the other one separates thousands.
    delimiter : str
        What separates cells: "auto", a character, "tab" or "space".
    header : {"auto", "yes", "no"}
        Whether the first line has column names.
    missing : {"fill", "error", "drop"}
        What to do about missing cells: leave them to the method, which fills them;
        raise an error; or leave out their rows.
    """

    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    id: str | None = None
    label: str | None = None
    decimal: str = "auto"
    delimiter: str = "auto"
    header: str = "auto"
    missing: str = "fill"


def read_table(path: str | Path, choice: Choice | None = None) -> Table:
    r"""Read a table of numbers, with NaN for missing cells.

    Parameters
    ----------
    path : str or Path
        A file, whose format is given by its suffix (.csv, .tsv, .txt, .parquet, .npy,
        .npz); "-" reads text from standard input.
    choice : Choice, optional
        Roles of the columns.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If cells are infinite or not numbers; names line and column.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from trueaxis._tables.read import Choice, read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pumps.csv"
    >>> _ = path.write_text("pump;flow;power\nA;1,5;20\nB;2,5;31\n")
    >>> table = read_table(path, Choice(id="pump"))
    >>> table.columns, table.X.tolist(), table.ids.tolist()
    (('flow', 'power'), [[1.5, 20.0], [2.5, 31.0]], ['A', 'B'])
    """
    choice = choice or Choice()
    name = str(path)
    if choice.missing not in MISSING:
        raise TableError(
            f"--missing is {choice.missing!r}: choose {', '.join(MISSING)}."
        )
    if name != STANDARD and Path(name).is_dir():
        raise TableError(
            f"{name} is a folder without .npy or Parquet files: pass a file."
        )
    if name == STANDARD:
        return _from_text(_read_text(name), name, choice)
    refuse_odd_paths(name)
    ending = Path(name).suffix.lower()
    if ending in (".npy", ".npz"):
        return _from_array(*_read_numpy(Path(name)), choice)
    if ending == ".parquet":
        return _from_cells(*_read_parquet(Path(name), choice), choice)
    return _from_text(_read_text(name), name, choice)


def _read_text(name: str) -> str:
    raw = sys.stdin.buffer.read() if name == STANDARD else Path(name).read_bytes()
    if b"\0" in raw[:4096]:
        raise TableError(
            f"{_display_name(name)} is not text: files in other formats must end in "
            ".parquet, .npy or .npz; or save it as CSV (UTF-8)."
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    try:
        return raw.decode("cp1252")  # the default of Western spreadsheets
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _from_text(text: str, name: str, choice: Choice) -> Table:
    cells = read_cells(
        text,
        _display_name(name),
        delimiter=choice.delimiter,
        header=choice.header,
        decimal=choice.decimal,
    )
    # If commas separate cells, 1.234 has decimals. Otherwise it may be thousands, most
    # likely after semicolons, which are used where the comma is the decimal sign.
    doubt = {",": "none", ";": "error"}.get(cells.delimiter, "note")
    notes, unnamed = list(cells.notes), None
    named = {*(choice.columns or ()), *choice.drop, choice.label}
    if choice.id is None and cells.ids is not None and cells.ids not in named:
        choice, unnamed = replace(choice, id=cells.ids), cells.ids
        notes.append(
            "The first column has no name and its cells are all distinct: it was used "
            f"as row names. To leave it out, use --drop {option([cells.ids])}."
        )
    try:
        table = _from_cells(cells.columns, cells.by_column, choice, cells.lines, doubt)
    except TableError as error:
        if not notes:
            raise
        # A wrong guess may have caused the error.
        raise type(error)(f"{error} Note: {' '.join(notes)}") from None
    if unnamed is not None:
        header = tuple("" if name == unnamed else name for name in table.header)
        others = {"": table.others[unnamed]} | table.others
        table = replace(table, header=header, others=others)
    return replace(table, notes=(*notes, *table.notes))


def _read_parquet(path: Path, choice: Choice) -> tuple[list[str], list[list[Any]]]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise TableError(
            f"{path} is a Parquet file, but pyarrow is not installed: pip install "
            "'trueaxis[parquet]', or save it as CSV."
        ) from None
    from pyarrow.types import is_nested

    with open(path, "rb") as file:  # clearer errors than those of pyarrow
        table = parquet.ParquetFile(file).read()
    for name, times in Counter(table.column_names).most_common(1):
        if times > 1:
            raise TableError(
                f"{path} has {times} columns named {name!r}: give each column its own "
                "name."
            )
    data = data_columns(table.schema)
    named = {*(choice.columns or ()), choice.id, choice.label}
    names = [name for name in table.column_names if name in data or name in named]
    for each in table.schema:
        if each.name in {*names} - {*choice.drop} and is_nested(each.type):
            raise TableError(
                f"Column {each.name!r} has values of type {each.type}. Only numbers "
                f"can be analyzed: drop the column (--drop {option([each.name])})."
            )
    return names, [table.column(name).to_pylist() for name in names]


def _read_numpy(path: Path) -> tuple[NDArray[Any], list[str]]:
    try:
        array = _load(path)
    except TableError:
        raise
    except _UNREADABLE as error:
        if "Object arrays" in str(error):
            raise TableError(
                f"{path} holds Python objects instead of plain numbers: save it as an "
                "array of floats."
            ) from None
        raise TableError(
            f"{path} is damaged, or was not written by numpy.save or numpy.savez: save "
            "it again; if it is text, rename it to end in .csv, .tsv or .txt."
        ) from None
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise TableError(
            f"{path} holds an array of {array.dtype} with {array.ndim} dimensions: "
            "save numbers in two dimensions, rows and columns."
        )
    return array, [f"x{i}" for i in range(array.shape[1])]


def _load(path: Path) -> NDArray[Any]:
    with path.open("rb") as file:  # NumPy would leave a damaged file open
        content = np.load(file, allow_pickle=False)
        if isinstance(content, np.ndarray):
            return content
        if MODEL_HEADER in content.files:
            raise TableError(
                f"{path} is a model file, not a table: pass the file with the rows "
                "(score, transform and report --model take a model as well)."
            )
        arrays: dict[str, NDArray[Any]] = {
            name: content[name] for name in content.files
        }
    tables = [name for name in arrays if getattr(arrays[name], "ndim", 0) == 2]
    if len(tables) != 1:
        raise TableError(
            f"{path} has {len(tables)} two-dimensional arrays (its arrays: "
            f"{', '.join(arrays)}): keep exactly one in the file."
        )
    return arrays[tables[0]]


def _from_array(array: NDArray[Any], columns: list[str], choice: Choice) -> Table:
    if (choice.columns, choice.id, choice.label) == (None,) * 3 and not choice.drop:
        X = array.astype(float)  # the usual case; faster than cell by cell
        return _without_holes(Table(X, tuple(columns)), choice, _place_names(None))
    return _from_cells(columns, [list(column) for column in array.T], choice)


def _from_cells(
    columns: Sequence[str],
    by_column: Sequence[list[Any]],
    choice: Choice,
    lines: list[int] | None = None,
    doubt: str = "none",
) -> Table:
    """Convert the chosen columns to numbers; `lines` has the line of each row."""
    if choice.decimal not in ("auto", ".", ","):
        raise TableError(f"--decimal is {choice.decimal!r}: choose auto, . or a comma.")
    cells = dict(zip(columns, by_column, strict=True))
    for name in (*(choice.columns or ()), *choice.drop, choice.id, choice.label):
        if name is not None and name not in cells:
            raise TableError(
                f"There is no column {name!r}; the columns are {', '.join(columns)}."
            )
    not_analyzed = {*choice.drop, choice.id, choice.label}
    wanted = [name for name in (choice.columns or columns) if name not in not_analyzed]
    if not wanted:
        raise TableError("No column is left to analyze: drop fewer columns.")
    place = _place_names(lines)
    # Row names and labels may be anything: they say nothing about the decimal sign.
    used = {*wanted, choice.id, choice.label}
    others = {name: cells[name] for name in columns if name not in used}
    X, notes = to_numbers(
        {name: cells[name] for name in wanted},
        others,
        choice.decimal,
        place,
        doubt=doubt,
    )
    ids, labels = (
        None if name is None else np.array([str(cell) for cell in cells[name]])
        for name in (choice.id, choice.label)
    )
    others = {name: cells[name] for name in columns if name not in {*wanted}}
    table = Table(X, tuple(wanted), ids, labels, tuple(notes), tuple(columns), others)
    return _without_holes(table, choice, place)


def _without_holes(table: Table, choice: Choice, place: Callable[[int], str]) -> Table:
    """Do about missing cells what was chosen; refuse infinite ones."""
    refuse_infinite(table.X, table.columns, place)
    if choice.missing == "fill":
        return table
    if choice.missing == "error":
        refuse_missing(table.X, table.columns, place)
        return table
    complete: NDArray[np.bool_] = np.logical_not(np.isnan(table.X).any(axis=1))
    n, dropped = len(complete), int((~complete).sum())
    if dropped == n:
        raise TableError(
            f"All {n:,} rows have a missing cell, and --missing drop leaves no row: "
            "use --missing fill, or drop the columns that are mostly empty."
        )
    if not dropped:
        return table
    note = f"{dropped:,} of {n:,} rows have a missing cell and were left out."
    # The rows that are left keep their numbers.
    ids = np.arange(n).astype(str) if table.ids is None else table.ids
    table = replace(table, ids=ids, notes=(*table.notes, note))
    return table.select(complete)


def _place_names(lines: list[int] | None) -> Callable[[int], str]:
    return lambda row: f"row {row}" if lines is None else f"line {lines[row]}"


def _display_name(name: str) -> str:
    return "standard input" if name == STANDARD else name
