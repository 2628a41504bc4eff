"""Write tables as CSV, TSV, Parquet or .npy files; `read` reads them."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from trueaxis._files import atomic_write, check_target
from trueaxis._tables.read import STANDARD, TableError

ENDINGS = (".csv", ".tsv", ".txt", ".parquet", "")


def write_table(path: str | Path, fields: dict[str, Any]) -> None:
    """Write columns to a CSV, TSV or Parquet file, or to standard output as CSV.

    Parameters
    ----------
    path : str or Path
        The suffix gives the format; "-" writes CSV to standard output.
    fields : dict
        Name and values of every column, all of the same length.
    """
    write_blocks(path, iter([fields]), len(next(iter(fields.values()), ())))


def write_blocks(path: str | Path, blocks: Iterator[dict[str, Any]], n: int) -> None:
    """Write a table a few rows at a time, in the formats of `write_table` and .npy.

    Parameters
    ----------
    path : str or Path
    blocks : iterator of dict
        Tables with the same columns.
    n : int
        Total number of rows, for the header of .npy files. These hold only numbers.
    """
    name, ending = str(path), Path(str(path)).suffix.lower()
    if name != STANDARD and ending == ".npy":
        return _write_numbers(Path(name), blocks, n)
    _refuse_ending(name)
    if name != STANDARD and ending == ".parquet":
        return _write_parquet(Path(name), blocks)
    texts = _as_text(blocks, "\t" if ending == ".tsv" else ",")
    if name == STANDARD:
        sys.stdout.writelines(texts)
        return None
    with atomic_write(name) as file:
        for text in texts:
            file.write(text.encode("utf-8"))
    return None


def _as_text(blocks: Iterator[dict[str, Any]], delimiter: str) -> Iterator[str]:
    for number, fields in enumerate(blocks):
        text = io.StringIO()
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        if number == 0:
            writer.writerow(fields)
        columns = (_cells(values) for values in fields.values())
        writer.writerows(zip(*columns, strict=True))
        yield text.getvalue()


def refuse_table(path: str, *sources: str) -> None:
    """Raise as `refuse_target` does, or if the suffix is not that of a table."""
    refuse_target(path, *sources)
    _refuse_ending(path)


def _refuse_ending(path: str) -> None:
    if path != STANDARD and Path(path).suffix.lower() not in ENDINGS:
        raise TableError(
            f"{path} ends in {Path(path).suffix}, but tables are written as "
            f"{', '.join(filter(None, ENDINGS))}: choose one of these endings."
        )


def refuse_target(path: str, *sources: str) -> None:
    """Raise early if a file cannot be written, or is one of the inputs."""
    if path in ("", STANDARD):
        return
    target = Path(os.path.realpath(path))
    for source in sources:
        if source not in ("", STANDARD) and target == Path(os.path.realpath(source)):
            raise TableError(
                f"{path} is an input and would be overwritten: choose another name."
            )
    check_target(target, path)


def _cells(values: Any) -> Iterator[Any]:
    for value in np.asarray(values).tolist():
        yield repr(value) if isinstance(value, float) else value


def _write_parquet(path: Path, blocks: Iterator[dict[str, Any]]) -> None:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise TableError(
            f"Writing {path} needs pyarrow: pip install 'trueaxis[parquet]', or choose "
            "the ending .csv."
        ) from None
    with atomic_write(path) as file, ExitStack() as closing:
        writer: Any = None
        for fields in blocks:
            table = pyarrow.table(
                {name: np.asarray(values) for name, values in fields.items()}
            )
            if writer is None:
                writer = parquet.ParquetWriter(file, table.schema)
                closing.enter_context(writer)
            writer.write_table(table)


def _write_numbers(path: Path, blocks: Iterator[dict[str, Any]], n: int) -> None:
    written, begun = 0, False
    with atomic_write(path) as file:
        for fields in blocks:
            block = np.column_stack(list(fields.values()))
            if not begun:
                begun = True
                header: dict[str, Any] = {"shape": (n, block.shape[1])}
                header["descr"] = np.lib.format.dtype_to_descr(block.dtype)
                header["fortran_order"] = False
                np.lib.format.write_array_header_1_0(file, header)
            file.write(block.tobytes())
            written += len(block)
        if written != n or not begun:
            raise ValueError(f"{path} needs {n:,} rows, but got {written:,}.")
