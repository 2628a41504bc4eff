"""Judge rows by the subspace of any method.

The core of the rows is found by concentration on the inner half, and then on the rows
within `CORE` deviations; axes that outliers bent would hide them. The null distribution
is learned from a sample, with each row measured without its own leverage. A verdict
then depends on nothing but the row, so that rows of the fit and new rows are judged
alike. Totals over all rows are added up during a pass, so that no vector as long as the
data has to be in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.core.kernels import (
    CountedKernel,
    DistanceKernel,
    MomentSums,
    RowWeights,
    replace_cancelled,
)
from trueaxis.core.law import (
    Cloud,
    Cuts,
    Law,
    Sides,
    distinct_rows,
    law_of_fit,
    learn_law,
)
from trueaxis.core.moments import quantile, varying_columns
from trueaxis.core.problem import AffineHull
from trueaxis.core.reweighting import measure_rows
from trueaxis.core.rules import RowDistances, Rule
from trueaxis.core.subspace import Subspace
from trueaxis.data.rows import Kernel, Rows
from trueaxis.data.threads import cached_property

NORMAL_75 = 0.6745  # upper quartile of a normal distribution
ROUNDING = 1e-24  # relative rounding error of a squared length
CORE = 1.5  # deviations from the median within which rows belong to the core


@dataclass(eq=False)
class HalfRule(Rule):
    """Equal weights of the rows that are nearest by the worse of both distances.

    Attributes
    ----------
    need : int
        Number of rows to keep.
    """

    need: int

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return 0 for rows that are kept, otherwise minus infinity."""
        return _equal(_nearest(deviations(without_leverage(distances)), self.need))


