"""Define the commands and their options; what runs them is imported by then."""

from __future__ import annotations

from typing import Any

import click

import trueaxis
from trueaxis.cli.errors import CommandGroup
from trueaxis.cli.options import (
    encode_option,
    file_option,
    fit_options,
    json_option,
    label_option,
    level_option,
    model_option,
    names_option,
    row_options,
    set_option,
    size_options,
    table_options,
)
from trueaxis.cli.start import import_sklearn

STDOUT = "Table to write (default: standard output)."
data_argument = click.argument("data")
model_argument = click.argument("model")


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
        from trueaxis.cli.source import formulas_guarded

        ctx.with_resource(formulas_guarded())


def import_commands() -> Any:
    """Import what runs the commands, and takes long; usage errors need not wait."""
    import_sklearn()
    from trueaxis.cli import commands

    return commands


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
    "--cells/--no-cells",
    default=None,
    help="Replace wrong cells as well, or only fill missing ones (default: replace).",
)
@size_options
@table_options
@json_option
def repair(**options: Any) -> None:
    """Fill missing cells, replace wrong ones, and list what was changed."""
    import_commands().repair(**options)


@main.command()
@data_argument
@file_option("-o", "Table to write.")
@names_option(
    "--methods",
    "Methods to fit, compared with the first (default: dswl and all quick ones).",
)
@click.option(
    "--all-rows",
    is_flag=True,
    help="Fit all rows of large tables, not 10,000 drawn at random.",
)
@size_options
@encode_option
@level_option
@set_option
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
