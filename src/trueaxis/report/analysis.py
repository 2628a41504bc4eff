"""GATHER: all that terminal and report tell about a model and rows, in one record.

`analyse` asks the diagnostics once; who tells the story only reads. `story` has the
sentences.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from trueaxis._validation import validate_rows
from trueaxis.diagnostics import (
    Contributions,
    Diagnosis,
    Effect,
    ScorePlane,
    TrustPath,
    column_names,
    contributions,
    diagnose,
    effect,
    row_labels,
    score_plane,
    trust_path,
)
from trueaxis.estimators.pipeline import split_pipeline
from trueaxis.estimators.scaler import ColumnScaler, UnevenSpread, uneven_columns

SAME = 2  # outliers at other places than in the fit, which rounding may explain


@dataclass(frozen=True)
class Analysis:
    """A fitted model, rows, and what the diagnostics say about them.

    Attributes
    ----------
    model : estimator
        The method, without the scaler before it.
    scaler : ColumnScaler or None
    raw : ndarray of shape (n, D)
        Rows as given.
    X : ndarray of shape (n, D)
        Rows as the method sees them.
    names : ndarray of shape (D,), str
        Of the columns.
    ids : ndarray of shape (n,), str
        Names of the rows: as given, from the index of a frame, or their numbers from 0.
    labels : ndarray of shape (n,), str, or None
        A column that is carried along.
    diagnosis : Diagnosis
    effect : Effect
        Against plain PCA of the same rows.
    of_the_fit : bool
        Whether these are the rows that the model was fitted on.
    """

    model: Any
    scaler: ColumnScaler | None
    raw: NDArray[Any]
    X: NDArray[Any]
    names: NDArray[np.str_]
    ids: NDArray[np.str_]
    labels: NDArray[np.str_] | None
    diagnosis: Diagnosis
    effect: Effect
    of_the_fit: bool

    @cached_property
    def flagged(self) -> NDArray[np.intp]:
        """Numbers of the rows that are outliers, worst first."""
        return self.diagnosis.worst_first()

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many rows there are of each kind."""
        kinds, counts = np.unique(self.diagnosis.kind, return_counts=True)
        return dict(zip(kinds.tolist(), counts.tolist(), strict=True))

    @cached_property
    def fitting(self) -> NDArray[np.float64]:
        """The value that would fit best in the blamed column of every row, raw unit."""
        unit = 1.0 if self.scaler is None else self.scaler.unit_[self.diagnosis.column]
        return self.value - self.diagnosis.surplus * unit

    @cached_property
    def value(self) -> NDArray[np.float64]:
        """The value in the blamed column of every row."""
        rows = np.arange(len(self.raw))
        return self.raw[rows, self.diagnosis.column].astype(float)

    @cached_property
    def most_shifted(self) -> NDArray[np.intp]:
        """Columns whose means move most, as the method sees them, first."""
        return np.argsort(-np.abs(self.effect.shift), kind="stable")

    @cached_property
    def plain_centre(self) -> NDArray[np.float64]:
        """Plain mean of every column, raw unit."""
        return self.centre + self.shift

    @cached_property
    def uneven(self) -> UnevenSpread | None:
        """Columns whose spreads differ so much that the smaller ones do not count."""
        return uneven_columns(self.X)

    @cached_property
    def centre(self) -> NDArray[np.float64]:
        """Robust mean of every column, raw unit."""
        mean = self.model.mean_.astype(float)
        return mean if self.scaler is None else self.scaler.inverse_transform([mean])[0]

    @cached_property
    def shift(self) -> NDArray[np.float64]:
        """Plain mean minus robust mean of every column, raw unit."""
        return self.effect.shift * (1.0 if self.scaler is None else self.scaler.unit_)

    @cached_property
    def score_plane(self) -> ScorePlane:
        """Scores on the first components, with the axes of plain PCA."""
        with names_are_known():
            return score_plane(self.model, self.X)

    @property
    def has_trust_path(self) -> bool:
        """Whether these are the rows of a DSWL fit, which can be repeated."""
        return self.of_the_fit and hasattr(self.model, "tau_")

    def trust_path(self) -> TrustPath:
        """Fit DSWL again with ever fewer trusted rows."""
        with names_are_known():
            return trust_path(self.model, self.X)

    def contributions(self, rows: NDArray[np.intp]) -> Contributions:
        """What every column adds to the squared distances of some of the rows."""
        if not len(rows):
            return Contributions(*np.zeros((2, 0, len(self.names))))
        with names_are_known():
            return contributions(self.model, self.X[rows])

    def shares(self, rows: NDArray[np.intp]) -> Contributions:
        """`contributions` as parts of their sum; 0 where there is no distance."""
        return Contributions(*map(_parts, self.contributions(rows)))


