"""The steps of low-rank plus sparse decompositions, in memory.

`iterate` repeats them; the components are those of the low-rank part. Notation: X data
(rows are samples), L low rank, S sparse entries, O outlying rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueaxis._engine.iterate import StepResult
from trueaxis._engine.lowrank.proximal import (
    TINY,
    Matrix,
    singular_threshold,
    soft_threshold,
    sparse_and_rows,
)


@dataclass(frozen=True)
class AugmentedSplit:
    """State of X = L + S.

    Attributes
    ----------
    low_rank, sparse : ndarray
        L and S.
    multiplier : ndarray
        Lagrange multiplier; proves optimality at the end.
    mu : float
        Penalty of the constraint.
    nuclear : float
        Nuclear norm of L.
    """

    low_rank: Matrix
    sparse: Matrix
    multiplier: Matrix
    mu: float
    nuclear: float

    def gross(self) -> Matrix:
        """Return the gross errors: neither low rank nor noise."""
        return self.sparse


@dataclass(frozen=True)
class Decomposition:
    """State of X = L + S + O + noise.

    Attributes
    ----------
    low_rank, sparse, rows : ndarray
        L, S and O.
    nuclear : float
        Nuclear norm of L.
    aim : ndarray
        Extrapolated S + O, from which the next step starts.
    pace : float
        Nesterov's sequence, on which the extrapolation depends.
    """

    low_rank: Matrix
    sparse: Matrix
    rows: Matrix
    nuclear: float
    aim: Matrix
    pace: float = 1.0

    def gross(self) -> Matrix:
        """Return the gross errors: neither low rank nor noise."""
        return self.sparse + self.rows


class PrincipalPursuit:
    """Minimize |L|_* + lam |S|_1 subject to L + S = X: inexact augmented Lagrangian.

    Candes, Li, Ma, Wright (2011), solved as by Lin, Chen, Ma (2010), who raise mu by
    `rho` in every step. Unless recovery is exact, that stops short of the optimum (by
    1 % of the objective for tall X), because the constraint holds before the multiplier
    has converged. With a finite `balance`, mu stays as it is while the error of the
    multiplier is more than `balance` times that of the constraint, and the change is
    the larger of the two.
    """

    def __init__(
        self,
        X: Matrix,
        lam: float | None = None,
        rho: float = 1.5,
        balance: float = np.inf,
    ) -> None:
        self.X, self.rho, self.balance = X, rho, balance
        self.lam = default_lam(X) if lam is None else lam
        self.size = max(float(np.linalg.norm(X)), TINY)
        self.spectral = max(float(np.linalg.norm(X, 2)), TINY)
        self.mu_max = 1e7 * self._first_mu()

    def start(self) -> AugmentedSplit:
        """Return zeros, and the largest feasible multiple of X as the multiplier."""
        zeros = np.zeros_like(self.X)
        entry = float(np.abs(self.X).max(initial=0.0))
        multiplier = self.X / max(self.spectral, entry / self.lam)
        return AugmentedSplit(zeros, zeros, multiplier, self._first_mu(), 0.0)

    def __call__(
        self, state: AugmentedSplit, previous: StepResult | None = None
    ) -> StepResult:
        """Update S, L and the multiplier; the change is the norm of X - L - S."""
        balanced = np.isfinite(self.balance)
        lifted = self.X + state.multiplier / state.mu
        S = soft_threshold(lifted - state.low_rank, self.lam / state.mu)
        L = singular_threshold(lifted - S, 1 / state.mu)
        left = self.X - L.matrix - S
        multiplier = state.multiplier + state.mu * left
        primal = float(np.linalg.norm(left)) / self.size
        off = state.mu * float(np.linalg.norm(L.matrix - state.low_rank))
        dual = off / max(float(np.linalg.norm(multiplier)), TINY) if balanced else 0.0
        ready = not balanced or dual <= self.balance * primal
        mu = min(self.rho * state.mu, self.mu_max) if ready else state.mu
        after = AugmentedSplit(L.matrix, S, multiplier, mu, L.nuclear)
        change = max(primal, dual)
        return StepResult(after, self.objective(state), change, float(len(self.X)))

    def objective(self, state: AugmentedSplit) -> float:
        """Return |L|_* + lam |S|_1, which may rise in a step."""
        if not np.isfinite(self.lam):  # S = 0 then
            return state.nuclear
        return state.nuclear + self.lam * float(np.abs(state.sparse).sum())

    def _first_mu(self) -> float:
        # The inverse of TINY, for X = 0, would overflow.
        return 1.25 / max(self.spectral, 1e-150)


class PenalisedPursuit:
    """Minimize |L|_* + lam |S|_1 + gam sum_i |o_i| + |X - L - S - O|^2 / (2 mu).

    Stable pursuit (Zhou et al. 2010) if `gam` is inf, otherwise with outlying rows o_i.
    L and (S, O) are solved for alternately and exactly. That is a proximal gradient
    step in S + O, of length one over the Lipschitz constant, so Nesterov's
    extrapolation applies. If it raises the objective, a plain step is taken instead.
    """

    def __init__(
        self,
        X: Matrix,
        mu: float,
        lam: float | None = None,
        gam: float = np.inf,
    ) -> None:
        self.X, self.gam = X, gam
        self.mu = max(mu, TINY)  # the noise level of X = 0 is 0
        self.lam = default_lam(X) if lam is None else lam
        self.size = max(float(np.linalg.norm(X)), TINY)

    def start(self) -> Decomposition:
        """Return zeros."""
        zeros = np.zeros_like(self.X)
        return Decomposition(zeros, zeros, zeros, 0.0, aim=zeros)

    def __call__(
        self, state: Decomposition, previous: StepResult | None = None
    ) -> StepResult:
        """Solve for L given the extrapolated S + O, then for S and O given L."""
        before = self.objective(state)
        after = self._round(state, state.aim, state.pace)
        if self.objective(after) > before:
            after = self._round(state, state.sparse + state.rows, 1.0)
        moved = (
            np.linalg.norm(after.low_rank - state.low_rank),
            np.linalg.norm(after.sparse - state.sparse),
            np.linalg.norm(after.rows - state.rows),
        )
        change = float(np.linalg.norm(moved)) / self.size
        return StepResult(after, before, change, float(len(self.X)))

    def objective(self, state: Decomposition) -> float:
        """Return the penalized objective."""
        left = self.X - state.low_rank - state.sparse - state.rows
        value = state.nuclear + float(np.vdot(left, left)) / (2 * self.mu)
        # A part that is 0 costs nothing, even with an infinite penalty.
        if np.isfinite(self.lam):
            value += self.lam * float(np.abs(state.sparse).sum())
        if np.isfinite(self.gam):
            value += self.gam * float(np.linalg.norm(state.rows, axis=1).sum())
        return value

    def _round(self, state: Decomposition, aim: Matrix, pace: float) -> Decomposition:
        L = singular_threshold(self.X - aim, self.mu)
        rest, mu = self.X - L.matrix, self.mu
        S, rows = sparse_and_rows(rest, self.lam * mu, self.gam * mu)
        following = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        moved = S + rows - state.sparse - state.rows
        ahead = S + rows + (pace - 1) / following * moved
        return Decomposition(L.matrix, S, rows, L.nuclear, ahead, following)


def default_lam(X: Matrix) -> float:
    """Return the usual penalty of sparse entries, 1 / sqrt(max(n, D))."""
    lam: float = 1 / np.sqrt(max(X.shape))
    return lam
