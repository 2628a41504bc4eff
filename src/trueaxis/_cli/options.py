"""Options that commands share, and checks of what the user gave for them."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import click
from click.core import ParameterSource

DEFAULT = "dswl"
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

    method: str = DEFAULT
    n_components: Any = "auto"
    scale: Scale | None = None
    log: Literal["auto"] | list[str] = field(default_factory=list)
    categories: bool | list[str] = False
    parameters: dict[str, Any] = field(default_factory=dict)


def combine_options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Combine several options into one decorator."""

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def split_names(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> list[str]:
    """Return the names in a repeatable option of comma-separated lists."""
    # Names that contain commas are quoted, as in a CSV file.
    return [name.strip() for row in csv.reader(values) for name in row if name.strip()]


def split_optional_names(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> list[str]:
    """Return names as `split_names`, unless the option has swallowed the table."""
    for value in values:
        if os.path.isfile(value):
            raise click.BadParameter(
                f"{value} is a file, but was taken for names of columns: write "
                f"{param.opts[-1]} behind the file, or with names of columns."
            )
    return split_names(ctx, param, values)


def _parse_components(
    ctx: click.Context, param: click.Parameter, value: str
) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    if value != "auto":
        raise click.BadParameter(
            f"{value!r} is neither a number, a share such as 0.9, nor auto."
        )
    return value


def _parse_parameters(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, Any]:
    parameters = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"{text!r} is not of the form name=value.")
        try:
            parameters[name] = json.loads(value)
        except json.JSONDecodeError:
            parameters[name] = value
        if isinstance(parameters[name], list):
            parameters[name] = tuple(parameters[name])
    return parameters


# ---------------------------------------------------------------- shared options


def _names(option: str, description: str) -> Callable[[Any], Any]:
    """Return a repeatable option of comma-separated names."""
    return click.option(
        option,
        multiple=True,
        callback=split_names,
        metavar="A,B,...",
        help=description,
    )


def _guessed(option: str, description: str, **more: Any) -> Callable[[Any], Any]:
    """Return an option of which the value is guessed by default."""
    return click.option(
        option, default="auto", show_default=True, help=description, **more
    )


table_options = combine_options(
    click.option("--id", "id_", metavar="COLUMN", help="Column that names the rows."),
    click.option(
        "--label", metavar="COLUMN", help="Column to show but not to analyze."
    ),
    _names(
        "--columns",
        "Columns to analyze: names, ranges a:d, patterns temp* (default: all).",
    ),
    _names("--drop", "Columns to leave out, given in the same way."),
    _guessed(
        "--decimal",
        "Decimal separator; the other one separates thousands.",
        type=click.Choice(["auto", ".", ","]),
    ),
    _guessed(
        "--delimiter",
        "Separator between cells: a character, tab or space.",
        metavar="CHARACTER",
    ),
    _guessed(
        "--header",
        "Whether the first line contains column names.",
        type=click.Choice(["auto", "yes", "no"]),
    ),
    click.option(
        "--skip",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="Lines at the start that are not part of the table.",
    ),
    _guessed(
        "--comment",
        "Sign at the start of lines to leave out; auto for #, or none.",
        metavar="SIGN",
    ),
    _names("--na", "Further words for missing cells."),
    click.option(
        "--sheet", metavar="SHEET", help="Sheet of a spreadsheet: name or number."
    ),
    _guessed("--encoding", "Encoding of text, such as utf-16 or cp1252."),
    click.option(
        "--missing",
        type=click.Choice(["fill", "error", "drop"]),
        default="fill",
        show_default=True,
        help="Missing cells: fill them (dswl), refuse them, or leave out their rows.",
    ),
)
size_options = combine_options(
    click.option(
        "-k",
        "--components",
        default="auto",
        show_default=True,
        callback=_parse_components,
        metavar="K",
        help="Number of components, a share of variance such as 0.9, or auto.",
    ),
    click.option(
        "--scale",
        type=click.Choice(["none", "standard", "robust", "auto"]),
        help="Divide columns by their spread; auto if they share no unit "
        "(default: none; auto with --log and --categories).",
    ),
    click.option(
        "--log",
        is_flag=False,
        flag_value="auto",
        multiple=True,
        callback=split_optional_names,
        metavar="[A,B,...]",
        help="Take the logarithm of these columns, or of all skewed ones.",
    ),
    click.option(
        "--categories",
        is_flag=False,
        flag_value="*",
        multiple=True,
        callback=split_optional_names,
        metavar="[A,B,...]",
        help="Analyze these columns of text, or all, as categories.",
    ),
)
SHARE = click.FloatRange(0, 0.5, min_open=True)
line_options = combine_options(
    click.option(
        "--level",
        type=SHARE,
        metavar="SHARE",
        help="Share of regular rows that may be flagged (default: 0.025).",
    ),
    click.option(
        "--contamination",
        type=SHARE,
        metavar="SHARE",
        help="Share of all rows to flag, if it is known, instead of --level.",
    ),
)
fit_options = combine_options(
    size_options,
    line_options,
    click.option(
        "--method",
        default=DEFAULT,
        show_default=True,
        help="Short name of a method; `trueaxis methods` lists them.",
    ),
    click.option(
        "--set",
        "parameters",
        multiple=True,
        callback=_parse_parameters,
        metavar="NAME=VALUE",
        help="Parameter of the method, such as --set trust=0.7.",
    ),
    click.option(
        "--cells",
        is_flag=True,
        help="Find wrong cells in good rows, and replace them before the fit (dswl).",
    ),
)
cluster_options = combine_options(
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="N",
        help="Read a .npy or Parquet file with N processes (needs Dask).",
    ),
    click.option(
        "--client",
        metavar="ADDRESS",
        help="Read it with the workers of this Dask scheduler (tcp://host:8786).",
    ),
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON instead of text."
)
row_options = combine_options(
    click.option(
        "--clean",
        default="",
        metavar="FILE",
        help="Table to write: the rows of DATA that are no outliers, as they are.",
    ),
    click.option(
        "--flagged",
        default="",
        metavar="FILE",
        help="Table to write: the outliers, as they are in DATA.",
    ),
)

