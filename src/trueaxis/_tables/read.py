"""Read a table from a file of any format: numbers, with names of columns and rows.

The road of the data: `formats` and `text` turn a file into columns, `column` says which
of them are not analyzed, and `read_table` gives the others as one array. `original`
writes rows of the file again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.choice import Choice as Choice
from trueaxis._tables.choice import FileContent as FileContent
from trueaxis._tables.choice import Table as Table
from trueaxis._tables.column import Column
from trueaxis._tables.formats import (
    ARROW,
    JSON,
    NUMPY,
    PARQUET,
    SHEETS,
    columns_of_arrow,
    display_name,
    ending_of,
    read_arrow,
    read_bytes,
    read_numpy,
)
from trueaxis._tables.formats import STANDARD as STANDARD
from trueaxis._tables.objects import read_json
from trueaxis._tables.parsing.cells import TableError as TableError
from trueaxis._tables.parsing.cells import parse_number
from trueaxis._tables.parsing.numbers import Rules
from trueaxis._tables.roles import table_of
from trueaxis._tables.sheets import read_sheet_columns
from trueaxis._tables.text import read_text
from trueaxis.data.files import refuse_odd_paths
from trueaxis.data.threads import own_floats


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
    >>> from trueaxis._tables.read import Choice, read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pumps.csv"
    >>> _ = path.write_text("pump;flow;power\nA;1,5;20\nB;2,5;31\n")
    >>> table = read_table(path, Choice(id="pump"))
    >>> table.columns, table.X.tolist(), table.ids.tolist()
    (('flow', 'power'), [[1.5, 20.0], [2.5, 31.0]], ['A', 'B'])
    """
    choice = choice or Choice()
    return table_of(read_columns(path, choice), choice)


def read_columns(path: str | Path, choice: Choice) -> FileContent:
    """Read all columns of a file."""
    choice.check()
    name = str(path)
    content = _read_columns(name, choice)
    found = [parse_number(word, content.decimal) for word in choice.na]
    numbers = [number for number in found if number is not None]
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


def _read_columns(name: str, choice: Choice) -> FileContent:
    if name != STANDARD:
        if Path(name).is_dir():
            raise TableError(
                f"{name} is a folder without .npy or Parquet files: pass a file."
            )
        refuse_odd_paths(name)
    ending = ending_of(name)
    if choice.sheet is not None and ending not in SHEETS:
        raise TableError(
            f"{display_name(name)} is not a spreadsheet and has no sheet "
            f"{choice.sheet!r}: leave out --sheet."
        )
    rules = Rules(
        "," if choice.decimal == "," else ".", choice.text_format().words(),
        given=choice.decimal != "auto", verbatim=choice.names_of_rows(),
    )  # fmt: skip
    if ending in NUMPY:
        return _columns_of_array(read_numpy(Path(name)))
    if ending in PARQUET + ARROW:
        table = read_arrow(name)
        rules.unwanted = choice.unwanted(table.column_names)
        columns = columns_of_arrow(table, name, rules)
    elif ending in JSON:
        columns = read_json(name, rules, choice.unwanted)
    elif ending in SHEETS:
        return read_sheet_columns(name, choice, rules)
    else:
        return _read_text(name, choice)
    return FileContent(tuple(columns), rules.place, tuple(rules.notes()))


def _columns_of_array(array: NDArray[Any]) -> FileContent:
    X = array.astype(float)
    columns = [Column(f"x{i}", "number", column) for i, column in enumerate(X.T)]
    return FileContent(tuple(columns), "row {}".format)


def _read_text(name: str, choice: Choice) -> FileContent:
    columns, file = read_text(
        read_bytes(name),
        display_name(name),
        choice.text_format(),
        choice.unwanted,
        choice.names_of_rows(),
    )
    row_names = columns[0].name if file.layout.row_names else None
    notes = tuple(file.notes)
    return FileContent(
        tuple(columns), file.place, notes, row_names, decimal=file.decimal
    )
