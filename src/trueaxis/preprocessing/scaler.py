"""Scaling of columns by their spread, so that no unit of measurement dominates."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from trueaxis._validation import validate_array, validate_rows
from trueaxis.base import unchanged_on_error
from trueaxis.data.dask import DaskRows, dask_rows, is_dask, refuse_frames
from trueaxis.data.memory import refuse_large
from trueaxis.data.rows import Rows
from trueaxis.data.threads import ignore_float_errors
from trueaxis.data.transformed import TransformedRows, Where, largest_magnitude

# Standard deviation of a normal variable over its median and mean absolute deviation.
NORMAL_MAD = 1.482602218505602
NORMAL_MEAN = 1.2533141373155003
SAMPLE_ROWS = 100_000  # enough for medians with an error below 1 % of a unit
UNEVEN = 30.0  # ratio of spreads above which the smallest ones hardly count

CenterAndUnit = tuple[NDArray[Any], NDArray[Any]]


class ColumnScaler(
    OneToOneFeatureMixin,  # type: ignore[misc]  # scikit-learn is untyped
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Center every column and divide it by its spread, which outliers do not inflate.

    The center is the median, and the spread the median absolute deviation (times
    1.4826, to match the standard deviation of normal data), or the mean absolute
    deviation for columns in which more than half of the values are equal. Missing cells
    (NaN) are left out of both, and stay missing. If X is not in memory, at most 100,000
    rows are read (always the same ones).

    Attributes
    ----------
    center_ : ndarray of shape (D,)
        Center of every column.
    unit_ : ndarray of shape (D,)
        Spread of every column; 1 for constant columns.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from trueaxis import DSWL, ColumnScaler
    >>> from trueaxis.datasets import sensors
    >>> X = sensors().X * [1, 1, 1000, 1, 1, 1]  # pressure in another unit
    >>> pipeline = make_pipeline(ColumnScaler(), DSWL(2)).fit(X)
    >>> int((pipeline.predict(X) < 0).sum())
    34
    """

    @ignore_float_errors
    def fit(self, X: ArrayLike | Rows, y: Any = None) -> ColumnScaler:
        """Compute the center and the spread of every column.

        Parameters
        ----------
        X : array-like of shape (n, D), or source of rows
        y : ignored

        Returns
        -------
        self
        """
        with unchanged_on_error(self), validate_rows(self, X, missing_ok=True) as rows:
            center, unit = _center_and_unit(rows)
            self._refuse_empty(center, rows)
            limits = np.finfo(rows.dtype)  # no unit may be rounded to 0 or infinity
            self.center_ = center.astype(rows.dtype)
            self.unit_ = np.clip(unit, limits.tiny, limits.max).astype(rows.dtype)
        return self

    @ignore_float_errors
    def transform(self, X: ArrayLike | Rows) -> Any:
        """Center and scale the columns.

        Values beyond the range of floats become the largest float.

        Parameters
        ----------
        X : array-like of shape (n, D), or source of rows

        Returns
        -------
        ndarray of shape (n, D), Rows, or dask.array.Array
            For a file, or a source that `open_rows` returned, rows that are scaled as
            they are read, for fitting a method; for Dask collections, a lazy array.
        """
        check_is_fitted(self, "unit_")
        rows = validate_rows(self, X, reset=False, missing_ok=True)
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

    @ignore_float_errors
    def inverse_transform(self, X: ArrayLike) -> NDArray[Any]:
        """Convert scaled rows back to the units of the data.

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
        scaled: Any
        if lazy:
            scaled = dask_rows(X)
            scaled.check_anew(None, missing_ok=True)
        else:
            scaled = validate_array(X, missing_ok=True)
        if scaled.shape[1] != len(self.unit_):
            raise ValueError(
                f"X has {scaled.shape[1]} columns, but {len(self.unit_)} were scaled: "
                "pass the rows that transform returned."
            )
        center, unit = self.center_, self.unit_

        def unscale(block: NDArray[Any]) -> Any:
            return block * unit + center

        rows: NDArray[Any] = scaled.map(unscale, len(unit)) if lazy else unscale(scaled)
        return rows

    def _check(self) -> None:
        """Raise if attributes contradict each other."""
        if len(self.center_) != self.n_features_in_:
            raise ValueError("center_ has not one value for every column")

    def _refuse_empty(self, center: NDArray[Any], rows: Rows) -> None:
        """Raise if a column has no value that its center could be computed from."""
        empty = np.flatnonzero(np.isnan(center))
        if not len(empty):
            return
        names = getattr(self, "feature_names_in_", None)
        first = empty[0] if names is None else repr(str(names[empty[0]]))
        n, sampled = rows.shape[0], not rows.in_memory
        where = f"{min(n, SAMPLE_ROWS) if sampled else n:,} "
        where += "rows of the sample" if sampled else "rows"
        raise ValueError(
            f"Column {first} of X has no value in any of the {where} (such columns: "
            f"{len(empty)} of {len(center)}), so that it has neither a center nor a "
            "spread: drop it."
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@dataclass(frozen=True)
class Scaling:
    """Transform of blocks: center the columns, and divide them by their units."""

    center: NDArray[Any]
    unit: NDArray[Any]

    def __call__(self, block: NDArray[Any], where: Where | None = None) -> NDArray[Any]:
        """Return the scaled block."""
        with np.errstate(over="ignore"):
            scaled: NDArray[Any] = (block - self.center) / self.unit
        # Finite values must stay finite.
        largest = np.finfo(scaled.dtype).max
        np.clip(scaled, -largest, largest, out=scaled)
        return scaled

    def part(self, first: int, n: int) -> Scaling:
        """Return the transform of n rows, which is the same for all rows."""
        return self


def _center_and_unit(rows: Rows) -> CenterAndUnit:
    n, D = rows.shape
    if rows.in_memory:
        return _of_known_cells(rows.read(), rows.complete)
    size = min(n, SAMPLE_ROWS)
    refuse_large(
        size * D * rows.dtype.itemsize,
        f"The sample of {size:,} rows x {D} columns for medians",
        "Use fewer columns.",
    )
    index = np.arange(n)
    if size < n:
        index = np.sort(np.random.default_rng(0).choice(n, size, replace=False))
    return _of_known_cells(rows.take(index))


def _of_known_cells(X: NDArray[Any], complete: bool = False) -> CenterAndUnit:
    """Return centers and units of known values; NaN and 1 for columns without any."""
    if complete or not np.isnan(largest_magnitude(X)):
        return _of_complete(X)
    center, unit = np.full(X.shape[1], np.nan), np.ones(X.shape[1])
    for column, cells in enumerate(X.T):
        known = cells[~np.isnan(cells)]
        if len(known):
            (center[column],), (unit[column],) = _of_complete(known[:, None])
    return center, unit


def _of_complete(X: NDArray[Any]) -> CenterAndUnit:
    small = X / 4  # sums and differences of two values cannot overflow
    center = np.median(small, axis=0).astype(float)
    deviations = np.abs(small - center)
    unit = NORMAL_MAD * np.median(deviations, axis=0)
    mean_deviations = (deviations / len(X)).sum(axis=0)
    unit = np.where(unit > 0, unit, NORMAL_MEAN * mean_deviations)
    largest = np.finfo(float).max / 4
    # Where most values nearly agree, the others divided by the unit could overflow.
    unit = np.maximum(unit, deviations.max(axis=0) / largest)
    return 4 * center, np.where(unit > 0, 4 * np.minimum(unit, largest), 1.0)


class UnevenSpread(NamedTuple):
    """The columns with the largest and the smallest spread, and their ratio."""

    wide: int
    narrow: int
    ratio: float


def uneven_columns(X: NDArray[Any]) -> UnevenSpread | None:
    """Return the columns with the extreme spreads if these differ too much."""
    unit = _of_known_cells(X)[1]
    # The extremes of a column without values are NaN, which no comparison orders.
    varying = np.flatnonzero(np.fmin.reduce(X) < np.fmax.reduce(X))
    if len(varying) < 2:
        return None
    wide, narrow = varying[unit[varying].argmax()], varying[unit[varying].argmin()]
    with np.errstate(over="ignore"):
        ratio = float(unit[wide] / unit[narrow])
    return UnevenSpread(int(wide), int(narrow), ratio) if ratio > UNEVEN else None
