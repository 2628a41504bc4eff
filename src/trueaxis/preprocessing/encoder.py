"""The transformer from tables, with columns of any kind, to a matrix of numbers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from trueaxis._columns import Column, describe_left_out, examine, quote, select
from trueaxis._frames import columns_of, frame_names, is_frame, is_number
from trueaxis._validation import validate_array, validate_choice, validate_rows, warn
from trueaxis.base import unchanged_on_error
from trueaxis.data.dask import is_dask
from trueaxis.data.rows import Rows
from trueaxis.data.threads import ignore_float_errors
from trueaxis.preprocessing.decisions import LOG_UNIT, decide_scale
from trueaxis.preprocessing.scaler import ColumnScaler, Scaling

SCALES = ("auto", "none", "robust")


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
    multiple correspondence analysis (MCA).

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
    log : list of str, default=()
        Columns of positive numbers of which to take log10.
    scale : {"auto", "none", "robust"}, default="auto"
        Whether to center and scale columns of numbers, as `ColumnScaler` does. "auto"
        is "none" if they share a unit, which it concludes from the units in their names
        or from their spreads, and otherwise "robust"; with categories, it is always
        "robust".

    Attributes
    ----------
    center_, unit_ : ndarray of shape (d,)
        Center and unit of every encoded column.
    left_out_ : dict
        Reason for each column that was left out, unless `drop` or `columns` says so.
    notes_ : list of str
        Decisions on the columns, and further notes about them.
    columns_ : list of str
        Columns that are analyzed, in this order.
    categories_ : dict
        Levels of every categorical column.
    log_ : list of str
        Columns of which the logarithm is analyzed.
    scale_ : {"none", "robust"}
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
        log: Sequence[str] = (),
        scale: Literal["auto", "none", "robust"] = "auto",
    ) -> None:
        self.columns = columns
        self.drop = drop
        self.categories = categories
        self.log = log
        self.scale = scale

    @ignore_float_errors
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
        self._check_parameters()
        with unchanged_on_error(self):
            columns = self._read(X, reset=True)
            notes = self._choose(columns)
            by_name = {column.name: column for column in columns}
            used = [by_name[name] for name in self.columns_]
            encoded = self._encode(used)
            self.scale_, sentence = self._decide_scale(used, encoded)
            self._learn_units(encoded)
            self.notes_ = [*notes, sentence] if sentence else notes
        return self

    @ignore_float_errors
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
        return self._encode(self._read(X, reset=False))

    @ignore_float_errors
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

    @ignore_float_errors
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
        scaled = validate_array(X, missing_ok=True)
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
        given = map(str, _check_feature_names_in(self, input_features))
        called = dict(zip(self._names(), given, strict=True))
        found: dict[str, None] = {}
        for column in self.columns_:
            name = called[column]
            new = [f"log10({name})" if column in self.log_ else name]
            if column in self.categories_:
                new = [f"{name}={level}" for level in self.categories_[column]]
            for each in new:
                while each in found:  # such as a column of numbers named site=north
                    each += "'"
                found[each] = None
        return np.array([*found], dtype=object)

    # ------------------------------------------------------------- choice of columns

    def _choose(self, columns: Sequence[Column]) -> list[str]:
        """Set which columns are analyzed, and as what; return sentences about it."""
        by_name = {column.name: column for column in columns}
        asked = _patterns("columns", self.columns)
        chosen = [*by_name]
        if self.columns is not None:
            chosen = select(asked, chosen, "columns")
        dropped = {*select(_patterns("drop", self.drop), [*by_name], "drop")}
        wanted = [name for name in chosen if name not in dropped]
        if not wanted:
            raise ValueError("No column is left to analyze: drop fewer columns.")
        levels, left_out = self._levels([by_name[name] for name in wanted], {*asked})
        others = [by_name[n] for n in wanted if n not in levels and n not in left_out]
        for column in others:
            _refuse_mixed(column)
            if column.kind == "number":
                _as_numbers(column)  # refuses infinite values
        findings = examine(others, () if self.columns is None else wanted)
        left_out |= findings.left_out
        _refuse_unusable(left_out, {*asked} & {*wanted})
        left_out |= {c.name: "empty" for c in others if _is_empty(c)}
        numbers = [column.name for column in others if column.name not in left_out]
        self.left_out_ = {name: left_out[name] for name in by_name if name in left_out}
        notes = describe_left_out(self.left_out_)
        if not numbers and not levels:
            raise ValueError(
                f"No column is left to analyze. {' '.join(notes)} Pass columns of "
                "numbers, or use categories=True for text."
            )
        self.columns_ = [n for n in wanted if n in levels or n not in left_out]
        self.categories_ = {name: levels[name] for name in wanted if name in levels}
        asked = _patterns("log", self.log)
        logs = {*select(asked, wanted, "log")}
        self.log_ = [name for name in numbers if name in logs]
        for name in {*asked} & {*wanted} - {*numbers}:
            raise ValueError(
                f"log names {name!r}, which is not analyzed as a number: leave it out "
                "of log."
            )
        return notes + findings.remarks

    def _levels(
        self, columns: Sequence[Column], asked: set[str]
    ) -> tuple[dict[str, list[str]], dict[str, str]]:
        """Return the levels of categorical columns, and which are left out, and why."""
        chosen = False if self.categories is None else self.categories
        if isinstance(chosen, (bool, np.bool_)):
            candidates = [c for c in columns if chosen and _is_category(c)]
        else:
            names = [column.name for column in columns]
            asked = {*select(_patterns("categories", chosen), names, "categories")}
            candidates = [column for column in columns if column.name in asked]
        levels: dict[str, list[str]] = {}
        left_out: dict[str, str] = {}
        for column in candidates:
            if column.kind == "nested":
                raise ValueError(
                    f"Column {column.name!r} holds lists or records, which are no "
                    "categories: drop it."
                )
            counts = Counter(c for c in cells_as_text(column) if c is not None)
            # A level of a single row cannot be compared with other rows; in columns of
            # names, most rows have such a level.
            alone = sum(count == 1 for count in counts.values())
            if len(counts) < 2:
                left_out[column.name] = "constant" if counts else "empty"
            elif column.name not in asked and 2 * alone > counts.total():
                left_out[column.name] = "names"
            else:
                size = float if column.kind == "number" else str
                levels[column.name] = sorted(counts, key=size)
        return levels, left_out

    # ------------------------------------------------------------- numbers and units

    def _encode(self, columns: Sequence[Column]) -> NDArray[np.float64]:
        """Return numbers, logarithms and indicators, given the columns in use."""
        blocks = []
        for name, column in zip(self.columns_, columns, strict=True):
            if name in self.categories_:
                blocks.append(indicators(column, self.categories_[name]))
                continue
            values = _as_numbers(column)
            if name in self.log_:
                _refuse_nonpositive(column)
                values = np.log10(values)
            blocks.append(values[:, None])
        return np.hstack(blocks)

    def _decide_scale(
        self, used: Sequence[Column], encoded: NDArray[np.float64]
    ) -> tuple[str, str]:
        """Return how to scale numbers, and a sentence if that was not given."""
        if self.scale != "auto":
            return self.scale, ""
        if self.categories_:
            only = len(self.categories_) == len(self.columns_)
            sentence = "Numbers were scaled (robust): categories have no unit."
            return "robust", "" if only else sentence
        units = (LOG_UNIT if c.name in self.log_ else c.unit for c in used)
        return decide_scale(
            [
                Column(column.name, "number", values, unit)
                for column, values, unit in zip(used, encoded.T, units, strict=True)
            ]
        )

    def _learn_units(self, encoded: NDArray[np.float64]) -> None:
        center, unit = np.zeros(encoded.shape[1]), np.ones(encoded.shape[1])
        is_level = np.repeat(
            [n in self.categories_ for n in self.columns_], self._widths()
        )
        numbers = encoded[:, ~is_level]
        if numbers.shape[1] and self.scale_ != "none":
            scaler = ColumnScaler().fit(numbers)
            center[~is_level], unit[~is_level] = scaler.center_, scaler.unit_
        if is_level.any():
            shares = np.nanmean(encoded[:, is_level], axis=0)
            center[is_level], unit[is_level] = shares, np.sqrt(shares)
        self.center_, self.unit_ = center, unit

    def _widths(self) -> list[int]:
        """Return how many encoded columns each column has."""
        return [len(self.categories_.get(name, [name])) for name in self.columns_]

    # ------------------------------------------------------------- tables and checks

    def _names(self) -> list[str]:
        """Return the names of all columns of the table of the fit."""
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return [f"x{i}" for i in range(self.n_features_in_)]
        return [str(name) for name in names]

    def _read(self, X: Any, reset: bool) -> list[Column]:
        """Return the columns of the table; after the fit, those in use."""
        _refuse_sources(X)
        if is_frame(X):
            names, columns = frame_names(X), columns_of(X)
            self._check_frame(columns, names, reset)
        else:
            X = np.asarray(X) if isinstance(X, np.memmap) else X
            rows = validate_rows(self, X, reset=reset, missing_ok=True).read()
            names, cells = None, np.asarray(rows, dtype=np.float64).T
            columns = [
                Column(name, "number", values)
                for name, values in zip(self._names(), cells, strict=True)
            ]
        if reset:
            return columns
        if names is not None and hasattr(self, "feature_names_in_"):
            by_name = {column.name: column for column in columns}
        else:
            by_name = dict(zip(self._names(), columns, strict=True))
        missing = [name for name in self.columns_ if name not in by_name]
        if missing:
            raise ValueError(
                f"X lacks columns that TableEncoder was fitted on: "
                f"{quote(missing, 12)} ({len(missing)} of {len(self.columns_)})."
            )
        return [by_name[name] for name in self.columns_]

    def _check_frame(
        self, columns: list[Column], names: list[str] | None, reset: bool
    ) -> None:
        """Raise as scikit-learn does; remember the names of the fit."""
        n, least = len(columns[0].values) if columns else 0, 2 if reset else 1
        if n < least:
            raise ValueError(
                f"Found array with {n} sample(s) and {len(columns)} feature(s) while a "
                f"minimum of {least} sample(s) is required by TableEncoder: pass more "
                "rows."
            )
        named = hasattr(self, "feature_names_in_")
        if reset:
            self.n_features_in_ = len(columns)
            if named:
                del self.feature_names_in_
            if names is not None:
                self.feature_names_in_ = np.array(names, dtype=object)
        elif len(columns) != self.n_features_in_ and not (named and names is not None):
            raise ValueError(
                f"X has {len(columns)} features, but TableEncoder is expecting "
                f"{self.n_features_in_} features as input. Pass the columns that it "
                "was fitted on, in the same order."
            )

    def _check_parameters(self) -> None:
        """Raise if a parameter has a value or a type that no table allows."""
        validate_choice("scale", self.scale, SCALES)
        for name in ("columns", "drop", "log"):
            _patterns(name, getattr(self, name))
        if not isinstance(self.categories, (bool, np.bool_)):
            _patterns("categories", self.categories)

    def _check(self) -> None:
        """Raise if parameters are not valid, or attributes contradict each other."""
        self._check_parameters()
        texts = [self.columns_, *self.categories_.values(), self.log_, self.notes_]
        texts += [list(self.left_out_.values())]
        levels = texts[: 1 + len(self.categories_)]
        consistent = (
            all(type(each) is list for each in texts)
            and all(type(text) is str for each in texts for text in each)
            and all(len({*each}) == len(each) > 0 for each in levels)
            and {*self.columns_} <= {*self._names()}
            and {*self.categories_, *self.log_} <= {*self.columns_}
            and not {*self.categories_} & {*self.log_}
            and self.scale_ in SCALES[1:]
            and sum(self._widths()) == len(self.unit_) == len(self.center_)
        )
        if not consistent:
            raise ValueError("the columns of the TableEncoder contradict each other")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def indicators(column: Column, levels: Sequence[str]) -> NDArray[np.float64]:
    """Return one indicator per level.

    A missing cell makes all indicators of its row NaN; a level that is not among them
    makes them 0, with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis._columns import Column
    >>> from trueaxis.preprocessing.encoder import indicators
    >>> site = Column("site", "text", np.array(["a", None, "b"], dtype=object))
    >>> indicators(site, ["a", "b"])
    array([[ 1.,  0.],
           [nan, nan],
           [ 0.,  1.]])
    """
    position: dict[str | None, int] = {level: i for i, level in enumerate(levels)}
    cells = cells_as_text(column)
    table = np.zeros((len(cells), len(levels)))
    at = np.array([position.get(cell, -1) for cell in cells], dtype=np.intp)
    seen = np.flatnonzero(at >= 0)
    table[seen, at[seen]] = 1.0
    table[[cell is None for cell in cells]] = np.nan
    new = [cell for cell in cells if cell is not None and cell not in position]
    if new:
        named = list(dict.fromkeys(new))
        warn(
            f"Column {column.name!r} has {'a level' if len(named) == 1 else 'levels'} "
            f"that the fit did not see, in {len(new):,} row"
            f"{'' if len(new) == 1 else 's'}: {quote(named)}. All its indicators are 0 "
            "there, which makes a row hardly unusual: it is judged by its other "
            "columns."
        )
    return table


def cells_as_text(column: Column) -> list[str | None]:
    """Return the cells of a column as text, None where they are missing.

    Whole numbers are written without a point, whatever their type.
    """
    cells: Iterable[Any] = column.values
    if column.kind == "number":
        cells = (None if np.isnan(x) else float(x) for x in column.values)
    return [None if cell is None else _as_text(cell) for cell in cells]


def _as_text(cell: Any) -> str:
    if type(cell) is str:
        return cell
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))
    return cell.decode(errors="replace") if isinstance(cell, bytes) else str(cell)


def _is_category(column: Column) -> bool:
    """Return whether a column has text, or only zeros and ones."""
    if column.kind != "number":
        return column.kind == "text"
    no, yes, unknown = column.values == 0, column.values == 1, np.isnan(column.values)
    return bool(no.any() and yes.any() and (no | yes | unknown).all())


def _is_empty(column: Column) -> bool:
    return column.kind == "number" and bool(np.isnan(column.values).all())


def _patterns(name: str, value: Any) -> list[str]:
    """Return names or patterns as a list; an array or index of them is fine."""
    if value is None or isinstance(value, str):
        return [] if value is None else [value]
    try:
        return [str(v) if isinstance(v, np.str_) else v for v in value]
    except TypeError:
        raise TypeError(
            f"{name}={value!r} is a {type(value).__name__}: pass a list of names of "
            "columns."
        ) from None


def _refuse_sources(X: Any) -> None:
    if is_dask(X) or isinstance(X, (Rows, str, os.PathLike)):
        what = "a Dask collection" if is_dask(X) else "a file or another source of rows"
        raise TypeError(
            f"X is {what}, but TableEncoder needs the table in memory, because levels "
            "and medians depend on all rows: pass a data frame or an array, or use "
            "ColumnScaler for numbers."
        )


def _refuse_mixed(column: Column) -> None:
    """Raise if a column has text in a few cells, and numbers in the others."""
    if column.kind != "text":
        return
    known = [cell for cell in column.values if cell is not None]
    n = sum(map(is_number, known))
    if len(known) / 2 < n < len(known):  # all are numbers in a pandas category
        row, cell = _first_text(column)
        raise ValueError(
            f"Column {column.name!r} has numbers in {n} cells and text in "
            f"{len(known) - n}, such as {cell!r} in row {row}: replace the text by "
            f"None if it means missing, or drop the column (drop=[{column.name!r}])."
        )


def _first_text(column: Column) -> tuple[int, Any]:
    cells = enumerate(column.values)
    return next((r, c) for r, c in cells if c is not None and not is_number(c))


def _refuse_unusable(left_out: dict[str, str], named: set[str]) -> None:
    """Raise if a column that was asked for by name would be left out."""
    for name, reason in left_out.items():
        if name in named and reason in ("text", "calendar", "nested"):
            remedy = (
                f"add it to the categories (categories=[{name!r}])"
                if reason == "text"
                else "convert it to numbers"
            )
            raise ValueError(
                f"columns names {name!r}, which has no numbers ({reason}): {remedy}, "
                "or leave it out."
            )


def _as_numbers(column: Column) -> NDArray[np.float64]:
    """Return the numbers of a column that was one of numbers in the fit."""
    if column.kind == "number":
        values: NDArray[np.float64] = column.values
        if np.isinf(values).any():
            row = int(np.flatnonzero(np.isinf(values))[0])
            raise ValueError(
                f"Column {column.name!r} has {values[row]} in row {row}: correct "
                "infinite values, or leave them empty (NaN)."
            )
        return values
    if all(cell is None for cell in column.values):
        return np.full(len(column.values), np.nan)
    row, cell = _first_text(column)
    raise ValueError(
        f"Column {column.name!r} was analyzed as numbers in the fit, but has {cell!r} "
        f"in row {row} ({column.kind}): convert it to numbers, with None for missing "
        "cells."
    )


def _refuse_nonpositive(column: Column) -> None:
    bad = np.flatnonzero(_as_numbers(column) <= 0)
    if len(bad):
        raise ValueError(
            f"Column {column.name!r} has {column.values[bad[0]]:g} in row {bad[0]} "
            f"(values that are not positive: {len(bad)} of {len(column.values)}), "
            "which has no logarithm: leave such cells empty (NaN) if they mean that "
            "nothing was measured, or leave the column out of log."
        )
