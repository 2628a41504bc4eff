"""Split a pipeline of a scaler and a method, and join the two again."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

from numpy.typing import NDArray
from sklearn.pipeline import Pipeline, make_pipeline

from trueaxis.estimators.scaler import ColumnScaler


class SplitPipeline(NamedTuple):
    """A method, and the scaler before it, if there is one."""

    scaler: ColumnScaler | None
    model: Any

    def scaled(self, X: NDArray[Any]) -> NDArray[Any]:
        """Rows as the method sees them."""
        return X if self.scaler is None else self.scaler.transform(X)


def split_pipeline(model: Any) -> SplitPipeline:
    """Take a pipeline of scaler and method apart; a method alone stays as it is.

    The method gets the names of the columns that the scaler knows.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted.

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
            f"The pipeline is one of {named}: only a ColumnScaler before a method is "
            "understood here. Transform the rows first, and pass the last step."
        )
    scaler, method = steps
    if hasattr(scaler, "feature_names_in_") and not hasattr(
        method, "feature_names_in_"
    ):
        method = copy.copy(method)
        method.feature_names_in_ = scaler.feature_names_in_
    return SplitPipeline(scaler, method)


def join_pipeline(scaler: ColumnScaler | None, model: Any) -> Any:
    """Put a pipeline of both together, or the model alone without a scaler."""
    return model if scaler is None else make_pipeline(scaler, model)
