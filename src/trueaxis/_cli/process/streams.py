"""Standard streams that are closed, full or read by nobody.

None of them stops the work: `start` opens what the shell has closed, and `errors` says
what could not be written, by the exit code at least.
"""

from __future__ import annotations

import os
import select
import sys
from contextlib import suppress

TYPE_CHECKING = False  # importing `typing` would take longer than all the rest
if TYPE_CHECKING:
    from typing import Any


def open_closed_streams() -> None:
    """Replace streams that the shell has closed, as by `>&-`.

    Otherwise the next file to be opened would take their place, and get the output.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode))


def write_to_stderr(text: str) -> None:
    """Write a note; that nobody reads it does not stop the work."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def flush_stdout(code: Any) -> Any:
    """Write what is left in the buffer of standard output; return the exit code."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)
    except OSError as error:  # a full disk
        discard(sys.stdout)
        if not code:
            write_to_stderr(f"Error: {undelivered(error)}\n")
        code = code or 1
    return code


def undelivered(error: OSError) -> str:
    """Return the message about standard output that cannot be written."""
    return f"Standard output: {error.strerror}. What was printed is not complete."


def nobody_reads(stream: Any) -> bool:
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


def discard(stream: Any) -> None:
    """Let what is written to a stream, and its buffer, go nowhere."""
    # Streams that are no files have nothing to discard.
    with suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
