"""Rows of JSON, Excel and .npy files, with the types of the file.

`arrow_rows` has those of Parquet and Feather files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.formats import (
    JSON,
    ending_of,
    read_bytes,
    read_numpy,
)
from trueaxis._tables.objects import read_json
from trueaxis._tables.output.cell_text import number_like, style_of, whole_or_float
from trueaxis._tables.output.sheets import write_sheet_rows
from trueaxis._tables.output.text_rows import Changes, positions_of
from trueaxis._tables.output.values import json_line
from trueaxis._tables.parsing.numbers import Rules
from trueaxis._tables.read import Choice, read_columns
from trueaxis._tables.sheets import read_sheet_columns
from trueaxis._tables.write import npy_header

Index = NDArray[np.intp]


class TextStyle:
    """How numbers are written in cells of text, in a file that has others as well.

    Parameters
    ----------
    choice : Choice
        How the file is read.
    read : callable
        Read the file by rules, which then know its decimal sign.
    """

    def __init__(self, choice: Choice, read: Callable[[Rules], Any]) -> None:
        self._read, self._rules = read, Rules(
            "," if choice.decimal == "," else ".", choice.text_format().words(),
            given=choice.decimal != "auto", verbatim=choice.names_of_rows(),
        )  # fmt: skip

    @cached_property
    def decimal(self) -> str:
        """The decimal sign of all cells of text."""
        self._read(self._rules)
        return self._rules.decimal

    def of(self, cells: Sequence[Any]) -> str | None:
        """Return a cell of text to write others like; None if most are no text."""
        given = [each for each in cells if each is not None and each == each]
        texts = [each for each in given if isinstance(each, str)]
        texts = [each for each in texts if not self._rules.is_missing(each.strip())]
        numbers = sum(isinstance(each, (int, float)) for each in given)
        return style_of(texts, self.decimal) if len(texts) > numbers else None

    def written(self, x: float, style: str) -> str:
        """Return a number like another cell."""
        return number_like(x, style, self.decimal, unclear=self.decimal == ",")

    def like(self, before: Any, x: float, style: str | None) -> Any:
        """Return a number, as text if the column is text and the cell was no number."""
        if style is None or isinstance(before, (int, float)):
            return whole_or_float(x)
        return self.written(x, style)


# ---------------------------------------------------------------- JSON


class JsonOriginal:
    """The rows of JSON lines, as their text; or of a list of objects."""

    native: tuple[str, ...] = JSON

    def __init__(self, source: str, choice: Choice) -> None:
        self._style = TextStyle(
            choice, lambda rules: read_json(source, rules, choice.unwanted)
        )
        text = read_bytes(source).decode("utf-8-sig")
        self._is_list = text.lstrip().startswith("[")
        if self._is_list:
            self.records: list[dict[str, Any]] = json.loads(text)
            self._lines: list[str] = []
        else:
            self._lines = [line.strip() for line in text.split("\n") if line.strip()]
            self.records = [json.loads(line) for line in self._lines]
        names: dict[str, None] = {}
        for record in self.records:
            names |= dict.fromkeys(record)
        self.names = list(names)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.records)

    def write(
        self, file: IO[bytes], target: str, rows: Index | None, changes: Changes
    ) -> list[str]:
        """Write rows as JSON lines, or as a list if the ending is .json."""
        styles = self._styles(changes)
        chosen = range(len(self)) if rows is None else rows.tolist()
        lines = [self._line(row, changes, styles) for row in chosen]
        as_list = ending_of(target) == ".json" and self._is_list
        if as_list:
            text = "[\n" + ",\n".join(lines) + "\n]\n"
        else:
            text = "".join(f"{line}\n" for line in lines)
        file.write(text.encode("utf-8"))
        return []

    def columns(self, rows: Index, changes: Changes) -> dict[str, Any]:
        """Return columns for a file of another format."""
        styles = self._styles(changes)
        records = [self._changed(row, changes, styles) for row in rows.tolist()]
        return {name: [each.get(name) for each in records] for name in self.names}

    def texts(self) -> list[str]:
        """Return the columns that are not numbers."""
        numbers = (int, float, type(None))
        return [
            name
            for name in self.names
            if not all(isinstance(each.get(name), numbers) for each in self.records)
        ]

    def _styles(self, changes: Changes) -> dict[str, str | None]:
        return {
            name: self._style.of([record.get(name) for record in self.records])
            for name in changes
        }

    def _changed(
        self, row: int, changes: Changes, styles: Mapping[str, str | None]
    ) -> dict[str, Any]:
        record = self.records[row]
        new = {
            name: self._style.like(record.get(name), values[row], styles[name])
            for name, values in changes.items()
            if row in values
        }
        return record | new if new else record

    def _line(
        self, row: int, changes: Changes, styles: Mapping[str, str | None]
    ) -> str:
        record = self._changed(row, changes, styles)
        if self._lines and record is self.records[row]:
            return self._lines[row]
        return json_line(record).decode("utf-8").rstrip("\n")


# ---------------------------------------------------------------- Excel


class SheetOriginal:
    """The rows of a sheet of Excel or ODS: its values, without formats."""

    native: tuple[str, ...] = (".xlsx",)

    def __init__(self, source: str, choice: Choice) -> None:
        self._style = TextStyle(
            choice, lambda rules: read_sheet_columns(source, choice, rules)
        )
        content = read_columns(source, choice)
        assert content.sheet is not None
        self.sheet = content.sheet
        self.names = [column.name for column in content.columns]
        self._kinds = {column.name: column.kind for column in content.columns}

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.sheet.lines)

    def write(
        self, file: IO[bytes], target: str, rows: Index | None, changes: Changes
    ) -> list[str]:
        """Write rows to a sheet, below all that is above them."""
        grid = self._changed_grid(changes)
        if rows is None:
            chosen: list[Sequence[Any]] = list(grid)
        else:
            lines = [self.sheet.lines[row] for row in rows.tolist()]
            head = grid[: self.sheet.first_line - 1]
            chosen = [*head, *(grid[line - 1] for line in lines)]
        title = self.sheet.name
        write_sheet_rows(file, target, iter(chosen), len(chosen), title)
        return []

    def columns(self, rows: Index, changes: Changes) -> dict[str, Any]:
        """Return columns for a file of another format."""
        grid = self._changed_grid(changes)
        lines = [self.sheet.lines[row] - 1 for row in rows.tolist()]
        return {
            name: [_sheet_value(grid[line][i]) for line in lines]
            for name, i in zip(self.names, self.sheet.used, strict=True)
        }

    def texts(self) -> list[str]:
        """Return the columns that are not numbers."""
        return [name for name, kind in self._kinds.items() if kind != "number"]

    def _changed_grid(self, changes: Changes) -> list[list[Any]]:
        grid, positions = list(self.sheet.grid), positions_of(self.names)
        for name, new in changes.items():
            i = self.sheet.used[positions[name]]
            style = self._style.of([grid[line - 1][i] for line in self.sheet.lines])
            for row, x in new.items():
                line = self.sheet.lines[row] - 1
                cells = list(grid[line])
                cells[i] = self._style.like(cells[i], x, style)
                grid[line] = cells
        return grid


def _sheet_value(value: Any) -> Any:
    """Return a value of a sheet, where all numbers are floats."""
    if isinstance(value, str):
        return value or None
    return whole_or_float(value) if isinstance(value, float) else value


# ---------------------------------------------------------------- NumPy


class ArrayOriginal:
    """The rows of an array in a .npy or .npz file."""

    native: tuple[str, ...] = (".npy",)

    def __init__(self, source: str) -> None:
        self.array = read_numpy(Path(source))
        self.names = [f"x{i}" for i in range(self.array.shape[1])]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.array)

    def write(
        self, file: IO[bytes], target: str, rows: Index | None, changes: Changes
    ) -> list[str]:
        """Write rows to a .npy file; return what changed in types."""
        array, notes = self._changed(changes)
        array = array if rows is None else array[rows]
        npy_header(file, array.dtype, array.shape)
        file.write(np.ascontiguousarray(array).tobytes())
        return notes

    def columns(self, rows: Index, changes: Changes) -> dict[str, Any]:
        """Return columns for a file of another format."""
        return fields_of_array(self._changed(changes)[0][rows])

    def texts(self) -> list[str]:
        """Return the columns that are not numbers: none."""
        return []

    def _changed(self, changes: Changes) -> tuple[NDArray[Any], list[str]]:
        cells = list(_numbered(changes, self.names))
        if not cells:
            return self.array, []
        rows, columns, values = (np.array(each) for each in zip(*cells, strict=True))
        array, before = self.array.copy(), self.array.dtype
        with np.errstate(invalid="ignore", over="ignore"):
            exact = values.astype(before).astype(float) == values
        if before.kind != "f" and not exact.all():
            array = array.astype(float)
        array[rows.astype(int), columns.astype(int)] = values
        if array.dtype == before:
            return array, []
        return array, [
            f"The array was {before}, which cannot hold its new cells: it was written "
            f"as {array.dtype}."
        ]


def _numbered(
    changes: Changes, names: Sequence[str]
) -> Iterator[tuple[int, int, float]]:
    positions = positions_of(names)
    for name, new in changes.items():
        for row, x in new.items():
            yield row, positions[name], x


def fields_of_array(array: NDArray[Any]) -> dict[str, Any]:
    """Return the columns of an array, named x0, x1, ..."""
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        array = np.array([float(str(x)) for x in array.ravel()]).reshape(array.shape)
    return {f"x{i}": column for i, column in enumerate(array.T)}
