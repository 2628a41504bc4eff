"""What the user chose about a table, what a file holds, and the table itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.column import Column
from trueaxis._tables.parsing.cells import TableError
from trueaxis._tables.parsing.text_file import TextFormat
from trueaxis._tables.select import select

MISSING = ("fill", "error", "drop")  # what can be done about missing cells


@dataclass(frozen=True)
class Choice:
    """Roles of the columns of a file, and how it is to be read.

    Attributes
    ----------
    columns : sequence of str, or None
        Columns to analyze: names, ranges (a:d) and patterns (temp*); None for all.
    drop : sequence of str
        Columns not to analyze, given in the same way.
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
    skip : int
        Number of lines at the start that are not part of the table.
    comment : str
        Sign at the start of lines that are left out; "auto" for "#", or "none".
    na : sequence of str
        Further words for missing cells.
    sheet : str or None
        Name of a sheet, or its number from 1.
    encoding : str
        Encoding of text; "auto" to guess it.
    categories : sequence of str
        Columns of text to analyze, given like `columns`; ("*",) for all of them.
    by_name : bool
        Whether `columns` are names, and never ranges or patterns.
    """

    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    id: str | None = None
    label: str | None = None
    decimal: str = "auto"
    delimiter: str = "auto"
    header: str = "auto"
    missing: str = "fill"
    skip: int = 0
    comment: str = "auto"
    na: Sequence[str] = ()
    sheet: str | None = None
    encoding: str = "auto"
    categories: Sequence[str] = ()
    by_name: bool = False

    def text_format(self) -> TextFormat:
        """Return what text is to be read like."""
        names = [each.name for each in fields(TextFormat)]
        return TextFormat(**{name: getattr(self, name) for name in names})

    def unwanted(self, names: Sequence[str]) -> set[str]:
        """Return the columns that are not numbers to analyze, and kept as written."""
        # Unknown names are refused later, when there is more to say.
        dropped = _existing(self.drop, names)
        out = {*select(dropped, names, "--drop")}
        out |= self.names_of_rows()
        if tuple(self.categories) != ("*",):
            levels = _existing(self.categories, names)
            out |= {*select(levels, names, "--categories")}
        if self.columns is not None:
            asked = _existing(self.columns, names)
            out |= {*names} - {*select(asked, names, "--columns")}
        return out

    def names_of_rows(self) -> set[str]:
        """Return the columns that name or label rows, of which every cell is kept."""
        return {name for name in (self.id, self.label) if name is not None}

    def check(self) -> None:
        """Raise if a choice does not exist."""
        if self.missing not in MISSING:
            raise TableError(
                f"--missing is {self.missing!r}: choose {', '.join(MISSING)}."
            )
        if self.decimal not in ("auto", ".", ","):
            raise TableError(
                f"--decimal is {self.decimal!r}: choose auto, . or a comma."
            )


class SheetRows(NamedTuple):
    """Where the rows of a table are in a sheet.

    grid : all values of the sheet
    lines : numbers of the rows of the table, from 1
    used : positions of the columns of the table
    first_line : number of the first row that is below the header
    name : of the sheet
    """

    grid: list[list[Any]]
    lines: list[int]
    used: list[int]
    first_line: int
    name: str = ""


@dataclass(frozen=True)
class FileContent:
    """All columns of a file.

    Attributes
    ----------
    columns : tuple of Column
    place : callable
        Return the name of a row, such as "line 7", for messages.
    notes : tuple of str
        Guesses about the file that the user should know of.
    row_names : str or None
        A column without a name that holds row names.
    sheet : SheetRows or None
        What a spreadsheet has, for writing rows of it again.
    decimal : {".", ","}
        The decimal sign of a text.
    """

    columns: tuple[Column, ...]
    place: Callable[[int], str]
    notes: tuple[str, ...] = ()
    row_names: str | None = None
    sheet: SheetRows | None = field(default=None, repr=False)
    decimal: str = "."


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


def _existing(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the patterns that mean a column; those of a model are mostly names."""
    known = {*names}
    return [each for each in patterns if each in known or _exists(each, names)]


def _exists(pattern: str, names: Sequence[str]) -> bool:
    try:
        return bool(select([pattern], names, ""))
    except TableError:
        return False
