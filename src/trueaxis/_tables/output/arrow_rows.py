"""Rows of Parquet and Feather files, with the types and metadata of the file."""

from __future__ import annotations

import decimal
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import IO, Any

import numpy as np

from trueaxis._tables.formats import ARROW, PARQUET, columns_of_arrow, read_arrow
from trueaxis._tables.output.text_rows import Changes, positions_of
from trueaxis._tables.output.typed_rows import Index, TextStyle
from trueaxis._tables.parsing.numbers import Rules
from trueaxis._tables.read import Choice
from trueaxis._tables.write import arrow_writer


class ArrowOriginal:
    """The rows of a Parquet or Feather file, as a table of pyarrow."""

    native: tuple[str, ...] = PARQUET + ARROW

    def __init__(self, source: str, choice: Choice) -> None:
        self.source, self.choice = source, choice
        self.table = read_arrow(source)
        self.names: list[str] = self.table.column_names

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.table.num_rows)

    def write(
        self, file: IO[bytes], target: str, rows: Index | None, changes: Changes
    ) -> list[str]:
        """Write rows to a Parquet or Feather file; return what changed in types."""
        table, notes = self._changed(changes)
        table = table if rows is None else table.take(rows)
        with arrow_writer(file, target, table.schema) as writer:
            writer.write_table(table)
        return notes

    def columns(self, rows: Index, changes: Changes) -> dict[str, Any]:
        """Return columns for a file of another format."""
        return fields_of_arrow(self._changed(changes)[0].take(rows))

    def texts(self) -> list[str]:
        """Return the columns that are not numbers."""
        return [each.name for each in self.table.schema if not _is_number(each.type)]

    def _changed(self, changes: Changes) -> tuple[Any, list[str]]:
        table, notes = self.table, []
        positions = positions_of(self.names)
        for name, new in changes.items():
            if not new:
                continue
            position = positions[name]
            column = self._replaced(table.column(position), new)
            if column.type != table.column(position).type:
                before = table.column(position).type
                notes.append(_promotion(name, str(before), str(column.type)))
                table = _without_pandas_type(table, name, str(column.type))
            field = table.schema.field(position).with_type(column.type)
            table = table.set_column(position, field, column)
        return table, notes

    def _replaced(self, column: Any, new: Mapping[int, float]) -> Any:
        """Return a column with other cells, of the same type if that can hold them."""
        from pyarrow import types

        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if types.is_null(column.type) or _is_number(column.type):
            return _with_numbers(column, new)
        style = self._style.of(column.to_pylist()) or ""
        texts = {row: self._style.written(x, style) for row, x in new.items()}
        return _with_cells(column, texts)

    @cached_property
    def _style(self) -> TextStyle:
        def read(rules: Rules) -> None:
            rules.unwanted = self.choice.unwanted(self.names)
            columns_of_arrow(self.table, self.source, rules)

        return TextStyle(self.choice, read)


def _without_pandas_type(table: Any, name: str, kind: str) -> Any:
    """Correct what pandas has noted about a column whose type has changed."""
    metadata = dict(table.schema.metadata or {})
    if b"pandas" not in metadata:
        return table
    noted = json.loads(metadata[b"pandas"])
    kind = {"double": "float64", "string": "object"}.get(kind, kind)
    for column in noted.get("columns", []):
        if column.get("field_name", column.get("name")) == name:
            column |= {"pandas_type": kind, "numpy_type": kind, "metadata": None}
    metadata[b"pandas"] = json.dumps(noted).encode()
    return table.replace_schema_metadata(metadata)


def fields_of_arrow(table: Any) -> dict[str, Any]:
    """Return the columns of a table of pyarrow as Python's values.

    The index of a data frame comes first and has no name, as pandas writes it.
    """
    names = table.column_names
    stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    unnamed = [each for each in stored if str(each).startswith("__index_level_")]
    index = unnamed[0] if len(unnamed) == 1 and unnamed[0] in names else None
    if index is not None:
        names = [index, *(name for name in names if name != index)]
    return {
        "" if name == index else name: _python_values(table.column(name))
        for name in names
    }


def _python_values(column: Any) -> list[Any]:
    from pyarrow import types

    if types.is_float16(column.type) or types.is_float32(column.type):
        # 0.1 rather than 0.10000000149011612, which is the same number there.
        return [None if x is None else float(str(np.float32(x)))
                for x in column.to_pylist()]  # fmt: skip
    values: list[Any] = column.to_pylist()
    return values


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    is_number = types.is_integer, types.is_floating, types.is_boolean, types.is_decimal
    return any(is_kind(kind) for is_kind in is_number)


def _with_numbers(column: Any, new: Mapping[int, float]) -> Any:
    """Return a column of numbers with other cells; of floats if they do not fit."""
    import pyarrow
    from pyarrow import types

    kind, numbers = column.type, [float(x) for x in new.values()]
    values: list[Any] = numbers
    if types.is_decimal(kind):
        values = [round(decimal.Decimal(repr(x)), kind.scale) for x in numbers]
    elif not types.is_floating(kind):
        if types.is_null(kind) or not _fits(kind, numbers):
            column = column.cast(pyarrow.float64(), safe=False)
        else:
            as_kind = bool if types.is_boolean(kind) else int
            values = [as_kind(x) for x in numbers]
    return _with_cells(column, dict(zip(new, values, strict=True)))


def _with_cells(column: Any, new: Mapping[int, Any]) -> Any:
    """Return a column with other cells of its type."""
    import pyarrow
    from pyarrow import compute

    rows = sorted(new)
    mask = np.zeros(len(column), dtype=bool)
    mask[rows] = True
    whole = column.combine_chunks()
    if isinstance(whole, pyarrow.ChunkedArray):  # in some versions
        whole = pyarrow.concat_arrays(whole.chunks)
    values = pyarrow.array([new[row] for row in rows]).cast(column.type, safe=False)
    return compute.replace_with_mask(whole, pyarrow.array(mask), values)


def _fits(kind: Any, values: Sequence[float]) -> bool:
    """Return whether an integer type, or booleans, can hold numbers exactly."""
    from pyarrow import types

    if types.is_boolean(kind):
        return all(x in (0, 1) for x in values)
    limits = np.iinfo(kind.to_pandas_dtype())
    return all(
        x.is_integer() and abs(x) < 1 << 53 and limits.min <= x <= limits.max
        for x in values
    )


def _promotion(name: str, before: str, after: str) -> str:
    return (
        f"Column {name!r} was {before}, which cannot hold its new cells: it was "
        f"written as {after}."
    )
