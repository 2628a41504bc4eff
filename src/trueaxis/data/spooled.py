"""Rows that are slow to decode, kept in a temporary binary file if read often.

The file has no name (on Windows, it is deleted with its last handle), so nothing is
left behind, whatever happens to the process.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._files import DISK_FULL
from trueaxis.data.binary import BinaryRows
from trueaxis.data.memory import shown_size
from trueaxis.data.progress import passing
from trueaxis.data.rows import Kernel, Rows
from trueaxis.data.watched_file import Read, SourceError, as_bytes, fill

LOG = logging.getLogger("trueaxis")
# Where first writes to memory are slow, writing a spool may cost as much as decoding
# the file several times. A default fit of DSWL, which reads its sample and makes two
# passes, would not recover that cost.
FREE_READS = 3


class Spool:
    """Temporary binary file."""

    def __init__(self, file: FileIO) -> None:
        self.file = file
        self._lock = threading.Lock()

    @contextmanager
    def reader(self) -> Iterator[Read]:
        """Open the file for one pass."""
        # Forked processes share the position of the file, so do not rely on it.
        has_preadv = hasattr(os, "preadv")

        def read(out: NDArray[Any], position: int) -> None:
            start = position

            def readinto(view: memoryview) -> int:
                nonlocal start
                n_read = os.preadv(self.file.fileno(), [view], start)
                start += n_read
                return n_read

            if has_preadv:
                fill(out, readinto, "The spool", position)
                return
            with self._lock:
                self.file.seek(position)
                fill(out, self.file.readinto, "The spool", position)

        yield read


class SpooledRows(Rows):
    """Rows that are decoded for the first few reads, and read from a spool afterwards.

    The spool is written once the rows have been read `FREE_READS` times. It exists
    until the last `with` statement that holds these rows ends; a fit is one.

    Parameters
    ----------
    rows : Rows
        Rows to decode.
    block_rows : int, optional
    """

    def __init__(self, rows: Rows, block_rows: int | None = None) -> None:
        self.rows = rows
        self.shape, self.dtype, self.names = rows.shape, rows.dtype, rows.names
        self.block_rows = block_rows
        self._spooled: BinaryRows | None = None
        self._file: FileIO | None = None
        self._reads = 0
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        # The spool stays in this process: elsewhere, the rows are decoded again.
        fresh = {"_spooled": None, "_file": None, "_reads": 0, "_holders": 0}
        state = self.__dict__ | fresh
        del state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self._lock = threading.Lock()

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (index of the first row, block), in order."""
        return self._source().blocks()

    def scan(self, kernel: Kernel) -> tuple[NDArray[Any], Any]:
        """Read the data once; return the per-row records and the kernel's state."""
        return self._source().scan(kernel)

    def take(self, index: NDArray[np.intp]) -> NDArray[Any]:
        """Copy the rows with these indices into memory, in the order of `index`."""
        return self._source().take(index)

    def place(self, row: int, overall: int | None = None) -> str:
        """Describe where a row is."""
        return self.rows.place(row, overall)

    def close(self) -> None:
        """Remove the spool; later reads decode the rows again."""
        with self._lock:
            self._spooled, self._reads = None, 0
            if self._file is not None:
                self._file.close()
                self._file = None

    def _source(self) -> Rows:
        with self._lock:  # so that threads share one spool
            if self._spooled is None and self._reads >= FREE_READS:
                self._spooled = self._write_spool()
            self._reads += 1
            return self._spooled or self.rows

    def _write_spool(self) -> BinaryRows:
        folder, size = tempfile.gettempdir(), self._size()
        with self._disk_errors(folder):
            free = shutil.disk_usage(folder).free
        if size > free:
            raise SourceError(
                f"Decoding {self.shape[0]:,} rows takes {shown_size(size)} in "
                f"{folder}, which has {shown_size(free)} left. Set TMPDIR to a folder "
                "with more space, or in Python pass spool=False to decode the rows in "
                "every pass."
            )
        LOG.info(
            "Decoding %s rows to a temporary file of %s in %s, removed at the end.",
            f"{self.shape[0]:,}", shown_size(size), folder,
        )  # fmt: skip
        with self._disk_errors(folder):
            file = tempfile.TemporaryFile(prefix="trueaxis-", dir=folder, buffering=0)
        try:
            self._write(file, folder)
        except BaseException:  # including an interrupt
            file.close()
            raise
        self._file = file
        # Rows that are read outside of any `with` release their spool when deleted.
        weakref.finalize(self, file.close)
        return BinaryRows(
            Spool(file), "The spool", 0, self.shape, self.dtype,
            block_rows=self.block_rows,
        )  # fmt: skip

    def _write(self, file: FileIO, folder: str) -> None:
        with self._disk_errors(folder):
            _reserve(file, self._size())
        with passing("decoding", self.shape[0]) as advance:
            for _, block in self.rows.blocks():
                with self._disk_errors(folder):
                    append_to_spool(file, block)
                advance(len(block))

    @contextmanager
    def _disk_errors(self, folder: str) -> Iterator[None]:
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


def append_to_spool(file: FileIO, block: NDArray[Any]) -> None:
    """Write all numbers of a block, since a write may take less than was given."""
    view = as_bytes(np.ascontiguousarray(block))
    while len(view):
        view = view[file.write(view) :]


def _reserve(file: FileIO, size: int) -> None:
    """Allocate the disk space, so that a full disk fails before anything is decoded."""
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:  # not every file system can allocate
        if error.errno in DISK_FULL:
            raise
