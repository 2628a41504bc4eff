"""Read a table from a file of any format: numbers, with names of columns and rows.

The road of the data: `formats` and `text` turn a file into columns, and `read_table`
chooses those to analyze, and says what becomes of the others.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import (
    Column,
    describe_left_out,
    examine,
    select,
)
from trueaxis._columns import TableError as TableError
from trueaxis.data.files import refuse_odd_paths
from trueaxis.data.threads import own_floats
from trueaxis.io.cells import Place, option
from trueaxis.io.choice import Choice
from trueaxis.io.formats import STANDARD, Content, read_content
from trueaxis.io.text import missing_numbers

_BLOCK_ROWS = 1 << 10
_FEW = 5  # columns named in a message


class MissingCells(TableError):
    """Error for a table with missing cells, where complete rows are needed."""


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
    frame : tuple of Column
        The analyzed columns: those of X, and categories.
    positions : ndarray of shape (n,), or None
        Which rows of the file these are; None for all of them.
    left_out : dict
        Why each column that was not asked for is not analyzed.
    """

    X: NDArray[np.float64]
    columns: tuple[str, ...]
    ids: NDArray[np.str_] | None = None
    labels: NDArray[np.str_] | None = None
    notes: tuple[str, ...] = ()
    frame: tuple[Column, ...] = field(default=(), repr=False)
    positions: NDArray[np.intp] | None = None
    left_out: dict[str, str] = field(default_factory=dict, repr=False)

    def select(self, kept: NDArray[np.bool_]) -> Table:
        """Return the table with some of its rows."""
        positions = np.arange(len(kept)) if self.positions is None else self.positions
        return replace(
            self,
            X=self.X[kept],
            ids=None if self.ids is None else self.ids[kept],
            labels=None if self.labels is None else self.labels[kept],
            frame=tuple(replace(each, values=each.values[kept]) for each in self.frame),
            positions=positions[kept],
        )


@own_floats
def read_table(path: str | Path, choice: Choice | None = None) -> Table:
    r"""Read a table of numbers, with NaN for missing cells.

    Parameters
    ----------
    path : str or Path
        A file, whose format is given by its ending: text, which may be compressed; JSON
        lines; Parquet, Feather; Excel, ODS; .npy, .npz. "-" reads text from standard
        input.
    choice : Choice, optional
        Roles of the columns.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If the file cannot be read, or cells are infinite, or text among numbers; names
        line and column.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from trueaxis.io import Choice, read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pumps.csv"
    >>> _ = path.write_text("pump;flow;power\nA;1,5;20\nB;2,5;31\n")
    >>> table = read_table(path, Choice(id="pump"))
    >>> table.columns, table.X.tolist(), table.ids.tolist()
    (('flow', 'power'), [[1.5, 20.0], [2.5, 31.0]], ['A', 'B'])
    """
    choice = choice or Choice()
    return table_of(read_columns(path, choice), choice)


def read_columns(path: str | Path, choice: Choice) -> Content:
    """Read all columns of a file."""
    choice.check()
    name = str(path)
    if name != STANDARD:
        if Path(name).is_dir():
            raise TableError(
                f"{name} is a folder without .npy or Parquet files: pass a file."
            )
        refuse_odd_paths(name)
    content = read_content(name, choice)
    numbers = missing_numbers(choice.na, content.decimal)
    if not numbers:
        return content
    # A user who writes --na -999 means -999.0, too.
    return replace(
        content, columns=tuple(_without(column, numbers) for column in content.columns)
    )


def _without(column: Column, numbers: Sequence[float]) -> Column:
    if column.kind != "number":
        return column
    missing = np.isin(column.values, numbers)
    return replace(column, values=np.where(missing, np.nan, column.values))


def table_of(content: Content, choice: Choice) -> Table:
    """Return the chosen columns of a file as one array."""
    if not content.columns or not len(content.columns[0].values):
        raise TableError("The table has no rows: there is nothing to analyze.")
    notes = list(content.notes)
    try:
        return _choose(content, choice, notes)
    except TableError as error:
        if not notes:
            raise
        # A wrong guess may have caused the error.
        raise type(error)(f"{error}\nNote: {' '.join(notes)}") from None


