"""Files that rows are read from, and rows of all that can be sliced, such as arrays.

Files are read rather than mapped, since touched pages of a map count as memory in use.
"""

from __future__ import annotations

import os
import tempfile
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.rows import Blocks, Rows, rows_per_block

ARROW_ENDINGS = (".parquet", ".feather", ".arrow")
ENDINGS = (".npy", *ARROW_ENDINGS)
TEXT_ENDINGS = (".csv", ".tsv", ".txt")
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")

GAP_BYTES = 1 << 16  # reading through a gap of this size is cheaper than a seek

_position = threading.Lock()  # of a file, on systems that cannot read at any position


class SourceError(ValueError):
    """Error for rows that cannot be read."""


# ---------------------------------------------------------------- paths and columns


def refuse_odd_paths(path: str) -> None:
    """Raise if a path is a URL or a glob pattern."""
    if "://" in path:
        raise SourceError(
            f"{path} is a URL, but only local files can be read. Download it, or open "
            "it with Dask and pass the collection."
        )
    if any(sign in path for sign in "*?") and not os.path.exists(path):
        raise SourceError(
            f"There is no file {path}, and patterns are not expanded: pass the folder, "
            "or in Python the list sorted(glob.glob(...))."
        )


def is_text(path: Path) -> bool:
    """Return whether a file is text by its ending, which may be that of a .gz file."""
    name = str(path).lower()
    compressed = next((end for end in COMPRESSED if name.endswith(end)), "")
    return name.removesuffix(compressed).endswith(TEXT_ENDINGS)


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


def float_type(stored: np.dtype[Any], name: str) -> np.dtype[Any]:
    """Return the dtype used for computation: float32 stays, all else is float64."""
    if stored.kind not in "biuf":
        raise SourceError(
            f"{name} has values of type {stored}, but only numbers can be analyzed. "
            "Save the numeric columns only."
        )
    single = stored.kind == "f" and stored.itemsize == 4
    return np.dtype(np.float32 if single else np.float64)


def column_positions(
    columns: Sequence[int] | None, width: int, name: str
) -> list[int] | None:
    """Return the indices of chosen columns of a source without column names."""
    if columns is None:
        return None
    try:
        chosen = [range(width)[column] for column in columns]
    except (IndexError, TypeError):
        raise SourceError(
            f"{name} has no columns {list(columns)!r:.80}: its {width} columns have no "
            f"names; choose them by index, 0 to {width - 1}."
        ) from None
    if not chosen:
        raise SourceError(f"No column of {name} is chosen: choose at least one.")
    return chosen


def column_names(
    columns: Sequence[str], kinds: Mapping[str, str], name: str
) -> tuple[str, ...]:
    """Return names of chosen columns; raise unless all are there and have numbers."""
    for column in columns:
        if column not in kinds:
            more = "" if len(kinds) < 13 else f" and {len(kinds) - 12} more"
            raise SourceError(
                f"{name} has no column {column!r}; its {len(kinds)} columns are "
                f"{', '.join(map(repr, [*kinds][:12]))}{more}."
            )
        if kinds[column] != "number":
            raise SourceError(
                f"Column {column!r} of {name} has values of type {kinds[column]}, but "
                "only numbers can be analyzed. Choose those with columns=[...]."
            )
    if not columns:
        raise SourceError(f"No column of {name} is chosen: choose at least one.")
    return tuple(columns)


@dataclass(frozen=True)
class WatchedFile:
    """A file that is read several times and must not change between passes.

    Attributes
    ----------
    path : Path
    name : str
        Name in error messages.
    size, modified, number : int
        Bytes, time in ns, and number in the file system (inode) when it was opened.
    """

    path: Path
    name: str
    size: int
    modified: int
    number: int

    @classmethod
    def of(cls, path: Path, name: str | None = None) -> WatchedFile:
        """Record the state of a file."""
        name = str(path) if name is None else name
        try:
            now = os.stat(path)
        except OSError as error:
            raise SourceError(
                f"{name} cannot be read ({error.strerror}): check the path."
            ) from None
        return cls(path, name, now.st_size, now.st_mtime_ns, now.st_ino)

    def check(self) -> None:
        """Raise if the file is gone or has changed."""
        now = WatchedFile.of(self.path, self.name)
        if now != self:
            raise SourceError(
                f"{self.name} has been modified since it was opened (it had "
                f"{self.size:,} bytes and has {now.size:,}), so its rows could differ "
                "from one pass to the next. Open it again once it is complete."
            )


# ---------------------------------------------------------------- stored arrays


