"""A column of a table, and what is worth knowing about it before it is analyzed.

Readers of files and of data frames produce columns; `examine` says which of them are
left out, and why, and what the user should know about the others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Kind = Literal["number", "text", "calendar", "nested"]

# Names under which tables count or identify their rows, and calendar years and days.
_ID_NAME = re.compile(
    r"(.*[\W_])?(id|ids|idx|index|uuid)|(.*[\W_])?serial([\W_]*(nr|no|num|number))?\.?|"
    r"(nr|no|num|number|row|rowid|key|rownames)\.?",
    re.IGNORECASE,
)
_CALENDAR_NAME = re.compile(
    r"year|yr|month|day|weekday|hour|minute|week|quarter|date|time|timestamp|ts|jahr|"
    r"monat|tag",
    re.IGNORECASE,
)
_SOME = 100  # values that settle most questions
_FEWEST_TO_COUNT = 10  # rows; fewer integers may be levels of an experiment


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
    kind : {"number", "text", "calendar", "nested"}
        Dates and times are "calendar", lists and records "nested".
    values : ndarray of shape (n,)
        Floats with NaN for missing cells if the kind is "number"; otherwise objects,
        with None for missing cells.
    unit : str
        Unit of measurement, if the file tells it.
    """

    name: str
    kind: Kind
    values: NDArray[Any] = field(repr=False)
    unit: str = ""


def as_objects(cells: Sequence[Any]) -> NDArray[Any]:
    """Return cells as an array of objects, even if all of them are lists."""
    values = np.empty(len(cells), dtype=object)
    for i, cell in enumerate(cells):  # np.array would make lists a table
        values[i] = cell
    return values


def floats_of_arrow(cells: Any) -> NDArray[np.float64]:
    """Return an array of numbers of pyarrow as floats, NaN for missing ones.

    As `to_numpy` does, which would import pandas; without a copy if all are floats.
    """
    if not len(cells):
        return np.zeros(0)
    if str(cells.type) != "double":
        cells = cells.cast("float64", safe=False)
    if cells.null_count:
        cells = cells.fill_null(np.nan)
    return np.frombuffer(cells.buffers()[1], float, len(cells), 8 * cells.offset)


class Findings(NamedTuple):
    """What was noticed about the columns of a table.

    left_out : reason for every column that should not be analyzed
    remarks : sentences about columns that are analyzed
    """

    left_out: dict[str, str]
    remarks: list[str]


def examine(columns: Sequence[Column], chosen: Collection[str] = ()) -> Findings:
    """Return which columns should not be analyzed, and remarks about the others.

    Parameters
    ----------
    columns : sequence of Column
    chosen : collection of str
        Names of columns that the user asked for: numbers among them are analyzed in any
        case.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis._tables.column import Column, examine
    >>> nr = Column("nr", "number", np.arange(1.0, 13.0))
    >>> flow = Column("flow", "number", np.sin(nr.values))
    >>> site = Column("site", "text", np.array(list("aabbaaabbabb"), dtype=object))
    >>> examine([nr, flow, site]).left_out
    {'nr': 'counts the rows', 'site': 'text'}
    """
    left_out: dict[str, str] = {}
    remarks: dict[str, list[str]] = {}
    seen: dict[int, list[Column]] = {}
    for column in columns:
        if column.kind != "number":
            left_out[column.name] = column.kind
            continue
        reason = _carries_nothing(column)
        if reason and column.name not in chosen:
            left_out[column.name] = reason
            continue
        for remark in _remark(column, seen):
            remarks.setdefault(remark, []).append(column.name)
    return Findings(left_out, [_sentence(*each) for each in remarks.items()])


def describe_left_out(left_out: dict[str, str]) -> list[str]:
    """Return one sentence that names all columns that are left out, by reason."""
    if not left_out:
        return []
    by_reason: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        by_reason.setdefault(reason, []).append(name)
    parts = [f"{quote(names)} ({reason})" for reason, names in by_reason.items()]
    return [f"Left out: {', '.join(parts)}."]


def quote(names: Sequence[str], most: int = 8) -> str:
    """Return quoted names, separated by commas; only the first if there are many."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def _carries_nothing(column: Column) -> str:
    """Return why a column of numbers is empty or names the rows; "" if neither."""
    values = column.values
    # The first cell decides most columns, as a Python number: a table may have a
    # million of them, and every operation on an array takes microseconds.
    first = float(values[0]) if len(values) else np.nan
    if math.isnan(first) and np.isnan(values).all():
        return "empty"
    named = _ID_NAME.fullmatch(column.name) is not None
    if first % 1 != 0 or not (named or len(values) >= _FEWEST_TO_COUNT):
        return ""
    if not _whole(values):
        return ""
    counts = len(values) > 1 and np.all(np.diff(values) == 1)
    if counts and (named or values[0] in (0, 1)):
        return "counts the rows"
    if named and len(values) > 1 and len(np.unique(values)) == len(values):
        return "distinct numbers that name the rows"
    return ""


def _remark(column: Column, seen: dict[int, list[Column]]) -> list[str]:
    """Return what is odd about a column, as the end of a sentence."""
    values = column.values
    if len(values) < 2:
        return []
    if math.isnan(values[0]) and np.isnan(values[:_SOME]).all():
        return []
    if values[0] == values[-1] and (values == values[0]).all():
        return ["constant"]
    if _CALENDAR_NAME.fullmatch(column.name) and _whole(values[~np.isnan(values)]):
        return ["calendar"]
    # Adding 0.0 leaves no negative zeros, which are equal but have other bits.
    like = seen.setdefault(hash((values + 0.0).tobytes()), [])
    for other in like:
        if np.array_equal(values, other.values, equal_nan=True):
            return [f"the same as {other.name!r}"]
    like.append(column)
    return []


def _whole(values: NDArray[Any]) -> bool:
    """Return whether all values are integers; quickly if the first ones are not."""
    with np.errstate(invalid="ignore"):  # infinite values are refused later
        return bool(np.all(values[:_SOME] % 1 == 0) and np.all(values % 1 == 0))


def _sentence(remark: str, names: list[str]) -> str:
    one = len(names) == 1
    what, are = ("Column", "is") if one else ("Columns", "are")
    subject = f"{what} {quote(names)}"
    if remark == "constant":
        return f"{subject} {are} constant and cannot say anything about the rows."
    if remark == "calendar":
        seems = "seems" if one else "seem"
        return (
            f"{subject} {seems} to be a date or time, and {are} analyzed as "
            f"{'a number' if one else 'numbers'}: --drop {'it' if one else 'them'} if "
            "that is not meant."
        )
    again = "it counts twice" if one else "it counts several times"
    return f"{subject} {are} {remark}, so that {again}."