def _choose(content: Content, choice: Choice, notes: list[str]) -> Table:
    """Return the chosen columns; append to the notes."""
    columns = {column.name: column for column in content.columns}
    names = list(columns)
    if choice.id is None and content.row_names is not None:
        named = {*(choice.columns or ()), *choice.drop, choice.label}
        if content.row_names not in named:
            choice = replace(choice, id=content.row_names)
            notes.append(
                "The first column has no name and its cells are all distinct: it was "
                "used as row names. To leave it out, use --drop "
                f"{option([content.row_names])}."
            )
    analyzed = choice.analyzed(names)
    wanted = [columns[name] for name in analyzed]
    categories = _categories(choice, wanted)
    literal = [name for name in choice.columns or () if name in columns]
    _refuse_asked_text(wanted, {*literal} - {*categories}, content.place)
    found = examine(
        [column for column in wanted if column.name not in categories],
        () if choice.columns is None else analyzed,
    )
    frame = [column for column in wanted if column.name not in found.left_out]
    numbers = [column for column in frame if column.kind == "number"]
    if not frame:
        _refuse_nothing_left(found.left_out, len(columns))
    notes += [*_describe_left_out(found.left_out, columns, choice), *found.remarks]
    n, values = len(content.columns[0].values), [each.values for each in numbers]
    X = _common_array(n, values)
    if X is None:
        X = _side_by_side(n, values)
        # The table would otherwise be in memory twice.
        views = {column.name: X[:, j] for j, column in enumerate(numbers)}
        frame = [
            replace(each, values=views.get(each.name, each.values)) for each in frame
        ]
    ids, labels = (
        None if name is None else _written(columns[name])
        for name in (choice.id, choice.label)
    )
    table = Table(
        X,
        tuple(column.name for column in numbers),
        ids,
        labels,
        tuple(notes),
        tuple(frame),
        None,
        found.left_out,
    )
    return _without_holes(table, choice, content.place)


def _common_array(n: int, columns: list[NDArray[Any]]) -> NDArray[Any] | None:
    """Return the array whose columns these are, all of them; None if there is none."""
    whole = columns[0].base if columns else None
    if whole is None or whole.ndim != 2 or whole.shape[1] != len(columns):
        return None
    array, start = whole[:n], _address(whole)
    steps, step = array.strides
    for j, column in enumerate(columns):
        if column.shape != (len(array),) or column.strides != (steps,):
            return None
        if _address(column) != start + j * step:
            return None
    return array


