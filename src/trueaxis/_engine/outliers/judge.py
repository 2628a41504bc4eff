"""Judge rows by the subspace of any method.

The law of regular rows is learned from a sample, each row measured without its own
leverage. A verdict then depends on nothing but the row, so that rows of the fit and new
rows are judged alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.outliers.core import without_leverage
from trueaxis._engine.outliers.discrete import varying_columns
from trueaxis._engine.outliers.law import Cloud, Law, Sides, law_of_fit, learn_law
from trueaxis._engine.problem import AffineHull
from trueaxis._engine.reweighted import measure_rows
from trueaxis._engine.rules.base import RowDistances
from trueaxis._engine.subspace import Subspace
from trueaxis.data.rows import Rows
from trueaxis.data.threads import cached_property


@dataclass(frozen=True)
class Verdicts:
    """The subspace of a fit and the law of regular rows, in the coordinates of the fit.

    Whoever has them can judge any row.

    Attributes
    ----------
    subspace : Subspace
    law : Law
    n_judging : int
        Number of components that rows are judged with; with more of them, outliers
        would become part of the span.
    """

    subspace: Subspace
    law: Law
    n_judging: int

    @property
    def judging(self) -> Subspace:
        """The subspace that rows are judged with."""
        return self.subspace.leading(self.n_judging)


@dataclass(frozen=True)
class Judge:
    """All rows, and the sample from which the law is learned.

    Attributes
    ----------
    hull : AffineHull
        All rows, in the coordinates of the fit.
    counts : ndarray or None
        How often each row counts.
    index : ndarray
        Indices of the rows of the sample.
    original : ndarray
        The rows of the sample, with the columns as given.
    sides : Sides or None
        Groups of rows that are not regular.
    leveled : bool
        Whether some of the columns are discrete.
    """

    hull: AffineHull
    counts: NDArray[np.float64] | None
    index: NDArray[np.intp]
    original: NDArray[Any]
    sides: Sides | None = None
    leveled: bool = False

    @property
    def rows(self) -> Rows:
        """All rows, in the coordinates of the fit."""
        return self.hull.rows

    def judge(self, subspace: Subspace) -> Verdicts:
        """Learn the law, assuming that all rows had equal weights in the fit.

        The weights of robust losses do not measure leverage: a row on the subspace may
        carry nearly all the weight, as a median is one of the values, and still have
        little influence.
        """
        distances = measure_rows(self.rows, subspace, self.counts)
        weight = _equal_leverage(distances, len(subspace.basis))
        distances = without_leverage(distances._replace(fit_weight=weight))
        sampled = RowDistances(*(d2[self.index] for d2 in distances[:3]))
        k = len(subspace.basis)
        return Verdicts(subspace, self.law(sampled, subspace), k)

    def law(self, sampled: RowDistances, subspace: Subspace) -> Law:
        """Learn the law from the distances of the sample."""
        return learn_law(self._cloud(sampled, subspace), self.sides)

    def law_of_fit(self, sampled: RowDistances, subspace: Subspace) -> Law:
        """Return the law by which rows take part in a fit."""
        return law_of_fit(self._cloud(sampled, subspace))

    def _cloud(self, sampled: RowDistances, subspace: Subspace) -> Cloud:
        precision = float(np.finfo(self.original.dtype).eps)
        lifted = self.hull.lift(subspace)
        return Cloud(sampled, precision, self._varying, lifted, self.leveled)

    @cached_property
    def _varying(self) -> NDArray[np.bool_]:
        return varying_columns(self.original)


def _equal_leverage(distances: RowDistances, k: int) -> NDArray[np.float64]:
    """Return weights for which the leverages of all rows sum to k + 1.

    With variances of all rows the weights would be 1/n; those of a robust fit are
    smaller, and the score distances s larger.
    """
    s = distances.s
    copies = distances.total(np.ones_like(s))
    finite = np.where(np.isfinite(s), s, 0.0)
    top = max(1.0, finite.max(initial=0.0))  # along axes without variance s may be huge
    larger = max(1.0, distances.mean(finite / top) / max(k, 1) * top)
    weights: NDArray[np.float64] = (1.0 + finite / larger) / (1.0 + finite) / copies
    return weights


def measure_without_leverage(
    rows: Rows, subspace: Subspace, fit_weight: NDArray[Any]
) -> RowDistances:
    """Measure rows as if none of them had taken part in the fit."""
    distances = measure_rows(rows, subspace)
    return without_leverage(distances._replace(fit_weight=fit_weight))


def cutoff_ratio(distance: NDArray[Any], cutoff: float) -> NDArray[np.float64]:
    """Return distances in units of their cut-off; infinity beyond a cut-off of 0."""
    if cutoff > 0:
        return np.asarray(distance / cutoff)
    return np.where(distance > 0, np.inf, 0.0)
