"""Write files atomically: no reader ever sees a half-written one."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `path` once it is completely written.

    On an error or an interrupt, `path` stays as it was.
    """
    target = Path(os.path.realpath(path))  # keep symbolic links
    check_target(target, path)
    temporary = target.with_name(f".trueaxis-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:  # leave nothing behind, even after an interrupt
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


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
