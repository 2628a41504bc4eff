"""Start the command line: signals and streams first, then all the imports."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from contextlib import suppress
from types import ModuleType
from typing import Any

LINES = {signal.SIGINT: b"Interrupted.\n", signal.SIGTERM: b"Terminated.\n"}
SHOW_CURSOR = b"\x1b[?25h"  # which a progress bar hides


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


class Postponed(ModuleType):
    """Stand-in for a module that is imported when something of it is first used."""

    def __getattr__(self, name: str) -> Any:
        sys.modules.pop(self.__name__, None)
        return getattr(importlib.import_module(self.__name__), name)


def import_sklearn() -> None:
    """Import scikit-learn without what takes half of the time and no command uses."""
    names = [
        name
        for name in ("pandas", "scipy.stats")
        if name not in sys.modules and importlib.util.find_spec(name) is not None
    ]
    sys.modules.update({name: Postponed(name) for name in names})
    importlib.import_module("sklearn.base")
    for name in names:
        if isinstance(sys.modules.get(name), Postponed):
            del sys.modules[name]


def end(number: int, frame: Any = None) -> None:
    """End the process at once: one line, no traceback, no temporary files.

    An exception would be lost where a library calls Python code.
    """
    for each in LINES:
        signal.signal(each, signal.SIG_IGN)
    files = sys.modules.get("trueaxis._files")
    if files is not None:
        files.remove_temporaries()
    with suppress(OSError, ValueError):  # stderr may be closed
        line = LINES[signal.Signals(number)]
        os.write(2, SHOW_CURSOR + b"\n" + line if os.isatty(2) else line)
    os._exit(128 + number)
