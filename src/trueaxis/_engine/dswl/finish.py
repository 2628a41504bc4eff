"""From a fit to a sample to the answer for all rows: weights, subspace, verdicts.

Rows that were all in the sample are judged without their own leverage. Of larger data
each row has next to none: one fused pass gives the subspace, one look the verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from trueaxis._engine.dswl.groups import OtherSides, other_sides
from trueaxis._engine.dswl.stages import SampleFit
from trueaxis._engine.kernels import NOTHING, DistanceKernel, PairedKernel, RowWeights
from trueaxis._engine.outliers.cutoffs import Cloud, flag_cuts
from trueaxis._engine.outliers.judge import Judge, Verdicts, seen_without_leverage
from trueaxis._engine.outliers.trim import Cuts, TrimRule
from trueaxis._engine.problem import Problem
from trueaxis._engine.quantiles import n_different_rows
from trueaxis._engine.reweighted import (
    EXACT,
    block_weigher,
    measure_rows,
    weighted_moments,
)
from trueaxis._engine.row_counts import RowCounts
from trueaxis._engine.row_kernels import (
    LogSum,
    LogWeightKernel,
    MaskKernel,
    SupportKernel,
)
from trueaxis._engine.rules.base import RowDistances, Rule
from trueaxis._engine.subspace import Subspace, solve, spectrum
from trueaxis._rows.base import ArrayRows


class LearnedWeights(NamedTuple):
    """Weights of all rows, repetitions included (they sum to 1), and what they tell.

    objective : logarithm of their sum before scaling
    perplexity : exp(entropy), the number of rows that carry them
    """

    weights: NDArray[np.float64]
    objective: float
    perplexity: float


@dataclass(frozen=True)
class FullDataFit(Judge):
    """A jury of the rows of the sample that a fit kept.

    `counts` is 0 for rows that were set aside as a group apart.

    Attributes
    ----------
    kept : Rows
        The rows of the sample that the fit kept, in the coordinates of the fit.
    large : bool
        Whether there are more rows than the sample had.
    apart : callable, or None
        Of more rows, marks those of a block that belong to a group apart.
    """

    kept: ArrayRows
    large: bool
    apart: OtherSides | None

    def weights(self, state: Subspace, rule: Rule) -> LearnedWeights:
        """What all rows weigh at `state`."""
        kernel = LogWeightKernel(state, rule, RowCounts(self.counts))
        (x,), (_, total) = self.hull.rows.scan(kernel)
        return _learned(x, total)

    def per_copy(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Weights of one copy of every row."""
        if self.counts is None:
            return weights
        return weights / np.where(self.counts > 0, self.counts, 1.0)

    def reweighted(
        self, core: SampleFit, need: int, k: int, state: Subspace, rule: Rule
    ) -> tuple[LearnedWeights, Verdicts]:
        """What all rows weigh at `state`; and span, centre, variances and verdicts.

        The span comes from rows within cut-offs, centre and variances from regular
        rows. The core may have fewer components than k.
        """
        turn = core.trimmed.turn
        trimmed, fit_weight = turn.next, turn.copy_weights()
        seen = seen_without_leverage(self.kept, trimmed, fit_weight)
        cut, flags = TrimRule(need).cut_rule(seen), self.cuts(seen, trimmed)
        cut = replace(cut, core=Cuts(min(flags.e, cut.span_e), flags.s))
        rows = self.hull.rows
        if self.large:
            # Nothing that is as long as the data is kept but what is asked for.
            roll = RowCounts(self.counts, self.apart)
            solving = DistanceKernel(trimmed, block_weigher(cut), roll, NOTHING)
            weighing_too = PairedKernel(LogWeightKernel(state, rule, roll), solving)
            (x,), ((_, total), sums) = rows.scan_in_place(weighing_too)
            found = EXACT(sums.span(), sums.core(), trimmed)
            cuts = self.cuts(measure_rows(self.kept, found), found)
            (support,), (_, n) = rows.scan_in_place(SupportKernel(found, cuts, roll))
            return _learned(x, total), Verdicts(found, cuts, support, n)
        everyone = np.zeros(rows.shape[0])
        everyone[self.index] = fit_weight
        weighing = cut.weigh(seen_without_leverage(rows, trimmed, everyone))
        moments = weighted_moments(rows, trimmed.mean, weighing, self.counts)
        fit_weight = np.exp(weighing.log_weights - moments.span().log_weight())
        found = EXACT(moments.span(), moments.core(), trimmed)
        judged = self.judged(found, fit_weight)
        if k > len(trimmed.basis):
            wide = solve(moments.span(), k, moments.core())
            judged = self.widened(judged, wide, fit_weight)
        return self.weights(state, rule), judged

    def widened(
        self, judged: Verdicts, wide: Subspace, fit_weight: NDArray[Any]
    ) -> Verdicts:
        """The same verdicts, and cut-offs for a subspace with more components."""
        view = seen_without_leverage(self.hull.rows, wide, fit_weight)
        some = judged.support[self.index]
        seen = RowDistances(*(d2[self.index][some] for d2 in view[:3]))
        cloud = Cloud(seen, self.table[some], self.hull.lift(wide))
        return replace(judged, subspace=wide, cuts=flag_cuts(cloud))

    def robust_spectrum(self, judged: Verdicts) -> tuple[NDArray[Any], int]:
        """Variances of regular rows of the sample; how many of them differ."""
        if self.large:
            (regular,), _ = self.kept.scan(SupportKernel(judged.subspace, judged.cuts))
        else:
            regular = judged.support[self.index]
        weighing = RowWeights(np.where(regular, 0.0, -np.inf))
        sums = weighted_moments(self.kept, judged.subspace.mean, weighing)
        return spectrum(sums.span()), n_different_rows(self.table[regular])


