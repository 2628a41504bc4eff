"""Rows, and their names and labels, as the user gave them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._validation import validate_rows
from trueaxis.data.rows import ArrayRows
from trueaxis.pipeline import SplitPipeline


def numbers_of(parts: SplitPipeline, X: Any) -> NDArray[Any]:
    """Return `parts.raw(X)`; an array of numbers that nothing changes is not copied."""
    if parts.scaler is not None or type(X) is not np.ndarray:
        return parts.raw(X)
    holes = parts.model._repair() is not None
    rows = validate_rows(parts.model, X, reset=False, holes=holes)
    return rows.array if isinstance(rows, ArrayRows) else rows.read()


def one_per_row(names: Any, X: Any, n: int) -> NDArray[Any]:
    """Return one name or label for each of the n rows X."""
    given = np.asarray(names)
    if len(given) != n:
        raise ValueError(
            f"There are {len(given)} names or labels for {n} rows: give one per row."
        )
    index, own = getattr(X, "index", None), getattr(names, "index", None)
    known = [each for each in (index, own) if each is not None and not callable(each)]
    if len(known) == 2 and not known[0].equals(known[1]):
        raise ValueError(
            "The series of names or labels has another index than X: pass its "
            "to_numpy() if it is in the order of the rows."
        )
    return given


def texts_of(values: NDArray[Any]) -> NDArray[np.str_]:
    """Return names or labels as text."""
    return np.array([str(value) for value in values.tolist()])


@contextmanager
def ignore_feature_name_warning() -> Iterator[None]:
    """Ignore the warning about arrays without names, which were checked before."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield
