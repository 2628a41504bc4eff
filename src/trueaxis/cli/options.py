"""Options that commands share, and checks of what the user gave for them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from trueaxis.cli.source import Choice
    from trueaxis.preprocessing.encoder import TableEncoder
    from trueaxis.preprocessing.scaler import ColumnScaler

SHARE = click.FloatRange(0, 0.5, min_open=True)
# What `--read` sets, with the values that each takes.
READING: dict[str, click.ParamType[Any]] = {
    "decimal": click.Choice(["auto", ".", ","]),
    "delimiter": click.STRING,
    "header": click.Choice(["auto", "yes", "no"]),
    "skip": click.IntRange(min=0),
    "comment": click.STRING,
    "sheet": click.STRING,
    "encoding": click.STRING,
    "missing": click.Choice(["fill", "error", "drop"]),
}
PYTHON = {"True": True, "False": False, "None": None}


# ---------------------------------------------------------------- values of options


def _names(text: str) -> list[str]:
    """Return names separated by commas; those that contain commas are quoted."""
    return [name.strip() for name in next(csv.reader([text]), []) if name.strip()]


def _split_names(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> list[str]:
    return [name for value in values for name in _names(value)]


def _pairs(values: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return names and values of a repeatable option NAME=VALUE."""
    pairs = []
    for text in values:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"{text!r} is not of the form name=value.")
        pairs.append((name, value))
    return pairs


def _parse_reading(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, Any]:
    reading = {}
    for name, value in _pairs(values):
        if name not in READING:
            raise click.BadParameter(
                f"{name!r} is not one of {', '.join(READING)}.", ctx, param
            )
        try:
            reading[name] = READING[name].convert(value, param, ctx)
        except click.BadParameter as error:
            raise click.BadParameter(f"{name}: {error.message}", ctx, param) from None
    return reading


def _parse_parameters(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, Any]:
    parameters = {}
    for name, value in _pairs(values):
        try:
            parsed = json.loads(value)
        except json.JSONDecodeError:
            parsed = PYTHON.get(value, value)
        parameters[name] = tuple(parsed) if isinstance(parsed, list) else parsed
    return parameters


def _parse_encoding(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, Any]:
    """Return parameters of a `TableEncoder`: `log` and `categories`."""
    encoding: dict[str, Any] = {}
    for text in values:
        kind, equals, value = text.partition("=")
        if kind not in ("log", "categories") or text == "log":
            raise click.BadParameter(
                f"{text!r} is neither log=A,B nor categories, alone or with columns."
            )
        if equals:
            before = encoding.get(kind)
            before = before if isinstance(before, list) else []
            encoding[kind] = [*before, *_names(value)]
        else:
            encoding[kind] = True
    return encoding


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


# ---------------------------------------------------------------- shared options


