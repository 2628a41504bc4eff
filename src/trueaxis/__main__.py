"""Entry point of the command line: set up signals and streams before any import."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import Any

LINES = {signal.SIGINT: b"Interrupted.\n", signal.SIGTERM: b"Terminated.\n"}


def main() -> None:
    """Run the command line in a process of its own."""
    for number in LINES:
        # `nohup`, and `&` in scripts, let Ctrl-C be ignored.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)
    # The next file to be opened would take the place of a closed stream (`>&-`).
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode))
    from trueaxis.cli.main import main

    main(prog_name="trueaxis")


def end(number: int, frame: Any = None) -> None:
    """End the process at once: one line, no traceback, no temporary files.

    An exception raised in a callback of a library could be lost.
    """
    for each in LINES:
        signal.signal(each, signal.SIG_IGN)
    files = sys.modules.get("trueaxis._files")
    if files is not None:
        files.remove_temporaries()
    with suppress(OSError, ValueError):  # stderr may be closed
        os.write(2, LINES[signal.Signals(number)])
    os._exit(128 + number)


if __name__ == "__main__":  # `python -m trueaxis`, also where no script is installed
    main()
