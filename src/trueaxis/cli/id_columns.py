"""Read row names and labels of large files as text, a few rows at a time.

The command line reads them along with the rows, which `data` reads as numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.arrow import ArrowFile
from trueaxis.data.files import SourceError, WatchedFile, is_text, list_files, npy_rows
from trueaxis.io.choice import Choice
from trueaxis.io.formats import open_text

Cells = list[list[str]]  # one list per column

BATCH_ROWS = 1 << 15  # rows whose names and labels are read at a time


class IdColumns:
    """Columns of a file, or of a folder of files, that are not analyzed.

    Parameters
    ----------
    path : Path
    columns : sequence of str
        Names of the columns; those of .npy files are x0, x1, ...
    choice : Choice, optional
        How text is to be read.
    """

    def __init__(
        self, path: Path, columns: Sequence[str], choice: Choice | None = None
    ) -> None:
        self.path, self.columns = path, list(columns)
        self.choice = choice or Choice()
        self._batches = self._read()
        self._pending: Cells = [[] for _ in columns]

    def next(self, n: int) -> list[NDArray[np.str_]]:
        """Return the cells of each column for the next n rows."""
        while self._pending and len(self._pending[0]) < n:
            batch = next(self._batches, None)
            if batch is None:
                raise SourceError(
                    f"{self.path} has fewer cells in {', '.join(self.columns)} than "
                    "rows: it was modified while being read. Run again once it is "
                    "complete."
                )
            for pending, cells in zip(self._pending, batch, strict=True):
                pending += cells
        result = [np.array(pending[:n]) for pending in self._pending]
        self._pending = [pending[n:] for pending in self._pending]
        return result

    def _read(self) -> Iterator[Cells]:
        if not self.columns:
            return
        for file, name in zip(*list_files(self.path), strict=True):
            if is_text(file):
                text = open_text(str(file), self.choice)
                yield from (cells for _, cells in text.texts(self.columns))
                continue
            binary = file.suffix.lower() == ".npy"
            read = _read_npy if binary else _read_arrow
            yield from read(file, name, self.columns)


def _read_arrow(path: Path, name: str, columns: Sequence[str]) -> Iterator[Cells]:
    file = ArrowFile(WatchedFile.of(path, name))
    missing = [column for column in columns if column not in file.schema.names]
    if missing:
        raise SourceError(f"{name} has no column {missing[0]!r}: choose another.")
    for _, batch in file.batches(list(dict.fromkeys(columns)), BATCH_ROWS):
        yield [_texts(batch.column(column).to_pylist()) for column in columns]


def _read_npy(path: Path, name: str, columns: Sequence[str]) -> Iterator[Cells]:
    rows = npy_rows(path, name, [int(column[1:]) for column in columns], BATCH_ROWS)
    # blocks() is typed as an iterator, but is a generator, which has close().
    with closing(rows.blocks()) as blocks:  # type: ignore[type-var]
        for _, block in blocks:
            # Blocks are floats; names are written as in the file, such as 7.
            yield [_texts(cells) for cells in block.astype(rows.stored).T]


def _texts(cells: Any) -> list[str]:
    return [_text(cell) for cell in cells]


def _text(cell: Any) -> str:
    """Return a cell as `read` writes names of rows: whole numbers as integers."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, (float, np.floating)):
        return str(int(cell)) if float(cell).is_integer() else repr(float(cell))
    return str(cell)
