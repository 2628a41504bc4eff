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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import Column, Kind, TableError, as_objects
from trueaxis.io.choice import Choice

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
_MINUS = str.maketrans({"\N{MINUS SIGN}": "-", "\N{EN DASH}": "-"})
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
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[ap]m)?(?:z|[+-]\d{2}:?\d{2})?"
_CALENDAR = re.compile(
    rf"(?:{_DATE})(?:[t ]\s*{_TIME})?|{_TIME}|\d{{4}}-?(?:q[1-4]|w\d{{2}})",
    re.IGNORECASE,
)
_OTHER = {".": ",", ",": "."}
# Matches a column, joined by newlines, in which a sign is probably the decimal sign: it
# is not followed by exactly three digits, what precedes it rules out thousands, or
# another sign separates thousands or millions.
_SHOWS = {
    mark: re.compile(
        rf"{m}(?!\d{{3}}(?![\dEe]))|^[+-]?(?:0\d*|\d{{4,}})?{m}|"
        rf"{other}\d{{3}}{other}|[{other}{_SEPARATORS}]\d{{3}}{m}",
        re.MULTILINE,
    )
    for mark, m, other in ((",", ",", r"\."), (".", r"\.", ","))
}
# What a number may begin with; most text does not.
_STARTS = frozenset(
    "0123456789.,+-<>≤≥(\N{MINUS SIGN}\N{EN DASH}UEGCJIAiI" + _CURRENCIES
)
_SIGN_NAMES = {",": "a decimal comma", ".": "a decimal point"}

Place = Callable[[int], str]  # maps the number of a row to its name in a message


class Number(NamedTuple):
    """A number in a cell."""

    value: float
    unit: str = ""
    limit: str = ""  # a sign of comparison, as in <0.5


class Cell(NamedTuple):
    """A cell and its position."""

    text: str
    column: str
    row: int

    def quoted(self, place: Place) -> str:
        """Return the cell with its position, for a message."""
        return f"{self.text!r} in {place(self.row)}, column {self.column!r},"


@cache
def _number_pattern(decimal: str) -> re.Pattern[str]:
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
    match = _number_pattern(decimal).fullmatch(_with_minus(cell))
    if match is None or (match[2] and match[4]):
        return None
    digits = match[5].translate(_NO_SEPARATORS).replace(_OTHER[decimal], "")
    value = float(digits.replace(",", "."))
    if "-" in (match[2], match[4]):
        value = -value
    limit = match[1] or ""
    if limit[:1] in ("<", "≤"):
        value /= 2
    return Number(value, match[3] or match[6] or "", limit)


def _with_minus(cell: str) -> str:
    """Return a cell with a plain minus in front, also for (12.50) and 12.50-."""
    cell = cell.translate(_MINUS)
    if cell[:1] == "(" and cell[-1:] == ")":
        return f"-{cell[1:-1]}"
    if cell[-1:] == "-" and cell[-2:-1].isdigit():
        return cell if cell[:-1].strip("0123456789.,' ") else f"-{cell[:-1]}"
    return cell


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
    """The decimal sign of a table."""

    mark: str | None = None  # "." or ","; None if no cell shows it
    evidence: Cell | None = None  # which shows it
    unclear: tuple[Cell, ...] = ()  # are read differently with the other sign


_NO_SIGN = DecimalSign()


def find_decimal(columns: Mapping[str, Sequence[str]], first: int = 0) -> DecimalSign:
    """Find the cell that shows the decimal sign, in columns of text by name.

    If cells contradict each other, most of them decide; the others are errors. `first`
    is the number of the first row.
    """
    shown = {
        mark: [*islice(_evidence(columns, mark, first), _ENOUGH_EVIDENCE)]
        for mark in _SHOWS
    }
    mark = max(shown, key=lambda mark: len(shown[mark]))
    if shown[mark]:
        return DecimalSign(mark, shown[mark][0])
    unclear = (next(_unclear(columns, mark, first), None) for mark in _SHOWS)
    return DecimalSign(unclear=tuple(cell for cell in unclear if cell is not None))


