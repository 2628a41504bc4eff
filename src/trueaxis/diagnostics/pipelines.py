"""Diagnostics of pipelines: the method at the end, and the rows that it gets.

`takes_pipelines` is the only place where a diagnostic meets a pipeline. The diagnostic
itself knows methods only; a function turns its answer into the units of the data.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from trueaxis.base import SubspaceEstimator
from trueaxis.data.rows import ArrayRows
from trueaxis.data.threads import own_floats
from trueaxis.pipeline import is_pipeline, split_pipeline

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

Diagnostic = TypeVar("Diagnostic", bound=Callable[..., Any])


class PipelineParts(NamedTuple):
    """A fitted method, and what happens to rows before it.

    Attributes
    ----------
    method : estimator
        With the names of its columns, even if only earlier steps know them.
    prepare : callable
        Turns rows into what the method gets.
    center, unit : ndarray of shape (D,), or None
        A column of the data is unit times what the method gets, plus center. None if
        the method gets the data as they are, or if earlier steps are not a scaler.
    """

    method: Any
    prepare: Callable[[Any], Any]
    center: NDArray[Any] | None = None
    unit: NDArray[Any] | None = None

    def unscaled(self, difference: Any, column: Any = slice(None)) -> Any:
        """Return differences of values of some columns, in the units of the data."""
        return difference if self.unit is None else difference * self.unit[column]

    def restored(self, value: Any, column: Any = slice(None)) -> Any:
        """Return values of some columns, in the units of the data."""
        scaled = self.unscaled(value, column)
        return scaled if self.center is None else scaled + self.center[column]


def method_of(model: Any) -> Any:
    """Return the method of a fitted pipeline, or a method itself."""
    return pipeline_parts(model).method


def pipeline_parts(model: Any) -> PipelineParts:
    """Split a fitted pipeline into its method and what comes before it.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted method, alone or at the end of a pipeline.

    Returns
    -------
    PipelineParts

    Raises
    ------
    NotFittedError
        If the method or the pipeline is not fitted.
    TypeError
        If it is not a method of trueaxis.
    """
    if not is_pipeline(model):
        _check_method(model)
        check_is_fitted(model, "components_")
        return PipelineParts(model, _as_given)
    last = model.steps[-1][1]
    _check_method(last)
    try:
        check_is_fitted(last, "components_")
    except NotFittedError:
        raise NotFittedError(
            f"This pipeline is not fitted, as its {type(last).__name__} is not: call "
            "fit(X) on the pipeline first."
        ) from None
    if len(model.steps) == 1:
        return PipelineParts(last, _as_given)
    prepare = _as_rows(model[:-1].transform)
    try:
        scaler, method = split_pipeline(model)[:2]
    except TypeError:  # steps that are not ours, whose units are unknown
        return PipelineParts(_named(last, model[:-1]), prepare)
    check_is_fitted(scaler, "unit_")
    assert scaler is not None  # there are two steps
    return PipelineParts(method, prepare, scaler.center_, scaler.unit_)


def takes_pipelines(
    restore: Callable[[Any, PipelineParts], Any] | None = None,
) -> Callable[[Diagnostic], Diagnostic]:
    """Let a diagnostic of a method and rows take pipelines as well.

    Parameters
    ----------
    restore : callable, optional
        Turns the answer for the method into the units of the data.

    Returns
    -------
    callable
        Decorator of functions of a model, rows, and other parameters.
    """

    def decorate(diagnostic: Diagnostic) -> Diagnostic:
        @own_floats
        @functools.wraps(diagnostic)
        def diagnose_pipeline(model: Any, X: Any, *args: Any, **options: Any) -> Any:
            parts = pipeline_parts(model)
            answer = diagnostic(parts.method, parts.prepare(X), *args, **options)
            if restore is None or parts.unit is None:
                return answer
            return restore(answer, parts)

        return diagnose_pipeline  # type: ignore[return-value]

    return decorate


def _as_given(X: Any) -> Any:
    return X


def _as_rows(prepare: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return `prepare` with arrays as rows.

    Names were checked by the first step: scikit-learn would warn that the arrays which
    later steps get have none.
    """

    def prepared(X: Any) -> Any:
        given = prepare(X)
        floats = isinstance(given, np.ndarray) and given.dtype in (float, np.float32)
        return ArrayRows(given) if floats and given.ndim == 2 else given

    return prepared


def _named(method: Any, before: Pipeline) -> Any:
    """Return the method with the names of the columns that it gets, if known."""
    if hasattr(method, "feature_names_in_"):
        return method
    try:
        names = np.asarray(before.get_feature_names_out(), dtype=object)
    except (AttributeError, ValueError):
        return method
    if names.shape != (method.n_features_in_,):
        return method
    method = copy.copy(method)
    method.feature_names_in_ = names
    return method


def _check_method(model: Any) -> None:
    if isinstance(model, SubspaceEstimator):
        return
    raise TypeError(
        f"The model is a {type(model).__name__}, which is not a method of trueaxis: "
        "pass a fitted one of trueaxis.methods, or a pipeline that ends with one."
    )
