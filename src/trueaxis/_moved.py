"""Keep old import paths working, with a warning that names the new one."""

from __future__ import annotations

import sys
from types import ModuleType

# `import trueaxis` imports this module, so other imports are deferred until needed.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from typing import Any

# Modules that the documentation or a docstring once named, and where they are now.
MOVED = {
    "trueaxis.analysis": "trueaxis.report.analysis",
    "trueaxis.cells": "trueaxis._tables.cells",
    "trueaxis.cli": "trueaxis._cli.main",
    "trueaxis.comparison": "trueaxis.diagnostics",
    "trueaxis.demo": "trueaxis._cli.demo",
    "trueaxis.engine": "trueaxis._engine",
    "trueaxis.engine.quantiles": "trueaxis._engine.quantiles",
    "trueaxis.engine.rules": "trueaxis._engine.rules.base",
    "trueaxis.engine.selection": "trueaxis._engine.rules.selection",
    "trueaxis.experiments": "trueaxis.reproduction",
    "trueaxis.experiments.contenders": "trueaxis.reproduction.methods",
    "trueaxis.headings": "trueaxis._tables.header",
    "trueaxis.memory": "trueaxis._rows.memory",
    "trueaxis.progress": "trueaxis._rows.progress",
    "trueaxis.rows": "trueaxis._rows.base",
    "trueaxis.scaling": "trueaxis.estimators.scaler",
    "trueaxis.sources": "trueaxis._rows.open_rows",
    "trueaxis.tables": "trueaxis._tables.read",
    "trueaxis.text_tables": "trueaxis._tables.text",
    "trueaxis.trust": "trueaxis.diagnostics",
    "trueaxis.values": "trueaxis._persistence.json_values",
}


class MovedModule(ModuleType):
    """Module at an old path that forwards to the new one."""

    def __getattr__(self, name: str) -> Any:
        # The import system itself looks these up, which does not mean that the old path
        # is used.
        if name.startswith("__"):
            raise AttributeError(name)
        import warnings
        from importlib import import_module

        new = MOVED[self.__name__]
        value = getattr(import_module(new), name)
        warnings.warn(
            f"{self.__name__} has moved: import {name} from {new} instead. The old "
            "path will be removed in version 1.0.",
            DeprecationWarning,
            stacklevel=2,
        )
        return value


class MovedModuleFinder:
    """Finder of modules at their old paths, after all other finders."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return the spec of a module that has moved, or None for any other."""
        if fullname not in MOVED:
            return None
        from importlib.machinery import ModuleSpec

        packages = {old.rpartition(".")[0] for old in MOVED}
        # Duck-typed: importing `importlib.abc` would slow down `import trueaxis`.
        return ModuleSpec(fullname, self, is_package=fullname in packages)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Create the forwarding module."""
        return MovedModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: attributes are looked up on access."""


def redirect_moved_modules() -> None:
    """Make old import paths importable."""
    if not any(isinstance(finder, MovedModuleFinder) for finder in sys.meta_path):
        sys.meta_path.append(MovedModuleFinder())