@dataclass(eq=False)
class CoreRule(Rule):
    """Equal weights of the rows within `CORE` deviations.

    Attributes
    ----------
    need : int
        Least number of rows to keep.
    """

    need: int

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return 0 for rows that are kept, otherwise minus infinity."""
        z = deviations(without_leverage(distances))
        core = z <= CORE
        return _equal(core if core.sum() >= self.need else _nearest(z, self.need))


def _equal(kept: NDArray[np.bool_]) -> RowWeights:
    return RowWeights(np.where(kept, 0.0, -np.inf))


def _nearest(z: NDArray[Any], need: int) -> NDArray[np.bool_]:
    kept = np.zeros(len(z), dtype=bool)
    kept[np.argsort(z, kind="stable")[:need]] = True
    return kept


def deviations(distances: RowDistances) -> NDArray[np.float64]:
    """Return how many deviations rows lie beyond the median, by the worse distance.

    Cube roots of squared distances are about normal. Their median and deviation come
    from the lower half of distinct rows, so that even 45 % of outliers do not move
    them.
    """
    distinct = distinct_rows(distances)
    d = distances.v + distances.e
    views = ((distances.e, distances.e), (distances.s, distances.v))
    e, s = (
        np.where((raw <= ROUNDING * d) & np.isfinite(raw), 0.0, d2) for d2, raw in views
    )
    return np.maximum(_deviations(e, distinct), _deviations(s, distinct))


def _deviations(d2: NDArray[Any], distinct: NDArray[np.bool_]) -> NDArray[np.float64]:
    z = np.cbrt(d2)
    some = z[distinct]
    q25, q50 = quantile(some, 0.25), quantile(some, 0.5)
    spread = (q50 - q25) / NORMAL_75
    with np.errstate(invalid="ignore"):
        above = z - q50
    if not spread > 1e-9 * q50:  # an exact fit, or ties: the median itself is the edge
        return np.where(above > 1e-9 * q50, np.inf, 0.0)
    return np.where(np.isnan(above), np.inf, above / spread)


def without_leverage(distances: RowDistances) -> RowDistances:
    """Return the distances that rows would have if they were not part of the fit.

    Residuals of rows in the fit are too small, unless k is small compared with the
    number of rows that carry it. The leverage of a row of weight w is w (1 + s).
    """
    if distances.fit_weight is None:
        return distances
    w = distances.fit_weight
    h = np.minimum(w * (1.0 + np.where(w > 0, distances.s, 0.0)), 0.99)
    factor = (1.0 - h) ** -2
    with np.errstate(over="ignore"):
        return distances._replace(e=distances.e * factor, s=distances.s * factor)


LOWEST_LOG_WEIGHT = -1e6  # stands for minus infinity, as 0 times that is NaN


class LogSum:
    """Sums of weights and of weights times log-weights, without underflow.

    Attributes
    ----------
    top : float
        The largest log-weight. Both sums use weights divided by exp(top).
    total : float
        Sum of the weights.
    cross : float
        Sum of weights times their logarithms.
    """

    def __init__(self) -> None:
        self.top, self.total, self.cross = -np.inf, 0.0, 0.0

    def add(self, x: NDArray[np.float64], counts: NDArray[Any] | None) -> None:
        """Add rows with log-weights x, each `counts` times."""
        if counts is not None:
            x, counts = x[counts > 0], counts[counts > 0]
        if not len(x) or x.max() == -np.inf:
            return
        self._raise_top(float(x.max()))
        below = np.maximum(x - self.top, LOWEST_LOG_WEIGHT)
        w = np.exp(below)
        if counts is not None:
            w *= counts
        self.total += float(w.sum())
        self.cross += float(np.dot(w, below))

    def __iadd__(self, other: LogSum) -> LogSum:
        if other.total > 0:
            self._raise_top(other.top)
            step = other.top - self.top
            factor = np.exp(step)
            self.total += factor * other.total
            self.cross += factor * (other.cross + step * other.total)
        return self

    def log_total(self) -> float:
        """Return the logarithm of the sum of the weights."""
        return float(self.top + np.log(self.total))

    def perplexity(self) -> float:
        """Return exp(entropy) of the weights: the number of rows that carry them."""
        return float(np.exp(np.log(self.total) - self.cross / self.total))

    def _raise_top(self, top: float) -> None:
        if top > self.top:
            step = self.top - top
            if self.total > 0:
                factor = np.exp(step)
                self.cross = factor * (self.cross + step * self.total)
                self.total *= factor
            self.top = top


class LogWeightKernel(CountedKernel):
    """Kernel that records log-weights by a row-local rule, and sums the weights.

    The recorded weight of a row includes all its repetitions; rows that do not count
    have log-weight -inf.
    """

    n_fields = 1

    def __init__(
        self,
        state: Subspace,
        rule: Rule,
        counts: NDArray[np.float64] | None = None,
    ) -> None:
        self.measuring = DistanceKernel(state)
        self.rule, self.counts = rule, counts

    def start(self) -> tuple[MomentSums, LogSum]:
        """Return an empty state."""
        return self.measuring.start(), LogSum()

    def absorb(
        self, state: tuple[MomentSums, LogSum], block: NDArray[Any], first: int
    ) -> NDArray[np.float64]:
        """Weight the rows of a block."""
        distances = RowDistances(*_measure(self.measuring, state[0], block))
        x = self.rule.weigh(distances).log_weights
        counts = self.counts_of(block, first)
        state[1].add(x, counts)
        return _with_repetitions(x, counts)[None]

    def merge(
        self, state: tuple[MomentSums, LogSum], other: Any
    ) -> tuple[MomentSums, LogSum]:
        """Add the state of later rows to the state of earlier ones."""
        sums, total = state
        total += other[1]
        return sums, total


def _with_repetitions(
    log_weights: NDArray[np.float64], counts: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    if counts is None:
        return log_weights
    with np.errstate(divide="ignore"):  # log 0, of rows that do not count
        return np.asarray(log_weights + np.log(counts))


class ReweightKernel(CountedKernel):
    """Kernel that weights rows by one subspace, and sums those near another.

    Both distances come from the same centered rows, so that large data are read once.
    It records log-weights as `LogWeightKernel` does, -inf for rows of separate
    clusters.

    Parameters
    ----------
    state : Subspace
        The weights follow from distances from it.
    rule : Rule
        Row-local, and without score distances.
    subspace : Subspace
    cuts : Cuts
        Rows within these cut-offs of `subspace` are summed, with weight 1.
    counts : ndarray, optional
    clusters : Sides or None
        Rows of these clusters do not count.
    """

    n_fields = 1

    def __init__(
        self,
        state: Subspace,
        rule: Rule,
        subspace: Subspace,
        cuts: Cuts,
        counts: NDArray[np.float64] | None = None,
        clusters: Sides | None = None,
    ) -> None:
        self.measuring = DistanceKernel(subspace)
        self.rule, self.cuts = rule, cuts
        self.counts, self.clusters = counts, clusters
        self.basis, self.shift = state.basis, state.mean - subspace.mean
        self._lines = np.vstack([self.basis, self.shift])

    def start(self) -> tuple[MomentSums, LogSum]:
        """Return an empty state."""
        return MomentSums.about(self.measuring.subspace.mean), LogSum()

    def absorb(
        self, state: tuple[MomentSums, LogSum], block: NDArray[Any], first: int
    ) -> NDArray[np.float64]:
        """Weight the rows of a block, and add moments of those near the subspace."""
        sums, total = state
        v, e, s = _measure(self.measuring, sums, block)
        kept = (e <= self.cuts.e) & (s <= self.cuts.s)
        y = sums.scratch.like(block)  # still holds the rows about the center
        with np.errstate(over="ignore", invalid="ignore"):
            x = self._weigh(y, v + e)
        if self.clusters is not None:
            far = self.clusters(block)
            kept &= ~far
            x[far] = -np.inf
        counts = self.counts_of(block, first)
        total.add(x, counts)
        if counts is None:
            y[~kept] = 0.0  # not multiplied: they may be infinite
            sums.moments.add_equal(y, int(np.count_nonzero(kept)))
        else:
            kept &= counts > 0
            if kept.any():
                some = y[kept]
                sums.moments.add(some, np.zeros(len(some)), counts[kept])
        return _with_repetitions(x, counts)[None]

    def merge(
        self, state: tuple[MomentSums, LogSum], other: Any
    ) -> tuple[MomentSums, LogSum]:
        """Add the state of later rows to the state of earlier ones."""
        sums, total = state
        total += other[1]
        return sums.add(other[0]), total

    def _weigh(self, y: NDArray[Any], d: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log-weights, given rows about the other center and their d."""
        lines = np.asarray(self._lines.astype(y.dtype, copy=False) @ y.T, dtype=float)
        t = lines[:-1] - (self.basis @ self.shift)[:, None]
        v = np.square(t, out=t).sum(axis=0)
        np.copyto(v, np.inf, where=np.isnan(v))  # inf - inf
        d = d - 2 * lines[-1] + self.shift @ self.shift
        e = d - v
        replace_cancelled(e, d, y, self.basis, self.shift)
        return self.rule.weigh(RowDistances(v, e, v)).log_weights


