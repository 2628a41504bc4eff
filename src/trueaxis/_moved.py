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

# Modules that docs, docstrings or pickles may name, and where their names are now.
MOVED = {
    "trueaxis.analysis": ("trueaxis.report.analysis",),
    "trueaxis.cells": ("trueaxis._tables.parsing.cells",),
    "trueaxis.cli": ("trueaxis._cli.main",),
    "trueaxis.comparison": ("trueaxis.diagnostics", "trueaxis.diagnostics.comparison"),
    "trueaxis.demo": ("trueaxis._cli.demo",),
    "trueaxis.engine": ("trueaxis._engine",),
    "trueaxis.engine.losses": ("trueaxis._engine.rules.losses",),
    "trueaxis.engine.quantiles": ("trueaxis._engine.quantiles",),
    "trueaxis.engine.retained": ("trueaxis._engine.rules.retained",),
    "trueaxis.engine.rules": (
        "trueaxis",
        "trueaxis._engine.rules.base",
        "trueaxis._engine.dswl.rules",
    ),
    "trueaxis.engine.selection": ("trueaxis._engine.rules.selection",),
    "trueaxis.estimators.pairs": ("trueaxis.estimators",),
    "trueaxis.estimators.stable": ("trueaxis.estimators",),
    "trueaxis.experiments": ("trueaxis.reproduction",),
    "trueaxis.experiments.contenders": ("trueaxis.reproduction.methods",),
    "trueaxis.headings": ("trueaxis._tables.parsing.header",),
    "trueaxis.memory": ("trueaxis._rows.memory",),
    "trueaxis.progress": ("trueaxis._rows.progress",),
    "trueaxis.rows": ("trueaxis._rows.base",),
    "trueaxis.scaling": ("trueaxis.estimators", "trueaxis.estimators.scaler"),
    "trueaxis.sources": ("trueaxis", "trueaxis._rows.open_rows"),
    "trueaxis.tables": ("trueaxis.report", "trueaxis._tables.read"),
    "trueaxis.text_tables": (
        "trueaxis._tables.parsing.records",
        "trueaxis._tables.text",
    ),
    "trueaxis.trust": ("trueaxis.diagnostics", "trueaxis.diagnostics.trust"),
    "trueaxis.values": ("trueaxis._persistence.json_values",),
}


class MovedModule(ModuleType):
    """Module at an old path that forwards to the new one."""

    def __getattr__(self, name: str) -> Any:
        # The import system itself looks these up, which does not mean that the old path
        # is used.
        if name.startswith("__") and name != "__all__":
            raise AttributeError(name)
        import warnings
        from importlib import import_module

        homes = MOVED[self.__name__]
        if name == "__all__":  # for `from ... import *`
            return _public_names(homes)
        for home in homes:
            if name in _public_names((home,)):
                warnings.warn(
                    f"{self.__name__} has moved: import {name} from {home} instead. "
                    "The old path will be removed in version 1.0.",
                    DeprecationWarning,
                    stacklevel=2,
                )
                return getattr(import_module(home), name)
        raise AttributeError(
            f"module {self.__name__!r} has no attribute {name!r}. It has moved to "
            f"{' and '.join(homes)}: look there."
        )

    def __dir__(self) -> list[str]:
        return _public_names(MOVED[self.__name__])


def _public_names(homes: tuple[str, ...]) -> list[str]:
    """Return the names that old paths forward to."""
    from importlib import import_module

    modules = [import_module(home) for home in homes]
    names = {n for module in modules for n in getattr(module, "__all__", vars(module))}
    return sorted(name for name in names if not name.startswith("_"))


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
        return ModuleSpec(
            fullname,
            self,  # type: ignore[arg-type]  # importing `importlib.abc` takes long
            origin=fullname,  # `python -m` takes it for a path
            is_package=fullname in packages,
        )

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Create the forwarding module."""
        return MovedModule(spec.name)

    def get_code(self, fullname: str) -> Any:
        """Return the code of ``python -m`` with the old path."""
        new = MOVED[fullname][-1]
        code = f"import runpy; runpy.run_module({new!r}, None, '__main__')"
        return compile(code, fullname, "exec")

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: attributes are looked up on access."""


def redirect_moved_modules() -> None:
    """Make old import paths importable."""
    if not any(isinstance(finder, MovedModuleFinder) for finder in sys.meta_path):
        sys.meta_path.append(MovedModuleFinder())
