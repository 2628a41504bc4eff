"""Decide how a DSWL fit proceeds: the one place where its modes are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.dswl.temperatures import Temperatures
from trueaxis._engine.problem import Problem


@dataclass(frozen=True)
class DSWLParameters:
    """The parameters of the estimator; see there. `tau` is None for "auto"."""

    trust: float
    tau: tuple[float, float, float] | None
    init: Literal["auto", "uniform"]
    reweight: bool
    max_iter: int
    tol: float


@dataclass(frozen=True)
class Plan:
    """The modes and settings of one DSWL fit.

    Attributes
    ----------
    k : int
        Number of components of the answer.
    fit_k : int
        Number of components with which rows are weighted and judged: fewer than k where
        k components would leave too few rows to tell outliers from the span.
    n_sample : int
        Number of rows in the sample.
    published : bool
        Run Algorithm 1 as published: on all rows, from equal weights, with given
        temperatures and without acceleration.
    start : {"robust", "uniform"}
    trust : float
    temperatures : Temperatures or None
        None to calibrate them by `trust`.
    separable : ndarray of bool
        Coordinates in which groups that stand apart are searched for.
    max_iter : int
    tol : float
        Tolerance on the sample, the cube root of what was asked for if later stages
        correct the answer.
    iterate_on_all_rows : bool
        Repeat Algorithm 1 on all rows, because no later stage would correct the answer
        of the sample.
    tol_on_all_rows : float
    accepted_change : float
        A last change that counts as converged because reweighting follows; -inf for
        none.
    reweight : bool
        Finish with the rows within cut-offs.
    large : bool
        There are more rows than the sample has.
    rough : bool
        Fit only to tell which rows are regular.
    in_passes : bool
        Weight, solve and judge in passes; rows of groups are recognized in each. Of
        data that are not in memory, only weights and verdicts are kept of every row.
    """

    k: int
    fit_k: int
    n_sample: int
    published: bool
    start: Literal["robust", "uniform"]
    trust: float
    temperatures: Temperatures | None
    separable: NDArray[np.bool_]
    max_iter: int
    tol: float
    iterate_on_all_rows: bool
    tol_on_all_rows: float
    accepted_change: float
    reweight: bool
    large: bool
    in_passes: bool
    rough: bool = False


def make_plan(given: DSWLParameters, problem: Problem, k: int) -> Plan:
    """Choose the modes of a fit with k components."""
    sample, reweight = problem.sample, given.reweight
    temperatures = None
    if given.tau is not None:
        temperatures = Temperatures(*(problem.n_copies * tau for tau in given.tau))
    published = given.init == "uniform" and temperatures is not None
    calibrated = given.init == "auto" and temperatures is None
    room = max_components_with_outliers(len(sample.X), given.trust)
    crowded = calibrated and reweight and not sample.large and k > room >= 1
    tol = problem.reachable(given.tol)
    return Plan(
        k=k,
        fit_k=room if crowded else k,
        n_sample=len(sample.X),
        published=published,
        start="uniform" if given.init == "uniform" else "robust",
        trust=given.trust,
        temperatures=temperatures,
        separable=problem.separable,
        max_iter=given.max_iter,
        tol=max(tol, tol ** (1 / 3)) if reweight or sample.large else tol,
        iterate_on_all_rows=not (reweight or sample.exact or published),
        tol_on_all_rows=tol,
        accepted_change=float(np.sqrt(given.tol)) if reweight else -np.inf,
        reweight=reweight,
        large=sample.large,
        in_passes=reweight and sample.large,
    )


def max_components_with_outliers(n: int, trust: float) -> int:
    """Return the largest number of components at which outliers can be detected.

    There should be twice as many trusted rows as components: with more components,
    outliers become part of the span and look regular.
    """
    return int(trust * n / 2) - 1


def min_rows(n: int, k: int) -> int:
    """Return the number of rows, out of n, that a subspace must be based on."""
    return min(n, (n + k + 1) // 2)
