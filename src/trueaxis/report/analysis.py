"""Collect all diagnostics of a model and rows in one record.

`analyse` computes them once; the report and the command line only read them, and
`sentences` puts them into words.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from trueaxis.data.threads import cached_property
from trueaxis.diagnostics import (
    KINDS,
    CellMap,
    Diagnosis,
    Effect,
    cell_map,
    cell_table,
    column_names,
    diagnose,
    effect,
    row_labels,
)
from trueaxis.diagnostics.inputs import as_records
from trueaxis.pipeline import SplitPipeline, split_pipeline
from trueaxis.preprocessing.decisions import is_series
from trueaxis.preprocessing.encoder import TableEncoder
from trueaxis.preprocessing.scaler import ColumnScaler, UnevenSpread, uneven_columns
from trueaxis.report.given import (
    ignore_feature_name_warning,
    numbers_of,
    one_per_row,
    texts_of,
)

SAME = 1e-6  # relative difference below which two levels are one
ROUNDING = 1e-9  # of a column's spread; what fits is 0 if it is below
SPREAD_ROWS = 100_000  # whose spreads say whether columns should be scaled
LAST_DIGITS = 16 * np.finfo(float).eps  # of a value; the same


class CellRepairs(NamedTuple):
    """Wrong cells, those of the same row together, each of shape (m,).

    row, column : indices
    value, fitted : what is there and what would fit, in raw units
    deviation : of the value, in standard deviations of good cells
    """

    row: NDArray[np.intp]
    column: NDArray[np.intp]
    value: NDArray[np.float64]
    fitted: NDArray[np.float64]
    deviation: NDArray[np.float64]


@dataclass(frozen=True)
class Analysis:
    """A fitted model, rows, and their diagnostics.

    Attributes
    ----------
    model : estimator
        The method, without the scaler in front of it.
    scaler : ColumnScaler, TableEncoder or None
    raw : ndarray of shape (n, D)
        Rows as given, with NaN in holes.
    X : ndarray of shape (n, D)
        Rows as the method sees them, scaled if there is a scaler.
    names : ndarray of shape (D,), str
        Names of the columns.
    given_ids : ndarray of shape (n,)
        Names of the rows: as given, from the index of a frame, or numbers from 0.
    labels : ndarray of shape (n,), str, or None
        Labels of the rows, to be shown with them.
    diagnosis : Diagnosis
    of_the_fit : bool
        Whether these are the rows that the model was fitted on.
    """

    model: Any
    scaler: ColumnScaler | TableEncoder | None
    raw: NDArray[Any]
    X: NDArray[Any]
    names: NDArray[np.str_]
    given_ids: NDArray[Any]
    labels: NDArray[np.str_] | None
    diagnosis: Diagnosis
    of_the_fit: bool

    @cached_property
    def ids(self) -> NDArray[np.str_]:
        """Names of all rows, as text."""
        return texts_of(self.given_ids)

    def name(self, row: int) -> str:
        """Return the name of a row; those of all rows may take long."""
        return str(self.given_ids[[row]].tolist()[0])

    @cached_property
    def plain(self) -> Effect:
        """Difference of plain PCA of the same rows from the model, and who made it."""
        with ignore_feature_name_warning():
            return effect(self.model, self.X)

    @cached_property
    def flagged(self) -> NDArray[np.intp]:
        """Indices of the outliers, worst first."""
        return self.diagnosis.worst_first()

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of rows of each kind."""
        return self.diagnosis.counts()

    @property
    def level(self) -> float:
        """The p-value below which rows are outliers."""
        return level_of(self.model)

    @cached_property
    def fitting(self) -> NDArray[np.float64]:
        """Value that would fit best in the blamed column of every row, in raw units."""
        unit = 1.0 if self.scaler is None else self.scaler.unit_[self.diagnosis.column]
        fits = self.value - self.diagnosis.surplus * unit
        return self.without_rounding(fits, self.value, self.diagnosis.column)

    @cached_property
    def value(self) -> NDArray[np.float64]:
        """Value in the blamed column of every row, in raw units."""
        rows = np.arange(len(self.raw))
        return self.raw[rows, self.diagnosis.column].astype(float)

    @cached_property
    def spread(self) -> NDArray[np.float64]:
        """Standard deviation of every column in the model, in raw units."""
        axes, model = self.model.components_.astype(float), self.model
        inside = model.explained_variance_.astype(float) @ axes**2
        outside = float(model.noise_variance_) * (1.0 - (axes**2).sum(axis=0))
        unit = 1.0 if self.scaler is None else self.scaler.unit_
        return np.asarray(np.sqrt(np.maximum(inside + outside, 0.0)) * unit)

    def without_rounding(
        self,
        fits: NDArray[np.float64],
        values: NDArray[np.float64],
        columns: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        """Return `fits`, with 0 for rounding errors, given the values found there."""
        least = np.fmax(ROUNDING * self.spread[columns], LAST_DIGITS * np.abs(values))
        return np.where(np.abs(fits) <= least, 0.0, fits)

    @cached_property
    def most_shifted(self) -> NDArray[np.intp]:
        """Indices of the columns, largest shift of the scaled mean first."""
        return np.argsort(-np.abs(self.plain.shift), kind="stable")

    @cached_property
    def uneven(self) -> UnevenSpread | None:
        """Columns whose spreads differ too much; None if they do not."""
        if is_series(self.names.tolist()):  # of a spectrum, with a common unit
            return None
        n = len(self.X)
        rows = self.X[np.linspace(0, n - 1, min(n, SPREAD_ROWS)).astype(int)]
        if self.has_holes:
            with ignore_feature_name_warning():
                rows = self.model.repair(rows, wrong=False)
        return uneven_columns(rows)

    @cached_property
    def has_holes(self) -> bool:
        """Whether cells are missing."""
        return bool(np.isnan(self.raw.min(initial=0.0)))

    @property
    def finds_wrong_cells(self) -> bool:
        """Whether the model was fitted to find wrong cells."""
        repair = self.model._repair()
        return repair is not None and repair.wrong is not None

    @cached_property
    def cells(self) -> CellMap | None:
        """Deviations of all cells; None if none can be wrong or missing."""
        if not self.has_holes and not self.finds_wrong_cells:
            return None
        with ignore_feature_name_warning():
            return cell_map(self.model, self.X)._replace(names=self.names)

    @cached_property
    def wrong_cells(self) -> CellRepairs:
        """The wrong cells, with what would fit."""
        if self.cells is None or not self.cells.wrong.any():
            none = np.zeros(0, dtype=np.intp)
            return CellRepairs(none, none, *np.zeros((3, 0)))
        with ignore_feature_name_warning():
            listed = cell_table(self.model, self.X)
        row, column = np.nonzero(self.cells.wrong)  # in the order of the table
        value = self.raw[row, column].astype(float)
        fitted = np.asarray(listed["fitted"], dtype=float)
        if self.scaler is not None:
            fitted = fitted * self.scaler.unit_[column] + self.scaler.center_[column]
        fitted = self.without_rounding(fitted, value, column)
        deviation = np.asarray(listed["deviation"], dtype=float)
        return CellRepairs(row, column, value, fitted, deviation)

    @cached_property
    def only_cells(self) -> NDArray[np.bool_]:
        """Whether each row is good, apart from wrong cells."""
        if self.cells is None:
            return np.zeros(len(self.raw), dtype=bool)
        return np.asarray(self.cells.wrong.any(axis=1) & ~self.diagnosis.flagged)

    @cached_property
    def shift(self) -> NDArray[np.float64]:
        """Plain mean minus robust mean of every column, in raw units."""
        return self.plain.shift * (1.0 if self.scaler is None else self.scaler.unit_)

    def columns(self, rows: NDArray[np.intp] | None = None) -> dict[str, Any]:
        """Return the verdict on every row, or on some rows, as columns of a table."""
        d, some = self.diagnosis, np.arange(len(self.raw)) if rows is None else rows
        columns: dict[str, Any] = {"row": texts_of(self.given_ids[some])}
        if self.labels is not None:
            columns["label"] = self.labels[some]
        columns |= {
            "outlier": d.flagged[some],
            "kind": d.kind[some],
            "p_value": np.exp(d.log_p[some]),
            "excess": d.excess[some],
            "score": d.score[some],
            "orthogonal": d.orthogonal[some],
            "column": d.names[d.column[some]],
            "share": d.share[some],
            "value": self.value[some],
            "fits": self.fitting[some],
        }
        if self.finds_wrong_cells:
            wrong: list[list[str]] = [[] for _ in self.raw]
            found = self.wrong_cells
            for row, name in zip(found.row, self.names[found.column], strict=True):
                wrong[row].append(str(name))
            names = np.array([";".join(each) for each in wrong], dtype=object)
            columns["wrong_cells"] = names[some]
        return columns

    def to_dict(self, positions: NDArray[np.intp] | None = None) -> dict[str, Any]:
        """Return the model, the outliers and the wrong cells as values for JSON.

        Parameters
        ----------
        positions : ndarray of int, optional
            Numbers of the rows in their file; from 0 by default.
        """
        # `sentences` puts an analysis into words, so that it imports this module.
        from trueaxis.report.sentences import hints, reason

        if positions is None:
            positions = np.arange(len(self.raw))
        rows, most = self.flagged, self.most_shifted[0]
        worst = {
            "position": positions[rows],
            **(self.columns(rows) if len(rows) else {}),
        }
        worst["reason"] = [reason(self, row) for row in rows]
        content = SplitPipeline(self.scaler, self.model).to_dict() | {
            "level": self.level,
            "contamination": self.model.contamination,
            "outliers": {"count": len(rows)}
            | {kind: self.counts.get(kind, 0) for kind in KINDS[1:]},
            "worst_first": as_records(worst) if len(rows) else [],
            "angle_to_plain_pca": self.plain.angle,
            "plain_mean_moves_most": {
                "column": str(self.names[most]),
                "by": float(self.shift[most]),
            },
            "hints": hints(self),
        }
        if self.finds_wrong_cells:
            found = self.wrong_cells
            cells = {
                "position": positions[found.row],
                "row": self.ids[found.row],
                "column": self.names[found.column],
                "value": found.value,
                "fitted": found.fitted,
                "deviation": found.deviation,
            }
            content["wrong_cells"] = {
                "count": len(found.row),
                "rows": len(np.unique(found.row)),
                "cells": as_records(cells),
            }
        return content


def analyse(
    model: Any,
    X: ArrayLike,
    *,
    ids: Any = None,
    labels: Any = None,
    of_the_fit: bool = True,
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
    of_the_fit : bool, default=True
        Whether the model was fitted on these rows: the page says if it was not.

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
    >>> from trueaxis.report.analysis import analyse
    >>> from trueaxis.datasets import sensors
    >>> X = sensors().X
    >>> analysis = analyse(DSWL(2).fit(X), X)
    >>> analysis.counts["off"], analysis.ids[analysis.flagged[0]].item()
    (6, '96')
    """
    scaler, method = parts = split_pipeline(model)
    # Only the first step checks the names of columns: later ones get plain arrays.
    check_is_fitted(method, "components_")
    with ignore_feature_name_warning():
        raw = numbers_of(parts, X)
        rows, n = parts.scaled(raw), len(raw)
        diagnosis = diagnose(method, rows)
        return Analysis(
            model=method,
            scaler=scaler,
            raw=raw,
            X=rows,
            names=column_names(method),
            given_ids=row_labels(X, n) if ids is None else one_per_row(ids, X, n),
            labels=None if labels is None else texts_of(one_per_row(labels, X, n)),
            diagnosis=diagnosis,
            of_the_fit=of_the_fit,
        )


def level_of(model: Any) -> float:
    """Return the p-value below which rows are outliers for a method."""
    return float(f"{10**model.offset_:.12g}")  # without the rounding of the logarithm


def with_line(model: Any, level: float) -> Any:
    """Return a fitted model with the line between regular rows and outliers moved."""
    moved = copy.copy(model)
    if abs(level - level_of(model)) > SAME * level:
        moved._set_line(float(np.log10(level)))
    return moved
