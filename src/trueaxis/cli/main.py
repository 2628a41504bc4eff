"""The commands and their options; their implementation is imported when one is run."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

import click

import trueaxis

# Errors caused by input; all others are bugs, and shown with their traceback.
EXPECTED = (OSError, ImportError, ValueError, TypeError, MemoryError, EOFError)
# Settings of `--read`, with the values that each accepts.
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


def _pair(text: str) -> tuple[str, str]:
    """Return name and value of an option NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text!r} is not of the form name=value.")
    return name, value


def _reading(text: str) -> tuple[str, Any]:
    """Return the name and the value of a setting of `--read`."""
    name, value = _pair(text)
    if name not in READING:
        raise click.BadParameter(f"{name!r} is not one of {', '.join(READING)}.")
    try:
        return name, READING[name].convert(value, None, None)
    except click.BadParameter as error:
        raise click.BadParameter(f"{name}: {error.message}") from None


def _parameter(text: str) -> tuple[str, Any]:
    """Return a parameter of a method, and its value, written as in JSON or Python."""
    name, value = _pair(text)
    try:
        parsed = json.loads(value)
    except json.JSONDecodeError:
        parsed = PYTHON.get(value, value)
    return name, tuple(parsed) if isinstance(parsed, list) else parsed


def _encoding(text: str) -> tuple[str, list[str]]:
    """Return "log" or "categories", and columns; none stands for all categories."""
    kind, equals, value = text.partition("=")
    if kind not in ("log", "categories") or text == "log":
        raise click.BadParameter(
            f"{text!r} is neither log=A,B nor categories, alone or with columns."
        )
    return kind, _names(value)


def _components(text: str) -> int | float | str:
    """Return a number of components, a share, or "auto"."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    if text != "auto":
        raise click.BadParameter(
            f"{text!r} is neither a number, a share such as 0.9, nor auto."
        )
    return text


# ---------------------------------------------------------------- shared options


def combine(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Combine several options into one decorator."""

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def repeated(
    option: str, name: str, kind: Callable[[str], Any], metavar: str, what: str
) -> Callable[[Any], Any]:
    """Return an option that may be given several times."""
    return click.option(
        option, name, type=kind, multiple=True, metavar=metavar, help=what
    )


