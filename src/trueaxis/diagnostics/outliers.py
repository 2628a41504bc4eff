"""Find outliers: which rows they are, of what kind, and because of which column.

All functions take a fitted model, any of `METHODS`, and rows, those of the fit or new
ones. Plots, report and command line show these numbers and compute none of their own.
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
from trueaxis.diagnostics.columns import column_corrections

if TYPE_CHECKING:
    from trueaxis.estimators.base import SubspaceEstimator

# The paper's categories: within both cut-offs, beyond the one for score distances,
# beyond the one for orthogonal distances, beyond both.
KINDS = ("regular", "inside", "off", "both")


@dataclass(frozen=True)
class Diagnosis:
    """Distances, kind and main reason of every row.

    Attributes
    ----------
    score, orthogonal : ndarray of shape (n,)
        Distances inside the subspace and off it.
    score_cutoff, orthogonal_cutoff : float
        Rows with a distance beyond its cut-off are outliers.
    kind : ndarray of shape (n,), str
        One of `KINDS`.
    column : ndarray of shape (n,), int
        Index of the column whose correction would bring the row nearest to the regular
        ones.
    share : ndarray of shape (n,)
        Part of the squared distances (in units of their cut-offs, added up) that this
        correction removes, 0 to 1.
    surplus : ndarray of shape (n,)
        Value in that column minus the value that would fit best.
    names : ndarray of str
        Names of the columns.
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
        """Larger of the two distances in units of its cut-off; above 1 for outliers."""
        return np.maximum(self.score_ratio, self.orthogonal_ratio)

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """Whether each row is an outlier."""
        return np.not_equal(self.kind, "regular")

    def worst_first(self, *, everything: bool = False) -> NDArray[np.intp]:
        """Return the indices of outliers, or of all rows, largest excess first."""
        order = np.argsort(-self.excess, kind="stable")
        return order if everything else order[self.flagged[order]]


def diagnose(model: SubspaceEstimator, X: ArrayLike) -> Diagnosis:
    """Compute distances, kind and main reason of every row.

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
    >>> diagnosis = diagnose(DSWL(2).fit(table.X), table.X)
    >>> str(diagnosis.kind[25]), str(diagnosis.kind[62])  # over-run, a loose sensor
    ('inside', 'off')
    >>> table.columns[diagnosis.column[62]]
    'vibration'
    """
    with fitted_rows(model, X) as rows:
        distances = measure_rows(rows, model._subspace())
        corrections = column_corrections(model, rows)
    score, orthogonal = np.sqrt(distances.s), np.sqrt(distances.e)
    inside, off = model.cutoffs_
    return Diagnosis(
        score=score,
        orthogonal=orthogonal,
        score_cutoff=inside,
        orthogonal_cutoff=off,
        kind=kinds(score > inside, orthogonal > off),
        column=corrections.column,
        share=corrections.share,
        surplus=corrections.surplus,
        names=column_names(model),
    )


def kinds(inside: NDArray[np.bool_], off: NDArray[np.bool_]) -> NDArray[np.str_]:
    """Return the kind of each row, given which distances are beyond their cut-offs."""
    kind: NDArray[np.str_] = np.array(KINDS)[inside + 2 * off.astype(int)]
    return kind


class Reasons(NamedTuple):
    """Logarithms of DSWL's three weights, each up to a constant; at most 0.

    inside : -v / (n tau_a), for the distance inside the subspace
    off : -e / (n tau_b), for the distance off it
    centre : -d / (n tau_c), for the distance from the center
    """

    inside: NDArray[np.float64]
    off: NDArray[np.float64]
    centre: NDArray[np.float64]


def reasons(model: Any, X: ArrayLike) -> Reasons:
    """Compute the logarithms of DSWL's three weights.

    The lowest of the three is the reason why a row was downweighted.

    Parameters
    ----------
    model : DSWL
        Fitted.
    X : array-like of shape (n, D)

    Returns
    -------
    Reasons
        With respect to `mean_` and `components_`.
    """
    if not hasattr(model, "tau_"):
        raise TypeError(
            f"{type(model).__name__} has no temperatures: only DSWL learns three "
            "weights for every row. Use diagnose, which works with all methods."
        )
    with fitted_rows(model, X) as rows:
        distances = measure_rows(rows, model._subspace())
    a, b, c = (model.n_samples_ * tau for tau in model.tau_)
    return Reasons(-distances.v / a, -distances.e / b, -distances.d / c)


def outlier_table(model: SubspaceEstimator, X: Any, *, everything: bool = False) -> Any:
    """Tabulate the outliers, worst first, with kind and reason.

    Parameters
    ----------
    model : estimator
        Any fitted method.
    X : array-like of shape (n, D)
    everything : bool, default=False
        Whether to include regular rows.

    Returns
    -------
    pandas.DataFrame, or ndarray with named fields where pandas is not installed
        "row" (its number, or its label in the index of a frame), "kind", "excess" (the
        larger distance over its cut-off), "score", "orthogonal" (distances), "column"
        (the one to correct) and "share" (by how much that would help, 0 to 1); for
        DSWL also the logarithms of its three weights, "inside", "off" and "centre".
    """
    diagnosis = diagnose(model, X)
    order = diagnosis.worst_first(everything=everything)
    fields: dict[str, Any] = {
        "row": row_labels(X, len(diagnosis.kind))[order],
        "kind": diagnosis.kind[order],
        "excess": diagnosis.excess[order],
        "score": diagnosis.score[order],
        "orthogonal": diagnosis.orthogonal[order],
        "column": diagnosis.names[diagnosis.column[order]],
        "share": diagnosis.share[order],
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
    """Return the column names that a model was fitted on, or x0, x1, ... instead."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"x{i}" for i in range(model.n_features_in_)]
    return np.array([str(name) for name in names])


def row_labels(X: Any, n: int) -> NDArray[Any]:
    """Return the labels of n rows: the index of a frame, or numbers from 0."""
    index = getattr(X, "index", None)
    # The `index` of a list is a method.
    return np.arange(n) if index is None or callable(index) else np.asarray(index)
