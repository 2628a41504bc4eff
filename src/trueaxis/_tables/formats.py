"""Files of all formats: which one a file has, and its columns.

Text goes to `text`; this module unpacks compressed files and reads the other formats.
"""

from __future__ import annotations

import bz2
import errno
import functools
import gzip
import io
import lzma
import os
import stat
import struct
import sys
import tokenize
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.column import Column, as_objects, floats_of_arrow, quote
from trueaxis._tables.parsing.cells import TableError
from trueaxis._tables.parsing.numbers import Rules
from trueaxis.data.arrow import data_columns
from trueaxis.data.memory import TooLarge, shown_size

STANDARD = "-"
MOST_PIPED = 1 << 28  # bytes of a pipe or device, which may never end
# A compressed file may unpack to so many times its size, or to MOST_PIPED bytes: text
# of numbers rarely shrinks to a tenth.
MOST_EXPANSION = 32
_CHUNK_BYTES = 1 << 20
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")
TEXT = (".csv", ".tsv", ".txt", ".dat", ".data", "")
JSON = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
ARROW = (".feather", ".arrow", ".ipc")
SHEETS = (".xlsx", ".xls", ".xlsb", ".xlsm", ".ods")
NUMPY = (".npy", ".npz")
# As in `persistence`, which is not imported: tables do not need models.
MODEL_HEADER = "header.json"
_STRINGS = ("string", "large_string", "string_view")
_NOT_UNPACKED = (
    OSError, EOFError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile
)  # fmt: skip
# What NumPy and zipfile raise for files whose content does not match their suffix.
_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError,
    NotImplementedError, RuntimeError, TypeError, ValueError, tokenize.TokenError,
    OverflowError,
)  # fmt: skip


def ending_of(name: str) -> str:
    """Return the ending that tells the format, without that of a compression.

    Examples
    --------
    >>> from trueaxis._tables.formats import ending_of
    >>> ending_of("pumps.CSV.gz"), ending_of("-")
    ('.csv', '')
    """
    if name == STANDARD:
        return ""
    path = Path(name)
    if path.suffix.lower() in COMPRESSED:
        path = Path(path.stem)
    return path.suffix.lower()


def compression_of(name: str) -> str:
    """Return the ending of a compression; "" if there is none."""
    ending = Path(name).suffix.lower()
    return ending if name != STANDARD and ending in COMPRESSED else ""


def display_name(name: str) -> str:
    """Return what a file is called in messages."""
    return "standard input" if name == STANDARD else name


def read_bytes(name: str) -> bytes:
    """Return the content of a file, unpacked, or of standard input."""
    if name == STANDARD:
        return _read_stream(sys.stdin.buffer, name)
    if not compression_of(name):
        with open(name, "rb") as file:
            return _read_stream(file, name)
    size = os.stat(name).st_size
    most = max(MOST_PIPED, MOST_EXPANSION * size)
    try:
        with _unpacked(name) as stream:
            content = _read_at_most(stream, most)
    except _NOT_UNPACKED as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk failed, not the format
        raise TableError(
            f"{name} cannot be unpacked ({error}): it is damaged or incomplete. Get or "
            "write it again."
        ) from None
    if content is None:
        raise TableError(
            f"{name} has {shown_size(size)}, and unpacks to more than "
            f"{shown_size(most)}: so much is not unpacked in memory. If that is meant, "
            "unpack it to a file, and pass that."
        )
    return content


def _read_stream(stream: IO[bytes], name: str) -> bytes:
    """Return all bytes of a file, pipe or device; raise if these may never end."""
    if isinstance(stream, io.BytesIO) or _is_file(stream):  # both end
        return stream.read()
    content = _read_at_most(stream, MOST_PIPED)
    if content is None:
        raise TableError(
            f"{display_name(name)} is not a file, and has not ended after "
            f"{shown_size(MOST_PIPED)}: what is not a file is held in memory, up to "
            "that. Save it to a file, and pass that."
        )
    return content


def _read_at_most(stream: IO[bytes], most: int) -> bytes | None:
    """Return all bytes of a stream; None if there are more than that."""
    chunks, size = [], 0
    for chunk in iter(functools.partial(stream.read, _CHUNK_BYTES), b""):
        chunks.append(chunk)
        size += len(chunk)
        if size > most:
            return None
    return b"".join(chunks)


def _is_file(stream: IO[bytes]) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except OSError:  # bytes in memory
        return False


@contextmanager
def _unpacked(name: str) -> Iterator[IO[bytes]]:
    """Open a compressed file, as a stream of what is in it."""
    ending = compression_of(name)
    if ending == ".zip":
        with zipfile.ZipFile(name) as archive:
            with archive.open(_only_file(archive)) as table:
                yield table
    elif ending == ".zst":
        pyarrow = require("pyarrow", name, "is compressed by Zstandard", "unpack it")
        with (
            pyarrow.OSFile(name) as file,
            pyarrow.CompressedInputStream(file, "zstd") as stream,
        ):
            yield stream
    else:
        unpack: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}[ending]
        with unpack(name, "rb") as stream:
            yield stream


def _only_file(archive: zipfile.ZipFile) -> str:
    files = [
        info.filename
        for info in archive.infolist()
        if not info.is_dir() and not info.filename.startswith("__MACOSX/")
    ]
    if len(files) != 1:
        listed = f": {', '.join(files[:5])}" if files else ""
        raise TableError(
            f"{archive.filename} has {len(files)} files{listed}. Unpack it, and pass "
            "the table."
        )
    return files[0]


