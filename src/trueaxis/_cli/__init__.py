"""The command line, and how it imports scikit-learn without what it does not use.

A command reads its table first: what takes long to import is imported in functions,
when the rows are there.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType

TYPE_CHECKING = False  # importing `typing` would take longer than all the rest
if TYPE_CHECKING:
    from typing import Any

# What scikit-learn imports for parts of it that no command uses: more than half of the
# time that importing it takes.
UNUSED = ("pandas", "scipy.stats")


def import_sklearn() -> None:
    """Import the part of scikit-learn that estimators need."""
    with postponed(*UNUSED):
        importlib.import_module("sklearn.base")


def import_pandas() -> None:
    """Import pandas, if it is installed, before pyarrow does so on its own.

    It does when a pass over rows begins, where an interrupt would be lost.
    """
    with suppress(ImportError):
        importlib.import_module("pandas")


class PostponedModule(ModuleType):
    """Stand-in for a module that is imported when something of it is first used."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


@contextmanager
def postponed(*names: str) -> Iterator[None]:
    """Postpone imports of modules by the code that runs in this context.

    Afterwards, they can be imported as usual.
    """
    standing_in = {
        name: PostponedModule(name)
        for name in names
        if name not in sys.modules and importlib.util.find_spec(name) is not None
    }
    sys.modules.update(standing_in)
    try:
        yield
    finally:
        for name, module in standing_in.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
