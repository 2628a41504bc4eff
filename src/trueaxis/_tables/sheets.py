"""Sheets of Excel and ODS files: their table may have a title, units and remarks."""

from __future__ import annotations

import datetime
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from trueaxis._tables.choice import Choice, FileContent, SheetRows
from trueaxis._tables.column import quote
from trueaxis._tables.formats import read_bytes, require
from trueaxis._tables.objects import columns_of_objects
from trueaxis._tables.parsing.cells import TableError
from trueaxis._tables.parsing.dialect import layout_of
from trueaxis._tables.parsing.numbers import Rules


def read_sheet_columns(name: str, choice: Choice, rules: Rules) -> FileContent:
    """Read a sheet like a text: it may have a title, units and notes below the rows."""
    grid, sheet, notes = read_sheet(name, choice.sheet)
    cells = [[_sheet_cell(cell) for cell in row] for row in grid]
    records = [
        (number, row)
        for number, row in enumerate(cells, start=1)
        if any(row) and number > choice.skip
    ]
    # Empty columns beside the table belong to no cell.
    used = [
        i for i in range(len(cells[0]) if cells else 0) if any(r[1][i] for r in records)
    ]
    records = [(number, [row[i] for i in used]) for number, row in records]
    layout = layout_of(records, name, header=choice.header, noun="Row")
    lines = [number for number, _ in records if number >= layout.first_line]
    while len(lines) > 1 and _is_remark(cells[lines[-1] - 1], len(used)):
        first = next(filter(None, cells[lines[-1] - 1]))
        notes.append(
            f"Row {lines[-1]} of the sheet is not part of the table and was left out: "
            f"{first!r}."
        )
        lines.pop()
    if not lines:
        raise TableError(f"{name} has a header, but no rows.")
    rules.place = lambda row: f"row {lines[row]} of sheet {sheet!r}"
    rules.unwanted = choice.unwanted(layout.names)
    rules.verbatim = choice.names_of_rows()
    if layout.row_names:
        rules.verbatim = {*rules.verbatim, layout.names[0]}
    objects = {
        name: [None if grid[line - 1][i] == "" else grid[line - 1][i] for line in lines]
        for name, i in zip(layout.names, used, strict=True)
    }
    columns = [
        replace(column, unit=unit)
        for column, unit in zip(
            columns_of_objects(objects, rules), layout.units, strict=True
        )
    ]
    notes += layout.notes
    row_names = layout.names[0] if layout.row_names else None
    rows = SheetRows(grid, lines, used, layout.first_line, sheet)
    return FileContent(
        tuple(columns), rules.place, (*notes, *rules.notes()), row_names, rows
    )


def _sheet_cell(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))  # 1990, as the sheet shows it
    return cell.strip() if isinstance(cell, str) else str(cell)


def _is_remark(cells: Sequence[str], width: int) -> bool:
    return width > 2 and sum(map(bool, cells)) == 1


def read_sheet(name: str, sheet: str | None) -> tuple[list[list[Any]], str, list[str]]:
    """Return the rows of a sheet as Python's objects, its name, and notes.

    Parameters
    ----------
    name : str
    sheet : str or None
        Name of the sheet, or its number from 1; the first that is not empty by default.
    """
    calamine = require(
        "python_calamine", name, "is a spreadsheet", "save the sheet as CSV"
    )
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(read_bytes(name)))
        names = book.sheet_names
        chosen = _choose_sheet(names, sheet, name)
        rows = book.get_sheet_by_name(chosen).to_python(skip_empty_area=False)
        if sheet is None:
            for other in names:
                if any(any(cell != "" for cell in row) for row in rows):
                    break
                chosen = other
                rows = book.get_sheet_by_name(other).to_python(skip_empty_area=False)
    except calamine.CalamineError as error:
        raise TableError(
            f"{name} cannot be read as a spreadsheet ({error}): save it again, or save "
            "the sheet as CSV."
        ) from None
    _complete_dates(rows)
    notes = []
    if sheet is None and len(names) > 1:
        others = quote([each for each in names if each != chosen])
        notes.append(f"Sheet {chosen!r} was read; --sheet chooses another: {others}.")
    return rows, chosen, notes


def _complete_dates(rows: list[list[Any]]) -> None:
    """Give dates a time in columns with times: calamine leaves out midnight."""
    for column in range(len(rows[0]) if rows else 0):
        kinds = {type(row[column]) for row in rows}
        if {datetime.date, datetime.datetime} <= kinds:
            for row in rows:
                if type(row[column]) is datetime.date:
                    midnight = datetime.time()
                    row[column] = datetime.datetime.combine(row[column], midnight)


def _choose_sheet(names: Sequence[str], sheet: str | None, file: str) -> str:
    if not names:
        raise TableError(f"{file} has no sheets: there are no rows to analyze.")
    if sheet is None:
        return names[0]
    if sheet in names:
        return sheet
    if sheet.isdigit() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise TableError(
        f"{file} has no sheet {sheet!r}; its {len(names)} sheets are "
        f"{', '.join(map(repr, names[:12]))}."
    )
