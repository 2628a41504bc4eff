"""Convert columns of cells to numbers, once the decimal sign is known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import compress, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.cells import TableError, is_missing, is_number, parse_number
from trueaxis._tables.errors import FaultyCell, Place, option, refuse_text

# Matches a column, joined by newlines, in which a sign must be the decimal sign: it
# is not followed by exactly three digits, or what precedes it rules out thousands.
_DECIMAL = {
    mark: re.compile(rf"{m}(?!\d{{3}}$)|^[+-]?(?:0\d*|\d{{4,}})?{m}", re.MULTILINE)
    for mark, m in ((".", r"\."), (",", ","))
}
_DASHES = {"-", "\N{MINUS SIGN}", "\N{EN DASH}"}
# Thousands and millions: 1,234,567.
_MILLIONS = {".": re.compile(r"\.\d{3}\."), ",": re.compile(r",\d{3},")}


def to_numbers(
    cells: Mapping[str, list[Any]],
    others: Mapping[str, list[Any]],
    decimal: str,
    place: Place,
    *,
    doubt: str = "none",
) -> tuple[NDArray[np.float64], list[str]]:
    """Convert all columns to numbers; raise an error that names non-numeric cells.

    Missing cells become NaN.

    Parameters
    ----------
    cells : dict
        Name and cells of every column to convert.
    others : dict
        Columns that may show the decimal sign of the file if `cells` do not.
    decimal : {"auto", ".", ","}
    place : callable
        Return the name of a row, such as "line 7", for messages.
    doubt : {"none", "note", "error"}
        What to do if cells like 1.234 may be thousands and no cell settles it.

    Returns
    -------
    X : ndarray of shape (n, D)
    notes : list of str
        What was guessed about the decimal sign, and about cells with a dash.
    """
    numbers: dict[str, NDArray[np.float64] | None] = {}
    texts: dict[str, list[str]] = {}
    for name, column in cells.items():
        numbers[name] = _already_numbers(column)
        if numbers[name] is None:
            texts[name] = _as_text(column)
            numbers[name] = _plain(texts[name], ".")
    rest = {name: column for name, column in texts.items() if numbers[name] is None}
    refuse_text({name: c for name, c in rest.items() if _plain(c, ",") is None}, place)
    notes: list[str] = []
    evidence: FaultyCell | None = None
    if decimal == "auto":
        decimal, evidence, notes = _find_decimal(texts, rest, others, place, doubt)
    columns = []
    for name in cells:
        values = numbers[name]
        if values is None or (decimal == "," and _has(texts.get(name, []), ".")):
            values = _convert(texts[name], name, decimal, evidence, place)
        columns.append(values)
    X = np.column_stack(columns)
    holes = np.isnan(X).sum(axis=0)
    holed = [name for name in compress(cells, holes) if name in texts]
    notes += _note_dashes({name: texts[name] for name in holed}, place)
    return X, notes


def _note_dashes(texts: Mapping[str, list[str]], place: Place) -> list[str]:
    """Say that dashes were read as missing cells: in some tables they stand for 0."""
    dashes = [
        FaultyCell(cell, name, row)
        for name, cells in texts.items()
        for row, cell in enumerate(cells)
        if cell in _DASHES
    ]
    if not dashes:
        return []
    first, more = _where(dashes[0], place), len(dashes) - 1
    if not more:
        return [f"{first} was read as a missing cell: replace it if it stands for 0."]
    return [
        f"{first} and {more:,} more were read as missing cells: replace them if they "
        "stand for 0."
    ]


def _already_numbers(cells: list[Any]) -> NDArray[np.float64] | None:
    """Return a column without text, from a Parquet or NumPy file, as floats."""
    if str in set(map(type, cells)):
        return None
    try:
        return np.array(cells, dtype=float)
    except (TypeError, ValueError):
        return None


def _as_text(cells: list[Any]) -> list[str]:
    """Return cells as text, as they would be in a text file."""
    if set(map(type, cells)) == {str}:
        return cells
    return ["" if cell is None else _cell_as_text(cell) for cell in cells]


def _cell_as_text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, bool) else str(cell)


def _plain(cells: list[str], decimal: str) -> NDArray[np.float64] | None:
    """Convert plain numbers and missing cells quickly; return None for all others."""
    joined = "\n".join(cells)
    if "_" in joined or ("," if decimal == "." else ".") in joined:
        return None
    if decimal == ",":
        split = joined.replace(",", ".").split("\n")
        if len(split) != len(cells):  # a cell spans two lines
            return None
        cells = split
    for prepare in (list, _with_nan):  # most columns have no missing cells
        try:
            return np.array(prepare(cells), dtype=float)
        except ValueError:
            pass
    return None


def _with_nan(cells: list[str]) -> list[str]:
    return ["nan" if is_missing(cell) else cell for cell in cells]


def _has(cells: list[str], mark: str) -> bool:
    return any(mark in cell for cell in cells)


def _convert(
    cells: list[str], name: str, decimal: str, evidence: FaultyCell | None, place: Place
) -> NDArray[np.float64]:
    fast = _plain(cells, decimal)
    if fast is not None:
        return fast
    out = np.empty(len(cells))
    for row, cell in enumerate(cells):
        number = parse_number(cell, decimal)
        if number is None:
            bad = FaultyCell(cell, name, row)
            raise _contradiction(bad, decimal, evidence, place)
        out[row] = number
    return out


# ---------------------------------------------------------------- decimal signs


def _find_decimal(
    texts: Mapping[str, list[str]],
    rest: Mapping[str, list[str]],
    others: Mapping[str, list[Any]],
    place: Place,
    doubt: str,
) -> tuple[str, FaultyCell | None, list[str]]:
    """Return the decimal sign, the cell that shows it, and notes."""
    # Only the columns in `rest` have commas.
    for columns, mark in ((rest, ","), (texts, "."), (others, ","), (others, ".")):
        evidence = next(_evidence(columns, mark), None)
        if evidence is not None:
            return mark, evidence, []
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
            f"{_where(unclear[0], place)} was read with a decimal point, because no "
            f"cell shows otherwise: use --decimal , if it is {plain}."
        )
        return ".", None, [note]
    which = " and ".join(_where(each, place) for each in unclear[:2])
    small, large = (".", ",") if mark == "." else (",", ".")
    raise TableError(
        f"{which} can be read in two ways, and no other cell shows which is the "
        f"decimal sign: use --decimal {small} if {cell} is "
        f"{cell.replace(',', '.')}, --decimal {large} if it is {plain}."
    )


def _evidence(columns: Mapping[str, list[Any]], mark: str) -> Iterator[FaultyCell]:
    """Yield cells that are numbers only if `mark` is the decimal sign."""
    other = "." if mark == "," else ","
    for name, cells in columns.items():
        if set(map(type, cells)) != {str}:
            continue
        joined = "\n".join(cells)
        # One search is enough for most columns.
        if not (_DECIMAL[mark] if mark in joined else _MILLIONS[other]).search(joined):
            continue
        for row, cell in enumerate(cells):
            if mark in cell or other in cell:
                if parse_number(cell, other) is None:
                    if parse_number(cell, mark) is not None:
                        yield FaultyCell(cell, name, row)


def _unclear(columns: Mapping[str, list[str]], mark: str) -> Iterator[FaultyCell]:
    """Yield cells whose value depends on the decimal sign."""
    for name, cells in columns.items():
        for row, cell in enumerate(cells):
            if mark in cell and is_number(cell):
                if parse_number(cell, ".") != parse_number(cell, ","):
                    yield FaultyCell(cell, name, row)


def _contradiction(
    bad: FaultyCell, decimal: str, evidence: FaultyCell | None, place: Place
) -> TableError:
    if evidence is None:
        return TableError(
            f"{_where(bad, place)} is not a number with {_NAMES[decimal]}, as set by "
            "--decimal: correct the cell, or omit the option."
        )
    return TableError(
        f"The file contradicts itself: {_where(evidence, place)} is a number only with "
        f"{_NAMES[decimal]}, but {_where(bad, place)} only without one. Write both in "
        f"the same way, or drop a column (--drop {option([bad.column])})."
    )


_NAMES = {",": "a decimal comma", ".": "a decimal point"}


def _where(cell: FaultyCell, place: Place) -> str:
    return f"{cell.cell!r} in {place(cell.row)}, column {cell.column!r},"
