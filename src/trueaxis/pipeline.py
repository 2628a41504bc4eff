"""Pipelines of a first step and a method: split them, and join them again.

The first step is a `ColumnScaler` or a `TableEncoder`: both learn a center and a unit
of every column that the method sees. Diagnostics are written for methods alone.
`takes_pipelines` makes them accept pipelines; a function turns their answer into the
units of the data.
"""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from trueaxis._validation import validate_rows
from trueaxis.base import SubspaceEstimator
from trueaxis.data.rows import ArrayRows
from trueaxis.data.threads import ignore_float_errors
from trueaxis.preprocessing.encoder import TableEncoder
from trueaxis.preprocessing.scaler import ColumnScaler, Scaling

FIRST_STEPS = (ColumnScaler, TableEncoder)
Diagnostic = TypeVar("Diagnostic", bound=Callable[..., Any])


class SplitPipeline(NamedTuple):
    """A method, and the step that rows pass before it.

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
        return self.scaler.unit_ if isinstance(self.scaler, FIRST_STEPS) else None

    def unscaled(self, difference: Any, column: Any = slice(None)) -> Any:
        """Return differences of values of some columns, in the units of the data."""
        return difference if self.unit is None else difference * self.unit[column]

    def restored(self, value: Any, column: Any = slice(None)) -> Any:
        """Return values of some columns, in the units of the data."""
        if self.unit is None:
            return value
        return self.unscaled(value, column) + self.scaler.center_[column]

    def raw(self, X: Any) -> NDArray[Any]:
        """Return the rows as numbers in the user's units, with NaN for missing cells.

        They are those of `TableEncoder.encode` if there is an encoder: logarithms and
        indicators of levels included. Names of columns are checked.

        Parameters
        ----------
        X : array-like of shape (n, D), or frame
            Rows as the first step of the pipeline takes them.

        Returns
        -------
        ndarray of shape (n, d)
            For first steps of other packages, the rows that they return.
        """
        if isinstance(self.scaler, TableEncoder):
            return self.scaler.encode(X)
        if self.scaler is not None and not isinstance(self.scaler, FIRST_STEPS):
            return np.asarray(self.scaler.transform(X))
        first = self.model if self.scaler is None else self.scaler
        missing_ok = self.model._repair() is not None
        rows = validate_rows(first, X, reset=False, missing_ok=missing_ok)
        return rows.array if isinstance(rows, ArrayRows) else rows.read()

    def scaled(self, X: Any) -> Any:
        """Return rows, as `raw` returns them, in the units of the method."""
        if isinstance(self.scaler, TableEncoder):
            return Scaling(self.scaler.center_, self.scaler.unit_)(X)
        return self.scaler.transform(X) if isinstance(self.scaler, FIRST_STEPS) else X

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
        """Return the type of the model, and its components, as values for JSON."""
        model, columns = self.model, column_names(self.model).tolist()
        scale = getattr(self.scaler, "how", getattr(self.scaler, "scale_", "none"))
        names, ratios = model.get_feature_names_out(), model.explained_variance_ratio_
        components = [
            {
                "name": str(names[j]),
                "variance": float(model.explained_variance_[j]),
                "share": float(ratios[j]),
                "axis": dict(zip(columns, axis.tolist(), strict=True)),
                "loadings": dict(zip(columns, loadings.tolist(), strict=True)),
            }
            for j, (axis, loadings) in enumerate(
                zip(model.components_, model.loadings_, strict=True)
            )
        ]
        return {
            "method": type(model).__name__,
            "scale": scale,
            "log": list(getattr(self.scaler, "log_", ())),
            "categories": list(getattr(self.scaler, "categories_", ())),
            "n_components": model.n_components_,
            "explained_variance_ratio": ratios.tolist(),
            "components": components,
            "cutoffs": model.cutoffs_._asdict(),
            "iterations": model.n_iter_,
            "converged": bool(model.converged_),
            "level": level_of(model),
            "contamination": model.contamination,
        }


def level_of(model: Any) -> float:
    """Return the p-value below which rows are outliers for a method."""
    return float(f"{10**model.offset_:.12g}")  # without the rounding of the logarithm


def is_pipeline(model: Any) -> bool:
    """Return whether a model is a pipeline of scikit-learn."""
    # The import is slow, and has been done already if there is a pipeline.
    module = sys.modules.get("sklearn.pipeline")
    return module is not None and isinstance(model, module.Pipeline)


def split_pipeline(model: Any) -> SplitPipeline:
    """Split a pipeline into its first step and the method; accept a method alone.

    The method gets the column names of the first step if it has none itself: for an
    encoder, those of the encoded columns.
    """
    if not is_pipeline(model):
        return SplitPipeline(None, model)
    *before, method = (step for _, step in model.steps)
    if not before:
        return SplitPipeline(None, method)
    ours = len(before) == 1 and isinstance(before[0], FIRST_STEPS)
    first = before[0] if ours else model[:-1]
    return SplitPipeline(first, _named(method, first))


def _named(method: Any, before: Any) -> Any:
    """Return the method with the names of the columns that it gets, if known."""
    if hasattr(method, "feature_names_in_"):
        return method
    try:
        names = getattr(before, "feature_names_in_", None)
        if not isinstance(before, ColumnScaler):
            names = before.get_feature_names_out()
    except (AttributeError, ValueError):  # a step that gives no names, or is not fitted
        return method
    if names is None or len(names) != getattr(method, "n_features_in_", None):
        return method
    method = copy.copy(method)
    method.feature_names_in_ = np.asarray(names, dtype=object)
    return method


def join_pipeline(scaler: ColumnScaler | TableEncoder | None, model: Any) -> Any:
    """Return a pipeline of both steps, or the model alone without a first one."""
    if scaler is None:
        return model
    from sklearn.pipeline import make_pipeline

    return make_pipeline(scaler, model)


def fitted_parts(model: Any) -> SplitPipeline:
    """Split a fitted pipeline into its method and the step before it.

    Raises
    ------
    NotFittedError
        If the method or the pipeline is not fitted.
    TypeError
        If it is not a method of trueaxis.
    """
    method = model.steps[-1][1] if is_pipeline(model) else model
    if not isinstance(method, SubspaceEstimator):
        raise TypeError(
            f"The model is a {type(method).__name__}, which is not a method of "
            "trueaxis: pass a fitted one of trueaxis.methods, or a pipeline that ends "
            "with one."
        )
    try:
        check_is_fitted(method, "components_")
    except NotFittedError:
        if method is model:
            raise
        raise NotFittedError(
            f"This pipeline is not fitted, as its {type(method).__name__} is not: call "
            "fit(X) on the pipeline first."
        ) from None
    parts = split_pipeline(model)
    if isinstance(parts.scaler, FIRST_STEPS):
        check_is_fitted(parts.scaler, "unit_")
    return parts


def takes_pipelines(
    restore: Callable[[Any, SplitPipeline], Any] | None = None,
) -> Callable[[Diagnostic], Diagnostic]:
    """Let a diagnostic of a method and rows take pipelines as well.

    `restore` turns the answer for the method into the units of the data.
    """

    def decorate(diagnostic: Diagnostic) -> Diagnostic:
        @ignore_float_errors
        @functools.wraps(diagnostic)
        def diagnose_pipeline(model: Any, X: Any, *args: Any, **options: Any) -> Any:
            parts = fitted_parts(model)
            answer = diagnostic(parts.model, parts.prepared(X), *args, **options)
            if restore is None or parts.unit is None:
                return answer
            return restore(answer, parts)

        return diagnose_pipeline  # type: ignore[return-value]

    return decorate


def column_names(model: Any) -> NDArray[np.str_]:
    """Return the column names that a model was fitted on, or x0, x1, ... instead."""
    method = fitted_parts(model).model
    names = getattr(method, "feature_names_in_", None)
    if names is None:
        names = [f"x{i}" for i in range(method.n_features_in_)]
    return np.array([str(name) for name in names])
