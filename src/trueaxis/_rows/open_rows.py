"""OPEN rows that are larger than memory: files, lists of files, whatever slices.

`open_rows` picks the reader. `raw` reads plain numbers, `parquet` decodes, `spool`
keeps what was decoded.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trueaxis._rows.base import ArrayRows, Rows
from trueaxis._rows.binary import float_type, mapped_rows, npy_rows
from trueaxis._rows.dask.collections import dask_rows, is_dask, read_by_workers
from trueaxis._rows.parquet import ParquetRows, parquet_head
from trueaxis._rows.sliced import SlicedRows
from trueaxis._rows.spooled import SpooledRows
from trueaxis._rows.stacked import StackedRows
from trueaxis._rows.watched_file import SourceError, refuse_odd_paths

ENDINGS = (".npy", ".parquet")


def open_rows(
    source: Any,
    *,
    columns: Sequence[str] | Sequence[int] | None = None,
    spool: bool = True,
    block_rows: int | None = None,
    client: Any = None,
) -> Rows:
    """Open rows that need not fit in memory, for `fit`, `transform`, `predict`...

    Parameters
    ----------
    source : path, list of paths, array-like, or Dask collection
        A .npy or Parquet file; a folder of such files (in the order of their names),
        or a list of them, with the same columns; a `numpy.memmap`; an HDF5 or Zarr
        array, or any object with `shape`, `dtype` and slices of rows; a Dask array or
        data frame.
    columns : sequence of str or int, optional
        Those to read: names in Parquet files, numbers otherwise.
    spool : bool, default=True
        Parquet that is read more than three times, as by methods that iterate, is
        decoded to a temporary file of plain numbers (in TMPDIR) that goes when the work
        is done; with False it is decoded anew in every pass.
    block_rows : int, optional
        Rows to read at a time; if not given about 1 MB of them, or 64 MB by workers.
    client : distributed.Client, optional
        Files are read by its workers, which must see them under the same paths.

    Returns
    -------
    Rows
        Nothing has been read yet but what the files say about themselves. In a `with`
        statement a spool serves all that is done inside; else it is made anew by every
        `fit` that needs one.

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
            f"block_rows={block_rows!r} is no number of rows: pass a whole number of "
            "at least 1, or None."
        )
    if isinstance(columns, (str, bytes)):
        raise TypeError(f"columns={columns!r} is one name: pass a list of names.")
    if isinstance(source, Rows):
        if not (columns is block_rows is client is None):
            raise TypeError(
                "The source is open already: give columns, block_rows and client when "
                "it is opened first."
            )
        return source
    if is_dask(source):
        return dask_rows(source, columns, client)
    if isinstance(source, (str, os.PathLike)):
        refuse_odd_paths(str(source))
        files, names = files_of(Path(source))
    elif isinstance(source, (list, tuple)):
        if not source or not all(isinstance(s, (str, os.PathLike)) for s in source):
            raise TypeError(
                f"The list has {len(source)} items, not all of them paths: pass paths "
                "of .npy or Parquet files, or an array."
            )
        files, names = [Path(path) for path in source], [str(path) for path in source]
    else:
        rows = _array_rows(source, columns, block_rows)
        return rows if client is None else read_by_workers(rows, client, block_rows)
    # The folder that we are in may change, and workers may have begun elsewhere.
    files = [path.absolute() for path in files]
    parts = [
        _file_rows(path, name, columns, block_rows)
        for path, name in zip(files, names, strict=True)
    ]
    _refuse_different(parts, names)
    wanted = next((part.names for part in parts if part.names), None)
    if columns is None and wanted is not None:
        # Files may have their columns in another order than the first that names them.
        parts = [
            part
            if part.names in (wanted, None)
            else _file_rows(path, name, wanted, block_rows)
            for part, path, name in zip(parts, files, names, strict=True)
        ]
    rows = parts[0] if len(parts) == 1 else StackedRows(parts)
    if client is not None:
        return read_by_workers(rows, client, block_rows)
    decoded = any(isinstance(part, ParquetRows) for part in parts)
    return SpooledRows(rows, block_rows) if spool and decoded else rows


