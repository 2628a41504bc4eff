"""Find outliers: which rows they are, of what kind, and because of which column.

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
from trueaxis.core.verdicts import PValueKernel, cutoff_ratio
from trueaxis.data.threads import cached_property, own_floats
from trueaxis.diagnostics.cells import list_cells
from trueaxis.diagnostics.columns import ColumnCorrectionKernel, explained_rows
from trueaxis.diagnostics.inputs import (
    cell_repair,
    check_positions,
    column_names,
    pipeline_parts,
    row_labels,
    takes_pipelines,
    to_frame,
)
from trueaxis.overview import Summary, facts_of, overview
from trueaxis.pipeline import SplitPipeline
from trueaxis.wording import counted, share_of

if TYPE_CHECKING:
    from trueaxis.base import SubspaceEstimator
    from trueaxis.core.law import Law

# The paper's categories: within both cut-offs, beyond the one for score distances,
# beyond the one for orthogonal distances, beyond both. Then, within both, rows of a
# group that stands apart.
KINDS = ("regular", "inside", "off", "both", "group")
LN_10 = float(np.log(10.0))
NOTHING = 1e-150  # cut-offs below this stand for regular rows without any distance


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
    value : ndarray of shape (n,)
        Value in that column, NaN for a hole.
    surplus : ndarray of shape (n,)
        This value minus the value that would fit best.
    names : ndarray of str
        Names of the columns.
    squares : ndarray of shape (3, n)
        Squared orthogonal and score distances, and how far towards a group apart: what
        `log_p` is computed from.
    law : Law
        What regular rows look like, which gives the p-values.
    """

    score: NDArray[np.float64]
    orthogonal: NDArray[np.float64]
    score_cutoff: float
    orthogonal_cutoff: float
    group_ratio: NDArray[np.float64]
    kind: NDArray[np.str_]
    column: NDArray[np.intp]
    share: NDArray[np.float64]
    value: NDArray[np.float64]
    surplus: NDArray[np.float64]
    names: NDArray[np.str_]
    squares: NDArray[np.float64]
    law: Law

    # Not before it is asked for: it takes longer than all other numbers together.
    @cached_property
    @own_floats
    def log_p(self) -> NDArray[np.float64]:
        """Natural logarithms of the p-values, which themselves may underflow."""
        return self.law.log_p(*self.squares)

    @property
    def score_ratio(self) -> NDArray[np.float64]:
        """Score distances in units of their cut-off."""
        return _ratio(self.score, self.score_cutoff)

    @property
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

    @property
    @own_floats
    def p_value(self) -> NDArray[np.float64]:
        """Share of regular rows that lie at least as far away, see `p_values`."""
        return np.exp(self.log_p)

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """Whether each row is an outlier."""
        return np.not_equal(self.kind, "regular")

    @own_floats
    def worst_first(self, *, everything: bool = False) -> NDArray[np.intp]:
        """Return the positions of outliers, or of all rows, smallest p-value first."""
        some = np.arange(len(self.kind)) if everything else np.flatnonzero(self.flagged)
        log_p = self.law.log_p(*self.squares[:, some])
        return some[np.lexsort((-self.excess[some], log_p))]

    def counts(self) -> dict[str, int]:
        """Count the rows of each kind that occurs, in the order of `KINDS`."""
        found = {kind: int((self.kind == kind).sum()) for kind in KINDS}
        return {kind: count for kind, count in found.items() if count}

    def __repr__(self) -> str:
        return f"Diagnosis({len(self.kind):,} rows, {self.flagged.sum():,} outliers)"


def _in_units_of_data(diagnosis: Diagnosis, parts: SplitPipeline) -> Diagnosis:
    column = diagnosis.column
    return replace(
        diagnosis,
        value=parts.restored(diagnosis.value, column),
        surplus=parts.unscaled(diagnosis.surplus, column),
    )


@takes_pipelines(_in_units_of_data)
def diagnose(
    model: SubspaceEstimator, X: ArrayLike, *, fdr: float | None = None
) -> Diagnosis:
    """Compute distances, p-value, kind and main reason of every row.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or at the end of a pipeline. After a `ColumnScaler`,
        `value` and `surplus` are in the units of the data; distances are those of the
        method.
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
    law, line = model._law(), model.offset_ * LN_10
    with fitted_rows(model, X) as rows:
        squares, _ = rows.scan(DiagnosisKernel(model._subspace(), law))
        repair = cell_repair(rows)
        # The kernel repairs rows itself, to see which cells there are.
        source = rows if repair is None else rows.rows  # type: ignore[attr-defined]
        corrections, _ = source.scan(ColumnCorrectionKernel(model, repair))
    (e, s, beyond), (column, share, value, surplus) = squares, corrections
    if fdr is not None:
        line = discovery_line(law.log_p(e, s, beyond), fdr)
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
        column=column.astype(np.intp),
        share=share,
        value=value,
        surplus=surplus,
        names=column_names(model),
        squares=squares,
        law=law,
    )


def discovery_line(log_p: NDArray[Any], fdr: float) -> float:
    """Return the logarithm of the p-value up to which rows are discoveries.

    Benjamini and Hochberg (1995): of m p-values, sorted, the r smallest are discoveries
    for the largest r with p_(r) <= fdr r / m. If the regular rows are independent, at
    most a share `fdr` of the discoveries is expected to be regular. Where there is no
    discovery, the line is fdr / m, which no p-value reaches.
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


