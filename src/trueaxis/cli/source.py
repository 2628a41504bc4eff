"""The table of a command: how it is read, and how its rows are written again.

This is the only module of the command line that reads tables from files. Commands get
the columns of a table, names of its rows, and numbers: an array if the table fits into
memory, and otherwise rows that are read block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import Column, describe_left_out, examine, quote, select
from trueaxis._columns import TableError as TableError
from trueaxis._files import STANDARD as STANDARD
from trueaxis._files import refuse_same_targets, refuse_target, written_together
from trueaxis.cli import console
from trueaxis.data.arrow import ArrowFile
from trueaxis.data.files import (
    ENDINGS,
    WatchedFile,
    is_text,
    is_visible,
    list_files,
)
from trueaxis.data.open_rows import describe_file, npy_rows, open_rows
from trueaxis.data.rows import Rows
from trueaxis.data.text import TextRows, decoded_text
from trueaxis.data.transformed import checked_rows
from trueaxis.io.cells import as_name, option
from trueaxis.io.choice import Choice
from trueaxis.io.formats import compression_of, kept_standard_input
from trueaxis.io.table import MissingCells, read_table
from trueaxis.io.text import Text
from trueaxis.io.write import Original, refuse_table
from trueaxis.methods import METHODS
from trueaxis.pipeline import column_names, split_pipeline
from trueaxis.preprocessing.encoder import TableEncoder

LARGE_BYTES = 1 << 28  # files of this size or more are read block by block
BLOCK_BYTES = 1 << 24
BATCH_ROWS = 1 << 15  # rows whose names are decoded at a time
USUAL_COMPRESSION = 4  # of numbers written as text


@dataclass
class Source:
    """The table of a command.

    Attributes
    ----------
    name : str
        The file.
    columns : tuple of str
        Columns of numbers that are analyzed.
    left_out : dict
        Why other columns are not analyzed.
    rows : ndarray of shape (n, D), or Rows
        In memory, or read block by block; NaN in missing cells.
    ids : ndarray of shape (n,)
        Names of the rows, or their numbers.
    labels : ndarray of shape (n,), or None
        Labels shown beside the names.
    frame : tuple of Column
        Analyzed columns of all kinds, for an encoder; none if read block by block.
    positions : ndarray of shape (n,), or None
        Which rows of the file these are; None for all.
    original : Original or None
        Rows as the file has them, if they are to be written again.
    watched : list of WatchedFile
        Files that are read again for these rows.
    missing : ndarray of shape (D,)
        Number of missing cells of every column; known after a pass over `blocks` if
        the rows are read block by block.
    """

    name: str
    columns: tuple[str, ...]
    left_out: dict[str, str]
    rows: NDArray[np.float64] | Rows
    ids: NDArray[Any]
    labels: NDArray[Any] | None
    frame: tuple[Column, ...] = ()
    positions: NDArray[np.intp] | None = None
    original: Original | None = None
    watched: list[WatchedFile] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.missing = np.zeros(len(self.columns), dtype=int)
        # It is faster to find out whether there are any than to count them.
        if isinstance(self.rows, np.ndarray) and np.isnan(self.rows.min(initial=0.0)):
            self.missing = np.isnan(self.rows).sum(axis=0)
        self.note_missing()

    @property
    def in_memory(self) -> bool:
        """Whether the table is held in memory."""
        return isinstance(self.rows, np.ndarray)

    @property
    def n_rows(self) -> int:
        """Number of rows that are analyzed."""
        return int(self.rows.shape[0])

    def rows_for(self, first_step: Any) -> Any:
        """Return the rows as a scaler takes them, or as an encoder does."""
        return list(self.frame) if isinstance(first_step, TableEncoder) else self.rows

    def blocks(self, model: Any) -> Iterator[tuple[slice, Any]]:
        """Yield which rows, and the rows as a model takes them; all if in memory."""
        if isinstance(self.rows, np.ndarray):
            yield slice(None), self.rows_for(split_pipeline(model).scaler)
            return
        missing = np.zeros_like(self.missing)
        for first, block in self.rows.blocks():
            missing += np.isnan(block).sum(axis=0)
            yield slice(first, first + len(block)), block
        self.missing = missing
        self.note_missing()

    def note_missing(self) -> None:
        """Say how many cells are missing, if any are."""
        total, D = int(self.missing.sum()), len(self.columns)
        if total:
            are, they = ("is", "it is") if total == 1 else ("are", "they are")
            console.note(
                f"{total:,} of {self.n_rows * D:,} cells {are} missing, in "
                f"{(self.missing > 0).sum()} of {D} columns; {they} filled by what the "
                "other columns say."
            )

    def positions_of(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return where analyzed rows are in the file."""
        return rows if self.positions is None else self.positions[rows]

    def in_file(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which rows of the file are chosen, given this for rows analyzed."""
        assert self.original is not None  # opened, as rows are to be written
        out = np.zeros(self.original.n_rows, dtype=bool)
        out[self.positions_of(np.flatnonzero(chosen))] = True
        return out

    def write_rows(
        self,
        file: IO[bytes],
        target: str,
        kept: NDArray[np.bool_] | None = None,
        changes: Mapping[str, dict[int, float]] | None = None,
    ) -> None:
        """Write rows of the file again, in its format or in that of the target.

        Parameters
        ----------
        file : binary file
        target : str
            Its name.
        kept : ndarray of bool, optional
            Which rows of the file; all by default.
        changes : dict, optional
            New values by column and row, if the table is in memory.
        """
        assert self.original is not None  # opened, as there is a target
        rows = self.positions if kept is None else np.flatnonzero(kept)
        self.original.write(file, target, rows, changes)
        for each in self.watched:
            each.check()

    def to_dict(self) -> dict[str, Any]:
        """Return what was read, for JSON."""
        by_column = dict(zip(self.columns, self.missing.tolist(), strict=True))
        return {
            "rows": self.n_rows,
            "columns": list(self.columns),
            "left_out_columns": self.left_out,
            "missing": {
                "count": sum(by_column.values()),
                "by_column": {name: n for name, n in by_column.items() if n},
            },
        }


# ---------------------------------------------------------------- opening


def choice_from(options: dict[str, Any]) -> Choice:
    """Return which columns of the table play which role, and how it is read."""
    columns, drop, na = (
        [name for names in options[option] for name in names]
        for option in ("columns", "drop", "na")
    )
    categories = encoding_from(options).get("categories", ())
    return Choice(
        columns=columns or None,
        drop=drop,
        id=options["id_"],
        label=options.get("label"),
        na=na,
        categories=("*",) if categories == [] else tuple(categories),
        **dict(options["reading"]),
    )


def encoding_from(options: dict[str, Any]) -> dict[str, list[str]]:
    """Return the columns of every kind of encoding; an empty list stands for all."""
    encoding: dict[str, list[str]] = {}
    for kind, names in options.get("encoding", ()):
        encoding.setdefault(kind, []).extend(names)
    return encoding


def open_source(
    data: str,
    choice: Choice,
    taker: Any,
    *,
    targets: Iterable[str] = (),
    large: bool = False,
) -> Source:
    """Open the table of a command, and print notes about it.

    Parameters
    ----------
    data : str
        A file, or "-" for standard input.
    choice : Choice
    taker : estimator or Pipeline
        The consumer of the rows: a fitted model, or a method to be fitted.
    targets : iterable of str
        Files that rows of the table will be written to; "" for none.
    large : bool
        Whether a large file is read block by block.
    """
    targets = list(filter(None, targets))
    method = split_pipeline(taker).model
    fits = not hasattr(method, "components_")
    asked = choice if fits else choice_for_model(taker, choice)
    streamed = large and _is_large(data)
    opened = _open_large if streamed else _read
    try:
        with kept_standard_input(data):
            source = opened(data, asked, method, targets, fits)
    except TableError as error:
        if asked is choice:
            raise
        # The model, not the user, asks for the missing columns.
        raise TableError(
            f"{error} (The model was fitted on {quote(asked.columns or ())}.)"
        ) from None
    if fits:
        _refuse_to_fit(source)
    return source


def _refuse_to_fit(source: Source) -> None:
    """Raise if nothing can be learned from a table."""
    if source.n_rows < 2:
        raise TableError(
            f"{source.name} has only {source.n_rows} row to analyze, and a fit needs "
            "at least 2: pass a table with more rows."
        )
    empty = np.flatnonzero(source.missing == source.n_rows)
    if len(empty):
        name = source.columns[empty[0]]
        raise TableError(
            f"Column {name!r} is empty, and nothing can fill it (empty columns: "
            f"{len(empty)} of {len(source.columns)}): leave out such columns (--drop "
            f"{option([name])})."
        )


def _read(
    data: str, choice: Choice, taker: Any, targets: list[str], fits: bool
) -> Source:
    """Read a table into memory."""
    path = Path(data)
    watched = [WatchedFile.of(path)] if targets and path.is_file() else []
    original = Original(data, choice) if targets else None
    refused = choice.missing == "fill" and not taker._takes_missing
    try:
        table = read_table(
            data, replace(choice, missing="error") if refused else choice
        )
    except MissingCells as error:
        if not refused:
            raise
        name = (taker if isinstance(taker, type) else type(taker)).__name__
        takers = [name for name, each in METHODS.items() if each._takes_missing]
        raise MissingCells(
            f"{error} {name} needs complete rows; the methods that take missing cells: "
            f"{', '.join(takers)}."
        ) from None
    for text in table.notes:
        console.note(text)
    ids = np.arange(len(table.X)) if table.ids is None else table.ids
    return Source(
        data, table.columns, table.left_out, table.X, ids, table.labels,
        table.frame, table.positions, original, watched,
    )  # fmt: skip


def _open_large(
    data: str, choice: Choice, taker: Any, targets: list[str], fits: bool
) -> Source:
    """Open a file that is read block by block."""
    path = Path(data)
    if choice.missing == "drop":
        raise TableError(
            f"{data} is read block by block, where rows cannot be left out: use "
            "--read missing=fill or error, or remove the rows from the file."
        )
    if choice.na and not is_text(path):
        raise TableError(
            f"{data} is read block by block, where --na is only for text: replace the "
            "cells by missing ones."
        )
    text = decoded_text(path, choice) if is_text(path) else None
    kinds = describe_file(path)[1] if text is None else _kinds_of_text(text, choice)
    wanted, left_out = _columns_to_read(data, kinds, choice)
    # A fit reads often: its default blocks fit into a cache.
    block_rows = None if fits else max(1, BLOCK_BYTES // (8 * len(wanted)))
    files, names = list_files(path)
    if text is not None:
        rows: Rows = TextRows(path, choice, wanted, block_rows, text)
    else:
        columns: list[Any] = wanted
        if files[0].suffix.lower() == ".npy":
            columns = [list(kinds).index(name) for name in wanted]
        rows = open_rows(data, columns=columns, block_rows=block_rows)
    if not rows.shape[0]:
        raise TableError(f"{data} has no rows: check the files.")
    # A fit refuses missing cells itself, and says what to do.
    missing_ok = choice.missing == "fill" and (fits or taker._takes_missing)
    checked = checked_rows(rows, wanted, missing_ok=missing_ok)
    checked.names = tuple(wanted)
    original = Original(data, choice, files) if targets else None
    asked = [name for name in (choice.id, choice.label) if name is not None]
    texts = _texts(path, asked, text) if asked else []
    return Source(
        data,
        tuple(wanted),
        left_out,
        checked,
        texts[0] if choice.id else np.arange(rows.shape[0]),
        texts[-1] if choice.label else None,
        original=original,
        watched=[WatchedFile.of(*each) for each in zip(files, names, strict=True)],
    )


def _texts(
    path: Path, names: Sequence[str], text: Text | None
) -> list[NDArray[np.str_]]:
    """Return names and labels of the rows of a large file."""
    found: list[list[str]] = [[] for _ in names]
    for file, name in zip(*list_files(path), strict=True):
        if text is not None:
            batches: Iterable[Any] = (cells for _, cells in text.texts(names))
        elif file.suffix.lower() == ".npy":
            rows = npy_rows(file, name, [int(column[1:]) for column in names])
            batches = (block.T.tolist() for _, block in rows.blocks())
        else:
            arrow = ArrowFile(WatchedFile.of(file, name))
            for column in {*names} - {*arrow.schema.names}:
                raise TableError(f"{name} has no column {column!r}: choose another.")
            batches = (
                [batch.column(column).to_pylist() for column in names]
                for _, batch in arrow.batches(list(dict.fromkeys(names)), BATCH_ROWS)
            )
        for batch in batches:
            for cells, more in zip(found, batch, strict=True):
                cells += map(as_name, more)
    return [np.array(cells) for cells in found]


def _is_large(data: str) -> bool:
    """Return whether a file, or a folder of files, is read block by block."""
    path = Path(data)
    if data == STANDARD or not path.exists():
        return False
    if path.is_dir():
        files = [file for file in path.rglob("*") if file.is_file()]
        endings = {file.suffix.lower() for file in files if is_visible(file, path)}
        return len(endings) == 1 and endings <= set(ENDINGS)
    if is_text(path):
        size = path.stat().st_size
        return size * (USUAL_COMPRESSION if compression_of(data) else 1) >= LARGE_BYTES
    if path.suffix.lower() not in ENDINGS:
        return False
    n, kinds = describe_file(path)
    return 8 * n * len(kinds) >= LARGE_BYTES


def _kinds_of_text(text: Text, choice: Choice) -> dict[str, str]:
    """Return the kinds of the columns of a text; print notes."""
    for note in text.notes:
        console.note(note)
    kinds: dict[str, str] = {name: text.kinds[name] for name in text.names}
    if text.layout.row_names is not None:
        kinds[text.layout.row_names] = "names of rows"
    asked: list[str] = []
    if choice.columns is not None:
        asked = select(choice.columns, list(kinds), "--columns", exact=choice.by_name)
    return kinds | examine(text.sample(), asked).left_out


def _columns_to_read(
    data: str, kinds: dict[str, str], choice: Choice
) -> tuple[list[str], dict[str, str]]:
    """Return the columns of a large file to analyze, and why not the others."""
    chosen = choice.analyzed(list(kinds))
    left_out = {name: kinds[name] for name in chosen if kinds[name] != "number"}
    for name in left_out.keys() & {*(choice.columns or ())}:
        raise TableError(
            f"Column {name!r} of {data} is not one of numbers ({left_out[name]}), and "
            "only numbers can be analyzed in a file that is read block by block: leave "
            "it out."
        )
    for text in describe_left_out(left_out):
        console.note(text)
    wanted = [name for name in chosen if name not in left_out]
    if not wanted:
        raise TableError(f"No column of numbers in {data} is left to analyze.")
    return wanted, left_out


def choice_for_model(model: Any, choice: Choice) -> Choice:
    """Return the choice of the columns a model was fitted on, if it has names."""
    first, method = split_pipeline(model)
    named = first if isinstance(first, TableEncoder) else method
    if not hasattr(named, "feature_names_in_"):
        return choice
    names: list[str] = column_names(method).tolist()
    categories: tuple[str, ...] = ()
    if isinstance(first, TableEncoder):
        names = first.columns_
        categories = tuple(first.categories_)
    if choice.columns or choice.drop:
        raise TableError(
            f"The model selects its columns by name ({quote(names)}): leave out "
            "--columns and --drop."
        )
    for role, name in (("--id", choice.id), ("--label", choice.label)):
        if name in names:
            raise TableError(
                f"{role} {name} is a column that the model was fitted on: choose "
                "another one."
            )
    return replace(choice, columns=names, drop=(), categories=categories, by_name=True)


# ---------------------------------------------------------------- writing


def check_outputs(
    as_json: bool,
    sources: tuple[str, ...],
    *,
    files: Mapping[str, str] = MappingProxyType({}),
    tables: Mapping[str, str] = MappingProxyType({}),
    rows: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Raise early if outputs cannot be written, or are inputs, or the same file.

    Parameters
    ----------
    as_json : bool
        Whether JSON is printed to standard output.
    sources : tuple of str
        Files that are read, the table first.
    files, tables, rows : dict
        Names of outputs by option: any file; tables, whose ending tells the format; and
        tables with rows of the input. "" for none.
    """
    given = {**files, **tables, **rows}
    if any(given.values()):
        refuse_same_targets(given | ({"--json": STANDARD} if as_json else {}))
    for name, target in files.items():
        if target == STANDARD:
            raise TableError(
                f"The file of {name} is not a table, and cannot be written to standard "
                "output: give a file name."
            )
    for target in filter(None, files.values()):
        refuse_target(target, *sources)
    for target in filter(None, tables.values()):
        refuse_table(target, *sources)
    for target in filter(None, rows.values()):
        refuse_table(target, *sources, rows_of=sources[0])


def written(
    writers: Mapping[str, Callable[[IO[bytes]], object]],
) -> AbstractContextManager[None]:
    """Write files that appear after the `with` statement, if it succeeds.

    Standard output ("-") is written last, because its reader may close it early. Files
    without a name are left out.
    """
    return written_together({name: each for name, each in writers.items() if name})
