"""PURSUE: low rank plus sparse, in memory.

Steps that `iterate` repeats; an estimator then takes its components from the low rank.
Notation: X data (rows are samples), L low rank, S sparse entries, O outlying rows.
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
    """X = L + S on the way: the multiplier proves optimality at the end."""

    low_rank: Matrix
    sparse: Matrix
    multiplier: Matrix
    mu: float
    nuclear: float

    def gross(self) -> Matrix:
        """What is not of low rank, and no noise."""
        return self.sparse


@dataclass(frozen=True)
class Decomposition:
    """X = L + S + O + noise on the way; `aim` is the S + O that the next step tries."""

    low_rank: Matrix
    sparse: Matrix
    rows: Matrix
    nuclear: float
    aim: Matrix
    pace: float = 1.0

    def gross(self) -> Matrix:
        """What is not of low rank, and no noise."""
        return self.sparse + self.rows


class PrincipalPursuit:
    """Minimise |L|_* + lam |S|_1 where L + S = X: inexact augmented Lagrangian.

    Candes, Li, Ma, Wright (2011), solved as by Lin, Chen, Ma (2010), who raise mu by
    `rho` in every step. Away from exact recovery that ends short of the optimum (1 % of
    the objective in tall X), because the constraint binds before the multiplier is
    right. With a finite `balance` mu waits while the error of the multiplier is more
    than so many times that of the constraint, and the change is the larger of both.
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
        """Nothing explained yet, and the largest multiplier that is feasible."""
        zeros = np.zeros_like(self.X)
        entry = float(np.abs(self.X).max(initial=0.0))
        multiplier = self.X / max(self.spectral, entry / self.lam)
        return AugmentedSplit(zeros, zeros, multiplier, self._first_mu(), 0.0)

    def __call__(
        self, state: AugmentedSplit, previous: StepResult | None = None
    ) -> StepResult:
        """One round of S, L and multiplier; the change is what L + S leaves of X."""
        waits = np.isfinite(self.balance)
        lifted = self.X + state.multiplier / state.mu
        S = soft_threshold(lifted - state.low_rank, self.lam / state.mu)
        L = singular_threshold(lifted - S, 1 / state.mu)
        left = self.X - L.matrix - S
        multiplier = state.multiplier + state.mu * left
        primal = float(np.linalg.norm(left)) / self.size
        off = state.mu * float(np.linalg.norm(L.matrix - state.low_rank))
        dual = off / max(float(np.linalg.norm(multiplier)), TINY) if waits else 0.0
        ready = not waits or dual <= self.balance * primal
        mu = min(self.rho * state.mu, self.mu_max) if ready else state.mu
        found = AugmentedSplit(L.matrix, S, multiplier, mu, L.nuclear)
        change = max(primal, dual)
        return StepResult(found, self.objective(state), change, float(len(self.X)))

    def objective(self, state: AugmentedSplit) -> float:
        """|L|_* + lam |S|_1; it may rise on the way."""
        if not np.isfinite(self.lam):  # nothing is sparse then
            return state.nuclear
        return state.nuclear + self.lam * float(np.abs(state.sparse).sum())

    def _first_mu(self) -> float:
        # Without data any number will do, but the inverse of TINY overflows.
        return 1.25 / max(self.spectral, 1e-150)


class PenalisedPursuit:
    """Minimise |L|_* + lam |S|_1 + gam sum_i |o_i| + |X - L - S - O|^2 / (2 mu).

    Stable pursuit (Zhou et al. 2010) if `gam` is inf, else with outlying rows o_i. L
    and (S, O) take turns, each solved exactly: a proximal gradient step in S + O of
    length one over the Lipschitz constant. Hence Nesterov's extrapolation holds; where
    it would raise the objective, a plain step is taken instead.
    """

    def __init__(
        self,
        X: Matrix,
        mu: float,
        lam: float | None = None,
        gam: float = np.inf,
    ) -> None:
        self.X, self.gam = X, gam
        self.mu = max(mu, TINY)  # of zeros the noise level is zero
        self.lam = default_lam(X) if lam is None else lam
        self.size = max(float(np.linalg.norm(X)), TINY)

    def start(self) -> Decomposition:
        """Nothing explained yet."""
        zeros = np.zeros_like(self.X)
        return Decomposition(zeros, zeros, zeros, 0.0, aim=zeros)

    def __call__(
        self, state: Decomposition, previous: StepResult | None = None
    ) -> StepResult:
        """L for the extrapolated S + O, then S and O for L; no step goes up."""
        before = self.objective(state)
        found = self._round(state, state.aim, state.pace)
        if self.objective(found) > before:
            found = self._round(state, state.sparse + state.rows, 1.0)
        moved = [
            found.low_rank - state.low_rank,
            found.sparse - state.sparse,
            found.rows - state.rows,
        ]
        change = float(np.linalg.norm(moved)) / self.size
        return StepResult(found, before, change, float(len(self.X)))

    def objective(self, state: Decomposition) -> float:
        """The penalised objective."""
        left = self.X - state.low_rank - state.sparse - state.rows
        value = state.nuclear + float(np.vdot(left, left)) / (2 * self.mu)
        # A block that is absent costs nothing, even at an infinite price.
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
    """One over the root of the longer side."""
    return 1 / np.sqrt(max(X.shape))
