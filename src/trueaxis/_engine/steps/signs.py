"""STEP of the sign and power family: pull the axes towards the rows, make them a basis.

Methods that maximise sum |t|^p over the scores t of rows on orthonormal axes: not a
function of v and e, so rows are not weighed but pull, each on every axis, by the slope
of its score. One pass per step, as in `reweighted`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.iterate import IterationResult, StepResult, best_of, iterate
from trueaxis._engine.moments import Moments
from trueaxis._engine.problem import Problem
from trueaxis._engine.reweighted import measure_rows
from trueaxis._engine.squarem import Squarem
from trueaxis._engine.subspace import Subspace, orthonormal, top_eigen
from trueaxis._rows.base import ArrayRows, Kernel, Rows

MOST_DAMPINGS = 60
# Keeps axes that nothing pulls where they are, and moves no other.
HOLD = 1e-13


class Pull(NamedTuple):
    """Sums over all rows, for k axes.

    value : sum of |t|^p
    slope : (k, D), rows times the slope of |t|^p
    level : (k, D), sum of the rows whose score is 0, where |t| has no slope, each on
        one side of a plane so that they do not cancel
    """

    value: float
    slope: NDArray[np.float64]
    level: NDArray[np.float64]


@dataclass(frozen=True)
class PowerPull(Kernel):
    """The pass: scores of a block on the axes, and how its rows pull on them.

    Attributes
    ----------
    axes : Subspace
    p : float
    smooth : float
        For p < 1 scores are made sqrt(t^2 + smooth^2): at 0 the slope is infinite.
    counts : ndarray, optional
        How often each row counts.
    """

    title = "axes"
    axes: Subspace
    p: float
    smooth: float
    counts: NDArray[np.float64] | None

    def part(self, first: int, n: int) -> PowerPull:
        """The kernel for n rows from row `first` on."""
        if self.counts is None:
            return self
        return replace(self, counts=self.counts[first : first + n])

    def start(self) -> list[Pull]:
        """Return an empty state."""
        nothing = np.zeros_like(self.axes.basis)
        return [Pull(0.0, nothing, nothing.copy())]

    def absorb(self, state: list[Pull], block: NDArray[Any], first: int) -> None:
        """Add a block."""
        y = (block - self.axes.mean).astype(float, copy=False)
        t = y @ self.axes.basis.T
        size = np.hypot(t, self.smooth) if self.p < 1 else np.abs(t)
        value = size**self.p
        if self.p < 1:
            slope = t * size ** (self.p - 2)
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
        """Add the state of later rows to that of earlier ones."""
        (one,), (two,) = state, other
        return [
            Pull(one.value + two.value, one.slope + two.slope, one.level + two.level)
        ]


@dataclass(frozen=True)
class SignStepResult(StepResult):
    """A step, and the pull at its `next` where that was already needed."""

    state: Subspace
    ahead: Pull | None


@dataclass(frozen=True)
class PolarStep:
    """The nearest orthonormal basis to what the rows pull the axes towards.

    For p >= 1 the objective is convex, so that it cannot fall. For p < 1 it is not, and
    the step is shortened until it does not fall.

    Attributes
    ----------
    rows : Rows
    p, smooth : float
    counts : ndarray, optional
    held : ndarray of shape (j, D)
        Axes found before, which the new ones are to be orthogonal to.
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
        if self.p <= 1 and not _distance(state, after) and here.level.any():
            # On the edge of a sign: either side is better than this one.
            after, ahead = self._step(state, here, here.slope + here.level)
        n = self.rows.shape[0] if self.counts is None else float(self.counts.sum())
        return SignStepResult(
            next=after,
            objective=here.value,
            change=_distance(state, after),
            effective=n,
            state=state,
            ahead=ahead,
        )

    def pull(self, axes: Subspace) -> Pull:
        """How the rows pull on these axes."""
        kernel = PowerPull(axes, self.p, self.smooth, self.counts)
        return self.rows.scan(kernel)[1][0]

    def _moved(
        self, state: Subspace, slope: NDArray[Any], damping: float = 0.0
    ) -> Subspace:
        slope = slope - (slope @ self.held.T) @ self.held
        size = np.linalg.norm(slope)
        if size == 0:
            return state
        basis = orthonormal(slope / size + (HOLD + damping) * state.basis)
        left = basis - (basis @ self.held.T) @ self.held
        # Nothing but rounding is left of rows that the axes held explain.
        if np.linalg.norm(left) < 0.9 * np.linalg.norm(basis):
            return state
        return replace(state, basis=orthonormal(left))

    def _step(
        self, state: Subspace, here: Pull, slope: NDArray[Any]
    ) -> tuple[Subspace, Pull | None]:
        after = self._moved(state, slope)
        if self.p >= 1:
            return after, None
        damping = 0.25
        for _ in range(MOST_DAMPINGS):
            ahead = self.pull(after)
            if ahead.value >= here.value:
                return after, ahead
            after, damping = self._moved(state, slope, damping), 2 * damping
        return state, here


