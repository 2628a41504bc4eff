"""Turn failures, signals and warnings of commands into messages and exit codes."""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import click

from trueaxis._cli.process.limits import (
    is_about_loading,
    low_limit,
    memory_limit,
    refuse_low_limit,
)
from trueaxis._cli.process.signals import WATCH
from trueaxis._cli.process.streams import (
    discard,
    flush_stdout,
    nobody_reads,
    undelivered,
    write_to_stderr,
)
from trueaxis._files import DISK_FULL, printable
from trueaxis._rows.memory import TooLarge


class ErrorReportingGroup(click.Group):
    """Group of commands that report failures as a message, with exit code 1."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of their definition."""
        return list(self.commands)

    def make_context(self, info_name: Any, args: Any, *rest: Any, **extra: Any) -> Any:
        """Create the context and store the arguments for `options.command_line`."""
        arguments = list(args)
        ctx = super().make_context(info_name, args, *rest, **extra)
        ctx.obj = arguments
        return ctx

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run the command line; a pipe that is closed early is no error."""
        run = partial(super().main, *args, **(extra | {"standalone_mode": False}))
        if not standalone_mode:
            return run()
        code: Any = 0
        try:
            code = run() or 0
        except click.ClickException as error:
            told = io.StringIO()
            error.show(told)
            write_to_stderr(told.getvalue())
            code = error.exit_code
        except click.Abort:  # an interrupt before a command runs
            write_to_stderr(WATCH.message())
            code = 128 + WATCH.number
        except OSError as error:  # help that cannot be written
            if os.environ.get("TRUEAXIS_TRACEBACK"):
                raise
            discard(sys.stdout)
            write_to_stderr(f"Error: {undelivered(error)}\n")
            code = 1
        except SystemExit as left:
            # click leaves like this if a pipe is closed while it prints help.
            pacified = "Pacify" in type(sys.stdout).__name__
            code = 0 if pacified else left.code
        sys.exit(flush_stdout(code))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; report errors that the input caused as a message."""
        NOTES.clear()
        with warnings_as_notes():
            try:
                with WATCH.raising():
                    refuse_low_limit()
                    return super().invoke(ctx)
            except BaseException as error:
                # An interrupt during an import may arrive as another error.
                if WATCH.received or isinstance(error, KeyboardInterrupt):
                    write_to_stderr(WATCH.message())
                    ctx.exit(128 + WATCH.number)
                if not isinstance(error, EXPECTED):
                    raise
                broken = isinstance(error, OSError) and error.errno == errno.EPIPE
                if broken and nobody_reads(sys.stdout):
                    # Whoever reads has seen enough, as in `| head`.
                    discard(sys.stdout)
                    ctx.exit(0)
                if os.environ.get("TRUEAXIS_TRACEBACK"):
                    raise
                raise click.ClickException(_lines(_message(error))) from error


EXPECTED = (OSError, ImportError, ValueError, TypeError, MemoryError, EOFError)
NOTES: list[str] = []  # of the command that runs, for JSON


def _lines(message: str) -> str:
    """Return an error on one line, and each of its notes on a line of its own."""
    return "\nNote: ".join(map(printable, message.split("\nNote: ")))


def _message(error: Exception) -> str:
    """Return the message for the user about an error."""
    limit = memory_limit()
    if limit and isinstance(error, ImportError) and is_about_loading(error):
        return low_limit(limit)
    if isinstance(error, MemoryError) and not isinstance(error, TooLarge):
        if limit:
            return (
                f"The table does not fit into the {limit >> 20:,} MB of memory that "
                "this process may use: raise the limit (ulimit -v), select fewer "
                "columns with --columns, or use fewer rows."
            )
        return (
            "The table does not fit into memory: select fewer columns with --columns, "
            "or use fewer rows."
        )
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, OSError) and error.errno in DISK_FULL:
        return undelivered(error)  # errors of files have their names
    if type(error).__name__ == "IncompleteRows":  # importing it would take NumPy
        return f"{error} On the command line: --method dswl, or `trueaxis repair`."
    return str(error)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings as notes, without the line of code that raised them."""

    def print_note(message: Warning | str, *_: Any, **__: Any) -> None:
        # click.echo would bypass the redirected stream and write into a progress bar.
        NOTES.append(printable(message))
        write_to_stderr(f"Note: {printable(message)}\n")

    with warnings.catch_warnings():
        warnings.showwarning = print_note
        yield
