"""A text with its layout: where its rows are, and the lines they are on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.parsing.dialect import Layout
from trueaxis._tables.parsing.records import (
    DRAWN,
    Record,
    is_left_out,
    read_records,
    single_spaces,
)

HEAD_BYTES = 1 << 22  # what the layout is found from
HEAD_LINES = 3  # at least: a header and rows
_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)")
_BLANK_LINE = re.compile(rb"(?:(?<=[\r\n])|\A)[ \t]+(?:\r\n|[\r\n]|\Z)")


@dataclass(frozen=True)
class TextFormat:
    """How the text of a file is to be read; "auto" where it is to be guessed."""

    decimal: str = "auto"
    delimiter: str = "auto"
    header: str = "auto"
    skip: int = 0
    comment: str = "auto"
    na: Sequence[str] = ()
    encoding: str = "auto"

    def words(self) -> frozenset[str]:
        """Return the further words for missing cells, in lower case."""
        return frozenset(word.strip().lower() for word in self.na)


@dataclass
class TextFile:
    """A text, how it is written, and where its rows are.

    Attributes
    ----------
    content : bytes
        The whole text in UTF-8, without a mark at the start.
    source : str
        Name of the file in messages.
    layout : Layout
    encoding : str
        What the file was written in.
    rows : ndarray of int, or None
        Records that are rows of the table; None for all of them.
    notes : list of str
    decimal : {".", ","}
        The decimal sign, once all columns are read.
    by_rules : set of str
        Columns that were not plain numbers, and went through the rules.
    """

    content: bytes = field(repr=False)
    source: str
    layout: Layout
    encoding: str
    rows: NDArray[np.intp] | None = None
    notes: list[str] = field(default_factory=list)
    decimal: str = "."
    by_rules: set[str] = field(default_factory=set)

    def place(self, row: int) -> str:
        """Return the line of a row, for messages."""
        record = row if self.rows is None else int(self.rows[row])
        return f"line {next(islice(self.records(), record, None))[0]}"

    def records(self) -> Iterator[Record]:
        """Split the rows into cells by the csv module, with the line of each."""
        layout = self.layout
        text = self.content.decode("utf-8")
        skip = layout.first_line - 1
        how = layout.delimiter, layout.comment, skip, self.source
        return read_records(text, *how, whole=True)

    def body(self) -> memoryview:
        """Return the rows without what is above them, and without comments."""
        start = 0
        for _ in range(self.layout.first_line - 1):
            match = _LINES.match(self.content, start)
            start = match.end() if match else len(self.content)
        body = memoryview(self.content)[start:]
        sign, delimiter = self.layout.comment, self.layout.delimiter
        if delimiter in DRAWN or (sign and contains(body, sign.encode())):
            lines = bytes(body).splitlines(keepends=True)
            body = memoryview(
                b"".join(
                    line
                    for line in lines
                    if not is_left_out(line.decode(), sign, delimiter)
                )
            )
        if len(self.layout.names) == 1 and not contains(body, b'"'):
            # A line of blanks is no record, but pyarrow would take it for a cell.
            if _BLANK_LINE.search(body):
                body = memoryview(_BLANK_LINE.sub(b"", body))
        if self.layout.delimiter == " ":
            texts = bytes(body).decode("utf-8").splitlines(keepends=True)
            body = memoryview("".join(map(single_spaces, texts)).encode())
        return body


def has_odd_quotes(body: memoryview) -> bool:
    """Return whether a quotation mark may be open at the end of the rows."""
    whole: Any = body.obj
    return bool(whole.count(b'"', len(whole) - len(body)) % 2)


def head_of(content: bytes) -> bytes:
    """Return the first lines of a text, none of them cut off, however long."""
    if len(content) <= HEAD_BYTES:
        return content
    end = 0
    for _ in range(HEAD_LINES):
        end = content.find(b"\n", end) + 1 or len(content)
    last = content.rfind(b"\n", 0, HEAD_BYTES) + 1 or HEAD_BYTES
    return content[: max(end, last)]


def contains(body: memoryview, sign: bytes) -> bool:
    """Return whether rows contain a sign."""
    whole: Any = body.obj  # the rows are its end; it is searched without a copy
    return bool(whole.find(sign, len(whole) - len(body)) >= 0)
