"""Repeat the paper's experiments: python -m studies."""

from __future__ import annotations

import os
from pathlib import Path

import click

from studies.reproduce import NAMES, prepare, reproduce


@click.command()
@click.argument("study", type=click.Choice([*NAMES, "all"]), default="all")
@click.option(
    "--data-home",
    envvar="TRUEAXIS_DATA",
    help="Folder with the data sets (default: the variable TRUEAXIS_DATA).",
)
@click.option("--quick", is_flag=True, help="Run a small part, in about a minute.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=os.cpu_count(),
    help="Number of processes (default: one per core).",
)
@click.option("-o", "--output", help="Folder for the results (default: results).")
@click.option("--page", help="Page to write (default: docs/reproduction.md).")
@click.option("--offline", is_flag=True, help="Do not download anything.")
def main(
    study: str,
    data_home: str | None,
    quick: bool,
    jobs: int,
    output: str | None,
    page: str | None,
    offline: bool,
) -> None:
    """Repeat the paper's experiments; resume an interrupted run."""
    folder = Path(output or ("results/quick" if quick else "results"))
    # A quick run must not overwrite the page of the full study.
    in_docs = not quick and output is None and Path("docs").is_dir()
    target = Path(page or (Path("docs") if in_docs else folder) / "reproduction.md")
    names = NAMES if study == "all" else (study,)
    prepared = [prepare(name, data_home, quick, download=not offline) for name in names]
    for name in (name for one in prepared for name in getattr(one, "missing", ())):
        click.echo(
            f"Note: {name} is left out: the data set is neither in "
            f"{data_home or 'TRUEAXIS_DATA (not set)'} nor in the cache. Give a "
            "folder that has it with --data-home.",
            err=True,
        )
    reproduce(prepared, folder, target, jobs=jobs)
    click.echo(f"Results saved to {folder}, the page to {target}")


if __name__ == "__main__":
    main(prog_name="python -m studies")
