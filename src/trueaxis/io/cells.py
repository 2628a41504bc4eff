"""What the cells of a text mean: numbers, missing cells, dates, or text.

A column is judged as a whole, however many blocks of it are read: `ColumnFacts` counts
what its cells are, and decides after the last of them.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import Kind, TableError, as_objects

# In lower case. A file may have further words, see `Choice.na`.
MISSING = frozenset({
    "", "na", "n/a", "n.a.", "n.a", "n/d", "nan", "nat", "nil", "(null)", "\\n", "--",
    "---", "***", "null", "none", "<na>", "#n/a", "#na", "?", "-",
    ".", "n.d.", "nd", "n.d", "lod", "<lod", "< lod", "<loq", "loq", "bdl", "missing",
    "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!",
})  # fmt: skip
DASHES = frozenset({"-", "\N{MINUS SIGN}", "\N{EN DASH}"})
LONGEST_SHOWN = 60  # characters of a cell in a message
_LONGEST = 400  # characters of a number, such as 1e308 in full
_MOST_WORDS = 5  # different bad cells in a message
_MOST_UNITS = 50  # a column with more of them has none
_ENOUGH_EVIDENCE = 100  # cells, which settle the decimal sign
_CURRENCIES = "$€£¥"
_CURRENCY = rf"[{_CURRENCIES}]|(?:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD)\b"
MINUS = str.maketrans({"\N{MINUS SIGN}": "-", "\N{EN DASH}": "-"})
# The spaces and apostrophes that separate thousands.
_SEPARATORS = (
    " \N{NO-BREAK SPACE}\N{THIN SPACE}\N{FIGURE SPACE}\N{NARROW NO-BREAK SPACE}'\u2019"
)
_NO_SEPARATORS = {ord(separator): None for separator in _SEPARATORS}
# A unit has letters and signs, and at most a power at its end: kg, m/s2, %, °C.
_UNIT = (
    rf"(?!e[+-]?\d|(?:st|nd|rd|th)$)(?:[%‰°{_CURRENCIES}µμΩ]|[^\W\d_])[^\s\d]{{0,9}}"
    r"(?:(?<=[ms])[23])?"
)
_PLAIN = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_DATE = r"\d{4}[-./]\d{1,2}(?:[-./]\d{1,2})?|\d{1,2}[-./]\d{1,2}[-./](?:\d{4}|\d{2})"
_MONTH = r"(?:jan|feb|mar|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-z]*\.?"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[ap]m)?"
_ZONE = r"(?:\s*(?:z|utc|[+-]\d{2}:?\d{2}))?"
_CALENDAR = re.compile(
    rf"(?:{_DATE}|\d{{1,2}}[-. ]+{_MONTH}[-. ]*(?:\d{{4}}|\d{{2}})"
    rf"|{_MONTH}\s+\d{{1,2}},?\s+\d{{4}})"
    rf"(?:[T ]\s*{_TIME}{_ZONE})?|{_TIME}{_ZONE}|\d{{4}}-?(?:q[1-4]|w\d{{2}})",
    re.IGNORECASE,
)
# Matches a column, joined by newlines, in which a sign must be the decimal sign: it
# is not followed by exactly three digits, or what precedes it rules out thousands.
_DECIMAL = {
    mark: re.compile(
        rf"{m}(?!\d{{3}}(?![\dEe]))|^[+-]?(?:0\d*|\d{{4,}})?{m}", re.MULTILINE
    )
    for mark, m in ((".", r"\."), (",", ","))
}
_MILLIONS = {".": re.compile(r"\.\d{3}\."), ",": re.compile(r",\d{3},")}
_OTHER = {".": ",", ",": "."}
# What a number may begin with; most text does not.
_STARTS = frozenset(
    "0123456789.,+-<>≤≥(\N{MINUS SIGN}\N{EN DASH}UEGCJIAiI" + _CURRENCIES
)
_SIGN_NAMES = {",": "a decimal comma", ".": "a decimal point"}

Place = Callable[[int], str]  # maps the number of a row to its name in a message


class Number(NamedTuple):
    """A number in a cell: its value, its unit, and a sign of comparison as in <0.5."""

    value: float
    unit: str = ""
    limit: str = ""


class Cell(NamedTuple):
    """A cell and its position."""

    text: str
    column: str
    row: int

    def quoted(self, place: Place) -> str:
        """Return the cell with its position, for a message."""
        return f"{self.text!r} in {place(self.row)}, column {self.column!r},"


@cache
def number_pattern(decimal: str) -> re.Pattern[str]:
    """Return the pattern of a number.

    Its groups are a sign of comparison (<0.5), a sign, a currency, another sign, the
    digits, and a unit. Whatever separates thousands is part of the digits.
    """
    point, comma = (r"\.", ",") if decimal == "." else (",", r"\.")
    # A number with separated thousands never begins with 0: 0,234 and 0.234 are
    # decimals.
    grouped = "|".join(
        rf"[1-9]\d{{0,2}}(?:{mark}\d{{3}})++" for mark in (comma, f"[{_SEPARATORS}]")
    )
    plain = rf"(?:\d++(?:{point}\d*+)?|{point}\d++)(?:e[+-]?\d++)?"
    number = rf"(?:{grouped})(?:{point}\d*+)?(?![\d{comma}])|{plain}|inf(?:inity)?"
    return re.compile(
        rf"([<>≤≥]=?)?[ \t]*+([+-]?)[ \t]*+((?:{_CURRENCY})?)[ \t]*+"
        rf"([+-]?)((?i:{number}))(?:[ \t\N{{NO-BREAK SPACE}}]*+({_UNIT}))?"
    )


def parse(cell: str, decimal: str) -> Number | None:
    """Return the number in a cell; None if it has none, or two signs.

    Examples
    --------
    >>> from trueaxis.io.cells import parse
    >>> parse("1.234,5 kg", ",")
    Number(value=1234.5, unit='kg', limit='')
    >>> parse("(0.5)", ".").value, parse("--1.5", ".")
    (-0.5, None)
    >>> parse("<0.5", ".").value  # somewhere between 0 and the limit
    0.25
    """
    if decimal == "." and _PLAIN.fullmatch(cell):
        return Number(float(cell))
    if cell[:1] not in _STARTS:
        return None
    match = number_pattern(decimal).fullmatch(with_minus(cell))
    if match is None or (match[2] and match[4]):
        return None
    value = float(plain_digits(match[5], decimal))
    if "-" in (match[2], match[4]):
        value = -value
    limit = match[1] or ""
    if limit[:1] in ("<", "≤"):
        value /= 2
    return Number(value, match[3] or match[6] or "", limit)


def with_minus(cell: str) -> str:
    """Return a cell with a plain minus in front, also for (12.50) and 12.50-."""
    cell = cell.translate(MINUS)
    if cell[:1] == "(" and cell[-1:] == ")":
        return f"-{cell[1:-1]}"
    if cell[-1:] == "-" and cell[-2:-1].isdigit():
        return cell if cell[:-1].strip("0123456789.,' ") else f"-{cell[:-1]}"
    return cell


def plain_digits(digits: str, decimal: str) -> str:
    """Return digits without thousands and with a decimal point."""
    digits = digits.translate(_NO_SEPARATORS)
    return digits.replace(_OTHER[decimal], "").replace(",", ".")


def is_missing(cell: str) -> bool:
    """Return whether a cell marks a missing value."""
    return cell.lower() in MISSING or cell in DASHES


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, with either decimal sign and no unit.

    Examples
    --------
    >>> from trueaxis.io.cells import is_number
    >>> [is_number(cell) for cell in ("1,5", "<0.5", "5 %", "5 kg", "n.d.")]
    [True, True, True, False, False]
    """
    if _PLAIN.fullmatch(cell):
        return True
    if is_missing(cell):
        return False
    found = [number for mark in ".," if (number := parse(cell, mark)) is not None]
    return any(not each.unit or each.unit[0] in "%‰" + _CURRENCIES for each in found)


