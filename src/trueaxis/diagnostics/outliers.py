"""Find outliers: which rows they are, of what kind, and because of which column.

All functions take a fitted model, any of `METHODS`, and rows, those of the fit or new
ones. Plots, report and command line show these numbers and compute none of their own.
Notation: y = x - m, t = P y, v = |t|^2, e = |y - P't|^2, s = sum t_j^2 / variance_j.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis._validation import fitted_rows, raw_rows
from trueaxis.core.law import Law, Sides
from trueaxis.core.reweighting import measure_rows
from trueaxis.core.verdicts import cutoff_ratio
from trueaxis.data.rows import RecordKernel
from trueaxis.data.threads import own_floats
from trueaxis.diagnostics.columns import column_corrections
from trueaxis.diagnostics.discoveries import discovery_line
from trueaxis.diagnostics.pipelines import PipelineParts, method_of, takes_pipelines
from trueaxis.diagnostics.tables import column_names, frame_of_rows, row_labels

if TYPE_CHECKING:
    from trueaxis.base import SubspaceEstimator

# The paper's categories: within both cut-offs, beyond the one for score distances,
# beyond the one for orthogonal distances, beyond both. Then, within both, rows of a
# group that stands apart.
KINDS = ("regular", "inside", "off", "both", "group")
LN_10 = float(np.log(10.0))
BLOCK_ROWS = 1 << 14
NOTHING = 1e-150  # cut-offs below this stand for regular rows without any distance


class JudgedDistances(NamedTuple):
    """Squared distances of rows, and the law that gives their p-values.

    e, s : squared orthogonal distance, and squared score distance
    beyond : how far the row lies towards a group that stands apart
    law : the law of regular rows
    """

    e: NDArray[np.float64]
    s: NDArray[np.float64]
    beyond: NDArray[np.float64]
    law: Law

    def log_p(self) -> NDArray[np.float64]:
        """Return the logarithms of the p-values."""
        return self.law.log_p(self.e, self.s, self.beyond)

    def part(self, rows: NDArray[np.intp]) -> JudgedDistances:
        """Return the distances of some rows."""
        return JudgedDistances(self.e[rows], self.s[rows], self.beyond[rows], self.law)


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """Distances, p-value, kind and main reason of every row.

    Attributes
    ----------
    score, orthogonal : ndarray of shape (n,)
        Distances inside the subspace and off it.
    score_cutoff, orthogonal_cutoff : float
        Rows with a distance beyond its cut-off are outliers.
    group_ratio : ndarray of shape (n,)
        How far the row lies towards a group that stands apart: rows above 1 belong to
        it, and are outliers. 0 if there is no such group.
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
    judged : JudgedDistances
        What p-values follow from, when they are asked for.
    """

    score: NDArray[np.float64]
    orthogonal: NDArray[np.float64]
    score_cutoff: float
    orthogonal_cutoff: float
    group_ratio: NDArray[np.float64]
    kind: NDArray[np.str_]
    column: NDArray[np.intp]
    share: NDArray[np.float64]
    surplus: NDArray[np.float64]
    names: NDArray[np.str_]
    judged: JudgedDistances

    @property
    @own_floats
    def score_ratio(self) -> NDArray[np.float64]:
        """Score distances in units of their cut-off."""
        return _ratio(self.score, self.score_cutoff)

    @property
    @own_floats
    def orthogonal_ratio(self) -> NDArray[np.float64]:
        """Orthogonal distances in units of their cut-off."""
        return _ratio(self.orthogonal, self.orthogonal_cutoff)

    @property
    def excess(self) -> NDArray[np.float64]:
        """Larger of the two distances in units of its cut-off; above 1 for outliers.

        In a group that stands apart, `group_ratio` if that is larger.
        """
        larger = np.maximum(self.score_ratio, self.orthogonal_ratio)
        return np.maximum(larger, self.group_ratio)

    @cached_property
    @own_floats
    def log_p(self) -> NDArray[np.float64]:
        """Natural logarithms of the p-values, which themselves may underflow."""
        return self.judged.log_p()

    @own_floats
    def log_p_of(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return `log_p` of some rows; for all rows it may take long."""
        known = vars(self).get("log_p")
        return self.judged.part(rows).log_p() if known is None else known[rows]

    @property
    @own_floats
    def p_value(self) -> NDArray[np.float64]:
        """Share of regular rows that lie at least as far away, see `p_values`."""
        return np.exp(self.log_p)

    @cached_property
    def flagged(self) -> NDArray[np.bool_]:
        """Whether each row is an outlier."""
        return np.not_equal(self.kind, "regular")

    def worst_first(self, *, everything: bool = False) -> NDArray[np.intp]:
        """Return the positions of outliers, or of all rows, smallest p-value first."""
        some = np.arange(len(self.kind)) if everything else np.flatnonzero(self.flagged)
        return some[np.lexsort((-self.excess[some], self.log_p_of(some)))]

    def counts(self) -> dict[str, int]:
        """Count the rows of each kind that occurs, in the order of `KINDS`."""
        found = {kind: int((self.kind == kind).sum()) for kind in KINDS}
        return {kind: count for kind, count in found.items() if count}

    def __repr__(self) -> str:
        return f"Diagnosis({len(self.kind):,} rows, {self.flagged.sum():,} outliers)"


