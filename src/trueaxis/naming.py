"""MEASURE: what columns and rows are called; see `diagnostics`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from trueaxis.estimators.base import SubspaceEstimator


def column_names(model: SubspaceEstimator) -> NDArray[np.str_]:
    """Names of the columns that a model was fitted on, or their numbers."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"x{i}" for i in range(model.n_features_in_)]
    return np.array([str(name) for name in names])


def row_labels(X: Any, n: int) -> NDArray:
    """Labels of n rows: those in the index of a frame, or their numbers."""
    index = getattr(X, "index", None)
    # A list has an `index` too, which is a method.
    return np.arange(n) if index is None or callable(index) else np.asarray(index)
