"""Decide how a DSWL fit proceeds, and with which temperatures.

`trust` replaces the three temperatures of the paper, which depend on n and have the
squared unit of the data. It sets the perplexity exp(entropy) of the weights to
trust * n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.core.kernels import RowWeights
from trueaxis.core.moments import quantile
from trueaxis.core.problem import Problem
from trueaxis.core.rules import RowDistances, Rule

# Distances below this share of a typical one are rounding errors.
FLOOR = 1e-12
ROOT = 1e-12  # accuracy of the logarithm of a scale


class Temperatures(NamedTuple):
    """The paper's tau times n: squared lengths, independent of the number of rows."""

    a: float
    b: float
    c: float


def calibrate(v: NDArray[Any], e: NDArray[Any], trust: float) -> Temperatures:
    """Return temperatures for which a share `trust` of the rows carries the weight.

    They are proportional to A = max(median v, median e), B = median e and C = median d;
    the common factor is solved for. The maximum keeps tau_b <= tau_a, so that the
    objective cannot fall.
    """
    d = v + e
    typical = _typical(d)
    if typical == 0:
        return Temperatures(1.0, 1.0, 1.0)
    A, B, C = (_median(x, FLOOR * typical) for x in (v, e, d))
    A = max(A, B)
    scale = perplexity_scale(v / A + e / B + d / C, trust)
    return Temperatures(scale * A, scale * B, scale * C)


def perplexity_scale(rho: NDArray[Any], trust: float) -> float:
    """Return the scale s for which softmax(-rho/s) has perplexity trust * n."""
    n, typical = len(rho), _typical(rho)
    if typical == 0:
        return 1.0
    tied = int((rho <= 1e-12 * typical).sum())
    # If more rows are tied than are trusted, trust the same share of the others.
    target = float(np.log(trust * n if tied < trust * n else tied + trust * (n - tied)))
    near = rho[rho < np.inf]
    # The perplexity grows with s. Below this bracket all weight is on one row, and
    # above it weights are equal up to 1e-8.
    low, high = np.log(1e-6 * typical), np.log(1e8 * typical)
    log_scale = np.log(0.3 * typical)  # about right for the default trust
    while high - low > ROOT:
        H, slope = entropy(near * -np.exp(-log_scale))
        excess = H - target
        low, high = (low, log_scale) if excess > 0 else (log_scale, high)
        # A Newton step, or half of the bracket if that would leave it.
        newton = log_scale - excess / slope if slope > 0 else np.inf
        if abs(newton - log_scale) <= ROOT**0.5:  # the next step would be its square
            return float(np.exp(newton))
        log_scale = newton if low < newton < high else (low + high) / 2
    return float(np.exp(log_scale))


def entropy(log_weights: NDArray[Any]) -> tuple[float, float]:
    """Return the entropy of weights scaled to sum to 1, and its slope.

    The slope is the derivative by the logarithm of a temperature that divides the
    log-weights: their variance.
    """
    x = log_weights - log_weights.max()
    w = np.exp(x)
    total = w.sum()
    xw = x * w
    mean = xw.sum() / total
    return float(np.log(total) - mean), float(np.dot(xw, x) / total - mean**2)


def _median(x: NDArray[Any], floor: float) -> float:
    """Return the median, or a typical value of the other rows if the median is 0.

    It is 0 for repetitions of one row, and for an exact fit.
    """
    median = quantile(x, 0.5)
    if median > floor:
        return median
    return max(_typical(x[x > floor]), floor)


def _typical(x: NDArray[Any]) -> float:
    """Return the median of the finite positive values; 0 if there are none."""
    if not (x.min(initial=np.inf) > 0 and x.max(initial=0.0) < np.inf):
        x = x[(x > 0) & np.isfinite(x)]
    return quantile(x, 0.5) if len(x) else 0.0


@dataclass(eq=False)
class EntropyRule(Rule):
    """DSWL with given temperatures: w = exp(-(v/a + e/b + d/c)).

    a, b and c are n times the paper's tau_a, tau_b and tau_c. The three softmaxes of
    the paper are merged in log space, because each may underflow. As d = v + e, only
    1/a + 1/c and 1/b + 1/c matter. The sum of weights rises if b <= a.
    """

    a: float
    b: float
    c: float
    row_local = True

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return -(v/a + e/b + d/c)."""
        inside, off = 1 / self.a + 1 / self.c, 1 / self.b + 1 / self.c
        return RowWeights(-(inside * distances.v + off * distances.e))


@dataclass(eq=False)
class TrustRule(Rule):
    """DSWL with temperatures calibrated in every round, by the share `trust`.

    Not row-local: the temperatures depend on medians and a perplexity over all rows.
    """

    trust: float

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Calibrate the temperatures, and return the log-weights they give."""
        temperatures = calibrate(distances.v, distances.e, self.trust)
        return EntropyRule(*temperatures).weigh(distances)


@dataclass(frozen=True)
class DSWLParameters:
    """The parameters of the estimator `DSWL`. `tau` is None for "auto"."""

    trust: float
    tau: tuple[float, float, float] | None
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
    trust : float
    temperatures : Temperatures or None
        If given, Algorithm 1 runs as published: on all rows, from equal weights and
        without acceleration; no later stage corrects the answer. None to calibrate
        them by `trust`.
    separable : ndarray of bool
        Coordinates in which separate clusters are searched for.
    max_iter : int
    tol : float
        Tolerance of the answer.
    tol_on_sample : float
        Its cube root suffices on the sample, as later stages correct the answer.
    accepted_change : float
        A last change that counts as converged because later stages follow.
    large : bool
        There are more rows than the sample has: rows are weighted, solved for and
        judged in passes, and rows of clusters are recognized in each. For data that are
        not in memory, only weights and verdicts of rows are kept.
    rough : bool
        Fit only to tell which rows are regular.
    """

    k: int
    fit_k: int
    trust: float
    temperatures: Temperatures | None
    separable: NDArray[np.bool_]
    max_iter: int
    tol: float
    tol_on_sample: float
    accepted_change: float
    large: bool
    rough: bool = False


def make_plan(given: DSWLParameters, problem: Problem, k: int) -> Plan:
    """Choose the modes of a fit with k components."""
    sample, temperatures = problem.sample, None
    if given.tau is not None:
        temperatures = Temperatures(*(problem.total_weight * tau for tau in given.tau))
    room = max_components_with_outliers(len(sample.X), given.trust)
    crowded = temperatures is None and not sample.large and k > room >= 1
    tol = problem.reachable(given.tol)
    return Plan(
        k=k,
        fit_k=room if crowded else k,
        trust=given.trust,
        temperatures=temperatures,
        separable=problem.separable,
        max_iter=given.max_iter,
        tol=tol,
        tol_on_sample=max(tol, tol ** (1 / 3)),
        accepted_change=float(np.sqrt(given.tol)),
        large=sample.large,
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
