"""Files that are read several times and must not change between passes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

# Fills an array with the bytes that start at a position.
Read = Callable[[NDArray[Any], int], None]


class SourceError(ValueError):
    """Error for rows that cannot be read."""


class Storage(Protocol):
    """Bytes that can be read at any position."""

    def reader(self) -> AbstractContextManager[Read]:
        """Open the storage for one pass."""


@dataclass(frozen=True)
class WatchedFile:
    """A file with the size, number and times that it had when it was first opened.

    Attributes
    ----------
    path : Path
    name : str
        Name in error messages.
    size : int
        Size in bytes.
    number : int or None
        Number of the file in its file system (inode), which another file of the same
        name does not have. None if it is not compared: another machine may have a copy.
    times : tuple of int, or None
        Times of the last modification and, together with `number`, of the last change
        of status in ns; the second cannot be set back. None if they are not compared.
    """

    path: Path
    name: str
    size: int
    number: int | None
    times: tuple[int, ...] | None

    @classmethod
    def of(
        cls, path: Path, name: str | None = None, *, times: bool = True
    ) -> WatchedFile:
        """Record what a file is and, with `times`, when it was last changed."""
        name = str(path) if name is None else name
        try:
            now = os.stat(path)
        except OSError as error:
            raise SourceError(
                f"{name} cannot be read ({error.strerror}): check the path."
            ) from None
        return cls(path, name, now.st_size, now.st_ino, _times(now) if times else None)

    def check(self) -> None:
        """Raise if the file is gone or has changed."""
        try:
            now = os.stat(self.path)
        except OSError as error:
            raise SourceError(
                f"{self.name} can no longer be read ({error.strerror}), but had "
                f"{self.size:,} bytes when it was opened. Rows are read more than "
                "once: keep the file until the end."
            ) from None
        if now.st_size != self.size:
            raise SourceError(
                f"{self.name} has {now.st_size:,} bytes, but had {self.size:,} when it "
                "was opened: it has been written to or truncated since. Open it again "
                "once it is complete."
            )
        replaced = self.number is not None and now.st_ino != self.number
        times = None if self.times is None else _times(now)[: len(self.times)]
        if replaced or times != self.times:
            raise SourceError(
                f"{self.name} has been {'replaced' if replaced else 'modified'} since "
                "it was opened, so its rows could differ from one pass to the next. "
                "Open it again once it is complete."
            )

    def __getstate__(self) -> dict[str, Any]:
        """Return what other processes, perhaps of other machines, can compare."""
        times = None if self.times is None else self.times[:1]
        return vars(self) | {"number": None, "times": times}

    @contextmanager
    def reader(self) -> Iterator[Read]:
        """Open for one pass; raise if the file changes before or during it."""
        self.check()
        with open(self.path, "rb", buffering=0) as file:

            def read(out: NDArray[Any], position: int) -> None:
                file.seek(position)
                fill(out, file.readinto, self.name, position)

            yield read
        self.check()


def _times(status: os.stat_result) -> tuple[int, int]:
    return status.st_mtime_ns, status.st_ctime_ns


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


def as_bytes(array: NDArray[Any]) -> memoryview:
    """Return the memory of a contiguous array."""
    return array.reshape(-1).view("u1").data


def fill(
    out: NDArray[Any], readinto: Callable[..., int | None], name: str, position: int
) -> None:
    """Read until the array is full, since a read may return less than requested."""
    view = as_bytes(out)
    done = 0
    while done < len(view):
        n_read = readinto(view[done:])
        if not n_read:
            raise SourceError(
                f"{name} ends at byte {position + done:,}, but {len(view) - done:,} "
                "more bytes are needed: it was truncated while it was read. Open it "
                "again once it is complete."
            )
        done += n_read
