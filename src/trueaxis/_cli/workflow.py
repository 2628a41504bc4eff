"""Steps that commands share: read a table, fit or judge it, analyze the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

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
from trueaxis.estimators.encoder import TableEncoder
from trueaxis.estimators.encoder.logs import log_hint
from trueaxis.estimators.encoder.units import decide_scale
from trueaxis.estimators.pipeline import join_pipeline, split_pipeline
from trueaxis.estimators.scaler import ColumnScaler
from trueaxis.report.analysis import (
    Analysis,
    analyse,
    ignore_feature_name_warning,
)
from trueaxis.report.snippet import Origin

Scale = Literal["none", "standard", "robust", "auto"]


@dataclass(frozen=True)
class FitOptions:
    """Method to fit and its settings.

    Attributes
    ----------
    method : str
        Short name.
    n_components : int, float or "auto"
    scale : {"none", "standard", "robust", "auto"}, or None
        None if it was not given: "none", or "auto" for a table with logarithms or
        categories, which share no unit with other columns.
    log : "auto" or list of str
        Columns to take the logarithm of.
    categories : bool or list of str
        Columns to analyze as categories.
    parameters : dict
        Further parameters of the method.
    """

    method: str = "dswl"
    n_components: Any = "auto"
    scale: Scale | None = None
    log: Literal["auto"] | list[str] = field(default_factory=list)
    categories: bool | list[str] = False
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
    table : Table
        What was read.
    seconds : float or None
        Duration of the fit; None if the model was loaded.
    """

    model: Any
    analysis: Analysis
    origin: Origin
    table: Table
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
    analysis = _analyse(model, table, of_the_fit=True)
    origin = Origin.table(data, choice)
    return CommandResult(model, analysis, origin, table, seconds)


def fit_model(table: Table, fit_options: FitOptions) -> Any:
    """Fit a method, after a scaler or an encoder if there is one."""
    first = fit_first_step(fit_options, table)
    method = METHODS[fit_options.method](
        n_components=fit_options.n_components, **fit_options.parameters
    )
    method.fit(prepare(first, table))
    # The first step of the model stores the names of the user's columns.
    if not isinstance(first, TableEncoder):
        (first or method).feature_names_in_ = np.array(table.columns, dtype=object)
    return join_pipeline(first, method)


def prepare(first: ColumnScaler | TableEncoder | None, table: Table) -> NDArray[Any]:
    """Return the rows of a table as the method after the first step takes them."""
    if first is None:
        return table.X
    with ignore_feature_name_warning():
        return np.asarray(first.transform(rows_for(first, table)))


def rows_for(first: Any, table: Table) -> Any:
    """Return a table as a first step takes it: columns of any kind, or numbers."""
    return list(table.frame) if isinstance(first, TableEncoder) else table.X


def _analyse(model: Any, table: Table, *, of_the_fit: bool) -> Analysis:
    rows = rows_for(split_pipeline(model).scaler, table)
    return analyse(
        model, rows, ids=table.ids, labels=table.labels, of_the_fit=of_the_fit
    )


def judge_table(
    model: Any, model_path: str, data: str, choice: Choice
) -> CommandResult:
    """Read a table and analyze it with a loaded model."""
    table = read_for_model(model, data, choice)
    analysis = _analyse(model, table, of_the_fit=False)
    origin = Origin.table(data, choice_for_model(model, choice))
    origin = origin._replace(model_file=model_path)
    return CommandResult(model, analysis, origin, table)


def draw_line(model: Any, level: float) -> None:
    """Let a loaded model flag another share of regular rows."""
    validate_number("level", level, 0, 0.5)
    # `split_pipeline` may return a copy.
    method = model[-1] if isinstance(model, Pipeline) else model
    method.set_params(level=level, contamination=None)
    method._set_line(float(np.log10(level)))


def read_for_fit(data: str, choice: Choice, method: Any) -> Table:
    """Read a table that a method is fitted to."""
    table = read_for_method(data, choice, method)
    refuse_empty_columns(table)
    _print_notes(table)
    if len(table.X) < 2:
        raise TableError(
            f"{data} has only {len(table.X)} row to analyze, and a fit needs at least "
            "2: pass a table with more rows."
        )
    return table


def _print_notes(table: Table) -> None:
    """Print what was guessed about a table, and how many cells are missing."""
    holes = describe_holes(np.isnan(table.X).sum(axis=0), len(table.X))
    for note in (*table.notes, *holes):
        console.note(note)


def read_for_model(model: Any, data: str, choice: Choice) -> Table:
    """Read the columns that a model was fitted on, whatever their order in the file."""
    method, wanted = split_pipeline(model).model, choice_for_model(model, choice)
    try:
        table = read_for_method(data, wanted, type(method))
    except TableError as error:
        if wanted is choice:
            raise
        names = ", ".join(wanted.columns or ())
        message, *notes = str(error).replace(" (--columns)", "").split("\n")
        message += f" (The model was fitted on {names}.)"
        raise type(error)("\n".join([message, *notes])) from None
    if not isinstance(split_pipeline(model).scaler, TableEncoder):
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
    first, method = split_pipeline(model)
    if not hasattr(method, "feature_names_in_"):
        return choice
    names: list[str] = column_names(method).tolist()
    categories: tuple[str, ...] = ()
    if isinstance(first, TableEncoder):
        known = first.feature_names_in_
        names = [str(known[part.index]) for part in first._parts]
        categories = tuple(first.categories_)
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
    return replace(choice, columns=names, drop=(), categories=categories, by_name=True)


def fit_first_step(
    fit_options: FitOptions, table: Table
) -> ColumnScaler | TableEncoder | None:
    """Return the fitted step before the method; None if columns stay as they are."""
    named = () if fit_options.log == "auto" else fit_options.log
    for name in {*named} & {*table.left_out}:
        raise TableError(
            f"--log names {name!r}, which is left out ({table.left_out[name]}) and has "
            "no logarithm: leave it out of --log."
        )
    if fit_options.categories or fit_options.log:
        encoder = TableEncoder(
            categories=fit_options.categories,
            log=fit_options.log,
            scale=fit_options.scale or "auto",
        )
        try:
            encoder.fit(list(table.frame))
        except ValueError as error:
            raise TableError(_as_options(str(error))) from None
        # What was noticed about single columns has been said already.
        notes = map(_as_options, encoder.notes_)
        _say(note for note in notes if note not in table.notes)
        return encoder
    _say(log_hint(table.frame, "--log"))
    scale = fit_options.scale
    if scale == "auto":
        scale, sentence = decide_scale(table.frame)
        _say([sentence] if sentence else [])
    if scale is None or scale == "none":
        return None
    return ColumnScaler(scale).fit(table.X)


def _as_options(sentence: str) -> str:
    """Return a sentence of the encoder in the words of the command line."""
    words = {"categories=True": "--categories", 'log="auto"': "--log"}
    for parameter, option in (words | {"of log": "of --log"}).items():
        sentence = sentence.replace(parameter, option)
    return sentence


def _say(notes: Iterable[str]) -> None:
    for note in notes:
        console.note(note)


def make_scaler(fit_options: FitOptions) -> ColumnScaler | None:
    """Return an unfitted scaler, or None if columns are not scaled."""
    if fit_options.log or fit_options.categories or fit_options.scale == "auto":
        raise TableError(
            "--log, --categories and --scale auto look at all rows at once, but this "
            "file is read block by block: leave them out, or choose --scale none, "
            "standard or robust."
        )
    if fit_options.scale is None or fit_options.scale == "none":
        return None
    return ColumnScaler(fit_options.scale)
