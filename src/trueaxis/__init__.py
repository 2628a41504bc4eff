"""trueaxis: robust principal component analysis, axes that outliers did not bend."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trueaxis.bars import show_progress
    from trueaxis.engine.rules import Rule
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
        L2pPCA,
        L21MaxPCA,
        PCAL1NonGreedy,
        PCALp,
        PlainPCA,
        ReweightedPCA,
        TwoWayPCA,
        WeightedPCA,
    )
    from trueaxis.files import load, save
    from trueaxis.onnx_export import export_onnx
    from trueaxis.scaling import ColumnScaler
    from trueaxis.sources import open_rows

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
    "TwoWayPCA",
    "WeightedPCA",
    "__version__",
    "export_onnx",
    "load",
    "open_rows",
    "save",
    "show_progress",
]


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import; `trueaxis --help` should not wait for it.
    if name == "Rule":
        from trueaxis.engine.rules import Rule

        return Rule
    if name == "ColumnScaler":
        from trueaxis.scaling import ColumnScaler

        return ColumnScaler
    if name in ("load", "save"):
        from trueaxis import files

        return getattr(files, name)
    if name == "open_rows":
        from trueaxis.sources import open_rows

        return open_rows
    if name == "show_progress":
        from trueaxis.bars import show_progress

        return show_progress
    if name == "export_onnx":
        from trueaxis.onnx_export import export_onnx

        return export_onnx
    if name in __all__:
        from trueaxis import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'trueaxis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
