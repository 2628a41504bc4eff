"""Pipelines of a scaler and a method: split them, and join them again."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

from numpy.typing import NDArray
from sklearn.pipeline import Pipeline, make_pipeline

from trueaxis.estimators.scaler import ColumnScaler


class SplitPipeline(NamedTuple):
    """A method and the scaler before it, if any."""

    scaler: ColumnScaler | None
    model: Any

    def scaled(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the rows in the units of the method."""
        if self.scaler is None:
            return X
        rows: NDArray[Any] = self.scaler.transform(X)
        return rows


def split_pipeline(model: Any) -> SplitPipeline:
    """Split a pipeline into scaler and method; accept a method alone as well.

    The method gets the column names of the scaler if it has none itself.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted method, or a fitted pipeline of a `ColumnScaler` and a method.

    Returns
    -------
    SplitPipeline
    """
    if not isinstance(model, Pipeline):
        return SplitPipeline(None, model)
    steps = [step for _, step in model.steps]
    if len(steps) == 1:
        return SplitPipeline(None, steps[0])
    if len(steps) != 2 or not isinstance(steps[0], ColumnScaler):
        named = ", ".join(type(step).__name__ for step in steps)
        raise TypeError(
            f"The pipeline consists of {named}: only a ColumnScaler before a method is "
            "supported. Transform the rows first, and pass the last step."
        )
    scaler, method = steps
    if hasattr(scaler, "feature_names_in_") and not hasattr(
        method, "feature_names_in_"
    ):
        method = copy.copy(method)
        method.feature_names_in_ = scaler.feature_names_in_
    return SplitPipeline(scaler, method)


def join_pipeline(scaler: ColumnScaler | None, model: Any) -> Any:
    """Return a pipeline of scaler and model, or the model alone without a scaler."""
    return model if scaler is None else make_pipeline(scaler, model)
