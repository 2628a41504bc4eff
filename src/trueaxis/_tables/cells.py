"""Decide whether a cell of a text table is a number, missing, or text."""

from __future__ import annotations

import re

MISSING = {
    "", "na", "n/a", "n.a.", "nan", "null", "none", "<na>", "#n/a", "#na",
    "?", "-", ".",
}  # fmt: skip
# Typographic minus signs, and the spaces and apostrophes that separate thousands.
_MINUS = str.maketrans({"\N{MINUS SIGN}": "-", "\N{EN DASH}": "-"})
_SEPARATORS = (
    " \N{NO-BREAK SPACE}\N{THIN SPACE}\N{FIGURE SPACE}\N{NARROW NO-BREAK SPACE}'\u2019"
)
_GROUPED = re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:[{_SEPARATORS}]\d{{3}})+(?:[.,]\d*)?")
_SEPARATOR = re.compile(f"[{_SEPARATORS}]")
# A number with a thousands separator never begins with 0: 0,234 and 0.234 are decimals.
_THOUSANDS = {
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?"),
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?"),
}
_WITH_SIGN = re.compile(r"[+-]?\s*([$€£¥])\s*[+-]?[\d.,]+|[+-]?[\d.,]+\s*([%‰$€£¥])")


def printable(text: object) -> str:
    r"""Return text on one line, without characters that could control a terminal.

    Examples
    --------
    >>> from trueaxis._tables.cells import printable
    >>> printable("a\nb\x1b[2J")
    'a b�[2J'
    """
    return "".join(
        c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}"
        for c in str(text)
    )


class TableError(ValueError):
    """Error for a table that cannot be used; the message says why, and what to do."""


def parse_number(cell: str, decimal: str) -> float | None:
    """Return the number in a cell: NaN if it is missing, None if it is text.

    Parameters
    ----------
    cell : str
    decimal : {".", ","}
        The decimal sign; the other one separates thousands.

    Examples
    --------
    >>> from trueaxis._tables.cells import parse_number
    >>> [parse_number(cell, ",") for cell in ("1.234,5", "1.234", "0.5", "")]
    [1234.5, 1234.0, None, nan]
    >>> [parse_number(cell, ".") for cell in ("1.234", "1_000")]
    [1.234, None]
    """
    cell = cell.strip().translate(_MINUS)
    if is_missing(cell):
        return float("nan")
    if _GROUPED.fullmatch(cell):
        cell = _SEPARATOR.sub("", cell)
    thousands = "," if decimal == "." else "."
    if thousands in cell:
        if not _THOUSANDS[decimal].fullmatch(cell):
            return None
        cell = cell.replace(thousands, "")
    if "_" in cell:  # valid in Python, but not in tables
        return None
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return None


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, with either decimal sign."""
    return not is_missing(cell) and not is_text(cell)


def is_missing(cell: str) -> bool:
    """Return whether a cell marks a missing value."""
    return cell.lower() in MISSING


def is_text(cell: str) -> bool:
    """Return whether a cell is neither a number nor missing."""
    return parse_number(cell, ".") is None and parse_number(cell, ",") is None


def unit_sign(cell: str) -> str | None:
    """Return the currency or percent sign beside an otherwise numeric cell."""
    match = _WITH_SIGN.fullmatch(cell.strip().translate(_MINUS))
    return match and (match[1] or match[2])
