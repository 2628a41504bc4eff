"""trueaxis: robust principal component analysis, axes that outliers did not bend."""

TYPE_CHECKING = False  # importing `typing` would take longer than all the rest
if TYPE_CHECKING:
    from typing import Any

    from trueaxis import datasets, diagnostics, estimators, plots, report
    from trueaxis._engine.rules.base import Rule
    from trueaxis._persistence.model_files import load, save
    from trueaxis._persistence.onnx_export import export_onnx
    from trueaxis.data.open_rows import open_rows
    from trueaxis.data.progress import show_progress
    from trueaxis.estimators import (
        DRPCA,
        DSWL,
        L1PCA,
        METHODS,
        PCAL1,
        PCP,
        R1PCA,
        RPCADI,
        RPCAOM,
        RPCARP,
        RRPCP,
        RSPCA,
        RWLAN,
        SPCP,
        TRPCA,
        AnglePCA,
        ColumnScaler,
        L2pPCA,
        L21MaxPCA,
        PCAL1NonGreedy,
        PCALp,
        PlainPCA,
        ReweightedPCA,
        TableEncoder,
        TwoWayPCA,
        WeightedPCA,
    )

__version__ = "0.1.0"

__all__ = [
    "AnglePCA",
    "ColumnScaler",
    "DRPCA",
    "DSWL",
    "L1PCA",
    "L21MaxPCA",
    "L2pPCA",
    "METHODS",
    "PCAL1",
    "PCAL1NonGreedy",
    "PCALp",
    "PCP",
    "PlainPCA",
    "R1PCA",
    "RPCADI",
    "RPCAOM",
    "RPCARP",
    "RRPCP",
    "RSPCA",
    "RWLAN",
    "ReweightedPCA",
    "Rule",
    "SPCP",
    "TRPCA",
    "TableEncoder",
    "TwoWayPCA",
    "WeightedPCA",
    "__version__",
    "datasets",
    "diagnostics",
    "estimators",
    "export_onnx",
    "load",
    "open_rows",
    "plots",
    "report",
    "save",
    "show_progress",
]

# Everything is imported on first use: scikit-learn alone takes a second to import, and
# `trueaxis --help` should not wait for it.
_FOLDERS = ("datasets", "diagnostics", "estimators", "plots", "report")
_HOMES = {
    "Rule": "trueaxis._engine.rules.base",
    "export_onnx": "trueaxis._persistence.onnx_export",
    "load": "trueaxis._persistence.model_files",
    "open_rows": "trueaxis.data.open_rows",
    "save": "trueaxis._persistence.model_files",
    "show_progress": "trueaxis.data.progress",
}


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    if name in _FOLDERS:
        return import_module(f"trueaxis.{name}")
    if name in __all__:
        return getattr(import_module(_HOMES.get(name, "trueaxis.estimators")), name)
    raise AttributeError(f"module 'trueaxis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
