"""Collect all diagnostics of a model and rows in one record.

`analyze` computes them once; the report and the command line only read them, and
`sentences` puts them into words.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis.data.threads import cached_property
from trueaxis.diagnostics import (
    KINDS,
    CellMap,
    Diagnosis,
    Effect,
    cell_map,
    diagnose,
    effect,
    row_labels,
)
from trueaxis.diagnostics.tables import as_records
from trueaxis.pipeline import SplitPipeline, fitted_parts
from trueaxis.preprocessing.decisions import is_series
from trueaxis.preprocessing.scaler import UnevenSpread, uneven_columns
from trueaxis.report import sentences

ROUNDING = 1e-9  # of a column's spread; what fits is 0 if it is below
SPREAD_ROWS = 100_000  # rows whose spreads decide whether to suggest scaling
LAST_DIGITS = 16 * np.finfo(float).eps  # of a value; the same


@dataclass(frozen=True)
class Analysis:
    """A fitted model, rows, and their diagnostics, in the units of the data.

    Attributes
    ----------
    parts : SplitPipeline
        The method, and the step before it.
    raw : ndarray of shape (n, D)
        Rows as given, with NaN for missing cells.
    X : ndarray of shape (n, D)
        Rows as the method sees them, scaled if there is a scaler.
    given_ids : ndarray of shape (n,)
        Names of the rows: as given, from the index of a frame, or numbers from 0.
    labels : ndarray of shape (n,), str, or None
        Labels of the rows, to be shown with them.
    diagnosis : Diagnosis
    new_rows : bool
        Whether the model was fitted on other rows.
    """

    parts: SplitPipeline
    raw: NDArray[Any]
    X: NDArray[Any]
    given_ids: NDArray[Any]
    labels: NDArray[np.str_] | None
    diagnosis: Diagnosis
    new_rows: bool

    @property
    def model(self) -> Any:
        """The method, without the scaler in front of it."""
        return self.parts.model

    @property
    def names(self) -> NDArray[np.str_]:
        """Names of the columns."""
        return self.diagnosis.names

    @cached_property
    def ids(self) -> NDArray[np.str_]:
        """Names of all rows, as text."""
        return texts_of(self.given_ids)

    def name(self, row: int) -> str:
        """Return the name of a row; those of all rows may take long."""
        return str(self.given_ids[[row]].tolist()[0])

    @cached_property
    def flagged(self) -> NDArray[np.intp]:
        """Indices of the outliers, worst first."""
        return self.diagnosis.worst_first()

    @cached_property
    def plain(self) -> Effect:
        """Difference of plain PCA of the same rows from the model, and its causes.

        Rows are scaled as for the method; `shift` is in the units of the data.
        """
        with ignore_feature_name_warning():
            return effect(self.model, self.X)

    @property
    def shift(self) -> NDArray[np.float64]:
        """Plain mean minus robust mean of every column."""
        return np.asarray(self.parts.unscaled(self.plain.shift))

    @property
    def most_shifted(self) -> int:
        """Index of the column with the largest shift of the scaled mean."""
        return int(np.abs(self.plain.shift).argmax())

    @cached_property
    def uneven(self) -> UnevenSpread | None:
        """Columns whose spreads differ too much; None if they do not."""
        n = len(self.X)
        rows = self.X[np.linspace(0, n - 1, min(n, SPREAD_ROWS)).astype(int)]
        if self.has_missing:
            with ignore_feature_name_warning():
                rows = self.model.repair(rows, wrong=False)
        found = uneven_columns(rows)
        # Columns of a spectrum have a common unit.
        return None if found and is_series(self.names.tolist()) else found

    @cached_property
    def has_missing(self) -> bool:
        """Whether cells are missing."""
        return bool(np.isnan(self.raw.min(initial=0.0)))

    @property
    def finds_wrong_cells(self) -> bool:
        """Whether the model was fitted to find wrong cells."""
        repair = self.model._repair()
        return repair is not None and repair.wrong is not None

    @cached_property
    def cells(self) -> CellMap | None:
        """All cells, with fitted values; None if no cell can be wrong or missing."""
        if not self.has_missing and not self.finds_wrong_cells:
            return None
        with ignore_feature_name_warning():
            found = cell_map(self.model, self.X)
        values = self.raw.astype(float, copy=False)
        fitted = self.without_rounding(self.parts.restored(found.fitted), values)
        return found._replace(values=values, fitted=fitted, names=self.names)

    @cached_property
    def wrong_cells(self) -> dict[str, Any]:
        """The wrong cells as columns of a table, if any can be: `CellMap.listed`."""
        assert self.cells is not None
        return self.cells.listed()

    @cached_property
    def only_cells(self) -> NDArray[np.bool_]:
        """Whether each row is good, apart from wrong cells."""
        if not self.finds_wrong_cells:
            return np.zeros(len(self.raw), dtype=bool)
        assert self.cells is not None
        return np.asarray(self.cells.wrong.any(axis=1) & ~self.diagnosis.flagged)

    def without_rounding(
        self, fitted: Any, values: NDArray[np.float64], column: Any = slice(None)
    ) -> NDArray[np.float64]:
        """Return fitted values of columns, with rounding errors set to 0."""
        model, axes = self.model, self.model.components_.astype(float)
        inside = model.explained_variance_.astype(float) @ axes**2
        outside = float(model.noise_variance_) * (1.0 - (axes**2).sum(axis=0))
        spread = self.parts.unscaled(np.sqrt(np.maximum(inside + outside, 0.0)))
        least = np.fmax(ROUNDING * spread[column], LAST_DIGITS * np.abs(values))
        return np.where(np.abs(fitted) <= least, 0.0, fitted)

    def columns(self, rows: NDArray[np.intp] | None = None) -> dict[str, Any]:
        """Return the verdict on every row, or on some rows, as columns of a table."""
        some = np.arange(len(self.raw)) if rows is None else rows
        columns: dict[str, Any] = {"row": texts_of(self.given_ids[some])}
        if self.labels is not None:
            columns["label"] = self.labels[some]
        columns |= {"outlier": self.diagnosis.flagged[some]}
        columns |= self.diagnosis.columns(some)
        if self.finds_wrong_cells:
            wrong: list[list[str]] = [[] for _ in self.raw]
            found = self.wrong_cells
            names = self.names[found["column"]].tolist()
            for row, name in zip(found["position"], names, strict=True):
                wrong[row].append(name)
            joined = np.array([";".join(each) for each in wrong], dtype=object)
            columns["wrong_cells"] = joined[some]
        return columns

    def to_dict(self, positions: NDArray[np.intp] | None = None) -> dict[str, Any]:
        """Return the model, the outliers and the wrong cells as values for JSON.

        Parameters
        ----------
        positions : ndarray of int, optional
            Numbers of the rows in their file; from 0 by default.
        """
        if positions is None:
            positions = np.arange(len(self.raw))
        rows, most = self.flagged, self.most_shifted
        worst = {"position": positions[rows], **self.columns(rows)}
        worst["reason"] = [sentences.reason(self, row) for row in rows]
        content = self.parts.to_dict() | {
            "outliers": counts_of(self.diagnosis.counts()),
            "worst_first": as_records(worst),
            "angle_to_plain_pca": self.plain.angle,
            "plain_mean_moves_most": {
                "column": str(self.names[most]),
                "by": float(self.shift[most]),
            },
            "hints": sentences.hints(self),
        }
        if self.finds_wrong_cells:
            found = self.wrong_cells
            cells = {
                "position": positions[found["position"]],
                "row": self.ids[found["position"]],
                "column": self.names[found["column"]],
                **{name: found[name] for name in ("value", "fitted", "deviation")},
            }
            content["wrong_cells"] = {
                "count": len(found["position"]),
                "rows": len(np.unique(found["position"])),
                "cells": as_records(cells),
            }
        return content


def counts_of(kinds: dict[str, int]) -> dict[str, int]:
    """Return the number of outliers, and that of each kind, given those of all rows."""
    counts = {"count": sum(kinds.values()) - kinds.get("regular", 0)}
    if not kinds.keys() <= {*KINDS}:  # some are not known
        return counts
    return counts | {kind: kinds.get(kind, 0) for kind in KINDS[1:]}


def analyze(
    model: Any,
    X: ArrayLike,
    *,
    ids: Any = None,
    labels: Any = None,
    new_rows: bool = False,
) -> Analysis:
    """Compute all diagnostics of a model and rows.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or after a `ColumnScaler`.
    X : array-like of shape (n, D)
        Rows of the fit, or new ones, before scaling.
    ids : array-like of shape (n,), optional
        Names of the rows; a series needs the index of X.
    labels : array-like of shape (n,), optional
        Labels of the rows, to be shown with them; a series needs the index of X.
    new_rows : bool, default=False
        Whether the model was fitted on other rows: the page says so.

    Returns
    -------
    Analysis

    Raises
    ------
    ValueError
        In the same cases as `predict`, such as for a frame whose columns, or
        their order, differ from the fit.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.report import analyze
    >>> from trueaxis.datasets import sensors
    >>> X = sensors().X
    >>> analysis = analyze(DSWL(2).fit(X), X)
    >>> analysis.diagnosis.counts()["off"], analysis.ids[analysis.flagged[0]].item()
    (6, '96')
    """
    parts = fitted_parts(model)
    # Only the first step checks the names of columns: later ones get plain arrays.
    with ignore_feature_name_warning():
        raw = parts.raw(X)
        rows, n = parts.scaled(raw), len(raw)
        diagnosis = diagnose(parts.model, rows)
    found = Analysis(
        parts=parts,
        raw=raw,
        X=rows,
        given_ids=row_labels(X, n) if ids is None else _one_per_row(ids, X, n),
        labels=None if labels is None else texts_of(_one_per_row(labels, X, n)),
        diagnosis=diagnosis,
        new_rows=new_rows,
    )
    column = diagnosis.column
    value = raw[np.arange(n), column].astype(float)
    surplus = parts.unscaled(diagnosis.value - diagnosis.fitted, column)
    fitted = found.without_rounding(value - surplus, value, column)
    return replace(found, diagnosis=replace(diagnosis, value=value, fitted=fitted))


def _one_per_row(names: Any, X: Any, n: int) -> NDArray[Any]:
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
