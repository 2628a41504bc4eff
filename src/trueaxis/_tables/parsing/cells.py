"""What a cell of a text table means: a number, a missing value, a date, or text.

`numbers` applies these rules to whole columns, `dialect` to the first lines of a file.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

# In lower case. A file may have further words, see `Choice.na`.
MISSING = frozenset({
    "", "na", "n/a", "n.a.", "n.a", "n/d", "nan", "nat", "nil", "(null)", "\\n", "--",
    "---", "***", "null", "none", "<na>", "#n/a", "#na", "?", "-",
    ".", "n.d.", "nd", "n.d", "lod", "<lod", "< lod", "<loq", "loq", "bdl", "missing",
    "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!",
})  # fmt: skip
DASHES = frozenset({"-", "\N{MINUS SIGN}", "\N{EN DASH}"})
CURRENCY = "$€£¥"
_CURRENCY = rf"[{CURRENCY}]|(?:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD)\b"
# Typographic minus signs, and the spaces and apostrophes that separate thousands.
MINUS = str.maketrans({"\N{MINUS SIGN}": "-", "\N{EN DASH}": "-"})
# Negative numbers of accountants: (12.50) and 12,50-.
_ACCOUNTANTS = re.compile(
    r"^(?:\(([^()\n]*\d[^()\n]*)\)|([\d.,' ]*\d)-)$", re.MULTILINE
)
SEPARATORS = (
    " \N{NO-BREAK SPACE}\N{THIN SPACE}\N{FIGURE SPACE}\N{NARROW NO-BREAK SPACE}'\u2019"
)
# A unit has letters and signs, and at most a power at its end: kg, m/s2, %, °C.
_UNIT = (
    rf"(?!e[+-]?\d|(?:st|nd|rd|th)$)(?:[%‰°{CURRENCY}µμΩ]|[^\W\d_])[^\s\d]{{0,9}}"
    r"(?:(?<=[ms])[23])?"
)
# Most cells are written like this, and need no other rule.
_PLAIN = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_DATE = r"\d{4}[-./]\d{1,2}(?:[-./]\d{1,2})?|\d{1,2}[-./]\d{1,2}[-./](?:\d{4}|\d{2})"
_MONTH = r"(?:jan|feb|mar|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-z]*\.?"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[ap]m)?"
_ZONE = r"(?:\s*(?:z|utc|[+-]\d{2}:?\d{2}))?"
CALENDAR = re.compile(
    rf"^(?:(?:{_DATE}|\d{{1,2}}[-. ]+{_MONTH}[-. ]*(?:\d{{4}}|\d{{2}})"
    rf"|{_MONTH}\s+\d{{1,2}},?\s+\d{{4}})"
    rf"(?:[T ]\s*{_TIME}{_ZONE})?|{_TIME}{_ZONE}|\d{{4}}-?(?:q[1-4]|w\d{{2}}))$",
    re.IGNORECASE | re.MULTILINE,
)


def printable(text: object) -> str:
    r"""Return text on one line, without characters that could control a terminal.

    Examples
    --------
    >>> from trueaxis._tables.parsing.cells import printable
    >>> printable("a\nb\x1b[2J")
    'a b�[2J'
    """
    return "".join(
        c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}"
        for c in str(text)
    )


# All but tabs and ends of lines; some turn the direction of writing.
_CONTROL = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


def harmless(text: str) -> str:
    r"""Return text of several lines without characters that could control a terminal.

    Examples
    --------
    >>> from trueaxis._tables.parsing.cells import harmless
    >>> harmless("a\tb\nc\x1b[2J\n")
    'a\tb\nc�[2J\n'
    """
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


class TableError(ValueError):
    """Error for a table that cannot be used; the message says why, and what to do."""


@cache
def number_pattern(decimal: str) -> re.Pattern[str]:
    """Return the pattern of numbers, each on a line of its own.

    Its groups are a sign of comparison (<0.5), a sign, a currency, another sign, the
    digits, and a unit. Whatever separates thousands is part of the digits.

    Parameters
    ----------
    decimal : {".", ","}
        The decimal sign; the other one separates thousands.
    """
    point, comma = (r"\.", ",") if decimal == "." else (",", r"\.")
    # A number with separated thousands never begins with 0: 0,234 and 0.234 are
    # decimals.
    grouped = "|".join(
        rf"[1-9]\d{{0,2}}(?:{mark}\d{{3}})+" for mark in (comma, f"[{SEPARATORS}]")
    )
    plain = rf"(?:\d+(?:{point}\d*)?|{point}\d+)(?:e[+-]?\d+)?"
    number = rf"(?:{grouped})(?:{point}\d*)?(?![\d{comma}])|{plain}|inf(?:inity)?"
    return re.compile(
        rf"^([<>≤≥]=?)?[ \t]*([+-]?)[ \t]*((?:{_CURRENCY})?)[ \t]*"
        rf"([+-]?)((?i:{number}))(?:[ \t\N{{NO-BREAK SPACE}}]*({_UNIT}))?$",
        re.MULTILINE,
    )


def is_missing(cell: str) -> bool:
    """Return whether a cell marks a missing value."""
    return cell.lower() in MISSING or cell in DASHES


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, with either decimal sign and no unit.

    Examples
    --------
    >>> from trueaxis._tables.parsing.cells import is_number
    >>> [is_number(cell) for cell in ("1,5", "<0.5", "5 %", "5 kg", "n.d.")]
    [True, True, True, False, False]
    """
    if _PLAIN.fullmatch(cell):
        return True
    return not is_missing(cell) and any(parse_number(cell, d) is not None for d in ".,")


