"""Write and read model files: a header and arrays, with checksums.

A model file is an .npz with uncompressed members and a JSON header. `model_state` gives
the header its meaning; this module knows nothing about models.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import struct
import tokenize
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis import __version__
from trueaxis._files import atomic_write

FORMAT, FORMAT_VERSION = "trueaxis model", 2
HEADER = "header.json"
KEYS = {"format", "format_version", "library_version", "arrays", "checksum"}
NUMBERS = "biuf"  # kinds of arrays: booleans, integers, floats
# What zipfile and numpy raise for damaged files, apart from disk errors.
UNREADABLE = (
    zipfile.BadZipFile,
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    tokenize.TokenError,
)


class ModelFileError(ValueError):
    """Error for a file that is not an intact model file, or has a newer format."""


def foreign(what: str) -> ModelFileError:
    """Return the error for a file that trueaxis did not write."""
    return ModelFileError(
        f"is not a trueaxis model file, but {what}: pass a file written by "
        "trueaxis.save."
    )


def damaged(what: str) -> ModelFileError:
    """Return the error for a file that was changed after it was written."""
    return ModelFileError(
        f"is damaged: {what}. It was truncated or changed after it was written: copy "
        "it again, or save the model again."
    )


def write(path: Path, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write header and arrays to a file; add format, versions and checksums."""
    for name, array in arrays.items():
        if array.dtype.kind not in NUMBERS:
            raise TypeError(
                f"{name} has dtype {array.dtype}, but model files hold only numbers, "
                "which can be read without running code. Fit the model again."
            )
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "library_version": __version__,
        **header,
        "arrays": {name: _digest(array) for name, array in arrays.items()},
    }
    header["checksum"] = checksum(header)
    with atomic_write(path) as file, zipfile.ZipFile(file, "w") as archive:
        text = json.dumps(header, indent=1, allow_nan=False)
        archive.writestr(_entry(HEADER), text)
        for name, array in arrays.items():
            with archive.open(_entry(f"{name}.npy"), "w", force_zip64=True) as member:
                _write_npy(member, array)


