"""READ names and labels of rows beside their numbers, a few rows at a time.

They need not be numbers, and are text from here on, as `tables` makes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._rows.binary import npy_rows
from trueaxis._rows.open_rows import files_of
from trueaxis._rows.parquet import opened
from trueaxis._rows.watched_file import SourceError, WatchedFile

Cells = list[list[str]]  # by column

BATCH_ROWS = 1 << 15  # of names and labels at a time


class IdColumns:
    """Columns of a file, or of a folder of files, that are carried along.

    Parameters
    ----------
    path : Path
    columns : sequence of str
        Their names; those of .npy files are x0, x1, ...
    """

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self.path, self.columns = path, list(columns)
        self._coming = self._cells()
        self._held: Cells = [[] for _ in columns]

    def next(self, n: int) -> list[NDArray[np.str_]]:
        """Of the next n rows the cells of each column."""
        while self._held and len(self._held[0]) < n:
            more = next(self._coming, None)
            if more is None:
                raise SourceError(
                    f"{self.path} has fewer cells in {', '.join(self.columns)} than "
                    "rows: it was written to meanwhile. Start again when it is whole."
                )
            for held, cells in zip(self._held, more, strict=True):
                held += cells
        taken = [np.array(held[:n]) for held in self._held]
        self._held = [held[n:] for held in self._held]
        return taken

    def _cells(self) -> Iterator[Cells]:
        if not self.columns:
            return
        for file, name in zip(*files_of(self.path), strict=True):
            parquet = file.suffix.lower() == ".parquet"
            yield from (_of_parquet if parquet else _of_npy)(file, name, self.columns)


def _of_parquet(path: Path, name: str, columns: Sequence[str]) -> Iterator[Cells]:
    with opened(WatchedFile.of(path, name)) as file:
        lacks = [column for column in columns if column not in file.schema_arrow.names]
        if lacks:
            raise SourceError(f"{name} has no column {lacks[0]!r}: name another one.")
        for batch in file.iter_batches(
            BATCH_ROWS, columns=list(dict.fromkeys(columns))
        ):
            yield [_texts(batch.column(column).to_pylist()) for column in columns]


def _of_npy(path: Path, name: str, columns: Sequence[str]) -> Iterator[Cells]:
    rows = npy_rows(path, name, [int(column[1:]) for column in columns], BATCH_ROWS)
    with closing(rows.blocks()) as blocks:  # type: ignore[type-var]
        for _, block in blocks:
            # Whole numbers were made floats to be analysed.
            yield [_texts(cells) for cells in block.astype(rows.stored).T]


def _texts(cells: Any) -> list[str]:
    return [str(cell) for cell in cells]
