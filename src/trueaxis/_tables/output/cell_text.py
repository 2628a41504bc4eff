"""Characters of single cells of text: where they are, and how numbers are written."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Sequence

from trueaxis._tables.parsing.cells import MINUS, number_pattern

_THOUSANDS = re.compile(r"\d{1,3}\.\d{3}")  # or decimals: 1.234
_BOMS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
# Encodings that the mark at the start tells.
_MARKED = {
    "utf-8-sig": ("utf-8",),
    "utf-16": ("utf-16-le", "utf-16-be"),
    "utf-32": ("utf-32-le", "utf-32-be"),
}


def encoding_of(data: bytes, encoding: str) -> tuple[bytes, str]:
    """Return the mark at the start of a text, and the name of the encoding after it."""
    name = codecs.lookup(encoding).name.replace("_", "-")
    codecs_ = _MARKED.get(name, (name,))
    for codec in codecs_:
        if codec in _BOMS and data.startswith(_BOMS[codec]):
            return _BOMS[codec], codec
    return b"", codecs_[0]


def format_number(x: float) -> str:
    """Return a number with as many digits as it needs, whole ones without decimals."""
    return str(whole_or_float(x)) if abs(x) < 1e15 else repr(float(x))


def whole_or_float(x: float) -> int | float:
    """Return an integer if a number is whole."""
    return int(x) if float(x).is_integer() and abs(x) < 1 << 53 else float(x)


def cell_spans(text: str, delimiter: str) -> list[tuple[int, int]]:
    """Return where the cells of a row begin and end, with their quotes and spaces."""
    if delimiter == " ":
        cells = re.finditer(r'(?:"[^"]*"|[^ \t"\r\n])+', text)
        return [match.span() for match in cells]
    sign = re.escape(delimiter)
    cell = re.compile(rf'(?:"(?:[^"]|"")*"?)?[^{sign}]*')
    spans, position = [], 0
    while True:
        match = cell.match(text, position)
        assert match is not None  # the pattern matches nothing as well
        spans.append(match.span())
        if match.end() >= len(text):
            return spans
        position = match.end() + 1


def unquoted(cell: str) -> str:
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return (cell[1:-1].replace('""', '"') if quoted else cell).strip()


def joined(cells: Sequence[str], delimiter: str) -> str:
    text = io.StringIO()
    # Cells that contain a character of the end of lines are quoted.
    csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerow(cells)
    return text.getvalue()[:-2]


def style_of(cells: Iterable[str], decimal: str) -> str | None:
    """Return a cell to write others like: the first number, with its unit.

    Parameters
    ----------
    cells : iterable of str
        Cells of a column that are not missing.
    decimal : {".", ","}

    Returns
    -------
    str or None
        None if no cell is a number.

    Examples
    --------
    >>> from trueaxis._tables.output.cell_text import style_of
    >>> style_of(["n.d.", "0", "1.5 kg", "2 kg"], ".")
    '1.5 kg'
    """
    pattern, zero = number_pattern(decimal), None
    for cell in cells:
        match = pattern.fullmatch(cell.strip().translate(MINUS))
        if match is None:
            continue
        if match[3] or match[6] or match[5].strip("0.,"):
            return cell
        zero = zero or cell  # which needs no unit, so that it shows none
    return zero


def number_like(x: float, style: str, decimal: str, *, unclear: bool = False) -> str:
    """Return a number as text, with the decimal sign and the unit of another cell.

    Parameters
    ----------
    x : float
    style : str
        A cell of the same column, or "".
    decimal : {".", ","}
    unclear : bool
        Whether 1.234 could be taken for thousands.

    Examples
    --------
    >>> from trueaxis._tables.output.cell_text import number_like
    >>> number_like(-2.5, "3,0 kg", ","), number_like(7, "$ 12.50", ".")
    ('-2,5 kg', '$7')
    """
    digits = format_number(x)
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    if unclear and _THOUSANDS.fullmatch(digits):
        digits += "0"
    digits = digits.replace(".", decimal)
    style = style.strip()
    match = number_pattern(decimal).fullmatch(style.translate(MINUS))
    if match is None:
        return sign + digits
    return f"{sign}{match[3] or ''}{digits}{style[match.end(5) :]}"
