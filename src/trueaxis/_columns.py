"""Columns of a table: which ones are meant, and which ones are worth analyzing.

Readers of files and of data frames produce columns. `select` finds those that a user
names, and `examine` says which of the others are left out, and why.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection, Iterable, Sequence
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
_MOST_LISTED = 12  # names in a message


class TableError(ValueError):
    """Error for a table that cannot be used; the message says why, and what to do."""


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
    >>> from trueaxis._columns import Column, examine
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


def select(
    patterns: str | Iterable[str],
    names: Sequence[str],
    option: str,
    *,
    exact: bool = False,
) -> list[str]:
    """Return the names that are meant, each once, in the order of the patterns.

    Parameters
    ----------
    patterns : str or iterable of str
        Each is a name; a range ``a:d`` in the order of the table, ends included, where
        ``a:`` and ``:d`` are open; or a pattern, in which ``*`` stands for any
        characters and ``?`` for one. A name that exists is never taken as a range or a
        pattern.
    names : sequence of str
        Names of the columns, in the order of the table.
    option : str
        What the user calls the option, for messages: "--drop" or "drop".
    exact : bool
        Whether all patterns are names.

    Raises
    ------
    TableError
        If a pattern means no column; close matches are suggested.

    Examples
    --------
    >>> from trueaxis._columns import select
    >>> names = ["id", "flow", "temp_in", "temp_out", "a:b"]
    >>> select(["flow:temp_out"], names, "--columns")
    ['flow', 'temp_in', 'temp_out']
    >>> select(["a:b", "temp*"], names, "--columns")
    ['a:b', 'temp_in', 'temp_out']
    """
    found: dict[str, None] = {}
    known = {*names}  # a model may name thousands of columns
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        if not isinstance(pattern, str):
            raise TypeError(
                f"{option} has {pattern!r}, a {type(pattern).__name__}: pass names of "
                "columns as text."
            )
        if pattern in known:
            found[pattern] = None
        elif exact:
            raise _unknown(pattern, names, option)
        else:
            found |= dict.fromkeys(_meant_by(pattern, names, option))
    return list(found)


def _meant_by(pattern: str, names: Sequence[str], option: str) -> list[str]:
    """Return the names that a pattern means, which is no name itself."""
    if ":" in pattern:
        ends = _range_ends(pattern, names, option)
        if ends is not None:
            first, last = ends
            return list(names[first : last + 1])
    if "*" in pattern or "?" in pattern:
        expression = _as_expression(pattern)
        matching = [name for name in names if expression.fullmatch(name)]
        if matching:
            return matching
        raise TableError(
            f"No column matches {pattern!r} ({option}). {_list_columns(names)}"
        )
    raise _unknown(pattern, names, option)


def _range_ends(
    pattern: str, names: Sequence[str], option: str
) -> tuple[int, int] | None:
    """Return first and last position; None if an end of every reading is unknown.

    Names may contain colons themselves, so that a range can have several readings.
    """
    positions = {name: i for i, name in enumerate(names)}
    readings, unknown = [], []
    for colon in re.finditer(":", pattern):
        a, d = pattern[: colon.start()], pattern[colon.end() :]
        missing = [end for end in (a, d) if end and end not in positions]
        if missing:
            unknown.append((a, d, missing))
        else:
            readings.append((positions.get(a, 0), positions.get(d, len(names) - 1)))
    if len(readings) > 1:
        raise TableError(
            f"{pattern!r} ({option}) can be read as {len(readings)} different ranges, "
            "because names have colons themselves: list the columns."
        )
    if not readings:
        # One known end is a range with a mistake; otherwise it may be a pattern.
        for a, d, missing in unknown:
            if a and d and len(missing) == 1 and not re.search(r"[*?]", missing[0]):
                raise _unknown(missing[0], names, f"{option}, in {pattern!r}")
        return None
    first, last = readings[0]
    if first > last:
        raise TableError(
            f"The range {pattern!r} ({option}) is empty: {names[first]!r} comes "
            f"after {names[last]!r} in the table: write "
            f"{f'{names[last]}:{names[first]}'!r}."
        )
    return first, last


def _as_expression(pattern: str) -> re.Pattern[str]:
    """Return the regular expression; brackets, as in 'temp [C]', are plain text."""
    # Stars in a row mean the same as one, but would take very long to rule out.
    pattern = re.sub(r"\*+", "*", pattern)
    parts = {"*": ".*", "?": "."}
    return re.compile("".join(parts.get(c) or re.escape(c) for c in pattern), re.DOTALL)


def _unknown(name: str, names: Sequence[str], option: str) -> TableError:
    close = _close_matches(name, names)
    hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    return TableError(
        f"There is no column {name!r} ({option}).{hint} {_list_columns(names)}"
    )


def _close_matches(name: str, names: Sequence[str]) -> list[str]:
    """Return up to 3 similar names; upper and lower case count as the same."""
    folded: dict[str, str] = {}
    for each in names:
        folded.setdefault(each.strip().casefold(), each)
    close = difflib.get_close_matches(name.strip().casefold(), list(folded))
    return [folded[each] for each in close]


def _list_columns(names: Sequence[str]) -> str:
    return f"The columns are {quote(names, _MOST_LISTED)}."
