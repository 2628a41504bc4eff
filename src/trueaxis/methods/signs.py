"""Methods that maximize sum |t|^p over scores t on orthonormal axes.

The objective is not a function of v and e, so rows have no weights. Instead, a step
adds up its gradient for each axis, and takes the nearest orthonormal basis. It takes
one pass, as in `core.reweighting`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis._validation import validate_choice
from trueaxis.base import FixedCenterMethod, choice, flag, number
from trueaxis.core.iteration import (
    IterationResult,
    Squarem,
    StepResult,
    best_of,
    iterate,
)
from trueaxis.core.moments import Moments
from trueaxis.core.problem import Problem
from trueaxis.core.recipes import FitResult
from trueaxis.core.reweighting import measure_rows
from trueaxis.core.starts import plain_moments
from trueaxis.core.subspace import Subspace, along, orthonormal, top_eigen
from trueaxis.data.rows import ArrayRows, Kernel, Rows
from trueaxis.data.threads import cached_property

MOST_DAMPINGS = 60

# Weight of the current axes, so that axes without a gradient stay where they are.
CURRENT_AXES_WEIGHT = 1e-13


@dataclass
class Pull:
    """Objective and gradient, summed over all rows, for k axes.

    Attributes
    ----------
    value : float
        Sum of |t|^p.
    slope : ndarray of shape (k, D)
        Sum of the rows times the derivative of |t|^p.
    level : ndarray of shape (k, D)
        Sum of the rows with score 0, where |t| has no derivative. Each is taken with
        the sign that puts it on one side of a plane, so that they do not cancel.
    """

    value: float
    slope: NDArray[np.float64]
    level: NDArray[np.float64]


@dataclass(frozen=True)
class PowerPull(Kernel):
    """Kernel that sums the objective and its gradient.

    Attributes
    ----------
    axes : Subspace
    p : float
    smooth : float
        If p < 1, |t| is replaced by sqrt(t^2 + smooth^2), because the derivative at 0
        is infinite.
    counts : ndarray, optional
        How often each row counts.
    """

    axes: Subspace
    p: float
    smooth: float
    counts: NDArray[np.float64] | None

    def part(self, first: int, n: int) -> PowerPull:
        """Return the kernel for n rows, starting at row `first`."""
        if self.counts is None:
            return self
        return replace(self, counts=self.counts[first : first + n])

    def start(self) -> Pull:
        """Return an empty state."""
        nothing = np.zeros_like(self.axes.basis)
        return Pull(0.0, nothing, nothing.copy())

    def absorb(self, state: Pull, block: NDArray[Any], first: int) -> None:
        """Add a block."""
        mean = self.axes.mean
        y = (block - mean).astype(float, copy=False)
        t = y @ self.axes.basis.T
        size = np.hypot(t, self.smooth) if self.p < 1 else np.abs(t)
        value = size**self.p
        if self.p < 1:
            slope = t * (value / size**2)
        else:
            slope = np.sign(t) * size ** (self.p - 1)
        flat = t == 0
        if self.counts is not None:
            c = self.counts[first : first + len(block), None]
            value, slope, flat = c * value, c * slope, flat & (c > 0)
        if flat.any():
            side = np.sign(y @ np.sin(1 + np.arange(y.shape[1])))
            state.level += np.where(flat, side[:, None], 0.0).T @ y
        state.value += float(value.sum())
        state.slope += slope.T @ y

    def merge(self, state: Pull, other: Pull) -> Pull:
        """Add the state of later rows to the state of earlier ones."""
        state.value += other.value
        state.slope += other.slope
        state.level += other.level
        return state


@dataclass(frozen=True)
class SignStep:
    """Step to the orthonormal basis nearest to the gradient.

    If p >= 1, the objective is convex and so cannot fall. If p < 1, the step is
    shortened until the objective does not fall.

    Attributes
    ----------
    rows : Rows
    p, smooth : float
    counts : ndarray, optional
    held : ndarray of shape (j, D)
        Axes found before, to which the new ones are orthogonal.
    """

    rows: Rows
    p: float
    smooth: float
    counts: NDArray[np.float64] | None
    held: NDArray[np.float64]

    def __call__(
        self, state: Subspace, previous: StepResult | None = None
    ) -> StepResult:
        """Take one step; its detail is the pull at the next axes, if known."""
        here: Pull | None = None
        if previous is not None and previous.next is state:
            here = previous.detail
        here = here or self.pull(state)
        after, ahead = self._step(state, here, here.slope)
        change = _distance(state, after)
        if self.p <= 1 and not change and here.level.any():
            # Some scores are 0: the objective is larger on either side.
            after, ahead = self._step(state, here, here.slope + here.level)
            change = _distance(state, after)
        n = self.rows.shape[0] if self.counts is None else float(self.counts.sum())
        return StepResult(
            next=after,
            objective=here.value,
            change=change,
            effective=n,
            detail=ahead,
        )

    def pull(self, axes: Subspace) -> Pull:
        """Return objective and gradient at these axes."""
        kernel = PowerPull(axes, self.p, self.smooth, self.counts)
        pull: Pull = self.rows.scan(kernel)[1]
        return pull

    def _moved(
        self, state: Subspace, slope: NDArray[Any], damping: float = 0.0
    ) -> Subspace:
        slope = slope - (slope @ self.held.T) @ self.held
        size = np.linalg.norm(slope)
        if size == 0:
            return state
        basis = _nearest(slope / size + (CURRENT_AXES_WEIGHT + damping) * state.basis)
        left = basis - (basis @ self.held.T) @ self.held
        # If the held axes explain the rows, only rounding errors remain.
        if np.linalg.norm(left) < 0.9 * np.linalg.norm(basis):
            return state
        return replace(state, basis=_nearest(left))

    def _step(
        self, state: Subspace, here: Pull, slope: NDArray[Any]
    ) -> tuple[Subspace, Pull | None]:
        after = self._moved(state, slope)
        if self.p >= 1:
            return after, None
        # Always begin with the longest step, which leaves poor maxima. Beginning with
        # the length of the last step takes a third of the time, but ends lower.
        damping = 0.25
        for _ in range(MOST_DAMPINGS):
            ahead = self.pull(after)
            if ahead.value >= here.value:
                return after, ahead
            after, damping = self._moved(state, slope, damping), 2 * damping
        return state, here


def _nearest(B: NDArray[Any]) -> NDArray[np.float64]:
    """Return the nearest basis with orthonormal rows; fast for one row."""
    return orthonormal(B) if len(B) > 1 else B / np.linalg.norm(B)


def _distance(a: Subspace, b: Subspace) -> float:
    return float(np.linalg.norm(a.basis - b.basis) / np.sqrt(len(a.basis)))


@dataclass(frozen=True)
class SignSearch:
    """Search for the axes, all together or one after the other.

    Attributes
    ----------
    method : SignMethod
    problem : Problem
    p : float
        Power of the scores.
    """

    method: SignMethod
    problem: Problem
    p: float

    @cached_property
    def moments(self) -> Moments:
        """Moments of all rows about the center."""
        problem = self.problem
        return plain_moments(problem.rows, problem.counts, self.method.center)

    @cached_property
    def tol(self) -> float:
        """Tolerance of each iteration."""
        return self.problem.reachable(self.method.tol)

    def together(self, k: int) -> IterationResult[StepResult]:
        """Search for all axes together."""
        return self._best(k, np.zeros((0, self.problem.rows.shape[1])))

    def greedy(self, k: int) -> IterationResult[StepResult]:
        """Search for one axis after the other, each orthogonal to those before."""
        held = np.zeros((0, self.problem.rows.shape[1]))
        results = []
        for _ in range(k):
            results.append(self._best(1, held))
            held = np.vstack([held, results[-1].last.next.basis])
        joined = reduce(lambda earlier, later: later.after(earlier), results)
        component = np.repeat(np.arange(k), [result.n_iter for result in results])
        history = {**joined.history, "component": component.astype(float)}
        worst = max(result.last.change for result in results)
        last = results[-1].last
        last = replace(last, next=replace(last.next, basis=held), change=worst)
        converged = all(result.converged for result in results)
        return IterationResult(last, history, converged)

    def _best(self, k: int, held: NDArray[Any]) -> IterationResult[StepResult]:
        least = np.finfo(float).tiny
        smooth = 1e-6 * np.sqrt(max(self.moments.total(), least))
        problem = self.problem
        step = SignStep(problem.rows, self.p, smooth, problem.counts, held)
        rng = problem.rng()
        starts = [self._first(k, held, rng)]
        others = [self._random(k, held, rng) for _ in range(self.method.n_init - 1)]
        if others and problem.sample.large:
            # Choose the best on the sample; only that one continues with all rows.
            sample = ArrayRows(problem.sample.X)
            part = replace(step, rows=sample, counts=None)
            others = [self._iterate(part, others).last.next]
        return self._iterate(step, [*starts, *others])

    def _iterate(
        self, step: SignStep, starts: list[Subspace]
    ) -> IterationResult[StepResult]:
        results = (
            iterate(
                step,
                start,
                max_iter=self.method.max_iter,
                tol=self.tol,
                # If p <= 1, steps are not smooth.
                accelerator=Squarem() if self.p > 1 else None,
            )
            for start in starts
        )
        return best_of(results, sense=1)

    def _first(self, k: int, held: NDArray[Any], rng: np.random.Generator) -> Subspace:
        if self.method.init == "random":
            return self._random(k, held, rng)
        if self.method.init == "largest":
            return self._axes(self._longest(held), held)
        left = np.eye(len(self.moments.pivot)) - held.T @ held
        scatter = self.moments.full_scatter()
        return self._axes(top_eigen(left @ scatter @ left, k)[0], held)

    def _longest(self, held: NDArray[Any]) -> NDArray[np.float64]:
        problem, mean = self.problem, self.moments.mean()
        e = measure_rows(problem.rows, Subspace(mean, held, np.ones(len(held)), 1.0)).e
        if problem.counts is not None:
            e = np.where(problem.counts > 0, e, -1.0)
        return problem.rows.take(np.array([e.argmax()])) - mean

    def _random(self, k: int, held: NDArray[Any], rng: np.random.Generator) -> Subspace:
        y = self.problem.sample.X - self.moments.mean()
        return self._axes(rng.standard_normal((k, len(y))) @ y, held)

    def _axes(self, directions: NDArray[Any], held: NDArray[Any]) -> Subspace:
        """Return axes near the given directions, orthogonal to the held axes."""
        k = len(directions)
        for _ in range(2):  # twice is enough to be orthogonal up to rounding errors
            left = directions - (directions @ held.T) @ held
            size, before = float(np.linalg.norm(left)), np.linalg.norm(directions)
            if not size > 1e-12 * before:  # nothing is left: any axes will do
                left = np.linalg.svd(held, full_matrices=True)[2][len(held) :][:k]
                size = 1.0
            directions = orthonormal(left / size)
        return Subspace(self.moments.mean(), directions, np.ones(k), 1.0)


@dataclass(eq=False, repr=False, kw_only=True)
class SignMethod(FixedCenterMethod):
    """Base class of methods that maximize sum |t|^p.

    Parameters
    ----------
    max_iter, tol, n_init, center
        See `FixedCenterMethod`.
    init : {"largest", "pca", "random"}, default="largest"
        Start at the longest row, at the leading eigenvectors, or at random combinations
        of rows.
    """

    init: Literal["largest", "pca", "random"] = choice("largest", "pca", "random")

    def _axes(self, problem: Problem, k: int, p: float, *, greedy: bool) -> FitResult:
        """Iterate from several starts, and keep the best."""
        search = SignSearch(self, problem, p)
        found = search.greedy(k) if greedy else search.together(k)
        subspace = along(found.last.next.basis, search.moments)
        subspace = subspace if greedy else subspace.sorted()
        return FitResult(subspace, found, search.tol)


@dataclass(eq=False, repr=False, kw_only=True)
class PCAL1(SignMethod):
    """PCA-L1, greedy: one axis after the other, by largest sum of absolute scores.

    Maximizes ``sum |w'x|`` over unit vectors w. The next w is the normalized sum of the
    rows, each multiplied by the sign of its score. Further axes are found in the
    residuals of the rows.

    The objective rises at every iteration of each component, and converges after a
    finite number of them. It depends on the axes, not only on their span, so the axes
    are not rotated: their scores may be correlated, and their variances unsorted.

    Confidence: as published (a score of 0 is given a sign, where the paper perturbs w
    at random).

    Parameters
    ----------
    init : {"largest", "pca", "random"}, default="largest"
        Start: the longest row, as the paper suggests, the principal axis, or a random
        combination of rows.
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    center : {"mean", "median"}, default="mean"
        Fixed center: sample mean, as published, or spatial median (more robust).
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`. `max_iter` applies to
        each component; `history_["component"]` has the component of every iteration.

    References
    ----------
    N. Kwak (2008): Principal component analysis based on L1-norm maximization.

    Examples
    --------
    >>> from trueaxis.methods import PCAL1
    >>> from trueaxis.datasets import planted
    >>> PCAL1(3).fit(planted("scatter", share=0.1).X).components_.shape
    (3, 20)
    """

    def _search(self, problem: Problem, k: int) -> FitResult:
        return self._axes(problem, k, 1.0, greedy=True)


@dataclass(eq=False, repr=False, kw_only=True)
class PCAL1NonGreedy(SignMethod):
    """PCA-L1, non-greedy: all axes together.

    Maximizes ``sum |P x|`` (over rows and components) over orthonormal P. The next P
    is the orthonormal basis nearest to the sums of the rows, each multiplied by the
    signs of its scores.

    The objective rises at every iteration, and converges after a finite number of them.
    It depends on the axes, not only on their span, so the axes are not rotated, only
    sorted.

    Confidence: as published.

    Parameters
    ----------
    init : {"pca", "random"}, default="pca"
        Start: the principal axes, or random combinations of rows.
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    center : {"mean", "median"}, default="mean"
        Fixed center: sample mean, as published, or spatial median (more robust).
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    References
    ----------
    F. Nie, H. Huang, C. Ding, D. Luo, H. Wang (2011): Robust principal component
    analysis with non-greedy L1-norm maximization.

    Examples
    --------
    >>> from trueaxis.methods import PCAL1NonGreedy
    >>> from trueaxis.datasets import planted
    >>> PCAL1NonGreedy(3).fit(planted("scatter", share=0.1).X).converged_
    True
    """

    init: Literal["pca", "random"] = choice("pca", "random")

    def _search(self, problem: Problem, k: int) -> FitResult:
        return self._axes(problem, k, 1.0, greedy=False)


@dataclass(eq=False, repr=False, kw_only=True)
class PCALp(SignMethod):
    """PCA-Lp: axes with the largest sum of p-th powers of absolute scores.

    Maximizes ``sum |w'x|^p`` over unit vectors w. The next w is the normalized sum of
    ``sign(t) |t|^(p-1) x``, t = w'x.

    The objective rises at every iteration. For p < 1, where the published step may
    lower it, steps are shortened until they do not (and scores are smoothed by 1e-6 of
    their size). Below 1 there is a local maximum between almost any two rows, and
    rounding may decide which one is found.

    Confidence: as published for p >= 1; for p < 1 the shortened steps are ours.

    Parameters
    ----------
    p : float, default=0.5
        Power of the scores, in (0, 100]; 1 is PCA-L1, 2 plain PCA.
    greedy : bool, default=True
        Whether to find one axis after the other, as published, or all together.
    init : {"pca", "largest", "random"}, default="pca"
        Start: the principal axes, the longest row (greedy only), or random combinations
        of rows.
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    center : {"mean", "median"}, default="mean"
        Fixed center: sample mean, as published, or spatial median (more robust).
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    References
    ----------
    N. Kwak (2013): Principal component analysis by Lp-norm maximization.

    Examples
    --------
    >>> from trueaxis.methods import PCALp
    >>> from trueaxis.datasets import planted
    >>> PCALp(3, p=1.5).fit(planted("scatter", share=0.1).X).converged_
    True
    """

    p: float = number(0.5, 0, 100)
    max_iter: int = number(2000, 1, whole=True)
    greedy: bool = flag(True)
    init: Literal["pca", "largest", "random"] = choice("pca", "largest", "random")

    def _search(self, problem: Problem, k: int) -> FitResult:
        if not self.greedy:
            validate_choice("init", self.init, ("pca", "random"))
        return self._axes(problem, k, float(self.p), greedy=bool(self.greedy))
