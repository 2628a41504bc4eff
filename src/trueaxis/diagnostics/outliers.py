"""Find outliers: the rows, their kinds, and the column that explains each.

All functions take a fitted model, any of `METHODS`, and rows, those of the fit or new
ones. Plots, report and command line show these numbers and compute none of their own.
Notation: y = x - m, t = P y, v = |t|^2, e = |y - P't|^2, s = sum t_j^2 / variance_j.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis._validation import fitted_rows, raw_rows
from trueaxis.base import Distances
from trueaxis.core.verdicts import PValueKernel, cutoff_ratio
from trueaxis.data.threads import cached_property, ignore_float_errors
from trueaxis.diagnostics.columns import (
    ColumnCorrectionKernel,
    cell_repair,
    explained_rows,
)
from trueaxis.diagnostics.tables import check_positions, row_labels, to_frame
from trueaxis.pipeline import SplitPipeline, column_names, takes_pipelines

if TYPE_CHECKING:
    from trueaxis.base import SubspaceEstimator
    from trueaxis.core.law import Cuts, Law

# The paper's categories: within both cut-offs, beyond the one for score distances,
# beyond the one for orthogonal distances, beyond both. Then, within both, rows of a
# separate cluster.
KINDS = ("regular", "inside", "off", "both", "group")
LN_10 = float(np.log(10.0))
NO_DISTANCE = 1e-150  # cut-offs below this stand for regular rows without any distance


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """Distances, p-value, kind and main reason of every row.

    Attributes
    ----------
    squares : ndarray of shape (3, n)
        Squared orthogonal and score distances, and how far the row lies toward a
        separate cluster.
    law : Law
        Null distribution, which gives the p-values.
    line : float
        Natural logarithm of the p-value below which rows are outliers.
    column : ndarray of shape (n,), int
        Index of the column whose correction would bring the row nearest to the regular
        ones.
    share : ndarray of shape (n,)
        Part of the squared distances (in units of their cut-offs, added up) that this
        correction removes, 0 to 1.
    value, fitted : ndarray of shape (n,)
        Value in that column (NaN if missing), and the value that would fit best.
    names : ndarray of str
        Names of the columns.
    """

    squares: NDArray[np.float64]
    law: Law
    line: float
    column: NDArray[np.intp]
    share: NDArray[np.float64]
    value: NDArray[np.float64]
    fitted: NDArray[np.float64]
    names: NDArray[np.str_]

    def at(self, line: float) -> Diagnosis:
        """Return the same rows, judged by the logarithm of another p-value."""
        return replace(self, line=line)

    @cached_property
    def _cuts(self) -> Cuts:
        return self.law.cuts(self.line)

    @property
    def cutoffs(self) -> Distances:
        """Distances beyond which rows are outliers."""
        return Distances(*map(float, np.sqrt([self._cuts.s, self._cuts.e])))

    @property
    def lines(self) -> tuple[float, float, float]:
        """The `cutoffs`, and the edge of a separate cluster."""
        return (*self.cutoffs, self._cuts.beyond)

    @cached_property
    def score(self) -> NDArray[np.float64]:
        """Distances inside the subspace."""
        return np.asarray(np.sqrt(self.squares[1]))

    @cached_property
    def orthogonal(self) -> NDArray[np.float64]:
        """Orthogonal distances."""
        return np.asarray(np.sqrt(self.squares[0]))

    @cached_property
    def beyond(self) -> NDArray[np.bool_]:
        """Whether rows are beyond each cut-off, and in a separate cluster: (3, n)."""
        # Compare what `predict` compares: a root may be rounded to the other side.
        (e, s, cluster), cuts = self.squares, self._cuts
        return np.stack([s > cuts.s, e > cuts.e, cluster > cuts.beyond])

    @property
    def ratios(self) -> NDArray[np.float64]:
        """Both distances in units of their cut-offs, and how far toward a cluster.

        An array of shape (3, n), with values above 1 for outliers. The last row is 0 if
        there is no separate cluster.
        """
        inside, off = self.cutoffs
        cluster = cutoff_ratio(self.squares[2], self._cuts.beyond)
        return np.stack(
            [_ratio(self.score, inside), _ratio(self.orthogonal, off), cluster]
        )

    @property
    def excess(self) -> NDArray[np.float64]:
        """Largest of the `ratios`."""
        return np.asarray(self.ratios.max(axis=0))

    @cached_property
    def kind(self) -> NDArray[np.str_]:
        """One of `KINDS` for each row."""
        return kinds(*self.beyond)

    @property
    def level(self) -> float:
        """The p-value below which rows are outliers."""
        return float(f"{np.exp(self.line):.12g}")  # without the rounding of logarithms

    # Computed on demand: it takes longer than all other numbers together.
    @cached_property
    @ignore_float_errors
    def log_p(self) -> NDArray[np.float64]:
        """Natural logarithms of the p-values, which themselves may underflow."""
        return self.law.log_p(*self.squares)

    @property
    @ignore_float_errors
    def p_value(self) -> NDArray[np.float64]:
        """Share of regular rows that lie at least as far away, see `p_values`."""
        return np.exp(self.log_p)

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """Whether each row is an outlier."""
        return np.asarray(self.beyond.any(axis=0))

    @ignore_float_errors
    def worst_first(self, *, everything: bool = False) -> NDArray[np.intp]:
        """Return the positions of outliers, or of all rows, smallest p-value first."""
        some = np.arange(len(self.share))
        some = some if everything else np.flatnonzero(self.flagged)
        log_p = self.law.log_p(*self.squares[:, some])
        return some[np.lexsort((-self.excess[some], log_p))]

    def columns(self, rows: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
        """Return the findings on some rows as columns of a table."""
        return {
            "kind": self.kind[rows],
            "p_value": self.p_value[rows],
            "excess": self.excess[rows],
            "score": self.score[rows],
            "orthogonal": self.orthogonal[rows],
            "column": self.names[self.column[rows]],
            "share": self.share[rows],
            "value": self.value[rows],
            "fitted": self.fitted[rows],
        }

    def counts(self) -> dict[str, int]:
        """Count the rows of each kind that occurs, in the order of `KINDS`."""
        found = {kind: int((self.kind == kind).sum()) for kind in KINDS}
        return {kind: count for kind, count in found.items() if count}

    def __repr__(self) -> str:
        return f"Diagnosis({len(self.share):,} rows, {self.flagged.sum():,} outliers)"


def _in_units_of_data(diagnosis: Diagnosis, parts: SplitPipeline) -> Diagnosis:
    value, fitted = (
        parts.restored(x, diagnosis.column) for x in (diagnosis.value, diagnosis.fitted)
    )
    return replace(diagnosis, value=value, fitted=fitted)


@takes_pipelines(_in_units_of_data)
def diagnose(
    model: SubspaceEstimator, X: ArrayLike, *, fdr: float | None = None
) -> Diagnosis:
    """Compute distances, p-value, kind and main reason of every row.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or at the end of a pipeline. After a `ColumnScaler`,
        `value` and `fitted` are in the units of the data; distances are those of the
        method.
    X : array-like of shape (n, D)
        Rows, those of the fit or new ones.
    fdr : float in (0, 1), optional
        Expected share of regular rows among the outliers. If given, the outliers are
        those that Benjamini and Hochberg's procedure finds, and kinds and cut-offs
        belong to its threshold; otherwise they are those of `predict`.

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
    law, line = model._law(), model.offset_ * LN_10
    with fitted_rows(model, X) as rows:
        squares, _ = rows.scan(DiagnosisKernel(model._subspace(), law))
        repair = cell_repair(rows)
        # The kernel repairs rows itself, to see which cells there are.
        source = rows if repair is None else rows.rows  # type: ignore[attr-defined]
        corrections, _ = source.scan(ColumnCorrectionKernel(model, repair))
    column, share, value, surplus = corrections
    if fdr is not None:
        line = discovery_threshold(law.log_p(*squares), fdr)
    return Diagnosis(
        squares=squares,
        law=law,
        line=line,
        column=column.astype(np.intp),
        share=share,
        value=value,
        fitted=value - surplus,
        names=column_names(model),
    )


