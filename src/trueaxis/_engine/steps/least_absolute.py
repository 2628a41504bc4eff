"""Alternating least absolute deviations, the step of L1-PCA.

One step fits the scores to the loadings, then the loadings to the scores; `iterate`
repeats it. Notation: X = V U' + residual with V scores (n x k), U loadings (D x k).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, kron

from trueaxis._engine.iterate import StepResult
from trueaxis._engine.subspace import subspace_change
from trueaxis._validation import warn

Matrix = NDArray[np.float64]

# Entries of the targets per linear program (measured): with fewer, the calls take most
# of the time; with more, the simplex method gets slower.
BATCH_ENTRIES = 5000


@dataclass(frozen=True)
class Factors:
    """Loadings U (D x k, orthonormal columns) and scores V (n x k)."""

    loadings: Matrix
    scores: Matrix


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
        return Factors(U, self.X @ U)

    def __call__(
        self, state: Factors, previous: StepResult | None = None
    ) -> StepResult:
        """Take one step; its change is the angle by which the span of U rotates."""
        U, V = state.loadings, state.scores
        V = _better(U, self.X.T, least_deviations(U, self.X.T), V.T).T
        counted, targets = self.counts[:, None] * V, self.counts[:, None] * self.X
        U = _better(counted, targets, least_deviations(counted, targets), U.T).T
        Q, R = np.linalg.qr(U)
        after = Factors(Q, V @ R.T)
        change = subspace_change(state.loadings.T, Q.T)
        return StepResult(
            after, self.objective(state), change, float(self.counts.sum())
        )

    def objective(self, state: Factors) -> float:
        """Return the sum of absolute residuals over all copies of the rows."""
        residual = np.abs(self.X - state.scores @ state.loadings.T)
        return float(self.counts @ residual.sum(axis=1))


def least_deviations(A: Matrix, B: Matrix) -> Matrix:
    """Return the coefficients C (k x q) with the least |b_j - A c_j|_1 for all j."""
    if A.shape[1] == 1:
        a = A[:, 0]
        used = np.abs(a) > 1e-150 * _size(A)  # ratios beyond that overflow
        ratios = B[used].T / a[used]
        return weighted_median(ratios, np.abs(a[used]))[None, :]
    return deviations_by_program(A, B)


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


def deviations_by_program(A: Matrix, B: Matrix, batch: int = 0) -> Matrix:
    """Compute `least_deviations` by linear programs, many columns of B in each.

    Solves the dual, max <b, y> subject to A'y = 0 and |y| <= 1, which has one
    constraint per unknown c; the unknowns are its multipliers.
    """
    p, q = B.shape
    C = np.zeros((A.shape[1], q))
    scale, unit = _size(A), _units(B)
    block = csr_array(A.T / scale)
    batch = batch or max(1, BATCH_ENTRIES // p)
    for first in range(0, q, batch):
        part = slice(first, first + batch)
        b = (B[:, part] / unit[part]).T
        blocks = kron(eye_array(len(b)), block, format="csr")
        zeros = np.zeros(blocks.shape[0])
        solution = linprog(
            -b.ravel(), A_eq=blocks, b_eq=zeros, bounds=(-1, 1), method="highs-ds"
        )
        if solution.status != 0:
            warn(
                f"The linear programs of columns {first} to {first + len(b) - 1} were "
                f"not solved ({solution.message}): their coefficients stay unchanged.",
                RuntimeWarning,
            )
        else:
            c = -solution.eqlin.marginals.reshape(len(b), -1)
            C[:, part] = c.T * (unit[part] / scale)
    return C


def _size(M: Matrix) -> float:
    return float(np.abs(M).max(initial=0.0)) or 1.0


def _units(B: Matrix) -> Matrix:
    """Return a typical size for every column.

    The tolerances of the solver are absolute, so columns are scaled by it. The largest
    entry would not do: it may be a gross error.
    """
    size = np.median(np.abs(B), axis=0)
    size = np.where(size > 0, size, np.abs(B).max(axis=0))
    return np.where(size > 0, size, 1.0)


def _better(A: Matrix, B: Matrix, new: Matrix, old: Matrix) -> Matrix:
    """Return, for each column, the coefficients that deviate less.

    This way, rounding errors of the solver cannot raise the objective.
    """
    improved = _deviations(A, B, new) < _deviations(A, B, old)
    return np.where(improved, new, old)


def _deviations(A: Matrix, B: Matrix, C: Matrix) -> Matrix:
    return np.asarray(np.abs(B - A @ C).sum(axis=0))
