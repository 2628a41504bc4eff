"""What keeps cells from being numbers: text, signs, gaps, each told with a remedy."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.cells import TableError, is_text, sign

_FEW = 5  # columns that a message can name

Place = Callable[[int], str]


@dataclass(frozen=True)
class FaultyCell:
    """A cell and where it is.

    Attributes
    ----------
    cell, column : str
    row : int
    """

    cell: str
    column: str
    row: int


def refuse_text(columns: Mapping[str, list[str]], place: Place) -> None:
    """Name all columns that have text, how to leave them out, and what else to do."""
    found = {}
    for name, cells in columns.items():
        bad = [FaultyCell(c, name, row) for row, c in enumerate(cells) if is_text(c)]
        if bad:
            found[name] = bad
    for bad in found.values():
        _refuse_sign(bad[0], place)
    if len(found) > 1:
        raise _several(found, columns, place)
    for name, bad in found.items():
        few = (
            f" ({len(bad)} of {len(columns[name])} cells: put them right if they "
            "should be numbers)"
            if 2 * len(bad) < len(columns[name])
            else ""
        )
        quoted = shlex.quote(name)
        raise TableError(
            f"Column {name!r} has text: {bad[0].cell!r} in {place(bad[0].row)}{few}. "
            f"Only numbers can be analysed: leave it out (--drop {option([name])}), or "
            f"use it for names of rows (--id {quoted}) or a label (--label {quoted})."
        )


def _refuse_sign(found: FaultyCell, place: Place) -> None:
    mark = sign(found.cell)
    if mark:
        raise TableError(
            f"Column {found.column!r} has {found.cell!r} in {place(found.row)}: the "
            f"sign {mark} keeps it from being a number. Remove the sign from all "
            f"cells, or leave the column out (--drop {option([found.column])})."
        )


def _several(
    found: Mapping[str, list[FaultyCell]],
    columns: Mapping[str, list[str]],
    place: Place,
) -> TableError:
    some = [
        f"{name!r} ({bad[0].cell!r} in {place(bad[0].row)})"
        for name, bad in list(found.items())[:_FEW]
    ]
    more = f" and {len(found) - _FEW} more" if len(found) > _FEW else ""
    unlike = [
        f"--id {shlex.quote(name)}"
        for name, bad in found.items()
        if len(bad) == len(set(columns[name])) == len(columns[name])
    ]
    ids = f"{' or '.join(unlike[:_FEW])}: no cell twice" if unlike else "--id"
    return TableError(
        f"{len(found)} columns have text: {', '.join(some)}{more}. Only numbers can be "
        f"analysed: leave them out (--drop {option(list(found))}), or use one for "
        f"names of rows ({ids}) and one as a label (--label)."
    )


def refuse_missing(X: NDArray[Any], columns: Sequence[str], place: Place) -> None:
    """Refuse cells that are missing or infinite."""
    bad = ~np.isfinite(X)
    if not bad.any():
        return
    row, column = (int(at) for at in np.argwhere(bad)[0])
    what = "infinite" if np.isinf(X[row, column]) else "missing"
    names = [columns[i] for i in np.flatnonzero(bad.any(axis=0)).tolist()]
    few = len(names) <= _FEW and len(names) < len(columns)
    one = "column" if len(names) == 1 else "columns"
    raise TableError(
        f"Column {columns[column]!r} has a cell that is {what} in {place(row)} (such "
        f"cells: {bad.sum()}, in {bad.any(axis=1).sum()} of {len(X)} rows and "
        f"{len(names)} of {len(columns)} columns). Fill them in, leave out the rows, "
        f"or drop the {one}{f' (--drop {option(names)})' if few else ''}."
    )


def option(names: Sequence[str]) -> str:
    """Names of columns, as --drop and --columns take them in a shell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return shlex.quote(text.getvalue())