def _in_units_of_data(diagnosis: Diagnosis, parts: PipelineParts) -> Diagnosis:
    surplus = parts.unscaled(diagnosis.surplus, diagnosis.column)
    return replace(diagnosis, surplus=surplus)


@takes_pipelines(_in_units_of_data)
def diagnose(
    model: SubspaceEstimator, X: ArrayLike, *, fdr: float | None = None
) -> Diagnosis:
    """Compute distances, p-value, kind and main reason of every row.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or at the end of a pipeline. After a `ColumnScaler`,
        `surplus` is in the units of the data; distances are those of the method.
    X : array-like of shape (n, D)
        Rows, those of the fit or new ones.
    fdr : float in (0, 1), optional
        Expected share of regular rows among the outliers. If given, the outliers are
        those that Benjamini and Hochberg's procedure finds, and kinds and cut-offs
        belong to its line; otherwise they are those of `predict`.

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
        law = model._law()
        _, e, s = measure_rows(rows, model._subspace())[:3]
        beyond = np.zeros(len(s))
        if law.sides is not None:
            (beyond,), _ = rows.scan(BeyondKernel(law.sides))
        corrections = column_corrections(model, rows)
    judged = JudgedDistances(e, s, beyond, law)
    line = model.offset_ * LN_10
    if fdr is not None:
        line = discovery_line(judged.log_p(), fdr)
    # Compare what `predict` compares: a root may be rounded to the other side.
    cuts = law.cuts(line)
    kind = kinds(s > cuts.s, e > cuts.e, beyond > cuts.beyond)
    inside, off = model.cutoffs_ if fdr is None else np.sqrt([cuts.s, cuts.e]).tolist()
    return Diagnosis(
        score=np.sqrt(s),
        orthogonal=np.sqrt(e),
        score_cutoff=inside,
        orthogonal_cutoff=off,
        group_ratio=cutoff_ratio(beyond, cuts.beyond),
        kind=kind,
        column=corrections.column,
        share=corrections.share,
        surplus=corrections.surplus,
        names=column_names(model),
        judged=judged,
    )


def _ratio(distance: NDArray[Any], cutoff: float) -> NDArray[np.float64]:
    """Return distances in units of their cut-off; infinity beyond one of nearly 0."""
    if cutoff < NOTHING:
        return np.where(distance > cutoff, np.inf, 0.0)
    return cutoff_ratio(distance, cutoff)


def kinds(
    inside: NDArray[np.bool_], off: NDArray[np.bool_], apart: NDArray[np.bool_]
) -> NDArray[np.str_]:
    """Return the kind of each row, given which distances are beyond their cut-offs.

    `apart` marks rows of groups that stand apart.
    """
    index = inside + 2 * off.astype(int)
    kind: NDArray[np.str_] = np.array(KINDS)[np.where((index == 0) & apart, 4, index)]
    return kind


class BeyondKernel(RecordKernel):
    """Record how far every row lies towards a group that stands apart."""

    n_fields = 1
    title = "groups apart"

    def __init__(self, sides: Sides) -> None:
        self.sides = sides

    def absorb(
        self, state: None, block: NDArray[Any], first: int
    ) -> NDArray[np.float64]:
        """Measure the rows of a block."""
        return self.sides.beyond(block)[None]


class Reasons(NamedTuple):
    """Logarithms of DSWL's three weights, each up to a constant; at most 0.

    inside : -v / (n tau_a), for the distance inside the subspace
    off : -e / (n tau_b), for the distance off it
    center : -d / (n tau_c), for the distance from the center
    """

    inside: NDArray[np.float64]
    off: NDArray[np.float64]
    center: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"Reasons({len(self.inside):,} rows)"


@takes_pipelines()
def reasons(model: Any, X: ArrayLike) -> Reasons:
    """Compute the logarithms of DSWL's three weights.

    The lowest of the three is the reason why a row was downweighted.

    Parameters
    ----------
    model : DSWL or Pipeline
        Fitted, alone or at the end of a pipeline.
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


