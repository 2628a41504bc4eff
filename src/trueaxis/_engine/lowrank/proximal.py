"""Proximal maps of the norms that make a matrix sparse or of low rank.

`pursuit` uses them in its steps. Each maps M to the minimizer of the norm plus half
the squared distance to M.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
TINY = np.finfo(float).tiny


class LowRank(NamedTuple):
    """A matrix and its nuclear norm."""

    matrix: Matrix
    nuclear: float


def soft_threshold(M: Matrix, t: float | Matrix) -> Matrix:
    """Shrink every entry by t: the proximal map of t |.|_1."""
    return np.asarray(M - np.clip(M, -t, t))


def row_threshold(M: Matrix, t: float) -> Matrix:
    """Shrink the length of every row by t: the proximal map of t times their sum."""
    length = np.linalg.norm(M, axis=1, keepdims=True)
    return np.asarray(M * np.maximum(1 - t / np.maximum(length, TINY), 0.0))


def singular_threshold(M: Matrix, t: float) -> LowRank:
    """Shrink every singular value by t: the proximal map of t |.|_*."""
    n, D = M.shape
    if D > n:
        transposed = singular_threshold(M.T, t)
        return LowRank(transposed.matrix.T, transposed.nuclear)
    if n > 4 * D:
        values, V = np.linalg.eigh(M.T @ M)
        s = np.sqrt(np.maximum(values, 0.0))
        # Several times faster than the decomposition of M, and as accurate (1e-13 of
        # the largest singular value) unless much smaller values are kept.
        if t > 1e-3 * s[-1]:
            kept = s > t
            s, V = s[kept], V[:, kept]
            shrunk = M @ ((V * (1 - t / s)) @ V.T)
            return LowRank(shrunk, float((s - t).sum()))
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    kept = s > t
    s, Vt = s[kept] - t, Vt[kept]
    return LowRank((U[:, kept] * s) @ Vt, float(s.sum()))


def sparse_and_rows(M: Matrix, lam: float, gam: float) -> tuple[Matrix, Matrix]:
    """Minimize lam |S|_1 + gam sum_i |o_i| + |M - S - O|^2 / 2 jointly."""
    if gam == np.inf:
        return soft_threshold(M, lam), np.zeros_like(M)
    S = soft_threshold(M, lam * _stretch(M, lam, gam))
    return S, row_threshold(M - S, gam)


def _stretch(M: Matrix, lam: float, gam: float) -> Matrix:
    """Return factors f >= 1, one per row, by which lam is raised in outlying rows.

    The dual solution is the projection of a row on the intersection of a box of
    half-width lam and a ball of radius gam: clip(m / f, -lam, lam), where f = 1 or the
    norm is gam.
    """
    a = -np.sort(-np.abs(M), axis=1)
    lam = min(lam, max(float(a.max(initial=0.0)), TINY))
    tail = np.cumsum(a[:, ::-1] ** 2, axis=1)[:, ::-1]
    room = gam**2 - lam**2 * np.arange(a.shape[1])
    f = np.sqrt(tail / np.where(room > 0, room, np.inf))
    # Entry j of a row of f assumes that its j largest values are clipped, and no more.
    valid = (a <= lam * f) & (room > 0)
    valid[:, -1] = True  # regardless of rounding errors
    first = valid.argmax(axis=1)[:, None]
    factor = np.take_along_axis(f, first, axis=1)
    outside = np.linalg.norm(np.minimum(a, lam), axis=1, keepdims=True) > gam
    return np.where(outside, np.maximum(factor, 1.0), 1.0)
