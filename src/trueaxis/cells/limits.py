"""How far cells may be from what the others say before they are wrong.

No cut-off is chosen. A column's own tail is not wrong, however skewed or heavy: a side
has wrong cells only from where its deviations stop falling off as a single law does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, gammainc

from trueaxis.cells.factors import Array

Mask = NDArray[np.bool_]

NEAR = 2.0  # standard deviations within which cells are good until more is known
SURELY = 3.0  # standard deviations that few good cells, and most wrong ones, are beyond
CHANCE = 1e-3  # p-value at which chance is no explanation
N_BINS, RATIO = 24, np.sqrt(2.0)  # of the histogram of deviations
POOLED = 100.0  # cells of all other columns that are added to those of a side
SLOWEST = 0.9  # ratio of counts of neighboring bins at which the density hardly falls
KNOWN = 0.1  # share of the variance of errors that the other columns may explain


def majority(X: Array, seen: Mask) -> tuple[Array, Array]:
    """Return the center and spread of the majority of the cells of every column.

    Mean and standard deviation of the cells near the shortest interval with half of
    the cells: unlike median and MAD, they hold still if a third of the cells are off
    to one side. The spread is 0 if half of the cells are equal.
    """
    n, columns = seen.sum(axis=0), np.arange(X.shape[1])
    ordered = np.sort(np.where(seen, X, np.inf), axis=0)  # the others come last
    last = np.arange(len(X))[:, None] + n // 2
    with np.errstate(over="ignore", invalid="ignore"):
        length = np.take_along_axis(ordered, np.minimum(last, len(X) - 1), 0) - ordered
        length[last >= np.maximum(n, 1)] = np.inf
        first = np.argmin(length, axis=0)
        half = length[first, columns] / 2
        center = ordered[first, columns] + half
        # Of a normal law, half is within .6745 standard deviations.
        near = seen & (np.abs(X - center) <= NEAR / 0.6745 * half)
    equal = half <= 1e-15 * np.abs(center)
    count = np.maximum(near.sum(axis=0), 1)
    center = np.where(near, X, 0.0).sum(axis=0) / count
    squares = np.where(near, np.square(np.where(near, X, center) - center), 0.0)
    # Within `NEAR`, the standard deviation of the standard normal law is .88.
    spread = np.sqrt(squares.sum(axis=0) / count) / 0.88
    return center, np.where(equal, 0.0, spread)


def law_ends(z: Array, seen: Mask, marginal: Mask) -> Array:
    """Return the deviations up to which the cells of each side follow a single law.

    The density of the logarithm of deviations of a single law, light-tailed or heavy,
    is log-concave: from bin to bin, counts fall by ever larger factors. Where more
    cells follow than that allows, the law ended one bin before. What a column with few
    cells cannot say, the others say, too.

    Parameters
    ----------
    z : ndarray of shape (n, D)
        Standardized deviations.
    seen : ndarray of bool
        Cells to use.
    marginal : ndarray of shape (D,), bool
        Columns whose deviations are in units of their own.

    Returns
    -------
    ndarray of shape (2, D)
        Low and high side; infinity if no cell needs to be wrong.
    """
    unit = majority(z, seen)[1]
    unit = np.where((unit > 0) & ~marginal, unit, 1.0)
    with np.errstate(divide="ignore"):
        places = np.log(np.abs(z) / unit) / np.log(RATIO)
    # Bin 0 has the deviations below one unit.
    bins = np.clip(np.floor(np.maximum(places, -1.0)) + 1, 0, N_BINS).astype(np.intp)
    D = z.shape[1]
    limits = np.full((2, D), np.inf)
    for side in (0, 1):
        use = seen & ((z > 0) if side else (z < 0))
        flat = (np.arange(D) * (N_BINS + 1) + bins)[use]
        counts = np.bincount(flat, minlength=D * (N_BINS + 1)).reshape(D, -1)
        pooled = counts * ~marginal[:, None]
        others = pooled.sum(axis=0) - pooled
        share = POOLED / np.maximum(others.sum(axis=1), 1)
        counts = counts + (share * ~marginal)[:, None] * others
        limits[side] = _ends(np.array(counts.T, float, order="C")) * unit
        even = _even_odds(np.abs(z), use, seen, limits[side]) * np.maximum(unit, 1.0)
        limits[side] = np.where(marginal, limits[side], np.maximum(limits[side], even))
    return limits


def _even_odds(size: Array, use: Mask, seen: Mask, ends: Array) -> Array:
    """Return the deviation from which cells are more likely wrong than good.

    Good cells are standard normal. Wrong ones follow a normal law, too, which those
    beyond the end of the law tell; it is wide enough for wrong cells to be anywhere.
    """
    far = use & (size > np.maximum(ends, SURELY))
    n = far.sum(axis=0)
    count = np.maximum(n, 1)
    center = np.where(far, size, 0.0).sum(axis=0) / count
    variance = np.where(far, np.square(size - center), 0.0).sum(axis=0) / count
    variance = np.maximum(variance, np.square(center / 2)) + 1.0
    share = (n + 0.5) / (seen.sum(axis=0) + 1.0)
    places = np.arange(NEAR, 2 * SURELY, 0.1)[:, None]
    good = -0.5 * np.square(places) + np.log(1.0 - share)
    wrong = np.log(share) - 0.5 * np.log(variance)
    wrong = wrong - 0.5 * np.square(places - center) / variance
    wrong[-1] = np.inf
    return np.asarray(places[np.argmax(wrong >= good, axis=0), 0])


def raise_known(limits: Array, z: Array, seen: Mask, factors: Array) -> Array:
    """Raise the limits of sides whose far cells the factors of the rows explain.

    Errors know nothing about the rest of their row. A tail or a mode of a column does:
    the rows that have it are of a kind. So the limit is moved out until the cells
    beyond it are anybody's.

    Parameters
    ----------
    limits : ndarray of shape (2, D)
        Of `law_ends`.
    z : ndarray of shape (n, D)
        Standardized deviations.
    seen : ndarray of bool
    factors : ndarray of shape (n, r)
        Of the rows, by their good cells.

    Returns
    -------
    ndarray of shape (2, D)
    """
    n, r = factors.shape
    if n <= r + 2:
        return limits
    Q, _ = np.linalg.qr(np.column_stack([np.ones(n), factors]))
    by_chance = r / (n - 1)
    raised = limits.copy()
    for side, sign in ((0, -1.0), (1, 1.0)):
        (open_,) = np.nonzero(np.isfinite(limits[side]))
        size = np.where(seen, sign * z, 0.0)
        edge = limits[side] * RATIO  # where the law ended
        for _ in range(N_BINS):
            beyond = (size[:, open_] > edge[open_]).astype(float)
            count = beyond.sum(axis=0)
            raised[side, open_[count == 0]] = np.inf
            total = count * (1.0 - count / n)
            explained = np.square(Q.T @ beyond).sum(axis=0) - count**2 / n
            share = explained / np.maximum(total, 1e-9)
            ratio = share / np.maximum(1.0 - share, 1e-9) * (n - 1 - r) / r
            known = (share - by_chance) / (1.0 - by_chance) > KNOWN
            known &= fdtrc(r, n - 1 - r, ratio) < CHANCE / z.shape[1]
            open_ = open_[known & (count > 0)]
            if not len(open_):
                break
            edge = edge * RATIO
            raised[side, open_] = edge[open_]
        else:
            raised[side, open_] = np.inf
    return raised


def _ends(counts: Array) -> Array:
    """Return the lower edge of the bin before which counts stop to be log-concave."""
    beyond = np.cumsum(counts[::-1], axis=0)[::-1]
    ends = np.full(counts.shape[1], np.inf)
    ratio = (counts[2] + 0.5) / (counts[1] + 0.5)
    last = counts[2] + 0.5
    open_ = np.arange(counts.shape[1])  # whose law has not ended, with cells to come
    for b in range(3, len(counts)):
        some = beyond[b, open_] > 0
        open_, ratio, last = open_[some], ratio[some], last[some]
        count, expected = counts[b, open_], last * ratio
        surplus = _at_least(count, expected) < CHANCE
        falling = ratio < SLOWEST  # before, anything may follow
        rest = expected / np.maximum(1.0 - ratio, 1.0 - SLOWEST)
        surplus |= falling & (_at_least(beyond[b, open_], rest) < CHANCE)
        ends[open_[surplus]] = RATIO ** (b - 2)
        now = np.maximum(np.maximum(count, expected / 2), 1e-30)
        ratio = np.minimum(ratio, now / last)
        open_, ratio, last = open_[~surplus], ratio[~surplus], now[~surplus]
    return ends


def _at_least(count: Array, expected: Array) -> Array:
    """Return the probability of so many events or more, if `expected` are expected."""
    return np.where(count > 0, gammainc(np.maximum(count, 1e-9), expected), 1.0)
