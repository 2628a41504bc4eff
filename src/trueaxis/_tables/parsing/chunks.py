"""Text that arrives in chunks: its complete records, and a file made of chunks."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import Any


def complete_records(head: bytes, encoding: str) -> bytes:
    """Return the first part of a file without the record that is cut off."""
    text = codecs.getincrementaldecoder(encoding)().decode(head)
    end, quotes = len(text), text.count('"')
    last = 0
    while end > 0:
        before = max(text.rfind("\n", 0, end - 1), text.rfind("\r", 0, end - 1)) + 1
        quotes -= text.count('"', before, end)
        end, last = before, last or before
        if quotes % 2 == 0:  # not inside a quoted cell
            break
    # A single quotation mark says nothing: then only the last line is left out.
    return text[: end or last or len(text)].encode(encoding)


class ChunkFile(io.RawIOBase):
    """A file whose bytes come from an iterator."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Return that this file can be read."""
        return True

    def readinto(self, out: Any) -> int:
        """Fill a buffer with what is left of a chunk, or with the next one."""
        while not len(self._rest):
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        n = min(len(out), len(self._rest))
        out[:n] = self._rest[:n]
        self._rest = self._rest[n:]
        return n
