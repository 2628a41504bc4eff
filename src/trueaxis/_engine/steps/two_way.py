"""STEP of the two-way model: rows and columns are weighed in turns.

Columns are scaled by the roots of their weights; in the scaled columns it is the step
of `reweighted`, after which the columns get new weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.iterate import IterationResult, StepResult, iterate
from trueaxis._engine.moments import Moments
from trueaxis._engine.problem import Problem
from trueaxis._engine.reweighted import (
    ReweightedResult,
    ReweightedStep,
    Solver,
    measure_rows,
    weighted_moments,
)
from trueaxis._engine.rules.losses import PowerRule
from trueaxis._engine.starts import equal_weights
from trueaxis._engine.subspace import Subspace, spanned, subspace_change
from trueaxis._rows.base import Rows
from trueaxis._rows.transformed import TransformedRows, Where


class ColumnWeighting(NamedTuple):
    """Every column, seen from an origin, times a factor."""

    origin: NDArray[np.float64]
    factors: NDArray[np.float64]

    def __call__(self, block: NDArray[Any], where: Where) -> NDArray[Any]:
        """Return the scaled block."""
        scaled = (block - self.origin) * self.factors
        return scaled.astype(block.dtype, copy=False)

    def part(self, first: int, n: int) -> ColumnWeighting:
        """The same for any rows."""
        return self


@dataclass(frozen=True)
class Scaled:
    """A subspace of scaled columns.

    Attributes
    ----------
    inner : Subspace
        In the scaled columns.
    weights : ndarray of shape (D,)
        Of the columns; their product is 1. Columns are scaled by the roots.
    """

    inner: Subspace
    weights: NDArray[np.float64]

    def unscaled(self) -> NDArray[np.float64]:
        """Orthonormal basis of the same subspace in the columns as given."""
        return np.linalg.qr((self.inner.basis / np.sqrt(self.weights)).T)[0].T

    def with_weights(self, weights: NDArray[Any]) -> Scaled:
        """The same subspace, in columns scaled otherwise."""
        factors = np.sqrt(weights / self.weights)
        basis = np.linalg.qr((self.inner.basis * factors).T)[0].T
        inner = replace(self.inner, mean=self.inner.mean * factors, basis=basis)
        return Scaled(inner, weights)


@dataclass(frozen=True)
class TwoWayTurn(StepResult):
    """A turn, and the step in scaled columns that it is made of."""

    state: Scaled
    scaled: ReweightedResult


@dataclass(frozen=True)
class TwoWayStep:
    """Weigh the rows, solve, weigh the columns.

    Attributes
    ----------
    rows : Rows
    origin : ndarray of shape (D,)
        Columns are scaled as seen from here.
    rule : PowerRule
        Weighs the rows by their distances in the scaled columns.
    counts : ndarray or None
        How often each row counts.
    penalty : float
        Times the sum of the weights of the columns, which it keeps from growing.
    """

    rows: Rows
    origin: NDArray[np.float64]
    rule: PowerRule
    counts: NDArray[np.float64] | None
    penalty: float

    def __call__(self, state: Scaled, previous: TwoWayTurn | None = None) -> TwoWayTurn:
        """Take one step."""
        solver = _Keeping()
        scaling = ColumnWeighting(self.origin, np.sqrt(state.weights))
        rows = TransformedRows(self.rows, scaling)
        turn = ReweightedStep(rows, self.rule, self.counts, solver=solver)(state.inner)
        total = 0.5 * self.rule.p * np.exp(turn.log_total)
        residual = total * _residuals(solver.moments, turn.next.basis) / state.weights
        residual += self.penalty
        # Of all weights with product 1 these make the weighted sum of residuals least.
        weights = np.exp(np.log(residual).mean()) / residual
        after = Scaled(turn.next, state.weights).with_weights(weights)
        return TwoWayTurn(
            next=after,
            objective=turn.objective + self.penalty * float(state.weights.sum()),
            change=subspace_change(after.unscaled(), state.unscaled()),
            effective=turn.effective,
            state=state,
            scaled=turn,
        )


class _Keeping(Solver):
    """The best subspace; keeps the moments, from which columns are judged."""

    def __call__(
        self, moments: Moments, core: Moments | None, state: Subspace
    ) -> Subspace:
        self.moments = moments
        return super().__call__(moments, core, state)


def _residuals(moments: Moments, basis: NDArray[Any]) -> NDArray[np.float64]:
    """Variance of every scaled column off the subspace."""
    product = moments.scattered(basis)
    inside = np.einsum("ij,ij->j", basis, 2 * product - product @ basis.T @ basis)
    return np.maximum(moments.column_variances() - inside, 0.0)


def two_way(
    problem: Problem, k: int, p: float, floor: float, max_iter: int, tol: float
) -> tuple[Subspace, float, IterationResult[TwoWayTurn]]:
    """Iterate from plain PCA and equal weights; also returns the subspace.

    And the number of rows that its variances rest on.

    `floor` is what every column gets added to its residual, as a share of their mean.
    """
    rows, counts, D = problem.rows, problem.counts, problem.rows.shape[1]
    start = equal_weights(rows, k, counts)
    view = measure_rows(rows, start, counts)
    rule = PowerRule(p).freeze(view)
    # Residuals of all columns, weighted, sum to this.
    together = 0.5 * p * rule.objective(view, 0.0)
    step = TwoWayStep(rows, start.mean, rule, counts, floor * together / D)
    state = Scaled(replace(start, mean=np.zeros(D)), np.ones(D))
    result = iterate(step, state, max_iter=max_iter, tol=tol)
    end, last = result.last.next, result.last
    mean = start.mean + end.inner.mean / np.sqrt(end.weights)
    weighing = last.scaled.bounded_weighting()
    moments = weighted_moments(rows, mean, weighing, counts).span().about(mean)
    return spanned(end.unscaled(), moments), moments.equal_size(), result
