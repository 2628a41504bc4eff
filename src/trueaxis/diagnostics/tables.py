"""Names of rows and columns, and tables of them.

A row has a position, which counts from 0, and a label, which the index of a data frame
may give it. Tables have both: "row" is the label, "position" the position.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.diagnostics.pipelines import method_of


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


def in_order_of_rows(values: Any, X: Any, name: str) -> Any:
    """Return one value per row of X; a series is matched by its index.

    Raises
    ------
    ValueError
        If the index of a series has other labels than that of X.
    """
    index, own = getattr(X, "index", None), getattr(values, "index", None)
    if index is None or own is None or callable(index) or callable(own):
        return values
    if own.equals(index):
        return values
    if (
        own.is_unique
        and index.is_unique
        and own.sort_values().equals(index.sort_values())
    ):
        return values.reindex(index)
    raise ValueError(
        f"{name} is a series of {len(own):,} values whose index is not that of X: pass "
        f"{name}.to_numpy() if they are in the order of the rows."
    )


def to_frame(fields: dict[str, Any], index: Any = None) -> Any:
    """Return columns as a DataFrame, or as a record array without pandas."""
    try:
        import pandas as pd
    except ImportError:
        types = [(name, values.dtype) for name, values in fields.items()]
        return np.rec.fromarrays([*fields.values()], dtype=types)
    return pd.DataFrame(fields, index=index)


def frame_of_rows(fields: dict[str, Any], X: Any) -> Any:
    """Return `to_frame` with one line per row, which the labels of X then index.

    The fields "row" and "position" say which rows these are.
    """
    index: Any = getattr(X, "index", None)
    # An index keeps its names, levels and type if it selects rows by itself.
    if not (hasattr(index, "get_indexer") and hasattr(index, "take")):
        return to_frame(fields, fields["row"])
    return to_frame(fields, index.take(fields["position"]))


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
