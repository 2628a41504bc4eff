"""Levels of categorical columns, and the indicators that stand for them.

Indicators are scaled as in multiple correspondence analysis (MCA): that of a level with
share p is centered at p and divided by sqrt(p), so that a column with m levels has the
variance m - 1, and two rows differ by 1 / p + 1 / q if they have levels with shares p
and q. Together with standardized numbers, this is factor analysis of mixed data (FAMD).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import Column, quote

_NEARLY_ALL = 0.9  # of the variance


def cells_as_text(column: Column) -> list[str | None]:
    """Return the cells of a column as text, None where they are missing.

    Whole numbers are written without a point, whatever their type.
    """
    if column.kind == "number":
        return [None if np.isnan(x) else _as_text(float(x)) for x in column.values]
    return [None if cell is None else _as_text(cell) for cell in column.values]


def _as_text(cell: Any) -> str:
    if type(cell) is str:
        return cell
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))
    return cell.decode(errors="replace") if isinstance(cell, bytes) else str(cell)


def count_levels(column: Column) -> dict[str, int]:
    """Return how many rows have each level: numbers by size, text alphabetically."""
    counts = Counter(cell for cell in cells_as_text(column) if cell is not None)
    levels = sorted(counts, key=float) if column.kind == "number" else sorted(counts)
    return {level: counts[level] for level in levels}


def names_rows(counts: dict[str, int]) -> bool:
    """Return whether most rows have a level of their own, as names have.

    Such a level says nothing about its row that other rows could be compared with.
    """
    alone = sum(count == 1 for count in counts.values())
    return 2 * alone > sum(counts.values())


def indicators(
    column: Column, levels: Sequence[str]
) -> tuple[NDArray[np.float64], dict[str, int]]:
    """Return one indicator per level, and how many rows have each unknown level.

    A missing cell makes all indicators of its row NaN; an unknown level makes them 0.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis._columns import Column
    >>> from trueaxis.estimators.encoder.categories import indicators
    >>> site = Column("site", "text", np.array(["a", None, "c"], dtype=object))
    >>> indicators(site, ["a", "b"])
    (array([[ 1.,  0.],
           [nan, nan],
           [ 0.,  0.]]), {'c': 1})
    """
    position: dict[str | None, int] = {level: i for i, level in enumerate(levels)}
    cells = cells_as_text(column)
    table = np.zeros((len(cells), len(levels)))
    at = np.array([position.get(cell, -1) for cell in cells], dtype=np.intp)
    seen = np.flatnonzero(at >= 0)
    table[seen, at[seen]] = 1.0
    table[[cell is None for cell in cells]] = np.nan
    unknown = Counter(c for c in cells if c is not None and c not in position)
    return table, dict(unknown)


def describe_unknown(name: str, unknown: dict[str, int]) -> str:
    """Return a sentence about levels that the fit did not see."""
    rows = sum(unknown.values())
    one = len(unknown) == 1
    return (
        f"Column {name!r} has {'a level' if one else 'levels'} that the fit did not "
        f"see, in {rows:,} row{'' if rows == 1 else 's'}: {quote(list(unknown))}. All "
        "its indicators are 0 there, which makes a row hardly unusual: it is judged by "
        "its other columns."
    )


def describe_weights(widths: dict[str, int], n_numbers: int) -> list[str]:
    """Return a sentence if nearly all variance is that of one categorical column.

    Parameters
    ----------
    widths : dict
        Number of levels of each categorical column.
    n_numbers : int
        Number of other columns.
    """
    total = n_numbers + sum(m - 1 for m in widths.values())
    for name, m in widths.items():
        if _NEARLY_ALL * total < m - 1 < total:
            return [
                f"Column {name!r} has {m:,} levels and makes up "
                f"{(m - 1) / total:.1%} of the variance: merge its rare levels, or "
                "leave it out, if it should not count that much."
            ]
    return []