def option(names: Sequence[str]) -> str:
    """Format names of columns, or words, for an option in a shell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return shlex.quote(text.getvalue())


# ---------------------------------------------------------------- the decimal sign


class DecimalSign(NamedTuple):
    """The decimal sign of a table.

    mark : "." or ","; None if no cell shows it
    evidence : the cell that shows it
    unclear : cells that are read differently with the other sign
    """

    mark: str | None = None
    evidence: Cell | None = None
    unclear: tuple[Cell, ...] = ()


def find_decimal(columns: Mapping[str, Sequence[str]], first: int = 0) -> DecimalSign:
    """Find the cell that shows the decimal sign.

    Parameters
    ----------
    columns : dict
        Name and cells of columns of text.
    first : int
        Number of the first row.
    """
    counts: Counter[str] = Counter()
    shown: dict[str, Cell] = {}
    for mark in ",.":
        for cell in _evidence(columns, mark, first):
            counts[mark] += 1
            shown.setdefault(mark, cell)
            if counts[mark] == _ENOUGH_EVIDENCE:
                break
    if counts:
        # If cells contradict each other, most of them decide; the others are errors.
        mark = counts.most_common(1)[0][0]
        return DecimalSign(mark, shown[mark])
    unclear = (next(_unclear(columns, mark, first), None) for mark in ",.")
    return DecimalSign(unclear=tuple(cell for cell in unclear if cell is not None))


def refuse_unclear(unclear: Sequence[Cell], place: Place) -> None:
    """Raise, because cells can be read in two ways and nothing shows which."""
    cell = unclear[0].text
    mark = "," if "," in cell else "."
    which = " and ".join(each.quoted(place) for each in unclear[:2])
    raise TableError(
        f"{which} can be read in two ways, and no other cell shows which is the "
        f"decimal sign: use --decimal {mark} if {cell} is {cell.replace(',', '.')}, "
        f"--decimal {_OTHER[mark]} if it is {cell.replace(mark, '')}."
    )


def _evidence(
    columns: Mapping[str, Sequence[str]], mark: str, first: int
) -> Iterator[Cell]:
    """Yield cells that are numbers only if `mark` is the decimal sign."""
    other = _OTHER[mark]
    for name, cells in columns.items():
        joined = "\n".join(cells)
        # One search is enough for most columns.
        if not (_DECIMAL[mark] if mark in joined else _MILLIONS[other]).search(joined):
            continue
        for row, cell in enumerate(cells, start=first):
            if mark in cell or other in cell:
                if parse(cell, other) is None and parse(cell, mark) is not None:
                    yield Cell(cell, name, row)


def _unclear(
    columns: Mapping[str, Sequence[str]], mark: str, first: int
) -> Iterator[Cell]:
    """Yield cells whose value depends on the decimal sign."""
    for name, cells in columns.items():
        for row, cell in enumerate(cells, start=first):
            if mark in cell and not is_missing(cell):
                if parse(cell, ".") != parse(cell, ","):
                    yield Cell(cell, name, row)


# ---------------------------------------------------------------- whole columns


@dataclass
class Reading:
    """How the text of one file becomes numbers.

    Attributes
    ----------
    decimal : {".", ","}
        The decimal sign; the other one separates thousands.
    words : collection of str
        Further words for missing values, in lower case.
    place : callable
        Return the name of a row, such as "line 7", for messages.
    evidence : Cell or None
        The cell that showed the decimal sign; None if the user gave it, or none did.
    given : bool
        Whether the user gave the decimal sign.
    unwanted : collection of str
        Columns that are not numbers to analyze, and may be anything.
    verbatim : collection of str
        Columns of which even words like NA are kept: names and labels of rows.
    """

    decimal: str = "."
    words: Collection[str] = ()
    place: Place = "row {}".format
    evidence: Cell | None = None
    given: bool = False
    unwanted: Collection[str] = ()
    verbatim: Collection[str] = ()

    def is_missing(self, text: str) -> bool:
        """Return whether a cell marks a missing value."""
        low = text.lower()
        return low in MISSING or low in self.words or text in DASHES

    def known(self, texts: Sequence[str]) -> NDArray[Any]:
        """Return cells of text as objects, with None for those that are missing."""
        missing = {text for text in {*texts} if self.is_missing(text)}
        return as_objects([None if text in missing else text for text in texts])

    def decide(self, columns: Mapping[str, Sequence[str | None]]) -> None:
        """Find the decimal sign of columns of text, unless it is given."""
        if self.given:
            return
        texts = {
            name: [
                "" if cell is None or len(cell) > _LONGEST else cell for cell in cells
            ]
            for name, cells in columns.items()
            if name not in self.unwanted
        }
        found = find_decimal(texts)
        commas = [cell for cell in found.unclear if "," in cell.text]
        if commas:  # points are decimal points in these formats
            refuse_unclear(commas, self.place)
        self.decimal, self.evidence = found.mark or ".", found.evidence


@dataclass(slots=True)
class _Unit:
    """Numbers with one unit: all of them, and those that need it, the first of them."""

    total: int = 0
    needed: int = 0
    first: Cell | None = None


@dataclass(slots=True)
class ColumnFacts:
    """What the cells of a column are, block by block.

    Attributes
    ----------
    name : str
    given, bad : int
        Number of cells that are not missing, and of those among them that are not
        numbers.
    whole : bool
        Whether all numbers are written without decimals.
    simple : bool
        Whether all cells are numbers as computers write them, or empty.
    dashes, limits : list
        The first cell that is a dash, or a limit such as <0.5, and how many are.
    """

    name: str
    given: int = 0
    bad: int = 0
    bad_with_other_sign: int = 0
    whole: bool = True
    simple: bool = True
    dashes: list[tuple[Cell, int]] = field(default_factory=list)
    limits: list[tuple[Cell, int]] = field(default_factory=list)
    _words: dict[str, Cell] = field(default_factory=dict)
    _units: dict[str, _Unit] = field(default_factory=dict)
    _calendar: bool = True
    _zeros: bool = False  # some cells begin with a zero, as codes do
    alphanumeric: bool = True

    def add(
        self, texts: Sequence[str], first: int, reading: Reading
    ) -> NDArray[np.float64] | None:
        """Judge the cells of a block; return them as numbers if all of them are.

        Parameters
        ----------
        texts : sequence of str
            Without blanks around them.
        first : int
            Number of the row of the first.
        reading : Reading
        """
        values: dict[str, float] = {}
        bad = self.bad
        for text, n in Counter(texts).items():
            if reading.is_missing(text):
                values[text] = np.nan
                if text in DASHES:
                    self._note(self.dashes, text, n, texts, first)
                continue
            self.given += n
            self.alphanumeric = self.alphanumeric and text.isalnum()
            self._zeros = self._zeros or (
                text[0] == "0" and len(text) > 1 and text.isascii() and text.isdigit()
            )
            self._calendar = self._calendar and _CALENDAR.fullmatch(text) is not None
            number = parse(text, reading.decimal)
            if number is None:
                self._add_bad(text, n, texts, first, reading)
                continue
            values[text] = number.value
            self.whole = self.whole and text.lstrip("+-").isdigit()
            if number.limit:
                self._note(self.limits, text, n, texts, first)
            self._add_unit(number.unit, n, number.value != 0, text, texts, first)
        if self.bad > bad:
            return None
        return np.array([values[text] for text in texts], dtype=float)

    def add_plain(
        self, values: NDArray[np.float64], texts: Callable[[int], str], first: int
    ) -> None:
        """Judge a block of plain numbers, none of which begins with needless zeros."""
        missing = int(np.count_nonzero(np.isnan(values)))
        given = len(values) - missing
        if not given:
            return
        self.given += given
        self._calendar = False
        unit = self._units.setdefault("", _Unit())
        unit.total += given
        unit.needed += int(np.count_nonzero(values)) - missing
        if unit.first is None and unit.needed:
            row = int(np.argmax((values != 0) & ~np.isnan(values)))
            unit.first = Cell(texts(row), self.name, first + row)

    def kind(self, reading: Reading) -> tuple[Kind, str]:
        """Return what the column is, and its unit, once all blocks are known.

        Raises
        ------
        TableError
            If most cells are numbers with the same unit, but not all.
        """
        if self.name in reading.verbatim:
            return "text", ""
        text: Kind = "calendar" if self._calendar and self.given else "text"
        if self.name in reading.unwanted or (self._zeros and self.alphanumeric):
            return text, ""
        unit = max(self._units, key=lambda unit: self._units[unit].total, default="")
        if self.bad:
            usual = self._units[unit].total if unit in self._units else 0
            few = 2 * usual > self.given
            word, first = next(iter(self._words.items()))
            is_other = parse(word, _OTHER[reading.decimal]) is not None
            if self.bad_with_other_sign == self.bad or (few and is_other):
                raise self._contradiction(first, reading)
            if few:
                raise self._mixed([*self._words], first, self.bad, reading.place)
            return text, ""
        others = [each for sign, each in self._units.items() if sign != unit]
        odd = sum(each.needed for each in others)
        if not odd:
            return "number", unit
        if 2 * odd >= self.given:
            return text, ""
        cells = [each.first for each in others if each.first is not None]
        first = min(cells, key=lambda cell: cell.row)
        words = [cell.text for cell in cells] if odd == len(cells) else []
        raise self._mixed(words, first, odd, reading.place, unit)

    @property
    def plain(self) -> bool:
        """Whether all cells are numbers without units, limits and needless zeros."""
        return not (self.bad or self._zeros or self.limits or any(self._units))

    def _note(
        self,
        noted: list[tuple[Cell, int]],
        text: str,
        n: int,
        texts: Sequence[str],
        first: int,
    ) -> None:
        cell, before = noted[0] if noted else (None, 0)
        cell = cell or Cell(text, self.name, first + texts.index(text))
        noted[:] = [(cell, before + n)]

    def _add_bad(
        self, text: str, n: int, texts: Sequence[str], first: int, reading: Reading
    ) -> None:
        self.bad += n
        if parse(text, _OTHER[reading.decimal]) is not None:
            self.bad_with_other_sign += n
        if len(self._words) <= _MOST_WORDS and text not in self._words:
            cell = Cell(text, self.name, first + texts.index(text))
            self._words[text] = cell

    def _add_unit(
        self,
        sign: str,
        n: int,
        needed: bool,
        text: str,
        texts: Sequence[str],
        first: int,
    ) -> None:
        if sign not in self._units and len(self._units) > _MOST_UNITS:
            sign = "…"
        unit = self._units.setdefault(sign, _Unit())
        unit.total += n
        if sign or needed:  # 0 needs no unit
            unit.needed += n
            if unit.first is None:
                unit.first = Cell(text, self.name, first + texts.index(text))

    def _mixed(
        self, words: list[str], first: Cell, bad: int, place: Place, unit: str = ""
    ) -> TableError:
        return mixed_column(words, first, bad, self.given, place, unit)

    def _contradiction(self, bad: Cell, reading: Reading) -> TableError:
        sign, place = _SIGN_NAMES[reading.decimal], reading.place
        if reading.evidence is None:
            given = reading.given
            cause = "as set by --decimal" if given else "as the rest of the file"
            return TableError(
                f"{bad.quoted(place)} is not a number with {sign}, {cause}: "
                f"correct the cell, {'omit' if given else 'use'} --decimal, or "
                f"drop the column (--drop {option([bad.column])})."
            )
        return TableError(
            f"The file contradicts itself: {reading.evidence.quoted(place)} is a "
            f"number only with {sign}, but {bad.quoted(place)} only without one. "
            "Write both in the same way, or drop a column (--drop "
            f"{option([bad.column])})."
        )


def mixed_column(
    words: Sequence[str], first: Cell, bad: int, n: int, place: Place, unit: str = ""
) -> TableError:
    """Return the error for a column of n cells, some of which are not numbers."""
    what = f"not numbers in {unit}" if unit else "not numbers"
    nameable = 0 < len(words) <= _MOST_WORDS and (max(map(len, words)) <= LONGEST_SHOWN)
    where = f"{first.text!r:.{LONGEST_SHOWN}} in {place(first.row)}"
    it = "it" if bad == 1 else "them"
    return TableError(
        f"Column {first.column!r} has {bad:,} of {n:,} cells that are {what}"
        f"{': ' if bad == 1 else '; the first is '}{where}. Correct {it}, "
        + (f"read {it} as missing (--na {option(words)}), " if nameable else "")
        + f"take all cells for categories (--categories {option([first.column])}), or "
        f"leave out the column (--drop {option([first.column])})."
    )


def notes_about(facts: Sequence[ColumnFacts], place: Place) -> list[str]:
    """Return what the user should know about cells of numbers that were interpreted."""
    dashes = [each.dashes[0] for each in facts if each.dashes]
    limits = [each.limits[0] for each in facts if each.limits]
    return [
        *_noted(
            dashes,
            place,
            "was read as a missing cell: replace it if it stands for 0",
            "were read as missing cells: replace them if they stand for 0",
        ),
        *_noted(
            limits,
            place,
            "is a limit: less than it is read as half of it, more as the limit",
            "are limits: less than one is read as half of it, more as the limit",
        ),
    ]


def _noted(
    cells: list[tuple[Cell, int]], place: Place, one: str, several: str
) -> list[str]:
    if not cells:
        return []
    first, total = cells[0][0].quoted(place), sum(n for _, n in cells)
    if total == 1:
        return [f"{first} {one}."]
    return [f"{first} and {total - 1:,} more {several}."]
