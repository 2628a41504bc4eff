"""Reject infinite and missing cells; name the first, their number and a remedy."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.parsing.cells import TableError

_FEW = 5  # maximum number of columns named in a message

Place = Callable[[int], str]  # maps the number of a row to its name in a message


class MissingCells(TableError):
    """Error for a table with missing cells, where complete rows are needed."""


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
