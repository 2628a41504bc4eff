"""`open_rows`, which picks the reader for a file, a list of files or an array-like."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trueaxis._rows.base import ArrayRows, Rows
from trueaxis._rows.binary import float_type, mapped_rows, npy_rows
from trueaxis._rows.dask.collections import dask_rows, is_dask, read_by_workers
from trueaxis._rows.parquet import ParquetRows, parquet_head, parquet_kinds
from trueaxis._rows.sliced import SlicedRows
from trueaxis._rows.spooled import SpooledRows
from trueaxis._rows.stacked import StackedRows
from trueaxis._rows.threads import own_floats
from trueaxis._rows.watched_file import SourceError, refuse_odd_paths

ENDINGS = (".npy", ".parquet")
TEXT_ENDINGS = (".csv", ".tsv", ".txt")


@own_floats
def open_rows(
    source: Any,
    *,
    columns: Sequence[str] | Sequence[int] | None = None,
    spool: bool = True,
    block_rows: int | None = None,
    client: Any = None,
) -> Rows:
    """Open rows that need not fit in memory, for use in `fit`, `predict` and others.

    Parameters
    ----------
    source : path, list of paths, array-like, or Dask collection
        A .npy or Parquet file; a folder of such files (in the order of their names),
        or a list of them, with the same columns; a CSV, TSV or text file, which may be
        compressed and is decoded once to a temporary file; a `numpy.memmap`; an HDF5
        or Zarr array, or any object with `shape`, `dtype` and slices of rows; a Dask
        array or data frame.
    columns : sequence of str or int, optional
        Columns to read: names for Parquet files and data frames, indices otherwise.
    spool : bool, default=True
        Whether to decode Parquet files to a binary temporary file (in TMPDIR) if they
        are read more than three times, as by iterative methods. The file is removed at
        the end. If False, every pass decodes the files again.
    block_rows : int, optional
        Number of rows to read at a time. The default is 1 or 2 MB of rows, or 64 MB
        if workers read them.
    client : distributed.Client, optional
        Client whose workers read the files, which they must see under the same paths.

    Returns
    -------
    Rows
        The opened source; only its metadata have been read. A `with` statement keeps
        the temporary file for everything inside it; otherwise every `fit` that
        needs the file writes it again.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from trueaxis import DSWL, open_rows
    >>> from trueaxis.datasets import planted
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "cloud.npy"
    >>> np.save(path, planted("ocs", share=0.2).X)
    >>> rows = open_rows(path)
    >>> rows.shape
    (500, 20)
    >>> int((~DSWL(3).fit(rows).support_).sum()) >= 100
    True
    """
    if block_rows is not None and not (
        isinstance(block_rows, (int, np.integer)) and block_rows >= 1
    ):
        raise ValueError(
            f"block_rows={block_rows!r} is not a number of rows: pass an integer of at "
            "least 1, or None."
        )
    if isinstance(columns, (str, bytes)):
        raise TypeError(f"columns={columns!r} is a string: pass a list of names.")
    if isinstance(source, Rows):
        if not (columns is None and block_rows is None and client is None):
            raise TypeError(
                "The source is open already: pass columns, block_rows and client when "
                "you open it."
            )
        return source
    if is_dask(source):
        return dask_rows(source, columns, client)
    if isinstance(source, (str, os.PathLike)):
        refuse_odd_paths(str(source))
        files, names = list_files(Path(source))
    elif isinstance(source, (list, tuple)):
        if not source or not all(isinstance(s, (str, os.PathLike)) for s in source):
            raise TypeError(
                f"The list has {len(source)} items, not all of which are paths: pass "
                "paths of .npy or Parquet files, or an array."
            )
        files, names = [Path(path) for path in source], [str(path) for path in source]
    else:
        rows = _array_rows(source, columns, block_rows)
        return rows if client is None else read_by_workers(rows, client, block_rows)
    # The working directory may change, and workers may have another one.
    files = [path.absolute() for path in files]
    parts = [
        _file_rows(path, name, columns, block_rows)
        for path, name in zip(files, names, strict=True)
    ]
    _check_same_columns(parts, names)
    order = next((part.names for part in parts if part.names), None)
    if columns is None and order is not None:
        # Columns may be in a different order than in the first file with names.
        parts = [
            part
            if part.names in (order, None)
            else _file_rows(path, name, order, block_rows)
            for part, path, name in zip(parts, files, names, strict=True)
        ]
    rows = parts[0] if len(parts) == 1 else StackedRows(parts)
    if client is not None:
        return read_by_workers(rows, client, block_rows)
    has_parquet = any(isinstance(part, ParquetRows) for part in parts)
    return SpooledRows(rows, block_rows) if spool and has_parquet else rows


def describe_file(path: Path) -> tuple[int, dict[str, str]]:
    """Return the number of rows of a .npy or Parquet file, and its columns.

    For a folder, they are those of its first file. Columns without names are called x0,
    x1, ... Their kinds are "number", "text", "calendar" or "nested".
    """
    files, names = list_files(path)
    if files[0].suffix.lower() == ".parquet":
        kinds = parquet_kinds(files[0], names[0])
        return parquet_head(files[0], names[0])[0], kinds
    n, width = npy_rows(files[0], names[0]).shape
    return n, {f"x{i}": "number" for i in range(width)}


def is_text(path: Path) -> bool:
    """Return whether a file is text by its ending, which may be that of a .gz file."""
    endings = [ending.lower() for ending in path.suffixes]
    packed = endings[-1:] and endings[-1] in (".gz", ".bz2", ".xz", ".zst", ".zip")
    return (endings[:-1] if packed else endings)[-1:] in [[e] for e in TEXT_ENDINGS]


def list_files(path: Path) -> tuple[list[Path], list[str]]:
    """Return the files of a folder, or a single file, and their names for messages."""
    if not path.is_dir():
        return [path], [str(path)]
    files = sorted(
        file
        for file in path.rglob("*")
        if file.suffix.lower() in ENDINGS and file.is_file() and is_visible(file, path)
    )
    if not files:
        raise SourceError(
            f"The folder {path} has no file that ends in {' or '.join(ENDINGS)}: pass "
            "another one."
        )
    return files, [str(file.relative_to(path)) for file in files]


def is_visible(file: Path, folder: Path) -> bool:
    """Return whether no part of a file's path in `folder` starts with a dot or `_`."""
    return not any(
        part.startswith((".", "_")) for part in file.relative_to(folder).parts
    )