class FileArray:
    """An array in a file that stores numbers as in memory, read by slices of rows.

    Parameters
    ----------
    file : WatchedFile or FileIO
        The file, or a temporary one that is open already.
    offset : int
        Position of the first number, in bytes.
    shape : tuple of two ints
    dtype : dtype
        Type of the stored numbers.
    """

    def __init__(
        self,
        file: WatchedFile | FileIO,
        offset: int,
        shape: tuple[int, int],
        dtype: np.dtype[Any],
    ) -> None:
        self.file, self.offset, self.shape, self.dtype = file, offset, shape, dtype

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """Read neighboring rows."""
        cells = np.empty((rows.stop - rows.start, self.shape[1]), self.dtype)
        position = self.offset + rows.start * self.shape[1] * self.dtype.itemsize
        if isinstance(self.file, FileIO):
            _read_at(self.file, cells, position)
            return cells
        self.file.check()
        with open(self.file.path, "rb", buffering=0) as file:
            _read_at(file, cells, position)
        self.file.check()
        return cells


def _read_at(file: FileIO, out: NDArray[Any], position: int) -> None:
    """Fill an array with the bytes at a position; a read may return less."""
    view = out.reshape(-1).view("u1").data
    while len(view):
        if hasattr(os, "preadv"):  # threads share the file, but not the position
            n = os.preadv(file.fileno(), [view], position)
        else:
            with _position:
                file.seek(position)
                n = file.readinto(view) or 0
        if not n:
            raise SourceError(
                f"{file.name} ends at byte {position:,}, but {len(view):,} more bytes "
                "are needed: it was truncated while it was read. Open it again once it "
                "is complete."
            )
        view, position = view[n:], position + n


class SlicedRows(Rows):
    """Rows of anything that can be sliced, such as a file, or an HDF5 or Zarr array.

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
        self.chunk = self._chunk_rows()
        least = rows_per_block((n, self.width), self.dtype)
        self.block_rows = block_rows or self.chunk * -(-least // self.chunk)

    def blocks(self) -> Blocks:
        """Yield (index of the first row, block), in order."""
        for first in range(0, self.shape[0], self.block_rows):
            yield first, self._read(first, min(first + self.block_rows, self.shape[0]))

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices, reading little beyond them."""
        if self.chunk > 1:
            return super().take(index)
        order = np.argsort(index, kind="stable")
        wanted = index[order]
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        gap = max(1, GAP_BYTES // (max(1, self.width) * self.stored.itemsize))
        far = (np.diff(wanted) > gap) | (np.diff(wanted // self.block_rows) > 0)
        for run in np.split(order, np.flatnonzero(far) + 1) if len(index) else ():
            first = int(index[run[0]])
            out[run] = self._read(first, int(index[run[-1]]) + 1)[index[run] - first]
        return out

    def _read(self, first: int, last: int) -> NDArray[Any]:
        try:
            block = np.asarray(self.source[first:last])
            if block.shape != (last - first, self.width):
                raise ValueError(f"their shape is {block.shape}")
        except SourceError:
            raise
        except Exception as error:  # any error of the library that reads
            raise SourceError(
                f"Reading rows {first:,} to {last - 1:,} of {self.name} failed "
                f"({type(error).__name__}: {error}). Keep it open and unchanged until "
                "the end."
            ) from error
        if self.columns is not None:
            block = block[:, self.columns]
        return np.ascontiguousarray(block, dtype=self.dtype)

    def _chunk_rows(self) -> int:
        chunks: Any = getattr(self.source, "chunks", None) or (1,)
        regular = isinstance(chunks[0], (int, np.integer))
        return max(1, min(int(chunks[0]), self.shape[0])) if regular else 1


def file_of_map(array: np.memmap[Any, Any]) -> FileArray | None:
    """Return the array in the file of a memory map; None if that may differ."""
    whole = array
    while isinstance(whole.base, np.memmap):
        whole = whole.base
    ordered = array.flags.c_contiguous and array.size
    if array.mode != "r" or not ordered or whole.filename is None:
        return None
    # A view keeps the `offset` of the map that it is a part of.
    offset = whole.offset + array.ctypes.data - whole.ctypes.data
    file = WatchedFile.of(Path(whole.filename))
    return FileArray(file, offset, (len(array), array.shape[1]), array.dtype)


def decoded_rows(
    blocks: Iterable[NDArray[Any]],
    width: int,
    dtype: np.dtype[Any],
    block_rows: int | None = None,
) -> SlicedRows:
    """Write blocks of rows to a temporary file, in TMPDIR; return its rows.

    The file has no name (on Windows, it is deleted with its last handle), so nothing is
    left behind, whatever happens to the process.
    """
    file: Any = tempfile.TemporaryFile(prefix="trueaxis-", buffering=0)
    array = FileArray(file, 0, (0, width), dtype)
    weakref.finalize(array, file.close)
    try:
        n = 0
        for block in blocks:
            view = np.ascontiguousarray(block).reshape(-1).view("u1").data
            while len(view):  # a write may take less than was given
                view = view[file.write(view) :]
            n += len(block)
    except OSError as error:
        raise SourceError(
            f"Writing decoded rows in {tempfile.gettempdir()} failed "
            f"({error.strerror}). Set TMPDIR to a folder with more space."
        ) from error
    array.shape = n, width
    return SlicedRows(array, None, block_rows, "The temporary file")
