"""SPOOL: rows that are slow to decode, written as plain numbers when read often.

The file has no name (or, on Windows, goes with its last handle): whatever happens to
the process, nothing is left behind.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._rows.base import Rows
from trueaxis._rows.binary import RawRows
from trueaxis._rows.memory import shown_size
from trueaxis._rows.progress import passing
from trueaxis._rows.watched_file import Read, SourceError, as_bytes, fill

LOG = logging.getLogger("trueaxis")
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Writing a spool may cost as much as decoding some times, where memory that is used for
# the first time is slow: a default fit of DSWL, which picks its sample and makes two
# passes, is over before that is made good.
FREE_READS = 3


class Spool:
    """A temporary file of numbers."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self._one_at_a_time = threading.Lock()

    @contextmanager
    def reader(self) -> Iterator[Read]:
        """Open for one pass."""
        # A place in the file would be shared with processes that were forked.
        anywhere = hasattr(os, "preadv")

        def read(out: NDArray[Any], position: int) -> None:
            at = position

            def readinto(view: memoryview) -> int:
                nonlocal at
                got = os.preadv(self.file.fileno(), [view], at)
                at += got
                return got

            if anywhere:
                fill(out, readinto, "The spool", position)
                return
            with self._one_at_a_time:
                self.file.seek(position)
                fill(out, self.file.readinto, "The spool", position)  # type: ignore[attr-defined]

        yield read


class SpooledRows(Rows):
    """Rows that are decoded a few times, and read as plain numbers from then on.

    The spool is written when the rows are read more often than `FREE_READS` times. It
    lives until the last `with` that holds these rows ends; a fit is one.

    Parameters
    ----------
    rows : Rows
        To decode.
    block_rows : int, optional
    """

    def __init__(self, rows: Rows, block_rows: int | None = None) -> None:
        self.rows = rows
        self.shape, self.dtype, self.names = rows.shape, rows.dtype, rows.names
        self.block_rows = block_rows
        self._spooled: RawRows | None = None
        self._file: IO[bytes] | None = None
        self._reads = 0
        self._one_at_a_time = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        # The spool stays here: elsewhere the rows are decoded anew.
        fresh = {"_spooled": None, "_file": None, "_reads": 0, "_holders": 0}
        state = self.__dict__ | fresh
        del state["_one_at_a_time"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self._one_at_a_time = threading.Lock()

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (number of the first row, block), in order."""
        return self._source().blocks()

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these numbers into memory, in the order of `index`."""
        return self._source().take(index)

    def place(self, row: int, overall: int | None = None) -> str:
        """Say where a row is."""
        return self.rows.place(row, overall)

    def close(self) -> None:
        """Remove the spool; the rows are decoded anew when they are read again."""
        with self._one_at_a_time:
            self._spooled, self._reads = None, 0
            if self._file is not None:
                self._file.close()
                self._file = None

    def _source(self) -> Rows:
        with self._one_at_a_time:  # threads share one spool
            if self._spooled is None and self._reads >= FREE_READS:
                self._spooled = self._written()
            self._reads += 1
            return self._spooled or self.rows

    def _written(self) -> RawRows:
        folder, size = tempfile.gettempdir(), self._size()
        with self._room(folder):
            free = shutil.disk_usage(folder).free
        if size > free:
            raise SourceError(
                f"Decoding {self.shape[0]:,} rows takes {shown_size(size)} in "
                f"{folder}, which has {shown_size(free)} left. Set TMPDIR to a folder "
                "with more, or in Python pass spool=False to decode them in every pass."
            )
        LOG.info(
            "Decoding %s rows to a temporary file of %s in %s, removed at the end.",
            f"{self.shape[0]:,}", shown_size(size), folder,
        )  # fmt: skip
        with self._room(folder):
            file = tempfile.TemporaryFile(prefix="trueaxis-", dir=folder, buffering=0)
        try:
            self._write(file, folder)
        except BaseException:  # an interrupt, too
            file.close()
            raise
        self._file = file
        # Rows that are read outside of any `with` give their spool back as they go.
        weakref.finalize(self, file.close)
        return RawRows(
            Spool(file), "The spool", 0, self.shape, self.dtype,
            block_rows=self.block_rows,
        )  # fmt: skip

    def _write(self, file: IO[bytes], folder: str) -> None:
        with self._room(folder):
            _reserve(file, self._size())
        with passing("decoding", self.shape[0]) as advance:
            for _, block in self.rows.blocks():
                view = as_bytes(np.ascontiguousarray(block))
                with self._room(folder):
                    while len(view):
                        view = view[file.write(view) :]
                advance(len(block))

    @contextmanager
    def _room(self, folder: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise SourceError(
                f"Writing {shown_size(self._size())} of decoded rows in {folder} "
                f"failed ({error.strerror}). Set TMPDIR to a folder with more "
                "space, or pass spool=False."
            ) from error

    def _size(self) -> int:
        return self.shape[0] * self.shape[1] * self.dtype.itemsize


def _reserve(file: IO[bytes], size: int) -> None:
    """Have the disk set the space aside.

    A full disk shows before anything is decoded, and writing has room to go to.
    """
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:  # not every disk can
        if error.errno in FULL:
            raise
