"""Stream large files through a model, and its verdicts to another file.

The results are those that `workflow` and `json_output` give for a table in memory.
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

from trueaxis._cli import console, import_pandas
from trueaxis._cli.id_columns import IdColumns
from trueaxis._cli.missing import HoleCounter, takes_holes
from trueaxis._columns import describe_left_out, examine, select
from trueaxis._rows.base import Rows
from trueaxis._rows.checked import CheckedRows
from trueaxis._rows.dask.rows import DaskRows
from trueaxis._rows.open_rows import (
    ENDINGS,
    describe_file,
    is_text,
    is_visible,
    list_files,
    open_rows,
)
from trueaxis._rows.progress import passing
from trueaxis._rows.text import TextRows
from trueaxis.io import Choice, TableError
from trueaxis.io.formats import STANDARD, compression_of, open_text
from trueaxis.io.text import TextBlocks

LARGE_BYTES = 1 << 28  # files of this size or more are streamed
BLOCK_BYTES = 1 << 24
USUAL_COMPRESSION = 4  # of numbers written as text


def open_if_large(
    model: Any, data: str, choice: Choice, *, spool: bool = False
) -> Rows | None:
    """Open a file that is too large to be read at once; return None for any other.

    Without a model, the rows have the columns that `choice` selects, and may have
    holes, which methods that do not take them refuse.
    """
    path = Path(data)
    if data == STANDARD or not path.exists():
        return None
    folder = _is_folder_of_parts(path)
    if is_text(path) and path.is_file():
        if _text_bytes(path) < LARGE_BYTES:
            return None
        text = open_text(data, choice)
        kinds = _kinds_of_text(text, choice)
    elif folder or (path.suffix.lower() in ENDINGS and path.is_file()):
        n, kinds = describe_file(path)
        if not folder and 8 * n * len(kinds) < LARGE_BYTES:
            return None
    else:
        return None
    _refuse_drop(data, choice)
    if choice.na and not is_text(path):
        raise TableError(
            f"{data} is read block by block, where --na is only for text: replace the "
            "cells by missing ones."
        )
    holes = choice.missing == "fill"
    wanted = _columns_to_read(model, kinds, choice, data)
    # A fit reads often: it uses the default blocks, which fit into a cache.
    block_rows = None if spool else max(1, BLOCK_BYTES // (8 * len(wanted)))
    if is_text(path):
        rows: Rows = TextRows(path, choice, wanted, block_rows, text)
    else:
        import_pandas()
        columns = _names_or_positions(path, list(kinds), wanted)
        rows = open_rows(data, columns=columns, spool=spool, block_rows=block_rows)
    if spool:
        return NamedRows(rows, wanted, holes=holes)
    if rows.shape[0] == 0:
        raise TableError(f"{data} has no rows: check the files.")
    from trueaxis.estimators.pipeline import split_pipeline

    holes = holes and takes_holes(split_pipeline(model).model)
    return CheckedRows(rows, wanted, holes=holes)


def _text_bytes(path: Path) -> int:
    """Return the size of a text, roughly if it is compressed."""
    size = path.stat().st_size
    return size * USUAL_COMPRESSION if compression_of(str(path)) else size


def _kinds_of_text(text: TextBlocks, choice: Choice) -> dict[str, str]:
    """Return the kinds of the columns of a text; print notes."""
    for note in text.notes:
        console.note(note)
    kinds: dict[str, str] = {name: text.kinds[name] for name in text.names}
    if text.row_names is not None:
        kinds[text.row_names] = "names of rows"
    asked: Sequence[str] = ()
    if choice.columns is not None:
        asked = select(choice.columns, list(kinds), "--columns", exact=choice.by_name)
    return kinds | examine(text.sample(), asked).left_out


def _refuse_drop(data: str, choice: Choice) -> None:
    if choice.missing == "drop":
        raise TableError(
            f"{data} is read block by block, where rows cannot be left out: use "
            "--missing fill or error, or remove the rows from the file."
        )


def open_on_workers(data: str, choice: Choice, client: Any) -> Rows:
    """Open a file, or folder of files, that the workers of a client read."""
    path = Path(data)
    if not (_is_folder_of_parts(path) or path.suffix.lower() in ENDINGS):
        raise TableError(
            f"{data} ends in neither {' nor '.join(ENDINGS)}, and workers read only "
            "such files, or folders of them: convert it, or leave out --workers and "
            "--client."
        )
    _refuse_drop(data, choice)
    kinds = describe_file(path)[1]
    wanted = _columns_to_read(None, kinds, choice, data)
    columns = _names_or_positions(path, list(kinds), wanted)
    rows = open_rows(data, columns=columns, client=client)
    rows.names = tuple(wanted)
    if choice.missing == "error":  # the pass names the first hole
        assert isinstance(rows, DaskRows)
        rows.check_anew(wanted)
        rows.scan(HoleCounter(len(wanted)))
    return rows


def _names_or_positions(
    path: Path, names: Sequence[str], wanted: Sequence[str]
) -> Sequence[Any]:
    """Return the wanted columns by name or, for .npy files, by position."""
    if list_files(path)[0][0].suffix.lower() == ".npy":
        position = {name: i for i, name in enumerate(names)}
        return [position[name] for name in wanted]
    return wanted


def _is_folder_of_parts(path: Path) -> bool:
    """Check whether a path is a folder whose files are all parts of one table."""
    endings = {
        file.suffix.lower()
        for file in (path.rglob("*") if path.is_dir() else ())
        if file.is_file() and is_visible(file, path)
    }
    return len(endings) == 1 and endings <= set(ENDINGS)


def _columns_to_read(
    model: Any, kinds: dict[str, str], choice: Choice, data: str
) -> Sequence[str]:
    """Return the columns that a model was, or will be, fitted on; note the others."""
    if model is not None:
        from trueaxis._cli.workflow import choice_for_model

        choice = choice_for_model(model, choice)
    names = list(kinds)
    for role, name in (("--id", choice.id), ("--label", choice.label)):
        if name is not None:
            select([name], names, role)
    excluded = {*select(choice.drop, names, "--drop"), choice.id, choice.label}
    asked = choice.columns
    chosen = names
    if asked is not None:
        chosen = select(asked, names, "--columns", exact=choice.by_name)
    left = {
        name: kinds[name]
        for name in chosen
        if name not in excluded and kinds[name] != "number"
    }
    for name in left.keys() & {*(asked or ())}:
        raise TableError(
            f"Column {name!r} of {data} is not one of numbers ({left[name]}), and only "
            "numbers can be analyzed in a file that is read block by block: leave it "
            "out."
        )
    for note in describe_left_out(left):
        console.note(note)
    wanted = [name for name in chosen if name not in {*excluded, *left}]
    if not wanted:
        raise TableError(f"No column of numbers in {data} is left to analyze.")
    if model is not None:
        from trueaxis._cli.workflow import check_n_columns
        from trueaxis.estimators.pipeline import split_pipeline

        check_n_columns(split_pipeline(model).model, len(wanted), data)
    return wanted


class NamedRows(CheckedRows):
    """Rows with names for columns that had none."""

    def __init__(self, rows: Rows, names: Sequence[str], *, holes: bool) -> None:
        super().__init__(rows, names, holes=holes)
        self.names = tuple(names)


@contextmanager
def forward_log(say: Callable[[str], None]) -> Iterator[None]:
    """Forward log messages of trueaxis, such as the size of a spool, to a function."""

    class ForwardingHandler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            say(record.getMessage())

    log, handler = logging.getLogger("trueaxis"), ForwardingHandler(logging.INFO)
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(before)
        log.removeHandler(handler)


class RunningCounts:
    """Number of rows, of rows of each kind and of holes, seen so far."""

    def __init__(self, n_columns: int) -> None:
        self.rows = 0
        self.holes = np.zeros(n_columns, dtype=int)  # in each column
        self.kinds: Counter[str] = Counter()

    def add(self, block: NDArray[Any]) -> None:
        """Count the rows and holes of a block."""
        self.rows += len(block)
        self.holes += np.isnan(block).sum(axis=0)

    def outliers(self) -> dict[str, int]:
        """Return the number of outliers, in total and of each kind."""
        from trueaxis.diagnostics import KINDS

        kinds = {kind: self.kinds[kind] for kind in KINDS[1:]}
        return {"count": sum(kinds.values()), **kinds}


class RowIdentities:
    """Names and labels of rows, read along with the blocks of rows."""

    def __init__(self, data: str, choice: Choice) -> None:
        self.names = [name for name in (choice.id, choice.label) if name is not None]
        self._columns = IdColumns(Path(data), self.names, choice)
        self._has_ids = choice.id is not None
        self._has_labels = choice.label is not None

    def next(self, first: int, n: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return names and labels of the next n rows; names default to numbers."""
        cells = self._columns.next(n)
        ids = cells[0] if self._has_ids else np.arange(first, first + n)
        return ids, cells[-1] if self._has_labels else None


