"""DO what commands share: a table and a recipe, or a model, become an analysis."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from trueaxis._cli import console
from trueaxis._tables.read import Choice, Table, TableError, read_table
from trueaxis.diagnostics import column_names
from trueaxis.estimators import METHODS
from trueaxis.estimators.pipeline import join_pipeline, split_pipeline
from trueaxis.estimators.scaler import ColumnScaler
from trueaxis.report.analysis import Analysis, analyse
from trueaxis.report.snippet import Origin


@dataclass(frozen=True)
class FitOptions:
    """What to fit.

    Attributes
    ----------
    method : str
        Short name.
    n_components : int, float or "auto"
    scale : {"none", "standard", "robust"}
    parameters : dict
        Of the method, beyond these.
    """

    method: str = "dswl"
    n_components: Any = "auto"
    scale: str = "none"
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CommandResult:
    """What came in, and what came out.

    Attributes
    ----------
    model : estimator or Pipeline
    found : Analysis
    origin : Origin
        How Python gets the same rows, and the model where it was not fitted.
    seconds : float or None
        The fit took; None where there was none.
    """

    model: Any
    found: Analysis
    origin: Origin
    seconds: float | None = None


def fitted(
    data: str, choice: Choice, recipe: FitOptions, begin: Callable[[str], None]
) -> CommandResult:
    """Read a table, fit it, and ask all that there is to tell."""
    begin("reading")
    table = read(data, choice)
    begin("fitting")
    start = time.perf_counter()
    scaler = scaler_for(recipe, table)
    method = METHODS[recipe.method](
        n_components=recipe.n_components, **recipe.parameters
    )
    method.fit(table.X if scaler is None else scaler.transform(table.X))
    # Whatever meets the user's columns first knows their names.
    (scaler or method).feature_names_in_ = np.array(table.columns, dtype=object)
    seconds = time.perf_counter() - start
    begin("looking")
    model = join_pipeline(scaler, method)
    found = analyse(model, table.X, ids=table.ids, labels=table.labels, of_the_fit=True)
    return CommandResult(model, found, Origin.table(data, choice), seconds)


def read(data: str, choice: Choice) -> Table:
    """Read a table, and say what was guessed about it."""
    table = read_table(data, choice)
    for note in table.notes:
        console.say(f"Note: {note}", console.aside())
    return table


def scaler_for(recipe: FitOptions, table: Table) -> ColumnScaler | None:
    """Learn the units of the columns, if they are to be scaled."""
    scaler = scaler_of(recipe)
    return None if scaler is None else scaler.fit(table.X)


def scaler_of(recipe: FitOptions) -> ColumnScaler | None:
    """What is to learn the units of the columns, if they are to be scaled."""
    if recipe.scale == "none":
        return None
    return ColumnScaler(recipe.scale)  # type: ignore[arg-type]


def judged(model: Any, model_path: str, data: str, choice: Choice) -> CommandResult:
    """Read a table for a model that was loaded, and ask all that there is to tell."""
    table = table_for(model, data, choice)
    found = analyse(
        model, table.X, ids=table.ids, labels=table.labels, of_the_fit=False
    )
    origin = Origin.table(data, choice_for(model, choice))
    return CommandResult(model, found, origin._replace(model_file=model_path))


def table_for(model: Any, data: str, choice: Choice) -> Table:
    """The columns that a model was fitted on, wherever they stand in the file."""
    method, wanted = split_pipeline(model).model, choice_for(model, choice)
    try:
        table = read(data, wanted)
    except TableError as error:
        if wanted is choice:
            raise
        names = ", ".join(wanted.columns or ())
        raise TableError(f"{error} (The model was fitted on {names}.)") from None
    if table.X.shape[1] != method.n_features_in_:
        raise TableError(
            f"{data} has {table.X.shape[1]} columns, but the model was fitted on "
            f"{method.n_features_in_}, whose names it does not know: choose them with "
            "--columns or --drop, in the same order."
        )
    return table


def choice_for(model: Any, choice: Choice) -> Choice:
    """The columns that a model knows by name; else those that were chosen."""
    method = split_pipeline(model).model
    if not hasattr(method, "feature_names_in_"):
        return choice
    names = column_names(method).tolist()
    if choice.columns or choice.drop:
        raise TableError(
            f"The model knows its columns by name ({', '.join(names)}) and takes no "
            "others: leave out --columns and --drop."
        )
    for option, name in (("--id", choice.id), ("--label", choice.label)):
        if name in names:
            raise TableError(
                f"{option} {name} is a column that the model was fitted on and needs "
                "for itself: name another one."
            )
    return replace(choice, columns=names, drop=())
