"""READ tables from files: CSV, TSV, Parquet, .npy, .npz, or standard input.

The command line hands a path and gets numbers with names; what is no number is named
with its line and column. `writing` is the way back.
"""

from __future__ import annotations

import csv
import io
import sys
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.cells import (
    find_delimiter,
    has_decimal_commas,
    is_missing,
    is_number,
    with_point,
)

STANDARD = "-"


class TableError(ValueError):
    """A table that cannot be used, with the reason and what to do."""


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
    """

    X: NDArray[np.float64]
    columns: tuple[str, ...]
    ids: NDArray[np.str_] | None = None
    labels: NDArray[np.str_] | None = None


@dataclass(frozen=True)
class Choice:
    """Which columns of a file are which.

    Attributes
    ----------
    columns : sequence of str, or None
        To analyse; None for all that are left.
    drop : sequence of str
        Not to analyse.
    id, label : str or None
        Names of rows; a column that is carried along.
    """

    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    id: str | None = None
    label: str | None = None


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
    >>> from trueaxis.tables import Choice, read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pumps.csv"
    >>> _ = path.write_text("pump;flow;power\nA;1,5;20\nB;2,5;31\n")
    >>> table = read_table(path, Choice(id="pump"))
    >>> table.columns, table.X.tolist(), table.ids.tolist()
    (('flow', 'power'), [[1.5, 20.0], [2.5, 31.0]], ['A', 'B'])
    """
    choice = choice or Choice()
    name = str(path)
    if name != STANDARD and Path(name).is_dir():
        raise TableError(f"{name} is a folder: name a file.")
    ending = Path(name).suffix.lower()
    if name != STANDARD and ending in (".npy", ".npz"):
        return _chosen_numbers(*_read_numpy(Path(name)), choice)
    if name != STANDARD and ending == ".parquet":
        return _from_cells(*_read_parquet(Path(name)), choice)
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
        return raw.decode("latin-1")  # what spreadsheets in the West save otherwise


def _from_text(text: str, name: str, choice: Choice) -> Table:
    delimiter = find_delimiter(text.splitlines())
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    cells, lines = [], []
    for row in reader:
        if any(cell.strip() for cell in row):
            cells.append([cell.strip() for cell in row])
            lines.append(reader.line_num)
    if not cells:
        raise TableError(f"{_shown(name)} is empty: there is no row to analyse.")
    width = len(cells[0])
    for line, row in zip(lines, cells, strict=True):
        if len(row) != width:
            raise TableError(
                f"Line {line} of {_shown(name)} has {len(row)} cells, line {lines[0]} "
                f"has {width} (parted by {delimiter!r}). Mend the line."
            )
    if delimiter != "," and has_decimal_commas(cells):
        cells = [[with_point(cell) for cell in row] for row in cells]
    columns = [f"x{i}" for i in range(width)]
    if not all(is_number(cell) or is_missing(cell) for cell in cells[0]):
        columns, cells, lines = cells[0], cells[1:], lines[1:]
    if not cells:
        raise TableError(f"{_shown(name)} has a header, but no rows.")
    _refuse_repeated(columns, name)
    by_column: list[list[Any]] = [list(column) for column in zip(*cells, strict=True)]
    return _from_cells(columns, by_column, choice, lines)


def _refuse_repeated(columns: Sequence[str], name: str) -> None:
    seen: set[str] = set()
    for column in columns:
        if column in seen:
            raise TableError(
                f"{_shown(name)} has two columns named {column!r}: rename one of them."
            )
        seen.add(column)


def _read_parquet(path: Path) -> tuple[list[str], list[list[Any]]]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise TableError(
            f"{path} is a Parquet file, and pyarrow is not installed: pip install "
            "'trueaxis[parquet]', or save it as CSV."
        ) from None
    table = parquet.read_table(path)
    return list(table.column_names), [column.to_pylist() for column in table.columns]


def _read_numpy(path: Path) -> tuple[NDArray, list[str]]:
    try:
        with path.open("rb") as file:
            found = np.load(file, allow_pickle=False)
            arrays = {"": found} if isinstance(found, np.ndarray) else dict(found)
    except (FileNotFoundError, PermissionError):
        raise
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise TableError(
            f"{path} holds no plain numbers, or is damaged ({error}): save it again "
            "with numpy.save."
        ) from None
    tables = [array for array in arrays.values() if array.ndim == 2]
    if len(arrays) != 1 and len(tables) != 1:
        raise TableError(
            f"{path} has {len(tables)} tables ({', '.join(arrays)}): keep one array of "
            "two dimensions in the file."
        )
    array = (tables or [*arrays.values()])[0]
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise TableError(
            f"{path} has an array of {array.dtype} with {array.ndim} dimensions: a "
            "table of numbers has two."
        )
    return array, [f"x{i}" for i in range(array.shape[1])]


def _chosen_numbers(array: NDArray, columns: list[str], choice: Choice) -> Table:
    if choice == Choice():  # most tables: without a detour through cells
        X = array.astype(float)
        _refuse_nan(X, columns, None)
        return Table(X, tuple(columns))
    return _from_cells(columns, [list(column) for column in array.T], choice)


def _from_cells(
    columns: Sequence[str],
    by_column: list[list[Any]],
    choice: Choice,
    lines: list[int] | None = None,
) -> Table:
    """Make numbers of the cells of the chosen columns; `lines` are their places."""
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
    X = np.column_stack([_numbers(known[name], name, lines) for name in wanted])
    _refuse_nan(X, wanted, lines)
    ids, labels = (
        None if name is None else np.array([str(cell) for cell in known[name]])
        for name in (choice.id, choice.label)
    )
    return Table(X, tuple(wanted), ids, labels)


def _numbers(
    cells: list[Any], name: str, lines: list[int] | None
) -> NDArray[np.float64]:
    try:
        return np.array(cells, dtype=float)  # the usual case, fast
    except (TypeError, ValueError):
        pass
    out = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if cell is None or (isinstance(cell, str) and is_missing(cell)):
            continue
        try:
            out[row] = float(cell)
        except (TypeError, ValueError):
            raise TableError(
                f"Column {name!r} has text: {str(cell)!r} in {_place(row, lines)}. "
                f"Only numbers can be analysed: leave it out (--drop {name!r}), or use "
                f"it for names of rows (--id {name!r}) or a label (--label {name!r})."
            ) from None
    return out


def _refuse_nan(X: NDArray, columns: Sequence[str], lines: list[int] | None) -> None:
    bad = ~np.isfinite(X)
    if not bad.any():
        return
    row, column = (int(place) for place in np.argwhere(bad)[0])
    what = "infinite" if np.isinf(X[row, column]) else "missing"
    raise TableError(
        f"Column {columns[column]!r} has a cell that is {what} in {_place(row, lines)} "
        f"(such cells: {bad.sum()}, in {bad.any(axis=1).sum()} of {len(X)} rows). Fill "
        "them in, leave out the rows, or drop the column."
    )


def _place(row: int, lines: list[int] | None) -> str:
    return f"row {row}" if lines is None else f"line {lines[row]}"


def _shown(name: str) -> str:
    return "standard input" if name == STANDARD else name
