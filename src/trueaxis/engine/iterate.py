"""LOOP: step, history, stop. The only loop in the library.

A step looks at the data from one state and says where to go next; this module repeats
it, records what happened and decides when it is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

# Most iterations end before leaps could save anything.
PATIENCE = 8


class Turn(Protocol):
    """What one step found out; `next` is the state it leads to."""

    @property
    def next(self) -> Any: ...
    @property
    def objective(self) -> float: ...
    @property
    def change(self) -> float: ...
    @property
    def effective(self) -> float: ...


T = TypeVar("T", bound=Turn)


@dataclass(frozen=True)
class Result(Generic[T]):
    """The last turn and the way there.

    Attributes
    ----------
    turn : Turn
        At the last state that was looked at, with what was seen there.
    history : dict of ndarray
        "objective", "change" (of the subspace) and "effective" (sample size), one
        value per iteration.
    converged : bool
    """

    turn: T
    history: dict[str, NDArray[np.float64]]
    converged: bool

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
    leap: Callable[[Any, Any, Any], Any] | None = None,
) -> Result[T]:
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
        times its size (or `tol`).
    previous : Turn, optional
        The turn that led to `state`.
    leap : callable, optional
        Extrapolates three states in a row. After `PATIENCE` steps every third state is
        a leap; one that would lower the objective is taken back.

    Returns
    -------
    Result
    """
    turns: list[tuple[float, float, float]] = []
    turn, path, landed = previous, [state], False
    converged, budget = False, max_iter
    while not converged and budget:
        budget -= 1
        found = step(path[-1], turn)
        if landed and found.objective < turns[-1][0]:
            path, landed = [fallback], False
            continue
        turn = found
        turns.append((turn.objective, turn.change, turn.effective))
        converged = not landed and turn.change <= tol and _settled(turns, tol)
        path, landed, fallback = [*path, turn.next], False, turn.next
        if leap is not None and len(turns) >= PATIENCE and len(path) == 3:
            path, landed = [leap(*path)], True
        path = path[-2:] if not landed else path
    assert turn is not None  # max_iter >= 1 is checked where it enters
    objective, change, effective = np.array(turns).T
    history = {"objective": objective, "change": change, "effective": effective}
    return Result(turn, history, converged)


def _settled(turns: list[tuple[float, float, float]], tol: float) -> bool:
    if len(turns) < 2:
        return turns[-1][1] == 0
    now, before = turns[-1][0], turns[-2][0]
    return abs(now - before) <= tol * max(1.0, abs(now))
