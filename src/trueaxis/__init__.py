"""trueaxis: robust principal component analysis, axes that outliers did not bend."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trueaxis.estimators.dswl import DSWL

__all__ = ["DSWL", "__version__"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import; `trueaxis --help` should not wait for it.
    if name == "DSWL":
        from trueaxis.estimators.dswl import DSWL

        return DSWL
    raise AttributeError(f"module 'trueaxis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
