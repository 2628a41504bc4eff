"""Least absolute deviations of many targets from one design, exactly.

`least_absolute` alternates between two such fits. A best fit passes through as many
targets as it has coefficients; from such a vertex, the search moves along the edge on
which the sum of deviations falls fastest, past all kinks up to the lowest point, until
no edge descends: the simplex method of Barrodale and Roberts (1973), for many targets
at once. Notation: A design (p x k), b targets, Q an orthonormal basis of its columns,
R residuals, M edges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._validation import warn

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
NOWHERE = -1  # an edge that is free: it does not yet leave any target
# Rounding errors grow with the steps, so vertices are computed afresh after a search
# and searched from again; more often than this only if there is no accurate vertex.
MOST_SEARCHES = 5
MOST_NUDGES = 3
MOST_STEPS = 200  # per coefficient; a few are enough


class Fit(NamedTuple):
    """Coefficients of all targets.

    Attributes
    ----------
    coefficients : ndarray of shape (k, q)
    touched : ndarray of shape (q, r), r <= k
        Rows of the design through whose targets each fit passes.
    """

    coefficients: Matrix
    touched: Index


def closest(residuals: Matrix, k: int) -> Index:
    """Return the k columns with the smallest absolute residual, for every row."""
    return np.argpartition(np.abs(residuals), k - 1, axis=1)[:, :k]


def fit_deviations(A: Matrix, B: Matrix, near: Index) -> Fit:
    """Return the coefficients C (k x q) with the least |b_j - A c_j|_1 for all j.

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
        return Fit(np.zeros((k, q)), near[:, :0])
    unit = _units(B)
    targets = (B / unit).T
    z = np.zeros((q, Q.shape[1]))
    touched = np.full(z.shape, NOWHERE)
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
    return Fit(back @ z.T * (unit / size), touched)


def _units(B: Matrix) -> Matrix:
    """Return a typical size for every column; the largest may be a gross error."""
    size = np.median(np.abs(B), axis=0)
    size = np.where(size > 0, size, np.abs(B).max(axis=0))
    return np.where(size > 0, size, 1.0)


def _vertices(Q: Matrix, b: Matrix, near: Index) -> tuple[Matrix, Index, int]:
    """Return coefficients and touched rows; and how many targets have no optimum."""
    p, r = Q.shape
    z, touched = np.zeros((len(b), r)), np.full((len(b), r), NOWHERE)
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
        self.touched = np.full((q, r), NOWHERE)
        for row in near.T:
            self._touch_if_free(row)
        self.R = b - self.through(b) @ Q.T
        self._touch_exactly()

    def through(self, b: Matrix) -> Matrix:
        """Return the coefficients that pass through the touched rows of b."""
        values = np.take_along_axis(b, np.maximum(self.touched, 0), axis=1)
        values = np.where(self.touched == NOWHERE, 0.0, values)
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
        gain = np.where(self.touched == NOWHERE, 1.0, -1.0)
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
        slope = np.abs(pull) - (self.touched[each, edge] != NOWHERE)
        row = order[each, (risen >= slope[:, None]).argmax(axis=1)]
        self.R -= distance[each, row, None] * change
        self._touch(edge, row)
        self._touch_exactly()

    def _touch_if_free(self, row: Index) -> None:
        """Touch a row with the free edge that can do so best, if any can."""
        each = np.arange(len(row))
        reach = np.abs((self.Q[row][:, None, :] @ self.M)[:, 0])
        reach /= self._lengths()
        reach[self.touched != NOWHERE] = 0.0
        edge = reach.argmax(axis=1)
        able = (reach[each, edge] > PIVOT) & (row != NOWHERE)
        self._touch(edge, np.where(able, row, NOWHERE))

    def _touch(self, edge: Index, row: Index) -> None:
        """Let edges leave other rows than before; NOWHERE changes nothing."""
        some = np.flatnonzero(row != NOWHERE)
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
        each, edge = np.nonzero(self.touched != NOWHERE)
        self.R[each, self.touched[each, edge]] = 0.0
