"""Rows of text files, decoded once to a temporary binary file that all passes read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trueaxis._columns import examine
from trueaxis.data.files import SlicedRows, SourceError, WatchedFile, decoded_rows
from trueaxis.io.choice import Choice
from trueaxis.io.formats import open_text
from trueaxis.io.text import Text


def decoded_text(path: Path, choice: Choice) -> Text:
    """Read a text once, and write the numbers of its columns to a temporary file."""
    double = np.dtype(np.float64)
    return open_text(str(path), choice, lambda x, width: decoded_rows(x, width, double))


class TextRows(SlicedRows):
    """Rows of a text file, decoded once to a temporary binary file.

    Parameters
    ----------
    path : Path
    choice : Choice
        How the text is written; its columns are not used.
    columns : sequence of str, optional
        Columns to read; all columns of numbers by default.
    block_rows : int, optional
    text : Text, optional
        The text, if it was decoded already.
    """

    names: tuple[str, ...]

    def __init__(
        self,
        path: Path,
        choice: Choice | None = None,
        columns: Sequence[str] | None = None,
        block_rows: int | None = None,
        text: Text | None = None,
    ) -> None:
        self._given = path, choice or Choice(), columns, block_rows
        self.path, watched = path, WatchedFile.of(path)
        self.text = text or decoded_text(path, self._given[1])
        watched.check()
        for name in columns or ():
            if name not in self.text.kinds:
                raise SourceError(
                    f"{path} has no column {name!r}; its columns are "
                    f"{', '.join(map(repr, self.text.names[:12]))}."
                )
        if columns is None:
            left_out = examine(self.text.sample()).left_out
            columns = [
                name
                for name in self.text.names
                if name not in left_out and name != self.text.layout.row_names
            ]
        self.names = tuple(columns)
        if not self.names:
            raise SourceError(f"{path} has no column of numbers: choose another file.")
        at = [*map(self.text.layout.names.index, self.names)]
        super().__init__(self.text.stored.source, at, block_rows, str(path))

    def __reduce__(self) -> tuple[Any, ...]:
        return TextRows, self._given  # elsewhere, the text is decoded again

    def place(self, row: int) -> str:
        """Describe where a row is."""
        return f"{self.path}, {self.text.place(row)}"
