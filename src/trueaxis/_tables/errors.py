"""Reject columns with text, signs or infinite cells; name the cell and a remedy."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.cells import TableError, is_text, unit_sign

_FEW = 5  # maximum number of columns named in a message

Place = Callable[[int], str]  # maps the number of a row to its name in a message


class MissingCells(TableError):
    """Error for a table with missing cells, where complete rows are needed."""


@dataclass(frozen=True)
class FaultyCell:
    """Cell with its position in the table.

    Attributes
    ----------
    cell, column : str
    row : int
    """

    cell: str
    column: str
    row: int


def refuse_text(columns: Mapping[str, list[str]], place: Place) -> None:
    """Raise if columns contain text; name all of them and a remedy."""
    faulty = {}
    for name, cells in columns.items():
        bad = [FaultyCell(c, name, row) for row, c in enumerate(cells) if is_text(c)]
        if bad:
            faulty[name] = bad
    for bad in faulty.values():
        _refuse_sign(bad[0], place)
    if len(faulty) > 1:
        raise _several_columns(faulty, columns, place)
    for name, bad in faulty.items():
        few = (
            f" ({len(bad)} of {len(columns[name])} cells; correct them if they should "
            "be numbers)"
            if 2 * len(bad) < len(columns[name])
            else ""
        )
        quoted = shlex.quote(name)
        raise TableError(
            f"Column {name!r} contains text: {bad[0].cell!r} in "
            f"{place(bad[0].row)}{few}. Only numbers can be analyzed: drop the column "
            f"(--drop {option([name])}), or use it as row names (--id {quoted}) or as "
            f"a label (--label {quoted})."
        )


def _refuse_sign(bad: FaultyCell, place: Place) -> None:
    sign = unit_sign(bad.cell)
    if sign:
        raise TableError(
            f"Column {bad.column!r} has {bad.cell!r} in {place(bad.row)}, which is not "
            f"a number because of the sign {sign}. Remove the sign from all cells, or "
            f"drop the column (--drop {option([bad.column])})."
        )


def _several_columns(
    faulty: Mapping[str, list[FaultyCell]],
    columns: Mapping[str, list[str]],
    place: Place,
) -> TableError:
    some = [
        f"{name!r} ({bad[0].cell!r} in {place(bad[0].row)})"
        for name, bad in list(faulty.items())[:_FEW]
    ]
    more = f" and {len(faulty) - _FEW} more" if len(faulty) > _FEW else ""
    distinct = [
        f"--id {shlex.quote(name)}"
        for name, bad in faulty.items()
        if len(bad) == len(set(columns[name])) == len(columns[name])
    ]
    ids = (
        f"{' or '.join(distinct[:_FEW])}, whose cells are all distinct"
        if distinct
        else "--id"
    )
    return TableError(
        f"{len(faulty)} columns contain text: {', '.join(some)}{more}. Only numbers "
        f"can be analyzed: drop them (--drop {option(list(faulty))}), or use one as "
        f"row names ({ids}) and one as a label (--label)."
    )


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
            f"(--missing drop), or drop the {noun}."
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


def option(names: Sequence[str]) -> str:
    """Format column names for --drop and --columns in a shell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return shlex.quote(text.getvalue())
