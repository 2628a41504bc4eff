"""Decide whether columns share a unit of measurement, or have to be scaled.

Columns with the same unit can be compared as they are: that one varies more than
another is a fact. In different units, the spreads depend on the choice of units.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np

from trueaxis._columns import Column, quote
from trueaxis.estimators.scaler import UNEVEN, uneven_columns

Decision = Literal["none", "robust"]

LOG_UNIT = "log10"  # of columns that are logarithms

_SYMBOL = (
    r"[fpnuµμmcdhkMGT]?(?:m|g|s|A|K|mol|Hz|N|Pa|J|W|V|ohm|Ω|L|l|Wh|VA|bar|eV|Da|IU|cal)|"
    r"[pnuµμmk](?:S|T|M|F|U)|°?[CF]|degC|degF|deg|rad|min|h|hr|d|days?|yr|years?|weeks?|"
    r"months?|in|inch|ft|yd|mi|mph|oz|lbs?|psi|rpm|t|ha|Å|AU|%|percent|pct|‰|ppm|ppb|"
    r"dBm?|px|pixels?|USD|EUR|GBP|CHF|JPY|\$|€|£|¥|counts?|pH|mmHg"
)
_FACTOR = rf"(?:{_SYMBOL})(?:\^?[-\u2212]?\d|[²³⁻¹])*"
_UNIT = re.compile(rf"(?:1\s*/\s*)?{_FACTOR}(?:\s*[/·*. ]\s*{_FACTOR})*")
_BRACKETED = re.compile(r".*\S\s*(?:\(([^()]*)\)|\[([^\[\]]*)\])\s*")
# Endings such as flow_kg. Those with another meaning are left out: in, min, m, s, ...
_ENDING = re.compile(
    r".+[_ .](mm|cm|km|nm|um|kg|mg|ug|ms|kW|kWh|mV|hPa|kPa|MPa|mbar|ppm|ppb|pct|"
    r"percent|Hz|kHz|MHz|GHz|degC|degF|mmHg|usd|eur|gbp)",
    re.IGNORECASE,
)
_NUMBER_NAME = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?", re.IGNORECASE)
_FEWEST_IN_SERIES = 3
_EVEN = 0.02  # relative differences of steps that rounded names may have


def decide_scale(columns: Sequence[Column]) -> tuple[Decision, str]:
    """Return whether to scale columns, and a sentence that says why.

    Parameters
    ----------
    columns : sequence of Column
        The columns of numbers that are analyzed.

    Returns
    -------
    how : {"none", "robust"}
    sentence : str
        "" for a single column, which no scale can change relative to others.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis._columns import Column
    >>> from trueaxis.estimators.encoder.units import decide_scale
    >>> flow = Column("flow (l/min)", "number", np.arange(5.0))
    >>> heat = Column("heat [kW]", "number", np.arange(5.0))
    >>> how, sentence = decide_scale([flow, heat])
    >>> how
    'robust'
    >>> sentence
    "Columns were scaled (robust): they are in different units ('l/min', 'kW')."
    """
    if len(columns) < 2:
        return "none", ""
    units = list(dict.fromkeys(map(unit_of, columns)))
    known = [unit for unit in units if unit]
    if LOG_UNIT in units:
        if len(units) > 1:
            return _scaled("logarithms and other numbers share no unit")
        return _unscaled("all of them are logarithms")
    if len(known) > 1:
        return _scaled(f"they are in different units ({quote(known, 3)})")
    if len(units) == len(known):
        return _unscaled(f"all of them are in {known[0]!r}")
    names = [column.name for column in columns]
    if is_series(names):
        return _unscaled(
            f"their names, {names[0]!r} to {names[-1]!r}, are evenly spaced numbers, "
            "as of a spectrum, so that they share a unit"
        )
    return _by_spread(columns)


def unit_of(column: Column) -> str:
    """Return the unit of a column, as the file or its name tells it; "" if unknown."""
    if column.unit:
        return column.unit
    match = _BRACKETED.fullmatch(column.name)
    if match:
        text = (match[1] or match[2] or "").strip()
        return text if _UNIT.fullmatch(text) else ""
    match = _ENDING.fullmatch(column.name)
    return match[1].lower() if match else ""


def is_series(names: Sequence[str]) -> bool:
    """Return whether names are evenly spaced numbers that do not just count.

    Examples
    --------
    >>> from trueaxis.estimators.encoder.units import is_series
    >>> is_series(["400", "402", "404"]), is_series(["0", "1", "2"])
    (True, False)
    """
    if len(names) < _FEWEST_IN_SERIES:
        return False
    if not all(_NUMBER_NAME.fullmatch(name) for name in names):
        return False
    values = np.array([float(name) for name in names])
    steps = np.diff(values)
    counts = values[0] in (0, 1) and (steps == 1).all()
    size = np.abs(np.median(steps))
    # Names are rounded: their last digit may be off by one in every step.
    digits = max(len(name.partition(".")[2]) for name in names)
    slack = max(_EVEN * size, 1.01 * 10.0**-digits if digits else 0.0)
    even = np.abs(steps - np.median(steps)).max() <= slack
    return bool(size > 0 and even and not counts)


def _by_spread(columns: Sequence[Column]) -> tuple[Decision, str]:
    # Where most values are equal, the spread says how rare the others are.
    columns = [column for column in columns if not _mostly_equal(column)]
    uneven = None
    if columns:
        uneven = uneven_columns(np.column_stack([column.values for column in columns]))
    if uneven is None:
        return _unscaled(
            f"their spreads differ by less than a factor of {UNEVEN:.0f}, and their "
            "names tell no units"
        )
    wide, narrow = columns[uneven.wide].name, columns[uneven.narrow].name
    return _scaled(
        f"the spread of {wide!r} is {uneven.ratio:,.0f} times that of {narrow!r}, so "
        "that they hardly share a unit"
    )


def _mostly_equal(column: Column) -> bool:
    known = column.values[~np.isnan(column.values)]
    if not len(known):
        return True
    return bool(np.median(np.abs(known - np.median(known))) == 0)


def _scaled(reason: str) -> tuple[Decision, str]:
    return "robust", f"Columns were scaled (robust): {reason}."


def _unscaled(reason: str) -> tuple[Decision, str]:
    return "none", f"Columns were not scaled: {reason}."