class DiagnosisKernel(PValueKernel):
    """Record squared distances, and the place towards groups apart."""

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
        there), "fitted" (what would fit) and "position" (of the row, from 0). The
        index has the labels of the rows: that of X, if X is a frame, so that
        ``X.loc[table.index]`` are the same rows, as are ``X.iloc[table.position]``.

    See Also
    --------
    explain : value and fit of every column of these rows.
    """
    diagnosis = diagnose(model, X, fdr=fdr)
    order = diagnosis.worst_first(everything=everything)
    fields: dict[str, Any] = {
        "row": row_labels(X, len(diagnosis.kind))[order],
        "kind": diagnosis.kind[order],
        "p_value": diagnosis.p_value[order],
        "excess": diagnosis.excess[order],
        "score": diagnosis.score[order],
        "orthogonal": diagnosis.orthogonal[order],
        "column": diagnosis.names[diagnosis.column[order]],
        "share": diagnosis.share[order],
        "value": diagnosis.value[order],
        "fitted": (diagnosis.value - diagnosis.surplus)[order],
        "position": order,
    }
    return to_frame(fields, X)


@own_floats
def explain(model: Any, X: ArrayLike, rows: ArrayLike | None = None) -> Any:
    """List every column of outliers, with its value and what would fit.

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
        frame), "column", "value" (NaN for a hole), "fitted", "deviation" (value minus
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
    m, D = explained.value.shape
    return to_frame(
        {
            "row": np.repeat(row_labels(X, n)[chosen], D),
            "column": np.tile(names, m),
            "value": explained.value.ravel(),
            "fitted": explained.fitted.ravel(),
            "deviation": explained.deviation.ravel(),
            "share": explained.share.ravel(),
            "position": np.repeat(chosen, D),
        }
    )


@takes_pipelines()
def _n_rows(model: SubspaceEstimator, X: ArrayLike) -> int:
    with raw_rows(model, X) as rows:
        return int(rows.shape[0])


@own_floats
def summary(model: Any, X: ArrayLike | None = None) -> Summary:
    """Summarize a fitted model in a few lines of text.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or at the end of a pipeline.
    X : array-like of shape (n, D), optional
        Rows, those of the fit or new ones: if given, the outliers among them are
        counted by kind, and their wrong and missing cells.

    Returns
    -------
    str
        Sizes, components with their variances and the columns with the largest
        `loadings_`, outliers among the rows of the fit, level, cut-offs, and whether
        the fit converged. It is shown as it is, without `print`.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.diagnostics import summary
    >>> text = summary(DSWL(2).fit(sensors().X))
    >>> text.splitlines()[0]
    'DSWL: 200 rows, 6 columns, 2 components'
    """
    parts = pipeline_parts(model)
    facts = facts_of(parts.model)
    before = [type(step).__name__ for _, step in getattr(model, "steps", [])[:-1]]
    if before:
        facts["columns"] = f"as {' and '.join(before)} gave them to the fit"
    if X is not None:
        facts |= _about_rows(model, X)
    return overview(parts.model, column_names(model), facts)


@takes_pipelines()
def _about_rows(model: SubspaceEstimator, X: ArrayLike) -> dict[str, str]:
    diagnosis = diagnose(model, X)
    counts = diagnosis.counts()
    regular = counts.pop("regular", 0)
    total = sum(counts.values())
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    outliers = f"{share_of(total, total + regular)}{': ' if kinds else ''}{kinds}"
    return {"outliers": outliers} | _about_cells(model, X)


def _about_cells(model: SubspaceEstimator, X: ArrayLike) -> dict[str, str]:
    repair = model._repair()
    if repair is None:
        return {}
    with raw_rows(model, X) as rows:
        if rows.complete and repair.wrong is None:
            return {}
    listed = list_cells(model, X, True)
    missing = int(np.isnan(listed["value"]).sum())
    wrong = len(listed["value"]) - missing
    if repair.wrong is None:
        return {"cells": f"{missing:,} missing"} if missing else {}
    rows_with = len(np.unique(listed["position"]))
    where = f" in {counted(rows_with, 'row')}" if rows_with else ""
    return {"cells": f"{wrong:,} wrong and {missing:,} missing{where}"}
