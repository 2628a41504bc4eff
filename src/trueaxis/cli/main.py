"""Define the commands and their options; what runs them is imported by then."""

from __future__ import annotations

import shlex
from typing import Any

import click

import trueaxis
from trueaxis.cli.errors import CommandGroup
from trueaxis.cli.options import (
    choice_from,
    encode_option,
    file_option,
    fit_options,
    fit_options_from,
    json_option,
    label_option,
    level_option,
    method_class,
    model_option,
    names_option,
    refuse_fit_options,
    refuse_standard_output,
    refuse_two_outputs,
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
def fit(
    data: str, output: str, clean: str, flagged: str, as_json: bool, **options: Any
) -> None:
    """Fit a table, list its outliers and save the model."""
    commands = import_commands()
    refuse_standard_output(output, "A model")
    refuse_two_outputs(as_json, clean=clean, flagged=flagged)
    files = commands.RowFiles(clean, flagged)
    choice, to_fit = choice_from(options), fit_options_from(options)
    commands.fit(data, choice, to_fit, output, files, as_json)


@main.command()
@model_argument
@data_argument
@file_option("-o", STDOUT)
@level_option
@row_options
@table_options
@label_option
@json_option
def score(
    model: str,
    data: str,
    output: str,
    level: float | None,
    clean: str,
    flagged: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Judge rows by a saved model: outlier or not, and why."""
    commands = import_commands()
    refuse_two_outputs(as_json, output=output, clean=clean, flagged=flagged)
    # Rows on standard output leave no place for the verdicts.
    if not as_json and "-" not in (clean, flagged):
        output = output or "-"
    files = commands.RowFiles(clean, flagged)
    commands.score(model, data, choice_from(options), level, output, files, as_json)


@main.command()
@model_argument
@data_argument
@file_option("-o", STDOUT)
@table_options
@label_option
@json_option
def transform(
    model: str, data: str, output: str, as_json: bool, **options: Any
) -> None:
    """Compute the scores of rows on the components of a saved model."""
    commands = import_commands()
    refuse_two_outputs(as_json, output=output)
    output = output or ("" if as_json else "-")
    commands.transform(model, data, choice_from(options), output, as_json)


@main.command()
@data_argument
@file_option("-o", "HTML file to write.", "report.html")
@model_option
@fit_options
@table_options
@label_option
@json_option
@click.pass_context
def report(
    ctx: click.Context,
    /,
    data: str,
    output: str,
    model: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Write an HTML report: which rows are outliers, and why."""
    commands = import_commands()
    refuse_standard_output(output, "The report")
    if model:
        refuse_fit_options(ctx)
    choice, to_fit = choice_from(options), fit_options_from(options)
    typed = shlex.join(["trueaxis", *ctx.obj])
    commands.report(data, choice, to_fit, model, output, as_json, typed)


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
@click.pass_context
def repair(
    ctx: click.Context,
    /,
    data: str,
    output: str,
    changes: str,
    model: str,
    cells: bool | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Fill missing cells, replace wrong ones, and list what was changed."""
    run = import_commands().repair
    output = output or ("" if as_json else "-")
    refuse_two_outputs(as_json, output=output, changes=changes)
    if model:
        refuse_fit_options(ctx)
    if options["reading"].get("missing") == "error":
        raise click.UsageError(
            "--read missing=error refuses missing cells, which repair is to fill: "
            "leave it out, or use --read missing=drop to leave out their rows."
        )
    choice, to_fit = choice_from(options), fit_options_from(options)
    run(data, choice, to_fit, model, cells, output, changes, as_json)


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
def compare(
    data: str,
    output: str,
    methods: list[str],
    all_rows: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit all suitable methods to a table and compare them."""
    commands = import_commands()
    refuse_two_outputs(as_json, output=output)
    for name in methods:
        method_class(name, "--methods")
    for name in options["parameters"].keys() - {"contamination"}:
        raise click.BadParameter(
            f"Not all methods have a parameter {name!r}: set contamination, or give "
            "--level.",
            param_hint="--set",
        )
    choice, to_fit = choice_from(options), fit_options_from(options)
    commands.compare(data, choice, to_fit, methods, all_rows, output, as_json)


@main.command()
@model_argument
@click.argument("output")
@json_option
def export(model: str, output: str, as_json: bool) -> None:
    """Convert a saved model to ONNX, for runtimes without Python."""
    commands = import_commands()
    refuse_standard_output(output, "A graph")
    commands.export(model, output, as_json)


@main.command()
@json_option
def methods(as_json: bool) -> None:
    """List the methods that --method and --methods accept."""
    commands = import_commands()
    commands.methods(as_json)


@main.command()
@file_option("-o", "HTML file to write.", "demo.html")
def demo(output: str) -> None:
    """Fit built-in sensor data, list its outliers and write a report."""
    commands = import_commands()
    refuse_standard_output(output, "The report")
    commands.demo(output)
