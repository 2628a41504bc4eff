"""Decide whether columns share a unit.

Columns with the same unit can be compared as they are: that one varies more than
another is a fact. In different units, the spreads depend on the choice of units.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import Column, quote
from trueaxis.preprocessing.scaler import UNEVEN, uneven_columns

LOG_UNIT = "log10"  # of columns that are logarithms

_BRACKETED = re.compile(r".*\S\s*(?:\(([^()]+)\)|\[([^\[\]]+)\])\s*")
_NUMBER_NAME = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?", re.IGNORECASE)
_FEWEST_IN_SERIES = 3
_EVEN = 0.05  # relative differences of steps that rounded names may have


def decide_scale(columns: Sequence[Column]) -> tuple[Literal["none", "robust"], str]:
    """Return whether to scale columns of numbers, and a sentence that says why.

    Returns
    -------
    how : {"none", "robust"}
    sentence : str
        "" for a single column, which no scale can change relative to others.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis._columns import Column
    >>> from trueaxis.preprocessing.decisions import decide_scale
    >>> flow = Column("flow (l/min)", "number", np.arange(5.0))
    >>> heat = Column("heat [kW]", "number", np.arange(5.0))
    >>> decide_scale([flow, heat])[1]
    "Columns were scaled (robust): they are in different units ('l/min', 'kW')."
    """
    if len(columns) < 2:
        return "none", ""
    share, reason = _share_a_unit(columns)
    if share:
        return "none", f"Columns were not scaled: {reason}."
    return "robust", f"Columns were scaled (robust): {reason}."


def _share_a_unit(columns: Sequence[Column]) -> tuple[bool, str]:
    """Return whether columns can be compared as they are, and why."""
    units = {unit_of(column): None for column in columns}  # in their order
    known = [unit for unit in units if unit]
    if LOG_UNIT in units:
        if len(units) > 1:
            return False, "logarithms and other numbers share no unit"
        return True, "all of them are logarithms"
    if len(known) > 1:
        return False, f"they are in different units ({quote(known, 3)})"
    if len(units) == len(known):
        return True, f"all of them are in {known[0]!r}"
    names = [column.name for column in columns]
    if is_series(names):
        return True, (
            f"their names, {names[0]!r} to {names[-1]!r}, are evenly spaced numbers, "
            "as of a spectrum, so that they share a unit"
        )
    # If most values are equal, the spread only reflects how rare the others are.
    varying = [column for column in columns if not _mostly_equal(column.values)]
    uneven = None
    if varying:
        uneven = uneven_columns(np.column_stack([each.values for each in varying]))
    if uneven is None:
        return True, (
            f"their spreads differ by less than a factor of {UNEVEN:.0f}, and their "
            "names tell no units"
        )
    wide, narrow = varying[uneven.wide].name, varying[uneven.narrow].name
    return False, (
        f"the spread of {wide!r} is {uneven.ratio:,.0f} times that of {narrow!r}, so "
        "that they hardly share a unit"
    )


def unit_of(column: Column) -> str:
    """Return the unit in the file, or at the end of the name; "" if unknown."""
    match = _BRACKETED.fullmatch(column.name)
    return column.unit or (match[1] or match[2] if match else "").strip()


def is_series(names: Sequence[str]) -> bool:
    """Return whether names are evenly spaced numbers that do not just count.

    Examples
    --------
    >>> from trueaxis.preprocessing.decisions import is_series
    >>> is_series(["400", "402", "404"]), is_series(["0", "1", "2"])
    (True, False)
    """
    numbered = all(map(_NUMBER_NAME.fullmatch, names))
    if len(names) < _FEWEST_IN_SERIES or not numbered:
        return False
    values = np.array([float(name) for name in names])
    steps = np.diff(values)
    counts = values[0] in (0, 1) and (steps == 1).all()
    size = np.abs(np.median(steps))
    even = np.abs(steps - np.median(steps)).max() <= _EVEN * size
    return bool(size > 0 and even and not counts)


def _mostly_equal(values: NDArray[np.float64]) -> bool:
    known = values[~np.isnan(values)]
    return not len(known) or bool(np.median(np.abs(known - np.median(known))) == 0)
