"""DEVIATE LEAST: alternating least absolute deviations, for L1-PCA.

One sweep finds the scores for the loadings, then the loadings for the scores; `iterate`
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

# Entries of the targets per linear program (measured): with fewer the overhead of the
# calls weighs more, with more the simplex method gets slower.
BATCH_ENTRIES = 5000


@dataclass(frozen=True)
class Factors:
    """Loadings U (D x k, orthonormal columns) and scores V (n x k)."""

    loadings: Matrix
    scores: Matrix


class AlternatingLad:
    """Minimise sum_i counts_i |x_i - U v_i|_1 (Ke and Kanade 2005).

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Centred as wanted.
    counts : ndarray of shape (n,), optional
        How often every row counts.
    """

    def __init__(self, X: Matrix, counts: Matrix | None = None) -> None:
        self.X = X
        self.counts = np.ones(len(X)) if counts is None else counts

    def start(self, k: int) -> Factors:
        """The first k right singular vectors of the rows, all made equally long.

        From those of the rows as they are, far errors lead into poor local optima.
        """
        length = np.linalg.norm(self.X, axis=1)
        scale = np.sqrt(self.counts) / np.where(length > 0, length, 1.0)
        U = np.linalg.svd(scale[:, None] * self.X, full_matrices=False)[2][:k].T
        return Factors(U, self.X @ U)

    def __call__(
        self, state: Factors, previous: StepResult | None = None
    ) -> StepResult:
        """One sweep; the change is the angle by which the span of U turned."""
        U, V = state.loadings, state.scores
        V = _better(U, self.X.T, least_deviations(U, self.X.T), V.T).T
        counted, targets = self.counts[:, None] * V, self.counts[:, None] * self.X
        U = _better(counted, targets, least_deviations(counted, targets), U.T).T
        Q, R = np.linalg.qr(U)
        found = Factors(Q, V @ R.T)
        change = subspace_change(state.loadings.T, Q.T)
        return StepResult(
            found, self.objective(state), change, float(self.counts.sum())
        )

    def objective(self, state: Factors) -> float:
        """The sum of absolute residuals of the counted rows."""
        residual = np.abs(self.X - state.scores @ state.loadings.T)
        return float(self.counts @ residual.sum(axis=1))


def least_deviations(A: Matrix, B: Matrix) -> Matrix:
    """Coefficients C (k x q) with the least |b_j - A c_j|_1 for every column of B."""
    if A.shape[1] == 1:
        a = A[:, 0]
        used = np.abs(a) > 1e-150 * _size(A)  # ratios beyond that overflow
        ratios = B[used].T / a[used]
        return weighted_median(ratios, np.abs(a[used]))[None, :]
    return deviations_by_program(A, B)


def weighted_median(x: Matrix, w: Matrix) -> Matrix:
    """Median of every row of x where the columns weigh w; zero if there are none."""
    if not x.shape[1]:
        return np.zeros(len(x))
    order = np.argsort(x, axis=1)
    below = np.cumsum(w[order], axis=1)
    middle = (below >= below[:, -1:] / 2).argmax(axis=1)
    rows = np.arange(len(x))
    return x[rows, order[rows, middle]]


def deviations_by_program(A: Matrix, B: Matrix, batch: int = 0) -> Matrix:
    """`least_deviations` by linear programs, many columns of B in each.

    Solves the dual, max <b, y> where A'y = 0 and |y| <= 1, which has no more rows than
    unknowns c; those are its multipliers.
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
        found = linprog(
            -b.ravel(), A_eq=blocks, b_eq=zeros, bounds=(-1, 1), method="highs-ds"
        )
        if found.status != 0:
            warn(
                f"The linear programs of columns {first} to {first + len(b) - 1} were "
                f"not solved ({found.message}): these coefficients stay as they were.",
                RuntimeWarning,
            )
        else:
            c = -found.eqlin.marginals.reshape(len(b), -1)
            C[:, part] = c.T * (unit[part] / scale)
    return C


def _size(M: Matrix) -> float:
    return float(np.abs(M).max(initial=0.0)) or 1.0


def _units(B: Matrix) -> Matrix:
    """A usual size for every column: the tolerances of the solver are absolute.

    Not the largest entry, which may be an error far off that hides all others.
    """
    size = np.median(np.abs(B), axis=0)
    size = np.where(size > 0, size, np.abs(B).max(axis=0))
    return np.where(size > 0, size, 1.0)


def _better(A: Matrix, B: Matrix, new: Matrix, old: Matrix) -> Matrix:
    """Column by column whichever coefficients deviate less: no rounding goes up."""
    improved = _deviations(A, B, new) < _deviations(A, B, old)
    return np.where(improved, new, old)


def _deviations(A: Matrix, B: Matrix, C: Matrix) -> Matrix:
    return np.abs(B - A @ C).sum(axis=0)