def read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return header and arrays of a file after verifying all checksums.

    Raises
    ------
    ModelFileError
        The message is meant to follow the path of the file.
    """
    if not path.is_file():
        raise foreign("a folder or a device")
    with path.open("rb") as file:
        start = file.read(4)
        if not start.startswith(b"PK"):
            raise foreign("another kind of file" if start else "an empty file")
        try:
            archive = zipfile.ZipFile(file)
        except (*UNREADABLE, OSError) as error:
            raise damaged(
                f"its table of contents is missing ({error!s:.200})"
            ) from error
        _refuse_expanding(archive, path.stat().st_size)
        header = _read_header(archive)
        return header, {
            name: _read_array(archive, name, digest)
            for name, digest in header["arrays"].items()
        }


# -------------------------------------------------------------------------------- write


class _Digest:
    """File that keeps only the checksum of what is written to it."""

    def __init__(self) -> None:
        self.sha = hashlib.sha256()

    def write(self, data: bytes) -> None:
        self.sha.update(data)


def _digest(array: NDArray[Any]) -> str:
    # Hash the .npy as stored, so that dtype, shape and memory order are covered.
    digest = _Digest()
    _write_npy(digest, array)
    return digest.sha.hexdigest()


def _write_npy(file: Any, array: NDArray[Any]) -> None:
    np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)


def checksum(header: dict[str, Any]) -> str:
    """Return the checksum of a header, which includes those of the arrays."""
    rest = {key: value for key, value in header.items() if key != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _entry(name: str) -> zipfile.ZipInfo:
    # No time stamp, so that the same model gives the same file. No compression: noise
    # hardly shrinks, and no member can expand beyond the size of the file.
    return zipfile.ZipInfo(name)


# --------------------------------------------------------------------------------- read


def _refuse_expanding(archive: zipfile.ZipFile, size: int) -> None:
    """Raise if members take more memory than the file has bytes."""
    for info in archive.infolist():
        if info.compress_type != zipfile.ZIP_STORED:
            raise damaged(
                f"{info.filename!r:.80} is compressed, which trueaxis.save does not do"
            )
    total = sum(info.file_size for info in archive.infolist())
    if total > size:
        raise damaged(f"its members have {total:,} bytes, but the file has {size:,}")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of a header; JSON alone would keep the last of equal keys."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise damaged("an entry of its header is there twice")
    return entries


def _read_header(archive: zipfile.ZipFile) -> dict[str, Any]:
    names = archive.namelist()
    if HEADER not in names:
        raise foreign(f"an archive of {len(names)} members without a {HEADER}")
    try:
        header = json.loads(
            _read_member(archive, HEADER), object_pairs_hook=_unique_keys
        )
    except (ValueError, RecursionError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise damaged(f"its header is not valid JSON ({error!s:.200})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise foreign(f"an archive whose header does not say {FORMAT!r}")
    _refuse_other_formats(header)
    try:
        intact = header.get("checksum") == checksum(header)
    except (ValueError, RecursionError):  # such as a NaN, which `write` never writes
        intact = False
    if not intact:
        raise damaged("the checksum of its header does not match")
    _refuse_other_members(header, names)
    return header


def _refuse_other_formats(header: dict[str, Any]) -> None:
    version = header.get("format_version")
    if type(version) is not int or version < 1:
        raise damaged(f"its format version is {version!r:.40}")
    if version != FORMAT_VERSION:
        raise ModelFileError(
            f"has format {version}, written by trueaxis "
            f"{header.get('library_version')!s:.40}, but trueaxis {__version__} reads "
            f"format {FORMAT_VERSION} only: "
            + ("upgrade trueaxis." if version > FORMAT_VERSION else "fit again.")
        )


def _refuse_other_members(header: dict[str, Any], names: list[str]) -> None:
    arrays = header.get("arrays")
    if not isinstance(arrays, dict):
        raise damaged("its header lists no arrays")
    listed = sorted([HEADER, *(f"{name}.npy" for name in arrays)])
    if sorted(names) != listed:
        unmatched = sorted(set(names) ^ set(listed))
        detail = (
            f"{unmatched[0]!r:.80} is in only one of them"
            if unmatched
            else "one of them is stored twice"
        )
        raise damaged(
            f"its header lists {len(listed)} members, but the archive has "
            f"{len(names)}: {detail}"
        )


def _read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)
    except UNREADABLE as error:
        raise damaged(f"{name} cannot be read ({error!s:.200})") from error
    except OSError as error:
        # EINVAL means an invalid position in the file; other errors come from the disk.
        if error.errno != errno.EINVAL:
            raise
        raise damaged(f"{name} cannot be read ({error!s:.200})") from error


def _read_array(archive: zipfile.ZipFile, name: str, digest: Any) -> NDArray[Any]:
    data = _read_member(archive, f"{name}.npy")
    if hashlib.sha256(data).hexdigest() != digest:
        raise damaged(f"the checksum of {name} does not match")
    try:
        _refuse_other_size(data, name)
        array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except (*UNREADABLE, MemoryError, TypeError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise damaged(f"{name} is not an array of numbers ({error!s:.200})") from error
    if array.dtype.kind == "b" and (array.view("u1") > 1).any():
        raise damaged(f"{name} has a value that is neither true nor false")
    # Files of machines with another order of bytes are read as if written on this one.
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _refuse_other_size(data: bytes, name: str) -> None:
    """Raise if an array says that it has more or fewer numbers than there are."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise damaged(f"{name} has a version of .npy that trueaxis.save does not write")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.kind not in NUMBERS:
        raise damaged(f"{name} has dtype {dtype!s:.40} instead of numbers")
    size = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or size != len(data) - file.tell():
        raise damaged(
            f"{name} has {len(data) - file.tell():,} bytes of numbers, but an array of "
            f"shape {shape!s:.80} takes {size:.6g}"
        )
