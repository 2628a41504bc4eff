"""Acceleration of iterations that move a center and a subspace.

`iterate` asks it where the steps lead to, and takes back what lowers the objective.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.subspace import Subspace, orthonormal

# Many iterations end before a guess could save anything.
PATIENCE = 4
SHORTER = 4.0


class Squarem:
    """The squared extrapolation of Varadhan and Roland (2008), after every two steps.

    Where the steps a -> b -> c would end up, had they one direction and one ratio.
    Bases are turned onto each other first, because only their span matters. A leap that
    had to be taken back makes the next ones shorter, until they succeed.
    """

    def __init__(self) -> None:
        self.path: list[Subspace] = []
        self.seen = 0
        self.longest = np.inf
        self.last = 1.0

    def forget(self) -> None:
        """Start the path anew, with shorter leaps."""
        self.path = []
        self.longest = max(1.0, self.last / SHORTER)

    def guess(self, state: Subspace, following: Subspace) -> Subspace:
        """Where the steps seem to lead to; every other time just `following`."""
        self.seen += 1
        self.path = [*(self.path or [state]), following]
        if len(self.path) < 3 or self.seen < PATIENCE:
            self.path = self.path[-2:]
            return following
        if self.last == self.longest:  # as far as it dared, and it was right
            self.longest *= SHORTER
        a, b, c = self.path
        there, self.last = extrapolate(a, b, c, self.longest)
        self.path = []
        return there


def extrapolate(
    a: Subspace, b: Subspace, c: Subspace, longest: float
) -> tuple[Subspace, float]:
    """The limit of the steps a -> b -> c, were they a geometric series.

    Also how many times as far as one step that is, which `longest` limits.
    """
    unit = np.sqrt(max(c.total, np.finfo(float).tiny))
    # Differences first: beside a column of huge constant they would lose their digits.
    x, y, z = (
        np.vstack([(sub.mean - a.mean) / unit, _turned(sub.basis, c.basis)])
        for sub in (a, b, c)
    )
    step = y - x
    bend = (z - y) - step
    length = np.linalg.norm(bend)
    ratio = 1.0 if length == 0 else max(1.0, float(np.linalg.norm(step) / length))
    ratio = min(ratio, longest)
    there = x + 2.0 * ratio * step + ratio**2 * bend
    basis = orthonormal(there[1:])
    return Subspace(a.mean + there[0] * unit, basis, c.variances, c.total), ratio


def _turned(basis: NDArray[Any], onto: NDArray[Any]) -> NDArray[np.float64]:
    return orthonormal(onto @ basis.T) @ basis
