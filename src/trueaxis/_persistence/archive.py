"""Model files on disk: a header and arrays, written whole or not at all, and checked.

An .npz of uncompressed members with a JSON header and checksums. `files` says what the
header means; nothing here knows about models.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis import __version__
from trueaxis._files import atomic_write

FORMAT, FORMAT_VERSION = "trueaxis model", 1
HEADER = "header.json"
NUMBERS = "biuf"  # kinds of arrays: truths, integers, floats
# What zipfile raises for garbled archives, apart from errors of the disk.
GARBLED = (
    zipfile.BadZipFile,
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
)


class ModelFileError(ValueError):
    """A file that is no whole model file, or one that this version cannot read."""


def foreign(what: str) -> ModelFileError:
    """What to raise for a file of others."""
    return ModelFileError(
        f"is not a model file of trueaxis, but {what}: pass a file that trueaxis.save "
        "wrote."
    )


def damaged(what: str) -> ModelFileError:
    """What to raise for a file that is not as it was written."""
    return ModelFileError(
        f"is damaged: {what}. It was cut short or changed since it was written: copy "
        "it again, or save the model again."
    )


def write(path: Path, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Put header and arrays into a file, with format, versions and checksums."""
    for name, array in arrays.items():
        if array.dtype.kind not in NUMBERS:
            raise TypeError(
                f"{name} has type {array.dtype} instead of numbers: a model file could "
                "not be read without running what is in it. Fit the model again."
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
    """Header and arrays, once all checksums hold.

    Raises
    ------
    ModelFileError
        With a message that goes on after the path.
    """
    if not path.is_file():
        raise foreign("a folder or a device")
    with path.open("rb") as file:
        start = file.read(4)
        if not start.startswith(b"PK"):
            raise foreign("some other kind of file" if start else "empty")
        try:
            archive = zipfile.ZipFile(file)
        except (*GARBLED, OSError) as error:
            raise damaged(f"its table of contents is missing ({error})") from error
        header = _header(archive)
        return header, {
            name: _array(archive, name, digest)
            for name, digest in header["arrays"].items()
        }


# -------------------------------------------------------------------------------- write


class _Digest:
    """A file that only remembers the checksum of what is written to it."""

    def __init__(self) -> None:
        self.sha = hashlib.sha256()

    def write(self, data: bytes) -> None:
        self.sha.update(data)


def _digest(array: NDArray[Any]) -> str:
    # Of the .npy as it is stored: type, shape, order and bytes.
    digest = _Digest()
    _write_npy(digest, array)
    return digest.sha.hexdigest()


def _write_npy(file: Any, array: NDArray[Any]) -> None:
    np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)


def checksum(header: dict[str, Any]) -> str:
    """Of the header without its checksum; those of the arrays are part of it."""
    rest = {key: value for key, value in header.items() if key != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _entry(name: str) -> zipfile.ZipInfo:
    # Without the time the same model gives the same file; not compressed, as noise
    # hardly shrinks, and what is not compressed cannot blow up when read.
    return zipfile.ZipInfo(name)


# --------------------------------------------------------------------------------- read


def _header(archive: zipfile.ZipFile) -> dict[str, Any]:
    names = archive.namelist()
    if HEADER not in names:
        raise foreign(f"an archive of {len(names)} members without a {HEADER}")
    try:
        header = json.loads(_member(archive, HEADER))
    except (ValueError, RecursionError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise damaged(f"its header is no JSON ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise foreign(f"an archive whose header does not say {FORMAT!r}")
    _refuse_newer(header)
    try:
        good = header.get("checksum") == checksum(header)
    except (ValueError, RecursionError):  # a NaN, for one, which we don't write
        good = False
    if not good:
        raise damaged("the checksum of its header does not hold")
    _refuse_other_members(header, names)
    return header


def _refuse_newer(header: dict[str, Any]) -> None:
    version = header.get("format_version")
    if type(version) is not int or version < 1:
        raise damaged(f"its format version is {version!r:.40}")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"has format {version}, written by trueaxis "
            f"{header.get('library_version')!s:.40}; trueaxis {__version__} reads "
            f"formats up to {FORMAT_VERSION}: upgrade trueaxis."
        )


def _refuse_other_members(header: dict[str, Any], names: list[str]) -> None:
    arrays = header.get("arrays")
    if not isinstance(arrays, dict):
        raise damaged("its header lists no arrays")
    listed = sorted([HEADER, *(f"{name}.npy" for name in arrays)])
    if sorted(names) != listed:
        odd = sorted(set(names) ^ set(listed)) or ["one of them twice"]
        raise damaged(
            f"its header lists {len(listed)} members, the archive has {len(names)}; "
            f"amiss is {odd[0]!r:.80}"
        )


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED:
        raise damaged(f"{name} is compressed, which trueaxis.save does not do")
    try:
        return archive.read(info)
    except GARBLED as error:
        raise damaged(f"{name} cannot be read ({error})") from error
    except OSError as error:
        # A nonsensical position, rather than an error of the disk.
        if error.errno != errno.EINVAL:
            raise
        raise damaged(f"{name} cannot be read ({error})") from error


def _array(archive: zipfile.ZipFile, name: str, digest: Any) -> NDArray[Any]:
    data = _member(archive, f"{name}.npy")
    if hashlib.sha256(data).hexdigest() != digest:
        raise damaged(f"the checksum of {name} does not hold")
    try:
        array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except (*GARBLED, MemoryError, TypeError) as error:
        raise damaged(f"{name} is no array of numbers ({error})") from error
    if array.dtype.kind not in NUMBERS:
        raise damaged(f"{name} has type {array.dtype} instead of numbers")
    return array
