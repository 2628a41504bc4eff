"""Tables of rows: their labels, positions, and the frames that diagnostics return.

A row has a position, which counts from 0, and a label, which the index of a data frame
may give it. Tables have both: "row" is the label, "position" the position.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


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
    """Return positions of rows as an array; raise if they are not valid.

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