def _evidence(
    columns: Mapping[str, Sequence[str]], mark: str, first: int
) -> Iterator[Cell]:
    """Yield cells that are numbers only if `mark` is the decimal sign."""
    other = _OTHER[mark]
    for name, cells in columns.items():
        if _SHOWS[mark].search("\n".join(cells)):  # is enough for most columns
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


class Reading:
    """How the cells of one file become numbers.

    Attributes
    ----------
    place : callable
        Return the name of a row, such as "line 7", for messages.
    row_names : str or None
        A column without a name that holds row names.
    decimal : {".", ","}
        The decimal sign; the other one separates thousands.
    verbatim, unwanted : set of str
        Names and labels of rows, of which even words like NA are kept; all columns that
        are not numbers to analyze, and may be anything.
    """

    def __init__(
        self,
        choice: Choice,
        names: Sequence[str],
        place: Place = "row {}".format,
        row_names: str | None = None,
        sign: DecimalSign = _NO_SIGN,
    ) -> None:
        self.place, self.row_names, self._words = place, row_names, choice.words
        self.given, self.unclear = choice.decimal != "auto", dict[str, Cell]()
        self.see(DecimalSign(choice.decimal) if self.given else sign)
        self.verbatim = choice.names_of_rows | ({row_names} if row_names else set())
        self.unwanted = choice.unwanted(names) | self.verbatim

    def see(self, sign: DecimalSign) -> None:
        """Use a decimal sign that was found, or remember what was not clear."""
        self.known = sign.mark is not None
        self.decimal, self.evidence = sign.mark or ".", sign.evidence
        unclear = {} if self.known else self.unclear
        more = {"," if "," in cell.text else ".": cell for cell in sign.unclear}
        self.unclear = more | unclear

    def refuse_unclear(self, marks: str) -> None:
        """Raise if cells can be read in two ways and nothing shows which."""
        unclear = [self.unclear[mark] for mark in marks if mark in self.unclear]
        if not unclear:
            return
        cell = unclear[0].text
        mark = "," if "," in cell else "."
        which = " and ".join(each.quoted(self.place) for each in unclear)
        raise TableError(
            f"{which} can be read in two ways, and no other cell shows which is the "
            f"decimal sign: use --read decimal={mark} if {cell} is "
            f"{cell.replace(',', '.')}, --read decimal={_OTHER[mark]} if it is "
            f"{cell.replace(mark, '')}."
        )

    @property
    def why(self) -> str:
        """Why the decimal sign is this one, for a message."""
        if self.evidence is None:
            return ", as set by --read decimal" * self.given
        return f" as {self.evidence.quoted(self.place)} has (--read decimal)"

    def is_missing(self, text: str) -> bool:
        """Return whether a cell marks a missing value."""
        low = text.lower()
        return low in MISSING or low in self._words or text in DASHES

    def without_missing(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return numbers with NaN for the words that are numbers: -999 means -999.0."""
        found = [parse(word, self.decimal) for word in self._words]
        missing = [each.value for each in found if each is not None and not each.unit]
        return np.where(np.isin(values, missing), np.nan, values) if missing else values

    def as_objects(self, name: str, cells: Sequence[Any]) -> NDArray[Any]:
        """Return a column as text, with None for cells that are missing."""
        texts = [*map(as_name, cells)]
        if name in self.verbatim:
            return as_objects(texts)
        short = max(map(len, MISSING | self._words))
        missing = {x for x in texts if len(x) <= short and self.is_missing(x)}
        return as_objects([None if text in missing else text for text in texts])


@dataclass(slots=True)
class Tally:
    """How many cells are of some kind, and the first of them."""

    n: int = 0
    first: Cell | None = None


@dataclass(slots=True)
class ColumnFacts:
    """What the cells of a column are, block by block."""

    name: str
    given: int = 0  # cells that are not missing
    zeros: int = 0  # which need no unit
    other_sign: int = 0  # cells that are numbers only with the other decimal sign
    alphanumeric: bool = True
    calendar: bool = True
    codes: bool = False  # some cells begin with a zero and another digit
    bad: Tally = field(default_factory=Tally)  # no numbers
    dashes: Tally = field(default_factory=Tally)
    limits: Tally = field(default_factory=Tally)
    units: dict[str, Tally] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)  # that are no numbers

    def add(
        self, cells: Sequence[Any], first: int, reading: Reading
    ) -> NDArray[np.float64] | None:
        """Judge the cells of a block; return them as numbers if all of them are.

        Text has no blanks around it; other cells are floats. `first` is the number of
        the first row.
        """

        def note(tally: Tally) -> None:
            tally.n += n
            if tally.first is None:
                tally.first = Cell(str(cell), self.name, first + cells.index(cell))

        values: dict[Any, float] = {}
        before = self.bad.n
        for cell, n in Counter(cells).items():
            text = cell if isinstance(cell, str) else "0.5"
            if reading.is_missing(text):
                values[cell] = np.nan
                if text in DASHES:
                    note(self.dashes)
                continue
            self.given += n
            self.alphanumeric = self.alphanumeric and text.isalnum()
            self.codes = self.codes or (text[0] == "0" and text[1:].isdigit())
            self.calendar = self.calendar and _CALENDAR.fullmatch(text) is not None
            number = parse(text, reading.decimal) if text is cell else Number(cell)
            if number is None:
                note(self.bad)
                self.other_sign += n * (
                    parse(text, _OTHER[reading.decimal]) is not None
                )
                if len(self.words) <= _MOST_WORDS and text not in self.words:
                    self.words.append(text)
                continue
            values[cell] = number.value
            if number.limit:
                note(self.limits)
            if number.unit or number.value:
                full = number.unit not in self.units and len(self.units) > _MOST_UNITS
                note(self.units.setdefault("…" if full else number.unit, Tally()))
            else:
                self.zeros += n
        if self.bad.n > before:
            return None
        return np.array([values[cell] for cell in cells], dtype=float)

    def add_plain(
        self, values: NDArray[np.float64], texts: Callable[[int], str], first: int
    ) -> None:
        """Judge a block of plain numbers, none of which begins with needless zeros."""
        other = (values != 0) & ~np.isnan(values)
        n, zeros = int(np.count_nonzero(other)), int(np.count_nonzero(values == 0))
        self.given += n + zeros
        self.zeros += zeros
        self.calendar = self.calendar and not n + zeros
        if n:
            unit = self.units.setdefault("", Tally())
            unit.n += n
            if unit.first is None:
                row = int(np.argmax(other))
                unit.first = Cell(texts(row), self.name, first + row)

    def kind(self, reading: Reading) -> tuple[Kind, str]:
        """Return what the column is, and its unit, once all blocks are known.

        Raises
        ------
        TableError
            If most cells are numbers with the same unit, but not all.
        """
        text: Kind = "calendar" if self.calendar and self.given else "text"
        if self.name in reading.verbatim:
            return "text", ""
        if self.name in reading.unwanted or (self.codes and self.alphanumeric):
            return text, ""
        unit = max(self.units, key=lambda unit: self.units[unit].n, default="")
        usual = self.zeros + (self.units[unit].n if self.units else 0)
        others = [each for sign, each in self.units.items() if sign != unit]
        odd, which = self.bad.n or sum(each.n for each in others), ""
        if not odd:
            return "number", unit
        found = [self.bad] if self.bad.n else others
        cells = [each.first for each in found if each.first is not None]
        first = min(cells, key=lambda cell: cell.row)
        if self.bad.n and parse(first.text, _OTHER[reading.decimal]) is not None:
            which = f" with {_SIGN_NAMES[reading.decimal]}{reading.why}"
        elif not self.bad.n and unit:
            which = f" in {unit}"
        if 2 * usual <= self.given and self.other_sign < max(1, self.bad.n):
            return text, ""
        words = self.words if self.bad.n else [cell.text for cell in cells]
        known = len(words) <= _MOST_WORDS and (self.bad.n or odd == len(cells))
        nameable = known and max(map(len, words)) <= LONGEST_SHOWN
        it, name = "it" if odd == 1 else "them", option([self.name])
        raise TableError(
            f"Column {self.name!r} has {odd:,} of {self.given:,} cells that are not "
            f"numbers{which}{': ' if odd == 1 else '; the first is '}"
            f"{first.text!r:.{LONGEST_SHOWN}} in {reading.place(first.row)}. Correct "
            + f"{it}, {f'read {it} as missing (--na {option(words)}), ' * nameable}"
            f"take all cells for categories (--encode categories={name}), or leave out "
            f"the column (--drop {name})."
        )

    @property
    def plain(self) -> bool:
        """Whether all cells are numbers without units, limits and needless zeros."""
        return not (self.bad.n or self.codes or self.limits.n or any(self.units))


@dataclass(frozen=True)
class Content:
    """All columns of a file, by name, and what was found out about them."""

    columns: dict[str, Column]
    reading: Reading
    notes: Sequence[str]  # guesses about the file that the user should know of
    # All columns of numbers side by side, if they are views of one array.
    numbers: NDArray[np.float64] | None = None
    raw: dict[str, Any] = field(default_factory=dict)  # the cells of JSON and of sheets


def judged(
    cells: Mapping[str, Any],
    reading: Reading,
    notes: Sequence[str] = (),
    units: Sequence[str] = (),
) -> Content:
    """Return the columns of a table in memory.

    They are arrays of numbers, or lists of cells of any types: text among these is read
    by the same rules as that of text files.
    """
    lists = {
        name: [*map(_as_cell, column)]
        for name, column in cells.items()
        if not isinstance(column, np.ndarray) or name in reading.verbatim
    }
    if not reading.given:
        shown = {
            name: [
                x if isinstance(x, str) and len(x) <= _LONGEST else "" for x in column
            ]
            for name, column in lists.items()
            if name not in reading.unwanted
        }
        reading.see(find_decimal(shown))
        reading.refuse_unclear(",")  # points are decimal points in these formats
    given = dict(zip(cells, units, strict=False))
    columns, numbers = dict[str, Column](), list[ColumnFacts]()
    for name, column in cells.items():
        kind: Kind = "number"
        values, unit, facts = column, "", ColumnFacts(name)
        if name in lists:
            values = facts.add(lists[name], 0, reading)
            kind, unit = facts.kind(reading)
        if kind == "number":
            numbers.append(facts)
            values = reading.without_missing(values)
        else:
            values = reading.as_objects(name, column)
            if any(isinstance(cell, (dict, list)) for cell in column):
                kind = "nested"
        columns[name] = Column(name, kind, values, unit or given.get(name, ""))
    notes = [*notes, *notes_about(numbers, reading.place)]
    return Content(columns, reading, notes, None, {**cells})


def _as_cell(cell: Any) -> Any:
    """Return a cell of any type as a float or as text without blanks around it."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, (bool, int, float)):
        try:
            return float(cell)
        except OverflowError:  # an integer beyond the largest float
            return float("inf")
    return as_name(cell).strip()


def as_name(cell: Any) -> str:
    """Return a cell as the name of a row: 7 for 7.0, and 2024-01-31 12:00:00."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def notes_about(facts: Sequence[ColumnFacts], place: Place) -> Iterator[str]:
    """Yield what the user should know about cells of numbers that were interpreted."""
    dashes = "read as missing: correct this where a dash stands for 0"
    limits = "read as half of the limit if below it, and as the limit if above"
    for kind, what in (("dashes", dashes), ("limits", limits)):
        tallies = [getattr(each, kind) for each in facts if getattr(each, kind).n]
        more = sum(each.n for each in tallies) - 1
        if tallies:
            are = f"and {more:,} more are" if more else "is"
            yield f"{tallies[0].first.quoted(place)} {are} {what}."