def discovery_threshold(log_p: NDArray[Any], fdr: float) -> float:
    """Return the logarithm of the p-value up to which rows are discoveries.

    Benjamini and Hochberg (1995): of m p-values, sorted, the r smallest are discoveries
    for the largest r with p_(r) <= fdr r / m. If the regular rows are independent, at
    most a share `fdr` of the discoveries is expected to be regular. Where there is no
    discovery, the threshold is fdr / m, which no p-value reaches.
    """
    number = isinstance(fdr, numbers.Real) and not isinstance(fdr, bool)
    if not (number and 0 < fdr < 1):
        raise ValueError(
            f"fdr={fdr!r} is not a false discovery rate: pass the share of regular "
            "rows that you accept among the outliers, a number between 0 and 1."
        )
    m = max(len(log_p), 1)
    lines = np.log(fdr * np.arange(1, m + 1) / m)
    found = np.flatnonzero(np.sort(log_p) <= lines[: len(log_p)])
    return float(lines[found[-1] if len(found) else 0])


def _ratio(distance: NDArray[Any], cutoff: float) -> NDArray[np.float64]:
    """Return distances in units of their cut-off; infinity beyond one of nearly 0."""
    if cutoff < NO_DISTANCE:
        return np.where(distance > cutoff, np.inf, 0.0)
    return cutoff_ratio(distance, cutoff)