class MeasuringKernel(Kernel):
    """Kernel that records something about the distances of every row."""

    n_fields = 1

    def __init__(self, subspace: Subspace) -> None:
        self.measuring = DistanceKernel(subspace)

    def start(self) -> MomentSums:
        """Return scratch space."""
        return self.measuring.start()

    def merge(self, state: MomentSums, other: MomentSums) -> MomentSums:
        """Return the scratch space."""
        return state


class SupportKernel(MeasuringKernel):
    """Kernel that records which rows are within cut-offs and in no cluster."""

    field_type = bool

    def __init__(
        self, subspace: Subspace, cuts: Cuts, sides: Sides | None = None
    ) -> None:
        super().__init__(subspace)
        self.cuts, self.sides = cuts, sides

    def absorb(
        self, state: MomentSums, block: NDArray[Any], first: int
    ) -> NDArray[np.bool_]:
        """Judge the rows of a block."""
        _, e, s = _measure(self.measuring, state, block)
        within: NDArray[np.bool_] = (e <= self.cuts.e) & (s <= self.cuts.s)
        if self.sides is not None:
            within &= self.sides.beyond(block) <= self.cuts.beyond
        return within[None]


class PValueKernel(MeasuringKernel):
    """Kernel that records the logarithm of the p-value of every row."""

    field_type = float

    def __init__(self, subspace: Subspace, law: Law) -> None:
        super().__init__(subspace)
        self.law = law

    def absorb(
        self, state: MomentSums, block: NDArray[Any], first: int
    ) -> NDArray[np.float64]:
        """Compute the p-values of a block."""
        _, e, s = _measure(self.measuring, state, block)
        sides = self.law.sides
        beyond = None if sides is None else sides.beyond(block)
        return self.law.log_p(e, s, beyond)[None]


def _measure(
    kernel: DistanceKernel, state: MomentSums, block: NDArray[Any]
) -> NDArray[np.float64]:
    distances = kernel.absorb(state, block, 0)
    assert distances is not None  # it records distances
    return distances


@dataclass(frozen=True)
class Verdicts:
    """The subspace and the null distribution of a fit, in the coordinates of the fit.

    They suffice to judge any row.

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
    """All rows, and the sample from which the null distribution is learned.

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
        """Learn the null distribution, assuming equal weights of all rows in the fit.

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
        """Learn the null distribution from the distances of the sample."""
        return learn_law(self._cloud(sampled, subspace), self.sides)

    def law_of_fit(self, sampled: RowDistances, subspace: Subspace) -> Law:
        """Return the distribution that decides which rows take part in a fit."""
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
    n = distances.total(np.ones_like(s))
    finite = np.where(np.isfinite(s), s, 0.0)
    top = max(1.0, finite.max(initial=0.0))  # along axes without variance s may be huge
    larger = max(1.0, distances.mean(finite / top) / max(k, 1) * top)
    weights: NDArray[np.float64] = (1.0 + finite / larger) / (1.0 + finite) / n
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