def _address(array: NDArray[Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _side_by_side(n: int, columns: list[NDArray[Any]]) -> NDArray[Any]:
    """Return columns as one array, in blocks of rows that stay in the cache."""
    X = np.empty((n, len(columns)))
    for start in range(0, len(X), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        for j, column in enumerate(columns):
            X[rows, j] = column[rows]
    return X


def _categories(choice: Choice, wanted: Sequence[Column]) -> set[str]:
    if not choice.categories:
        return set()
    names = [column.name for column in wanted]
    chosen = select(choice.categories, names, "--encode categories")
    if tuple(choice.categories) != ("*",):
        return set(chosen)
    return {column.name for column in wanted if column.kind == "text"}


def _refuse_asked_text(
    wanted: Sequence[Column], literal: set[str], place: Place
) -> None:
    """Raise if a column that was asked for by its name has no numbers."""
    for column in wanted:
        if column.kind == "number" or column.name not in literal:
            continue
        row = next((i for i, x in enumerate(column.values) if x is not None), 0)
        what = {"text": "text", "calendar": "dates or times"}.get(
            column.kind, "lists or records"
        )
        listed, name = option([column.name]), shlex.quote(column.name)
        raise TableError(
            f"Column {column.name!r} contains {what}: {str(column.values[row])!r} in "
            f"{place(row)}. Only numbers can be analyzed: leave it out, analyze it as "
            f"categories (--encode categories={listed}), or use it as row names "
            f"(--id {name})."
        )


def _refuse_nothing_left(left_out: dict[str, str], n_columns: int) -> None:
    if not left_out:
        raise TableError("No column is left to analyze: drop fewer columns.")
    split = " If it was not split well, set --read delimiter." if n_columns == 1 else ""
    raise TableError(
        f"There is no column of numbers to analyze. {describe_left_out(left_out)[0]} "
        f"Analyze text with --encode categories, or pass a table with numbers.{split}"
    )


def _describe_left_out(
    left_out: dict[str, str], columns: dict[str, Column], choice: Choice
) -> list[str]:
    """Return the note about left out columns, with what else could be done."""
    notes = describe_left_out(left_out)
    if notes and choice.id is None:
        for name, reason in left_out.items():
            values = columns[name].values
            if reason == "text" and len({*values.tolist()}) == len(values):
                notes[0] += (
                    f" To name the rows by {name!r}, use --id {shlex.quote(name)}."
                )
                break
    if any(columns[name].kind == "number" for name in left_out):
        if "empty" not in left_out.values() and choice.columns is None:
            notes[0] += " To analyze all numbers, use --columns '*'."
    return notes


def _written(column: Column) -> NDArray[np.str_]:
    """Return cells as text: numbers as in the file, missing ones empty."""
    if column.kind != "number":
        return np.array(["" if x is None else str(x) for x in column.values], dtype=str)
    return np.array(
        ["" if np.isnan(x) else str(int(x)) if x % 1 == 0 else repr(x)
         for x in column.values.tolist()], dtype=str,
    )  # fmt: skip


def _without_holes(table: Table, choice: Choice, place: Place) -> Table:
    """Do about missing cells what was chosen; refuse infinite ones."""
    refuse_infinite(table.X, table.columns, place)
    if choice.missing == "fill":
        return table
    if choice.missing == "error":
        refuse_missing(table.X, table.columns, place)
        return table
    complete: NDArray[np.bool_] = np.logical_not(np.isnan(table.X).any(axis=1))
    for column in table.frame:
        if column.kind != "number":
            complete &= np.array([x is not None for x in column.values])
    n, dropped = len(complete), int((~complete).sum())
    if dropped == n:
        raise TableError(
            f"All {n:,} rows have a missing cell, and --read missing=drop leaves no "
            "row: use --read missing=fill, or drop the columns that are mostly empty."
        )
    if not dropped:
        return table
    note = f"{dropped:,} of {n:,} rows have a missing cell and were left out."
    # The rows that are left keep their numbers.
    ids = np.arange(n).astype(str) if table.ids is None else table.ids
    table = replace(table, ids=ids, notes=(*table.notes, note))
    return table.select(complete)


def refuse_infinite(X: NDArray[Any], columns: Sequence[str], place: Place) -> None:
    """Raise if cells are infinite."""
    bad = np.isinf(X)
    if bad.any():
        fact, noun = _count(bad, "infinite", columns, place)
        raise TableError(
            f"{fact} Correct them, leave them empty if they are unknown, or drop the "
            f"{noun}."
        )


def refuse_missing(X: NDArray[Any], columns: Sequence[str], place: Place) -> None:
    """Raise if cells are missing."""
    bad = np.isnan(X)
    if bad.any():
        fact, noun = _count(bad, "missing", columns, place)
        raise MissingCells(
            f"{fact} Fill them in (`trueaxis repair` does), leave out the rows "
            f"(--read missing=drop), or drop the {noun}."
        )


def _count(
    bad: NDArray[np.bool_], what: str, columns: Sequence[str], place: Place
) -> tuple[str, str]:
    """Return a sentence about the bad cells, and what to call their columns."""
    row, column = (int(at) for at in np.argwhere(bad)[0])
    names = [columns[i] for i in np.flatnonzero(bad.any(axis=0)).tolist()]
    few = len(names) <= _FEW and len(names) < len(columns)
    noun = "column" if len(names) == 1 else "columns"
    article = "an" if what[0] in "aeiou" else "a"
    fact = (
        f"Column {columns[column]!r} has {article} {what} cell in {place(row)} ({what} "
        f"cells: {bad.sum()}, in {bad.any(axis=1).sum()} of {len(bad)} rows and "
        f"{len(names)} of {len(columns)} columns)."
    )
    return fact, f"{noun}{f' (--drop {option(names)})' if few else ''}"
