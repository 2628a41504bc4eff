"""Scale columns by their own spread, so that no unit of measurement dominates."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from trueaxis._engine.column_spread import SpreadKernel
from trueaxis._rows.base import Rows
from trueaxis._rows.dask.collections import dask_rows, is_dask, refuse_frames
from trueaxis._rows.dask.rows import DaskRows
from trueaxis._rows.memory import refuse_large
from trueaxis._rows.transformed import TransformedRows, Where
from trueaxis._validation import validate_choice, validate_rows, warn

HOW = ("standard", "robust")
NORMAL_MAD = 1.482602218505602  # a normal's deviation over its median absolute one
NORMAL_MEAN = 1.2533141373155003  # ... over its mean absolute one
SAMPLE_ROWS = 100_000  # of a source, for medians: their error is below 1 % of a unit
UNEVEN = 30.0  # spreads that differ by more than this hide the smaller columns


class ColumnScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Center every column and divide it by its spread.

    Parameters
    ----------
    how : {"robust", "standard"}, default="robust"
        "robust": median, and median absolute deviation (times 1.4826, as for normal
        rows); where more than half of the rows are equal, the mean absolute deviation
        instead. "standard": mean and standard deviation, which outliers inflate.
        Of a source that is not in memory, "standard" reads all rows once, and "robust"
        100,000 of them (always the same ones; all, if there are no more).

    Attributes
    ----------
    center_ : ndarray of shape (D,)
    unit_ : ndarray of shape (D,)
        What columns are divided by; 1 for constant ones.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from trueaxis import DSWL, ColumnScaler
    >>> from trueaxis.datasets import sensors
    >>> X = sensors().X * [1, 1, 1000, 1, 1, 1]  # pressure in another unit
    >>> pipeline = make_pipeline(ColumnScaler(), DSWL(2)).fit(X)
    >>> int((pipeline.predict(X) < 0).sum())
    35
    """

    def __init__(self, how: Literal["robust", "standard"] = "robust") -> None:
        self.how = how

    def fit(self, X: ArrayLike | Rows, y: Any = None) -> ColumnScaler:
        """Learn the center and spread of every column.

        Parameters
        ----------
        X : array-like of shape (n, D), or source of rows
        y : ignored

        Returns
        -------
        self
        """
        validate_choice("how", self.how, HOW)
        with validate_rows(self, X) as rows:
            learn = _robust_rows if self.how == "robust" else _standard_rows
            center, unit = learn(rows)
        limits = np.finfo(rows.dtype)  # a unit must not round to 0 or infinity
        self.center_ = center.astype(rows.dtype)
        self.unit_ = np.clip(unit, limits.tiny, limits.max).astype(rows.dtype)
        return self

    def transform(self, X: ArrayLike | Rows) -> Any:
        """Center and scale the columns.

        Parameters
        ----------
        X : array-like of shape (n, D), or source of rows

        Returns
        -------
        ndarray of shape (n, D), Rows, or dask.array.Array
            Of a file, or what `open_rows` returned, rows that are scaled as they are
            read, for a method to be fitted to; of Dask a lazy array.
        """
        check_is_fitted(self, "unit_")
        rows = validate_rows(self, X, reset=False)
        scaling = Scaling(self.center_, self.unit_)
        if isinstance(rows, DaskRows):
            refuse_frames(self)
            scaled = rows.mapped(scaling)
            return scaled if isinstance(X, Rows) else scaled.array
        if isinstance(X, (Rows, str, os.PathLike)):
            return TransformedRows(rows, scaling)
        with rows:
            if rows.in_memory:
                return scaling(rows.read())
            return rows.map(scaling, rows.shape[1])

    def inverse_transform(self, X: ArrayLike) -> NDArray[Any]:
        """Return rows to the units of the data.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Scaled rows.

        Returns
        -------
        ndarray of shape (n, D)
        """
        check_is_fitted(self, "unit_")
        lazy = is_dask(X)
        kinds = [np.float64, np.float32]
        scaled: Any = dask_rows(X) if lazy else check_array(X, dtype=kinds)
        if scaled.shape[1] != len(self.unit_):
            raise ValueError(
                f"X has {scaled.shape[1]} columns, but {len(self.unit_)} were scaled: "
                "pass what transform returned."
            )
        center, unit = self.center_, self.unit_

        def back(block: NDArray[Any]) -> NDArray[Any]:
            return block * unit + center

        return scaled.map(back, len(unit)) if lazy else back(scaled)

    @property
    def centre_(self) -> NDArray[Any]:
        """Deprecated spelling of `center_`."""
        warn(
            "ColumnScaler.centre_ is deprecated and will be removed in version 1.0: "
            "use center_ instead.",
            FutureWarning,
        )
        return self.center_


@dataclass(frozen=True)
class Scaling:
    """Centers the columns of a block, and divides them by their units."""

    center: NDArray[Any]
    unit: NDArray[Any]

    def __call__(self, block: NDArray[Any], where: Where | None = None) -> NDArray[Any]:
        """Return the scaled block."""
        return (block - self.center) / self.unit

    def part(self, first: int, n: int) -> Scaling:
        """Return the same transform, which is independent of the rows."""
        return self


def _standard_rows(rows: Rows) -> tuple[NDArray[Any], NDArray[Any]]:
    if rows.in_memory:
        return _standard(rows.read())
    pivot = rows.take(np.zeros(1, dtype=np.intp))[0].astype(float)
    return rows.scan(SpreadKernel(pivot))[1].center_and_unit()


def _robust_rows(rows: Rows) -> tuple[NDArray[Any], NDArray[Any]]:
    n, D = rows.shape
    if rows.in_memory:
        return _robust(rows.read())
    size = min(n, SAMPLE_ROWS)
    refuse_large(
        size * D * rows.dtype.itemsize,
        f"The sample of {size:,} rows x {D} columns for medians",
        'Use how="standard", which reads block by block, or fewer columns.',
    )
    index = np.arange(n)
    if size < n:
        index = np.sort(np.random.default_rng(0).choice(n, size, replace=False))
    return _robust(rows.take(index))


def _standard(X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    size = np.abs(X).max(axis=0).astype(float)
    size[size == 0] = 1.0
    small = X / size  # whose squares cannot overflow
    constant = (X == X[0]).all(axis=0)
    unit = np.where(constant, 1.0, small.std(axis=0) * size)
    return small.mean(axis=0) * size, unit


def _robust(X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    small = X / 4  # two of which can be added or subtracted without overflow
    center = np.median(small, axis=0).astype(float)
    away = np.abs(small - center)
    unit = NORMAL_MAD * np.median(away, axis=0)
    unit = np.where(unit > 0, unit, NORMAL_MEAN * (away / len(X)).sum(axis=0))
    most = np.finfo(float).max / 4
    return 4 * center, np.where(unit > 0, 4 * np.minimum(unit, most), 1.0)


class UnevenSpread(NamedTuple):
    """The columns with the largest and the smallest spread, and their ratio."""

    wide: int
    narrow: int
    ratio: float


def uneven_columns(X: NDArray[Any]) -> UnevenSpread | None:
    """Return the extreme columns if their spreads differ too much."""
    unit = _robust(X)[1]
    moves = np.flatnonzero((X != X[0]).any(axis=0))
    if len(moves) < 2:
        return None
    wide, narrow = moves[unit[moves].argmax()], moves[unit[moves].argmin()]
    ratio = float(unit[wide] / unit[narrow])
    return UnevenSpread(int(wide), int(narrow), ratio) if ratio > UNEVEN else None
