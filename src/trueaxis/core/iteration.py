"""The only loop in the library: repeat a step, record a history, decide when to stop.

A step measures the data from one state and returns the next state. `Squarem` guesses
where the steps lead; the guess is discarded if the objective gets worse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from trueaxis.core.subspace import Subspace, orthonormal

ROUNDING = 1e-13


@dataclass(frozen=True)
class StepResult:
    """The outcome of one step.

    Attributes
    ----------
    next : object
        The state that it leads to.
    objective : float
        Value at the state it started from.
    change : float
        Distance between the two states.
    effective : float
        Effective sample size.
    detail : object
        Further results of the step that the method needs.
    """

    next: Any
    objective: float
    change: float
    effective: float
    detail: Any = field(default=None, kw_only=True)


T = TypeVar("T", bound=StepResult)


@dataclass(frozen=True)
class IterationResult(Generic[T]):
    """The last step, and the history of all steps.

    Attributes
    ----------
    last : StepResult
    history : dict of ndarray
        "objective", "change" (of the subspace) and "effective" (sample size), one
        value per iteration.
    converged : bool
    """

    last: T
    history: dict[str, NDArray[np.float64]]
    converged: bool

    def after(self, earlier: IterationResult[T]) -> IterationResult[T]:
        """Return the same result, with the history of `earlier` prepended."""
        history = {
            name: np.concatenate([values, self.history[name]])
            for name, values in earlier.history.items()
        }
        return IterationResult(self.last, history, self.converged)

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.history["objective"])


def iterate(
    step: Callable[..., T],
    state: Any,
    *,
    max_iter: int,
    tol: float,
    accelerator: Squarem | None = None,
    sense: int = 1,
) -> IterationResult[T]:
    """Repeat `step` until neither the state nor the objective moves.

    Parameters
    ----------
    step : callable
        (state, previous step result or None) -> step result.
    state : object
        Where to start.
    max_iter : int
        Largest number of steps.
    tol : float
        Stop when the state changed by at most `tol` and the objective by at most `tol`
        (times its size, if above 1).
    accelerator : Squarem, optional
        Guesses the limit of the steps. A guess that makes the objective worse is
        discarded.
    sense : int
        1 if the steps raise the objective, -1 if they lower it.

    Returns
    -------
    IterationResult
    """
    steps: list[tuple[float, float, float]] = []
    last: T | None = None
    plain, converged = state, False
    while len(steps) < max_iter:
        guessed = state is not plain
        found = step(state, last)
        worse = guessed and sense * (found.objective - steps[-1][0]) < 0
        if accelerator is not None and worse:
            accelerator.forget()
            state = plain
            continue
        last, plain = found, found.next
        steps.append((last.objective, last.change, last.effective))
        converged = not guessed and last.change <= tol and _settled(steps, tol)
        if converged:
            break
        near = last.change <= tol  # a plain step must confirm convergence
        if accelerator is None or near:
            state = plain
        else:
            state = accelerator.guess(state, plain)
    assert last is not None  # max_iter >= 1 was checked
    objective, change, effective = np.array(steps).T
    history = {"objective": objective, "change": change, "effective": effective}
    return IterationResult(last, history, bool(converged))


def at_once(objective: float, effective: float) -> IterationResult[StepResult]:
    """Return the result of a method that has a closed form."""
    last = StepResult(None, objective, 0.0, effective)
    history = {"objective": objective, "change": 0.0, "effective": effective}
    return IterationResult(
        last, {name: np.array([x]) for name, x in history.items()}, True
    )


def best_of(results: Iterable[IterationResult[T]], sense: int) -> IterationResult[T]:
    """Return the result with the best objective; the first of them if tied."""
    return max(results, key=lambda result: sense * result.last.objective)


def _settled(steps: list[tuple[float, float, float]], tol: float) -> bool:
    if len(steps) < 2:
        return steps[-1][1] == 0
    now, before = steps[-1][0], steps[-2][0]
    return abs(now - before) <= max(tol, ROUNDING) * max(1.0, abs(now))


FIRST_GUESS_AFTER = (
    4  # steps before the first guess; many iterations end before it would help
)
SHRINK = 4.0  # factor that shortens the longest step allowed after a failure


class Squarem:
    """The squared extrapolation of Varadhan and Roland (2008), after every two steps.

    The guess is the limit of the steps a -> b -> c if they had one direction and one
    ratio. Bases are rotated onto each other first, because only their span matters.
    After a guess that was discarded the next ones are shorter, until they succeed.
    """

    def __init__(self) -> None:
        self.path: list[Subspace] = []
        self.n_steps = 0
        self.longest = np.inf
        self.last = 1.0

    def forget(self) -> None:
        """Start a new path, with shorter extrapolations."""
        self.path = []
        self.longest = max(1.0, self.last / SHRINK)

    def guess(self, state: Subspace, following: Subspace) -> Subspace:
        """Return the extrapolated limit; `following` if the path is too short."""
        self.n_steps += 1
        self.path = [*(self.path or [state]), following]
        if len(self.path) < 3 or self.n_steps < FIRST_GUESS_AFTER:
            self.path = self.path[-2:]
            return following
        if self.last == self.longest:  # the longest step allowed, and it succeeded
            self.longest *= SHRINK
        a, b, c = self.path
        limit, self.last = extrapolate(a, b, c, self.longest)
        self.path = []
        return limit


def extrapolate(
    a: Subspace, b: Subspace, c: Subspace, longest: float
) -> tuple[Subspace, float]:
    """Return the limit of the steps a -> b -> c if they were a geometric series.

    Also return the step length (1 for plain steps), which `longest` limits.
    """
    unit = np.sqrt(max(c.total, np.finfo(float).tiny))
    # Means relative to that of a: a huge constant column would cost digits otherwise.
    x, y, z = (
        np.vstack([(sub.mean - a.mean) / unit, _rotated(sub.basis, c.basis)])
        for sub in (a, b, c)
    )
    step = y - x
    bend = (z - y) - step
    length = np.linalg.norm(bend)
    ratio = 1.0 if length == 0 else max(1.0, float(np.linalg.norm(step) / length))
    ratio = min(ratio, longest)
    limit = x + 2.0 * ratio * step + ratio**2 * bend
    basis = orthonormal(limit[1:])
    return Subspace(a.mean + limit[0] * unit, basis, c.variances, c.total), ratio


def _rotated(basis: NDArray[Any], onto: NDArray[Any]) -> NDArray[np.float64]:
    rotated: NDArray[np.float64] = orthonormal(onto @ basis.T) @ basis
    return rotated