def score_blocks(
    model: Any, rows: Rows, identities: RowIdentities, counts: RunningCounts
) -> Iterator[dict[str, Any]]:
    """Yield the verdicts on all rows, as one table per block; count them."""
    from trueaxis._cli.json_output import score_columns
    from trueaxis.report.analysis import analyse

    with passing("scoring", rows.shape[0]) as advance:
        for first, block in rows.blocks():
            ids, labels = identities.next(first, len(block))
            analysis = analyse(model, block, ids=ids, labels=labels)
            counts.add(block)
            counts.kinds.update(analysis.counts)
            yield score_columns(analysis)
            advance(len(block))


def transform_blocks(
    model: Any,
    rows: Rows,
    identities: RowIdentities,
    names: Sequence[str],
    counts: RunningCounts,
) -> Iterator[dict[str, Any]]:
    """Yield the scores of all rows on the components, as one table per block."""
    from trueaxis._cli.json_output import identity_columns
    from trueaxis.report.given import ignore_feature_name_warning

    with passing("transforming", rows.shape[0]) as advance:
        for first, block in rows.blocks():
            with ignore_feature_name_warning():
                scores: NDArray[Any] = model.transform(block)
            counts.add(block)
            ids, labels = identities.next(first, len(block))
            columns = identity_columns(ids, labels, len(block))
            yield columns | dict(zip(names, scores.T, strict=True))
            advance(len(block))
