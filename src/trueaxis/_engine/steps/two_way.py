"""The step of the two-way model, which weights rows and columns alternately.

Columns are scaled by the square roots of their weights. In the scaled columns, the step
of `reweighted` is taken; then the columns get new weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.iterate import IterationResult, StepResult, iterate
from trueaxis._engine.moments import Moments
from trueaxis._engine.problem import AffineHull, Problem, affine_hull
from trueaxis._engine.reweighted import (
    ReweightedResult,
    ReweightedStep,
    Solver,
    measure_rows,
    weighted_moments,
)
from trueaxis._engine.rules.losses import PowerRule
from trueaxis._engine.starts.subspaces import equal_weights
from trueaxis._engine.subspace import Subspace, spanned, subspace_change
from trueaxis.data.rows import Rows
from trueaxis.data.transformed import TransformedRows, Where


class ColumnWeighting(NamedTuple):
    """Transform of a block: columns minus an origin, times a factor."""

    origin: NDArray[np.float64]
    factors: NDArray[np.float64]

    def __call__(self, block: NDArray[Any], where: Where) -> NDArray[Any]:
        """Return the scaled block."""
        scaled = (block - self.origin) * self.factors
        return scaled.astype(block.dtype, copy=False)

    def part(self, first: int, n: int) -> ColumnWeighting:
        """Return the transform itself, which is the same for all rows."""
        return self


@dataclass(frozen=True)
class ScaledSubspace:
    """A subspace of scaled columns.

    Attributes
    ----------
    inner : Subspace
        In the scaled columns.
    weights : ndarray of shape (D,)
        Weights of the columns, with product 1. Columns are scaled by their square
        roots.
    """

    inner: Subspace
    weights: NDArray[np.float64]

    def unscaled(self) -> NDArray[np.float64]:
        """Return an orthonormal basis of the same subspace in the original columns."""
        return np.linalg.qr((self.inner.basis / np.sqrt(self.weights)).T)[0].T

    def with_weights(self, weights: NDArray[Any]) -> ScaledSubspace:
        """Return the same subspace, in columns scaled by other weights."""
        factors = np.sqrt(weights / self.weights)
        basis = np.linalg.qr((self.inner.basis * factors).T)[0].T
        inner = replace(self.inner, mean=self.inner.mean * factors, basis=basis)
        return ScaledSubspace(inner, weights)


@dataclass(frozen=True)
class TwoWayStepResult(StepResult):
    """The outcome of a step.

    Attributes
    ----------
    scaled : ReweightedResult
        The step in the scaled columns.
    """

    scaled: ReweightedResult


@dataclass(frozen=True)
class TwoWayStep:
    """Step that weights the rows, solves, and weights the columns.

    Attributes
    ----------
    rows : Rows
    origin : ndarray of shape (D,)
        Subtracted from the rows before columns are scaled.
    rule : PowerRule
        Weights the rows by their distances in the scaled columns.
    counts : ndarray or None
        How often each row counts.
    penalty : float
        Added to the objective, times the sum of the column weights, so that these stay
        bounded.
    """

    rows: Rows
    origin: NDArray[np.float64]
    rule: PowerRule
    counts: NDArray[np.float64] | None
    penalty: float

    def __call__(
        self, state: ScaledSubspace, previous: TwoWayStepResult | None = None
    ) -> TwoWayStepResult:
        """Take one step."""
        solver = _RecordingSolver()
        scaling = ColumnWeighting(self.origin, np.sqrt(state.weights))
        hull = affine_hull(TransformedRows(self.rows, scaling))
        step = ReweightedStep(hull.rows, self.rule, self.counts, solver=solver)
        scaled = step(_lowered(hull, state.inner))
        total = 0.5 * self.rule.p * np.exp(scaled.log_total)
        off = _residuals(solver.moments, scaled.next.basis, hull.frame)
        residual = total * off / state.weights + self.penalty
        # These weights have product 1 and minimize the weighted sum of residuals.
        weights = np.exp(np.log(residual).mean()) / residual
        inner = hull.lift(scaled.next)
        after = ScaledSubspace(inner, state.weights).with_weights(weights)
        return TwoWayStepResult(
            next=after,
            objective=scaled.objective + self.penalty * float(state.weights.sum()),
            change=subspace_change(after.unscaled(), state.unscaled()),
            effective=scaled.effective,
            scaled=scaled,
        )


class _RecordingSolver(Solver):
    """Exact solver that keeps the moments, from which column weights are computed."""

    def __call__(
        self, moments: Moments, core: Moments | None, state: Subspace
    ) -> Subspace:
        self.moments = moments
        return super().__call__(moments, core, state)


def _lowered(hull: AffineHull, subspace: Subspace) -> Subspace:
    """Write a subspace of the affine hull in its coordinates."""
    if hull.frame is None:
        return subspace
    mean = hull.lower_point(subspace.mean)
    return replace(subspace, mean=mean, basis=subspace.basis @ hull.frame.T)


def _residuals(
    moments: Moments, basis: NDArray[Any], frame: NDArray[Any] | None
) -> NDArray[np.float64]:
    """Return the variance of every scaled column off the subspace.

    Moments and basis are in the coordinates along `frame`, if given.
    """
    product = moments.scattered(basis)
    inside = 2 * product - product @ basis.T @ basis
    if frame is None:
        variances = moments.column_variances()
    else:
        variances = np.einsum("ij,ij->j", frame, moments.full_scatter() @ frame)
        basis, inside = basis @ frame, inside @ frame
    explained = np.einsum("ij,ij->j", basis, inside)
    return np.asarray(np.maximum(variances - explained, 0.0))


def two_way(
    problem: Problem, k: int, p: float, floor: float, max_iter: int, tol: float
) -> tuple[Subspace, float, IterationResult[TwoWayStepResult]]:
    """Iterate from plain PCA and equal column weights.

    Parameters
    ----------
    problem : Problem
    k : int
    p : float
        Power of the loss of rows.
    floor : float
        Added to the residual of every column, as a share of the mean residual.
    max_iter, tol

    Returns
    -------
    subspace : Subspace
    n : float
        Number of rows behind its variances.
    result : IterationResult
    """
    rows, counts, D = problem.rows, problem.counts, problem.rows.shape[1]
    hull = affine_hull(rows)
    start = hull.lift(equal_weights(hull.rows, k, counts))
    distances = measure_rows(rows, start, counts)
    rule = PowerRule(p).freeze(distances)
    # The sum of the weighted residuals of all columns.
    total = 0.5 * p * rule.objective(distances, 0.0)
    step = TwoWayStep(rows, start.mean, rule, counts, floor * total / D)
    state = ScaledSubspace(replace(start, mean=np.zeros(D)), np.ones(D))
    result = iterate(step, state, max_iter=max_iter, tol=tol)
    end, last = result.last.next, result.last
    mean = start.mean + end.inner.mean / np.sqrt(end.weights)
    weighting = last.scaled.bounded_weighting()
    pivot = hull.lower_point(mean)
    moments = weighted_moments(hull.rows, pivot, weighting, counts).span()
    subspace = spanned(end.unscaled(), hull.about(moments, mean))
    return subspace, moments.equal_size(), result
