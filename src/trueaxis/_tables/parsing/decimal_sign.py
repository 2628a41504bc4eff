"""Find out whether a comma or a point is the decimal sign of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from trueaxis._tables.errors import Place
from trueaxis._tables.parsing.cells import TableError, is_missing, parse_number

_ENOUGH_EVIDENCE = 100  # cells, which settle the decimal sign
# Matches a column, joined by newlines, in which a sign must be the decimal sign: it
# is not followed by exactly three digits, or what precedes it rules out thousands.
_DECIMAL = {
    mark: re.compile(
        rf"{m}(?!\d{{3}}(?![\dEe]))|^[+-]?(?:0\d*|\d{{4,}})?{m}", re.MULTILINE
    )
    for mark, m in ((".", r"\."), (",", ","))
}
# Thousands and millions: 1,234,567.
_MILLIONS = {".": re.compile(r"\.\d{3}\."), ",": re.compile(r",\d{3},")}


class Cell(NamedTuple):
    """A cell and its position."""

    text: str
    column: str
    row: int

    def quoted(self, place: Place) -> str:
        """Return the cell with its position, for a message."""
        return f"{self.text!r} in {place(self.row)}, column {self.column!r},"


class DecimalSign(NamedTuple):
    """The decimal sign of a table.

    mark : "." or ","; None if no cell shows it
    evidence : the cell that shows it
    unclear : cells that are read differently with the other sign
    """

    mark: str | None
    evidence: Cell | None
    unclear: tuple[Cell, ...]


def find_decimal(
    columns: Mapping[str, Sequence[str]], *, points_are_clear: bool = False
) -> DecimalSign:
    """Find the cell that shows the decimal sign.

    Parameters
    ----------
    columns : dict
        Name and cells of columns of text.
    points_are_clear : bool
        Whether cells like 1.234 have decimals in any case, as between commas.
    """
    found = {
        mark: [*islice(_evidence(columns, mark), _ENOUGH_EVIDENCE)] for mark in ",."
    }
    if any(found.values()):
        # If cells contradict each other, most of them decide; the others are errors.
        mark = max(found, key=lambda mark: len(found[mark]))
        return DecimalSign(mark, found[mark][0], ())
    commas = [*islice(_unclear(columns, ","), 2)]
    points = [] if points_are_clear else [*islice(_unclear(columns, "."), 2)]
    unclear = [commas[0], points[0]] if commas and points else commas + points
    return DecimalSign(None, None, tuple(unclear))


def refuse_unclear(unclear: Sequence[Cell], place: Place) -> None:
    """Raise, because cells can be read in two ways and nothing shows which."""
    cell = unclear[0].text
    mark = "," if "," in cell else "."
    which = " and ".join(each.quoted(place) for each in unclear[:2])
    small, large = (".", ",") if mark == "." else (",", ".")
    raise TableError(
        f"{which} can be read in two ways, and no other cell shows which is the "
        f"decimal sign: use --decimal {small} if {cell} is "
        f"{cell.replace(',', '.')}, --decimal {large} if it is "
        f"{cell.replace(mark, '')}."
    )


def _evidence(columns: Mapping[str, Sequence[Any]], mark: str) -> Iterator[Cell]:
    """Yield cells that are numbers only if `mark` is the decimal sign."""
    other = "." if mark == "," else ","
    for name, cells in columns.items():
        joined = "\n".join(cells)
        # One search is enough for most columns.
        if not (_DECIMAL[mark] if mark in joined else _MILLIONS[other]).search(joined):
            continue
        for row, cell in enumerate(cells):
            if mark in cell or other in cell:
                if parse_number(cell, other, units=True) is None:
                    if parse_number(cell, mark, units=True) is not None:
                        yield Cell(cell, name, row)


def _unclear(columns: Mapping[str, Sequence[str]], mark: str) -> Iterator[Cell]:
    """Yield cells whose value depends on the decimal sign."""
    for name, cells in columns.items():
        for row, cell in enumerate(cells):
            if mark in cell and not is_missing(cell):
                values = [parse_number(cell, sign, units=True) for sign in ".,"]
                if values[0] != values[1]:
                    yield Cell(cell, name, row)
