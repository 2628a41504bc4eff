"""LOOP: step, history, stop. The only loop in the library.

A step looks at the data from one state and says where to go next; this module repeats
it, records what happened and decides when it is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from trueaxis._rows.progress import during

ROUNDING = 1e-13


@dataclass(frozen=True)
class StepResult:
    """What one step found out.

    Attributes
    ----------
    next : object
        The state that it leads to.
    objective : float
        Value where it started.
    change : float
        How far it went.
    effective : float
        Effective sample size behind it.
    """

    next: Any
    objective: float
    change: float
    effective: float


class Accelerator(Protocol):
    """Guesses, from pairs of a state and the next one, where the steps lead to."""

    def guess(self, state: Any, following: Any) -> Any:
        """Return a state beyond `following`, or `following` itself."""

    def forget(self) -> None:
        """The last guess was wrong: start anew."""


T = TypeVar("T", bound=StepResult)


@dataclass(frozen=True)
class IterationResult(Generic[T]):
    """The last turn and the way there.

    Attributes
    ----------
    turn : StepResult
        At the last state that was looked at, with what was seen there.
    history : dict of ndarray
        "objective", "change" (of the subspace) and "effective" (sample size), one
        value per iteration.
    converged : bool
    """

    turn: T
    history: dict[str, NDArray[np.float64]]
    converged: bool

    def after(self, earlier: IterationResult[T]) -> IterationResult[T]:
        """The same end, with the way to where it began before its own."""
        history = {
            name: np.concatenate([values, self.history[name]])
            for name, values in earlier.history.items()
        }
        return IterationResult(self.turn, history, self.converged)

    @property
    def n_iter(self) -> int:
        """Number of iterations made."""
        return len(self.history["objective"])


def iterate(
    step: Callable[..., T],
    state: Any,
    *,
    max_iter: int,
    tol: float,
    previous: T | None = None,
    leap: Accelerator | None = None,
    sense: int = 1,
) -> IterationResult[T]:
    """Repeat `step` until neither the state nor the objective moves.

    Parameters
    ----------
    step : callable
        (state, previous turn or None) -> turn.
    state : object
        Where to start.
    max_iter : int
        Largest number of steps.
    tol : float
        Stop when the state changed by at most `tol` and the objective by at most `tol`
        (times its size, if above 1).
    previous : StepResult, optional
        The turn that led to `state`.
    leap : Accelerator, optional
        Guesses from the steps so far where they lead to. A guess that makes the
        objective worse is taken back.
    sense : int
        1 if the steps raise the objective, -1 if they lower it.

    Returns
    -------
    IterationResult
    """
    turns: list[tuple[float, float, float]] = []
    turn, plain, converged = previous, state, False
    while len(turns) < max_iter:
        guessed = state is not plain
        with during(f"iteration {len(turns) + 1}"):
            found = step(state, turn)
        worse = guessed and sense * (found.objective - turns[-1][0]) < 0
        if leap is not None and worse:
            leap.forget()
            state = plain
            continue
        turn, plain = found, found.next
        turns.append((turn.objective, turn.change, turn.effective))
        converged = not guessed and turn.change <= tol and _settled(turns, tol)
        if converged:
            break
        near = turn.change <= tol  # a plain step must confirm that it is over
        state = plain if leap is None or near else leap.guess(state, plain)
    assert turn is not None  # max_iter >= 1 is checked where it enters
    objective, change, effective = np.array(turns).T
    history = {"objective": objective, "change": change, "effective": effective}
    return IterationResult(turn, history, bool(converged))


def at_once(objective: float, effective: float) -> IterationResult[StepResult]:
    """The result of a method that needs no iteration."""
    turn = StepResult(None, objective, 0.0, effective)
    history = {"objective": objective, "change": 0.0, "effective": effective}
    return IterationResult(
        turn, {name: np.array([x]) for name, x in history.items()}, True
    )


def best_of(results: Iterable[IterationResult[T]], sense: int) -> IterationResult[T]:
    """The result with the best objective, the first of equals."""
    return max(results, key=lambda result: sense * result.turn.objective)


def _settled(turns: list[tuple[float, float, float]], tol: float) -> bool:
    if len(turns) < 2:
        return turns[-1][1] == 0
    now, before = turns[-1][0], turns[-2][0]
    return abs(now - before) <= max(tol, ROUNDING) * max(1.0, abs(now))
