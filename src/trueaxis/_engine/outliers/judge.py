"""Judge all rows by the subspace of any method.

Cut-offs come from the rows of a sample, each measured without its own leverage; rows
beyond them are outliers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.outliers.cutoffs import Cloud, flag_cuts
from trueaxis._engine.outliers.trim import Cuts, without_leverage
from trueaxis._engine.problem import AffineHull
from trueaxis._engine.reweighted import measure_rows
from trueaxis._engine.rules.base import RowDistances
from trueaxis._engine.subspace import Subspace
from trueaxis._rows.base import Rows


@dataclass(frozen=True)
class Verdicts:
    """The subspace of a fit, in the coordinates of the fit, and the regular rows.

    Attributes
    ----------
    subspace : Subspace
    cuts : Cuts
        Squared distances beyond which a row is an outlier.
    support : ndarray of bool
        The regular rows; a lazy array for Dask collections.
    n_regular : float
        Their number, repetitions included.
    """

    subspace: Subspace
    cuts: Cuts
    support: Any
    n_regular: float


@dataclass(frozen=True)
class Judge:
    """All rows, and the sample from which cut-offs are computed.

    Attributes
    ----------
    hull : AffineHull
        All rows, in the coordinates of the fit.
    counts : ndarray or None
        How often each row counts; rows that do not count are not regular.
    index : ndarray
        Indices of the rows of the sample.
    original : ndarray
        The rows of the sample, with the columns as given.
    """

    hull: AffineHull
    counts: NDArray[np.float64] | None
    index: NDArray[np.intp]
    original: NDArray[Any]

    @property
    def rows(self) -> Rows:
        """All rows, in the coordinates of the fit."""
        return self.hull.rows

    def judge(
        self, subspace: Subspace, fit_weight: NDArray[Any] | None = None
    ) -> Verdicts:
        """Judge all rows, given the weight that one copy of each had in the fit.

        Without `fit_weight`, all rows are assumed to have had equal weights. Those
        of robust losses do not measure leverage: a row on the subspace may carry nearly
        all the weight, as a median is one of the values, and still have little
        influence.
        """
        distances = measure_rows(self.rows, subspace, self.counts)
        if fit_weight is None:
            fit_weight = _equal_leverage(distances, len(subspace.basis))
        if self.counts is not None:
            fit_weight = np.where(self.counts > 0, fit_weight, 0.0)
        distances = without_leverage(distances._replace(fit_weight=fit_weight))
        sampled = RowDistances(*(d2[self.index] for d2 in distances[:3]))
        cuts = self.cutoffs(sampled, subspace)
        support = (distances.e <= cuts.e) & (distances.s <= cuts.s)
        if self.counts is not None:
            support &= self.counts > 0
        copies = support if self.counts is None else self.counts[support]
        return Verdicts(subspace, cuts, support, float(copies.sum()))

    def cutoffs(self, sampled: RowDistances, subspace: Subspace) -> Cuts:
        """Compute cut-offs from the distances of the sample."""
        return flag_cuts(Cloud(sampled, self.original, self.hull.lift(subspace)))


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
