"""Run `trueaxis repair`: fill holes, replace wrong cells, and list what was changed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from trueaxis._cli import console
from trueaxis._cli.cell_output import (
    RepairedTable,
    changes_summary,
    describe_changes,
    repair_table,
)
from trueaxis._cli.errors import NOTES
from trueaxis._cli.json_output import as_records, head_summary, table_summary
from trueaxis._cli.missing import read_for_fit, takes_holes
from trueaxis._cli.options import FitOptions
from trueaxis._cli.workflow import choice_for_model, fit_model, read_for_model
from trueaxis._persistence.model_files import load
from trueaxis.estimators.encoder import TableEncoder
from trueaxis.estimators.pipeline import split_pipeline
from trueaxis.io import Choice, Table, TableError
from trueaxis.io.formats import STANDARD, compression_of, ending_of
from trueaxis.io.original import (
    Original,
    kept_standard_input,
    open_original,
    refuse_original,
    refuse_other_rows,
    refuse_text,
    write_rows,
)
from trueaxis.io.write import ENDINGS, refuse_table, write_content, written_together

_KNOWS_NONE = (
    "{} was fitted without --cells and knows no wrong cells: only missing cells were "
    "filled. To replace wrong ones, fit it with --cells, or leave out --model."
)
_ENCODED = (
    "repair changes cells of numbers, but the model takes logarithms or categories: "
    "leave out --log and --categories, or use another model."
)


def repair(
    data: str,
    choice: Choice,
    fit_options: FitOptions,
    model_path: str,
    cells: bool | None,
    output: str,
    changes: str | None,
    as_json: bool,
) -> None:
    """Write a table without holes and wrong cells, and the list of changed cells.

    Parameters
    ----------
    data : str
    choice : Choice
    fit_options : FitOptions
        For the fit of DSWL, if there is no model.
    model_path : str
        File of a model; "" to fit one.
    cells : bool or None
        Whether to replace wrong cells; None if the model knows of any.
    output, changes : str
        Tables to write; "" for none. If `changes` is None, its name follows from that
        of the output.
    as_json : bool
    """
    changes = _default_changes(output) if changes is None else changes
    _refuse_targets(output, changes, data, model_path)
    if fit_options.log or fit_options.categories:
        raise TableError(_ENCODED)
    model = _load(model_path, cells) if model_path else None
    original, table, repaired = _repaired(
        data, choice, fit_options, model, cells, output
    )
    if model_path and cells is None and not repaired.looked_for_wrong:
        console.note(_KNOWS_NONE.format(model_path))
    _write(original, output, changes, table, repaired)
    if as_json:
        content = head_summary("repair", data) | table_summary(table)
        content |= changes_summary(repaired, table.columns)
        content |= {"cells": as_records(_listed(repaired, table, as_lists=True))}
        content |= {"model": model_path or None, "output": output or None}
        content |= {"changes": changes or None, "notes": list(NOTES)}
        console.say_json(content)
        return
    to = console.stderr() if STANDARD in (output, changes) else None
    console.say(describe_changes(repaired, table.columns), to)
    for name, what in ((output, "Repaired table"), (changes, "Changed cells")):
        if name not in ("", STANDARD):
            console.say(f"{what} saved to {name}", to)


def _refuse_targets(output: str, changes: str, data: str, model_path: str) -> None:
    refuse_original(output, data, model_path)
    refuse_table(changes, data, model_path)
    if changes and os.path.realpath(changes) == os.path.realpath(output):
        raise TableError(
            f"{changes} cannot hold both the table and its changes: choose another "
            "name for --changes."
        )


def _repaired(
    data: str,
    choice: Choice,
    fit_options: FitOptions,
    model: Any,
    cells: bool | None,
    output: str,
) -> tuple[Original | None, Table, RepairedTable]:
    """Read a table, fit it if there is no model, and repair it."""
    wanted = choice if model is None else choice_for_model(model, choice)
    with (
        kept_standard_input(data),
        console.stages(["reading", "fitting", "repairing"]) as begin,
    ):
        begin("reading")
        original = open_original(data, wanted) if output else None
        if original is not None:
            refuse_text(original, output)
        if model is not None:
            table = read_for_model(model, data, choice)
        else:
            table = read_for_fit(data, choice, "dswl")
            begin("fitting")
            looks = {"cells": cells is not False}
            options = replace(fit_options, parameters=fit_options.parameters | looks)
            model = fit_model(table, options)
        if original is not None and table.positions is None:
            refuse_other_rows(original, len(table.X), data)
        begin("repairing")
        parts = split_pipeline(model)
        repaired = repair_table(parts, table.X, replace_wrong=cells is not False)
    return original, table, repaired


def _default_changes(output: str) -> str:
    """Return the file beside the output; none if that is standard output.

    It has the ending of the output, so that those of x.csv and x.parquet differ.
    """
    if output in ("", STANDARD):
        return ""
    path, ending = Path(output), ending_of(output) + compression_of(output)
    if ending_of(output) not in ENDINGS or not ending:
        return str(path.with_name(f"{path.name}-changes.csv"))
    return str(path.with_name(f"{path.name[: -len(ending)]}-changes{ending}"))


def _load(model_path: str, cells: bool | None) -> Any:
    model = load(model_path)
    first, method = split_pipeline(model)
    if isinstance(first, TableEncoder):
        raise TableError(_ENCODED)
    if not takes_holes(method):
        raise TableError(
            f"{model_path} is a {type(method).__name__}, which judges whole rows and "
            "repairs no cells: use a model of dswl, or leave out --model."
        )
    if cells and method._repair().wrong is None:
        raise TableError(
            f"{model_path} was fitted without --cells and knows no wrong cells: fit it "
            "with --cells, or leave out --cells to fill only missing cells."
        )
    return model


def _write(
    original: Original | None,
    output: str,
    changes: str,
    table: Table,
    repaired: RepairedTable,
) -> None:
    """Write the table and the list."""
    new = repaired.changes(table.columns, table.positions)

    def write_table(file: IO[bytes]) -> None:
        assert original is not None  # there is one if there is an output
        for note in write_rows(original, file, output, table.positions, new):
            console.note(note)

    def write_changes(file: IO[bytes]) -> None:
        listed = _listed(repaired, table)
        write_content(file, changes, iter([listed]), len(repaired.row))

    writers = {output: write_table, changes: write_changes}
    with written_together({name: writers[name] for name in writers if name}):
        pass


def _listed(
    repaired: RepairedTable, table: Table, *, as_lists: bool = False
) -> dict[str, Any]:
    """Return the changed cells as columns; rows by their numbers in the file."""
    listed = repaired.columns(table.ids, table.columns)
    if not as_lists:
        return listed
    return {name: np.asarray(values).tolist() for name, values in listed.items()}
