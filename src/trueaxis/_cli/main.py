"""Define the command-line commands; heavy imports are deferred until one runs."""

from __future__ import annotations

import shlex
from typing import Any

import click

import trueaxis
from trueaxis._cli import import_sklearn
from trueaxis._cli.errors import ErrorReportingGroup
from trueaxis._cli.options import (
    SHARE,
    choice_from,
    cluster_options,
    fit_options,
    fit_options_from,
    json_option,
    line_options,
    method_class,
    model_options,
    refuse_fit_options,
    row_options,
    size_options,
    split_names,
    table_options,
)


def guard(ctx: click.Context, option: click.Parameter, on: bool) -> None:
    """Guard cells of text against spreadsheets until the command ends."""
    if on:
        from trueaxis.io.write import formulas_guarded

        ctx.with_resource(formulas_guarded())


guard_option = click.option(
    "--guard-formulas",
    is_flag=True,
    expose_value=False,
    callback=guard,
    help="Write a ' before text that a spreadsheet would run as a formula; rows of a "
    "text file that are written again stay as they are.",
)
HELP = {"help_option_names": ["-h", "--help"]}


@click.group(cls=ErrorReportingGroup, context_settings=HELP)
@click.version_option(trueaxis.__version__)
def main() -> None:
    """Robust principal component analysis: axes that outliers cannot bend.

    DATA is a table with one sample per row: CSV and other text, Excel, ODS, JSON lines,
    Parquet, Feather or .npy, or - for text from standard input.

    To get started: trueaxis report data.csv
    """


@main.command()
@click.argument("data")
@click.option("-o", "--output", default="", help="Model file to write (.npz).")
@row_options
@fit_options
@table_options
@cluster_options
@json_option
def fit(
    data: str,
    output: str,
    clean: str,
    flagged: str,
    as_json: bool,
    workers: int | None,
    client: str | None,
    **options: Any,
) -> None:
    """Fit a table, list its outliers and save the model."""
    require_file(output, "A model")
    if workers and client:
        raise click.UsageError(
            "--workers starts new processes and --client uses a running cluster: give "
            "one of them."
        )
    files = row_files(clean, flagged, as_json)
    given = choice_from(options), fit_options_from(options)
    if workers or client:
        from trueaxis._cli import cluster

        cluster.fit(data, *given, output, files, as_json, client or "", workers or 0)
    else:
        from trueaxis._cli import commands

        commands.fit(data, *given, output, files, as_json)


@main.command()
@model_options
@click.option(
    "--level",
    type=SHARE,
    metavar="SHARE",
    help="Share of regular rows that may be flagged (default: as in the fit).",
)
@row_options
@guard_option
def score(
    model: str,
    data: str,
    output: str | None,
    clean: str,
    flagged: str,
    as_json: bool,
    level: float | None,
    **options: Any,
) -> None:
    """Judge rows by a saved model: outlier or not, and why."""
    from trueaxis._cli import commands

    files = row_files(clean, flagged, as_json, output)
    # Rows on standard output leave no place for the verdicts.
    target = "" if files.to_stdout and not output else table_target(output, as_json)
    commands.score(model, data, choice_from(options), level, target, files, as_json)


@main.command()
@model_options
@guard_option
def transform(
    model: str, data: str, output: str | None, as_json: bool, **options: Any
) -> None:
    """Compute the scores of rows on the components of a saved model."""
    from trueaxis._cli import commands

    target = table_target(output, as_json)
    commands.transform(model, data, choice_from(options), target, as_json)


