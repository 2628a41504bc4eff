"""READ tables from files: CSV, TSV, Parquet, .npy, .npz, or standard input.

The command line hands a path and gets numbers with names; what is no number is named
with its line and column. `writing` is the way back.
"""

from __future__ import annotations

import struct
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._rows.parquet import data_columns
from trueaxis._rows.watched_file import refuse_odd_paths
from trueaxis._tables.cells import TableError as TableError
from trueaxis._tables.errors import option, refuse_missing
from trueaxis._tables.numbers import to_numbers
from trueaxis._tables.text import read_cells

STANDARD = "-"
MODEL_HEADER = "header.json"  # as in `archive`, which cannot be imported from here
# What numpy and zipfile raise for files that are not what their endings say.
_GARBLED = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError,
    NotImplementedError, RuntimeError, TypeError, ValueError,
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    """Numbers with names.

    Attributes
    ----------
    X : ndarray of shape (n, D)
    columns : tuple of str
    ids : ndarray of shape (n,), or None
        Names of the rows.
    labels : ndarray of shape (n,), or None
        A column that is carried along and not analysed.
    notes : tuple of str
        What was guessed about the file against appearances.
    """

    X: NDArray[np.float64]
    columns: tuple[str, ...]
    ids: NDArray[np.str_] | None = None
    labels: NDArray[np.str_] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Choice:
    """Which columns of a file are which, and how its text is to be read.

    Attributes
    ----------
    columns : sequence of str, or None
        To analyse; None for all that are left.
    drop : sequence of str
        Not to analyse.
    id, label : str or None
        Names of rows; a column that is carried along.
    decimal : {"auto", ".", ","}
        What stands before decimals; the other one parts thousands.
    delimiter : str
        What parts cells: "auto", a character, "tab" or "space".
    header : {"auto", "yes", "no"}
        Whether the first line has names of columns.
    """

    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    id: str | None = None
    label: str | None = None
    decimal: str = "auto"
    delimiter: str = "auto"
    header: str = "auto"


