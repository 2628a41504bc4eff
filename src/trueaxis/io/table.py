"""Read a table from a file of any format: numbers, with names of columns and rows.

The road of the data: `formats` and `text` turn a file into columns, and `read_table`
chooses those to analyze, and says what becomes of the others.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import Column, describe_left_out, examine, select
from trueaxis._columns import TableError as TableError
from trueaxis._files import STANDARD
from trueaxis.data.files import refuse_odd_paths
from trueaxis.data.threads import ignore_float_errors
from trueaxis.io.cells import Content, Place, option
from trueaxis.io.choice import Choice
from trueaxis.io.formats import read_content

_FEW = 5  # columns named in a message
_KINDS = {"text": "text", "calendar": "dates or times", "nested": "lists or records"}


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


@ignore_float_errors
def read_table(path: str | Path, choice: Choice | None = None) -> Table:
    r"""Read a table of numbers, with NaN for missing cells.

    Parameters
    ----------
    path : str or Path
        A file, whose format is given by its ending: text, which may be compressed; JSON
        lines; Parquet, Feather; Excel, ODS; .npy. "-" reads text from standard input.
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
    choice, name = choice or Choice(), str(path)
    choice.check()
    if name != STANDARD:
        if Path(name).is_dir():
            raise TableError(
                f"{name} is a folder without .npy or Parquet files: pass a file."
            )
        refuse_odd_paths(name)
    content = read_content(name, choice)
    if not all(len(column.values) for column in content.columns.values()):
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
    """Return the chosen columns of a file as one array; append to the notes."""
    columns, place = content.columns, content.reading.place
    row_names = content.reading.row_names
    if choice.id is None and row_names is not None:
        if row_names not in {*(choice.columns or ()), *choice.drop, choice.label}:
            choice = replace(choice, id=row_names)
            notes.append(
                "The first column has no name and its cells are all distinct: it was "
                f"used as row names. To leave it out, use --drop {option([row_names])}."
            )
    analyzed = choice.analyzed(list(columns))
    wanted = [columns[name] for name in analyzed]
    categories = _categories(choice, wanted)
    for column in wanted:
        if column.kind != "number" and column.name not in categories:
            if column.name in (choice.columns or ()):
                raise _asked_text(column, place)
    found = examine(
        [column for column in wanted if column.name not in categories],
        () if choice.columns is None else analyzed,
    )
    frame = [column for column in wanted if column.name not in found.left_out]
    numbers = [column for column in frame if column.kind == "number"]
    if not frame:
        raise _nothing_left(found.left_out, len(columns))
    notes += _describe_left_out(found.left_out, content, choice)
    notes += found.remarks
    X, names = content.numbers, [column.name for column in numbers]
    if X is None or names != [x.name for x in columns.values() if x.kind == "number"]:
        n = len(next(iter(columns.values())).values)
        X = np.column_stack([np.zeros((n, 0)), *(x.values for x in numbers)])
    # The table would otherwise be in memory twice.
    views = dict(zip(names, X.T, strict=True))
    frame = [replace(x, values=views.get(x.name, x.values)) for x in frame]
    ids, labels = (
        None if name is None else _written(columns[name])
        for name in (choice.id, choice.label)
    )
    table = Table(
        X, tuple(names), ids, labels, tuple(notes), tuple(frame), None, found.left_out
    )
    return _without_holes(table, choice, place)


def _categories(choice: Choice, wanted: Sequence[Column]) -> set[str]:
    if tuple(choice.categories) == ("*",):
        return {column.name for column in wanted if column.kind == "text"}
    names = [column.name for column in wanted]
    return {*select(choice.categories, names, "--encode categories")}


def _asked_text(column: Column, place: Place) -> TableError:
    """Return the error for a column that was asked for by its name, but has text."""
    row = next((i for i, x in enumerate(column.values) if x is not None), 0)
    return TableError(
        f"Column {column.name!r} contains {_KINDS[column.kind]}: "
        f"{str(column.values[row])!r} in {place(row)}. Only numbers can be analyzed: "
        "leave it out, analyze it as categories (--encode "
        f"categories={option([column.name])}), or use it as row names (--id "
        f"{shlex.quote(column.name)})."
    )


def _nothing_left(left_out: dict[str, str], n_columns: int) -> TableError:
    if not left_out:
        return TableError("No column is left to analyze: drop fewer columns.")
    split = " If it was not split well, set --read delimiter." if n_columns == 1 else ""
    return TableError(
        f"There is no column of numbers to analyze. {describe_left_out(left_out)[0]} "
        f"Analyze text with --encode categories, or pass a table with numbers.{split}"
    )


def _describe_left_out(
    left_out: dict[str, str], content: Content, choice: Choice
) -> list[str]:
    """Return the note about left out columns, with what else could be done."""
    notes = describe_left_out(left_out)
    if "text" in left_out.values() and choice.id is None:
        notes[0] += " To name the rows by one of them, use --id."
    if any(content.columns[name].kind == "number" for name in left_out):
        if "empty" not in left_out.values() and choice.columns is None:
            notes[0] += " To analyze all numbers, use --columns '*'."
    return notes


def _written(column: Column) -> NDArray[np.str_]:
    """Return names or labels of rows; missing ones are empty."""
    return np.array(["" if x is None else x for x in column.values], dtype=str)


def _without_holes(table: Table, choice: Choice, place: Place) -> Table:
    """Do about missing cells what was chosen; refuse infinite ones."""
    _refuse(np.isinf(table.X), "infinite", table.columns, place)
    if choice.missing == "error":
        _refuse(np.isnan(table.X), "missing", table.columns, place)
    if choice.missing != "drop":
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
    have, were = ("has", "was") if dropped == 1 else ("have", "were")
    note = f"{dropped:,} of {n:,} rows {have} a missing cell and {were} left out."
    # The rows that are left keep their numbers.
    ids = np.arange(n).astype(str) if table.ids is None else table.ids
    return replace(
        table,
        X=table.X[complete],
        ids=ids[complete],
        labels=None if table.labels is None else table.labels[complete],
        frame=tuple(replace(x, values=x.values[complete]) for x in table.frame),
        positions=np.flatnonzero(complete),
        notes=(*table.notes, note),
    )


def _refuse(
    bad: NDArray[np.bool_], what: str, columns: Sequence[str], place: Place
) -> None:
    """Raise if cells are missing or infinite."""
    if not bad.any():
        return
    row, column = (int(at) for at in np.argwhere(bad)[0])
    names = [columns[i] for i in np.flatnonzero(bad.any(axis=0)).tolist()]
    few = len(names) <= _FEW and len(names) < len(columns)
    drop = f"drop the column{'s' * (len(names) > 1)}"
    drop += f" (--drop {option(names)})." if few else "."
    fact = (
        f"Column {columns[column]!r} has {'an' if what == 'infinite' else 'a'} {what} "
        f"cell in {place(row)} ({what} cells: {bad.sum()}, in {bad.any(axis=1).sum()} "
        f"of {len(bad)} rows and {len(names)} of {len(columns)} columns)."
    )
    if what == "missing":
        raise MissingCells(
            f"{fact} Fill them in (`trueaxis repair` does), leave out the rows "
            f"(--read missing=drop), or {drop}"
        )
    raise TableError(
        f"{fact} Correct them, leave them empty if they are unknown, or {drop}"
    )
