"""Run `trueaxis repair`: fill missing cells, replace wrong ones, and list them all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from trueaxis.cli import console
from trueaxis.cli.commands import (
    first_step_from,
    fit_source,
    method_from,
    refuse_fit_options,
)
from trueaxis.cli.source import (
    STANDARD,
    Source,
    TableError,
    check_outputs,
    choice_from,
    open_source,
    written,
)
from trueaxis.diagnostics.cells import list_cells
from trueaxis.diagnostics.tables import as_records
from trueaxis.io.formats import compression_of, ending_of
from trueaxis.io.write import ENDINGS, write_content
from trueaxis.persistence import load
from trueaxis.pipeline import split_pipeline
from trueaxis.preprocessing.encoder import TableEncoder
from trueaxis.report.analysis import ignore_feature_name_warning
from trueaxis.wording import counted


@dataclass
class Repair:
    """Cells of a table that a model fills or replaces.

    Attributes
    ----------
    source : Source
    cells : dict of ndarray
        The changed cells, in the units of the table, as `list_cells` returns them.
    n_kept : int
        Number of wrong cells that stay, because their rows are wrong as a whole.
    looked_for_wrong : bool
        Whether wrong cells were looked for.
    """

    source: Source
    cells: dict[str, NDArray[Any]]
    n_kept: int
    looked_for_wrong: bool

    def changes(self) -> dict[str, dict[int, float]]:
        """Return the new cells by column, and by their row in the file."""
        out: dict[str, dict[int, float]] = {}
        rows = self.source.positions_of(self.cells["position"]).tolist()
        new = self.cells["fitted"].tolist()
        for row, column, x in zip(rows, self.cells["column"], new, strict=True):
            out.setdefault(self.source.columns[column], {})[row] = x
        return out

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the changed cells as columns of a table."""
        return {
            "row": self.source.ids[self.cells["position"]],
            "column": np.array(self.source.columns, dtype=str)[self.cells["column"]],
            **{name: self.cells[name] for name in ("value", "fitted", "deviation")},
            "kind": np.where(np.isnan(self.cells["value"]), "missing", "wrong"),
        }

    def counts(self) -> dict[str, Any]:
        """Return numbers of changed cells; columns with most of them come first."""
        n, missing = len(self.cells["value"]), int(np.isnan(self.cells["value"]).sum())
        times = Counter(self.cells["column"].tolist()).most_common()
        return {
            "count": n,
            "rows": len(np.unique(self.cells["position"])),
            "missing": missing,
            "wrong": n - missing,
            "by_column": {self.source.columns[i]: found for i, found in times},
        }

    def describe(self) -> str:
        """Return a summary of the changed cells."""
        counts, kept = self.counts(), ""
        if self.n_kept:
            were = "was" if self.n_kept == 1 else "were"
            wrong = counted(self.n_kept, "wrong cell")
            kept = f" In rows that are wrong as a whole, {wrong} {were} kept."
        if not counts["count"]:
            return f"No cell was changed.{kept}"
        wrong = f", {counts['wrong']:,} wrong" if self.looked_for_wrong else ""
        most, times = next(iter(counts["by_column"].items()))
        return (
            f"{counted(counts['count'], 'cell')} in {counted(counts['rows'], 'row')} "
            f"{'was' if counts['count'] == 1 else 'were'} changed: "
            f"{counts['missing']:,} missing{wrong}; most in column {most} ({times:,})."
            f"{kept}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what was read, and the changed cells, as values for JSON."""
        return self.source.to_dict() | {
            "changed": self.counts(),
            "kept": self.n_kept,
            "looked_for_wrong": self.looked_for_wrong,
            "cells": as_records(self.columns()),
        }


def repair(
    data: str,
    output: str,
    changes: str,
    model: str,
    no_cells: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Write a table without missing and wrong cells, and the list of changed cells."""
    output = output or ("" if as_json else STANDARD)
    if model:
        refuse_fit_options()
    if ("missing", "error") in options["reading"]:
        raise click.UsageError(
            "--read missing=error refuses missing cells, which repair is to fill: "
            "leave it out, or use --read missing=drop to leave out their rows."
        )
    method = method_from(options).set_params(cells=not no_cells)
    if not changes and output not in ("", STANDARD):
        changes = beside(output, "-changes")
    rows, tables = {"--output": output}, {"--changes": changes}
    check_outputs(as_json, (data, model), rows=rows, tables=tables)
    loaded = _load(model) if model else None
    choice = choice_from(options)
    source = open_source(data, choice, loaded or method, targets=[output])
    if loaded is None:
        loaded = fit_source(source, first_step_from(options), method)
    repaired = repair_source(loaded, source, replace_wrong=not no_cells)
    if model and not no_cells and not repaired.looked_for_wrong:
        console.note(
            f"{model} was fitted without --set cells=true and cannot find wrong cells, "
            "so that only missing ones can be filled. To replace wrong ones, fit it "
            "with --set cells=true, or leave out --model."
        )

    def write_repaired(file: Any) -> None:
        source.write_rows(file, output, changes=repaired.changes())

    def write_changes(file: Any) -> None:
        columns = repaired.columns()
        write_content(file, changes, iter([columns]), len(columns["row"]))

    with written({output: write_repaired, changes: write_changes}):
        pass
    if as_json:
        content = repaired.to_dict() | {"model": model or None}
        content |= {"output": output or None, "changes": changes or None}
        console.show_json("repair", data, content)
        return
    aside = STANDARD in (output, changes)
    console.show(repaired.describe(), aside)
    console.show_saved("Repaired table", output, aside)
    console.show_saved("Changed cells", changes, aside)


def repair_source(model: Any, source: Source, *, replace_wrong: bool) -> Repair:
    """Find the cells of a table in memory that a model fills or replaces.

    Parameters
    ----------
    model : DSWL or Pipeline
        Fitted, alone or after a scaler.
    source : Source
    replace_wrong : bool
        Whether to replace wrong cells, or only to fill missing ones.
    """
    with ignore_feature_name_warning():
        cells = list_cells(model, np.asarray(source.rows), True)
    missing, outlier = np.isnan(cells["value"]), cells["outlier"]
    wrong = ~missing & replace_wrong
    changed = {name: x[missing | (wrong & ~outlier)] for name, x in cells.items()}
    looked = replace_wrong and split_pipeline(model).model._repair().wrong is not None
    return Repair(source, changed, int((wrong & outlier).sum()), looked)


def _load(model_path: str) -> Any:
    """Load a model that repairs cells."""
    model = load(model_path)
    first, method = split_pipeline(model)
    if isinstance(first, TableEncoder) or not method._takes_missing:
        raise TableError(
            f"{model_path} cannot repair cells: it takes logarithms or categories, or "
            f"judges whole rows ({type(method).__name__}). Use a model of dswl fitted "
            "without --encode, or leave out --model."
        )
    return model


def beside(output: str, suffix: str) -> str:
    """Return the name of a table beside another one, such as NAME-changes.csv.

    It has the ending of the output, so that those of x.csv and x.parquet differ.
    """
    path, ending = Path(output), ending_of(output) + compression_of(output)
    if ending_of(output) not in ENDINGS or not ending:
        return str(path.with_name(f"{path.name}{suffix}.csv"))
    return str(path.with_name(f"{path.name[: -len(ending)]}{suffix}{ending}"))
