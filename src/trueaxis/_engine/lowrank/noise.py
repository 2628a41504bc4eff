"""Estimate of the dense noise in data with low rank and gross errors.

Stable pursuit needs it if the user gives none. Each round fits a truncated singular
value decomposition and replaces the entries that do not fit; `iterate` repeats it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.dimension import hard_threshold
from trueaxis._engine.iterate import StepResult, iterate
from trueaxis._engine.lowrank.proximal import INACCURATE, gram_spectrum

MAD_TO_SIGMA = 1.4826
# Gross errors are entries farther than this many sigma from 0 (at first, because the
# structure may have heavy tails), and later from the fit.
FIRST_CUT, CUT = 5.0, 3.0
# The rank grows only while fewer entries than this share are judged differently than
# before: replaced entries look like structure.
SETTLED = 0.005
MAX_ROUNDS = 50


@dataclass(frozen=True)
class RepairedData:
    """The data with gross errors replaced by a low-rank fit.

    Attributes
    ----------
    filled : ndarray
        The data with gross errors replaced.
    sound : ndarray of bool
        Entries that are not gross errors.
    rank : int
        Rank of the fit.
    sigma : float
        Standard deviation of the noise.
    flipped : float
        Share of entries that were judged differently in the round before.
    """

    filled: NDArray[np.float64]
    sound: NDArray[np.bool_]
    rank: int
    sigma: float
    flipped: float = 0.0


def noise_level(X: NDArray[np.float64]) -> float:
    """Return the standard deviation of the noise in X = low rank + sparse + noise.

    Without noise, it is 0 up to rounding errors.
    """
    X = X if len(X) >= X.shape[1] else np.ascontiguousarray(X.T)
    sigma = MAD_TO_SIGMA * float(np.median(np.abs(X)))
    bound = FIRST_CUT * sigma
    start = RepairedData(np.clip(X, -bound, bound), np.abs(X) <= bound, 0, sigma)
    found = iterate(NoiseStep(X), start, max_iter=MAX_ROUNDS, tol=0.0)
    return float(found.last.next.sigma)


class NoiseStep:
    """Step that fits a low-rank matrix to the repaired data, and repairs them again.

    Parameters
    ----------
    X : ndarray of shape (n, D), n >= D
    """

    def __init__(self, X: NDArray[np.float64]) -> None:
        self.X = X
        self.threshold = hard_threshold(*X.shape)

    def __call__(
        self, state: RepairedData, previous: StepResult | None = None
    ) -> StepResult:
        """Take one step; the change is the share of entries reclassified."""
        n, D = self.X.shape
        s, Vt = gram_spectrum(state.filled)
        if not np.median(s[state.rank :]) > INACCURATE * s[0]:
            s, Vt = np.linalg.svd(state.filled, full_matrices=False)[1:]
        # The median of the singular values of noise: the first `rank` are structure.
        edge = self.threshold * np.median(s[state.rank :])
        most = D // 2 if state.flipped <= SETTLED else state.rank
        rank = min(int((s > edge).sum()), most)
        fit = state.filled @ Vt[:rank].T @ Vt[:rank]
        off = np.abs(self.X - fit)
        freedom = np.sqrt(n * D / ((n - rank) * (D - rank)))
        sigma = MAD_TO_SIGMA * float(np.median(off[state.sound]) * freedom)
        sound = off <= CUT * sigma
        flipped = float((sound != state.sound).mean())
        after = RepairedData(np.where(sound, self.X, fit), sound, rank, sigma, flipped)
        change = flipped + abs(rank - state.rank)
        return StepResult(after, state.sigma, change, float(sound.sum()) / D)
