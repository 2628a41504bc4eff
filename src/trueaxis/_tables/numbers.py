"""Columns of cells become numbers: which decimal sign holds, and what is text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.cells import TableError, is_number, value
from trueaxis._tables.errors import FaultyCell, Place, option, refuse_text

# What shows, in cells below each other, that a sign stands before decimals: not three
# digits after it, or a number before it that no thousands begin with.
_TELLS = {
    mark: re.compile(rf"{m}(?!\d{{3}}$)|^[+-]?(?:0\d*|\d{{4,}})?{m}", re.MULTILINE)
    for mark, m in ((".", r"\."), (",", ","))
}
# Thousands and millions: 1,234,567.
_TWICE = {".": re.compile(r"\.\d{3}\."), ",": re.compile(r",\d{3},")}


def to_numbers(
    cells: Mapping[str, list[Any]],
    others: Mapping[str, list[Any]],
    decimal: str,
    place: Place,
    *,
    doubt: str = "none",
) -> tuple[NDArray[np.float64], list[str]]:
    """Make numbers of all columns, or say which cells are none.

    Parameters
    ----------
    cells : dict
        Name and cells of every column to convert.
    others : dict
        Columns that may tell which decimal sign the file has, if `cells` do not.
    decimal : {"auto", ".", ","}
    place : callable
        How to call a row in a message.
    doubt : {"none", "note", "error"}
        What to do if there are only cells like 1.234, which may be thousands.

    Returns
    -------
    X : ndarray of shape (n, D)
    notes : list of str
        What was guessed.
    """
    numbers: dict[str, NDArray[np.float64] | None] = {}
    texts: dict[str, list[str]] = {}
    for name, column in cells.items():
        numbers[name] = _of_numbers(column)
        if numbers[name] is None:
            texts[name] = _as_text(column)
            numbers[name] = _plain(texts[name], ".")
    odd = {name: column for name, column in texts.items() if numbers[name] is None}
    refuse_text({name: c for name, c in odd.items() if _plain(c, ",") is None}, place)
    notes: list[str] = []
    told: FaultyCell | None = None
    if decimal == "auto":
        decimal, told, notes = _decide(texts, odd, others, place, doubt)
    columns = []
    for name in cells:
        found = numbers[name]
        if found is None or (decimal == "," and _has(texts.get(name, []), ".")):
            found = _converted(texts[name], name, decimal, told, place)
        columns.append(found)
    return np.column_stack(columns), notes


def _of_numbers(cells: list[Any]) -> NDArray[np.float64] | None:
    """A column of another format, if it has no text."""
    if str in set(map(type, cells)):
        return None
    try:
        return np.array(cells, dtype=float)
    except (TypeError, ValueError):
        return None


def _as_text(cells: list[Any]) -> list[str]:
    """Cells as a text file would have them."""
    if set(map(type, cells)) == {str}:
        return cells
    return ["" if cell is None else _one_as_text(cell) for cell in cells]


def _one_as_text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, bool) else str(cell)


def _plain(cells: list[str], decimal: str) -> NDArray[np.float64] | None:
    """Numbers without thousands, which most columns are made of: fast."""
    joined = "\n".join(cells)
    if "_" in joined or ("," if decimal == "." else ".") in joined:
        return None
    if decimal == ",":
        split = joined.replace(",", ".").split("\n")
        if len(split) != len(cells):  # a cell has two lines
            return None
        cells = split
    try:
        return np.array(cells, dtype=float)
    except ValueError:
        return None


def _has(cells: list[str], mark: str) -> bool:
    return any(mark in cell for cell in cells)


def _converted(
    cells: list[str], name: str, decimal: str, told: FaultyCell | None, place: Place
) -> NDArray[np.float64]:
    fast = _plain(cells, decimal)
    if fast is not None:
        return fast
    out = np.empty(len(cells))
    for row, cell in enumerate(cells):
        number = value(cell, decimal)
        if number is None:
            raise _contradiction(FaultyCell(cell, name, row), decimal, told, place)
        out[row] = number
    return out


# ---------------------------------------------------------------- decimal signs


def _decide(
    texts: Mapping[str, list[str]],
    odd: Mapping[str, list[str]],
    others: Mapping[str, list[Any]],
    place: Place,
    doubt: str,
) -> tuple[str, FaultyCell | None, list[str]]:
    """Which sign stands before decimals, and the cell that tells."""
    # In columns that are not odd there is no comma.
    for columns, mark in ((odd, ","), (texts, "."), (others, ","), (others, ".")):
        found = next(_telling(columns, mark), None)
        if found is not None:
            return mark, found, []
    commas = list(islice(_unclear(texts, ","), 2))
    points = [] if doubt == "none" else list(islice(_unclear(texts, "."), 2))
    unclear = [*commas[:1], *points[:1]] if commas and points else commas + points
    if not unclear:
        return ".", None, []
    cell = unclear[0].cell
    mark = "," if "," in cell else "."
    plain = cell.replace(mark, "")
    if mark == "." and doubt == "note":
        note = (
            f"{_where(unclear[0], place)} was read with a decimal point, since no cell "
            f"tells otherwise: say --decimal , if it is {plain}."
        )
        return ".", None, [note]
    which = " and ".join(_where(one, place) for one in unclear[:2])
    small, large = (".", ",") if mark == "." else (",", ".")
    raise TableError(
        f"{which} can be read in two ways, and no other cell tells which sign stands "
        f"before decimals: say --decimal {small} if {cell} is "
        f"{cell.replace(',', '.')}, --decimal {large} if it is {plain}."
    )


def _telling(columns: Mapping[str, list[Any]], mark: str) -> Iterator[FaultyCell]:
    """Cells that are numbers only if `mark` stands before decimals."""
    other = "." if mark == "," else ","
    for name, cells in columns.items():
        if set(map(type, cells)) != {str}:
            continue
        joined = "\n".join(cells)
        # Most columns are passed by at the speed of one search.
        if not (_TELLS[mark] if mark in joined else _TWICE[other]).search(joined):
            continue
        for row, cell in enumerate(cells):
            if mark in cell or other in cell:
                if value(cell, other) is None and value(cell, mark) is not None:
                    yield FaultyCell(cell, name, row)


def _unclear(columns: Mapping[str, list[str]], mark: str) -> Iterator[FaultyCell]:
    """Cells that are numbers in both ways; only asked for when none tells."""
    for name, cells in columns.items():
        for row, cell in enumerate(cells):
            if mark in cell and is_number(cell):
                if value(cell, ".") != value(cell, ","):
                    yield FaultyCell(cell, name, row)


def _contradiction(
    found: FaultyCell, decimal: str, told: FaultyCell | None, place: Place
) -> TableError:
    if told is None:
        return TableError(
            f"{_where(found, place)} is no number if {_NAMES[decimal]} stands before "
            "decimals, as --decimal says: mend the cell, or leave the option out."
        )
    return TableError(
        f"The file contradicts itself: {_where(told, place)} is a number only if "
        f"{_NAMES[decimal]} stands before decimals, {_where(found, place)} only if it "
        "does not. Write both alike, or leave a column out (--drop "
        f"{option([found.column])})."
    )


_NAMES = {",": "a comma", ".": "a point"}


def _where(found: FaultyCell, place: Place) -> str:
    return f"{found.cell!r} in {place(found.row)}, column {found.column!r},"
