"""trueaxis: robust principal component analysis, axes that outliers did not bend."""

TYPE_CHECKING = False  # importing `typing` would take longer than all the rest
if TYPE_CHECKING:
    from typing import Any

    from trueaxis import datasets, diagnostics, methods, plots, report
    from trueaxis.data.open_rows import open_rows
    from trueaxis.dswl.estimator import DSWL
    from trueaxis.persistence import load, save
    from trueaxis.preprocessing.encoder import TableEncoder
    from trueaxis.preprocessing.scaler import ColumnScaler

__version__ = "0.1.0"

__all__ = [
    "ColumnScaler",
    "DSWL",
    "TableEncoder",
    "__version__",
    "datasets",
    "diagnostics",
    "load",
    "methods",
    "open_rows",
    "plots",
    "report",
    "save",
]

# Everything is imported on first use: scikit-learn alone takes a second to import, and
# `trueaxis --help` should not wait for it.
_FOLDERS = ("datasets", "diagnostics", "methods", "plots", "report")
_HOMES = {
    "ColumnScaler": "trueaxis.preprocessing.scaler",
    "DSWL": "trueaxis.dswl.estimator",
    "TableEncoder": "trueaxis.preprocessing.encoder",
    "load": "trueaxis.persistence",
    "open_rows": "trueaxis.data.open_rows",
    "save": "trueaxis.persistence",
}


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    if name in _FOLDERS:
        return import_module(f"trueaxis.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'trueaxis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
