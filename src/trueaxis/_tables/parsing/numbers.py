"""Turn columns of text into numbers: decimal commas, thousands, units, limits, words.

The rules work on whole columns, joined by newlines, so that their regular expressions
run at the speed of C. `text` gives them the columns that were not plain numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.column import Column, Kind
from trueaxis._tables.errors import Place, option
from trueaxis._tables.parsing.cells import (
    CALENDAR,
    DASHES,
    MISSING,
    TableError,
    are_codes,
    number_pattern,
    parse_number,
    plain_digits,
    with_minus,
)
from trueaxis._tables.parsing.decimal_sign import Cell, find_decimal, refuse_unclear

LONGEST_SHOWN = 60  # characters of a cell in a message
_PEEK = 500  # cells that tell whether a column is worth parsing
_SIGN_NAMES = {",": "a decimal comma", ".": "a decimal point"}


@dataclass
class Rules:
    """How text becomes numbers, and what was met on the way.

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
    dashes, limits : list of Cell
        First cells that are a dash, or a limit such as <0.5, of every column that has
        some, and the number of all of them.
    """

    decimal: str = "."
    words: Collection[str] = ()
    place: Place = "row {}".format
    evidence: Cell | None = None
    given: bool = False
    unwanted: Collection[str] = ()
    verbatim: Collection[str] = ()
    dashes: list[tuple[Cell, int]] = field(default_factory=list)
    limits: list[tuple[Cell, int]] = field(default_factory=list)

    def column(self, name: str, cells: Sequence[str | None], unit: str = "") -> Column:
        """Return a column of numbers if its cells are, and of text otherwise.

        Raises
        ------
        TableError
            If most cells are numbers, but not all.

        Examples
        --------
        >>> from trueaxis._tables.parsing.numbers import Rules
        >>> Rules().column("price", ["$1,200", "n.d.", "$80"])
        Column(name='price', kind='number', unit='$')
        >>> Rules().column("price", ["$1,200", "n.d.", "$80"]).values.tolist()
        [1200.0, nan, 80.0]
        """
        texts = ["" if cell is None else cell.strip() for cell in cells]
        if name in self.verbatim:
            return Column(name, "text", np.array(texts, dtype=object), unit)
        # Most words are there many times: each is looked at once.
        missing = {text for text in {*texts} if self.is_missing(text)}
        given = [row for row, text in enumerate(texts) if text not in missing]
        text = name in self.unwanted or are_codes({*texts} - missing)
        parsed = None if text else self._parse(texts, given, name)
        if parsed is not None:
            if missing & DASHES:
                self._note_dashes(name, texts)
            return Column(name, "number", parsed[0], parsed[1] or unit)
        kind: Kind = "calendar" if _is_calendar(texts, given) else "text"
        values = np.array(texts, dtype=object)
        if missing:
            values[[text in missing for text in texts]] = None
        return Column(name, kind, values, unit)

    def is_missing(self, text: str) -> bool:
        """Return whether a cell marks a missing value."""
        low = text.lower()
        return low in MISSING or low in self.words or text in DASHES

    def notes(self) -> list[str]:
        """Return what the user should know about cells that were interpreted."""
        return [
            *_note(
                self.dashes,
                self.place,
                "was read as a missing cell: replace it if it stands for 0",
                "were read as missing cells: replace them if they stand for 0",
            ),
            *_note(
                self.limits,
                self.place,
                "is a limit: less than it is read as half of it, more as the limit",
                "are limits: less than one is read as half of it, more as the limit",
            ),
        ]

    def _parse(
        self, texts: list[str], given: list[int], name: str
    ) -> tuple[NDArray[np.float64], str] | None:
        """Return numbers and their unit; None for a column of text."""
        values = np.full(len(texts), np.nan)
        if not given:
            return values, ""
        cells = [texts[row] for row in given] if len(given) < len(texts) else texts
        if any("\n" in cell or "\r" in cell for cell in cells):
            # Cells are joined by newlines below: none of these can be a number.
            cells = [re.sub(r"[\r\n]", "\0", cell) for cell in cells]
        if self.decimal == "." and (plain := plain_numbers(cells)) is not None:
            values[given] = plain
            return values, ""
        pattern = number_pattern(self.decimal)
        peek = [with_minus(cell) for cell in cells[:: -(-len(cells) // _PEEK)]]
        if not _mostly(pattern, peek):
            if _mostly(number_pattern(self._other), peek):
                self._refuse_mixed(name, cells, given)
            return None
        found = pattern.findall(with_minus("\n".join(cells)))
        if len(found) != len(cells):
            units = Counter(groups[2] or groups[5] for groups in found)
            if 2 * max(units.values()) > len(cells):
                self._refuse_mixed(name, cells, given)
            return None
        signs, minus, currencies, inner, digits, suffixes = zip(*found, strict=True)
        written = [a or b for a, b in zip(currencies, suffixes, strict=True)]
        unit = Counter(written).most_common(1)[0][0]
        if not self._has_unit(unit, written, digits, name, cells, given):
            return None
        numbers = plain_digits("\n".join(digits), self.decimal).split("\n")
        parsed = np.array(numbers, dtype=float)
        for sign in (minus, inner):
            if "-" in sign:
                parsed[[each == "-" for each in sign]] *= -1
        if any(signs):
            # Less than a limit is somewhere between 0 and the limit.
            parsed[[sign[:1] in ("<", "≤") for sign in signs]] /= 2
            rows = [row for row, sign in zip(given, signs, strict=True) if sign]
            self.limits.append((Cell(texts[rows[0]], name, rows[0]), len(rows)))
        values[given] = parsed
        return values, unit

    def _has_unit(
        self,
        unit: str,
        written: Sequence[str],
        digits: Sequence[str],
        name: str,
        cells: list[str],
        given: list[int],
    ) -> bool:
        """Return whether all cells have the same unit; raise if only a few do not."""
        if len({*written}) == 1:
            return True
        bad = [
            Cell(cell, name, row)
            for cell, row, sign, number in zip(
                cells, given, written, digits, strict=True
            )
            if sign != unit and (sign or number.strip("0.,"))  # 0 needs no unit
        ]
        if bad and 2 * len(bad) < len(cells):
            raise mixed_column(bad, len(cells), self.place, unit)
        return not bad

    def _refuse_mixed(self, name: str, cells: list[str], given: list[int]) -> None:
        """Raise if most cells of a column are numbers, but not all."""
        pattern = number_pattern(self.decimal)
        bad = [
            Cell(cell, name, row)
            for cell, row in zip(cells, given, strict=True)
            if not pattern.fullmatch(with_minus(cell))
        ]
        first, few = bad[0], 2 * len(bad) < len(cells)
        other = [
            parse_number(cell.text, self._other, units=True) is not None for cell in bad
        ]
        if all(other) or (few and other[0]):
            raise self._contradiction(first)
        if not few:
            return
        raise mixed_column(bad, len(cells), self.place)

    @property
    def _other(self) -> str:
        return "," if self.decimal == "." else "."

    def decide(self, columns: Mapping[str, Sequence[str | None]]) -> None:
        """Find the decimal sign of columns of text, unless it is given."""
        if self.given:
            return
        texts = {
            name: ["" if cell is None else cell for cell in cells]
            for name, cells in columns.items()
            if name not in self.unwanted
        }
        found = find_decimal(texts, points_are_clear=True)
        if found.unclear:
            refuse_unclear(found.unclear, self.place)
        self.decimal, self.evidence = found.mark or ".", found.evidence

    def _contradiction(self, bad: Cell) -> TableError:
        sign = _SIGN_NAMES[self.decimal]
        if self.evidence is None:
            cause = "as set by --decimal" if self.given else "as the rest of the file"
            return TableError(
                f"{bad.quoted(self.place)} is not a number with {sign}, {cause}: "
                f"correct the cell, {'omit' if self.given else 'use'} --decimal, or "
                f"drop the column (--drop {option([bad.column])})."
            )
        return TableError(
            f"The file contradicts itself: {self.evidence.quoted(self.place)} is a "
            f"number only with {sign}, but {bad.quoted(self.place)} only without one. "
            "Write both in the same way, or drop a column (--drop "
            f"{option([bad.column])})."
        )

    def _note_dashes(self, name: str, texts: list[str]) -> None:
        rows = [row for row, text in enumerate(texts) if text in DASHES]
        self.dashes.append((Cell(texts[rows[0]], name, rows[0]), len(rows)))


def _note(
    cells: list[tuple[Cell, int]], place: Place, one: str, several: str
) -> list[str]:
    if not cells:
        return []
    first, total = cells[0][0].quoted(place), sum(n for _, n in cells)
    if total == 1:
        return [f"{first} {one}."]
    return [f"{first} and {total - 1:,} more {several}."]


def mixed_column(
    bad: Sequence[Cell], n: int, place: Place, unit: str = ""
) -> TableError:
    """Return the error for a column of n cells, some of which are not numbers."""
    what = f"not numbers in {unit}" if unit else "not numbers"
    first, one = bad[0], len(bad) == 1
    words = [*dict.fromkeys(cell.text for cell in bad)]
    nameable = len(words) < 6 and max(map(len, words)) <= LONGEST_SHOWN
    where = f"{first.text!r:.{LONGEST_SHOWN}} in {place(first.row)}"
    it = "it" if one else "them"
    return TableError(
        f"Column {first.column!r} has {len(bad):,} of {n:,} cells that are {what}"
        f"{': ' if one else '; the first is '}{where}. Correct {it}, "
        + (f"read {it} as missing (--na {option(words)}), " if nameable else "")
        + f"take all cells for categories (--categories {option([first.column])}), or "
        f"leave out the column (--drop {option([first.column])})."
    )


def _mostly(pattern: re.Pattern[str], cells: Sequence[str]) -> bool:
    """Return whether more than half of the cells match."""
    return 2 * sum(pattern.fullmatch(cell) is not None for cell in cells) > len(cells)


def plain_numbers(cells: list[str]) -> NDArray[np.float64] | None:
    """Convert numbers as Python writes them; return None for all others."""
    joined = "\n".join(cells)
    if "_" in joined or "n" in joined or "N" in joined:  # 1_000; nan and inf
        return None
    try:
        return np.array(cells, dtype=float)
    except ValueError:
        return None


def _is_calendar(texts: list[str], given: list[int]) -> bool:
    some = [texts[row] for row in given[:: max(1, len(given) // _PEEK)]]
    return bool(some) and all(CALENDAR.fullmatch(cell) for cell in some)