@main.command()
@click.argument("data")
@click.option(
    "-o",
    "--output",
    default="report.html",
    show_default=True,
    help="HTML file to write.",
)
@click.option("--model", default="", help="Use a saved model instead of fitting one.")
@click.option("--open", "show", is_flag=True, help="Open the report in a browser.")
@row_options
@fit_options
@table_options
@json_option
@click.pass_context
def report(
    ctx: click.Context,
    /,
    data: str,
    output: str,
    model: str,
    show: bool,
    clean: str,
    flagged: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Write an HTML report: which rows are outliers, and why."""
    from trueaxis._cli import commands

    require_file(output, "The report")
    if model:
        refuse_fit_options(ctx)
    files = row_files(clean, flagged, as_json)
    commands.report(
        data, choice_from(options), fit_options_from(options), model, output, files,
        as_json, show, command_line(ctx),
    )  # fmt: skip


@main.command()
@click.argument("data")
@click.option("-o", "--output", help="Table to write (default: standard output).")
@click.option(
    "--changes",
    help="Table of changed cells to write (default: beside OUTPUT, NAME-changes).",
)
@click.option("--model", default="", help="Use a saved model instead of fitting one.")
@click.option(
    "--cells/--no-cells",
    default=None,
    help="Replace wrong cells as well, or only fill missing ones (default: replace).",
)
@size_options
@table_options
@json_option
@guard_option
@click.pass_context
def repair(
    ctx: click.Context,
    /,
    data: str,
    output: str | None,
    changes: str | None,
    model: str,
    cells: bool | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Fill missing cells, replace wrong ones, and list what was changed."""
    target = table_target(output, as_json)
    refuse_table_and_json(changes or "", as_json, "--changes")
    if target == changes == "-":
        raise click.UsageError(
            "The table and its changes would both be written to standard output: give "
            "a file for one of them, with -o or --changes."
        )
    if model:
        refuse_fit_options(ctx, "cells")
    if options["missing"] == "error":
        raise click.UsageError(
            "--missing error refuses missing cells, which repair is to fill: leave it "
            "out, or use --missing drop to leave out their rows."
        )
    choice, fit_options = choice_from(options), fit_options_from(options)
    import_sklearn()
    from trueaxis._cli.repair import repair as run

    run(data, choice, fit_options, model, cells, target, changes, as_json)


@main.command()
@click.argument("data")
@click.option("-o", "--output", default="", help="Table to write.")
@click.option(
    "--methods",
    multiple=True,
    callback=split_names,
    metavar="A,B,...",
    help="Methods to fit, compared with the first (default: dswl and all quick ones).",
)
@click.option(
    "--all-rows",
    is_flag=True,
    help="Fit all rows of large tables, not 10,000 drawn at random.",
)
@size_options
@line_options
@table_options
@json_option
@guard_option
def compare(
    data: str,
    output: str,
    methods: list[str],
    all_rows: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit all suitable methods to a table and compare them."""
    from trueaxis._cli import commands

    refuse_table_and_json(output, as_json)
    for name in methods:
        method_class(name, "--methods")
    commands.compare(
        data, choice_from(options), fit_options_from(options), methods, all_rows,
        output, as_json,
    )  # fmt: skip


@main.command()
@click.argument("model")
@click.argument("output")
@json_option
def export(model: str, output: str, as_json: bool) -> None:
    """Convert a saved model to ONNX, for runtimes without Python."""
    from trueaxis._cli import commands

    require_file(output, "A graph")
    commands.export(model, output, as_json)


@main.command()
@json_option
def methods(as_json: bool) -> None:
    """List the methods that --method and --methods accept."""
    from trueaxis._cli import commands

    commands.methods(as_json)


@main.command()
@click.option(
    "-o", "--output", default="demo.html", show_default=True, help="HTML file to write."
)
@click.option("--open", "show", is_flag=True, help="Open the report in a browser.")
def demo(output: str, show: bool) -> None:
    """Fit built-in sensor data, list its outliers and write a report."""
    require_file(output, "The report")
    import_sklearn()
    from trueaxis._cli.demo import run

    run(output, show)


def command_line(ctx: click.Context) -> str:
    """Return the command line as the user gave it."""
    return shlex.join(["trueaxis", *ctx.obj])


def require_file(output: str, what: str) -> None:
    """Raise if the output is standard output."""
    if output == "-":
        raise click.UsageError(
            f"{what} cannot be written to standard output: give a file name."
        )


def refuse_table_and_json(output: str, as_json: bool, option: str = "-o") -> None:
    """Raise if a table and JSON would both go to standard output."""
    if as_json and output == "-":
        raise click.UsageError(
            f"--json and {option} - would both write to standard output: choose one."
        )


def row_files(
    clean: str, flagged: str, as_json: bool, output: str | None = None
) -> Any:
    """Return the files for rows; refuse two things on standard output."""
    from trueaxis._cli.rows_output import RowFiles

    refuse_table_and_json(clean, as_json, "--clean")
    refuse_table_and_json(flagged, as_json, "--flagged")
    if [clean, flagged, output].count("-") > 1:
        raise click.UsageError(
            "Two tables would be written to standard output: give a file for one of "
            "them."
        )
    return RowFiles(clean, flagged)


def table_target(output: str | None, as_json: bool) -> str:
    """Return where a table goes: "-" by default, or nowhere if JSON is printed."""
    target = output or ("" if as_json else "-")
    refuse_table_and_json(target, as_json)
    return target


if __name__ == "__main__":
    from trueaxis._cli.process import start

    start.main()