def head(path: Path) -> tuple[int, list[str]]:
    """Number of rows and names of the columns of a file, or of a folder's first.

    Columns without names are x0, x1, ...; those of Parquet need not be numbers.
    """
    files, names = files_of(path)
    if files[0].suffix.lower() == ".parquet":
        return parquet_head(files[0], names[0])
    n, width = npy_rows(files[0], names[0]).shape
    return n, [f"x{i}" for i in range(width)]


def files_of(path: Path) -> tuple[list[Path], list[str]]:
    """The files of a folder, or one file, and their names in messages."""
    if not path.is_dir():
        return [path], [str(path)]
    found = sorted(
        file
        for file in path.rglob("*")
        if file.suffix.lower() in ENDINGS and file.is_file() and in_sight(file, path)
    )
    if not found:
        raise SourceError(
            f"The folder {path} has no file that ends in {' or '.join(ENDINGS)}: name "
            "another one."
        )
    return found, [str(file.relative_to(path)) for file in found]


def in_sight(file: Path, folder: Path) -> bool:
    """Whether neither a file nor a folder on the way to it is hidden or provisional."""
    return not any(
        part.startswith((".", "_")) for part in file.relative_to(folder).parts
    )


def _file_rows(path: Path, name: str, columns: Any, block_rows: int | None) -> Rows:
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise SourceError(
            f"{name} ends in neither {' nor '.join(ENDINGS)}, and only such files are "
            "read block by block. Convert it, or read it into memory, for instance "
            "with pandas.read_csv."
        )
    if ending == ".npy":
        return npy_rows(path, name, columns, block_rows)
    return ParquetRows(path, name, columns, block_rows)


def _refuse_different(parts: Sequence[Rows], names: Sequence[str]) -> None:
    first, start = parts[0], 0
    named = next((i for i, part in enumerate(parts) if part.names), 0)
    known = parts[named].names
    for part, name in zip(parts, names, strict=True):
        where = f"{name} (rows {start:,} to {start + part.shape[0] - 1:,} of all)"
        start += part.shape[0]
        if part.shape[1] != first.shape[1]:
            raise SourceError(
                f"{where} has {part.shape[1]} columns, but {names[0]} has "
                f"{first.shape[1]}: files must have the same columns."
                + _missing(part, first)
            )
        if part.names and known and set(part.names) != set(known):
            raise SourceError(
                f"{where} has other columns than {names[named]}."
                + _missing(part, parts[named])
            )


def _missing(part: Rows, first: Rows) -> str:
    if not (part.names and first.names):
        return ""
    lacks = [name for name in first.names if name not in part.names]
    more = [name for name in part.names if name not in first.names]
    told = f" It lacks {lacks[:5]}." if lacks else ""
    told += f" It has {more[:5]} beyond them." if more else ""
    return told + " Choose the common ones with columns=[...]."


def _array_rows(source: Any, columns: Any, block_rows: int | None) -> Rows:
    kind = type(source)
    try:
        shape = tuple(int(size) for size in source.shape)
        stored = np.dtype(source.dtype)
        sliceable = hasattr(kind, "__getitem__")
    except (AttributeError, TypeError):
        sliceable = False
    except Exception as error:  # of whatever library reads
        raise SourceError(
            f"The {kind.__name__} does not tell its shape ({type(error).__name__}: "
            f"{error}). Open its file first, and keep it open until the end."
        ) from error
    if not sliceable:
        raise TypeError(
            f"The source is a {kind.__name__}: pass a path, a list of paths, or an "
            "object with shape, dtype and slices of rows. What is in memory, such as a "
            "data frame, goes to fit as it is."
        )
    if len(shape) != 2:
        raise SourceError(
            f"The source is a {kind.__name__} of shape {shape}: rows and columns are "
            "needed. Reshape it to two dimensions."
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
