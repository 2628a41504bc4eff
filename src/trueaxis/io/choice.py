"""What the user chose about a table: roles of its columns, and how it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trueaxis._columns import TableError, select

_MISSING = ("fill", "error", "drop")  # what can be done about missing cells


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

    @property
    def words(self) -> frozenset[str]:
        """The further words for missing cells, in lower case."""
        return frozenset(word.strip().lower() for word in self.na)

    @property
    def names_of_rows(self) -> set[str]:
        """The columns that name or label rows, of which every cell is kept."""
        return {name for name in (self.id, self.label) if name is not None}

    def analyzed(self, names: Sequence[str]) -> list[str]:
        """Return the columns to analyze, in order; refuse names that mean none."""
        for role, name in (("--id", self.id), ("--label", self.label)):
            if name is not None:
                select([name], names, role)
        excluded = {*select(self.drop, names, "--drop"), self.id, self.label}
        asked = names
        if self.columns is not None:
            asked = select(self.columns, names, "--columns", exact=self.by_name)
        return [name for name in asked if name not in excluded]

    def named(self, names: Sequence[str]) -> set[str]:
        """Return the columns that were asked for, as numbers or as categories."""
        every = tuple(self.categories) == ("*",)
        asked = names if every else [*(self.columns or ()), *self.categories]
        return {*_existing(asked, names)}

    def unwanted(self, names: Sequence[str]) -> set[str]:
        """Return the columns that are not numbers to analyze, and kept as written."""
        # Unknown names are refused later, when there is more to say.
        out = {*_existing(self.drop, names)} | self.names_of_rows
        if tuple(self.categories) != ("*",):
            out |= {*_existing(self.categories, names)}
        if self.columns is not None:
            out |= {*names} - {*_existing(self.columns, names)}
        return out

    def check(self) -> None:
        """Raise if a choice does not exist."""
        for name, value, allowed in (
            ("missing", self.missing, _MISSING),
            ("decimal", self.decimal, ("auto", ".", ",")),
            ("header", self.header, ("auto", "yes", "no")),
        ):
            if value not in allowed:
                listed = ", ".join(map(repr, allowed))
                raise TableError(f"{name} is {value!r}: choose one of {listed}.")
        if self.skip < 0:
            raise TableError(f"skip is {self.skip}: give a number of lines, 0 or more.")


def _existing(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the columns that patterns mean; those of a model are mostly names."""
    known, found = {*names}, []
    for pattern in patterns:
        if pattern in known:
            found.append(pattern)
            continue
        try:
            found += select([pattern], names, "")
        except TableError:
            continue
    return found
