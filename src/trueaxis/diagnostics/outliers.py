"""MEASURE: which rows are bad, in what way, because of which columns, and so what.

Everything here follows from a fitted model, any of `METHODS`, and rows, those of the
fit or new ones. Plots, report and command line show these numbers and compute none.
Notation: y = x - m, t = P y, v = |t|^2, e = |y - P't|^2, s = sum t_j^2 / variance_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis._engine.outliers.judge import cutoff_ratio
from trueaxis._engine.reweighted import measure_rows
from trueaxis._validation import fitted_rows
from trueaxis.diagnostics.columns import ColumnCorrection

if TYPE_CHECKING:
    from trueaxis.estimators.base import SubspaceEstimator

# The paper's categories: within both cut-offs, beyond that inside the subspace, beyond
# that off it, beyond both.
KINDS = ("regular", "inside", "off", "both")


@dataclass(frozen=True)
class Diagnosis:
    """Rows as a model sees them.

    Attributes
    ----------
    score, orthogonal : ndarray of shape (n,)
        Distances.
    score_cutoff, orthogonal_cutoff : float
        Beyond which a row is an outlier.
    kind : ndarray of shape (n,), str
        One of `KINDS`.
    column : ndarray of shape (n,), int
        The column that, put right, would bring the row nearest to the regular ones.
    share : ndarray of shape (n,)
        Of the squared distances (in units of their cut-offs, added) that would be gone
        then, 0 to 1.
    surplus : ndarray of shape (n,)
        What the value in that column is above the one that would fit best.
    names : ndarray of str
        Of the columns.
    """

    score: NDArray[np.float64]
    orthogonal: NDArray[np.float64]
    score_cutoff: float
    orthogonal_cutoff: float
    kind: NDArray[np.str_]
    column: NDArray[np.intp]
    share: NDArray[np.float64]
    surplus: NDArray[np.float64]
    names: NDArray[np.str_]

    @property
    def score_ratio(self) -> NDArray[np.float64]:
        """Score distances in units of their cut-off."""
        return cutoff_ratio(self.score, self.score_cutoff)

    @property
    def orthogonal_ratio(self) -> NDArray[np.float64]:
        """Orthogonal distances in units of their cut-off."""
        return cutoff_ratio(self.orthogonal, self.orthogonal_cutoff)

    @property
    def excess(self) -> NDArray[np.float64]:
        """The larger of both distances over its cut-off: above 1 for outliers."""
        return np.maximum(self.score_ratio, self.orthogonal_ratio)

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """Rows that are outliers."""
        return self.kind != "regular"

    def worst_first(self, *, everything: bool = False) -> NDArray[np.intp]:
        """Numbers of the outliers, or of all rows, those of most excess first."""
        order = np.argsort(-self.excess, kind="stable")
        return order if everything else order[self.flagged[order]]


def diagnose(model: SubspaceEstimator, X: ArrayLike) -> Diagnosis:
    """Distances, kind and main reason of every row.

    Parameters
    ----------
    model : estimator
        Any fitted method.
    X : array-like of shape (n, D)
        Rows, those of the fit or new ones.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.diagnostics import diagnose
    >>> table = sensors()
    >>> found = diagnose(DSWL(2).fit(table.X), table.X)
    >>> str(found.kind[25]), str(found.kind[62])  # over-run, a loose sensor
    ('inside', 'off')
    >>> table.columns[found.column[62]]
    'vibration'
    """
    with fitted_rows(model, X) as rows:
        view, blame = measure_rows(rows, model._subspace()), ColumnCorrection(model)
        found = [blame(block) for _, block in rows.blocks()]
    score, orthogonal = np.sqrt(view.s), np.sqrt(view.e)
    column, share, surplus = (np.concatenate(part) for part in zip(*found, strict=True))
    inside, off = model.cutoffs_
    return Diagnosis(
        score=score,
        orthogonal=orthogonal,
        score_cutoff=inside,
        orthogonal_cutoff=off,
        kind=kinds(score > inside, orthogonal > off),
        column=column,
        share=share,
        surplus=surplus,
        names=column_names(model),
    )


def kinds(inside: NDArray[np.bool_], off: NDArray[np.bool_]) -> NDArray[np.str_]:
    """Names of the paper's categories, from what lies beyond its cut-off."""
    return np.array(KINDS)[inside + 2 * off.astype(int)]


class Reasons(NamedTuple):
    """Logarithms of DSWL's three weights, up to a constant each; below 0.

    inside : -v / (n tau_a), distance inside the subspace
    off : -e / (n tau_b), distance off it
    centre : -d / (n tau_c), distance from the centre
    """

    inside: NDArray[np.float64]
    off: NDArray[np.float64]
    centre: NDArray[np.float64]


def reasons(model: Any, X: ArrayLike) -> Reasons:
    """Which of DSWL's three views condemns a row: the lowest of three log-weights.

    Parameters
    ----------
    model : DSWL
        Fitted.
    X : array-like of shape (n, D)

    Returns
    -------
    Reasons
        Seen from `mean_` and `components_`.
    """
    if not hasattr(model, "tau_"):
        raise TypeError(
            f"{type(model).__name__} has no temperatures: only DSWL learns three "
            "weights for every row. Use diagnose, which serves all methods."
        )
    with fitted_rows(model, X) as rows:
        view = measure_rows(rows, model._subspace())
    a, b, c = (model.n_samples_ * tau for tau in model.tau_)
    return Reasons(-view.v / a, -view.e / b, -view.d / c)


def outlier_table(model: SubspaceEstimator, X: Any, *, everything: bool = False) -> Any:
    """Rows that are outliers, worst first, with kind and reason.

    Parameters
    ----------
    model : estimator
        Any fitted method.
    X : array-like of shape (n, D)
    everything : bool, default=False
        Regular rows as well.

    Returns
    -------
    pandas.DataFrame, or ndarray with named fields where pandas is not installed
        "row" (its number, or its label in the index of a frame), "kind", "excess" (the
        larger distance over its cut-off), "score", "orthogonal" (distances), "column"
        (the one to put right) and "share" (by how much that would help, 0 to 1); for
        DSWL also the logarithms of its three weights, "inside", "off" and "centre".
    """
    found = diagnose(model, X)
    order = found.worst_first(everything=everything)
    fields: dict[str, Any] = {
        "row": row_labels(X, len(found.kind))[order],
        "kind": found.kind[order],
        "excess": found.excess[order],
        "score": found.score[order],
        "orthogonal": found.orthogonal[order],
        "column": found.names[found.column[order]],
        "share": found.share[order],
    }
    if hasattr(model, "tau_"):
        fields |= {name: x[order] for name, x in reasons(model, X)._asdict().items()}
    try:
        import pandas as pd
    except ImportError:
        types = [(name, values.dtype) for name, values in fields.items()]
        return np.rec.fromarrays([*fields.values()], dtype=types)
    return pd.DataFrame(fields)


def column_names(model: SubspaceEstimator) -> NDArray[np.str_]:
    """Names of the columns that a model was fitted on, or their numbers."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"x{i}" for i in range(model.n_features_in_)]
    return np.array([str(name) for name in names])


def row_labels(X: Any, n: int) -> NDArray[Any]:
    """Labels of n rows: those in the index of a frame, or their numbers."""
    index = getattr(X, "index", None)
    # A list has an `index` too, which is a method.
    return np.arange(n) if index is None or callable(index) else np.asarray(index)
