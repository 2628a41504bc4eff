"""JUDGE: verdicts on all rows, from a subspace that any method found.

Cut-offs come from the rows of a sample, seen without their own leverage; rows beyond
them are outliers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.hull import Hull
from trueaxis._engine.outliers.cutoffs import Cloud, flag_cuts
from trueaxis._engine.outliers.trim import Cuts, without_leverage
from trueaxis._engine.reweighted import measure_rows
from trueaxis._engine.rules.base import RowDistances
from trueaxis._engine.subspace import Subspace
from trueaxis._rows.base import Rows


@dataclass(frozen=True)
class Verdicts:
    """The answer, in the coordinates of the hull.

    Attributes
    ----------
    subspace : Subspace
    cuts : Cuts
        Squared distances beyond which a row is an outlier.
    support : ndarray of bool
        The regular rows; of very many, wherever they are.
    n_regular : float
        Their number, repetitions counted.
    """

    subspace: Subspace
    cuts: Cuts
    support: Any
    n_regular: float


@dataclass(frozen=True)
class Judge:
    """All rows, and those of them that cut-offs come from.

    Attributes
    ----------
    hull : Hull
        All rows, in the coordinates of the fit.
    counts : ndarray or None
        How often each row counts; those that do not are no regular rows.
    index : ndarray
        Numbers of the rows that cut-offs come from.
    table : ndarray
        These rows with the columns as given.
    """

    hull: Hull
    counts: NDArray[np.float64] | None
    index: NDArray[np.intp]
    table: NDArray[Any]

    def judged(
        self, subspace: Subspace, fit_weight: NDArray[Any] | None = None
    ) -> Verdicts:
        """Verdicts on all rows, given the weight that each copy had in the fit.

        Without, each is taken to have had the same. Weights of robust losses do not
        tell the leverage: a row on the subspace may have nearly all weight, as a median
        is one of the values, and yet little influence.
        """
        view = measure_rows(self.hull.rows, subspace, self.counts)
        if fit_weight is None:
            fit_weight = _alike(view, len(subspace.basis))
        if self.counts is not None:
            fit_weight = np.where(self.counts > 0, fit_weight, 0.0)
        view = without_leverage(view._replace(fit_weight=fit_weight))
        cuts = self.cuts(RowDistances(*(d2[self.index] for d2 in view[:3])), subspace)
        support = (view.e <= cuts.e) & (view.s <= cuts.s)
        if self.counts is not None:
            support &= self.counts > 0
        copies = support if self.counts is None else self.counts[support]
        return Verdicts(subspace, cuts, support, float(copies.sum()))

    def cuts(self, seen: RowDistances, subspace: Subspace) -> Cuts:
        """Cut-offs, from how the rows of the table are seen."""
        return flag_cuts(Cloud(seen, self.table, self.hull.lift(subspace)))


def _alike(view: RowDistances, k: int) -> NDArray[np.float64]:
    """Weights such that the leverages of all rows sum to k + 1, as they should.

    Were the variances those of all rows, they would be 1/n; those of a robust fit are
    smaller, and the score distances s larger.
    """
    copies = view.total(np.ones_like(view.s))
    finite = np.where(np.isfinite(view.s), view.s, 0.0)
    top = max(1.0, finite.max(initial=0.0))  # of axes without variance s may be huge
    larger = max(1.0, view.mean(finite / top) / max(k, 1) * top)
    return (1.0 + finite / larger) / (1.0 + finite) / copies


def seen_without_leverage(
    rows: Rows, subspace: Subspace, fit_weight: NDArray[Any]
) -> RowDistances:
    """Distances of rows as if each had not had its weight in the fit."""
    return without_leverage(
        measure_rows(rows, subspace)._replace(fit_weight=fit_weight)
    )


def cutoff_ratio(distance: NDArray[Any], cutoff: float) -> NDArray[np.float64]:
    """Distance in units of its cut-off; a cut-off of 0 leaves no room at all."""
    if cutoff > 0:
        return distance / cutoff
    return np.where(distance > 0, np.inf, 0.0)
