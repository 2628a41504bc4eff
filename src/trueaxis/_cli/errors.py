"""Turn failures, signals and warnings of commands into messages and exit codes."""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from trueaxis._rows.memory import TooLarge
from trueaxis._tables.parsing.cells import printable


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
        if not standalone_mode:
            return super().main(*args, **(extra | {"standalone_mode": False}))
        _open_closed_streams()
        code: Any = 0
        try:
            super().main(*args, **extra)
        except SystemExit as left:
            code = left.code
        # click wraps the streams if a pipe is closed while it prints help.
        if "PacifyFlush" in type(sys.stdout).__name__:
            code = 0
        sys.exit(_flush(code))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; report errors that the input caused as a message."""
        NOTES.clear()
        with _exit_on_sigterm(), warnings_as_notes():
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                # The terminal has echoed ^C and is still on that line.
                click.echo("\n" * sys.stderr.isatty() + "Interrupted.", err=True)
                ctx.exit(128 + signal.SIGINT)
            except (OSError, ImportError, ValueError, TypeError, MemoryError) as error:
                broken = isinstance(error, OSError) and error.errno == errno.EPIPE
                if broken and _nobody_reads(sys.stdout):
                    # Whoever reads has seen enough, as in `| head`.
                    _discard(sys.stdout)
                    ctx.exit(0)
                if os.environ.get("TRUEAXIS_TRACEBACK"):
                    raise
                raise click.ClickException(_lines(_message(error))) from error


NOTES: list[str] = []  # of the command that runs, for JSON


def write_to_stderr(text: str) -> None:
    """Write a note; that nobody reads it does not stop the work."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)


def _flush(code: Any) -> Any:
    """Write what is left in buffers; return the exit code."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as error:  # a full disk
        _discard(sys.stdout)
        write_to_stderr(f"Error: Standard output: {error.strerror}.\n")
        code = code or 1
    write_to_stderr("")
    return code


def _nobody_reads(stream: Any) -> bool:
    """Return whether a stream is a pipe whose reader has left.

    Another broken pipe, such as the connection to a scheduler, is an error.
    """
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    try:
        poll.register(stream.fileno(), select.POLLOUT)
    except (OSError, ValueError, AttributeError):
        return False
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _discard(stream: Any) -> None:
    """Let what is written to a stream, and its buffer, go nowhere."""
    # Streams that are no files have nothing to discard.
    with suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def _open_closed_streams() -> None:
    """Replace streams that the shell has closed, as by `>&-`.

    Otherwise the next file to be opened would take their place, and get the output.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode))


def _lines(message: str) -> str:
    """Return an error on one line, and each of its notes on a line of its own."""
    return "\nNote: ".join(map(printable, message.split("\nNote: ")))


def _message(error: Exception) -> str:
    """Return the message for the user about an error."""
    if isinstance(error, MemoryError) and not isinstance(error, TooLarge):
        return (
            "The table does not fit into memory: select fewer columns with --columns, "
            "or use fewer rows."
        )
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return f"{error.strerror}: free some space, or write to another place."
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
        NOTES.append(printable(message))
        write_to_stderr(f"Note: {printable(message)}\n")

    with warnings.catch_warnings():
        warnings.showwarning = print_note
        yield
