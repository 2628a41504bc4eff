"""RUN: what the commands of the command line share: options, and how they fail."""

from __future__ import annotations

import csv
import errno
import json
import os
import shlex
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from click.core import ParameterSource

from trueaxis._rows.memory import TooLarge
from trueaxis._tables.cells import printable


class ErrorReportingGroup(click.Group):
    """A group of commands whose failures end with a sentence: exit code 1."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of their definition, which is the one of their use."""
        return list(self.commands)

    def make_context(self, info_name: Any, args: Any, *rest: Any, **extra: Any) -> Any:
        """Keep the arguments as they were given, for `given_command`."""
        given = list(args)
        ctx = super().make_context(info_name, args, *rest, **extra)
        ctx.obj = given
        return ctx

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what the input is to blame for becomes a message."""
        with _ended_by_signal(), _spoken_warnings():
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                # A terminal shows ^C, and stays in that line.
                click.echo("\n" * sys.stderr.isatty() + "Interrupted.", err=True)
                ctx.exit(128 + signal.SIGINT)
            except (OSError, ImportError, ValueError, TypeError, MemoryError) as error:
                # `| head` has seen enough: click knows what to do.
                closed = isinstance(error, OSError) and error.errno == errno.EPIPE
                if closed or os.environ.get("TRUEAXIS_TRACEBACK"):
                    raise
                raise click.ClickException(printable(_told(error))) from error


def _told(error: Exception) -> str:
    if isinstance(error, MemoryError) and not isinstance(error, TooLarge):
        return "The table does not fit into memory: choose --columns, or fewer rows."
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}."
    return str(error)


def given_command(ctx: click.Context) -> str:
    """The command line that is being run."""
    return shlex.join(["trueaxis", *ctx.obj])


@contextmanager
def _ended_by_signal() -> Iterator[None]:
    """Let a polite kill clean up, as Ctrl-C does: no half-written file stays."""

    def leave(number: int, frame: Any) -> None:
        sys.exit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, leave)
    except ValueError:  # not the main thread, where signals do not arrive
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _spoken_warnings() -> Iterator[None]:
    """Warnings as sentences for people, without the line of code that gave them."""

    def say(message: Warning | str, *_: Any, **__: Any) -> None:
        # Not by click, which goes past the stream and would write into a bar.
        sys.stderr.write(f"Note: {printable(message)}\n")

    with warnings.catch_warnings():
        warnings.showwarning = say
        yield


# ---------------------------------------------------------------- shared options


def several(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> list[str]:
    """Names from an option that may be repeated, each with commas between names."""
    # Names with commas are quoted, as in a CSV file.
    return [name.strip() for row in csv.reader(values) for name in row if name.strip()]


def _number(
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


def _pairs(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, Any]:
    found = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"{text!r} is not of the form name=value.")
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = value
        if isinstance(found[name], list):
            found[name] = tuple(found[name])
    return found


def together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator."""

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


table_options = together(
    click.option("--id", "id_", metavar="COLUMN", help="Column that names the rows."),
    click.option("--label", metavar="COLUMN", help="Column to carry along, not used."),
    click.option(
        "--columns",
        multiple=True,
        callback=several,
        metavar="A,B,...",
        help="Columns to use (default: all that are left).",
    ),
    click.option(
        "--drop",
        multiple=True,
        callback=several,
        metavar="A,B,...",
        help="Columns to leave out.",
    ),
    click.option(
        "--decimal",
        type=click.Choice(["auto", ".", ","]),
        default="auto",
        show_default=True,
        help="Sign before decimals; the other one parts thousands.",
    ),
    click.option(
        "--delimiter",
        default="auto",
        show_default=True,
        metavar="CHARACTER",
        help="What parts cells: a character, tab or space.",
    ),
    click.option(
        "--header",
        type=click.Choice(["auto", "yes", "no"]),
        default="auto",
        show_default=True,
        help="Whether the first line has names of columns.",
    ),
)
size_options = together(
    click.option(
        "-k",
        "--components",
        default="auto",
        show_default=True,
        callback=_number,
        metavar="K",
        help="Number of components, a share of variance such as 0.9, or auto.",
    ),
    click.option(
        "--scale",
        type=click.Choice(["none", "standard", "robust"]),
        default="none",
        show_default=True,
        help="Divide columns by their spread; use robust when units differ.",
    ),
)
fit_options = together(
    size_options,
    click.option(
        "--method",
        default="dswl",
        show_default=True,
        help="Short name of a method; `trueaxis methods` lists them.",
    ),
    click.option(
        "--set",
        "parameters",
        multiple=True,
        callback=_pairs,
        metavar="NAME=VALUE",
        help="Parameter of the method, such as --set trust=0.7.",
    ),
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON for machines."
)


def choice(options: dict[str, Any]) -> Any:
    """Which columns are which, from the options of a command."""
    from trueaxis._tables.read import Choice

    columns = options["columns"] or None
    text = {name: options[name] for name in ("decimal", "delimiter", "header")}
    return Choice(columns, options["drop"], options["id_"], options["label"], **text)


def recipe(options: dict[str, Any]) -> Any:
    """What to fit, from the options of a command."""
    from trueaxis._cli.workflow import FitOptions

    method, parameters = options.get("method", "dswl"), options.get("parameters", {})
    known = set(known_method(method, "--method")().get_params()) - {"n_components"}
    for name in parameters.keys() - known:
        raise click.BadParameter(
            f"{method} has no parameter {name!r}; it has {', '.join(sorted(known))}.",
            param_hint="--set",
        )
    return FitOptions(method, options["components"], options["scale"], parameters)


def known_method(name: str, option: str) -> Any:
    """The class of a method; another name is wrong usage."""
    from trueaxis.estimators import METHODS

    if name not in METHODS:
        raise click.BadParameter(
            f"{name!r} is not known: choose among {', '.join(METHODS)}.",
            param_hint=option,
        )
    return METHODS[name]


def refuse_fit_options(ctx: click.Context) -> None:
    """Refuse what only a fit would heed, where a saved model judges."""
    names = {"components", "scale", "method", "parameters"}
    for param in ctx.command.params:
        source = ctx.get_parameter_source(param.name or "")
        if param.name in names and source is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{param.opts[-1]} is for a fit, but --model judges by a saved model: "
                "leave out one of them."
            )


def need_file(output: str, what: str) -> None:
    """Refuse standard output for what is written to files only."""
    if output == "-":
        raise click.UsageError(
            f"{what} cannot go to standard output: give the name of a file."
        )


def refuse_both(output: str, as_json: bool) -> None:
    """Refuse a table and JSON on the same stream."""
    if as_json and output == "-":
        raise click.UsageError(
            "--json and -o - would both write to standard output: choose one."
        )


def table_target(output: str | None, as_json: bool) -> str:
    """Where a table goes: as asked, nowhere beside JSON, else to standard output."""
    target = output or ("" if as_json else "-")
    refuse_both(target, as_json)
    return target