def combine(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Combine several options into one decorator."""

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def names_option(option: str, description: str) -> Callable[[Any], Any]:
    """Return a repeatable option of comma-separated names."""
    return click.option(
        option,
        multiple=True,
        callback=_split_names,
        metavar="A,B,...",
        help=description,
    )


def file_option(option: str, what: str, default: str = "") -> Callable[[Any], Any]:
    """Return the option of a file to write."""
    names = ("-o", "--output") if option == "-o" else (option,)
    return click.option(
        *names,
        default=default,
        show_default=bool(default),
        metavar="FILE",
        help=what,
    )


label_option = click.option(
    "--label", metavar="COLUMN", help="Column to show but not to analyze."
)
table_options = combine(
    click.option("--id", "id_", metavar="COLUMN", help="Column that names the rows."),
    names_option(
        "--columns",
        "Columns to analyze: names, ranges a:d, patterns temp* (default: all).",
    ),
    names_option("--drop", "Columns to leave out, given in the same way."),
    names_option("--na", "Further words for missing cells."),
    click.option(
        "--read",
        "reading",
        multiple=True,
        callback=_parse_reading,
        metavar="NAME=VALUE",
        help="How to read the file where the guess is wrong: decimal=. or , "
        "delimiter=CHARACTER (or tab, space), header=yes or no, skip=LINES, "
        "comment=SIGN (or none), sheet=NAME (or number), encoding=NAME, and "
        "missing=fill (by dswl), error or drop (their rows).",
    ),
)
size_options = combine(
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
        type=click.Choice(["none", "robust", "auto"]),
        help="Divide columns by their spread; auto if they share no unit "
        "(default: none; auto with --encode).",
    ),
)
encode_option = click.option(
    "--encode",
    "encoding",
    multiple=True,
    callback=_parse_encoding,
    metavar="KIND[=A,B,...]",
    help="log=A,B takes the logarithm of these columns; categories analyzes all "
    "columns of text as categories, or those named.",
)
level_option = click.option(
    "--level",
    type=SHARE,
    metavar="SHARE",
    help="Share of regular rows that may be flagged (default: 0.025, or as in the "
    "model).",
)
set_option = click.option(
    "--set",
    "parameters",
    multiple=True,
    callback=_parse_parameters,
    metavar="NAME=VALUE",
    help="Parameter of the method: contamination=0.1 flags this share of all rows, "
    "cells=true also finds wrong cells in good rows, trust=0.7 trusts fewer rows.",
)
fit_options = combine(
    size_options,
    encode_option,
    level_option,
    click.option(
        "--method",
        default="dswl",
        show_default=True,
        help="Short name of a method; `trueaxis methods` lists them.",
    ),
    set_option,
)
row_options = combine(
    file_option(
        "--clean", "Table to write: the rows that are no outliers, as in DATA."
    ),
    file_option("--flagged", "Table to write: the outliers, as they are in DATA."),
)
model_option = file_option("--model", "Use a saved model instead of fitting one.")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON instead of text."
)


# ---------------------------------------------------------------- checks of options


def choice_from(options: dict[str, Any]) -> Choice:
    """Return which columns of the table play which role, and how it is read."""
    from trueaxis.cli.source import Choice

    categories = options.get("encoding", {}).get("categories", ())
    return Choice(
        columns=options["columns"] or None,
        drop=options["drop"],
        id=options["id_"],
        label=options.get("label"),
        na=options["na"],
        categories=("*",) if categories is True else tuple(categories),
        **options["reading"],
    )


def method_from(options: dict[str, Any]) -> Any:
    """Return the method to fit, with its parameters."""
    name = options.get("method", "dswl")
    parameters, level = options.get("parameters", {}), options.get("level")
    method = method_class(name, "--method")
    known = {*method().get_params()} - {"n_components"}
    for given in parameters.keys() - known:
        raise click.BadParameter(
            f"{name} has no parameter {given!r}; it has {', '.join(sorted(known))}.",
            param_hint="--set",
        )
    if level is not None:
        for given in parameters.keys() & {"level", "contamination"}:
            raise click.UsageError(
                f"--level and --set {given} draw the same line, by the share of "
                "regular rows or of all rows to flag: give one of them."
            )
        parameters = parameters | {"level": level}
    return method(n_components=options["components"], **parameters)


def first_step_from(
    options: dict[str, Any],
) -> TableEncoder | ColumnScaler | Literal["auto"] | None:
    """Return the step before the method: an encoder, a scaler, or none.

    "auto" is a scaler if the columns share no unit.
    """
    from trueaxis.preprocessing.encoder import TableEncoder
    from trueaxis.preprocessing.scaler import ColumnScaler

    scale, encoding = options["scale"], options.get("encoding")
    if encoding:
        return TableEncoder(**encoding, scale=scale or "auto")
    if scale == "auto":
        return "auto"
    return None if scale in (None, "none") else ColumnScaler()


def method_class(name: str, option: str) -> Any:
    """Return the class of a method; raise a usage error for an unknown name."""
    from trueaxis.methods import METHODS

    if name not in METHODS:
        text = f"{name!r} is not a method: choose one of {', '.join(METHODS)}."
        raise click.BadParameter(text, param_hint=option)
    return METHODS[name]


def refuse_fit_options() -> None:
    """Raise if an option of a fit was given together with --model."""
    ctx = click.get_current_context()
    names = {"components", "scale", "encoding", "method", "parameters", "level"}
    for param in ctx.command.params:
        source = ctx.get_parameter_source(param.name or "")
        if param.name in names and source is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{param.opts[-1]} is for a fit, but --model uses a saved model: leave "
                "out one of them."
            )


def refuse_standard_output(output: str, what: str) -> None:
    """Raise if something that is no table would be written to standard output."""
    if output == "-":
        raise click.UsageError(
            f"{what} cannot be written to standard output: give a file name."
        )


def refuse_two_outputs(as_json: bool, **targets: str) -> None:
    """Raise if two things would be written to standard output."""
    to_stdout = [f"--{name}" for name, target in targets.items() if target == "-"]
    to_stdout += ["--json"] if as_json else []
    if len(to_stdout) > 1:
        raise click.UsageError(
            f"{' and '.join(to_stdout)} would both write to standard output: give a "
            "file for one of them."
        )
