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
INACCURATE = 1e-3


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
    wide = len(M) < M.shape[1]
    tall = M.T if wide else M
    s, axes = gram_spectrum(tall)
    if not t > INACCURATE * s.max(initial=0.0):
        s, axes = np.linalg.svd(tall, full_matrices=False)[1:]
    kept = s > t
    s, axes = s[kept], axes[kept]
    factors = [axes.T * (1 - t / s), axes]
    shrunk = np.linalg.multi_dot([*factors, M] if wide else [M, *factors])
    return LowRank(shrunk, float((s - t).sum()))


def gram_spectrum(M: Matrix) -> tuple[Matrix, Matrix]:
    """Return the singular values of M, descending, and its right singular vectors.

    Several times faster than the decomposition of a tall M, and as accurate (1e-13 of
    the largest singular value) unless values below `INACCURATE` times it matter.
    """
    values, V = np.linalg.eigh(M.T @ M)
    return np.sqrt(np.maximum(values[::-1], 0.0)), V.T[::-1]


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
    gam = min(
        gam, 2 * float(np.sqrt(tail.max(initial=TINY)))
    )  # its square may overflow
    room = gam**2 - lam**2 * np.arange(a.shape[1])
    f = np.sqrt(tail / np.where(room > 0, room, np.inf))
    # Entry j of a row of f assumes that its j largest values are clipped, and no more.
    valid = (a <= lam * f) & (room > 0)
    valid[:, -1] = True  # regardless of rounding errors
    first = valid.argmax(axis=1)[:, None]
    factor = np.take_along_axis(f, first, axis=1)
    outside = np.linalg.norm(np.minimum(a, lam), axis=1, keepdims=True) > gam
    return np.where(outside, np.maximum(factor, 1.0), 1.0)
