"""Steps that commands share: read a table, fit or judge it, analyze the result."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from trueaxis._cli import console
from trueaxis._cli.missing import (
    describe_holes,
    read_for_method,
    refuse_empty_columns,
)
from trueaxis._tables.read import Choice, Table, TableError
from trueaxis._validation import validate_number
from trueaxis.diagnostics import column_names
from trueaxis.estimators import METHODS
from trueaxis.estimators.pipeline import join_pipeline, split_pipeline
from trueaxis.estimators.scaler import ColumnScaler
from trueaxis.report.analysis import Analysis, analyse
from trueaxis.report.snippet import Origin


@dataclass(frozen=True)
class FitOptions:
    """Method to fit and its settings.

    Attributes
    ----------
    method : str
        Short name.
    n_components : int, float or "auto"
    scale : {"none", "standard", "robust"}
    parameters : dict
        Further parameters of the method.
    """

    method: str = "dswl"
    n_components: Any = "auto"
    scale: Literal["none", "standard", "robust"] = "none"
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CommandResult:
    """A model and the analysis of a table with it.

    Attributes
    ----------
    model : estimator or Pipeline
    analysis : Analysis
    origin : Origin
        How to get the same rows, and a loaded model, in Python.
    seconds : float or None
        Duration of the fit; None if the model was loaded.
    """

    model: Any
    analysis: Analysis
    origin: Origin
    seconds: float | None = None


def fit_table(
    data: str, choice: Choice, fit_options: FitOptions, begin: Callable[[str], None]
) -> CommandResult:
    """Read a table, fit and analyze it."""
    begin("reading")
    table = read_for_fit(data, choice, METHODS[fit_options.method])
    begin("fitting")
    start = time.perf_counter()
    model = fit_model(table, fit_options)
    seconds = time.perf_counter() - start
    begin("diagnosing")
    analysis = analyse(
        model, table.X, ids=table.ids, labels=table.labels, of_the_fit=True
    )
    return CommandResult(model, analysis, Origin.table(data, choice), seconds)


def fit_model(table: Table, fit_options: FitOptions) -> Any:
    """Fit a method, after a scaler if there is one."""
    scaler = fit_scaler(fit_options, table)
    method = METHODS[fit_options.method](
        n_components=fit_options.n_components, **fit_options.parameters
    )
    method.fit(table.X if scaler is None else scaler.transform(table.X))
    # The first step of the model stores the names of the user's columns.
    (scaler or method).feature_names_in_ = np.array(table.columns, dtype=object)
    return join_pipeline(scaler, method)


def judge_table(
    model: Any, model_path: str, data: str, choice: Choice
) -> CommandResult:
    """Read a table and analyze it with a loaded model."""
    table = read_for_model(model, data, choice)
    analysis = analyse(
        model, table.X, ids=table.ids, labels=table.labels, of_the_fit=False
    )
    origin = Origin.table(data, choice_for_model(model, choice))
    return CommandResult(model, analysis, origin._replace(model_file=model_path))


def draw_line(model: Any, level: float) -> None:
    """Let a loaded model flag another share of regular rows."""
    validate_number("level", level, 0, 0.5)
    method = split_pipeline(model).model
    method.set_params(level=level, contamination=None)
    method._set_line(float(np.log10(level)))


def read_for_fit(data: str, choice: Choice, method: Any) -> Table:
    """Read a table that a method is fitted to."""
    table = read_for_method(data, choice, method)
    refuse_empty_columns(table)
    _print_notes(table)
    return table


def _print_notes(table: Table) -> None:
    """Print what was guessed about a table, and how many cells are missing."""
    holes = describe_holes(np.isnan(table.X).sum(axis=0), len(table.X))
    for note in (*table.notes, *holes):
        console.say(f"Note: {note}", console.stderr())


def read_for_model(model: Any, data: str, choice: Choice) -> Table:
    """Read the columns that a model was fitted on, whatever their order in the file."""
    method, wanted = split_pipeline(model).model, choice_for_model(model, choice)
    try:
        table = read_for_method(data, wanted, type(method))
    except TableError as error:
        if wanted is choice:
            raise
        names = ", ".join(wanted.columns or ())
        raise type(error)(f"{error} (The model was fitted on {names}.)") from None
    check_n_columns(method, table.X.shape[1], data)
    _print_notes(table)
    return table


def check_n_columns(method: Any, n_columns: int, data: str) -> None:
    """Raise if a model was fitted on another number of columns."""
    if n_columns != method.n_features_in_:
        raise TableError(
            f"{data} has {n_columns} columns, but the model was fitted on "
            f"{method.n_features_in_} columns without names: select them with "
            "--columns or --drop, in the same order."
        )


def choice_for_model(model: Any, choice: Choice) -> Choice:
    """Return the choice of the columns a model was fitted on, if it has names."""
    method = split_pipeline(model).model
    if not hasattr(method, "feature_names_in_"):
        return choice
    names = column_names(method).tolist()
    if choice.columns or choice.drop:
        raise TableError(
            f"The model selects its columns by name ({', '.join(names)}): leave out "
            "--columns and --drop."
        )
    for option, name in (("--id", choice.id), ("--label", choice.label)):
        if name in names:
            raise TableError(
                f"{option} {name} is a column that the model was fitted on: choose "
                "another one."
            )
    return replace(choice, columns=names, drop=())


def fit_scaler(fit_options: FitOptions, table: Table) -> ColumnScaler | None:
    """Return a scaler fitted to a table, or None if columns are not scaled."""
    scaler = make_scaler(fit_options)
    return None if scaler is None else scaler.fit(table.X)


def make_scaler(fit_options: FitOptions) -> ColumnScaler | None:
    """Return an unfitted scaler, or None if columns are not scaled."""
    if fit_options.scale == "none":
        return None
    return ColumnScaler(fit_options.scale)
