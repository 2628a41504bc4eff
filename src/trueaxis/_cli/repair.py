"""Run `trueaxis repair`: fill holes, replace wrong cells, and list what was changed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._cli import console
from trueaxis._cli.cell_output import changes_summary, describe_changes, repair_table
from trueaxis._cli.missing import takes_holes
from trueaxis._cli.workflow import FitOptions, fit_model, read_for_fit, read_for_model
from trueaxis._persistence.model_files import load
from trueaxis._tables.read import STANDARD, Choice, Table, TableError
from trueaxis._tables.write import (
    refuse_table,
    refuse_target,
    write_blocks,
    write_table,
)
from trueaxis.estimators import METHODS
from trueaxis.estimators.pipeline import split_pipeline


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
    if changes is None:
        changes = _default_changes(output)
    is_npy = output.lower().endswith(".npy")
    (refuse_target if is_npy else refuse_table)(output, data, model_path)
    refuse_table(changes, data, model_path)
    if changes and os.path.realpath(changes) == os.path.realpath(output):
        raise TableError(
            f"{changes} cannot hold both the table and its changes: choose another "
            "name for --changes."
        )
    with console.stages(["reading", "fitting", "repairing"]) as begin:
        begin("reading")
        if model_path:
            model = _load(model_path, cells)
            table = read_for_model(model, data, choice)
        else:
            table = read_for_fit(data, choice, METHODS["dswl"])
        if is_npy and table.others:
            raise TableError(
                f"{output} holds numbers only, but {next(iter(table.others))!r} is a "
                "column that is not analyzed: choose the ending .parquet or .csv."
            )
        if not model_path:
            begin("fitting")
            looks = {"cells": cells is not False}
            options = replace(fit_options, parameters=fit_options.parameters | looks)
            model = fit_model(table, options)
        begin("repairing")
        parts = split_pipeline(model)
        repaired = repair_table(parts, table.X, replace_wrong=cells is not False)
    _write(output, table, repaired.X)
    if changes:
        write_table(changes, repaired.columns(table.ids, table.columns))
    if as_json:
        content = changes_summary(repaired, table.columns)
        console.say_json(
            content | {"output": output or None, "changes": changes or None}
        )
        return
    to = console.stderr() if STANDARD in (output, changes) else None
    console.say(describe_changes(repaired, table.columns), to)
    for name, what in ((output, "Repaired table"), (changes, "Changed cells")):
        if name not in ("", STANDARD):
            console.say(f"{what} saved to {name}", to)


def _default_changes(output: str) -> str:
    """Return the file beside the output; none if that is standard output."""
    if output in ("", STANDARD):
        return ""
    path = Path(output)
    return str(path.with_name(f"{path.stem}-changes.csv"))


def _load(model_path: str, cells: bool | None) -> Any:
    model = load(model_path)
    method = split_pipeline(model).model
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


def _write(output: str, table: Table, X: NDArray[Any]) -> None:
    """Write all columns in the order of the file; those not analyzed as they were."""
    if not output:
        return
    repaired = dict(zip(table.columns, X.T, strict=True))
    fields = {
        name: repaired[name] if name in repaired else np.asarray(table.others[name])
        for name in table.header or table.columns
    }
    write_blocks(output, iter([fields]), len(X))
