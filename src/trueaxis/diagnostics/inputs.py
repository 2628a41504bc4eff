"""What diagnostics get and return: models, rows, labels and tables.

`takes_pipelines` is the only place where a diagnostic meets a pipeline. The diagnostic
itself knows methods only; a function turns its answer into the units of the data.

A row has a position, which counts from 0, and a label, which the index of a data frame
may give it. Tables have both: "row" is the label, "position" the position.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from trueaxis.base import SubspaceEstimator
from trueaxis.cells.model import CellModel
from trueaxis.data.rows import Rows
from trueaxis.data.threads import own_floats
from trueaxis.data.transformed import TransformedRows, Where
from trueaxis.pipeline import SplitPipeline, is_pipeline, split_pipeline

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

Diagnostic = TypeVar("Diagnostic", bound=Callable[..., Any])


def method_of(model: Any) -> Any:
    """Return the method of a fitted pipeline, or a method itself."""
    return pipeline_parts(model).model


def pipeline_parts(model: Any) -> SplitPipeline:
    """Split a fitted pipeline into its method and what comes before it.

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
    try:
        parts = split_pipeline(model)
    except TypeError:  # steps that are not ours, whose units are unknown
        return SplitPipeline(model[:-1], _named(method, model[:-1]))
    if parts.scaler is not None:
        check_is_fitted(parts.scaler, "unit_")
    return parts


def takes_pipelines(
    restore: Callable[[Any, SplitPipeline], Any] | None = None,
) -> Callable[[Diagnostic], Diagnostic]:
    """Let a diagnostic of a method and rows take pipelines as well.

    `restore` turns the answer for the method into the units of the data.
    """

    def decorate(diagnostic: Diagnostic) -> Diagnostic:
        @own_floats
        @functools.wraps(diagnostic)
        def diagnose_pipeline(model: Any, X: Any, *args: Any, **options: Any) -> Any:
            parts = pipeline_parts(model)
            answer = diagnostic(parts.model, parts.prepared(X), *args, **options)
            if restore is None or parts.unit is None:
                return answer
            return restore(answer, parts)

        return diagnose_pipeline  # type: ignore[return-value]

    return decorate


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


@dataclass(frozen=True)
class Filling:
    """Transform of blocks: fill holes, and leave all other cells as they are."""

    model: CellModel

    def __call__(self, block: NDArray[Any], where: Where | None = None) -> NDArray[Any]:
        """Return the block without holes."""
        return self.model.impute(block)

    def part(self, first: int, n: int) -> Filling:
        """Return the transform of n rows, which is the same for all rows."""
        return self


def cell_repair(rows: Rows) -> CellModel | None:
    """Return what repairs the rows that `fitted_rows` returned; None if nothing."""
    if isinstance(rows, TransformedRows) and isinstance(rows.change, CellModel):
        return rows.change
    return None


def imputed(rows: Rows) -> Rows:
    """Return the rows that `fitted_rows` returned, with their wrong cells put back.

    The same object if no cells were replaced.
    """
    repair = cell_repair(rows)
    if repair is None or repair.wrong is None:
        return rows
    assert isinstance(rows, TransformedRows)
    return TransformedRows(rows.rows, Filling(repair))


def column_names(model: Any) -> NDArray[np.str_]:
    """Return the column names that a model was fitted on, or x0, x1, ... instead."""
    method = method_of(model)
    names = getattr(method, "feature_names_in_", None)
    if names is None:
        names = [f"x{i}" for i in range(method.n_features_in_)]
    return np.array([str(name) for name in names])


def as_records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one record per row of a table, with values of Python's own types."""
    values = [np.asarray(each).tolist() for each in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def row_labels(X: Any, n: int) -> NDArray[Any]:
    """Return the labels of n rows: the index of a frame, or numbers from 0."""
    index = getattr(X, "index", None)
    # The `index` of a list is a method.
    return np.arange(n) if index is None or callable(index) else np.asarray(index)


def to_frame(fields: dict[str, Any], X: Any = None) -> Any:
    """Return columns as a DataFrame, or as a record array without pandas.

    If rows X are given, there is one line per row, which the labels of X then index;
    the fields "row" and "position" say which rows these are.
    """
    try:
        import pandas as pd
    except ImportError:
        types = [(name, values.dtype) for name, values in fields.items()]
        return np.rec.fromarrays([*fields.values()], dtype=types)
    if X is None:
        return pd.DataFrame(fields)
    index: Any = getattr(X, "index", None)
    # An index keeps its names, levels and type if it selects rows by itself.
    own = hasattr(index, "get_indexer") and hasattr(index, "take")
    labels = index.take(fields["position"]) if own else fields["row"]
    return pd.DataFrame(fields, index=labels)


def check_positions(rows: Any, n: int) -> NDArray[np.intp]:
    """Return positions of rows as an array; raise if they are none.

    Positions from the end, such as -1, count from 0 in the result.
    """
    wanted = np.asarray(rows)
    if not wanted.size:
        raise ValueError("rows is empty: pass the position of at least one row.")
    if wanted.dtype.kind not in "iu" or wanted.ndim != 1:
        raise TypeError(
            f"{rows!r:.60} are not positions of rows: pass integers that count from 0. "
            "The column position of outliers(X) has them; X.index.get_loc(label) finds "
            "that of a label."
        )
    wrong = wanted[(wanted < -n) | (wanted >= n)]
    if len(wrong):
        raise ValueError(
            f"Row {wrong[0]} does not exist, as X has {n} rows: pass indices from 0 to "
            f"{n - 1}."
        )
    return np.where(wanted < 0, wanted + n, wanted).astype(np.intp)
