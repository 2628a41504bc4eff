"""Give every column of a text a name of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from trueaxis._tables.column import quote
from trueaxis._tables.parsing.cells import is_missing, is_number, parse_number
from trueaxis._tables.parsing.records import Record


def complete_names(
    names: Sequence[str], rows: Sequence[Record]
) -> tuple[list[str], bool]:
    """Name all columns; also return whether the first holds row names."""
    complete = [name or f"column {i}" for i, name in enumerate(names, start=1)]
    first = [cells[0] for _, cells in rows]
    whole = all(cell.isascii() and cell.isdigit() for cell in first)
    distinct = len(set(first)) == len(first)
    text = not any(is_number(cell) or is_missing(cell) for cell in first)
    # pandas and R write such a column by default; R writes times like 1962.25, too.
    numbers = [parse_number(cell, ".") for cell in first]
    rising = all(
        a is not None and b is not None and a < b for a, b in pairwise(numbers)
    )
    named = whole or text or (rising and len(first) > 2)
    only_names = len(names) > 1 and not names[0] and distinct and named
    return complete, only_names


def distinct_names(names: Sequence[str], notes: list[str]) -> list[str]:
    """Return names without repetitions; append to the notes if there are any."""
    taken = {*names}
    seen: Counter[str] = Counter()
    distinct: list[str] = []
    for name in names:
        seen[name] += 1
        new = name
        while new != name and new in taken or seen[name] > 1 and new == name:
            new = f"{name} ({seen[name]})"
            seen[name] += new in taken
        taken.add(new)
        distinct.append(new)
    changed = [new for name, new in zip(names, distinct, strict=True) if new != name]
    if changed:
        notes.append(
            f"Names of columns are repeated, and were numbered: {quote(changed)}."
        )
    return distinct
