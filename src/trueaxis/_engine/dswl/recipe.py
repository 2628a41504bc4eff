"""The recipe of DSWL: plan, fit the sample, carry the fit over to all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from trueaxis._engine.dimension import choose_dimension
from trueaxis._engine.dswl.full_fit import (
    FullDataFit,
    Subspaces,
    consistent,
    full_data_fit,
)
from trueaxis._engine.dswl.plan import make_plan
from trueaxis._engine.dswl.rules import EntropyRule
from trueaxis._engine.dswl.sample_fit import fit_sample, learn
from trueaxis._engine.dswl.temperatures import Temperatures
from trueaxis._engine.fit import FitResult, Recipe, SearchResult, warn_of_few_rows
from trueaxis._engine.outliers.judge import Verdicts
from trueaxis._engine.problem import Problem
from trueaxis._engine.reweighted import ReweightedResult


@dataclass(frozen=True, kw_only=True)
class DSWLResult(SearchResult):
    """The outcome of a search, and what the verdicts need from it."""

    full: FullDataFit
    subspaces: Subspaces


@dataclass(frozen=True)
class DSWLRecipe(Recipe):
    """DSWL with any number of components; see the estimator for the parameters."""

    trust: float
    tau: tuple[float, float, float] | None
    init: Literal["auto", "uniform"]
    reweight: bool
    max_iter: int
    tol: float
    ignores_far_rows: bool = True

    def temperatures(self, problem: Problem) -> Temperatures | None:
        """Return the temperatures given, in the unit of squared distances."""
        if self.tau is None:
            return None
        return Temperatures(*(problem.n_copies * tau for tau in self.tau))

    def search(self, problem: Problem, k: int) -> SearchResult:
        """Fit the sample, then weight all rows and solve for the subspace."""
        plan = make_plan(self, problem, k)
        sample_fit = fit_sample(problem, plan)
        full = full_data_fit(problem, plan, sample_fit)
        found, temperatures = sample_fit.learned, sample_fit.temperatures
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
            learned, subspaces = full.reweight(state, rule)
        else:
            learned = full.weights(state, rule)
            subspaces = Subspaces(state, state, full.per_copy(learned.weights))
        # Reweighting makes up for an iteration that stopped a little early.
        nearly = self.reweight and found.last.change <= np.sqrt(self.tol)
        tau = tuple(float(t / problem.n_copies) for t in temperatures)
        return DSWLResult(
            subspaces.answer,
            replace(found, converged=found.converged or bool(nearly)),
            self.tol,
            learned.weights,
            attributes={
                "tau_": tau,
                "trust_": learned.perplexity / problem.n_copies,
                "objective_": learned.objective,
            },
            warnings=_warn_of_low_temperatures(found.last, tau, problem),
            full=full,
            subspaces=subspaces,
        )

    def judge(self, problem: Problem, found: SearchResult) -> Verdicts:
        """Judge all rows."""
        assert isinstance(found, DSWLResult)
        verdicts = found.full.verdicts(found.subspaces)
        if not self.reweight:
            return verdicts
        return consistent(verdicts, problem.original.shape[1])

    def next_dimension(
        self, problem: Problem, fit: FitResult, wanted: float | str
    ) -> int | None:
        """Return the number of components that a fit suggests."""
        subspace = fit.verdicts.subspace
        if wanted == "auto":
            assert isinstance(fit.found, DSWLResult)
            variances, n = fit.found.full.robust_spectrum(fit.verdicts)
            return choose_dimension("auto", variances, n, problem.original.shape[1])
        variances = subspace.variances
        missing = float(wanted) * subspace.total - np.cumsum(variances)
        if missing[-1] <= 0:
            return int((missing > 0).sum()) + 1
        # Each further component explains no more than the last one.
        return fit.k + max(1, int(missing[-1] / max(variances[-1], missing[-1] / 8)))


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
