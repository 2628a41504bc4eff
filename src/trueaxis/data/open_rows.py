"""`open_rows`, which picks the reader for a file, a list of files or an array-like."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.arrow import ArrowFile, ArrowRows, arrow_kind, data_columns
from trueaxis.data.dask import dask_rows, is_dask
from trueaxis.data.files import (
    ENDINGS,
    TEXT_ENDINGS,
    SlicedRows,
    SourceError,
    WatchedFile,
    decoded_rows,
    file_of_map,
    float_type,
    is_text,
    list_files,
    refuse_odd_paths,
)
from trueaxis.data.rows import ArrayRows, Blocks, Rows, row_starts
from trueaxis.data.threads import ignore_float_errors

# A default fit of DSWL, which reads its sample and makes two passes, would not recover
# the cost of writing a file.
READS_BEFORE_DECODING = 4


@ignore_float_errors
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
    whole = block_rows is None or isinstance(block_rows, (int, np.integer))
    if not whole or (block_rows is not None and block_rows < 1):
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
        return _files_rows(*list_files(Path(source)), columns, block_rows)
    if not isinstance(source, (list, tuple)):
        return _array_rows(source, columns, block_rows)
    if not source or not all(isinstance(each, (str, os.PathLike)) for each in source):
        raise TypeError(
            f"The list has {len(source)} items, not all of which are paths: pass paths "
            "of .npy or Parquet files, or an array."
        )
    return _files_rows([*map(Path, source)], [*map(str, source)], columns, block_rows)


def _files_rows(
    files: Sequence[Path], names: Sequence[str], columns: Any, block_rows: int | None
) -> Rows:
    """Open files with the same columns, in the order in which the first has them."""
    parts: list[Rows] = []
    for path, name in zip(files, names, strict=True):
        part = _file_rows(path, name, columns, block_rows)
        first = parts[0] if parts else part
        given, wanted = ({*(rows.names or ())} for rows in (part, first))
        if part.shape[1] != first.shape[1] or given != wanted:
            differ = ", ".join(map(repr, sorted(given ^ wanted)[:10]))
            raise SourceError(
                f"{name} has {part.shape[1]} columns and {names[0]} {first.shape[1]}, "
                f"which are not the same{differ and f' (only one has {differ})'}: "
                "choose common ones with columns=[...]."
            )
        if part.names != first.names:
            part = _file_rows(path, name, first.names, block_rows)
        parts.append(part)
    return FileRows(parts)


def _file_rows(path: Path, name: str, columns: Any, block_rows: int | None) -> Rows:
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


def _array_rows(
    source: Any, columns: Any, block_rows: int | None, name: str | None = None
) -> Rows:
    kind = name or f"The {type(source).__name__}"
    try:
        shape, stored = tuple(map(int, source.shape)), np.dtype(source.dtype)
        source.__getitem__  # noqa: B018
    except (AttributeError, TypeError):
        raise TypeError(
            f"The source is of type {type(source).__name__}: pass a path, a list of "
            "paths, or an object with shape, dtype and slices of rows. Pass data in "
            "memory, such as a data frame, directly to fit."
        ) from None
    if len(shape) != 2:
        raise SourceError(
            f"{kind} has shape {shape}, but a 2D array is needed: reshape it to rows "
            "and columns."
        )
    floats = columns is None and stored == float_type(stored, kind)
    if isinstance(source, np.memmap):
        file = file_of_map(source)
        if file is not None:
            source, name = file, name or str(source.filename)
    elif isinstance(source, np.ndarray) and floats:
        return ArrayRows(np.asarray(source), block_rows)
    return SlicedRows(source, columns, block_rows, name)


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
) -> Rows:
    """Open the rows of a .npy file."""
    watched = WatchedFile.of(path, name)
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # NumPy raises anything for odd bytes
        raise SourceError(
            f"{name} ({watched.size:,} bytes) is not a complete .npy file ({error}): "
            "write it with numpy.save."
        ) from None
    return _array_rows(array, columns, block_rows, name)


class FileRows(Rows):
    """Rows of files, one after another.

    Inside a `with` statement, as in a fit, rows that are slow to decode are written to
    a temporary file of plain numbers when they are read a fifth time.
    """

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.parts = parts
        self.names = parts[0].names
        self.starts = row_starts([part.shape[0] for part in parts])
        self.shape = (int(self.starts[-1]), parts[0].shape[1])
        filled = [part for part in parts if part.shape[0]]
        self.dtype = np.result_type(*(part.dtype for part in filled or parts))
        self.slow = any(isinstance(part, ArrowRows) for part in parts)
        self.close()

    def blocks(self) -> Blocks:
        """Yield (index of the first row, block), in order."""
        decoded = self._often_read()
        return self._decode() if decoded is None else decoded.blocks()

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices into memory, in the order of `index`."""
        decoded = self._often_read()
        if decoded is not None:
            return decoded.take(index)
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        owner = self.starts.searchsorted(index, side="right") - 1
        for number in np.unique(owner):
            mine = np.flatnonzero(owner == number)
            out[mine] = self.parts[number].take(index[mine] - self.starts[number])
        return out

    def place(self, row: int) -> str:
        """Describe where a row is."""
        number = int(self.starts.searchsorted(row, side="right")) - 1
        within = self.parts[number].place(row - int(self.starts[number]))
        return within + (f" (row {row:,} of all)" if len(self.parts) > 1 else "")

    def close(self) -> None:
        """Remove the temporary file; later reads decode the rows again."""
        self._decoded: Rows | None = None
        self._reads = 0

    def __getstate__(self) -> dict[str, Any]:
        # The temporary file stays in this process.
        return vars(self) | {"_decoded": None, "_reads": 0, "_holders": 0}

    def _often_read(self) -> Rows | None:
        # No lock: two threads at worst decode twice, and a fork cannot inherit a lock.
        self._reads += 1
        often = self.slow and self._reads > READS_BEFORE_DECODING and self._holders > 0
        if often and self._decoded is None:
            size = self.shape[0] * self.shape[1] * self.dtype.itemsize
            if size < shutil.disk_usage(gettempdir()).free:
                blocks = (block for _, block in self._decode())
                self._decoded = decoded_rows(blocks, self.shape[1], self.dtype)
        return self._decoded

    def _decode(self) -> Blocks:
        for start, part in zip(self.starts.tolist(), self.parts, strict=False):
            for first, block in part.blocks():
                yield start + first, block.astype(self.dtype, copy=False)
