"""Steps that commands share after a table is read: fit or judge it, analyze it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._cli import console
from trueaxis._cli.missing import print_notes, read_for_method
from trueaxis._cli.options import FitOptions
from trueaxis._columns import Column, quote
from trueaxis._validation import validate_number
from trueaxis.diagnostics import column_names
from trueaxis.estimators import METHODS
from trueaxis.estimators.encoder import TableEncoder
from trueaxis.estimators.encoder.logs import _LEAST_GAIN, _skewness, log_hint
from trueaxis.estimators.encoder.units import decide_scale
from trueaxis.estimators.pipeline import is_pipeline, join_pipeline, split_pipeline
from trueaxis.estimators.scaler import ColumnScaler
from trueaxis.io import Choice, Table, TableError
from trueaxis.report.analysis import Analysis, analyse
from trueaxis.report.given import ignore_feature_name_warning
from trueaxis.report.snippet import Origin

# Rows from which it is clear, for most columns, that their logarithm does not help: if
# its gain is below the least one by more than eight standard errors.
SAMPLE_ROWS = 1 << 15
CLEARLY_NONE = _LEAST_GAIN - 0.08


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
    table: Table,
    data: str,
    choice: Choice,
    fit_options: FitOptions,
    begin: Callable[[str], None],
    keep: Callable[[Any], None] = lambda model: None,
) -> CommandResult:
    """Fit a table that was read from `data`, `keep` the model, and analyze it."""
    begin("fitting")
    start = time.perf_counter()
    model = fit_model(table, fit_options)
    seconds = time.perf_counter() - start
    keep(model)
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


def transform_table(model: Any, table: Table) -> NDArray[Any]:
    """Return the scores of the rows of a table on the components of a model."""
    with ignore_feature_name_warning():
        rows = rows_for(split_pipeline(model).scaler, table)
        return np.asarray(model.transform(rows))


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
    method = model[-1] if is_pipeline(model) else model
    method.set_params(level=level, contamination=None)
    method._set_line(float(np.log10(level)))


def read_for_model(model: Any, data: str, choice: Choice) -> Table:
    """Read the columns that a model was fitted on, whatever their order in the file."""
    method, wanted = split_pipeline(model).model, choice_for_model(model, choice)
    try:
        table = read_for_method(data, wanted, type(method))
    except TableError as error:
        if wanted is choice:
            raise
        names = quote(wanted.columns or ())
        message, *notes = str(error).replace(" (--columns)", "").split("\n")
        message += f" (The model was fitted on {names}.)"
        raise type(error)("\n".join([message, *notes])) from None
    if not isinstance(split_pipeline(model).scaler, TableEncoder):
        check_n_columns(method, table.X.shape[1], data)
    print_notes(table)
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
    named = first if isinstance(first, TableEncoder) else method
    if not hasattr(named, "feature_names_in_"):
        return choice
    names: list[str] = column_names(method).tolist()
    categories: tuple[str, ...] = ()
    if isinstance(first, TableEncoder):
        known = first.feature_names_in_
        names = [str(known[part.index]) for part in first._parts]
        categories = tuple(first.categories_)
    if choice.columns or choice.drop:
        raise TableError(
            f"The model selects its columns by name ({quote(names)}): leave out "
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
    _say(log_hint(_perhaps_skewed(table), "--log"))
    scale = fit_options.scale
    if scale == "auto":
        scale, sentence = decide_scale(table.frame)
        _say([sentence] if sentence else [])
    if scale is None or scale == "none":
        return None
    return ColumnScaler(scale).fit(table.X)


def _perhaps_skewed(table: Table) -> list[Column]:
    """Return the columns whose logarithm may help; all but the clear cases."""
    n, numbers = len(table.X), [each for each in table.frame if each.kind == "number"]
    if n < 4 * SAMPLE_ROWS:
        return numbers
    least = table.X.min(axis=0)
    rows = table.X[np.random.default_rng(0).integers(0, n, SAMPLE_ROWS)]
    return [
        column
        for column, low, some in zip(numbers, least, rows.T, strict=True)
        if np.isnan(low) or (low > 0 and _log_may_help(some))
    ]


def _log_may_help(values: NDArray[np.float64]) -> bool:
    """Return whether some values of a column leave open if its logarithm helps."""
    if 2 * len(np.unique(values[:1000])) < 1000:  # quantiles of levels jump
        return True
    gain = _skewness(values) - np.abs(_skewness(np.log(values)))
    return bool(gain.mean() > CLEARLY_NONE)


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
