"""Carry a fit of the sample over to all rows: weights, subspace and verdicts.

If all rows were in the sample, each is judged without its own leverage. In larger data
leverage is negligible: one pass computes weights and subspace, another the verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from trueaxis._engine.dswl.groups import OtherSides, other_sides
from trueaxis._engine.dswl.plan import Plan, min_rows
from trueaxis._engine.dswl.sample_fit import SampleFit
from trueaxis._engine.kernels import (
    NOTHING,
    DistanceKernel,
    PairedKernel,
    RowCounts,
    RowWeights,
)
from trueaxis._engine.outliers.cutoffs import Cloud, flag_cuts
from trueaxis._engine.outliers.judge import Judge, Verdicts, measure_without_leverage
from trueaxis._engine.outliers.trim import CutRule, Cuts, TrimRule
from trueaxis._engine.problem import Problem
from trueaxis._engine.quantiles import n_different_rows
from trueaxis._engine.reweighted import (
    EXACT,
    block_weigher,
    measure_rows,
    weighted_moments,
)
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
    """Weights of all copies of every row, which sum to 1.

    Attributes
    ----------
    weights : array
        A lazy array for Dask collections.
    objective : float
        Logarithm of their sum before scaling.
    perplexity : float
        exp(entropy), the number of rows that carry them.
    """

    weights: Any
    objective: float
    perplexity: float


class FinalSubspaces(NamedTuple):
    """The subspace used to judge all rows, and the one to return.

    Attributes
    ----------
    judging : Subspace
    result : Subspace
        Has more components than `judging` if the plan asks for more.
    fit_weight : ndarray or None
        Weight of one copy of every row in the fit; None in large data.
    """

    judging: Subspace
    result: Subspace
    fit_weight: NDArray[np.float64] | None


@dataclass(frozen=True)
class FullDataFit:
    """All rows, and the fit to the rows of the sample that were kept.

    Attributes
    ----------
    plan : Plan
    sample_fit : SampleFit
    judge : Judge
        Its counts are 0 for rows of groups that were set aside.
    kept_rows : ArrayRows
        The rows of the sample that the fit kept, in the coordinates of the fit.
    apart : OtherSides or None
        Marks rows of groups that were set aside, if `counts` does not.
    """

    plan: Plan
    sample_fit: SampleFit
    judge: Judge
    kept_rows: ArrayRows
    apart: OtherSides | None

    @property
    def counts(self) -> NDArray[np.float64] | None:
        """How often each row counts."""
        return self.judge.counts

    def weights(self, state: Subspace, rule: Rule) -> LearnedWeights:
        """Weight all rows by their distances from `state`."""
        kernel = LogWeightKernel(state, rule, RowCounts(self.counts))
        (log_weights,), (_, total) = self.judge.rows.scan(kernel)
        return _normalized(log_weights, total)

    def per_copy(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Return the weights of one copy of every row."""
        if self.counts is None:
            return weights
        return np.asarray(weights / np.where(self.counts > 0, self.counts, 1.0))

    def reweight(
        self, state: Subspace, rule: Rule
    ) -> tuple[LearnedWeights, FinalSubspaces]:
        """Weight all rows, and solve for the subspace of the rows within cut-offs.

        The weights are those at `state`. The span comes from rows within cut-offs,
        center and variances from regular rows.
        """
        last = self.sample_fit.trimmed.last
        trimmed, fit_weight = last.next, last.copy_weights()
        cut = self._cut_rule(trimmed, fit_weight)
        rows = self.judge.rows
        if self.plan.in_passes:
            # Keep no per-row array except the weights.
            counts = RowCounts(self.counts, self.apart)
            solving = DistanceKernel(trimmed, block_weigher(cut), counts, NOTHING)
            kernel = PairedKernel(LogWeightKernel(state, rule, counts), solving)
            (log_weights,), ((_, total), sums) = rows.scan_in_place(kernel)
            subspace = EXACT(sums.span(), sums.core(), trimmed)
            weights = _normalized(log_weights, total)
            return weights, FinalSubspaces(subspace, subspace, None)
        all_fit_weights = np.zeros(rows.shape[0])
        all_fit_weights[self.judge.index] = fit_weight
        weighting = cut.weigh(measure_without_leverage(rows, trimmed, all_fit_weights))
        sums = weighted_moments(rows, trimmed.mean, weighting, self.counts)
        fit_weight = np.exp(weighting.log_weights - sums.span().log_weight())
        judging = result = EXACT(sums.span(), sums.core(), trimmed)
        if self.plan.k > self.plan.fit_k:
            result = solve(sums.span(), self.plan.k, sums.core())
        return self.weights(state, rule), FinalSubspaces(judging, result, fit_weight)

    def _cut_rule(self, trimmed: Subspace, fit_weight: NDArray[Any]) -> CutRule:
        sampled = measure_without_leverage(self.kept_rows, trimmed, fit_weight)
        least = min_rows(self.plan.n_sample, self.plan.k)
        cut = TrimRule(least).cut_rule(sampled)
        flags = self.judge.cutoffs(sampled, trimmed)
        return replace(cut, core=Cuts(min(flags.e, cut.span_e), flags.s))

    def verdicts(self, subspaces: FinalSubspaces) -> Verdicts:
        """Judge all rows."""
        judging, fit_weight = subspaces.judging, subspaces.fit_weight
        if fit_weight is None:  # `plan.in_passes`
            cuts = self.judge.cutoffs(measure_rows(self.kept_rows, judging), judging)
            kernel = SupportKernel(judging, cuts, RowCounts(self.counts, self.apart))
            (support,), (_, n) = self.judge.rows.scan_in_place(kernel)
            return Verdicts(judging, cuts, support, n)
        verdicts = self.judge.judge(judging, fit_weight)
        if subspaces.result is judging:
            return verdicts
        return self._widened(verdicts, subspaces.result, fit_weight)

    def _widened(
        self, verdicts: Verdicts, wide: Subspace, fit_weight: NDArray[Any]
    ) -> Verdicts:
        """Return the same verdicts with cut-offs for a subspace of more components."""
        hull, index = self.judge.hull, self.judge.index
        distances = measure_without_leverage(hull.rows, wide, fit_weight)
        some = verdicts.support[index]
        sampled = RowDistances(*(d2[index][some] for d2 in distances[:3]))
        cloud = Cloud(sampled, self.judge.original[some], hull.lift(wide))
        return replace(verdicts, subspace=wide, cuts=flag_cuts(cloud))

    def robust_spectrum(self, verdicts: Verdicts) -> tuple[NDArray[Any], int]:
        """Return variances of the sample's regular rows, and how many are distinct."""
        if self.plan.large:
            kernel = SupportKernel(verdicts.subspace, verdicts.cuts)
            (regular,), _ = self.kept_rows.scan(kernel)
        else:
            regular = verdicts.support[self.judge.index]
        weighting = RowWeights(np.where(regular, 0.0, -np.inf))
        sums = weighted_moments(self.kept_rows, verdicts.subspace.mean, weighting)
        return spectrum(sums.span()), n_different_rows(self.judge.original[regular])


