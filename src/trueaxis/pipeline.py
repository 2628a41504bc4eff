"""Pipelines of a first step and a method: split them, and join them again.

The first step is a `ColumnScaler` or a `TableEncoder`: both learn a center and a unit
of every column that the method sees.
"""

from __future__ import annotations

import copy
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._frames import is_frame
from trueaxis._validation import validate_rows
from trueaxis.data.rows import ArrayRows
from trueaxis.preprocessing.encoder import TableEncoder
from trueaxis.preprocessing.scaler import ColumnScaler, Scaling


class SplitPipeline(NamedTuple):
    """A method, and what happens to rows before it.

    Attributes
    ----------
    scaler : ColumnScaler, TableEncoder or None
        The step before the method. Diagnostics also accept other steps, whose center
        and unit are unknown.
    model : estimator
        The method, with the names of its columns, even if only earlier steps know them.
    """

    scaler: Any
    model: Any

    @property
    def unit(self) -> NDArray[Any] | None:
        """Units of the columns before the method; None if unknown or unchanged."""
        ours = isinstance(self.scaler, (ColumnScaler, TableEncoder))
        return self.scaler.unit_ if ours else None

    def unscaled(self, difference: Any, column: Any = slice(None)) -> Any:
        """Return differences of values of some columns, in the units of the data."""
        return difference if self.unit is None else difference * self.unit[column]

    def restored(self, value: Any, column: Any = slice(None)) -> Any:
        """Return values of some columns, in the units of the data."""
        if self.unit is None:
            return value
        return self.unscaled(value, column) + self.scaler.center_[column]

    def raw(self, X: Any) -> NDArray[Any]:
        """Return the rows as numbers in the units of the user, with NaN in holes.

        They are those of `TableEncoder.encode` if there is an encoder: logarithms and
        indicators of levels included. Names of columns are checked.

        Parameters
        ----------
        X : array-like of shape (n, D), or frame
            Rows as the first step of the pipeline takes them.

        Returns
        -------
        ndarray of shape (n, d)
        """
        if isinstance(self.scaler, TableEncoder):
            return self.scaler.encode(X)
        first = self.model if self.scaler is None else self.scaler
        holes = self.model._repair() is not None
        return validate_rows(first, X, reset=False, holes=holes).read()

    def scaled(self, X: Any) -> Any:
        """Return rows, as `raw` returns them, in the units of the method."""
        if isinstance(self.scaler, TableEncoder):
            encoded = self.scaler.encode(X) if is_frame(X) else X
            return Scaling(self.scaler.center_, self.scaler.unit_)(encoded)
        return X if self.scaler is None else self.scaler.transform(X)

    def prepared(self, X: Any) -> Any:
        """Return rows, as the first step of the pipeline takes them, for the method.

        Arrays become `Rows`. Names were checked by the first step: scikit-learn would
        warn that the arrays which later steps get have none.
        """
        if self.scaler is None:
            return X
        given = self.scaler.transform(X)
        floats = isinstance(given, np.ndarray) and given.dtype in (float, np.float32)
        return ArrayRows(given) if floats and given.ndim == 2 else given

    def to_dict(self) -> dict[str, Any]:
        """Return what the model is, and its components, as values for JSON."""
        model = self.model
        columns = getattr(model, "feature_names_in_", None)
        if columns is None:
            columns = [f"x{i}" for i in range(model.n_features_in_)]
        scale = getattr(self.scaler, "how", None) or getattr(
            self.scaler, "scale_", None
        )
        components = [
            {
                "name": str(name),
                "variance": float(variance),
                "share": float(share),
                "axis": dict(zip(map(str, columns), axis.tolist(), strict=True)),
                "loadings": dict(
                    zip(map(str, columns), loadings.tolist(), strict=True)
                ),
            }
            for name, variance, share, axis, loadings in zip(
                model.get_feature_names_out(),
                model.explained_variance_,
                model.explained_variance_ratio_,
                model.components_,
                model.loadings_,
                strict=True,
            )
        ]
        return {
            "method": type(model).__name__,
            "scale": scale or "none",
            "log": list(getattr(self.scaler, "log_", ())),
            "categories": list(getattr(self.scaler, "categories_", ())),
            "n_components": model.n_components_,
            "explained_variance_ratio": model.explained_variance_ratio_.tolist(),
            "components": components,
            "cutoffs": model.cutoffs_._asdict(),
            "iterations": model.n_iter_,
            "converged": bool(model.converged_),
        }


def is_pipeline(model: Any) -> bool:
    """Return whether a model is a pipeline of scikit-learn."""
    # Importing this takes long, and whoever has a pipeline has imported it.
    module = sys.modules.get("sklearn.pipeline")
    return module is not None and isinstance(model, module.Pipeline)


def split_pipeline(model: Any) -> SplitPipeline:
    """Split a pipeline into first step and method; accept a method alone as well.

    The method gets the column names of the first step if it has none itself: for an
    encoder, those of the encoded columns.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted method, or a fitted pipeline of a `ColumnScaler` or a `TableEncoder`
        and a method.

    Returns
    -------
    SplitPipeline
    """
    if not is_pipeline(model):
        return SplitPipeline(None, model)
    steps = [step for _, step in model.steps]
    if len(steps) == 1:
        return SplitPipeline(None, steps[0])
    if len(steps) != 2 or not isinstance(steps[0], (ColumnScaler, TableEncoder)):
        named = ", ".join(type(step).__name__ for step in steps)
        raise TypeError(
            f"The pipeline consists of {named}: only a ColumnScaler before a method, "
            "or a TableEncoder, is supported. Transform the rows first, and pass the "
            "last step."
        )
    scaler, method = steps
    names = _names_for_method(scaler)
    if names is not None and not hasattr(method, "feature_names_in_"):
        method = copy.copy(method)
        method.feature_names_in_ = names
    return SplitPipeline(scaler, method)


def _names_for_method(scaler: ColumnScaler | TableEncoder) -> NDArray[Any] | None:
    """Return the names of the columns that the method sees, if they are known."""
    if isinstance(scaler, TableEncoder) and hasattr(scaler, "unit_"):
        return np.asarray(scaler.get_feature_names_out(), dtype=object)
    return getattr(scaler, "feature_names_in_", None)


def join_pipeline(scaler: ColumnScaler | TableEncoder | None, model: Any) -> Any:
    """Return a pipeline of both steps, or the model alone without a first one."""
    if scaler is None:
        return model
    from sklearn.pipeline import make_pipeline

    return make_pipeline(scaler, model)