def require(module: str, name: str, fact: str, remedy: str) -> Any:
    """Import a package that reads a format; raise if it is not installed."""
    import importlib

    package = {"python_calamine": "python-calamine"}.get(module, module)
    try:
        return importlib.import_module(module)
    except ImportError:
        raise TableError(
            f"{name} {fact}, but {package} is not installed: pip install "
            f"'trueaxis[io]', or {remedy}."
        ) from None


# ---------------------------------------------------------------- Arrow


def read_arrow(name: str) -> Any:
    """Read a Parquet or Feather file as a table of pyarrow."""
    parquet = ending_of(name) in PARQUET
    what = "is a Parquet file" if parquet else "is an Arrow file"
    pyarrow = require("pyarrow", name, what, "save it as CSV")
    content = pyarrow.py_buffer(read_bytes(name)) if compression_of(name) else None
    try:
        # Opened here, for clearer errors than those of pyarrow.
        with open(name, "rb") as file:
            source = pyarrow.BufferReader(content) if content is not None else file
            if parquet:
                require("pyarrow.parquet", name, what, "save it as CSV")
                return pyarrow.parquet.ParquetFile(source).read()
            return _read_ipc(pyarrow, source)
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk failed, not the format
        if isinstance(error, MemoryError):
            raise TooLarge(
                f"{name} asks for more memory than there is ({error}): if it is not "
                "damaged, read some of its columns with another program, and save them."
            ) from None
        raise TableError(
            f"{name} is not a complete {'Parquet' if parquet else 'Arrow'} file "
            f"({str(error).strip()}): write it again."
        ) from None


def _read_ipc(pyarrow: Any, source: Any) -> Any:
    import pyarrow.ipc as ipc

    try:
        return ipc.open_file(source).read_all()
    except pyarrow.ArrowInvalid:
        source.seek(0)
        try:
            return ipc.open_stream(source).read_all()
        except pyarrow.ArrowInvalid:
            from pyarrow import feather  # version 1 of the format

            source.seek(0)
            return feather.read_table(source)


def columns_of_arrow(table: Any, name: str, rules: Rules) -> list[Column]:
    """Return the columns of a table of pyarrow, except the index of a data frame."""
    if not table.column_names:
        raise TableError(f"{name} has no columns: there is nothing to analyze.")
    repeated, times = Counter(table.column_names).most_common(1)[0]
    if times > 1:
        raise TableError(
            f"{name} has {times} columns named {repeated!r}: give each column its own "
            "name."
        )
    data = {*data_columns(table.schema), *rules.verbatim}
    names = [each for each in table.column_names if each in data]
    rules.decide(
        {
            each: table.column(each).to_pylist()
            for each in names
            if str(table.schema.field(each).type) in _STRINGS
        }
    )
    return [column_of_arrow(each, table.column(each), rules) for each in names]


def column_of_arrow(name: str, cells: Any, rules: Rules) -> Column:
    """Return a column of pyarrow as numbers, or as Python's objects."""
    from pyarrow import compute, types

    if name in rules.verbatim:  # without a detour over floats
        names = ["" if cell is None else str(cell) for cell in cells.to_pylist()]
        return Column(name, "text", np.array(names, dtype=object))
    kind = cells.type
    if types.is_dictionary(kind):
        cells = compute.cast(cells, kind.value_type)
        kind = cells.type
    numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    if any(is_kind(kind) for is_kind in numeric):
        floats = compute.cast(cells, "float64", safe=False)
        parts = [floats_of_arrow(chunk) for chunk in floats.chunks]
        return Column(name, "number", np.concatenate([np.zeros(0), *parts]))
    if types.is_null(kind):
        return Column(name, "number", np.full(len(cells), np.nan))
    if str(kind) in _STRINGS:
        return rules.column(name, cells.to_pylist())
    calendar = types.is_temporal(kind)
    return Column(
        name, "calendar" if calendar else "nested", as_objects(cells.to_pylist())
    )


# ---------------------------------------------------------------- NumPy


def read_numpy(path: Path) -> NDArray[Any]:
    """Read the only table in a .npy or .npz file."""
    try:
        array = _load(path)
    except TableError:
        raise
    except (*_UNREADABLE, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise  # the disk failed; damaged archives have impossible positions
        if "Object arrays" in str(error):
            raise TableError(
                f"{path} holds Python objects instead of plain numbers: save it as an "
                "array of floats."
            ) from None
        raise TableError(
            f"{path} is damaged, or was not written by numpy.save or numpy.savez: save "
            "it again; if it is text, rename it to end in .csv, .tsv or .txt."
        ) from None
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise TableError(
            f"{path} holds an array of {array.dtype} with {array.ndim} dimensions: "
            "save numbers in two dimensions, rows and columns."
        )
    return array


def _load(path: Path) -> NDArray[Any]:
    with path.open("rb") as file:  # NumPy would leave a damaged file open
        content = np.load(file, allow_pickle=False)
        if isinstance(content, np.ndarray):
            return content
        if MODEL_HEADER in content.files:
            raise TableError(
                f"{path} is a model file, not a table: pass the file with the rows "
                "(score, transform and report --model take a model as well)."
            )
        arrays: dict[str, NDArray[Any]] = {
            name: content[name] for name in content.files
        }
    tables = [name for name in arrays if getattr(arrays[name], "ndim", 0) == 2]
    if len(tables) != 1:
        raise TableError(
            f"{path} has {len(tables)} two-dimensional arrays (its arrays: "
            f"{quote([*arrays])}): keep exactly one in the file."
        )
    return arrays[tables[0]]