def finish_for(
    problem: Problem, core: SampleFit, separable: NDArray[np.bool_], *, marked: bool
) -> FullDataFit:
    """Leave out the rows that the core set apart, among all rows.

    They are marked at once, or (of many rows, unless `marked`) told apart as they come.
    """
    sample, counts, kept = problem.sample, problem.counts, core.kept
    apart = other_sides(core.splits, separable)
    if apart is not None and (marked or not sample.large):
        counts = np.ones(problem.rows.shape[0]) if counts is None else counts.copy()
        if sample.large:
            (others,), _ = problem.rows.scan(MaskKernel(apart))
            counts[others] = 0.0
        else:
            counts[np.delete(sample.index, kept)] = 0.0
        apart = None
    return FullDataFit(
        hull=problem.hull,
        counts=counts,
        index=sample.index[kept],
        table=problem.table[kept],
        kept=ArrayRows(sample.S[kept]),
        large=sample.large,
        apart=apart,
    )


def _learned(x: Any, total: LogSum) -> LearnedWeights:
    """Make weights of log-weights, which are overwritten if they are in memory."""
    log_total = total.log_total()
    if isinstance(x, np.ndarray):
        np.subtract(x, log_total, out=x)
        weights = np.exp(x, out=x)
    else:
        weights = np.exp(x - log_total)
    return LearnedWeights(weights, log_total, total.perplexity())


def consistent(judged: Verdicts, D: int) -> Verdicts:
    """Variances as they are without the cut-offs, if the rows are normal.

    The rows within cut-offs at 99 % have smaller variances than all, by a factor that
    depends on the number of dimensions; and n - 1 makes them unbiased.
    """
    sub, k, n = judged.subspace, len(judged.subspace.basis), judged.n_regular
    unbiased = n / max(n - 1.0, 1.0)
    inside = unbiased * truncation(k)
    off = unbiased * truncation(int(min(D, n)) - k)
    rest = max(sub.total - sub.variances.sum(), 0.0)
    variances = inside * sub.variances
    total = float(variances.sum() + off * rest)
    cuts = judged.cuts._replace(s=judged.cuts.s / inside)
    subspace = replace(sub, variances=variances, total=total)
    return replace(judged, subspace=subspace, cuts=cuts)


def truncation(dof: int) -> float:
    """Variance of a normal distribution over that of its innermost 99 %."""
    if dof < 1:
        return 1.0
    return float(0.99 / chi2.cdf(chi2.ppf(0.99, dof), dof + 2))
