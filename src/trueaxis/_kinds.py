"""Refuse what is not a number before NumPy silently turns it into one.

NumPy converts dates to counts of nanoseconds, and a missing date to -9.2e18; it drops
imaginary parts and masks. `_validation` calls this for everything that users pass.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.frames import CALENDAR, complex_error, too_large_error

# How NumPy, pandas, polars and Arrow begin the names of types of dates and times.
_CALENDAR_TYPE = re.compile(r"date|time|duration|period|month_", re.IGNORECASE)


def refuse_other_kinds(X: Any, what: str = "X") -> None:
    """Raise if a table or a vector has text, dates, complex or too large numbers.

    Parameters
    ----------
    X : array-like, or frame of pandas, polars or pyarrow
        Sparse matrices and the like are left to scikit-learn.
    what : str
        Name in error messages.
    """
    columns = _columns_of(X)
    for name, kind in columns:
        _refuse_type(kind, f"Column {name!r} of {what}")
    cells = X
    if columns or isinstance(X, (list, tuple)):
        try:
            cells = np.asarray(X)
        except ValueError:
            raise ValueError(
                f"{what} is a {type(X).__name__} whose rows differ in length: every "
                "row needs the same number of cells."
            ) from None
    kind = getattr(cells, "dtype", None)
    _refuse_type(kind, what)
    if getattr(kind, "kind", "") in "OUS" and getattr(cells, "ndim", 0) in (1, 2):
        _refuse_cells(np.asarray(cells), [name for name, _ in columns], what)


def _columns_of(X: Any) -> list[tuple[str, Any]]:
    """Return names and types of the columns of a frame; none of anything else."""
    if hasattr(X, "collect"):
        raise TypeError(
            f"X is a polars {type(X).__name__}, whose rows are not in memory: pass "
            "X.collect()."
        )
    if hasattr(X, "columns") and hasattr(X, "dtypes"):  # of pandas or polars
        names, kinds = X.columns, X.dtypes
    elif hasattr(X, "schema"):  # of pyarrow
        names, kinds = X.schema.names, X.schema.types
    else:
        return []
    return [(str(name), kind) for name, kind in zip(names, kinds, strict=True)]


def _refuse_type(kind: Any, where: str) -> None:
    if _CALENDAR_TYPE.match(str(kind)):
        raise _calendar(where, str(kind))
    if str(kind).startswith("complex"):
        raise complex_error(where)


def _refuse_cells(cells: NDArray[Any], names: list[str], what: str) -> None:
    """Raise if a cell of an array of objects or text is not a number."""
    for column, values in enumerate(cells.T if cells.ndim == 2 else cells[None]):
        name = repr(names[column]) if names else column
        of_column = f" in column {name}" if cells.ndim == 2 else ""
        for row, cell in enumerate(values):
            if type(cell) is not float:
                _refuse_cell(cell, row, of_column, what)


def _refuse_cell(cell: Any, row: int, of_column: str, what: str) -> None:
    place = f"Row {row}{of_column} of {what}"
    if isinstance(cell, CALENDAR):
        raise _calendar(place, type(cell).__name__)
    if isinstance(cell, (complex, np.complexfloating)):
        raise complex_error(place)
    try:
        float(cell)
    except TypeError:  # None, and what scikit-learn refuses
        return
    except OverflowError:
        raise too_large_error(place) from None
    except ValueError:
        raise ValueError(
            f"{what} has text{of_column}: {str(cell)[:50]!r} in row {row}. Only "
            "numbers can be analyzed: drop the column or encode it."
        ) from None


def _calendar(where: str, kind: str) -> TypeError:
    return TypeError(
        f"{where} has dates or times ({kind}), but only numbers can be analyzed: drop "
        "them, or convert them to numbers, such as days since the first."
    )
