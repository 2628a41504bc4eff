"""Columns of Python objects: cells of JSON and of spreadsheets."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from trueaxis._tables.column import Column, as_objects
from trueaxis._tables.formats import read_bytes
from trueaxis._tables.parsing.cells import TableError
from trueaxis._tables.parsing.decimal_sign import Cell
from trueaxis._tables.parsing.numbers import Rules, mixed_column


def read_json(
    name: str, rules: Rules, unwanted: Callable[[Sequence[str]], Collection[str]]
) -> list[Column]:
    """Read JSON lines, or a list of objects."""
    try:
        text = read_bytes(name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(f"{name} is not UTF-8 text ({error}): convert it.") from None
    records, places = _json_records(text, name)
    names: dict[str, None] = {}
    for record, place in zip(records, places, strict=True):
        if not isinstance(record, dict):
            raise TableError(
                f"{name} has {type(record).__name__} {str(record)[:40]!r} in {place}, "
                'but every row must be an object such as {"flow": 1.5}.'
            )
        names |= dict.fromkeys(record)
    if not names:
        raise TableError(f"{name} is empty: there are no rows to analyze.")
    rules.place, rules.unwanted = places.__getitem__, unwanted([*names])
    cells = {each: [record.get(each) for record in records] for each in names}
    return columns_of_objects(cells, rules)


def _json_records(text: str, name: str) -> tuple[list[Any], list[str]]:
    if text.lstrip().startswith("["):
        try:
            records = json.loads(text)
        except RecursionError:
            raise TableError(
                f"{name} is nested too deeply: write one object per row."
            ) from None
        except json.JSONDecodeError as error:
            raise TableError(
                f"{name} is not JSON: {error.msg} in line {error.lineno}, character "
                f"{error.colno}. Correct it."
            ) from None
        return records, [f"row {i}" for i in range(len(records))]
    records, places = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append(json.loads(line))
        except (json.JSONDecodeError, RecursionError) as error:
            cause = getattr(error, "msg", "nested too deeply")
            raise TableError(
                f"Line {number} of {name} is not JSON ({cause}): write one object per "
                "line, or a list of objects."
            ) from None
        places.append(f"line {number}")
    return records, places


def columns_of_objects(cells: dict[str, list[Any]], rules: Rules) -> list[Column]:
    """Return columns of Python's objects: numbers, text, dates, or others."""
    rules.decide(
        {
            name: [cell if isinstance(cell, str) else None for cell in column]
            for name, column in cells.items()
        }
    )
    return [_column_of_objects(name, column, rules) for name, column in cells.items()]


def _column_of_objects(name: str, cells: Sequence[Any], rules: Rules) -> Column:
    kinds = {type(cell) for cell in cells if cell is not None}
    if name in rules.verbatim:
        return Column(name, "text", np.array([*map(_as_name, cells)], dtype=object))
    if str in kinds:  # dates among text are text, such as genes in Excel
        cells = [
            cell.isoformat() if hasattr(cell, "isoformat") else cell for cell in cells
        ]
        kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {int, float, bool}:
        numbers = [np.nan if cell is None else _as_float(cell) for cell in cells]
        return Column(name, "number", np.array(numbers, dtype=float))
    if kinds <= {int, float, bool, str}:
        # What is a number already must stay the same number.
        written = [
            cell if cell is None or isinstance(cell, str) else _written(cell, rules)
            for cell in cells
        ]
        return rules.column(name, written)
    nested = bool(kinds & {dict, list})
    bad = [
        Cell(str(cell), name, row)
        for row, cell in enumerate(cells)
        if cell is not None and not isinstance(cell, (int, float))
    ]
    n = sum(cell is not None for cell in cells)
    if 2 * len(bad) < n and name not in rules.unwanted:
        raise mixed_column(bad, n, rules.place)
    return Column(name, "nested" if nested else "calendar", as_objects(cells))


def _as_name(cell: Any) -> str:
    """Return a cell as the name of a row: 7 instead of 7.0."""
    if cell is None:
        return ""
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell) if whole else cell)


def _as_float(cell: float) -> float:
    try:
        return float(cell)
    except OverflowError:  # an integer beyond the largest float
        return float("inf")


def _written(cell: Any, rules: Rules) -> str:
    text = str(int(cell)) if isinstance(cell, bool) else repr(cell)
    return text.replace(".", rules.decimal)
