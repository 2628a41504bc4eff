"""Methods that maximize sum |t|^p over scores t on orthonormal axes.

The objective is not a function of v and e, so rows have no weights. Instead, a step
adds up its gradient for each axis, and takes the nearest orthonormal basis. It takes
one pass, as in `core.reweighting`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal, NamedTuple

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
from trueaxis.core.recipes import (
    Recipe,
    SearchResult,
)
from trueaxis.core.reweighting import (
    measure_rows,
)
from trueaxis.core.starts import (
    FixedCenter,
    plain_moments,
)
from trueaxis.core.subspace import Subspace, along, orthonormal, top_eigen
from trueaxis.data.rows import ArrayRows, Kernel, Rows
from trueaxis.data.threads import cached_property

MOST_DAMPINGS = 60

# Weight of the current axes, so that axes without a gradient stay where they are.
HOLD = 1e-13


class Pull(NamedTuple):
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

    def start(self) -> list[Pull]:
        """Return an empty state."""
        nothing = np.zeros_like(self.axes.basis)
        return [Pull(0.0, nothing, nothing.copy())]

    def absorb(self, state: list[Pull], block: NDArray[Any], first: int) -> None:
        """Add a block."""
        mean = self.axes.mean
        y = (block - mean if mean.any() else block).astype(float, copy=False)
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
        level = state[0].level
        if flat.any():
            side = np.sign(y @ np.sin(1 + np.arange(y.shape[1])))
            level = level + np.where(flat, side[:, None], 0.0).T @ y
        total = state[0].value + float(value.sum())
        state[0] = Pull(total, state[0].slope + slope.T @ y, level)

    def merge(self, state: list[Pull], other: list[Pull]) -> list[Pull]:
        """Add the state of later rows to the state of earlier ones."""
        (a,), (b,) = state, other
        return [Pull(a.value + b.value, a.slope + b.slope, a.level + b.level)]


@dataclass(frozen=True)
class SignStepResult(StepResult):
    """The outcome of a step.

    Attributes
    ----------
    ahead : Pull or None
        The sums at `next`, if they were computed already.
    """

    ahead: Pull | None


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
        self, state: Subspace, previous: SignStepResult | None = None
    ) -> SignStepResult:
        """Take one step."""
        here = None
        if previous is not None and previous.next is state:
            here = previous.ahead
        here = here or self.pull(state)
        after, ahead = self._step(state, here, here.slope)
        change = _distance(state, after)
        if self.p <= 1 and not change and here.level.any():
            # Some scores are 0: the objective is larger on either side.
            after, ahead = self._step(state, here, here.slope + here.level)
            change = _distance(state, after)
        n = self.rows.shape[0] if self.counts is None else float(self.counts.sum())
        return SignStepResult(
            next=after,
            objective=here.value,
            change=change,
            effective=n,
            ahead=ahead,
        )

    def pull(self, axes: Subspace) -> Pull:
        """Return objective and gradient at these axes."""
        kernel = PowerPull(axes, self.p, self.smooth, self.counts)
        pull: Pull = self.rows.scan(kernel)[1][0]
        return pull

    def _moved(
        self, state: Subspace, slope: NDArray[Any], damping: float = 0.0
    ) -> Subspace:
        slope = slope - (slope @ self.held.T) @ self.held
        size = np.linalg.norm(slope)
        if size == 0:
            return state
        basis = _nearest(slope / size + (HOLD + damping) * state.basis)
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
        # Always from the longest step on: it leaves poor maxima. To begin with the
        # length of the last step takes a third of the time and ends lower.
        damping = 0.25
        for _ in range(MOST_DAMPINGS):
            ahead = self.pull(after)
            if ahead.value >= here.value:
                return after, ahead
            after, damping = self._moved(state, slope, damping), 2 * damping
        return state, here


def _nearest(B: NDArray[Any]) -> NDArray[np.float64]:
    """Return the nearest basis with orthonormal rows; of one row, quickly."""
    return orthonormal(B) if len(B) > 1 else B / np.linalg.norm(B)


def _distance(a: Subspace, b: Subspace) -> float:
    return float(np.linalg.norm(a.basis - b.basis) / np.sqrt(len(a.basis)))


@dataclass(frozen=True)
class SignSearch:
    """Search for the axes, all together or one after the other.

    Attributes
    ----------
    problem : Problem
    moments : Moments
        Moments of all rows about the center.
    p : float
    init : {"largest", "pca", "random"}
        Start at the longest row, at the leading eigenvectors, or at random combinations
        of rows.
    n_init : int
        Number of starts; all but the first are random.
    max_iter, tol
        Limits of each iteration.
    """

    problem: Problem
    moments: Moments
    p: float
    init: str
    n_init: int
    max_iter: int
    tol: float

    def together(self, k: int) -> IterationResult[SignStepResult]:
        """Search for all axes together."""
        return self._best(k, np.zeros((0, self.problem.rows.shape[1])))

    def greedy(self, k: int) -> IterationResult[SignStepResult]:
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

    def _best(self, k: int, held: NDArray[Any]) -> IterationResult[SignStepResult]:
        least = np.finfo(float).tiny
        smooth = 1e-6 * np.sqrt(max(self.moments.total(), least))
        problem = self.problem
        step = SignStep(self._rows, self.p, smooth, problem.counts, held)
        rng = problem.rng()
        starts = [self._first(k, held, rng)]
        others = [self._random(k, held, rng) for _ in range(self.n_init - 1)]
        if others and problem.sample.large:
            # Choose the best on the sample; only that one continues with all rows.
            sample = ArrayRows(problem.sample.X - self._shift)
            part = replace(step, rows=sample, counts=None)
            others = [self._iterate(part, others).last.next]
        return self._iterate(step, [*starts, *others])

    @cached_property
    def _shift(self) -> NDArray[np.float64]:
        """What is subtracted from all rows in advance: the center, if they are few."""
        mean = self.moments.mean()
        return mean if self.problem.rows.one_block else np.zeros_like(mean)

    @cached_property
    def _rows(self) -> Rows:
        rows = self.problem.rows
        return ArrayRows(rows.read() - self._shift) if rows.one_block else rows

    def _iterate(
        self, step: SignStep, starts: list[Subspace]
    ) -> IterationResult[SignStepResult]:
        results = (
            iterate(
                step,
                start,
                max_iter=self.max_iter,
                tol=self.tol,
                # If p <= 1, steps are not smooth.
                accelerator=Squarem() if self.p > 1 else None,
            )
            for start in starts
        )
        return best_of(results, sense=1)

    def _first(self, k: int, held: NDArray[Any], rng: np.random.Generator) -> Subspace:
        if self.init == "random":
            return self._random(k, held, rng)
        if self.init == "largest":
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
        mean = self.moments.mean() - self._shift
        return Subspace(mean, directions, np.ones(k), 1.0)


@dataclass(frozen=True)
class SignRecipe(Recipe):
    """Axes with the largest sum of powers of absolute scores.

    Attributes
    ----------
    p : float
    greedy : bool
        One axis after the other, instead of all together.
    init : {"largest", "pca", "random"}
    center : {"mean", "median"}
    n_init, max_iter, tol
    """

    p: float
    greedy: bool
    init: Literal["largest", "pca", "random"]
    center: FixedCenter
    n_init: int
    max_iter: int
    tol: float

    def search(self, problem: Problem, k: int) -> SearchResult:
        """Iterate from several starts, and keep the best."""
        moments = plain_moments(problem.rows, problem.counts, self.center)
        tol = problem.reachable(self.tol)
        search = SignSearch(
            problem, moments, self.p, self.init, self.n_init, self.max_iter, tol
        )
        found = search.greedy(k) if self.greedy else search.together(k)
        subspace = along(found.last.next.basis, moments)
        return SearchResult(subspace if self.greedy else subspace.sorted(), found, tol)


@dataclass(eq=False, repr=False, kw_only=True)
class PCAL1(FixedCenterMethod):
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

    init: Literal["largest", "pca", "random"] = choice("largest", "pca", "random")

    def _recipe(self) -> Recipe:
        return _sign_recipe(self, p=1.0, greedy=True, init=self.init)


@dataclass(eq=False, repr=False, kw_only=True)
class PCAL1NonGreedy(FixedCenterMethod):
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

    def _recipe(self) -> Recipe:
        return _sign_recipe(self, p=1.0, greedy=False, init=self.init)


@dataclass(eq=False, repr=False, kw_only=True)
class PCALp(FixedCenterMethod):
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

    def _recipe(self) -> Recipe:
        if not self.greedy:
            validate_choice("init", self.init, ("pca", "random"))
        return _sign_recipe(
            self, p=float(self.p), greedy=bool(self.greedy), init=self.init
        )


def _sign_recipe(
    method: FixedCenterMethod,
    *,
    p: float,
    greedy: bool,
    init: Literal["largest", "pca", "random"],
) -> Recipe:
    return SignRecipe(
        p=p,
        greedy=greedy,
        init=init,
        center=method.center,
        n_init=method.n_init,
        max_iter=method.max_iter,
        tol=method.tol,
    )