def full_data_fit(problem: Problem, plan: Plan, sample_fit: SampleFit) -> FullDataFit:
    """Prepare the fit of all rows, without the groups that the sample set aside."""
    sample, counts, kept = problem.sample, problem.counts, sample_fit.kept
    apart = other_sides(sample_fit.splits, plan.separable)
    if apart is not None and not plan.in_passes:
        counts = np.ones(problem.rows.shape[0]) if counts is None else counts.copy()
        if plan.large:
            (others,), _ = problem.rows.scan(MaskKernel(apart))
            counts[others] = 0.0
        else:
            counts[np.delete(sample.index, kept)] = 0.0
        apart = None
    judge = Judge(problem.hull, counts, sample.index[kept], sample.original[kept])
    return FullDataFit(plan, sample_fit, judge, ArrayRows(sample.X[kept]), apart)


def _normalized(log_weights: Any, total: LogSum) -> LearnedWeights:
    """Turn log-weights into weights, in place if they are in memory."""
    log_total = total.log_total()
    if isinstance(log_weights, np.ndarray):
        np.subtract(log_weights, log_total, out=log_weights)
        weights = np.exp(log_weights, out=log_weights)
    else:
        weights = np.exp(log_weights - log_total)
    return LearnedWeights(weights, log_total, total.perplexity())


def consistent(verdicts: Verdicts, D: int) -> Verdicts:
    """Correct the variances for the cut-offs, assuming normal rows.

    Rows within cut-offs at 99 % have smaller variances than all rows, by a factor that
    depends on the number of dimensions; n - 1 makes them unbiased.
    """
    subspace, n = verdicts.subspace, verdicts.n_regular
    k = len(subspace.basis)
    unbiased = n / max(n - 1.0, 1.0)
    inside = unbiased * truncation(k)
    off = unbiased * truncation(int(min(D, n)) - k)
    rest = max(subspace.total - subspace.variances.sum(), 0.0)
    variances = inside * subspace.variances
    total = float(variances.sum() + off * rest)
    cuts = verdicts.cuts._replace(s=verdicts.cuts.s / inside)
    subspace = replace(subspace, variances=variances, total=total)
    return replace(verdicts, subspace=subspace, cuts=cuts)


def truncation(dof: int) -> float:
    """Return the ratio of a normal variance to that of the innermost 99 %."""
    if dof < 1:
        return 1.0
    return float(0.99 / chi2.cdf(chi2.ppf(0.99, dof), dof + 2))
