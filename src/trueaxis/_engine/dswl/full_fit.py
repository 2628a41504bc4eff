"""Carry a fit of the sample over to all rows: weights, subspace and law.

If all rows were in the sample, each is measured without its own leverage. In larger
data leverage is negligible: one pass computes weights and subspace.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtr, gammaincinv

from trueaxis._engine.dswl.groups import sides_of
from trueaxis._engine.dswl.plan import Plan, min_rows
from trueaxis._engine.dswl.reweight_kernel import ReweightKernel
from trueaxis._engine.dswl.sample_fit import SampleFit
from trueaxis._engine.kernels import RowCounts, RowWeights
from trueaxis._engine.krylov import solve_near
from trueaxis._engine.outliers.certain import NearDistances
from trueaxis._engine.outliers.core import without_leverage
from trueaxis._engine.outliers.judge import Judge, Verdicts, measure_without_leverage
from trueaxis._engine.outliers.law import REGULAR, Law, Sides, log_p_of_each
from trueaxis._engine.problem import Problem
from trueaxis._engine.quantiles import n_different_rows
from trueaxis._engine.reweighted import (
    EXACT,
    measure_rows,
    weighted_moments,
)
from trueaxis._engine.row_kernels import (
    LogSum,
    LogWeightKernel,
    MaskKernel,
)
from trueaxis._engine.rules.base import RowDistances, Rule
from trueaxis._engine.subspace import Subspace, solve, spectrum
from trueaxis.data.rows import ArrayRows

LARGE_EXPONENT = 1e6  # of a weight; those of ordinary rows are near zero


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
    n : float
        Number of rows behind the variances, repetitions included.
    near : NearDistances or None
        Distances of all rows from a subspace nearby, if they are known.
    """

    judging: Subspace
    result: Subspace
    fit_weight: NDArray[np.float64] | None
    n: float
    near: NearDistances | None = None


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
    apart : Sides or None
        Marks rows of groups that were set aside, if `counts` does not.
    filling : ndarray or None
        If cells were filled or repaired, their mean covariance about the truth.
    """

    plan: Plan
    sample_fit: SampleFit
    judge: Judge
    kept_rows: ArrayRows
    apart: Sides | None
    filling: NDArray[np.float64] | None = None

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
        """Weight all rows, and solve for the subspace of the regular ones.

        The weights are those at `state`; regular are the rows within reach of the core
        of the sample.
        """
        core = self.sample_fit.core
        subspace, fit_weight = core.next, core.copy_weights()
        sampled, distances = self._measure(subspace, fit_weight)
        law = self.judge.law_of_fit(sampled, subspace)
        least = self._least_log_p(sampled, law, REGULAR)
        if self.filling is not None:
            subspace, fit_weight = self._refitted(sampled, law, least, subspace)
            sampled, distances = self._measure(subspace, fit_weight)
            law = self.judge.law(sampled, subspace)
            least = self._least_log_p(sampled, law, REGULAR / len(sampled.e))
        rows = self.judge.rows
        if distances is None:
            # Data that are not in memory leave no per-row array except the weights.
            kernel = ReweightKernel(
                state,
                rule,
                subspace,
                law.cuts(least),
                row_counts=RowCounts(self.counts),
                sides=self.apart,
                dtype=rows.dtype,
                with_distances=rows.in_memory and self.counts is None,
            )
            (log_weights, *measured), sums = rows.scan_in_place(kernel)
            near = NearDistances(subspace, *measured) if measured else None
            span = sums.moments.widened(self.filling)
            solved = EXACT(span, None, subspace)
            n = float(np.exp(span.log_weight()))
            weights = _normalized(log_weights, sums.total)
            return weights, FinalSubspaces(solved, solved, None, n, near)
        # Not by cuts: where half of the sample is kept, one row lies on the cut.
        kept = law.log_p(distances.e, distances.s) >= least
        weighting = RowWeights(np.where(kept, 0.0, -np.inf))
        n = distances._replace(counts=self.counts).total(kept)
        weights = self.weights(state, rule)
        if self.plan.k == self.plan.fit_k and self.filling is None:
            counted = kept.astype(float)
            if self.counts is not None:
                counted *= self.counts
            solution = solve_near(rows, counted, subspace)
            if solution is not None:
                return weights, FinalSubspaces(solution, solution, kept / n, n)
        sums = weighted_moments(rows, subspace.mean, weighting, self.counts)
        span = sums.span().widened(self.filling)
        judging = result = EXACT(span, None, subspace)
        if self.plan.k > self.plan.fit_k:
            result = solve(span, self.plan.k)
        return weights, FinalSubspaces(judging, result, kept / n, n)

    def _measure(
        self, subspace: Subspace, fit_weight: NDArray[Any]
    ) -> tuple[RowDistances, RowDistances | None]:
        """Measure the rows of the sample and all rows, as if none were in the fit.

        Of large data, only the sample.
        """
        if self.plan.in_passes:
            measured = measure_without_leverage(self.kept_rows, subspace, fit_weight)
            return measured, None
        measured, index = measure_rows(self.judge.rows, subspace), self.judge.index
        weights = np.zeros(self.judge.rows.shape[0])
        weights[index] = fit_weight
        # Of copies of a row, the fit may have used some.
        sampled = measured.of(index)._replace(fit_weight=fit_weight)
        everywhere = measured._replace(fit_weight=weights)
        return without_leverage(sampled), without_leverage(everywhere)

    def _refitted(
        self, sampled: RowDistances, law: Law, least: float, subspace: Subspace
    ) -> tuple[Subspace, NDArray[np.float64]]:
        """Return the fit of the sample's rows within a law, and their weights.

        With filled or repaired cells, this is where the final law is learned: rows are
        then left out only if no regular row, of as many as there are, would lie as far
        away, because their tails are what the cells of other rows were filled by.
        """
        kept = law.log_p(sampled.e, sampled.s) >= least
        weighting = RowWeights(np.where(kept, 0.0, -np.inf))
        span = weighted_moments(self.kept_rows, subspace.mean, weighting).span()
        solved = EXACT(span.widened(self.filling), None, subspace)
        return solved, kept / max(kept.sum(), 1)

    def _least_log_p(self, sampled: RowDistances, law: Law, level: float) -> float:
        """Return the least log p-value of rows to keep: at least half of the sample."""
        need = min_rows(len(sampled.e), self.plan.fit_k)
        cuts = law.cuts(float(np.log(level)))
        if ((sampled.e <= cuts.e) & (sampled.s <= cuts.s)).sum() >= need:
            return float(np.log(level))
        log_p = law.log_p(sampled.e, sampled.s)
        return float(np.partition(log_p, -need)[-need])

    def verdicts(self, subspaces: FinalSubspaces, D: int) -> Verdicts:
        """Learn the law of the rows of the fit, and of all others."""
        judging = subspaces.judging
        distances = measured = measure_rows(self.kept_rows, judging)
        if subspaces.fit_weight is not None:  # not `plan.in_passes`
            weight = subspaces.fit_weight[self.judge.index]
            distances = without_leverage(measured._replace(fit_weight=weight))
        law = self.judge.law(distances, judging)
        verdicts = Verdicts(subspaces.result, law, len(judging.basis))
        if not self.plan.reweight:
            return verdicts
        return self._consistent(verdicts, measured, subspaces.n, D)

    def robust_spectrum(self, verdicts: Verdicts) -> tuple[NDArray[Any], int] | None:
        """Return variances of the sample's regular rows, and how many are distinct.

        None if the law explains none.
        """
        distances = measure_rows(self.kept_rows, verdicts.judging)
        regular = explained(distances, verdicts.law)
        if not regular.any():
            return None
        weighting = RowWeights(np.where(regular, 0.0, -np.inf))
        sums = weighted_moments(self.kept_rows, verdicts.subspace.mean, weighting)
        span = sums.span().widened(self.filling)
        return spectrum(span), n_different_rows(self.judge.original[regular])

    def _consistent(
        self, verdicts: Verdicts, distances: RowDistances, n: float, D: int
    ) -> Verdicts:
        """Return variances of regular rows, as n - 1 normal rows would have them.

        The variances of the fit are those of the rows that took part in it. In the
        sample, they are compared with those of all rows that the law explains, and
        corrected for the share beyond, by a factor that depends on the number of
        dimensions.
        """
        subspace, judging, law = verdicts.subspace, verdicts.judging, verdicts.law
        regular = explained(distances, law)
        if regular.sum() < 2:
            return verdicts
        e, s = distances.e[regular].mean(), distances.s[regular].mean()
        if self.filling is not None:  # filled cells vary less than true ones
            basis = judging.basis
            along = np.einsum("ij,ij->i", basis @ self.filling, basis)
            s += float((along / judging.floored_variances()).sum())
            e += float(np.trace(self.filling) - along.sum())
        k, unbiased = verdicts.n_judging, n / max(n - 1.0, 1.0)
        rest = max(judging.total - judging.variances.sum(), 0.0)
        beyond = float(np.exp(log_p_of_each(float(np.log(REGULAR)), law.n_views())))
        varying = len(judging.supported())  # the other axes vary by rounding alone
        inside = unbiased * truncation(varying, beyond) * s / max(varying, 1)
        if not 0 < inside < np.inf:
            return verdicts
        off = unbiased * truncation(int(min(D, n)) - k, beyond)
        if rest > 0:
            off *= e / rest
        variances = float(inside) * subspace.variances
        total = float(variances[:k].sum() + off * rest)
        # Score distances are in units of the variances.
        score = law.score._replace(location=law.score.location - float(np.log(inside)))
        total = max(total, float(variances.sum()))
        subspace = replace(subspace, variances=variances, total=total)
        return replace(verdicts, subspace=subspace, law=replace(law, score=score))


def explained(distances: RowDistances, law: Law) -> NDArray[np.bool_]:
    """Mark the rows that a law explains."""
    cuts = law.cuts(float(np.log(REGULAR)))
    return (distances.e <= cuts.e) & (distances.s <= cuts.s)


def full_data_fit(problem: Problem, plan: Plan, sample_fit: SampleFit) -> FullDataFit:
    """Prepare the fit of all rows, without the groups that the sample set aside."""
    sample, counts, kept = problem.sample, problem.counts, sample_fit.kept
    sides = apart = sides_of(sample_fit.splits, plan.separable)
    if apart is not None and not plan.in_passes:
        counts = np.ones(problem.rows.shape[0]) if counts is None else counts.copy()
        if plan.large:
            (others,), _ = problem.rows.scan(MaskKernel(apart))
            counts[others] = 0.0
        else:
            counts[np.delete(sample.index, kept)] = 0.0
        apart = None
    index, original = sample.index[kept], sample.original[kept]
    judge = Judge(problem.hull, counts, index, original, sides, problem.leveled)
    kept_rows = ArrayRows(sample.X[kept])
    return FullDataFit(plan, sample_fit, judge, kept_rows, apart, problem.filling)


def _normalized(log_weights: Any, total: LogSum) -> LearnedWeights:
    """Turn log-weights into weights, in place if they are in memory."""
    log_total = total.log_total()
    # Next to a large exponent, the logarithms of sums and counts are rounded away.
    large = abs(total.top) > LARGE_EXPONENT
    shift = total.top if large else log_total
    if isinstance(log_weights, np.ndarray):
        np.subtract(log_weights, shift, out=log_weights)
        weights = np.exp(log_weights, out=log_weights)
    else:
        weights = np.exp(log_weights - shift)
    if large:
        weights = weights / weights.sum()
    return LearnedWeights(weights, log_total, total.perplexity())


def truncation(dof: int, beyond: float) -> float:
    """Return the ratio of a normal variance to that of all rows but a share beyond."""
    if dof < 1:
        return 1.0
    kept = 1 - beyond
    return float(kept / chdtr(dof + 2, 2 * gammaincinv(dof / 2, kept)))
