"""The two-way model, which weights rows and columns alternately.

Columns are scaled by the square roots of their weights. In the scaled columns, the step
of `core.reweighting` is taken; then the columns get new weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.base import IterativeMethod, number
from trueaxis.core.iteration import StepResult, iterate
from trueaxis.core.moments import Moments
from trueaxis.core.problem import Problem, affine_hull
from trueaxis.core.recipes import SINGLE_ROWS, FitResult, warn_of_few_rows
from trueaxis.core.reweighting import ReweightedStep, Solver, measure_rows
from trueaxis.core.rules import PowerRule
from trueaxis.core.starts import equal_weights
from trueaxis.core.subspace import Subspace, spanned_about, subspace_change
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
        self, state: ScaledSubspace, previous: StepResult | None = None
    ) -> StepResult:
        """Take one step; its detail is the step in the scaled columns."""
        solver = _RecordingSolver()
        scaling = ColumnWeighting(self.origin, np.sqrt(state.weights))
        hull = affine_hull(TransformedRows(self.rows, scaling))
        step = ReweightedStep(hull.rows, self.rule, self.counts, solver=solver)
        scaled = step(hull.lower(state.inner))
        total = 0.5 * self.rule.p * np.exp(scaled.log_total)
        off = _residuals(solver.moments, scaled.next.basis, hull.frame)
        residual = total * off / state.weights + self.penalty
        # These weights have product 1 and minimize the weighted sum of residuals.
        weights = np.exp(np.log(residual).mean()) / residual
        inner = hull.lift(scaled.next)
        after = ScaledSubspace(inner, state.weights).with_weights(weights)
        return StepResult(
            next=after,
            objective=scaled.objective + self.penalty * float(state.weights.sum()),
            change=subspace_change(after.unscaled(), state.unscaled()),
            effective=scaled.effective,
            detail=scaled,
        )


class _RecordingSolver(Solver):
    """Exact solver that keeps the moments, from which column weights are computed."""

    def __call__(
        self, moments: Moments, core: Moments | None, state: Subspace
    ) -> Subspace:
        self.moments = moments
        return super().__call__(moments, core, state)


def _residuals(
    moments: Moments, basis: NDArray[Any], frame: NDArray[Any] | None
) -> NDArray[np.float64]:
    """Return the variance of every scaled column orthogonal to the subspace.

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


@dataclass(eq=False, repr=False, kw_only=True)
class TwoWayPCA(IterativeMethod):
    """PCA with weights for both rows and columns: a model of our own.

    Minimizes sum_i (sum_j g_j E_ij^2)^(p/2) over the residuals E of a subspace and
    column weights g whose product is 1. Columns that the subspace explains badly, and
    rows far from it, count less.

    The objective plus floor * sum g (in units of the mean residual) falls at every
    iteration. Without the floor, a column that is fitted perfectly would get all the
    weight. With more rows than columns, a D x D matrix is kept in memory: do not use it
    for thousands of columns then.

    Confidence: ours, not a published algorithm. It takes the place of "Double-attentive
    principle component analysis" (D. Wu and others, 2020), which the DSWL paper cites,
    but whose model we could not establish.

    Parameters
    ----------
    p : float in (0, 2], default=1.0
        Power of the distances of rows.
    floor : float in [0.01, 1e6], default=0.1
        Added to the residual of every column, as a share of the mean residual.
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    Attributes
    ----------
    feature_weights_ : ndarray of shape (D,)
        Weights of the columns; their product is 1.

    Examples
    --------
    >>> from trueaxis.methods import TwoWayPCA
    >>> from trueaxis.datasets import planted
    >>> model = TwoWayPCA(3).fit(planted("scatter", share=0.1).X)
    >>> model.feature_weights_.shape
    (20,)
    """

    p: float = number(1.0, 0, 2)
    floor: float = number(0.1, 0.01, 1e6, include_low=True)

    _own_attributes: ClassVar[frozenset[str]] = frozenset({"feature_weights_"})

    _rotatable: ClassVar[bool] = False

    def _search(self, problem: Problem, k: int) -> FitResult:
        rows, counts, D = problem.rows, problem.counts, problem.rows.shape[1]
        p, tol = float(self.p), problem.reachable(self.tol)
        hull = affine_hull(rows)
        start = hull.lift(equal_weights(hull.rows, k, counts))
        distances = measure_rows(rows, start, counts)
        rule = PowerRule(p).freeze(distances)
        # The sum of the weighted residuals of all columns.
        total = 0.5 * p * rule.objective(distances, 0.0)
        step = TwoWayStep(rows, start.mean, rule, counts, self.floor * total / D)
        state = ScaledSubspace(replace(start, mean=np.zeros(D)), np.ones(D))
        found = iterate(step, state, max_iter=self.max_iter, tol=tol)
        end, scaled = found.last.next, found.last.detail
        bounded = scaled.bounded_weighting().log_weights
        bounded = np.exp(bounded - bounded.max())
        counted = problem.counted(bounded)
        mean = start.mean + end.inner.mean / np.sqrt(end.weights)
        weights = problem.normalized(scaled.single_weights())
        return FitResult(
            spanned_about(mean, end.unscaled(), rows, counted),
            found,
            tol,
            weights,
            float(counted.sum() / bounded[counted > 0].max()),
            {"feature_weights_": end.weights},
            warn_of_few_rows(float((weights > 0).sum()), k, problem, SINGLE_ROWS),
        )