# A saved model applied to a table, and a table written.
model_options = combine_options(
    click.argument("model"),
    click.argument("data"),
    click.option("-o", "--output", help="Table to write (default: standard output)."),
    table_options,
    json_option,
)


# ---------------------------------------------------------------- values of options


def choice_from(options: dict[str, Any]) -> Any:
    """Return the `Choice` of columns that the options of a command ask for."""
    from trueaxis.io import Choice

    columns = options["columns"] or None
    names = ("decimal", "delimiter", "header", "missing", "skip", "comment", "na")
    rest = {name: options[name] for name in (*names, "sheet", "encoding")}
    rest["categories"] = tuple(options.get("categories") or ())
    return Choice(columns, options["drop"], options["id_"], options["label"], **rest)


def fit_options_from(options: dict[str, Any]) -> FitOptions:
    """Return the `FitOptions` that the options of a command ask for."""
    method, parameters = options.get("method", DEFAULT), options.get("parameters", {})
    if method != DEFAULT or parameters:  # otherwise, the table is read first
        _refuse_parameters(method, parameters)
    parameters = parameters | _line_parameters(options, parameters)
    if options.get("cells"):
        parameters |= _cells_parameter(method, parameters)
    log, categories = options.get("log", []), options.get("categories", [])
    return FitOptions(
        method,
        options["components"],
        options["scale"],
        "auto" if log == ["auto"] else log,
        True if categories == ["*"] else categories,
        parameters,
    )


def _refuse_parameters(method: str, parameters: dict[str, Any]) -> None:
    """Raise if there is no such method, or if it has no such parameters."""
    names = set(method_class(method, "--method")().get_params()) - {"n_components"}
    for name in parameters.keys() - names:
        raise click.BadParameter(
            f"{method} has no parameter {name!r}; it has {', '.join(sorted(names))}.",
            param_hint="--set",
        )


def _line_parameters(
    options: dict[str, Any], parameters: dict[str, Any]
) -> dict[str, float]:
    """Return the parameters that draw the line between regular rows and outliers."""
    names = ("level", "contamination")
    given = {name: options[name] for name in names if options.get(name) is not None}
    for name in given.keys() & parameters.keys():
        raise click.UsageError(
            f"--{name} and --set {name} are the same parameter: give one of them."
        )
    if len(given.keys() | parameters.keys() & set(names)) > 1:
        raise click.UsageError(
            "--level flags a share of the regular rows and --contamination a share of "
            "all rows: give one of them."
        )
    return given


def _cells_parameter(method: str, parameters: dict[str, Any]) -> dict[str, bool]:
    if "cells" in parameters:
        raise click.UsageError(
            "--cells and --set cells are the same parameter: give one of them."
        )
    if method != "dswl":
        raise click.UsageError(
            f"--cells is for dswl, and {method} judges only whole rows: leave out "
            "--cells or --method."
        )
    return {"cells": True}


def method_class(name: str, option: str) -> Any:
    """Return the class of a method; raise a usage error for an unknown name."""
    from trueaxis._cli import import_sklearn

    import_sklearn()
    from trueaxis.estimators import METHODS

    if name not in METHODS:
        text = f"{name!r} is not a method: choose one of {', '.join(METHODS)}."
        raise click.BadParameter(text, param_hint=option)
    return METHODS[name]


def refuse_fit_options(ctx: click.Context, *allowed: str) -> None:
    """Raise if an option of a fit was given together with --model."""
    names = {"components", "scale", "log", "categories", "method", "parameters"}
    names |= {"level", "contamination", "cells"} - {*allowed}
    for param in ctx.command.params:
        source = ctx.get_parameter_source(param.name or "")
        if param.name in names and source is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{param.opts[-1]} is for a fit, but --model uses a saved model: leave "
                "out one of them."
            )
