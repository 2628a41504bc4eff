"""L1-PCA: smallest sum of absolute residuals over all cells.

One step fits the scores to the loadings, then the loadings to the scores, by least
absolute deviations of many targets from one design. A best fit passes through as many
targets as it has coefficients; from such a vertex, the search moves along the edge on
which the sum of deviations falls fastest, past all kinks up to the lowest point, until
no edge descends: the simplex method of Barrodale and Roberts (1973), for many targets
at once. Notation: X = V U' + residual
with V scores (n x k), U loadings (D x k); A design (p x k), b targets, Q an orthonormal
basis of its columns, R residuals, M edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis._validation import warn
from trueaxis.base import IterativeMethod, choice, number
from trueaxis.core.iteration import StepResult, iterate
from trueaxis.core.moments import counted_median
from trueaxis.core.problem import Problem
from trueaxis.core.recipes import FitResult
from trueaxis.core.subspace import spanned_about, subspace_change
from trueaxis.data.rows import ArrayRows

Matrix = NDArray[np.float64]
Index = NDArray[np.intp]

# Residuals per batch (measured): with fewer, the calls take most of the time; with
# more, they do not fit into the cache.
BATCH_ENTRIES = 1 << 16

# Targets are moved by about this share of their typical size, so that no two edges tie
# and every step descends. The vertex found is then that of the targets themselves.
NUDGE = 1e-10
OPTIMAL = 1e-9  # slopes below this are level

# A fit passes through rows only if they tell its coefficients apart at least this well.
PIVOT = 1e-10
NO_ROW = -1  # stands for a free edge, which does not yet leave any target

# Rounding errors grow with the steps, so vertices are computed afresh after a search
# and searched from again; more often than this only if there is no accurate vertex.
MOST_SEARCHES = 5
MOST_NUDGES = 3
MOST_STEPS = 200  # per coefficient; a few are enough


def closest(residuals: Matrix, k: int) -> Index:
    """Return the k columns with the smallest absolute residual, for every row."""
    return np.argpartition(np.abs(residuals), k - 1, axis=1)[:, :k]


def fit_deviations(A: Matrix, B: Matrix, near: Index) -> tuple[Matrix, Index]:
    """Return the coefficients C (k x q) with the least |b_j - A c_j|_1 for all j.

    Also return the rows of A through whose targets each fit passes.

    Parameters
    ----------
    A : ndarray of shape (p, k)
    B : ndarray of shape (p, q)
    near : ndarray of shape (q, at least r)
        Rows of A to start from, for each target: the fit passes through as many of them
        as possible.
    """
    (p, k), q = A.shape, B.shape[1]
    size = float(np.abs(A).max(initial=0.0)) or 1.0
    left, s, right = np.linalg.svd(A / size, full_matrices=False)
    used = s > s.max(initial=0.0) * max(p, k) * np.finfo(float).eps
    Q, back = left[:, used], right[used].T / s[used]
    if not used.any():
        return np.zeros((k, q)), near[:, :0]
    unit = _units(B)
    targets = (B / unit).T
    z = np.zeros((q, Q.shape[1]))
    touched = np.full(z.shape, NO_ROW)
    batch = max(1, BATCH_ENTRIES // max(p, 1))
    unsolved = 0
    for first in range(0, q, batch):
        part = slice(first, first + batch)
        z[part], touched[part], missed = _vertices(Q, targets[part], near[part])
        unsolved += missed
    if unsolved:
        warn(
            f"{unsolved} of {q} least absolute deviations fits ended before their "
            "optimum because of rounding errors. Columns of similar size may help.",
            RuntimeWarning,
        )
    return back @ z.T * (unit / size), touched


def _units(B: Matrix) -> Matrix:
    """Return a typical size for every column; the largest may be a gross error."""
    size = np.median(np.abs(B), axis=0)
    size = np.where(size > 0, size, np.abs(B).max(axis=0))
    return np.where(size > 0, size, 1.0)


def _vertices(Q: Matrix, b: Matrix, near: Index) -> tuple[Matrix, Index, int]:
    """Return coefficients and touched rows; and how many targets have no optimum."""
    p, r = Q.shape
    z, touched = np.zeros((len(b), r)), np.full((len(b), r), NO_ROW)
    left = np.arange(len(b))
    for seed in range(MOST_NUDGES):  # one of them may run into rounding errors
        nudged = b + NUDGE * np.random.default_rng(seed).uniform(-1, 1, p)
        for _ in range(MOST_SEARCHES):
            search = _EdgeSearch(Q, nudged[left], near)
            z[left] = search.through(b[left])
            touched[left], moved = search.descend()
            left = left[moved]
            if not len(left):
                return z, touched, 0
            near = touched[left]
    return z, touched, len(left)


class _EdgeSearch:
    """Vertices of several targets, and the edges that leave them.

    Column j of M[i] is the direction in which the coefficients of target i change if it
    leaves its j-th touched row, and stays on the others.
    """

    def __init__(self, Q: Matrix, b: Matrix, near: Index) -> None:
        q, r = len(b), Q.shape[1]
        self.Q = Q
        self.M = np.tile(np.eye(r), (q, 1, 1))
        self.touched = np.full((q, r), NO_ROW)
        for row in near.T:
            self._touch_if_free(row)
        self.R = b - self.through(b) @ Q.T
        self._touch_exactly()

    def through(self, b: Matrix) -> Matrix:
        """Return the coefficients that pass through the touched rows of b."""
        values = np.take_along_axis(b, np.maximum(self.touched, 0), axis=1)
        values = np.where(self.touched == NO_ROW, 0.0, values)
        return np.asarray((self.M @ values[:, :, None])[:, :, 0])

    def descend(self) -> tuple[Index, NDArray[np.bool_]]:
        """Return the rows touched at the best vertices; and which targets moved."""
        found, moved = self.touched.copy(), np.zeros(len(self.R), dtype=bool)
        active = np.arange(len(found))
        for _ in range(MOST_STEPS * (self.Q.shape[1] + 1)):
            edge, slope, pull = self._steepest()
            going = slope > OPTIMAL
            if not going.all():
                edge, pull = edge[going], pull[going]
                self.R, self.M = self.R[going], self.M[going]
                self.touched, active = self.touched[going], active[going]
            if not len(active):
                break
            moved[active] = True
            self._move(edge, pull)
            found[active] = self.touched
        return found, moved

    def _steepest(self) -> tuple[Index, Matrix, Matrix]:
        """Return the steepest edges, their slopes, and how the residuals pull there."""
        pull = ((np.sign(self.R) @ self.Q)[:, None, :] @ self.M)[:, 0]
        # It costs 1 to leave a row. Free edges gain 1, so that they are never left.
        gain = np.where(self.touched == NO_ROW, 1.0, -1.0)
        slope = (np.abs(pull) + gain) / self._lengths()
        edge = slope.argmax(axis=1)
        best = np.arange(len(edge)), edge
        return edge, slope[best], pull[best]

    def _move(self, edge: Index, pull: Matrix) -> None:
        """Move along edges to their lowest points, and touch the rows there."""
        each = np.arange(len(edge))
        direction = self.M[each, :, edge] * np.where(pull < 0, -1.0, 1.0)[:, None]
        change = direction @ self.Q.T
        weight = np.abs(change)
        least = PIVOT * self._lengths()[each, edge, None]
        ahead = (self.R * change > 0) & (weight > least)
        distance = np.full_like(change, np.inf)
        np.divide(self.R, change, out=distance, where=ahead)
        order = distance.argsort(axis=1)
        # The slope rises by twice its weight at every row that is passed.
        risen = 2 * np.take_along_axis(weight, order, axis=1).cumsum(axis=1)
        slope = np.abs(pull) - (self.touched[each, edge] != NO_ROW)
        row = order[each, (risen >= slope[:, None]).argmax(axis=1)]
        self.R -= distance[each, row, None] * change
        self._touch(edge, row)
        self._touch_exactly()

    def _touch_if_free(self, row: Index) -> None:
        """Touch a row with the free edge that can do so best, if any can."""
        each = np.arange(len(row))
        reach = np.abs((self.Q[row][:, None, :] @ self.M)[:, 0])
        reach /= self._lengths()
        reach[self.touched != NO_ROW] = 0.0
        edge = reach.argmax(axis=1)
        able = (reach[each, edge] > PIVOT) & (row != NO_ROW)
        self._touch(edge, np.where(able, row, NO_ROW))

    def _touch(self, edge: Index, row: Index) -> None:
        """Replace the rows that edges leave; NO_ROW changes nothing."""
        some = np.flatnonzero(row != NO_ROW)
        edge, row = edge[some], row[some]
        each = np.arange(len(some))
        reach = (self.Q[row][:, None, :] @ self.M[some])[:, 0]
        direction = self.M[some, :, edge] / reach[each, edge, None]
        reach[each, edge] = 0.0
        self.M[some] -= direction[:, :, None] * reach[:, None, :]
        self.M[some, :, edge] = direction
        self.touched[some, edge] = row

    def _lengths(self) -> Matrix:
        return np.asarray(np.sqrt(np.einsum("ijk,ijk->ik", self.M, self.M)))

    def _touch_exactly(self) -> None:
        each, edge = np.nonzero(self.touched != NO_ROW)
        self.R[each, self.touched[each, edge]] = 0.0


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
        new, in_rows = fit_deviations(U, self.X.T, state.in_rows)
        V = _better(U, self.X.T, new, V.T).T
        counted, targets = self.counts[:, None] * V, self.counts[:, None] * self.X
        new, in_columns = fit_deviations(counted, targets, state.in_columns)
        U = _better(counted, targets, new, U.T).T
        Q, R = np.linalg.qr(U)
        after = Factors(Q, V @ R.T, in_rows, in_columns)
        change = subspace_change(state.loadings.T, Q.T)
        return StepResult(
            after, self.objective(state), change, float(self.counts.sum())
        )

    def objective(self, state: Factors) -> float:
        """Return the sum of absolute residuals over all repetitions of the rows."""
        residual = np.abs(self.X - state.scores @ state.loadings.T)
        return float(self.counts @ residual.sum(axis=1))


def _better(A: Matrix, B: Matrix, new: Matrix, old: Matrix) -> Matrix:
    """Return, for each column, the coefficients that deviate less.

    This way, rounding errors of the solver cannot raise the objective.
    """
    improved = _deviations(A, B, new) < _deviations(A, B, old)
    return np.where(improved, new, old)


def _deviations(A: Matrix, B: Matrix, C: Matrix) -> Matrix:
    return np.asarray(np.abs(B - A @ C).sum(axis=0))


@dataclass(eq=False, repr=False, kw_only=True)
class L1PCA(IterativeMethod):
    """L1-PCA: scores and loadings with the smallest sum of absolute residuals.

    Minimizes ``|X - V U'|_1`` alternately over the scores V and the loadings U. Every
    row, then every column, is a least absolute deviations fit, which is solved exactly,
    by moving along edges as Barrodale and Roberts (1973) do. The components are an
    orthonormal basis of U.

    The objective falls at every iteration; the minimum found depends on the start. The
    result is not invariant to rotations of the data.

    Confidence: as published, from memory of the paper (there without centering and from
    another start; here the start is independent of the lengths of the rows).

    Parameters
    ----------
    center : {"median", "mean", "none"}, default="median"
        Median or mean of every column, or zero (as in the paper).
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    References
    ----------
    Q. Ke, T. Kanade (2005): Robust L1 norm factorization in the presence of outliers
    and missing data by alternative convex programming.

    Examples
    --------
    >>> from trueaxis.methods import L1PCA
    >>> from trueaxis.datasets import sensors
    >>> L1PCA(2).fit(sensors().X).components_.shape
    (2, 6)
    """

    center: Literal["median", "mean", "none"] = choice("median", "mean", "none")
    max_iter: int = number(50, 1, whole=True)
    tol: float = number(1e-4, 0)

    _rotatable: ClassVar[bool] = False

    def _search(self, problem: Problem, k: int) -> FitResult:
        X, counts = problem.rows.read().astype(float, copy=False), problem.counts
        center = self._origin(X, counts)
        step = AlternatingLad(X - center, counts)
        tol = problem.reachable(self.tol)
        found = iterate(step, step.start(k), max_iter=self.max_iter, tol=tol)
        basis = found.last.next.loadings.T
        subspace = spanned_about(center, basis, ArrayRows(X), step.counts)
        return FitResult(subspace, found, tol)

    def _origin(self, X: Matrix, counts: Matrix | None) -> Matrix:
        if self.center == "mean":
            # Relative to a row: a large constant column stays constant.
            mean: Matrix = X[0] + np.average(X - X[0], axis=0, weights=counts)
            return mean
        if self.center == "none":
            return np.zeros(X.shape[1])
        return np.array([counted_median(column, counts) for column in X.T], dtype=float)
