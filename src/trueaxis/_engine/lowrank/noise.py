"""NOISE: the level of dense noise under low rank structure and gross errors.

Stable `pursuit` needs it where the user gives none. Rounds of a truncated singular
value decomposition and of mending the entries that do not fit, driven by `iterate`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.dimension import hard_threshold
from trueaxis._engine.iterate import StepResult, iterate

MAD_TO_SIGMA = 1.4826
# Entries further off than so many sigma count as gross errors: first against the
# structure itself, whose tails may be heavy, later against the fit.
FIRST_CUT, CUT = 5.0, 3.0
# The rank grows only while fewer entries than this share change sides: what is being
# mended looks like structure.
SETTLED = 0.005
MAX_ROUNDS = 50


@dataclass(frozen=True)
class RepairedData:
    """The data with gross errors replaced, and what that rests on.

    `flipped` is the share of entries that were judged otherwise in the round before.
    """

    filled: NDArray[np.float64]
    sound: NDArray[np.bool_]
    rank: int
    sigma: float
    flipped: float = 0.0


def noise_level(X: NDArray[np.float64]) -> float:
    """Standard deviation of the dense noise in X = low rank + sparse + noise.

    Zero (or rounding) where there is none, as in X of exact low rank.
    """
    sigma = MAD_TO_SIGMA * float(np.median(np.abs(X)))
    bound = FIRST_CUT * sigma
    start = RepairedData(np.clip(X, -bound, bound), np.abs(X) <= bound, 0, sigma)
    found = iterate(NoiseStep(X), start, max_iter=MAX_ROUNDS, tol=0.0)
    return found.last.next.sigma


class NoiseStep:
    """Fit the low rank to the mended data, then mend by the fit."""

    def __init__(self, X: NDArray[np.float64]) -> None:
        self.X = X
        self.short = min(X.shape)
        self.threshold = hard_threshold(*X.shape)

    def __call__(
        self, state: RepairedData, previous: StepResult | None = None
    ) -> StepResult:
        """One round; the change is the share of entries judged anew."""
        n, D = self.X.shape
        U, s, Vt = np.linalg.svd(state.filled, full_matrices=False)
        # The median over noise alone: what has been found to be structure is not.
        edge = self.threshold * np.median(s[state.rank :])
        most = self.short // 2 if state.flipped <= SETTLED else state.rank
        rank = min(int((s > edge).sum()), most)
        fit = (U[:, :rank] * s[:rank]) @ Vt[:rank]
        off = np.abs(self.X - fit)
        freedom = np.sqrt(n * D / ((n - rank) * (D - rank)))
        sigma = MAD_TO_SIGMA * float(np.median(off[state.sound]) * freedom)
        sound = off <= CUT * sigma
        flipped = float((sound != state.sound).mean())
        found = RepairedData(np.where(sound, self.X, fit), sound, rank, sigma, flipped)
        change = flipped + abs(rank - state.rank)
        return StepResult(found, state.sigma, change, float(sound.sum()) / D)
