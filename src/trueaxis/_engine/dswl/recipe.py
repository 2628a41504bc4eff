"""The recipe of DSWL: plan, fit the sample, carry the fit over to all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from trueaxis._engine.dimension import choose_dimension
from trueaxis._engine.dswl.full_fit import (
    FinalSubspaces,
    FullDataFit,
    full_data_fit,
)
from trueaxis._engine.dswl.plan import DSWLParameters, Plan, make_plan
from trueaxis._engine.dswl.rules import EntropyRule
from trueaxis._engine.dswl.sample_fit import fit_sample, learn, regular_variances
from trueaxis._engine.fit import FitResult, Recipe, SearchResult, warn_of_few_rows
from trueaxis._engine.outliers.judge import Verdicts
from trueaxis._engine.problem import Problem
from trueaxis._engine.reweighted import ReweightedResult

SURPLUS = 0.01  # share of components to spare, where a fit fell short of what it should
ROUGH_COMPONENTS = 20  # most components of a fit that only chooses their number


@dataclass(frozen=True, kw_only=True)
class DSWLResult(SearchResult):
    """The outcome of a search, and what the verdicts need from it."""

    plan: Plan
    full: FullDataFit
    subspaces: FinalSubspaces


@dataclass(frozen=True)
class DSWLRecipe(DSWLParameters, Recipe):
    """DSWL with any number of components."""

    ignores_far_rows: bool = True

    def search(self, problem: Problem, k: int) -> SearchResult:
        """Fit the sample, then weight all rows and solve for the subspace."""
        plan = make_plan(self, problem, k)
        sample_fit = fit_sample(problem, plan)
        full = full_data_fit(problem, plan, sample_fit)
        found, temperatures = sample_fit.iterations, sample_fit.temperatures
        if plan.iterate_on_all_rows:
            found = learn(
                problem.rows,
                found.last.state,
                temperatures,
                plan.max_iter,
                plan.tol_on_all_rows,
                full.counts,
            )
        state, rule = found.last.state, EntropyRule(*temperatures)
        if plan.reweight:
            row_weights, subspaces = full.reweight(state, rule)
        else:
            row_weights = full.weights(state, rule)
            fit_weight = full.per_copy(row_weights.weights)
            subspaces = FinalSubspaces(state, state, fit_weight, problem.n_copies)
        settled = found.converged or found.last.change <= plan.accepted_change
        tau = tuple(float(t / problem.n_copies) for t in temperatures)
        return DSWLResult(
            subspaces.result,
            replace(found, converged=bool(settled)),
            plan.tol_on_all_rows,
            row_weights.weights,
            attributes={
                "tau_": tau,
                "trust_": row_weights.perplexity / problem.n_copies,
                "objective_": row_weights.objective,
            },
            warnings=_warn_of_low_temperatures(found.last, tau, problem),
            near=subspaces.near,
            plan=plan,
            full=full,
            subspaces=subspaces,
        )

    def judge(self, problem: Problem, found: SearchResult) -> Verdicts:
        """Judge all rows."""
        assert isinstance(found, DSWLResult)
        return found.full.verdicts(found.subspaces, problem.original.shape[1])

    def rough_dimension(
        self, problem: Problem, k: int, wanted: float | str
    ) -> int | None:
        """Return the number of components that the first fit to the sample suggests.

        Which rows are regular shows with few components already.
        """
        plan = make_plan(self, problem, min(k, ROUGH_COMPONENTS))
        if plan.published:
            return None
        plan = replace(plan, rough=k > ROUGH_COMPONENTS)
        variances, n = regular_variances(problem, plan)
        return choose_dimension(wanted, variances, n, problem.original.shape[1])

    def next_dimension(
        self, problem: Problem, fit: FitResult, wanted: float | str
    ) -> int | None:
        """Return the number of components that a fit suggests."""
        subspace = fit.verdicts.subspace
        assert isinstance(fit.found, DSWLResult)
        if wanted == "auto":
            found = fit.found.full.robust_spectrum(fit.verdicts)
            if found is None:
                return None
            return choose_dimension("auto", *found, problem.original.shape[1])
        variances = subspace.variances
        missing = float(wanted) * subspace.total - np.cumsum(variances)
        if missing[-1] <= 0:
            return int((missing > 0).sum()) + 1
        # Add as much as is missing, by the variances of the rows that the fit explains.
        found = fit.found.full.robust_spectrum(fit.verdicts)
        if found is None or not found[0].sum() > 0:
            return None
        shares = np.cumsum(found[0]) / found[0].sum()
        reached = shares[min(fit.k, len(shares)) - 1] + missing[-1] / subspace.total
        k = int(np.searchsorted(shares, reached)) + 1
        return max(fit.k + 1, k + round(SURPLUS * k))


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