def analyse(
    model: Any,
    X: ArrayLike,
    *,
    ids: Any = None,
    labels: Any = None,
    of_the_fit: bool | None = None,
) -> Analysis:
    """Ask the diagnostics all that there is to tell.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or behind a `ColumnScaler`.
    X : array-like of shape (n, D)
        Rows as given to the model, those of the fit or new ones.
    ids : array-like of shape (n,), optional
        Names of the rows.
    labels : array-like of shape (n,), optional
        Something known about every row, to be shown beside it.
    of_the_fit : bool, optional
        Whether these are the rows of the fit, in their order. If not given, they are
        taken for them where there are as many and outliers stand at the same places.

    Returns
    -------
    Analysis

    Raises
    ------
    ValueError
        As `predict`, also where a frame has other columns than the fit, or another
        order of them.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.report.analysis import analyse
    >>> from trueaxis.datasets import sensors
    >>> X = sensors().X
    >>> found = analyse(DSWL(2).fit(X), X)
    >>> found.counts["off"], found.ids[found.flagged[0]].item()
    (6, '96')
    """
    scaler, method = parts = split_pipeline(model)
    # Names are checked by what meets the user's columns; from there on they are known.
    check_is_fitted(method, "components_")
    with names_are_known():
        raw = validate_rows(scaler or method, X, reset=False).read()
        rows = parts.scaled(raw)
        diagnosis = diagnose(method, rows)
        if of_the_fit is None:
            of_the_fit = _look_like_the_fit(method, diagnosis)
        return Analysis(
            model=method,
            scaler=scaler,
            raw=raw,
            X=rows,
            names=column_names(method),
            ids=_texts(row_labels(X, len(raw)) if ids is None else ids, len(raw)),
            labels=None if labels is None else _texts(labels, len(raw)),
            diagnosis=diagnosis,
            effect=effect(method, rows),
            of_the_fit=of_the_fit,
        )


def _look_like_the_fit(model: Any, diagnosis: Diagnosis) -> bool:
    if not hasattr(model, "support_") or len(model.support_) != len(diagnosis.kind):
        return False
    then, now = ~np.asarray(model.support_), diagnosis.flagged
    # Next to a cut-off, a fit may judge by rounding otherwise than afterwards.
    return bool((then ^ now).sum() <= max((then & now).sum(), SAME))


def _parts(x: NDArray[Any]) -> NDArray[np.float64]:
    total = x.sum(axis=1, keepdims=True)
    known = (total > 0) & np.isfinite(total)
    return np.divide(x, total, out=np.zeros_like(x, dtype=float), where=known)


def _texts(values: Any, n: int) -> NDArray[np.str_]:
    texts = np.array([str(value) for value in np.asarray(values).tolist()])
    if len(texts) != n:
        raise ValueError(f"There are {len(texts)} names or labels for {n} rows.")
    return texts


@contextmanager
def names_are_known() -> Iterator[None]:
    """Plain arrays are fine for a model that knows names: they were matched before."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield
