"""Turn failures, signals and warnings of commands into messages and exit codes."""

from __future__ import annotations

import errno
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from trueaxis._rows.memory import TooLarge
from trueaxis._tables.cells import printable


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

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; report errors that the input caused as a message."""
        with _exit_on_sigterm(), warnings_as_notes():
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                # The terminal has echoed ^C and is still on that line.
                click.echo("\n" * sys.stderr.isatty() + "Interrupted.", err=True)
                ctx.exit(128 + signal.SIGINT)
            except (OSError, ImportError, ValueError, TypeError, MemoryError) as error:
                # click handles a pipe that was closed early, as by `| head`.
                closed = isinstance(error, OSError) and error.errno == errno.EPIPE
                if closed or os.environ.get("TRUEAXIS_TRACEBACK"):
                    raise
                raise click.ClickException(printable(_message(error))) from error


def _message(error: Exception) -> str:
    """Return the message for the user about an error."""
    if isinstance(error, MemoryError) and not isinstance(error, TooLarge):
        return (
            "The table does not fit into memory: select fewer columns with --columns, "
            "or use fewer rows."
        )
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}."
    if type(error).__name__ == "IncompleteRows":  # importing it would take NumPy
        return f"{error} On the command line: --method dswl, or `trueaxis repair`."
    return str(error)


@contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Exit on SIGTERM as on Ctrl-C, so that half-written files are removed."""

    def leave(number: int, frame: Any) -> None:
        sys.exit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, leave)
    except ValueError:  # signal handlers can only be set in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings as notes, without the line of code that raised them."""

    def print_note(message: Warning | str, *_: Any, **__: Any) -> None:
        # click.echo would bypass the redirected stream and write into a progress bar.
        sys.stderr.write(f"Note: {printable(message)}\n")

    with warnings.catch_warnings():
        warnings.showwarning = print_note
        yield
