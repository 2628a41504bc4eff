"""Turn errors, warnings and closed pipes into messages and exit codes."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

# What a wrong input raises; all else is a bug, and shown with its traceback.
EXPECTED = (OSError, ImportError, ValueError, TypeError, MemoryError, EOFError)


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
        """Run a command; report what the input caused as a message."""
        with warnings_as_notes():
            try:
                result = super().invoke(ctx)
                sys.stdout.flush()
                return result
            except BrokenPipeError:  # whoever reads has seen enough, as `head`
                _discard_output()
                ctx.exit(0)
            except EXPECTED as error:
                if isinstance(error, OSError) and error.filename is None:
                    _discard_output()  # which could not be written
                if os.environ.get("TRUEAXIS_TRACEBACK"):
                    raise
                raise click.ClickException(_message(error)) from error


def _discard_output() -> None:
    """Let what is left in the buffer of standard output go nowhere."""
    if sys.stdout is sys.__stdout__ and sys.__stdout__ is not None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.__stdout__.fileno())
        os.close(null)


def _message(error: BaseException) -> str:
    """Return the message for the user about an error."""
    from trueaxis._tables.parsing.cells import printable
    from trueaxis.cli.source import describe_error

    text = describe_error(error)
    if isinstance(error, MemoryError) and not text:
        text = (
            "The table does not fit into memory: select fewer columns with --columns, "
            "or use fewer rows."
        )
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename or 'Standard output'}: {error.strerror}."
    # Every note about the file has a line of its own.
    return "\nNote: ".join(map(printable, text.split("\nNote: ")))


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings as notes, without the line of code that raised them."""
    from trueaxis.cli import console

    def print_note(message: Warning | str, *_: Any, **__: Any) -> None:
        console.note(str(message))

    console.NOTES.clear()
    with warnings.catch_warnings():
        warnings.showwarning = print_note
        yield
