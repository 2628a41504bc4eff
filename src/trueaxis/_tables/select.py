"""Choose columns by name, by range and by pattern.

The options of the command line and the parameters of `TableEncoder` go through `select`
before a column is read.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from trueaxis._tables.column import quote
from trueaxis._tables.parsing.cells import TableError

_MOST_LISTED = 12  # names in a message


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
    >>> from trueaxis._tables.select import select
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
