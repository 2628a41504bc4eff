"""RUN: the command line. Heavy imports wait until a command needs them."""

from __future__ import annotations

from pathlib import Path

import click

import trueaxis


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(trueaxis.__version__)
def main() -> None:
    """Robust principal component analysis: axes that outliers did not bend."""


@main.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default="demo.png",
    show_default=True,
    help="Where to save the picture.",
)
def demo(output: Path) -> None:
    """Fit embedded sensor data; tell who was flagged and why."""
    from rich.console import Console

    from trueaxis.demo import run

    try:
        run(output, Console())
    except (ImportError, OSError) as error:
        raise click.ClickException(str(error)) from None
