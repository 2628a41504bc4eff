"""Alternating least absolute deviations, the step of L1-PCA.

One step fits the scores to the loadings, then the loadings to the scores, by weighted
medians or `deviations`; `iterate` repeats it. Notation: X = V U' + residual with V
scores (n x k), U loadings (D x k).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.iterate import StepResult
from trueaxis._engine.steps.deviations import Fit, Index, closest, fit_deviations
from trueaxis._engine.subspace import subspace_change

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Factors:
    """Loadings and scores.

    Attributes
    ----------
    loadings : ndarray of shape (D, k)
        U, with orthonormal columns.
    scores : ndarray of shape (n, k)
        V.
    in_rows : ndarray of shape (n, k)
        Cells of each row through which its fit passes, from where the next one starts.
    in_columns : ndarray of shape (D, k)
        The same for the cells of each column.
    """

    loadings: Matrix
    scores: Matrix
    in_rows: Index
    in_columns: Index


class AlternatingLad:
    """Minimize sum_i counts_i |x_i - U v_i|_1 (Ke and Kanade 2005).

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Centered data.
    counts : ndarray of shape (n,), optional
        How often each row counts.
    """

    def __init__(self, X: Matrix, counts: Matrix | None = None) -> None:
        self.X = X
        self.counts = np.ones(len(X)) if counts is None else counts

    def start(self, k: int) -> Factors:
        """Return the first k right singular vectors of the rows, scaled to length 1.

        Without the scaling, gross errors lead to poor local optima.
        """
        length = np.linalg.norm(self.X, axis=1)
        scale = np.sqrt(self.counts) / np.where(length > 0, length, 1.0)
        U = np.linalg.svd(scale[:, None] * self.X, full_matrices=False)[2][:k].T
        V = self.X @ U
        residual = self.X - V @ U.T
        return Factors(U, V, closest(residual, k), closest(residual.T, k))

    def __call__(
        self, state: Factors, previous: StepResult | None = None
    ) -> StepResult:
        """Take one step; its change is the angle by which the span of U rotates."""
        U, V = state.loadings, state.scores
        in_rows = least_deviations(U, self.X.T, state.in_rows)
        V = _better(U, self.X.T, in_rows.coefficients, V.T).T
        counted, targets = self.counts[:, None] * V, self.counts[:, None] * self.X
        in_columns = least_deviations(counted, targets, state.in_columns)
        U = _better(counted, targets, in_columns.coefficients, U.T).T
        Q, R = np.linalg.qr(U)
        after = Factors(Q, V @ R.T, in_rows.touched, in_columns.touched)
        change = subspace_change(state.loadings.T, Q.T)
        return StepResult(
            after, self.objective(state), change, float(self.counts.sum())
        )

    def objective(self, state: Factors) -> float:
        """Return the sum of absolute residuals over all copies of the rows."""
        residual = np.abs(self.X - state.scores @ state.loadings.T)
        return float(self.counts @ residual.sum(axis=1))


def least_deviations(A: Matrix, B: Matrix, near: Index) -> Fit:
    """Return the coefficients C (k x q) with the least |b_j - A c_j|_1 for all j.

    `near` has rows of A, for each j, that the fit may pass through.
    """
    if A.shape[1] > 1:
        return fit_deviations(A, B, near)
    a = A[:, 0]
    # Ratios beyond that overflow.
    used = np.abs(a) > 1e-150 * (np.abs(a).max(initial=0.0) or 1.0)
    ratios = B[used].T / a[used]
    return Fit(weighted_median(ratios, np.abs(a[used]))[None, :], near)


def weighted_median(x: Matrix, w: Matrix) -> Matrix:
    """Return the median of every row of x, with weights w for the columns.

    Without columns, it is 0.
    """
    if not x.shape[1]:
        return np.zeros(len(x))
    order = np.argsort(x, axis=1)
    below = np.cumsum(w[order], axis=1)
    middle = (below >= below[:, -1:] / 2).argmax(axis=1)
    rows = np.arange(len(x))
    return np.asarray(x[rows, order[rows, middle]])


def _better(A: Matrix, B: Matrix, new: Matrix, old: Matrix) -> Matrix:
    """Return, for each column, the coefficients that deviate less.

    This way, rounding errors of the solver cannot raise the objective.
    """
    improved = _deviations(A, B, new) < _deviations(A, B, old)
    return np.where(improved, new, old)


def _deviations(A: Matrix, B: Matrix, C: Matrix) -> Matrix:
    return np.asarray(np.abs(B - A @ C).sum(axis=0))
