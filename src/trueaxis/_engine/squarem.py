"""Acceleration of iterations that move a center and a subspace.

`iterate` asks for a guess, and discards it if the objective gets worse.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.subspace import Subspace, orthonormal

PATIENCE = 4  # steps before the first guess; many iterations end before it would help
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
        if len(self.path) < 3 or self.n_steps < PATIENCE:
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
