"""Write files completely or not at all, and never over an input.

No reader ever sees a half-written file.
"""

from __future__ import annotations

import datetime
import errno
import gzip
import io
import json
import math
import os
import re
import secrets
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

STANDARD = "-"  # standard input or output
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_temporary: set[Path] = set()  # files that exist at the moment
_lock = threading.RLock()  # held while one of them appears


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `path` once it is completely written.

    On an error or an interrupt, `path` is left unchanged. Disk errors name `path`
    instead of the temporary file.
    """
    target = Path(os.path.realpath(path))  # keep symbolic links
    check_target(target, path)
    temporary = target.with_name(f".trueaxis-{secrets.token_hex(8)}.tmp")
    try:
        with naming(path):
            with _lock:
                _temporary.add(temporary)
                raw = _NamedFile(temporary, path)
        with io.BufferedWriter(raw) as file:
            yield file
            file.flush()
            with naming(path):
                os.fsync(file.fileno())
        with naming(path):
            if target.exists():
                shutil.copymode(target, temporary)
            os.replace(temporary, target)
    except BaseException:  # leave nothing behind, even after an interrupt
        with suppress(OSError):  # it may not have been created
            temporary.unlink()
        raise
    finally:
        _temporary.discard(temporary)
    _sync_folder(target.parent)


def remove_temporaries() -> None:
    """Remove all temporary files; the process must end afterwards.

    For a process that ends at once. The lock is kept, so that no other thread creates a
    new one.
    """
    _lock.acquire(timeout=0.1)  # and keep it
    for path in list(_temporary):
        with suppress(OSError):
            path.unlink()


class _NamedFile(io.FileIO):
    """A temporary file whose errors name the file that it will replace."""

    def __init__(self, temporary: Path, path: str | Path) -> None:
        super().__init__(temporary, "xb")
        self._path = path

    def write(self, data: Any) -> int:
        with naming(self._path):
            return super().write(data)


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Make disk errors name the target instead of the temporary file."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in DISK_FULL:
            reason = f"{reason}: free some space, or write to another place"
        raise OSError(error.errno, reason, str(path)) from error


def _sync_folder(folder: Path) -> None:
    # Sync the folder too, so that the new name is on disk; only POSIX can open folders.
    if os.name != "posix":
        return
    with suppress(OSError):  # some network disks cannot; the file is complete anyway
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def check_target(target: Path, path: str | Path) -> None:
    """Raise if a target is not a regular file or its folder does not exist."""
    if target.exists() and not target.is_file():
        raise ValueError(f"{path} is a folder or a device: pass the name of a file.")
    if not target.parent.is_dir():
        reason = "No such folder to write in: create it first"
        raise FileNotFoundError(errno.ENOENT, reason, str(target.parent))


# ---------------------------------------------------------------- outputs


def refuse_target(path: str, *sources: str) -> None:
    """Raise early if a file cannot be written, or is one of the inputs."""
    if path in ("", STANDARD):
        return
    target = Path(os.path.realpath(path))
    for source in sources:
        if source in ("", STANDARD):
            continue
        # Another name of the same file may be a hard link.
        if target == Path(os.path.realpath(source)) or _same_file(target, source):
            raise ValueError(
                f"{path} is an input and would be overwritten: choose another name."
            )
    check_target(target, path)


def refuse_same_targets(targets: dict[str, str]) -> None:
    """Raise if two options name the same file.

    Parameters
    ----------
    targets : dict
        File of every option; "" for none.
    """
    seen: dict[str, str] = {}
    for name, path in targets.items():
        if not path:
            continue
        real = path if path == STANDARD else os.path.realpath(path)
        if real in seen:
            where = "standard output" if path == STANDARD else path
            raise ValueError(
                f"{seen[real]} and {name} would both write to {where}: choose another "
                "name for one of them."
            )
        seen[real] = name


def _same_file(target: Path, source: str) -> bool:
    try:
        return os.path.samefile(target, source)
    except OSError:  # one of them does not exist
        return False


@contextmanager
def open_target(name: str) -> Iterator[IO[bytes]]:
    """Open a file that appears once it is complete, compressed if its ending says so.

    "-" is standard output.
    """
    if name == STANDARD:
        yield StandardOutput()  # type: ignore[misc]
        return
    with atomic_write(name) as file:
        if not name.lower().endswith(".gz"):
            yield file
            return
        # Omit name and time, so that the same rows give the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc]


@contextmanager
def written_together(
    targets: Mapping[str, Callable[[IO[bytes]], object]],
) -> Iterator[None]:
    """Write files that appear after the `with` statement, if it succeeds.

    Standard output is written last, when the files are complete, because its reader may
    close it early.

    Parameters
    ----------
    targets : dict
        Name of every file, "-" for standard output, and what writes it.
    """
    with ExitStack() as opened:
        for name, write in targets.items():
            if name != STANDARD:
                file = opened.enter_context(open_target(name))
                write(file)
                file.flush()  # report a full disk before any file appears
        yield
    if STANDARD in targets:
        with open_target(STANDARD) as file:
            targets[STANDARD](file)


class StandardOutput:
    """Standard output as a file of bytes."""

    def write(self, data: bytes) -> int:
        """Write all bytes."""
        binary = getattr(sys.stdout, "buffer", None)
        # Cells must not control the terminal, and the stream may have been replaced by
        # one of text, as in a notebook.
        if binary is None or sys.stdout.isatty():
            sys.stdout.write(harmless(bytes(data).decode("utf-8", errors="replace")))
        else:
            sys.stdout.flush()
            binary.write(data)
        return len(data)


# ---------------------------------------------------------------- text


def printable(text: object) -> str:
    r"""Return text on one line, without characters that could control a terminal.

    Examples
    --------
    >>> from trueaxis._files import printable
    >>> printable("a\nb\x1b[2J")
    'a b�[2J'
    """
    return "".join(
        c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}"
        for c in str(text)
    )


# All but tabs and line breaks; some of them reverse the direction of text.
_CONTROL = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


def harmless(text: str) -> str:
    r"""Return text of several lines without characters that could control a terminal.

    Examples
    --------
    >>> from trueaxis._files import harmless
    >>> harmless("a\tb\nc\x1b[2J\n")
    'a\tb\nc�[2J\n'
    """
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def as_text(value: Any) -> Any:
    """Return a value as a cell of text; missing ones are empty."""
    if value is None or value != value:  # NaN and NaT differ from themselves
        return ""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (dict, list)):
        return json.dumps(as_json(value), ensure_ascii=False)
    return value


def as_json(value: Any) -> Any:
    """Return a value that JSON can hold: dates are text, NaN and infinity null."""
    if isinstance(value, dict):
        return {str(key): as_json(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(each) for each in value]
    if hasattr(value, "tolist"):  # arrays of NumPy and their elements
        return as_json(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    text = as_text(value)
    return None if text == "" else str(text)
