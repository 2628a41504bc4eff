"""STREAM files that are large through a model, and what it says to another file.

The same answers as `analysis` and `summary` give for a table in memory, a block of rows
at a time.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._cli.json_output import scored, who
from trueaxis._cli.workflow import choice_for
from trueaxis._rows.base import Rows
from trueaxis._rows.checked import CheckedRows
from trueaxis._rows.open_rows import ENDINGS, files_of, head, in_sight, open_rows
from trueaxis._rows.progress import passing
from trueaxis._tables.id_columns import IdColumns
from trueaxis._tables.read import STANDARD, Choice, TableError
from trueaxis.estimators.pipeline import split_pipeline
from trueaxis.report.analysis import analyse, names_are_known

LARGE_BYTES = 1 << 28  # from which on a file is streamed
BLOCK_BYTES = 1 << 24


def large_rows(
    model: Any, data: str, choice: Choice, *, spool: bool = False
) -> Rows | None:
    """The rows of a file that had better not be read at once; None of any other.

    Without a model they have the columns of the choice.
    """
    path = Path(data)
    folder = data != STANDARD and _is_one_table(path)
    if data == STANDARD or not (folder or path.suffix.lower() in ENDINGS):
        return None
    if not folder and not path.is_file():
        return None
    n, known = head(path)
    if not folder and 8 * n * len(known) < LARGE_BYTES:
        return None
    wanted = _wanted(model, known, choice, data)
    block_rows = max(1, BLOCK_BYTES // (8 * len(wanted)))
    columns = _columns(path, known, wanted)
    if spool:  # to be read often: in blocks that fit a cache
        return NamedRows(open_rows(data, columns=columns), wanted)
    rows = open_rows(data, columns=columns, spool=False, block_rows=block_rows)
    if rows.shape[0] == 0:
        raise TableError(f"{data} has no rows: check the files.")
    return CheckedRows(rows, wanted)


def rows_of_workers(data: str, choice: Choice, client: Any) -> Rows:
    """The rows of a file, or folder of files, for the workers of a client to read."""
    path = Path(data)
    if not (_is_one_table(path) or path.suffix.lower() in ENDINGS):
        raise TableError(
            f"{data} ends in neither {' nor '.join(ENDINGS)}, and workers read only "
            "such files, or folders of them: convert it, or leave out --workers and "
            "--client."
        )
    known = head(path)[1]
    wanted = _wanted(None, known, choice, data)
    rows = open_rows(data, columns=_columns(path, known, wanted), client=client)
    rows.names = tuple(wanted)
    return rows


def _columns(path: Path, known: Sequence[str], wanted: Sequence[str]) -> Sequence[Any]:
    """The columns by their names or, in .npy files, by their numbers."""
    if files_of(path)[0][0].suffix.lower() == ".npy":
        return [known.index(name) for name in wanted]
    return wanted


def _is_one_table(path: Path) -> bool:
    """Whether all files of a folder are parts of one table."""
    found = {
        file.suffix.lower()
        for file in (path.rglob("*") if path.is_dir() else ())
        if file.is_file() and in_sight(file, path)
    }
    return len(found) == 1 and found <= set(ENDINGS)


def _wanted(
    model: Any, known: Sequence[str], choice: Choice, data: str
) -> Sequence[str]:
    """Names of the columns that a model was fitted on, or is to be."""
    method = None if model is None else split_pipeline(model).model
    if model is not None:
        choice = choice_for(model, choice)
    for name in (*(choice.columns or ()), *choice.drop, choice.id, choice.label):
        if name is not None and name not in known:
            raise TableError(
                f"There is no column {name!r} in {data}; there are {', '.join(known)}."
            )
    apart = {*choice.drop, choice.id, choice.label}
    wanted = [name for name in choice.columns or known if name not in apart]
    if not wanted:
        raise TableError("No column is left to analyse: drop fewer.")
    if method is not None and len(wanted) != method.n_features_in_:
        raise TableError(
            f"{data} has {len(wanted)} columns, but the model was fitted on "
            f"{method.n_features_in_}, whose names it does not know: choose them with "
            "--columns or --drop, in the same order."
        )
    return wanted


class NamedRows(CheckedRows):
    """Rows whose columns get names, if they had none."""

    def __init__(self, rows: Rows, names: Sequence[str]) -> None:
        super().__init__(rows, names)
        self.names = tuple(names)


@contextmanager
def spoken(say: Callable[[str], None]) -> Iterator[None]:
    """Say what is logged meanwhile, such as the size of a spool."""

    class Speaker(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            say(record.getMessage())

    log, speaker = logging.getLogger("trueaxis"), Speaker(logging.INFO)
    before = log.level
    log.addHandler(speaker)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(before)
        log.removeHandler(speaker)


class RunningCounts:
    """What is counted while rows go by."""

    def __init__(self) -> None:
        self.rows = 0
        self.kinds: Counter[str] = Counter()

    def outliers(self) -> dict[str, int]:
        """How many there were, of each kind."""
        kinds = {kind: self.kinds[kind] for kind in ("inside", "off", "both")}
        return {"count": sum(kinds.values()), **kinds}


class RowIdentities:
    """Who the rows are that go by: by their names, or else their numbers."""

    def __init__(self, data: str, choice: Choice) -> None:
        self.names = [name for name in (choice.id, choice.label) if name is not None]
        self._carried = IdColumns(Path(data), self.names)
        self._named, self._labelled = choice.id is not None, choice.label is not None

    def next(self, first: int, n: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Names and labels of the next n rows, from row `first` on."""
        cells = self._carried.next(n)
        ids = cells[0] if self._named else np.arange(first, first + n)
        return ids, cells[-1] if self._labelled else None


def scored_blocks(
    model: Any, rows: Rows, known: RowIdentities, tally: RunningCounts
) -> Iterator[dict[str, Any]]:
    """What is said about every row, as tables of some rows each."""
    with passing("scoring", rows.shape[0]) as advance:
        for first, block in rows.blocks():
            ids, labels = known.next(first, len(block))
            found = analyse(model, block, ids=ids, labels=labels)
            tally.rows += len(block)
            tally.kinds.update(found.counts)
            yield scored(found)
            advance(len(block))


def transformed_blocks(
    model: Any, rows: Rows, known: RowIdentities, names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Scores of rows on the components, as tables of some rows each."""
    with passing("transforming", rows.shape[0]) as advance:
        for first, block in rows.blocks():
            with names_are_known():
                scores: NDArray[Any] = model.transform(block)
            fields = who(*known.next(first, len(block)), len(block))
            yield fields | dict(zip(names, scores.T, strict=True))
            advance(len(block))