def _file_rows(path: Path, name: str, columns: Any, block_rows: int | None) -> Rows:
    ending = path.suffix.lower()
    if is_text(path):
        # Only then: a fit of an array needs no reader of tables.
        from trueaxis._rows.text import TextRows

        return TextRows(path, None, columns, block_rows)
    if ending not in ENDINGS:
        raise SourceError(
            f"{name} does not end in {', '.join(ENDINGS + TEXT_ENDINGS)}, and only "
            "such files can be read block by block. Convert it, or read it into "
            "memory, for instance with pandas."
        )
    if ending == ".npy":
        return npy_rows(path, name, columns, block_rows)
    return ParquetRows(path, name, columns, block_rows)


def _check_same_columns(parts: Sequence[Rows], names: Sequence[str]) -> None:
    first, start = parts[0], 0
    named = next((i for i, part in enumerate(parts) if part.names), 0)
    expected = parts[named].names
    for part, name in zip(parts, names, strict=True):
        where = f"{name} (rows {start:,} to {start + part.shape[0] - 1:,} of all)"
        start += part.shape[0]
        if part.shape[1] != first.shape[1]:
            raise SourceError(
                f"{where} has {part.shape[1]} columns, but {names[0]} has "
                f"{first.shape[1]}: files must have the same columns."
                + _compare_names(part, first)
            )
        if part.names and expected and set(part.names) != set(expected):
            raise SourceError(
                f"{where} does not have the same columns as {names[named]}."
                + _compare_names(part, parts[named])
            )


def _compare_names(part: Rows, first: Rows) -> str:
    if not (part.names and first.names):
        return ""
    lacks = [name for name in first.names if name not in part.names]
    more = [name for name in part.names if name not in first.names]
    text = f" It lacks {lacks[:5]}." if lacks else ""
    text += f" It has {more[:5]} in addition." if more else ""
    return text + " Choose the common ones with columns=[...]."


def _array_rows(source: Any, columns: Any, block_rows: int | None) -> Rows:
    kind = type(source)
    try:
        shape = tuple(int(size) for size in source.shape)
        stored = np.dtype(source.dtype)
        sliceable = hasattr(kind, "__getitem__")
    except (AttributeError, TypeError):
        sliceable = False
    except Exception as error:  # any error of the library that reads
        raise SourceError(
            f"The shape of the {kind.__name__} cannot be read ({type(error).__name__}: "
            f"{error}). Open its file first, and keep it open until the end."
        ) from error
    if not sliceable:
        raise TypeError(
            f"The source is of type {kind.__name__}: pass a path, a list of paths, or "
            "an object with shape, dtype and slices of rows. Pass data in memory, such "
            "as a data frame, directly to fit."
        )
    if len(shape) != 2:
        raise SourceError(
            f"The source is of type {kind.__name__} and has shape {shape}, but a 2D "
            "array is needed: reshape it to rows and columns."
        )
    float_type(stored, f"The {kind.__name__}")
    if isinstance(source, np.memmap):
        mapped = mapped_rows(source, columns, block_rows)
        if mapped is not None:
            return mapped
    elif isinstance(source, np.ndarray) and columns is None:
        if stored == float_type(stored, "").newbyteorder("="):
            return ArrayRows(np.asarray(source), block_rows)
    return SlicedRows(source, columns, block_rows)
