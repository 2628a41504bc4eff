"""Extend the fit of the sample to all rows: weights, subspace and null distribution.

If all rows were in the sample, each is measured without its own leverage. In larger
data leverage is negligible: one pass computes weights and subspace.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtr, gammaincinv

from trueaxis.core.kernels import RowWeights
from trueaxis.core.law import REGULAR, Law, Sides, log_p_of_each
from trueaxis.core.moments import n_different_rows
from trueaxis.core.problem import Problem, choose_dimension
from trueaxis.core.recipes import FitResult, Recipe, warn_of_few_rows
from trueaxis.core.reweighting import (
    EXACT,
    ReweightedResult,
    measure_rows,
    weighted_moments,
)
from trueaxis.core.rules import RowDistances, Rule
from trueaxis.core.subspace import Subspace, solve, solve_near, spectrum
from trueaxis.core.verdicts import (
    Judge,
    LogSum,
    LogWeightKernel,
    ReweightKernel,
    Verdicts,
    measure_without_leverage,
    without_leverage,
)
from trueaxis.data.rows import ArrayRows
from trueaxis.dswl.groups import sides_of
from trueaxis.dswl.plan import DSWLParameters, EntropyRule, Plan, make_plan, min_rows
from trueaxis.dswl.sample_fit import SampleFit, fit_sample, regular_variances

LARGE_EXPONENT = 1e6  # of a weight; those of ordinary rows are near zero


class LearnedWeights(NamedTuple):
    """Weights of rows with all repetitions, which sum to 1.

    Attributes
    ----------
    weights : array
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
        Weight of one repetition of every row in the fit; None in large data.
    n : float
        Number of rows behind the variances, repetitions included.
    """

    judging: Subspace
    result: Subspace
    fit_weight: NDArray[np.float64] | None
    n: float


@dataclass(frozen=True)
class FullDataFit:
    """All rows, and the fit to the rows of the sample that were kept.

    Attributes
    ----------
    plan : Plan
    sample_fit : SampleFit
    judge : Judge
        Its counts are 0 for rows of clusters that were set aside.
    kept_rows : ArrayRows
        The rows of the sample that the fit kept, in the coordinates of the fit.
    clusters : Sides or None
        Marks rows of clusters that were set aside, if `counts` does not.
    filling : ndarray or None
        If cells were filled or repaired, their mean covariance about the truth.
    """

    plan: Plan
    sample_fit: SampleFit
    judge: Judge
    kept_rows: ArrayRows
    clusters: Sides | None
    filling: NDArray[np.float64] | None = None

    @property
    def counts(self) -> NDArray[np.float64] | None:
        """How often each row counts."""
        return self.judge.counts

    def weights(self, state: Subspace, rule: Rule) -> LearnedWeights:
        """Weight all rows by their distances from `state`."""
        kernel = LogWeightKernel(state, rule, self.counts)
        (log_weights,), (_, total) = self.judge.rows.scan(kernel)
        return _normalized(log_weights, total)

    def single_weights(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Return the weights of one repetition of every row."""
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
        subspace, fit_weight = core.next, core.single_weights()
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
            # For data that are not in memory, weights are the only array per row.
            counts, cuts = self.counts, law.cuts(least)
            kernel = ReweightKernel(state, rule, subspace, cuts, counts, self.clusters)
            (log_weights,), (sums, total) = rows.scan(kernel)
            span = sums.moments.widened(self.filling)
            solved = EXACT(span, None, subspace)
            n = float(np.exp(span.log_weight()))
            weights = _normalized(log_weights, total)
            return weights, FinalSubspaces(solved, solved, None, n)
        # Not by cut-offs: if half of the sample is kept, one row lies on a cut-off.
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
        span = sums.widened(self.filling)
        judging = result = EXACT(span, None, subspace)
        if self.plan.k > self.plan.fit_k:
            result = solve(span, self.plan.k)
        return weights, FinalSubspaces(judging, result, kept / n, n)

    def _measure(
        self, subspace: Subspace, fit_weight: NDArray[Any]
    ) -> tuple[RowDistances, RowDistances | None]:
        """Measure the rows of the sample and all rows, as if none were in the fit.

        For large data, only the sample is measured.
        """
        if self.plan.large:
            measured = measure_without_leverage(self.kept_rows, subspace, fit_weight)
            return measured, None
        measured, index = measure_rows(self.judge.rows, subspace), self.judge.index
        weights = np.zeros(self.judge.rows.shape[0])
        weights[index] = fit_weight
        # The fit may have used some repetitions of a row.
        sampled = measured.of(index)._replace(fit_weight=fit_weight)
        everywhere = measured._replace(fit_weight=weights)
        return without_leverage(sampled), without_leverage(everywhere)

    def _refitted(
        self, sampled: RowDistances, law: Law, least: float, subspace: Subspace
    ) -> tuple[Subspace, NDArray[np.float64]]:
        """Return the fit of the sample's rows within cut-offs, and their weights.

        With filled or repaired cells, this is where the final distribution is learned:
        rows are then left out only if no regular row, of as many as there are, would
        lie as far away, because their tails are what the cells of other rows were
        filled by.
        """
        kept = law.log_p(sampled.e, sampled.s) >= least
        weighting = RowWeights(np.where(kept, 0.0, -np.inf))
        span = weighted_moments(self.kept_rows, subspace.mean, weighting)
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
        """Learn the null distribution of the rows of the fit and of all others."""
        judging = subspaces.judging
        distances = measured = measure_rows(self.kept_rows, judging)
        if subspaces.fit_weight is not None:  # not `plan.large`
            weight = subspaces.fit_weight[self.judge.index]
            distances = without_leverage(measured._replace(fit_weight=weight))
        law = self.judge.law(distances, judging)
        verdicts = Verdicts(subspaces.result, law, len(judging.basis))
        if self.plan.temperatures is not None:
            return verdicts
        return self._consistent(verdicts, measured, subspaces.n, D)

    def robust_spectrum(self, verdicts: Verdicts) -> tuple[NDArray[Any], int] | None:
        """Return variances of the sample's regular rows, and how many are distinct.

        None if the null distribution explains none.
        """
        distances = measure_rows(self.kept_rows, verdicts.judging)
        regular = explained(distances, verdicts.law)
        if not regular.any():
            return None
        weighting = RowWeights(np.where(regular, 0.0, -np.inf))
        sums = weighted_moments(self.kept_rows, verdicts.subspace.mean, weighting)
        span = sums.widened(self.filling)
        return spectrum(span), n_different_rows(self.judge.original[regular])

    def _consistent(
        self, verdicts: Verdicts, distances: RowDistances, n: float, D: int
    ) -> Verdicts:
        """Return variances of regular rows, as n - 1 normal rows would have them.

        The variances of the fit are those of the rows that took part in it. In the
        sample, they are compared with those of all rows that the null distribution
        explains, and corrected for the share beyond, by a factor that depends on the
        number of dimensions.
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
    """Mark the rows that a null distribution explains."""
    cuts = law.cuts(float(np.log(REGULAR)))
    return (distances.e <= cuts.e) & (distances.s <= cuts.s)


def full_data_fit(problem: Problem, plan: Plan, sample_fit: SampleFit) -> FullDataFit:
    """Prepare the fit of all rows, without the clusters set aside in the sample."""
    sample, counts, kept = problem.sample, problem.counts, sample_fit.kept
    sides = clusters = sides_of(sample_fit.splits, plan.separable)
    if clusters is not None and not plan.large:
        counts = np.ones(problem.rows.shape[0]) if counts is None else counts.copy()
        counts[np.delete(sample.index, kept)] = 0.0
        clusters = None
    index, original = sample.index[kept], sample.original[kept]
    judge = Judge(problem.hull, counts, index, original, sides, problem.leveled)
    kept_rows = ArrayRows(sample.X[kept])
    return FullDataFit(plan, sample_fit, judge, kept_rows, clusters, problem.filling)


def _normalized(log_weights: NDArray[Any], total: LogSum) -> LearnedWeights:
    """Turn log-weights into weights, in place."""
    log_total = total.log_total()
    # Next to a large exponent, the logarithms of sums and counts are rounded away.
    large = abs(total.top) > LARGE_EXPONENT
    shift = total.top if large else log_total
    np.subtract(log_weights, shift, out=log_weights)
    weights = np.exp(log_weights, out=log_weights)
    if large:
        weights = weights / weights.sum()
    return LearnedWeights(weights, log_total, total.perplexity())


def truncation(dof: int, beyond: float) -> float:
    """Return the ratio of a normal variance to that of all rows but a share beyond."""
    if dof < 1:
        return 1.0
    kept = 1 - beyond
    return float(kept / chdtr(dof + 2, 2 * gammaincinv(dof / 2, kept)))


SPARE_COMPONENTS = 0.01  # share added where a fit has too few components
ROUGH_COMPONENTS = 20  # most components of a fit that only chooses their number


@dataclass(frozen=True, kw_only=True)
class DSWLResult(FitResult):
    """The outcome of a search, with the data that verdicts need."""

    plan: Plan
    full: FullDataFit
    subspaces: FinalSubspaces


@dataclass(frozen=True)
class DSWLRecipe(DSWLParameters, Recipe):
    """DSWL with any number of components."""

    ignores_far_rows: bool = True

    def search(self, problem: Problem, k: int) -> FitResult:
        """Fit the sample, then weight all rows and solve for the subspace."""
        plan = make_plan(self, problem, k)
        sample_fit = fit_sample(problem, plan)
        full = full_data_fit(problem, plan, sample_fit)
        found, temperatures = sample_fit.iterations, sample_fit.temperatures
        state, rule = found.last.state, EntropyRule(*temperatures)
        settled = found.converged
        if plan.temperatures is None:
            settled = settled or found.last.change <= plan.accepted_change
            row_weights, subspaces = full.reweight(state, rule)
        else:
            row_weights = full.weights(state, rule)
            fit_weight = full.single_weights(np.asarray(row_weights.weights))
            subspaces = FinalSubspaces(state, state, fit_weight, problem.total_weight)
        tau = tuple(float(t / problem.total_weight) for t in temperatures)
        return DSWLResult(
            subspaces.result,
            replace(found, converged=bool(settled)),
            plan.tol,
            row_weights.weights,
            attributes={
                "tau_": tau,
                "trust_": row_weights.perplexity / problem.total_weight,
                "objective_": row_weights.objective,
            },
            warnings=_warn_of_low_temperatures(found.last, tau, problem),
            plan=plan,
            full=full,
            subspaces=subspaces,
        )

    def judge(self, problem: Problem, found: FitResult) -> Verdicts:
        """Judge all rows."""
        assert isinstance(found, DSWLResult)
        return found.full.verdicts(found.subspaces, problem.original.shape[1])

    def rough_dimension(
        self, problem: Problem, k: int, wanted: float | str
    ) -> int | None:
        """Return the number of components that the first fit to the sample suggests.

        A few components are enough to tell which rows are regular.
        """
        plan = make_plan(self, problem, min(k, ROUGH_COMPONENTS))
        if plan.temperatures is not None:
            return None
        plan = replace(plan, rough=k > ROUGH_COMPONENTS)
        variances, n = regular_variances(problem, plan)
        return choose_dimension(wanted, variances, n, problem.original.shape[1])

    def next_dimension(
        self, problem: Problem, fit: FitResult, wanted: float | str
    ) -> int | None:
        """Return the number of components that a fit suggests."""
        subspace = fit.verdicts.subspace
        assert isinstance(fit, DSWLResult)
        if wanted == "auto":
            found = fit.full.robust_spectrum(fit.verdicts)
            if found is None:
                return None
            return choose_dimension("auto", *found, problem.original.shape[1])
        variances = subspace.variances
        missing = float(wanted) * subspace.total - np.cumsum(variances)
        if missing[-1] <= 0:
            return int((missing > 0).sum()) + 1
        # Add as much as is missing, by the variances of the rows that the fit explains.
        found = fit.full.robust_spectrum(fit.verdicts)
        if found is None or not found[0].sum() > 0:
            return None
        shares = np.cumsum(found[0]) / found[0].sum()
        reached = shares[min(fit.k, len(shares)) - 1] + missing[-1] / subspace.total
        k = int(np.searchsorted(shares, reached)) + 1
        return max(fit.k + 1, k + round(SPARE_COMPONENTS * k))


def _warn_of_low_temperatures(
    last: ReweightedResult, tau: tuple[float, ...], problem: Problem
) -> list[str]:
    """Return a warning if the temperatures leave too few rows with weight."""
    distance = float(np.median(last.distances.d))
    if not distance > 0:
        return []
    advice = (
        f"the temperatures {tau} are small for squared distances of {distance:.3g} "
        '(median). Raise tau, or raise trust with tau="auto".'
    )
    return warn_of_few_rows(last.effective, len(last.state.basis), problem, advice)
