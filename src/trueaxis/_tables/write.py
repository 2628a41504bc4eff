"""Write tables as text, JSON lines, Parquet, Feather, Excel or .npy files.

`read` reads them, and `original` writes rows of a file as they stand there. The ending
of the name gives the format; a further ending such as .gz compresses the file.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np

from trueaxis._tables.formats import ARROW, PARQUET, ending_of
from trueaxis._tables.output.sheets import write_sheet_rows
from trueaxis._tables.output.targets import (
    open_target,
    refuse_ending,
    require_writer,
)
from trueaxis._tables.output.targets import refuse_table as refuse_table
from trueaxis._tables.output.targets import refuse_target as refuse_target
from trueaxis._tables.output.values import as_text, guarded, items, json_line

Fields = dict[str, Any]  # name and values of every column

NUMPY = ".npy"
_TEXT_ROWS = 1 << 14  # are text in memory at a time


def write_table(path: str | Path, fields: Fields) -> None:
    """Write columns to a file, or to standard output as CSV.

    Parameters
    ----------
    path : str or Path
        The suffix gives the format; "-" writes CSV to standard output.
    fields : dict
        Name and values of every column, all of the same length. Values may be None.
    """
    write_blocks(path, iter([fields]), len(next(iter(fields.values()), ())))


def write_blocks(path: str | Path, blocks: Iterator[Fields], n: int) -> None:
    """Write a table a few rows at a time, in the formats of `write_table` and .npy.

    Parameters
    ----------
    path : str or Path
    blocks : iterator of dict
        Tables with the same columns.
    n : int
        Total number of rows, for the header of .npy files. These hold only numbers.
    """
    name = str(path)
    if ending_of(name) != NUMPY:
        refuse_ending(name)
    with open_target(name) as file:
        write_content(file, name, blocks, n)


def write_content(file: IO[bytes], name: str, blocks: Iterator[Fields], n: int) -> None:
    """Write a table to an open file, in the format that its name tells."""
    ending = ending_of(name)
    writers: dict[str, Callable[[Any, str, Iterator[Fields], int], None]] = {
        ".jsonl": _write_json_lines,
        ".ndjson": _write_json_lines,
        **dict.fromkeys(PARQUET + ARROW, _write_arrow),
        ".xlsx": _write_sheet,
        NUMPY: _write_numbers,
    }
    writers.get(ending, _write_text)(file, name, blocks, n)


# ---------------------------------------------------------------- text


def _write_text(file: IO[bytes], name: str, blocks: Iterator[Fields], n: int) -> None:
    delimiter = "\t" if ending_of(name) == ".tsv" else ","
    for number, fields in enumerate(blocks):
        columns = [
            values if isinstance(values, list) else np.asarray(values)
            for values in fields.values()
        ]
        if number == 0:
            _write_lines(file, delimiter, [[*map(guarded, fields)]])
        for start in range(0, max(map(len, columns), default=0), _TEXT_ROWS):
            some = slice(start, start + _TEXT_ROWS)
            cells = [_text_cells(column[some]) for column in columns]
            _write_lines(file, delimiter, zip(*cells, strict=True))


def _write_lines(
    file: IO[bytes], delimiter: str, rows: Iterable[Sequence[Any]]
) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    file.write(text.getvalue().encode("utf-8"))


def _text_cells(values: Any) -> Iterable[Any]:
    """Return a column as cells that the csv module writes as `as_text` does."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        holes = values.dtype.kind == "f" and np.isnan(values).any()
        cells = values.tolist()
        return ["" if cell != cell else cell for cell in cells] if holes else cells
    cells = items(values)
    if set(map(type, cells)) == {str}:  # often the same few, such as kinds
        texts = {cell: guarded(cell) for cell in set(cells)}
        return map(texts.__getitem__, cells)
    return (guarded(as_text(cell)) for cell in cells)


def _write_json_lines(
    file: IO[bytes], name: str, blocks: Iterator[Fields], n: int
) -> None:
    for fields in blocks:
        for row in zip(*map(items, fields.values()), strict=True):
            file.write(json_line(dict(zip(fields, row, strict=True))))


# ---------------------------------------------------------------- Arrow


def _write_arrow(file: IO[bytes], name: str, blocks: Iterator[Fields], n: int) -> None:
    with ExitStack() as closing:
        writer: Any = None
        for fields in blocks:
            table = arrow_table(fields, name)
            if writer is None:
                writer = closing.enter_context(arrow_writer(file, name, table.schema))
            writer.write_table(table.cast(writer.schema))


def arrow_writer(file: IO[bytes], name: str, schema: Any) -> Any:
    """Return a writer of tables of pyarrow, for a Parquet or Feather file."""
    require_writer("pyarrow", name)
    if ending_of(name) in PARQUET:
        import pyarrow.parquet as parquet

        return parquet.ParquetWriter(file, schema)
    return _IpcWriter(file, schema)


class _IpcWriter:
    """Writer of Arrow files, which is also version 2 of Feather."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        from pyarrow import ipc

        self.schema = schema
        self._writer = ipc.new_file(file, schema)

    def write_table(self, table: Any) -> None:
        self._writer.write_table(table)

    def __enter__(self) -> _IpcWriter:
        return self

    def __exit__(self, *_: Any) -> None:
        self._writer.close()


def arrow_table(fields: Fields, name: str) -> Any:
    """Return columns as a table of pyarrow; those of several types are text."""
    pyarrow = require_writer("pyarrow", name)

    def column(values: Any) -> Any:
        values = values if isinstance(values, list) else np.asarray(values)
        try:
            return pyarrow.array(values)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError):
            texts = [as_text(value) for value in values]
            return pyarrow.array([str(text) if text != "" else None for text in texts])

    return pyarrow.table({key: column(values) for key, values in fields.items()})


# ---------------------------------------------------------------- Excel and NumPy


def _write_sheet(file: IO[bytes], name: str, blocks: Iterator[Fields], n: int) -> None:
    def rows() -> Iterator[Sequence[Any]]:
        for number, fields in enumerate(blocks):
            if number == 0:
                yield list(fields)
            yield from zip(*map(items, fields.values()), strict=True)

    write_sheet_rows(file, name, rows(), n + 1)


def _write_numbers(
    file: IO[bytes], name: str, blocks: Iterator[Fields], n: int
) -> None:
    written, begun = 0, False
    for fields in blocks:
        block = np.column_stack(list(fields.values()))
        if not begun:
            begun = True
            npy_header(file, block.dtype, (n, block.shape[1]))
        file.write(block.tobytes())
        written += len(block)
    if written != n or not begun:
        raise ValueError(f"{name} needs {n:,} rows, but got {written:,}.")


def npy_header(file: IO[bytes], dtype: Any, shape: tuple[int, int]) -> None:
    """Write the header of a .npy file, whose rows follow."""
    header: dict[str, Any] = {"shape": shape, "fortran_order": False}
    header["descr"] = np.lib.format.dtype_to_descr(np.dtype(dtype))
    np.lib.format.write_array_header_1_0(file, header)
