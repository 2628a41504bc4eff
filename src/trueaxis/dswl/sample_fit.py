"""The stages of DSWL on a sample: start, settle, converge, core; set groups aside.

The sample is fitted with all its rows and, if they fall into two groups, again without
the smaller one. The fit that explains more rows as one cloud is chosen,
unless the group bent an axis: then the fit without it is.

Many columns are fitted in few coordinates, which follow the subspace: the stages need
only the coordinates of a row in a space that contains the center and the axes, and its
squared distance from that space. Whether the best subspace lies inside is checked after
the fit; missing directions are added until none is left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from trueaxis.core.iteration import IterationResult, Squarem, iterate
from trueaxis.core.kernels import replace_cancelled
from trueaxis.core.law import REGULAR
from trueaxis.core.moments import Moments, Scratch, n_different_rows
from trueaxis.core.problem import Problem
from trueaxis.core.reweighting import (
    EXACT,
    POWER_STEPS,
    PowerSolver,
    ReweightedResult,
    ReweightedStep,
    Solver,
    measure_rows,
    weighted_moments,
)
from trueaxis.core.starts import (
    Depth,
    deep_start,
    direction_rng,
    enough_rows,
    equal_weights,
    moments_of,
    random_directions,
    spherical_start,
)
from trueaxis.core.subspace import (
    ScatterKernel,
    Subspace,
    orthonormal_beside,
    solve,
    spectrum,
)
from trueaxis.core.verdicts import CoreRule, HalfRule, deviations, without_leverage
from trueaxis.data.rows import ArrayRows, Rows
from trueaxis.data.threads import cached_property
from trueaxis.dswl.groups import (
    GroupSplit,
    bending_group,
    heterogeneity,
    smallest_group,
    split_in_two,
)
from trueaxis.dswl.plan import (
    EntropyRule,
    Plan,
    Temperatures,
    TrustRule,
    calibrate,
    min_rows,
)

SPARE = 20  # coordinates beyond twice the number of components
WORTHWHILE = 4  # columns per coordinate from which on a fit in few coordinates pays
POWERS = 2  # power steps that turn random directions toward the longest axes


class CoordinateRows(ArrayRows):
    """Coordinates of rows, and their squared distances from the coordinate space."""

    orthogonal: NDArray[np.float64]

    def __init__(self, array: NDArray[Any], orthogonal: NDArray[np.float64]) -> None:
        super().__init__(array, at_once=True)
        self.orthogonal = orthogonal


def worthwhile(k: int, directions: NDArray[Any]) -> bool:
    """Return whether k components should be fitted in few coordinates."""
    D, n_directions = directions.shape
    m = 2 * k + SPARE
    return bool(D >= WORTHWHILE * m and n_directions >= m)


@dataclass(frozen=True)
class Compressed:
    """Rows in few coordinates.

    Attributes
    ----------
    X : ndarray of shape (n, D)
        The rows.
    center : ndarray of shape (D,)
    axes : ndarray of shape (D, m)
        Orthonormal columns.
    rows : CoordinateRows
        Of shape (n, m).
    """

    X: NDArray[Any]
    center: NDArray[np.float64]
    axes: NDArray[np.float64]
    rows: CoordinateRows

    def lift(self, subspace: Subspace) -> Subspace:
        """Map a subspace of the coordinates to the columns."""
        return replace(
            subspace,
            mean=self.center + self.axes @ subspace.mean,
            basis=subspace.basis @ self.axes.T,
        )

    def lift_step(self, found: ReweightedResult) -> ReweightedResult:
        """Map a step to the columns; the distances are the same."""
        return replace(found, state=self.lift(found.state), next=self.lift(found.next))

    def lift_last(
        self, found: IterationResult[ReweightedResult]
    ) -> IterationResult[ReweightedResult]:
        """Map the last step of an iteration to the columns."""
        return replace(found, last=self.lift_step(found.last))

    def solve(self, found: ReweightedResult) -> Subspace:
        """Solve for the subspace of rows that were weighted by a step."""
        origin = np.zeros(self.axes.shape[1])
        moments = weighted_moments(self.rows, origin, found.weighting)
        solved = solve(moments, len(found.next.basis))
        off = float(found.single_weights() @ self.rows.orthogonal)
        return replace(solved, total=solved.total + off)

    def completed(self, found: ReweightedResult) -> tuple[Compressed, float]:
        """Add the coordinates that the solution of a step lacks.

        Return the rows in more coordinates, about the mean of the step's solution, and
        about what share of the solution they still lack, as a sine.
        """
        axes, P = self.axes, self.lift(found.next).basis.T
        mean = self.center + axes @ found.next.mean
        kernel = ScatterKernel(mean, found.single_weights(), P)
        sums = ArrayRows(self.X).scan(kernel)[1]
        shift = sums.first / sums.scalars[0]
        image = sums.product / sums.scalars[0] - np.outer(shift, shift @ P)
        missing = _rejected(image, axes)
        ratio, least = self._last_variances(found)
        # What was missing, less what its addition wins: a step of the power method for
        # the axes, and one for the weights.
        size = float(np.linalg.norm(missing / least) / np.sqrt(P.shape[1])) * ratio**2
        new = np.column_stack([missing, _rejected(shift[:, None], axes)])
        new = orthonormal_beside(new, axes)
        more, _ = _measure(self.X, self.center, new)
        off = np.maximum(self.rows.orthogonal - np.einsum("ij,ij->i", more, more), 0.0)
        array = np.column_stack([self.rows.array, more])
        return self._about(mean + shift, np.column_stack([axes, new]), array, off), size

    def _last_variances(self, found: ReweightedResult) -> tuple[float, float]:
        """Return the variance of the last axis, and the share of it on the next one."""
        origin, k = np.zeros(self.axes.shape[1]), len(found.next.basis)
        moments = weighted_moments(self.rows, origin, found.weighting)
        variances = spectrum(moments)
        last = max(float(variances[k - 1]), np.finfo(float).tiny)
        return float(variances[k]) / last, last

    def _about(
        self,
        center: NDArray[np.float64],
        axes: NDArray[np.float64],
        array: NDArray[np.float64],
        orthogonal: NDArray[np.float64],
    ) -> Compressed:
        """Return the coordinates about a center inside their space."""
        array -= (center - self.center) @ axes
        return Compressed(self.X, center, axes, CoordinateRows(array, orthogonal))

    def lower(self, subspace: Subspace) -> Subspace:
        """Write a subspace in the coordinates, which contain it."""
        return replace(
            subspace,
            mean=(subspace.mean - self.center) @ self.axes,
            basis=subspace.basis @ self.axes,
        )


def compress(
    X: NDArray[Any], half: NDArray[Any], directions: NDArray[Any], k: int
) -> tuple[Compressed, Subspace]:
    """Choose coordinates by the deepest half of the rows; also return its subspace."""
    center = half.mean(axis=0, dtype=float)
    y = (half - center).astype(X.dtype, copy=False)
    axes = directions[:, : 2 * k + SPARE]
    for _ in range(POWERS):
        scores = y @ axes.astype(y.dtype, copy=False)
        axes = np.linalg.qr((y.T @ scores).astype(float))[0]
    array, off = _measure(X, center, axes)
    moments = Moments(np.zeros(axes.shape[1]))
    inside = (y @ axes.astype(y.dtype, copy=False)).astype(float)
    moments.add(inside, np.zeros(len(y)), None)
    start = solve(moments, k)
    total = max(float(np.einsum("ij,ij->", y, y) / len(y)), start.total)
    space = Compressed(X, center, axes, CoordinateRows(array, off))
    return space, replace(start, total=total)


def _rejected(vectors: NDArray[Any], axes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the parts of vectors that are orthogonal to orthonormal axes."""
    left: NDArray[np.float64] = vectors - axes @ (axes.T @ vectors)
    return left