def names_option(option: str, what: str) -> Callable[[Any], Any]:
    """Return a repeatable option of comma-separated names."""
    return repeated(option, option.strip("-"), _names, "A,B,...", what)


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
    repeated(
        "--read",
        "reading",
        _reading,
        "NAME=VALUE",
        "How to read the file where the guess is wrong: decimal=. or , "
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
        type=_components,
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
encode_option = repeated(
    "--encode",
    "encoding",
    _encoding,
    "KIND[=A,B,...]",
    "log=A,B takes the logarithm of these columns; categories analyzes all columns of "
    "text as categories, or those named.",
)
level_option = click.option(
    "--level",
    type=click.FloatRange(0, 0.5, min_open=True),
    metavar="SHARE",
    help="Share of regular rows that may be flagged (default: 0.025; of saved models, "
    "their own).",
)
set_option = repeated(
    "--set",
    "parameters",
    _parameter,
    "NAME=VALUE",
    "Parameter of the method: contamination=0.1 flags this share of all rows, "
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
data_argument = click.argument("data")
model_argument = click.argument("model")
STDOUT = "Table to write (default: standard output)."
row_options = combine(
    file_option(
        "--clean", "Table to write: the rows that are not outliers, as in DATA."
    ),
    file_option("--flagged", "Table to write: the outliers, as they are in DATA."),
)
model_option = file_option("--model", "Use a saved model instead of fitting one.")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON instead of text."
)


# ---------------------------------------------------------------- errors, imports


class CommandGroup(click.Group):
    """Group of commands that report errors in the input as a message, with code 1."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of their definition."""
        return list(self.commands)

    def make_context(self, info_name: Any, args: Any, *rest: Any, **extra: Any) -> Any:
        """Create the context, which keeps the arguments as the user gave them."""
        arguments = list(args)
        ctx = super().make_context(info_name, args, *rest, **extra)
        ctx.obj = arguments
        return ctx

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; report errors in the input as messages."""
        from trueaxis.cli import console

        with console.warnings_as_notes():
            try:
                result = super().invoke(ctx)
                sys.stdout.flush()
                return result
            except BrokenPipeError:  # the reader, such as `head`, has seen enough
                _discard_output()
                ctx.exit(0)
            except EXPECTED as error:
                if isinstance(error, OSError) and error.filename is None:
                    _discard_output()  # which could not be written
                if os.environ.get("TRUEAXIS_TRACEBACK"):
                    raise
                raise click.ClickException(console.message_of(error)) from error


def _discard_output() -> None:
    """Discard what is left in the buffer of standard output."""
    if sys.stdout is sys.__stdout__ and sys.__stdout__ is not None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.__stdout__.fileno())
        os.close(null)


class Postponed(ModuleType):
    """Stand-in for a module that is imported on first use."""

    def __getattr__(self, name: str) -> Any:
        sys.modules.pop(self.__name__, None)
        return getattr(importlib.import_module(self.__name__), name)


def import_sklearn() -> None:
    """Import scikit-learn without slow parts that no command uses."""
    names = [
        name
        for name in ("pandas", "scipy.stats")
        if name not in sys.modules and importlib.util.find_spec(name) is not None
    ]
    sys.modules.update({name: Postponed(name) for name in names})
    importlib.import_module("sklearn.base")
    for name in names:
        if isinstance(sys.modules.get(name), Postponed):
            del sys.modules[name]


def import_commands(module: str = "commands") -> Any:
    """Import the implementation, which is slow, after options are checked."""
    import_sklearn()
    return importlib.import_module(f"trueaxis.cli.{module}")


# ---------------------------------------------------------------- commands


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(trueaxis.__version__)
@click.option(
    "--guard-formulas",
    is_flag=True,
    help="In all tables that are written as text, put a ' before cells that a "
    "spreadsheet would run as a formula.",
)
@click.pass_context
def main(ctx: click.Context, guard_formulas: bool) -> None:
    """Robust principal component analysis: axes that outliers cannot bend.

    DATA is a table with one sample per row: CSV and other text, Excel, ODS, JSON lines,
    Parquet, Feather or .npy, or - for text from standard input.

    To get started: trueaxis report data.csv
    """
    if guard_formulas:
        from trueaxis.io.write import formulas_guarded

        ctx.with_resource(formulas_guarded())


@main.command()
@data_argument
@file_option("-o", "Model file to write (.npz).")
@row_options
@fit_options
@table_options
@json_option
def fit(**options: Any) -> None:
    """Fit a table, list its outliers and save the model."""
    import_commands().fit(**options)


@main.command()
@model_argument
@data_argument
@file_option("-o", STDOUT)
@level_option
@row_options
@table_options
@label_option
@json_option
def score(**options: Any) -> None:
    """Judge rows by a saved model: outlier or not, and why."""
    import_commands().score(**options)


@main.command()
@model_argument
@data_argument
@file_option("-o", STDOUT)
@table_options
@label_option
@json_option
def transform(**options: Any) -> None:
    """Compute the scores of rows on the components of a saved model."""
    import_commands().transform(**options)


@main.command()
@data_argument
@file_option("-o", "HTML file to write.", "report.html")
@model_option
@fit_options
@table_options
@label_option
@json_option
def report(**options: Any) -> None:
    """Write an HTML report: which rows are outliers, and why."""
    import_commands().report(**options)


@main.command()
@data_argument
@file_option("-o", STDOUT)
@file_option(
    "--changes",
    "Table of changed cells to write (default: beside OUTPUT, NAME-changes).",
)
@model_option
@click.option(
    "--no-cells",
    is_flag=True,
    help="Only fill missing cells, and keep wrong ones.",
)
@size_options
@table_options
@json_option
def repair(**options: Any) -> None:
    """Fill missing cells, replace wrong ones, and list what was changed."""
    import_commands("repair").repair(**options)


@main.command()
@data_argument
@file_option("-o", "Table to write.")
@names_option(
    "--methods",
    "Methods to fit, compared with the first (default: dswl and all quick ones).",
)
@size_options
@encode_option
@level_option
@table_options
@json_option
def compare(**options: Any) -> None:
    """Fit all suitable methods to a table and compare them."""
    import_commands().compare(**options)


@main.command()
@model_argument
@click.argument("output")
@json_option
def export(**options: Any) -> None:
    """Convert a saved model to ONNX, for runtimes without Python."""
    import_commands().export(**options)


@main.command()
@json_option
def methods(**options: Any) -> None:
    """List the methods that --method and --methods accept."""
    import_commands().methods(**options)


@main.command()
@file_option("-o", "HTML file to write.", "demo.html")
def demo(**options: Any) -> None:
    """Fit built-in sensor data, list its outliers and write a report."""
    import_commands().demo(**options)
