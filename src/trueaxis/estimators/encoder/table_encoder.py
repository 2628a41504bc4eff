"""The transformer from tables, with columns of any kind, to a matrix of numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import (
    _check_feature_names_in,
    check_is_fitted,
)

from trueaxis._columns import Column, quote
from trueaxis._frames import columns_of, frame_names, is_frame
from trueaxis._rows.base import Rows
from trueaxis._rows.dask.collections import is_dask
from trueaxis._rows.threads import own_floats
from trueaxis._validation import validate_array, validate_choice, validate_rows, warn
from trueaxis.estimators.base import unchanged_on_error
from trueaxis.estimators.encoder.plan import (
    Choices,
    Part,
    encode_parts,
    encoded_names,
    make_plan,
)
from trueaxis.estimators.encoder.units import LOG_UNIT, decide_scale
from trueaxis.estimators.scaler import ColumnScaler, Scaling

SCALES = ("auto", "none", "standard", "robust")
_MOST_ROWS = 12


class TableEncoder(
    TransformerMixin,  # type: ignore[misc]  # scikit-learn is untyped
    BaseEstimator,  # type: ignore[misc]
):
    r"""Choose the columns of a table, and turn them into comparable numbers.

    Columns of numbers are used; others, and numbers that only count or name the rows,
    are left out, and `notes_` says which and why. The result is computed in two steps:
    `encode` returns numbers in the units of the table, log10 of some columns, and one
    indicator (0 or 1) per level of a categorical column. `transform` then subtracts
    `center_` and divides by `unit_`.

    The indicator of a level with share p is centered at p and divided by sqrt(p), as in
    multiple correspondence analysis (MCA). With ``scale="standard"``, plain PCA of the
    result is factor analysis of mixed data (FAMD).

    Missing cells stay missing (NaN), in all indicators of a column; DSWL fills them.
    The table must be in memory.

    Parameters
    ----------
    columns : list of str, optional
        Columns to analyze, in this order; all others are ignored. Each item is a name,
        a range ``"a:d"`` in the order of the table, or a pattern with ``*`` and ``?``.
        A name that exists is never taken as a range or pattern.
    drop : list of str, default=()
        Columns to ignore, in the same notation.
    categories : bool or list of str, default=False
        Columns to analyze as categories. True stands for all columns of text and all
        columns of only 0 and 1, except text of which most rows have a level of their
        own, such as names.
    log : "auto" or list of str, default=()
        Columns of positive numbers of which to take log10; "auto" chooses those that
        become clearly more symmetric.
    scale : {"auto", "none", "standard", "robust"}, default="auto"
        How to center and scale columns of numbers: see `ColumnScaler`. "auto" is "none"
        if they share a unit, which it concludes from the units in their names or from
        their spreads, and otherwise "robust"; with categories, it is always "robust".

    Attributes
    ----------
    center_, unit_ : ndarray of shape (d,)
        Center and unit of every encoded column.
    left_out_ : dict
        Reason for each column that was left out, unless `drop` or `columns` says so.
    notes_ : list of str
        What was decided about the columns, and what to know about them.
    categories_ : dict
        Levels of every categorical column.
    log_ : list of str
        Columns of which the logarithm is analyzed.
    scale_ : {"none", "standard", "robust"}
        How columns of numbers are scaled.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of all columns of the table, if it has names. Later tables may have their
        columns in another order, and others besides.

    Examples
    --------
    >>> import pandas as pd
    >>> from trueaxis import TableEncoder
    >>> table = pd.DataFrame(
    ...     {
    ...         "nr": [1, 2, 3, 4],
    ...         "flow (l/min)": [2.0, 2.5, 2.1, 1.9],
    ...         "heat (kW)": [31.0, 39.0, 33.0, 30.0],
    ...         "site": ["north", "south", "south", "north"],
    ...     }
    ... )
    >>> encoder = TableEncoder(categories=True).fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['flow (l/min)', 'heat (kW)', 'site=north', 'site=south']
    >>> encoder.encode(table)[0]
    array([ 2., 31.,  1.,  0.])
    >>> encoder.notes_[0]
    "Left out: 'nr' (counts the rows)."
    """

    feature_names_in_: NDArray[Any]

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        *,
        drop: Sequence[str] = (),
        categories: bool | Sequence[str] = False,
        log: Literal["auto"] | Sequence[str] = (),
        scale: Literal["auto", "none", "standard", "robust"] = "auto",
    ) -> None:
        self.columns = columns
        self.drop = drop
        self.categories = categories
        self.log = log
        self.scale = scale

    @own_floats
    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Choose the columns, and learn levels, centers and units.

        Parameters
        ----------
        X : frame of pandas, polars or pyarrow, or array-like of shape (n, D)
            An array has columns x0, x1, ...
        y : ignored

        Returns
        -------
        self
        """
        validate_choice("scale", self.scale, SCALES)
        choices = Choices(
            None if self.columns is None else _patterns("columns", self.columns),
            _patterns("drop", self.drop),
            self._category_choice(),
            _patterns("log", self.log),
        )
        with unchanged_on_error(self):
            columns = self._read(X, reset=True)
            plan = make_plan(columns, choices)
            self._parts = plan.parts
            used = [columns[part.index] for part in plan.parts]
            encoded = encode_parts(plan.parts, used)
            how, sentence = self._decide_scale(used, encoded)
            self.center_, self.unit_ = _center_and_unit(plan.parts, encoded, how)
            self.scale_ = how
            self.left_out_ = plan.left_out
            self.notes_ = [*plan.notes, *([sentence] if sentence else [])]
            self._set_names([column.name for column in columns])
        return self

    @own_floats
    def encode(self, X: Any) -> NDArray[np.float64]:
        """Return the rows before centering and scaling.

        Parameters
        ----------
        X : frame of pandas, polars or pyarrow, or array-like of shape (n, D)

        Returns
        -------
        ndarray of shape (n, d)
            Numbers in the units of the table, log10 of some columns, and indicators of
            levels. Those of a level that the fit did not see are all 0, with a warning.
        """
        check_is_fitted(self, "unit_")
        columns = self._read(X, reset=False)
        return encode_parts(self._parts, columns)

    @own_floats
    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the rows as numbers, centered and scaled.

        Parameters
        ----------
        X : frame of pandas, polars or pyarrow, or array-like of shape (n, D)

        Returns
        -------
        ndarray of shape (n, d)
        """
        encoded = self.encode(X)
        return Scaling(self.center_, self.unit_)(encoded)

    @own_floats
    def inverse_transform(self, X: ArrayLike) -> NDArray[Any]:
        """Convert scaled rows back to the units of `encode`.

        Logarithms stay logarithms, and indicators are not turned into levels: rows that
        a method fitted or repaired lie between them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows as `transform` returns them.

        Returns
        -------
        ndarray of shape (n, d)
        """
        check_is_fitted(self, "unit_")
        scaled = validate_array(X, holes=True)
        if scaled.shape[1] != len(self.unit_):
            raise ValueError(
                f"X has {scaled.shape[1]} columns, but the table was encoded in "
                f"{len(self.unit_)}: pass the rows that transform returned."
            )
        rows: NDArray[Any] = scaled * self.unit_ + self.center_
        return rows

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return names such as flow, log10(price) and site=north.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of all columns of the table, if it had none.
        """
        check_is_fitted(self, "unit_")
        names = _check_feature_names_in(self, input_features)
        return np.array(encoded_names(self._parts, names), dtype=object)

    def _read(self, X: Any, reset: bool) -> list[Column]:
        """Return the columns of the table; after the fit, those of the parts."""
        _refuse_sources(X)
        if is_frame(X):
            return self._read_frame(X, reset)
        X = np.asarray(X) if isinstance(X, np.memmap) else X
        rows = validate_rows(self, X, reset=reset, holes=True).read()
        names = getattr(self, "feature_names_in_", None)
        columns = [
            Column(
                f"x{i}" if names is None else str(names[i]),
                "number",
                np.asarray(values, dtype=np.float64),
            )
            for i, values in enumerate(rows.T)
        ]
        return columns if reset else [columns[part.index] for part in self._parts]

    def _read_frame(self, X: Any, reset: bool) -> list[Column]:
        names, columns = frame_names(X), columns_of(X)
        n = len(columns[0].values) if columns else 0
        least = 2 if reset else 1
        if n < least:
            raise ValueError(
                f"Found array with {n} sample(s) and {len(columns)} feature(s) while a "
                f"minimum of {least} sample(s) is required by TableEncoder: pass more "
                "rows."
            )
        if reset:
            self.n_features_in_ = len(columns)
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            if names is not None:
                self.feature_names_in_ = np.array(names, dtype=object)
            return columns
        return self._find(columns, named=names is not None)

    def _find(self, columns: list[Column], named: bool) -> list[Column]:
        """Return the columns of the parts: by name, or by position without names."""
        fitted = getattr(self, "feature_names_in_", None)
        if fitted is not None and named:
            by_name = {column.name: column for column in columns}
            needed = [str(fitted[part.index]) for part in self._parts]
            missing = [name for name in needed if name not in by_name]
            if missing:
                raise ValueError(
                    f"X lacks columns that TableEncoder was fitted on: "
                    f"{quote(missing, _MOST_ROWS)} ({len(missing)} of {len(needed)})."
                )
            return [by_name[name] for name in needed]
        if len(columns) != self.n_features_in_:
            raise ValueError(
                f"X has {len(columns)} features, but TableEncoder is expecting "
                f"{self.n_features_in_} features as input. Pass the columns that it "
                "was fitted on, in the same order."
            )
        if named:
            warn(
                "X has feature names, but TableEncoder was fitted without feature names"
            )
        elif fitted is not None:
            warn(
                "X does not have valid feature names, but TableEncoder was fitted with "
                "feature names"
            )
        return [columns[part.index] for part in self._parts]

    def _category_choice(self) -> bool | str | Iterable[str]:
        if self.categories is None:
            return False
        if isinstance(self.categories, (bool, np.bool_)):
            return bool(self.categories)
        return _patterns("categories", self.categories)

    def _decide_scale(
        self, used: Sequence[Column], encoded: NDArray[np.float64]
    ) -> tuple[str, str]:
        """Return how to scale numbers, and a sentence if that was not given."""
        if self.scale != "auto":
            return self.scale, ""
        kinds = {part.kind for part in self._parts}
        if "category" in kinds:
            only = kinds == {"category"}
            sentence = "Numbers were scaled (robust): categories have no unit."
            return "robust", "" if only else sentence
        return decide_scale(
            [
                Column(
                    column.name,
                    "number",
                    values,
                    LOG_UNIT if part.kind == "log" else column.unit,
                )
                for part, column, values in zip(
                    self._parts, used, encoded.T, strict=True
                )
            ]
        )

    def _set_names(self, names: Sequence[str]) -> None:
        """Set the attributes that say by name what becomes of the columns."""
        kinds = {names[part.index]: part for part in self._parts}
        self.categories_ = {
            name: list(part.levels)
            for name, part in kinds.items()
            if part.kind == "category"
        }
        self.log_ = [name for name, part in kinds.items() if part.kind == "log"]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _center_and_unit(
    parts: Sequence[Part], encoded: NDArray[np.float64], how: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return center and unit of every encoded column."""
    center, unit = np.zeros(encoded.shape[1]), np.ones(encoded.shape[1])
    is_level = np.repeat(
        [part.kind == "category" for part in parts], [part.width for part in parts]
    )
    numbers = encoded[:, ~is_level]
    if numbers.shape[1] and how != "none":
        scaler = ColumnScaler(how).fit(numbers)  # type: ignore[arg-type]
        center[~is_level], unit[~is_level] = scaler.center_, scaler.unit_
    if is_level.any():
        shares = np.nanmean(encoded[:, is_level], axis=0)
        center[is_level], unit[is_level] = shares, np.sqrt(shares)
    return center, unit


def _patterns(name: str, value: Any) -> str | list[str]:
    """Return patterns as a list; an array or index of names is fine."""
    if value is None:
        return []
    if isinstance(value, str):
        return value
    try:
        return [str(v) if isinstance(v, np.str_) else v for v in value]
    except TypeError:
        raise TypeError(
            f"{name}={value!r} is a {type(value).__name__}: pass a list of names of "
            "columns."
        ) from None


def _refuse_sources(X: Any) -> None:
    if type(X) is dict or type(X).__name__ == "Series":
        raise TypeError(
            f"X is a {type(X).__name__}, not a table: pass a data frame, such as "
            f"{'pandas.DataFrame(X)' if type(X) is dict else 'X.to_frame()'}."
        )
    if is_dask(X) or isinstance(X, (Rows, str, os.PathLike)):
        what = "a Dask collection" if is_dask(X) else "a file or another source of rows"
        raise TypeError(
            f"X is {what}, but TableEncoder needs the table in memory, because levels "
            "and medians depend on all rows: pass a data frame or an array, or use "
            "ColumnScaler for numbers."
        )