def _values_in_units_of_data(
    found: tuple[NDArray[np.float64], NDArray[np.intp]], parts: PipelineParts
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    value, column = found
    return parts.restored(value, column), column


@takes_pipelines(_values_in_units_of_data)
def _values_at(
    model: SubspaceEstimator,
    X: ArrayLike,
    rows: NDArray[np.intp],
    column: NDArray[np.intp],
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the value of one column in each of some rows, and the columns."""
    value = np.empty(len(rows))
    with raw_rows(model, X) as source:
        for start in range(0, len(rows), BLOCK_ROWS):  # all columns of few rows
            part = slice(start, start + BLOCK_ROWS)
            block = source.take(rows[part])
            value[part] = block[np.arange(len(block)), column[part]]
    return value, column


@own_floats
def outlier_table(
    model: Any,
    X: Any,
    *,
    everything: bool = False,
    fdr: float | None = None,
) -> Any:
    """Tabulate the outliers, worst first, with kind and reason.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or at the end of a pipeline.
    X : array-like of shape (n, D)
    everything : bool, default=False
        Whether to include regular rows.
    fdr : float in (0, 1), optional
        Expected share of regular rows among the outliers: list those that Benjamini
        and Hochberg's procedure finds, instead of those of `predict`.

    Returns
    -------
    pandas.DataFrame, or ndarray with named fields where pandas is not installed
        "row" (its number, or its label in the index of a frame), "kind", "p_value"
        (share of regular rows that lie at least as far away), "excess" (the larger
        distance over its cut-off), "score", "orthogonal" (distances), "column" (the one
        to correct), "share" (by how much that would help, 0 to 1), "value" (what is
        there), "fitted" (what would fit) and "position" (of the row, from 0); for DSWL
        also the logarithms of its three weights, "inside", "off" and "center". The
        index has the labels of the rows: that of X, if X is a frame, so that
        ``X.loc[table.index]`` are the same rows, as are ``X.iloc[table.position]``.

    See Also
    --------
    explain : value and fit of every column of these rows.
    """
    diagnosis = diagnose(model, X, fdr=fdr)
    order = diagnosis.worst_first(everything=everything)
    value = _values_at(model, X, order, diagnosis.column[order])[0]
    fields: dict[str, Any] = {
        "row": row_labels(X, len(diagnosis.kind))[order],
        "kind": diagnosis.kind[order],
        "p_value": np.exp(diagnosis.log_p_of(order)),
        "excess": diagnosis.excess[order],
        "score": diagnosis.score[order],
        "orthogonal": diagnosis.orthogonal[order],
        "column": diagnosis.names[diagnosis.column[order]],
        "share": diagnosis.share[order],
        "value": value,
        "fitted": value - diagnosis.surplus[order],
        "position": order,
    }
    if hasattr(method_of(model), "tau_"):
        fields |= {name: x[order] for name, x in reasons(model, X)._asdict().items()}
    return frame_of_rows(fields, X)
