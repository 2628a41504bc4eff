"""What one cell of a table is: a number, missing, or text; for `conversion`."""

from __future__ import annotations

import re

MISSING = {
    "", "na", "n/a", "n.a.", "nan", "null", "none", "<na>", "#n/a", "#na",
    "?", "-", ".",
}  # fmt: skip
# Minus signs of typesetters, and the spaces and apostrophes that part thousands.
_MINUS = str.maketrans({"\N{MINUS SIGN}": "-", "\N{EN DASH}": "-"})
_GAPS = (
    " \N{NO-BREAK SPACE}\N{THIN SPACE}\N{FIGURE SPACE}\N{NARROW NO-BREAK SPACE}'\u2019"
)
_PARTED = re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:[{_GAPS}]\d{{3}})+(?:[.,]\d*)?")
_GAP = re.compile(f"[{_GAPS}]")
# Thousands never begin with a zero: 0,234 and 0.234 are decimals.
_THOUSANDS = {
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?"),
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?"),
}
_SIGN = re.compile(r"[+-]?\s*([$€£¥])\s*[+-]?[\d.,]+|[+-]?[\d.,]+\s*([%‰$€£¥])")


def printable(text: object) -> str:
    r"""Text from files on one line, without what would steer a terminal.

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
    """A table that cannot be used, with the reason and what to do."""


def value(cell: str, decimal: str) -> float | None:
    """The number in a cell; NaN if it is missing, None if it is text.

    Parameters
    ----------
    cell : str
    decimal : {".", ","}
        What stands before decimals; the other one parts thousands.

    Examples
    --------
    >>> from trueaxis._tables.cells import value
    >>> value("1.234,5", ","), value("1.234", ","), value("1.234", ".")
    (1234.5, 1234.0, 1.234)
    >>> value("0.5", ","), value("", ","), value("1_000", ".")
    (None, nan, None)
    """
    cell = cell.strip().translate(_MINUS)
    if is_missing(cell):
        return float("nan")
    if _PARTED.fullmatch(cell):
        cell = _GAP.sub("", cell)
    thousands = "," if decimal == "." else "."
    if thousands in cell:
        if not _THOUSANDS[decimal].fullmatch(cell):
            return None
        cell = cell.replace(thousands, "")
    if "_" in cell:  # Python's, and nobody else's
        return None
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return None


def is_number(cell: str) -> bool:
    """Whether a cell is a number, with either decimal sign."""
    return not is_missing(cell) and not is_text(cell)


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing one."""
    return cell.lower() in MISSING


def is_text(cell: str) -> bool:
    """Whether a cell is neither a number, with either decimal sign, nor missing."""
    return value(cell, ".") is None and value(cell, ",") is None


def sign(cell: str) -> str | None:
    """The sign of a currency, or of per cent, that keeps a cell from being a number."""
    found = _SIGN.fullmatch(cell.strip().translate(_MINUS))
    return found and (found[1] or found[2])
