"""RUN: the command line. Heavy imports wait until a command needs them."""

from __future__ import annotations

from typing import Any

import click

import trueaxis
from trueaxis._cli.options import (
    ErrorReportingGroup,
    choice,
    fit_options,
    given_command,
    json_option,
    known_method,
    need_file,
    recipe,
    refuse_both,
    refuse_fit_options,
    several,
    size_options,
    table_options,
    table_target,
    together,
)

HELP = {"help_option_names": ["-h", "--help"]}
cluster_options = together(
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="N",
        help="Read a .npy or Parquet file with N processes (needs Dask).",
    ),
    click.option(
        "--client",
        metavar="ADDRESS",
        help="... or with the workers of a Dask scheduler, such as tcp://host:8786.",
    ),
)


@click.group(cls=ErrorReportingGroup, context_settings=HELP)
@click.version_option(trueaxis.__version__)
def main() -> None:
    """Robust principal component analysis: axes that outliers did not bend.

    DATA is a table with one row a line: CSV, TSV, Parquet, .npy or .npz, or - for text
    from standard input. Start with: trueaxis report data.csv
    """


@main.command()
@click.argument("data")
@click.option("-o", "--output", default="", help="Where to save the model (.npz).")
@fit_options
@table_options
@cluster_options
@json_option
def fit(
    data: str,
    output: str,
    as_json: bool,
    workers: int | None,
    client: str | None,
    **options: Any,
) -> None:
    """Fit a table, say which rows are bad, and keep the model."""
    from trueaxis._cli import commands

    need_file(output, "A model")
    if workers and client:
        raise click.UsageError(
            "--workers starts processes here and --client uses a cluster that runs: "
            "give one of them."
        )
    given = choice(options), recipe(options)
    if workers or client:
        commands.fit_by_workers(
            data, *given, output, as_json, client or "", workers or 0
        )
    else:
        commands.fit(data, *given, output, as_json)


@main.command()
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", help="Where to save the table (default: -).")
@table_options
@json_option
def score(
    model: str, data: str, output: str | None, as_json: bool, **options: Any
) -> None:
    """Judge rows by a saved model: outlier or not, which kind, because of what."""
    from trueaxis._cli import commands

    target = table_target(output, as_json)
    commands.score(model, data, choice(options), target, as_json)


@main.command()
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", help="Where to save the table (default: -).")
@table_options
@json_option
def transform(
    model: str, data: str, output: str | None, as_json: bool, **options: Any
) -> None:
    """Compute the scores of rows on the components of a saved model."""
    from trueaxis._cli import commands

    target = table_target(output, as_json)
    commands.transform(model, data, choice(options), target, as_json)


@main.command()
@click.argument("data")
@click.option(
    "-o", "--output", default="report.html", show_default=True, help="Page to write."
)
@click.option("--model", default="", help="Judge by a saved model instead of a fit.")
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
@fit_options
@table_options
@json_option
@click.pass_context
def report(
    ctx: click.Context,
    data: str,
    output: str,
    model: str,
    show: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Write one page on a table: which rows are bad, why, and what that changes."""
    from trueaxis._cli import commands

    need_file(output, "The page")
    if model:
        refuse_fit_options(ctx)
    commands.report(
        data, choice(options), recipe(options), model, output, as_json, show,
        given_command(ctx),
    )  # fmt: skip


@main.command()
@click.argument("data")
@click.option("-o", "--output", default="", help="Where to save the table.")
@click.option(
    "--methods",
    multiple=True,
    callback=several,
    metavar="A,B,...",
    help="Which, the one to compare with first (default: dswl and all quick ones).",
)
@size_options
@table_options
@json_option
def compare(
    data: str, output: str, methods: list[str], as_json: bool, **options: Any
) -> None:
    """Fit all suitable methods to a table, side by side."""
    from trueaxis._cli import commands

    refuse_both(output, as_json)
    for name in methods:
        known_method(name, "--methods")
    commands.compare(data, choice(options), recipe(options), methods, output, as_json)


@main.command()
@click.argument("model")
@click.argument("output")
@json_option
def export(model: str, output: str, as_json: bool) -> None:
    """Turn a saved model into an ONNX graph, for runtimes without Python."""
    from trueaxis._cli import commands

    need_file(output, "A graph")
    commands.export(model, output, as_json)


@main.command()
@json_option
def methods(as_json: bool) -> None:
    """List the methods that --method and --methods know."""
    from trueaxis._cli import commands

    commands.methods(as_json)


@main.command()
@click.option(
    "-o", "--output", default="demo.html", show_default=True, help="Page to write."
)
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
def demo(output: str, show: bool) -> None:
    """Fit embedded sensor data: who is flagged and why, and a report to look at."""
    from trueaxis._cli.demo import run

    need_file(output, "The page")
    run(output, show)


@main.command()
@click.argument("study", type=click.Choice(["toy", "uci", "faces", "all"]))
@click.option(
    "--data-home",
    envvar="TRUEAXIS_DATA",
    help="Folder with the data sets (default: the variable TRUEAXIS_DATA).",
)
@click.option("--quick", is_flag=True, help="A small part of it, within a minute.")
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes (default: one per core)."
)
@click.option("-o", "--output", help="Folder for results (default: results).")
@click.option("--page", help="Page to write (default: docs/reproduction.md).")
@click.option("--offline", is_flag=True, help="Download nothing.")
def reproduce(
    study: str,
    data_home: str | None,
    quick: bool,
    jobs: int | None,
    output: str | None,
    page: str | None,
    offline: bool,
) -> None:
    """Repeat the paper's experiments; go on where an interrupted run stopped."""
    from trueaxis._cli import commands

    commands.reproduce(study, data_home, quick, jobs, output, page, offline)


if __name__ == "__main__":
    main()