def _distance(a: Subspace, b: Subspace) -> float:
    return float(np.linalg.norm(a.basis - b.basis) / np.sqrt(len(a.basis)))


@dataclass(frozen=True)
class SignSearch:
    """How a method of the family looks for its axes.

    Attributes
    ----------
    ground : Problem
    moments : Moments
        Of all rows, about the center.
    p : float
    init : {"largest", "pca", "random"}
        Start at the longest row, at the leading eigenvectors, or at random combinations
        of rows.
    n_init : int
        Number of starts; all but the first are random.
    max_iter, tol
        Of each iteration.
    """

    problem: Problem
    moments: Moments
    p: float
    init: str
    n_init: int
    max_iter: int
    tol: float

    def together(self, k: int) -> IterationResult[SignStepResult]:
        """All axes at once."""
        return self._best(k, np.zeros((0, self.problem.rows.shape[1])))

    def greedy(self, k: int) -> IterationResult[SignStepResult]:
        """One axis after the other, each in what the ones before left."""
        held = np.zeros((0, self.problem.rows.shape[1]))
        found = []
        for _ in range(k):
            found.append(self._best(1, held))
            held = np.vstack([held, found[-1].last.next.basis])
        history = reduce(lambda one, two: two.after(one), found).history.copy()
        of = [np.full(one.n_iter, j, dtype=float) for j, one in enumerate(found)]
        history["component"] = np.concatenate(of)
        last, worst = found[-1].last, max(one.last.change for one in found)
        last = replace(last, next=replace(last.next, basis=held), change=worst)
        return IterationResult(last, history, all(one.converged for one in found))

    def _best(self, k: int, held: NDArray[Any]) -> IterationResult[SignStepResult]:
        least = np.finfo(float).tiny
        smooth = 1e-6 * np.sqrt(max(self.moments.total(), least))
        problem = self.problem
        step = PolarStep(problem.rows, self.p, smooth, problem.counts, held)
        rng = problem.rng()
        starts = [self._first(k, held, rng)]
        others = [self._random(k, held, rng) for _ in range(self.n_init - 1)]
        if others and problem.sample.large:
            # A sample tells which is best; only that one goes on with all rows.
            part = replace(step, rows=ArrayRows(problem.sample.X), counts=None)
            others = [self._climb(part, others).last.next]
        return self._climb(step, [*starts, *others])

    def _climb(
        self, step: PolarStep, starts: list[Subspace]
    ) -> IterationResult[SignStepResult]:
        # Signs settle by themselves, and below 1 there is little to extrapolate.
        def climb(start: Subspace) -> IterationResult[SignStepResult]:
            accelerator = Squarem() if self.p > 1 else None
            return iterate(
                step,
                start,
                max_iter=self.max_iter,
                tol=self.tol,
                accelerator=accelerator,
            )

        return best_of(map(climb, starts), sense=1)

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
        S = self.problem.sample.X
        return self._axes(
            rng.standard_normal((k, len(S))) @ (S - self.moments.mean()), held
        )

    def _axes(self, towards: NDArray[Any], held: NDArray[Any]) -> Subspace:
        """A basis near these directions, orthogonal to the axes held."""
        k = len(towards)
        for _ in range(2):  # twice is enough to be orthogonal to rounding
            left = towards - (towards @ held.T) @ held
            size, before = float(np.linalg.norm(left)), np.linalg.norm(towards)
            if not size > 1e-12 * before:  # nothing left: any axes will do
                left = np.linalg.svd(held, full_matrices=True)[2][len(held) :][:k]
                size = 1.0
            towards = orthonormal(left / size)
        return Subspace(self.moments.mean(), towards, np.ones(k), 1.0)