def _measure(
    X: NDArray[Any], center: NDArray[np.float64], axes: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return coordinates along axes, and squared distances from their span."""
    n, m = len(X), axes.shape[1]
    thin = np.ascontiguousarray(axes).astype(X.dtype, copy=False)
    coordinates, off, scratch = np.empty((n, m)), np.empty(n), Scratch()
    for first, block in ArrayRows(X).blocks():
        some = slice(first, first + len(block))
        y = scratch.like(block)
        np.subtract(block, center, out=y, casting="same_kind")
        t = y @ thin
        d = np.einsum("ij,ij->i", y, y)
        coordinates[some], rest = t, d - np.einsum("ij,ij->i", t, t)
        replace_cancelled(rest, d, y, axes.T)
        off[some] = rest
    return coordinates, off


SETTLE_ROUNDS = 8

# With many components, and fewer rows than this for each, a fit starts from all rows,
# scaled to equal length.
MANY_COMPONENTS, ROWS_PER_COMPONENT = 20, 6
PENALTY = 10.0  # subtracted from the score, per unit of excess heterogeneity

# Deviations of regular Gaussian rows, by the worse of two distances.
GAUSSIAN = float(ndtri(1 - REGULAR / 2))
NEARLY_ALL = 0.005  # share of the core's solution, as a sine, that coordinates may lack
MOST_ADDITIONS = 4  # of coordinates, before all columns are taken
CHANCE = 1.25  # heterogeneity that n rows of one cloud may have, times sqrt(n)
MAJORITY = 0.6  # share of the rows that must remain without groups that bend an axis


@dataclass(frozen=True)
class SampleFit:
    """A fit to some rows of the sample.

    Attributes
    ----------
    kept : ndarray
        Indices of those rows in the sample.
    splits : tuple of GroupSplit
        The splits, in the separable coordinates, that set the other rows aside.
    temperatures : Temperatures
    iterations : IterationResult
        Of Algorithm 1.
    core : ReweightedResult
        Of the fit to the core.
    """

    kept: NDArray[np.intp]
    splits: tuple[GroupSplit, ...]
    temperatures: Temperatures
    iterations: IterationResult[ReweightedResult]
    core: ReweightedResult

    def excess(self) -> float:
        """Return the heterogeneity of the rows beyond what chance allows."""
        distances = without_leverage(self.core.distances)
        some = self.explained
        worst = max(heterogeneity(distances.e[some]), heterogeneity(distances.s[some]))
        return max(0.0, worst - CHANCE / float(np.sqrt(some.sum())))

    def score(self, n: int) -> float:
        """Return the share of n rows explained, minus a penalty for heterogeneity."""
        return float(self.explained.sum() / n - PENALTY * self.excess())

    @cached_property
    def explained(self) -> NDArray[np.bool_]:
        """Marks the kept rows that would be regular in a Gaussian cloud."""
        return deviations(without_leverage(self.core.distances)) <= GAUSSIAN

    def explains(self, rows: NDArray[np.intp], n: int) -> bool:
        """Return whether Algorithm 1 explains most of the given rows of a sample of n.

        Its weights, not the core, decide whether a group bends an axis.
        """
        explained = np.zeros(n, dtype=bool)
        explained[self.kept] = deviations(self.iterations.last.distances) <= GAUSSIAN
        return bool(explained[rows].mean() > 0.5)


def fit_sample(problem: Problem, plan: Plan) -> SampleFit:
    """Fit the sample as planned; all rows, if the plan is the published algorithm."""
    if plan.temperatures is not None:
        return _published_fit(problem, plan, plan.temperatures)
    return _best_fit(problem, plan)


def regular_variances(problem: Problem, plan: Plan) -> tuple[NDArray[Any], int]:
    """Return variances of the rows that the first fit explains, and their number."""
    regular = _first_fit(problem, plan).explained
    X = problem.sample.X[regular]
    return spectrum(moments_of(X)), n_different_rows(problem.sample.original[regular])


def _first_fit(problem: Problem, plan: Plan) -> SampleFit:
    """Fit all rows of the sample; the last fit is kept for later ones."""
    key = (plan.fit_k, plan.rough)
    if key not in problem.first_fits:
        directions = random_directions(problem.sample.X, direction_rng())
        fit = _fit(problem.sample.X, problem.depth, directions, plan)
        problem.first_fits.clear()
        problem.first_fits[key] = fit
    found: SampleFit = problem.first_fits[key]
    return found


def _published_fit(
    problem: Problem, plan: Plan, temperatures: Temperatures
) -> SampleFit:
    """Run Algorithm 1 exactly as published, on all rows."""
    rows, counts, X = problem.rows, problem.counts, problem.sample.X
    learned = iterate(
        ReweightedStep(rows, EntropyRule(*temperatures), counts),
        equal_weights(rows, plan.fit_k, counts),
        max_iter=plan.max_iter,
        tol=plan.tol,
    )
    core = find_core(ArrayRows(X), learned.last.next)
    return SampleFit(np.arange(len(X)), (), temperatures, learned, core)


def _best_fit(problem: Problem, plan: Plan) -> SampleFit:
    """Fit with all rows and without separate clusters; return the best."""
    X, rng, separable = problem.sample.X, direction_rng(), plan.separable
    n = len(X)
    directions = random_directions(X, rng)
    best = _first_fit(problem, plan)
    if not separable.any():
        return best
    best, directions = _without_bending_groups(best, problem, directions, plan, rng)
    kept, splits, score = best.kept, best.splits, best.score(n)
    # Without the smaller group a fit can explain at most the larger one.
    while score < (len(kept) - smallest_group(len(kept))) / n:
        some = _columns(X if len(kept) == n else X[kept], separable)
        axes = best.core.next.basis[:, separable]
        split = split_in_two(some, directions[separable], axes, rng)
        if split is None:
            break
        kept, splits = kept[split.larger], (*splits, split)
        if len(kept) < max(n / 2, plan.fit_k + 3) or score >= len(kept) / n:
            break
        directions = random_directions(X, rng, kept)
        fit = _fit_kept(problem, kept, splits, directions, plan)
        without_group = fit.score(n)
        if without_group <= score:
            break
        best, score = fit, without_group
    return best


def _without_bending_groups(
    bent: SampleFit,
    problem: Problem,
    directions: NDArray[Any],
    plan: Plan,
    rng: np.random.Generator,
) -> tuple[SampleFit, NDArray[Any]]:
    """Fit without groups that bend an axis and that the fit explains, if there are any.

    The share explained by the fit with them is then meaningless. But most rows must
    remain, and no group among them may bend an axis in turn. Also return the directions
    of the start.
    """
    X, k, separable = problem.sample.X, plan.fit_k, plan.separable
    n = len(X)
    kept, present, splits = bent.kept, directions, bent.splits
    while True:
        some = _columns(X if len(kept) == n else X[kept], separable)
        split = bending_group(some, present[separable])
        if split is None or not bent.explains(kept[~split.larger], n):
            break
        kept, splits = kept[split.larger], (*splits, split)
        if len(kept) < max(MAJORITY * n, k + 3):
            return bent, directions
        present = random_directions(X, rng, kept)
    if not splits:
        return bent, directions
    return _fit_kept(problem, kept, splits, present, plan), present


def _fit_kept(
    problem: Problem,
    kept: NDArray[np.intp],
    splits: tuple[GroupSplit, ...],
    directions: NDArray[Any],
    plan: Plan,
) -> SampleFit:
    """Fit without the groups that splits set aside."""
    depth = problem.depth.among(kept)
    depth = depth._replace(rows=np.searchsorted(kept, depth.rows))
    fit = _fit(problem.sample.X[kept], depth, directions, plan)
    return replace(fit, kept=kept, splits=splits)


def _columns(X: NDArray[Any], chosen: NDArray[np.bool_]) -> NDArray[Any]:
    return X if chosen.all() else X[:, chosen]


def _fit(
    X: NDArray[Any], depth: Depth, directions: NDArray[Any], plan: Plan
) -> SampleFit:
    """Fit some rows from the robust start, in few coordinates if that pays."""
    if _crowded(len(X), plan.fit_k):
        return _fit_rows(
            ArrayRows(X, at_once=True), spherical_start(X, plan.fit_k), plan
        )
    half = X[depth.deepest_half(least=plan.fit_k + 2)]
    # Without later stages, nothing would correct what the coordinates lack.
    if worthwhile(plan.fit_k, directions):
        return _fit_compressed(X, *compress(X, half, directions, plan.fit_k), plan)
    start = deep_start(X, half, plan.fit_k)
    return _fit_rows(ArrayRows(X, at_once=True), start, plan)


def _crowded(n: int, k: int) -> bool:
    """Return whether n rows are few for k components, and these are many."""
    return k >= MANY_COMPONENTS and n < ROWS_PER_COMPONENT * k


def _fit_compressed(
    X: NDArray[Any], space: Compressed, start: Subspace, plan: Plan
) -> SampleFit:
    """Fit rows in few coordinates, and in all columns if these are not enough."""
    start, temperatures = settle(space.rows, start, plan.trust, plan.accepted_change)
    temperatures, learned = _learned(space.rows, start, temperatures, plan)
    found = space.lift_last(learned)
    core = space.lift_step(find_core(space.rows, learned.last.next))
    for _ in range(MOST_ADDITIONS):
        space, missing = space.completed(replace(core, next=space.lower(core.next)))
        core = replace(core, next=space.lift(space.solve(core)))
        if missing <= NEARLY_ALL or plan.rough:
            return SampleFit(np.arange(len(X)), (), temperatures, found, core)
    rows = ArrayRows(X, at_once=True)
    temperatures, found = _learned(rows, found.last.next, temperatures, plan)
    core = find_core(rows, found.last.next)
    return SampleFit(np.arange(len(X)), (), temperatures, found, core)


def _fit_rows(rows: ArrayRows, start: Subspace, plan: Plan) -> SampleFit:
    """Settle, converge and find the core of the rows."""
    start, temperatures = settle(rows, start, plan.trust, plan.accepted_change)
    temperatures, learned = _learned(rows, start, temperatures, plan)
    core = find_core(rows, learned.last.next)
    return SampleFit(np.arange(rows.shape[0]), (), temperatures, learned, core)


def _learned(
    rows: Rows, start: Subspace, temperatures: Temperatures, plan: Plan
) -> tuple[Temperatures, IterationResult[ReweightedResult]]:
    """Run Algorithm 1, with higher temperatures if too few rows carry the subspace."""
    solver = EXACT
    if _crowded(rows.shape[0], plan.fit_k):
        # Later stages correct the answer, and solving for many axes takes long.
        solver = PowerSolver(POWER_STEPS)
    learned = learn(
        rows, start, temperatures, plan.max_iter, plan.tol_on_sample, solver=solver
    )
    least = min(plan.fit_k + 1, rows.shape[0] - 1)
    while learned.last.effective < least:
        # In pure noise the subspace may follow a few rows: raise the temperatures.
        temperatures = Temperatures(*(2.0 * t for t in temperatures))
        learned = learn(
            rows, start, temperatures, plan.max_iter, plan.tol_on_sample, solver=solver
        )
    return temperatures, learned


def learn(
    rows: Rows,
    start: Subspace,
    temperatures: Temperatures,
    max_iter: int,
    tol: float,
    solver: Solver = EXACT,
) -> IterationResult[ReweightedResult]:
    """Run Algorithm 1 with these temperatures, accelerated."""
    return iterate(
        ReweightedStep(rows, EntropyRule(*temperatures), solver=solver),
        start,
        max_iter=max_iter,
        tol=tol,
        accelerator=Squarem(),
    )


def settle(
    rows: ArrayRows, start: Subspace, trust: float, tol: float
) -> tuple[Subspace, Temperatures]:
    """Run a few rounds, recalibrating temperatures in each; return the last state."""
    # Fewer rows than twice the number of components cannot carry the subspace.
    least = 2.0 * (len(start.basis) + 1) / rows.shape[0]
    trust = min(1.0, max(trust, least))
    few = rows.every(enough_rows(rows.shape))
    step = ReweightedStep(few, TrustRule(trust), solver=PowerSolver(POWER_STEPS))
    settled = iterate(step, start, max_iter=SETTLE_ROUNDS, tol=tol).last
    distances = settled.distances
    if few is not rows:
        distances = measure_rows(rows, settled.next)
    return settled.next, calibrate(distances.v, distances.e, trust)


def find_core(rows: Rows, state: Subspace) -> ReweightedResult:
    """Solve for the inner half of the rows, then for the core."""
    need = min_rows(rows.shape[0], len(state.basis))
    half = ReweightedStep(rows, HalfRule(need))(state)
    return ReweightedStep(rows, CoreRule(need))(half.next, half)