def read_table(path: str | Path, choice: Choice | None = None) -> Table:
    r"""Read a table of numbers.

    Parameters
    ----------
    path : str or Path
        A file, its format told by its ending (.csv, .tsv, .txt, .parquet, .npy, .npz);
        "-" reads text from standard input.
    choice : Choice, optional
        Which columns are which.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        Where cells are missing or no numbers, with line and column.

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
    if name != STANDARD and Path(name).is_dir():
        raise TableError(
            f"{name} is a folder, but not of .npy or of Parquet files: name a file."
        )
    if name == STANDARD:
        return _from_text(_read_text(name), name, choice)
    refuse_odd_paths(name)
    ending = Path(name).suffix.lower()
    if ending in (".npy", ".npz"):
        return _chosen_numbers(*_read_numpy(Path(name)), choice)
    if ending == ".parquet":
        return _from_cells(*_read_parquet(Path(name), choice), choice)
    return _from_text(_read_text(name), name, choice)


def _read_text(name: str) -> str:
    raw = sys.stdin.buffer.read() if name == STANDARD else Path(name).read_bytes()
    if b"\0" in raw[:4096]:
        raise TableError(
            f"{_shown(name)} is no text: files in other formats need their endings, "
            ".parquet, .npy or .npz; or save it as CSV (UTF-8)."
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    try:
        return raw.decode("cp1252")  # what spreadsheets in the West save otherwise
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _from_text(text: str, name: str, choice: Choice) -> Table:
    cells = read_cells(
        text,
        _shown(name),
        delimiter=choice.delimiter,
        header=choice.header,
        decimal=choice.decimal,
    )
    # Where commas part cells, 1.234 has decimals; elsewhere it may be thousands, and
    # where semicolons do, the comma is often there for decimals.
    doubt = {",": "none", ";": "error"}.get(cells.delimiter, "note")
    notes = list(cells.notes)
    named = {*(choice.columns or ()), *choice.drop, choice.label}
    if choice.id is None and cells.ids is not None and cells.ids not in named:
        choice = replace(choice, id=cells.ids)
        notes.append(
            f"The first column has no name and no cell twice: it names the rows. To "
            f"leave it out, say --drop {option([cells.ids])}."
        )
    try:
        table = _from_cells(cells.columns, cells.by_column, choice, cells.lines, doubt)
    except TableError as error:
        if not notes:
            raise
        # A wrong guess may be the cause.
        raise TableError(f"{error} Note: {' '.join(notes)}") from None
    return replace(table, notes=(*notes, *table.notes))


def _read_parquet(path: Path, choice: Choice) -> tuple[list[str], list[list[Any]]]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise TableError(
            f"{path} is a Parquet file, and pyarrow is not installed: pip install "
            "'trueaxis[parquet]', or save it as CSV."
        ) from None
    from pyarrow.types import is_nested

    with open(path, "rb") as file:  # which tells better why it cannot be read
        table = parquet.ParquetFile(file).read()
    for name, times in Counter(table.column_names).most_common(1):
        if times > 1:
            raise TableError(
                f"{path} has {times} columns {name!r}, and columns are known by their "
                "names: give each its own."
            )
    data = data_columns(table.schema)
    named = {*(choice.columns or ()), choice.id, choice.label}
    names = [name for name in table.column_names if name in data or name in named]
    for field in table.schema:
        if field.name in {*names} - {*choice.drop} and is_nested(field.type):
            what = f"Column {field.name!r} has values of type {field.type}. Only"
            out = f"leave it out (--drop {option([field.name])})."
            raise TableError(f"{what} numbers can be analysed: {out}")
    return names, [table.column(name).to_pylist() for name in names]


def _read_numpy(path: Path) -> tuple[NDArray[Any], list[str]]:
    try:
        array = _load(path)
    except TableError:
        raise
    except _GARBLED as error:
        if "Object arrays" in str(error):
            raise TableError(
                f"{path} holds no plain numbers, but objects of Python: save it as an "
                "array of floats."
            ) from None
        raise TableError(
            f"{path} is damaged, or no file that numpy.save or numpy.savez wrote: save "
            "it again, or give text its own ending (.csv, .tsv, .txt)."
        ) from None
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise TableError(
            f"{path} has an array of {array.dtype} with {array.ndim} dimensions: a "
            "table of numbers has two."
        )
    return array, [f"x{i}" for i in range(array.shape[1])]


def _load(path: Path) -> NDArray[Any]:
    with path.open("rb") as file:  # numpy leaves it open if it is broken
        found = np.load(file, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return found
        if MODEL_HEADER in found.files:
            raise TableError(
                f"{path} is a model file, not a table: name the file that has the rows "
                "(score, transform and report --model take a model besides)."
            )
        arrays = {name: found[name] for name in found.files}
    tables = [name for name in arrays if getattr(arrays[name], "ndim", 0) == 2]
    if len(tables) != 1:
        raise TableError(
            f"{path} has {len(tables)} tables ({', '.join(arrays)}): keep one array of "
            "two dimensions in the file."
        )
    return arrays[tables[0]]


def _chosen_numbers(array: NDArray[Any], columns: list[str], choice: Choice) -> Table:
    if (choice.columns, choice.id, choice.label) == (None,) * 3 and not choice.drop:
        X = array.astype(float)  # most tables: without a detour through cells
        refuse_missing(X, columns, _places(None))
        return Table(X, tuple(columns))
    return _from_cells(columns, [list(column) for column in array.T], choice)


def _from_cells(
    columns: Sequence[str],
    by_column: Sequence[list[Any]],
    choice: Choice,
    lines: list[int] | None = None,
    doubt: str = "none",
) -> Table:
    """Make numbers of the cells of the chosen columns; `lines` are their places."""
    if choice.decimal not in ("auto", ".", ","):
        raise TableError(f"--decimal is {choice.decimal!r}: choose auto, . or a comma.")
    known = dict(zip(columns, by_column, strict=True))
    for name in (*(choice.columns or ()), *choice.drop, choice.id, choice.label):
        if name is not None and name not in known:
            raise TableError(
                f"There is no column {name!r}; there are {', '.join(columns)}."
            )
    apart = {*choice.drop, choice.id, choice.label}
    wanted = [name for name in (choice.columns or columns) if name not in apart]
    if not wanted:
        raise TableError("No column is left to analyse: drop fewer.")
    place = _places(lines)
    # Names of rows may be anything; they tell nothing about numbers.
    used = {*wanted, choice.id, choice.label}
    others = {name: known[name] for name in columns if name not in used}
    X, notes = to_numbers(
        {name: known[name] for name in wanted},
        others,
        choice.decimal,
        place,
        doubt=doubt,
    )
    refuse_missing(X, wanted, place)
    ids, labels = (
        None if name is None else np.array([str(cell) for cell in known[name]])
        for name in (choice.id, choice.label)
    )
    return Table(X, tuple(wanted), ids, labels, tuple(notes))


def _places(lines: list[int] | None) -> Callable[[int], str]:
    return lambda row: f"row {row}" if lines is None else f"line {lines[row]}"


def _shown(name: str) -> str:
    return "standard input" if name == STANDARD else name