def are_codes(cells: Collection[str]) -> bool:
    """Return whether cells are codes rather than numbers: some begin with a zero.

    Examples
    --------
    >>> from trueaxis._tables.parsing.cells import are_codes
    >>> are_codes(["01067", "80331", "2A"]), are_codes(["0", "0.5", "12"])
    (True, False)
    """
    zeros = any(
        len(cell) > 1 and cell[0] == "0" and cell.isascii() and cell.isdigit()
        for cell in cells
    )
    return zeros and all(map(str.isalnum, cells))


def parse_number(cell: str, decimal: str, *, units: bool = False) -> float | None:
    """Return the number in a cell, or None; only %, ‰ and currencies may be units.

    With `units`, all of them may.

    Examples
    --------
    >>> from trueaxis._tables.parsing.cells import parse_number
    >>> [parse_number(cell, ",") for cell in ("1.234,5", "1.234", "0.5")]
    [1234.5, 1234.0, None]
    >>> [parse_number(cell, ".") for cell in ("1.234", "1_000")]
    [1.234, None]
    """
    if decimal == "." and _PLAIN.fullmatch(cell):
        return float(cell)
    match = number_pattern(decimal).fullmatch(with_minus(cell.strip()))
    if match is None:
        return None
    if match[6] and not units and match[6][0] not in "%‰" + CURRENCY:
        return None
    digits = float(plain_digits(match[5], decimal))
    return -digits if "-" in (match[2], match[4]) else digits


def with_minus(cells: str) -> str:
    """Return cells, each on a line of its own, with plain minus signs in front."""
    cells = cells.translate(MINUS)
    if "(" in cells or "-\n" in cells or cells.endswith("-"):
        cells = _ACCOUNTANTS.sub(r"-\1\2", cells)
    return cells


def plain_digits(digits: str, decimal: str) -> str:
    """Return digits, or lines of them, without thousands and with a decimal point."""
    digits = digits.translate(_NO_SEPARATORS)
    if decimal == ".":
        return digits.replace(",", "")
    return digits.replace(".", "").replace(",", ".")


_NO_SEPARATORS = {ord(separator): None for separator in SEPARATORS}
