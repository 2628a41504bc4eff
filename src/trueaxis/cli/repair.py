"""Run `trueaxis repair`: fill missing cells, replace wrong ones, and list them all."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._persistence.model_files import load
from trueaxis.cli import console
from trueaxis.cli.findings import fit_model
from trueaxis.cli.options import FitOptions
from trueaxis.cli.source import (
    STANDARD,
    Choice,
    Source,
    TableError,
    beside,
    check_outputs,
    open_source,
    write_table,
    written,
)
from trueaxis.diagnostics import cell_map
from trueaxis.estimators.encoder import TableEncoder
from trueaxis.estimators.pipeline import split_pipeline
from trueaxis.report.given import ignore_feature_name_warning

_FIT_SUCH_A_MODEL = (
    "{} was fitted without --set cells=true and knows no wrong cells: {}. To replace "
    "wrong ones, fit it with --set cells=true, or leave out --model."
)


@dataclass
class Repair:
    """Cells of a table that a model fills or replaces.

    Attributes
    ----------
    source : Source
    row, column : ndarray of int
        Where the changed cells are.
    value, fitted, deviation : ndarray
        What was there, in the units of the table; what is there now; and how far off
        it was, in standard deviations of good cells.
    kind : ndarray of str
        "missing" or "wrong".
    n_kept : int
        Number of wrong cells that stay, because their rows are wrong as a whole.
    looked_for_wrong : bool
        Whether wrong cells were looked for.
    """

    source: Source
    row: NDArray[np.intp]
    column: NDArray[np.intp]
    value: NDArray[np.float64]
    fitted: NDArray[np.float64]
    deviation: NDArray[np.float64]
    kind: NDArray[np.str_]
    n_kept: int
    looked_for_wrong: bool = True

    def changes(self) -> dict[str, dict[int, float]]:
        """Return the new cells by column, and by their row in the file."""
        out: dict[str, dict[int, float]] = {}
        rows = self.source.positions_of(self.row).tolist()
        for row, column, x in zip(rows, self.column, self.fitted.tolist(), strict=True):
            out.setdefault(self.source.columns[column], {})[row] = x
        return out

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the changed cells as columns of a table."""
        ids = self.source.ids
        return {
            "row": self.row if ids is None else np.asarray(ids)[self.row],
            "column": np.array(self.source.columns, dtype=str)[self.column],
            "value": self.value,
            "fitted": self.fitted,
            "deviation": self.deviation,
            "kind": self.kind,
        }

    def counts(self) -> dict[str, Any]:
        """Return numbers of changed cells; columns with most of them come first."""
        missing = int((self.kind == "missing").sum())
        times = Counter(self.column.tolist()).most_common()
        return {
            "count": len(self.row),
            "rows": len(np.unique(self.row)),
            "missing": missing,
            "wrong": len(self.row) - missing,
            "by_column": {self.source.columns[i]: n for i, n in times},
        }

    def describe(self) -> str:
        """Return a summary of the changed cells."""
        n, counts, kept = len(self.row), self.counts(), ""
        if self.n_kept:
            wrong = console.count(self.n_kept, "wrong cell")
            were = "was" if self.n_kept == 1 else "were"
            kept = f" In rows that are wrong as a whole, {wrong} {were} kept."
        if not n:
            return f"No cell was changed.{kept}"
        wrong = f", {counts['wrong']:,} wrong" if self.looked_for_wrong else ""
        most, times = next(iter(counts["by_column"].items()))
        return (
            f"{console.count(n, 'cell')} in {console.count(counts['rows'], 'row')} "
            f"{'was' if n == 1 else 'were'} changed: {counts['missing']:,} missing"
            f"{wrong}; most in column {most} ({times:,}).{kept}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what was read, and the changed cells, as values for JSON."""
        return self.source.to_dict() | {
            "changed": self.counts(),
            "kept": self.n_kept,
            "looked_for_wrong": self.looked_for_wrong,
            "cells": console.records(self.columns()),
        }


def repair(
    data: str,
    choice: Choice,
    options: FitOptions,
    model_path: str,
    cells: bool | None,
    output: str,
    changes: str,
    as_json: bool,
) -> None:
    """Write a table without missing and wrong cells, and the list of changed cells.

    Parameters
    ----------
    data : str
    choice : Choice
    options : FitOptions
        For the fit of DSWL, if there is no model.
    model_path : str
        File of a model; "" to fit one.
    cells : bool or None
        Whether to replace wrong cells; None if the model knows of any.
    output, changes : str
        Tables to write; "" for none. If there is an output, the name of the list
        follows from it by default.
    as_json : bool
    """
    if not changes and output not in ("", STANDARD):
        changes = beside(output, "-changes")
    if changes and os.path.realpath(changes) == os.path.realpath(output):
        raise TableError(
            f"{changes} cannot hold both the table and its changes: choose another "
            "name for --changes."
        )
    check_outputs(
        (data, model_path), rows={"--output": output}, tables={"--changes": changes}
    )
    model = _load(model_path, cells) if model_path else None
    with console.stages() as begin:
        source = open_source(data, choice, method="dswl", model=model, targets=[output])
        if model is None:
            begin("fitting")
            looks = {"cells": cells is not False}
            model = fit_model(source, replace(options, parameters=looks))
        begin("repairing")
        repaired = repair_source(model, source, replace_wrong=cells is not False)
    if model_path and cells is None and not repaired.looked_for_wrong:
        filled = "only missing cells were filled"
        console.note(_FIT_SUCH_A_MODEL.format(model_path, filled))

    def write_repaired(file: Any) -> None:
        source.write_rows(file, output, changes=repaired.changes())

    def write_changes(file: Any) -> None:
        write_table(file, changes, [repaired.columns()], len(repaired.row))

    with written({output: write_repaired, changes: write_changes}):
        pass
    if as_json:
        content = repaired.to_dict() | {"model": model_path or None}
        content |= {"output": output or None, "changes": changes or None}
        console.show_json("repair", data, content)
        return
    aside = STANDARD in (output, changes)
    console.show(repaired.describe(), aside)
    for name, what in ((output, "Repaired table"), (changes, "Changed cells")):
        if name not in ("", STANDARD):
            console.show(f"{what} saved to {name}", aside)


def repair_source(model: Any, source: Source, *, replace_wrong: bool) -> Repair:
    """Fill missing cells and replace wrong ones; all others keep their bits.

    Parameters
    ----------
    model : DSWL or Pipeline
        Fitted, alone or after a scaler.
    source : Source
        A table in memory.
    replace_wrong : bool
        Whether to replace wrong cells, or only to fill missing ones.
    """
    parts, X = split_pipeline(model), np.asarray(source.rows)
    with ignore_feature_name_warning():
        scaled = parts.scaled(X)
        fill = parts.model.repair if replace_wrong else parts.model.impute
        filled = fill(scaled)
        cells = cell_map(parts.model, scaled)
    missing = np.isnan(X)
    changed = missing | (filled != scaled)
    if parts.scaler is not None:
        filled = parts.scaler.inverse_transform(filled)
    row, column = np.nonzero(changed)
    return Repair(
        source,
        row,
        column,
        X[row, column],
        filled[row, column],
        cells.deviations[row, column],
        np.where(missing[row, column], "missing", "wrong"),
        int((cells.wrong & ~changed).sum()) if replace_wrong else 0,
        replace_wrong and parts.model._repair().wrong is not None,
    )


def _load(model_path: str, cells: bool | None) -> Any:
    """Load a model that repairs cells."""
    model = load(model_path)
    first, method = split_pipeline(model)
    if isinstance(first, TableEncoder):
        raise TableError(
            "repair changes cells of numbers, but the model takes logarithms or "
            "categories: use another model, or leave out --model."
        )
    if not method._takes_holes:
        raise TableError(
            f"{model_path} is a {type(method).__name__}, which judges whole rows and "
            "repairs no cells: use a model of dswl, or leave out --model."
        )
    if cells and method._repair().wrong is None:
        raise TableError(_FIT_SUCH_A_MODEL.format(model_path, "it cannot replace any"))
    return model
