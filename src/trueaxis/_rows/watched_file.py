"""Files that are read several times, and must not change meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

# Fill an array with the bytes from a position on.
Read = Callable[[NDArray[Any], int], None]


class SourceError(ValueError):
    """Rows that cannot be read, with the place, the reason and what to do."""


class Storage(Protocol):
    """Bytes that can be read at any position."""

    def reader(self) -> AbstractContextManager[Read]:
        """Open for one pass."""


@dataclass(frozen=True)
class WatchedFile:
    """A file as it was when it was opened first.

    Attributes
    ----------
    path : Path
    name : str
        In messages.
    size : int
        Bytes.
    modified : int or None
        Time of its last change; None if that is not watched.
    """

    path: Path
    name: str
    size: int
    modified: int | None

    @classmethod
    def of(
        cls, path: Path, name: str | None = None, *, times: bool = True
    ) -> WatchedFile:
        """Remember what a file is like."""
        name = str(path) if name is None else name
        try:
            now = os.stat(path)
        except OSError as error:
            raise SourceError(
                f"{name} cannot be read ({error.strerror}): check the path."
            ) from None
        return cls(path, name, now.st_size, now.st_mtime_ns if times else None)

    def check(self) -> None:
        """Refuse a file that is gone or is not what it was."""
        try:
            now = os.stat(self.path)
        except OSError as error:
            raise SourceError(
                f"{self.name} can no longer be read ({error.strerror}), but was there "
                f"({self.size:,} bytes) when it was opened. Rows are read more than "
                "once: keep the file until the end."
            ) from None
        if now.st_size != self.size:
            raise SourceError(
                f"{self.name} has {now.st_size:,} bytes, but had {self.size:,} when it "
                "was opened: it was written to or truncated since. Open it again when "
                "it is whole."
            )
        if self.modified is not None and now.st_mtime_ns != self.modified:
            raise SourceError(
                f"{self.name} was written to since it was opened, so that its rows "
                "would differ from one pass to the next. Open it again when it is "
                "whole."
            )

    @contextmanager
    def reader(self) -> Iterator[Read]:
        """Open for one pass; what is read was there all the time."""
        self.check()
        with open(self.path, "rb", buffering=0) as file:

            def read(out: NDArray[Any], position: int) -> None:
                file.seek(position)
                fill(out, file.readinto, self.name, position)

            yield read
        self.check()


def refuse_odd_paths(path: str) -> None:
    """Refuse addresses and patterns, which are no files."""
    if "://" in path:
        raise SourceError(
            f"{path} is an address: only files are read. Download it, or open it with "
            "Dask and pass the collection."
        )
    if any(sign in path for sign in "*?") and not os.path.exists(path):
        raise SourceError(
            f"There is no file {path}, and patterns are not filled in: name the "
            "folder, or in Python pass the list sorted(glob.glob(...))."
        )


def as_bytes(array: NDArray[Any]) -> memoryview:
    """The memory of a contiguous array."""
    return array.reshape(-1).view("u1").data


def fill(
    out: NDArray[Any], readinto: Callable[..., int | None], name: str, position: int
) -> None:
    """Read until the array is full; a file may give less at a time than asked."""
    view = as_bytes(out)
    done = 0
    while done < len(view):
        got = readinto(view[done:])
        if not got:
            raise SourceError(
                f"{name} ends at byte {position + done:,}, but {len(view) - done:,} "
                "more are needed: it was truncated while it was read. Open it again "
                "when it is whole."
            )
        done += got
