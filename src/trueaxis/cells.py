"""What the cells of a text file are: delimiters, numbers, missing, safe to print."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

DELIMITERS = ",;\t|"
MISSING = {"", "na", "n/a", "nan", "null", "none", "?", "-", "."}
# What marks a number in tables with a decimal comma: 1.234,5 or 0,5.
COMMA_NUMBER = re.compile(r"^[+-]?(\d{1,3}(\.\d{3})+|\d*),\d+([eE][+-]?\d+)?$")


def printable(text: object) -> str:
    r"""Text from files on one line, without what would steer a terminal.

    Examples
    --------
    >>> from trueaxis.cells import printable
    >>> printable("a\nb\x1b[2J")
    'a b�[2J'
    """
    return "".join(
        c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}"
        for c in str(text)
    )


def find_delimiter(lines: Sequence[str]) -> str:
    """What parts the cells: the character that all of the first lines have alike.

    Examples
    --------
    >>> from trueaxis.cells import find_delimiter
    >>> find_delimiter(["a;b", "1,5;2,5"])
    ';'
    """
    some = [line for line in lines[:60] if line.strip()][:50]
    best, most = ",", 0
    for delimiter in DELIMITERS:
        counts = {len(row) for row in csv.reader(some, delimiter=delimiter)}
        if len(counts) == 1 and counts.pop() > max(1, most):
            best = delimiter
            most = len(next(csv.reader(some[:1], delimiter=delimiter)))
    return best


def has_decimal_commas(cells: list[list[str]]) -> bool:
    """Whether numbers are written like 0,5."""
    return any(COMMA_NUMBER.match(cell) for row in cells[:200] for cell in row)


def with_point(cell: str) -> str:
    """A number with a decimal comma, as the rest of the world writes it."""
    if COMMA_NUMBER.match(cell):
        return cell.replace(".", "").replace(",", ".")
    return cell


def is_number(cell: str) -> bool:
    """Whether a cell is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return not is_missing(cell)


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing one."""
    return cell.lower() in MISSING