def kinds(
    inside: NDArray[np.bool_], off: NDArray[np.bool_], in_cluster: NDArray[np.bool_]
) -> NDArray[np.str_]:
    """Return the kind of each row, given which distances are beyond their cut-offs.

    `in_cluster` marks rows of separate clusters.
    """
    index = inside + 2 * off.astype(int)
    index = np.where((index == 0) & in_cluster, KINDS.index("group"), index)
    kind: NDArray[np.str_] = np.array(KINDS)[index]
    return kind


class DiagnosisKernel(PValueKernel):
    """Record squared distances, and the position toward separate clusters."""

    n_fields = 3

    def absorb(
        self, state: Any, block: NDArray[Any], first: int
    ) -> NDArray[np.float64]:
        """Measure the rows of a block."""
        distances = self.measuring.absorb(state, block, first)
        assert distances is not None  # it records distances
        _, e, s = distances
        sides = self.law.sides
        beyond = np.zeros(len(s)) if sides is None else sides.beyond(block)
        return np.stack([e, s, beyond])


@ignore_float_errors
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
        to correct), "share" (by how much that would help, 0 to 1), "value" (that it
        has), "fitted" (that would fit) and "position" (of the row, from 0). The index
        has the labels of the rows: that of X, if X is a frame, so that
        ``X.loc[table.index]`` are the same rows, as are ``X.iloc[table.position]``.

    See Also
    --------
    explain : value and fit of every column of these rows.
    """
    diagnosis = diagnose(model, X, fdr=fdr)
    order = diagnosis.worst_first(everything=everything)
    labels = row_labels(X, len(diagnosis.share))[order]
    fields = {"row": labels, **diagnosis.columns(order), "position": order}
    return to_frame(fields, X)


@ignore_float_errors
def explain(model: Any, X: ArrayLike, rows: ArrayLike | None = None) -> Any:
    """List every column of outliers, with its value and the value that would fit.

    What fits is found for each column alone, as if all other columns of the row were
    right. If one column explains at least half of the distance of a row, the others are
    compared as if it had been corrected; otherwise one wrong value would make all
    others look wrong. If several columns are wrong, look at those with large shares.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or at the end of a pipeline. After a `ColumnScaler`,
        values are in the units of the data.
    X : array-like of shape (n, D)
        Rows, those of the fit or new ones.
    rows : sequence of int, optional
        Positions of the rows, from 0; by default those of all outliers, worst first.

    Returns
    -------
    pandas.DataFrame, or ndarray with named fields if pandas is not installed
        One line per row and column: "row" (its number, or its label in the index of a
        frame), "column", "value" (NaN if missing), "fitted", "deviation" (value minus
        fitted, in standard deviations of regular rows), "share" (the part of the
        squared distances, in units of their cut-offs, that "fitted" would remove), and
        "position" (of the row, from 0). Cells that the model has filled or replaced
        have the value that it uses as "fitted", and no share.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.diagnostics import explain
    >>> X = sensors().X
    >>> table = explain(DSWL(2).fit(X), X, rows=[62])  # x5, the vibration, is wrong
    >>> worst = table["share"].argmax()
    >>> str(table["column"][worst]), round(float(table["share"][worst]), 2)
    ('x5', 0.98)
    """
    n = _n_rows(model, X)
    if rows is None:
        chosen = diagnose(model, X).worst_first()
    else:
        chosen = check_positions(rows, n)
    explained, names = explained_rows(model, X, chosen), column_names(model)
    m, D = len(chosen), len(names)
    labels = np.repeat(row_labels(X, n)[chosen], D)
    fields = {name: each.ravel() for name, each in explained.items()}
    columns = {"row": labels, "column": np.tile(names, m), **fields}
    return to_frame(columns | {"position": np.repeat(chosen, D)})


@takes_pipelines()
def _n_rows(model: SubspaceEstimator, X: ArrayLike) -> int:
    with raw_rows(model, X) as rows:
        return int(rows.shape[0])
