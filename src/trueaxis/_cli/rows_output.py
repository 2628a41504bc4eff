"""Write the rows of a table again: those without outliers, or only the outliers.

The commands check the files of `--clean` and `--flagged` before their work, and write
them after it: all files are complete before the first of them appears.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._cli import console
from trueaxis._rows.open_rows import list_files
from trueaxis._rows.watched_file import WatchedFile
from trueaxis.io import Choice
from trueaxis.io.formats import STANDARD
from trueaxis.io.original import (
    Original,
    open_original,
    refuse_original,
    refuse_other_rows,
    refuse_text,
    write_rows,
)
from trueaxis.io.write import refuse_same_targets, written_together


class RowSource(NamedTuple):
    """Rows of the input that can be written again.

    copy : writes the rows for which an array is true, given the name of a file, to it
    name : the input
    original : its rows, if it is held in memory
    """

    copy: Callable[[NDArray[np.bool_], str, IO[bytes]], None]
    name: str
    original: Original | None = None


@dataclass(frozen=True)
class RowFiles:
    """Files for the rows without outliers, and for the outliers; "" for none."""

    clean: str = ""
    flagged: str = ""

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self.clean or self.flagged)

    @property
    def to_stdout(self) -> bool:
        """Whether one of them is standard output."""
        return STANDARD in (self.clean, self.flagged)

    def refuse(self, data: str, model_path: str = "", **others: str) -> None:
        """Raise early if a file cannot be written.

        Parameters
        ----------
        data, model_path : str
            Inputs.
        **others : str
            Other files that the command writes, by option.
        """
        targets = {f"--{option}": path for option, path in others.items()}
        targets |= {"--clean": self.clean, "--flagged": self.flagged}
        refuse_same_targets(targets)
        for target in (self.clean, self.flagged):
            refuse_original(target, data, model_path)

    def open(self, data: str, choice: Choice) -> RowSource | None:
        """Return what writes rows of a file that fits into memory."""
        if not self:
            return None
        original = open_original(data, choice)
        for target in (self.clean, self.flagged):
            refuse_text(original, target)

        def copy(kept: NDArray[np.bool_], target: str, file: IO[bytes]) -> None:
            write_rows(original, file, target, np.flatnonzero(kept))

        return RowSource(copy, data, original)

    def open_large(self, data: str, choice: Choice) -> RowSource | None:
        """Return what writes rows of a file that is read block by block."""
        if not self:
            return None
        paths, names = list_files(Path(data))
        # The verdicts are about the rows that the files have now.
        watched = [
            WatchedFile.of(path, name) for path, name in zip(paths, names, strict=True)
        ]
        original = open_original(data, choice, paths)
        for target in (self.clean, self.flagged):
            refuse_text(original, target)

        def copy(kept: NDArray[np.bool_], target: str, file: IO[bytes]) -> None:
            write_rows(original, file, target, np.flatnonzero(kept))
            for each in watched:
                each.check()

        return RowSource(copy, data)

    def split(
        self,
        source: RowSource | None,
        flagged: NDArray[np.bool_],
        positions: NDArray[np.intp] | None = None,
    ) -> RowSplit:
        """Return which rows of the file go where.

        Parameters
        ----------
        source : RowSource or None
        flagged : ndarray of bool
            Verdict on each row that was analyzed.
        positions : ndarray of int, optional
            Which rows of the file these are; all by default.
        """
        flagged = np.asarray(flagged)
        if positions is None:
            if source is not None and source.original is not None:
                refuse_other_rows(source.original, len(flagged), source.name)
            return RowSplit(self, source, ~flagged, flagged, 0)
        total = int(positions.max(initial=-1)) + 1
        if source is not None and source.original is not None:
            total = source.original.n_rows
        masks = np.zeros((2, total), dtype=bool)
        masks[0, positions[~flagged]] = True
        masks[1, positions[flagged]] = True
        return RowSplit(self, source, masks[0], masks[1], total - len(flagged))


@dataclass(frozen=True)
class RowSplit:
    """Which rows of a file are clean, and which are outliers.

    Attributes
    ----------
    files : RowFiles
    source : RowSource or None
    clean, flagged : ndarray of bool
        For each row of the file.
    n_neither : int
        Number of rows that were left out of the analysis.
    """

    files: RowFiles
    source: RowSource | None
    clean: NDArray[np.bool_]
    flagged: NDArray[np.bool_]
    n_neither: int

    @contextmanager
    def written(self) -> Iterator[None]:
        """Write the files; they appear after the `with` statement, if it succeeds.

        Standard output comes last: whoever reads it may close it early.
        """
        if self.source is None:
            yield
            return
        both = (self.files.clean, self.clean), (self.files.flagged, self.flagged)
        writers = {
            target: partial(self.source.copy, kept, target)
            for target, kept in both
            if target
        }
        with written_together(writers):
            yield

    def say(self, to: Any = None) -> None:
        """Print how many rows went where."""
        clean, flagged = int(self.clean.sum()), int(self.flagged.sum())
        neither = ""
        if self.n_neither:
            rows = "row" if self.n_neither == 1 else "rows"
            neither = f" ({self.n_neither:,} {rows} with missing cells in neither file)"
        if self.files.clean not in ("", STANDARD):
            rows = "row" if clean == 1 else "rows"
            console.say(
                f"{clean:,} clean {rows} saved to {self.files.clean}{neither}", to
            )
        if self.files.flagged not in ("", STANDARD):
            rows = "outlier" if flagged == 1 else "outliers"
            console.say(
                f"{flagged:,} {rows} saved to {self.files.flagged}{neither}", to
            )

    def summary(self) -> dict[str, Any]:
        """Return the files and their numbers of rows, for JSON."""
        return {
            name: {"file": target, "rows": int(kept.sum())} if target else None
            for name, target, kept in (
                ("clean", self.files.clean, self.clean),
                ("flagged", self.files.flagged, self.flagged),
            )
        } | ({"in_neither": self.n_neither} if self.files else {})
