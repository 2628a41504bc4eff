"""Read tables; say how many of their cells are missing, or refuse these.

Tables in memory are read here; `streaming` reads large files.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._cli import console
from trueaxis._rows.base import Kernel
from trueaxis.io import Choice, Table, TableError, read_table
from trueaxis.io.cells import option
from trueaxis.io.table import MissingCells

# Methods that take missing cells, by name: classes are not imported before tables are
# read. A test compares them.
HOLE_TAKERS = ("dswl",)


def takes_holes(method: Any) -> bool:
    """Return whether a method, a name, class or instance, takes missing cells."""
    if isinstance(method, str):
        return method in HOLE_TAKERS
    return bool(getattr(method, "_takes_holes", False))


def read_for_method(data: str, choice: Choice, method: Any) -> Table:
    """Read a table; refuse missing cells if the method does not take them.

    Parameters
    ----------
    data : str
    choice : Choice
    method : str or class
        The method that gets the rows.
    """
    if choice.missing != "fill" or takes_holes(method):
        return read_table(data, choice)
    try:
        return read_table(data, replace(choice, missing="error"))
    except MissingCells as error:
        from trueaxis.estimators import METHODS

        name = (METHODS[method] if isinstance(method, str) else method).__name__
        raise MissingCells(
            f"{error} {name} needs complete rows; the methods that take missing cells: "
            f"{', '.join(HOLE_TAKERS)}."
        ) from None


def read_for_fit(data: str, choice: Choice, method: str) -> Table:
    """Read a table that a method, given by its short name, is fitted to."""
    table = read_for_method(data, choice, method)
    refuse_empty_columns(table)
    print_notes(table)
    if len(table.X) < 2:
        raise TableError(
            f"{data} has only {len(table.X)} row to analyze, and a fit needs at least "
            "2: pass a table with more rows."
        )
    return table


def print_notes(table: Table) -> None:
    """Print what was guessed about a table, and how many cells are missing."""
    holes = describe_holes(count_holes(table.X), len(table.X))
    for note in (*table.notes, *holes):
        console.note(note)


def count_holes(X: NDArray[np.float64]) -> NDArray[np.int_]:
    """Return the number of missing cells of every column."""
    if not np.isnan(X.min(initial=0.0)):  # which takes less time than counting
        return np.zeros(X.shape[1], dtype=int)
    return np.asarray(np.isnan(X).sum(axis=0))


def refuse_empty_columns(table: Table) -> None:
    """Raise if a column has no values, from which nothing can be learned."""
    empty = np.flatnonzero(count_holes(table.X) == len(table.X))
    if len(empty):
        names = [table.columns[i] for i in empty.tolist()]
        raise TableError(
            f"Column {names[0]!r} is empty: all of its {len(table.X):,} cells are "
            f"missing (empty columns: {len(names)} of {len(table.columns)}), and "
            f"nothing can fill them. Drop such columns (--drop {option(names[:1])})."
        )


def describe_holes(by_column: NDArray[Any], n: int) -> list[str]:
    """Return a sentence about the missing cells of n rows, if there are any.

    Parameters
    ----------
    by_column : ndarray of shape (D,)
        Number of missing cells in each column.
    n : int
    """
    total, D = int(by_column.sum()), len(by_column)
    if not total:
        return []
    are, they = ("is", "it is") if total == 1 else ("are", "they are")
    return [
        f"{total:,} of {n * D:,} cells {are} missing, in {(by_column > 0).sum()} of "
        f"{D} columns; {they} filled by what the other columns say."
    ]


class HoleCounter(Kernel):
    """Kernel that counts the missing cells of every column."""

    title = "missing cells"

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns

    def start(self) -> NDArray[np.int_]:
        """Return an empty state."""
        return np.zeros(self.n_columns, dtype=int)

    def absorb(
        self, state: NDArray[np.int_], block: NDArray[Any], first: int = 0
    ) -> None:
        """Count the missing cells of a block."""
        state += np.isnan(block).sum(axis=0)

    def merge(
        self, state: NDArray[np.int_], other: NDArray[np.int_]
    ) -> NDArray[np.int_]:
        """Return the sum of both counts."""
        return state + other
