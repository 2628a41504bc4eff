"""`open_rows`, which picks the reader for a file, a list of files or an array-like."""

from __future__ import annotations

import os
import tokenize
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trueaxis.data.arrow import (
    ArrowFile,
    ArrowRows,
    OftenReadRows,
    arrow_kind,
    data_columns,
)
from trueaxis.data.dask import dask_rows, is_dask
from trueaxis.data.files import (
    ENDINGS,
    TEXT_ENDINGS,
    BinaryRows,
    SourceError,
    WatchedFile,
    column_positions,
    float_type,
    is_text,
    list_files,
    mapped_rows,
    refuse_odd_paths,
)
from trueaxis.data.memory import refuse_large
from trueaxis.data.rows import ArrayRows, Blocks, Rows, StackedRows, rows_per_block
from trueaxis.data.threads import own_floats

CHUNK_BYTES = 1 << 24  # maximum to read at a time from an array stored in chunks


@own_floats
def open_rows(
    source: Any,
    *,
    columns: Sequence[str] | Sequence[int] | None = None,
    block_rows: int | None = None,
) -> Rows:
    """Open rows that need not fit in memory, for use in `fit`, `predict` and others.

    Parameters
    ----------
    source : path, list of paths, array-like, or Dask collection
        A .npy, Parquet or Feather (Arrow) file; a folder of such files (in the order of
        their names), or a list of them, with the same columns; a CSV, TSV or text file,
        which may be compressed and is decoded once to a temporary file; a
        `numpy.memmap`; an HDF5 or Zarr array, or any object with `shape`, `dtype` and
        slices of rows; a Dask array or data frame.
    columns : sequence of str or int, optional
        Columns to read: names for Parquet files and data frames, indices otherwise.
    block_rows : int, optional
        Number of rows to read at a time. The default is 1 or 2 MB of rows.

    Returns
    -------
    Rows
        The opened source; only its metadata have been read.

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
    whole = isinstance(block_rows, (int, np.integer))
    if block_rows is not None and not (whole and block_rows >= 1):
        raise ValueError(
            f"block_rows={block_rows!r} is not a number of rows: pass an integer of at "
            "least 1, or None."
        )
    if isinstance(columns, (str, bytes)):
        raise TypeError(f"columns={columns!r} is a string: pass a list of names.")
    if isinstance(source, Rows):
        if not (columns is None and block_rows is None):
            raise TypeError(
                "The source is open already: pass columns and block_rows when you open "
                "it."
            )
        return source
    if is_dask(source):
        return dask_rows(source, columns)
    if isinstance(source, (str, os.PathLike)):
        refuse_odd_paths(str(source))
        rows = _files_rows(*list_files(Path(source)), columns, block_rows)
    elif isinstance(source, (list, tuple)):
        if not source or not all(isinstance(s, (str, os.PathLike)) for s in source):
            raise TypeError(
                f"The list has {len(source)} items, not all of which are paths: pass "
                "paths of .npy or Parquet files, or an array."
            )
        paths = [Path(path) for path in source]
        rows = _files_rows(paths, list(map(str, source)), columns, block_rows)
    else:
        rows = _array_rows(source, columns, block_rows)
    parts = rows.parts if isinstance(rows, StackedRows) else [rows]
    decoded = any(isinstance(part, ArrowRows) for part in parts)
    return OftenReadRows(rows) if decoded else rows


def _files_rows(
    files: Sequence[Path], names: Sequence[str], columns: Any, block_rows: int | None
) -> Rows:
    def opened(path: Path, name: str, columns: Any) -> Rows:
        # The working directory may change, and workers may have another one.
        path, ending = path.absolute(), path.suffix.lower()
        if is_text(path):
            from trueaxis.data.text import TextRows

            return TextRows(path, None, columns, block_rows)
        if ending not in ENDINGS:
            raise SourceError(
                f"{name} does not end in {', '.join(ENDINGS + TEXT_ENDINGS)}, and only "
                "such files can be read block by block. Convert it, or read it into "
                "memory, for instance with pandas."
            )
        kind = npy_rows if ending == ".npy" else ArrowRows
        return kind(path, name, columns, block_rows)

    parts = [opened(*each, columns) for each in zip(files, names, strict=True)]
    first = next((i for i, part in enumerate(parts) if part.names), 0)
    order = parts[first].names
    for i, (part, path, name) in enumerate(zip(parts, files, names, strict=True)):
        if part.shape[1] != parts[0].shape[1]:
            raise SourceError(
                f"{name} has {part.shape[1]} columns, but {names[0]} has "
                f"{parts[0].shape[1]}: files must have the same columns."
                + _compare_names(part, parts[0])
            )
        if part.names and order and set(part.names) != set(order):
            raise SourceError(
                f"{name} does not have the same columns as {names[first]}."
                + _compare_names(part, parts[first])
            )
        if part.names not in (order, None):  # the same ones in a different order
            parts[i] = opened(path, name, order)
    return parts[0] if len(parts) == 1 else StackedRows(parts)


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
    used = float_type(stored, f"The {kind.__name__}")
    mapped = isinstance(source, np.memmap) and mapped_rows(source, columns, block_rows)
    if mapped:
        return mapped
    if isinstance(source, np.ndarray) and columns is None and stored == used:
        return ArrayRows(np.asarray(source), block_rows)
    return SlicedRows(source, columns, block_rows)


def describe_file(path: Path) -> tuple[int, dict[str, str]]:
    """Return the number of rows of a .npy, Parquet or Feather file, and its columns.

    For a folder, they are those of its first file. Columns without names are called x0,
    x1, ... Their kinds are "number", "text", "calendar" or "nested".
    """
    files, names = list_files(path)
    if files[0].suffix.lower() == ".npy":
        n, width = npy_rows(files[0], names[0]).shape
        return n, {f"x{i}": "number" for i in range(width)}
    file = ArrowFile(WatchedFile.of(files[0], names[0]))
    kinds = {field.name: arrow_kind(field.type) for field in file.schema}
    return file.n_rows, {name: kinds[name] for name in data_columns(file.schema)}


def npy_rows(
    path: Path,
    name: str,
    columns: Sequence[int] | None = None,
    block_rows: int | None = None,
) -> BinaryRows | SlicedRows:
    """Open the rows of a .npy file."""
    watched = WatchedFile.of(path, name)
    try:
        with open(path, "rb") as file:
            version = np.lib.format.read_magic(file)
            header = np.lib.format.read_array_header_1_0
            if version != (1, 0):
                header = np.lib.format.read_array_header_2_0
            shape, by_column, stored = header(file)
            offset = file.tell()
    except (OSError, ValueError, tokenize.TokenError) as error:
        raise SourceError(
            f"{name} ({watched.size:,} bytes) is not a .npy file ({error}): write it "
            "with numpy.save."
        ) from None
    if len(shape) != 2:
        raise SourceError(
            f"{name} contains an array of shape {shape}, but a 2D array is needed: "
            "reshape it to rows and columns."
        )
    if by_column and shape[1] > 1:
        return SlicedRows(np.load(path, mmap_mode="r"), columns, block_rows, name)
    return BinaryRows(watched, offset, shape, stored, columns, block_rows)


class SlicedRows(Rows):
    """Rows of an object that supports slicing, such as an HDF5 or Zarr array.

    Parameters
    ----------
    source : object
        With `shape`, `dtype` and slices of rows. If it has `chunks`, whole chunks are
        read, since reading a part of a chunk decodes all of it.
    columns : sequence of int, optional
        Columns to read.
    block_rows : int, optional
    name : str, optional
        Name in error messages.
    """

    def __init__(
        self,
        source: Any,
        columns: Sequence[int] | None = None,
        block_rows: int | None = None,
        name: str | None = None,
    ) -> None:
        self.source = source
        n, self.width = (int(size) for size in source.shape)
        label = getattr(source, "name", None)
        self.name = name or type(source).__name__ + (f" {label}" if label else "")
        self.columns = column_positions(columns, self.width, self.name)
        self.stored = np.dtype(source.dtype)
        self.dtype = float_type(self.stored, self.name)
        self.shape = (n, self.width if columns is None else len(columns))
        self.block_rows = block_rows or self._whole_chunks(n)

    def blocks(self) -> Blocks:
        """Yield (index of the first row, block), in order."""
        for first in range(0, self.shape[0], self.block_rows):
            last = min(first + self.block_rows, self.shape[0])
            try:
                block = np.asarray(self.source[first:last])
                if block.shape != (last - first, self.width):
                    raise ValueError(f"their shape is {block.shape}")
            except Exception as error:  # any error of the library that reads
                raise SourceError(
                    f"Reading rows {first:,} to {last - 1:,} of {self.name} failed "
                    f"({type(error).__name__}: {error}). Keep it open and unchanged "
                    "until the end."
                ) from error
            if self.columns is not None:
                block = block[:, self.columns]
            yield first, block.astype(self.dtype, copy=False)

    def place(self, row: int) -> str:
        """Describe where a row is."""
        return f"{self.name}, row {row:,}"

    def _whole_chunks(self, n: int) -> int:
        cached = rows_per_block((n, self.width), self.dtype)
        chunks = getattr(self.source, "chunks", None)
        if not chunks or not isinstance(chunks[0], (int, np.integer)):
            return cached
        chunk = min(int(chunks[0]), max(1, n))
        chunk_bytes = chunk * max(1, self.width) * self.dtype.itemsize
        refuse_large(
            chunk_bytes,
            f"A chunk of {self.name} ({chunk:,} rows)",
            "Store it in smaller chunks, or pass block_rows to read parts of them.",
        )
        return chunk * min(max(1, CHUNK_BYTES // chunk_bytes), -(-cached // chunk))
