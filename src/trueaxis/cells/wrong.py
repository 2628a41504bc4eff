"""Which cells are wrong: a mixture of good and wrong cells in every column.

A cell is good, too low, or too high. Good cells follow the factor model; wrong ones
have a center and a spread of their own, per column and side. How often a column is
wrong is learned, so that a table without wrong cells has next to none flagged, and no
cut-off is chosen. A column's own tail is not wrong, however skewed or heavy: a side has
wrong cells only from where its deviations stop falling off as a single law does
(`reach`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, gammainc

from trueaxis.cells.factors import Array, Deviations

Mask = NDArray[np.bool_]

# The prior of wrong cells, as if so many had been seen, this many standard deviations
# of the column away, with this variance.
PRIOR_WRONG, AWAY, PRIOR_VARIANCE = 5.0, 3.0, 4.0
FEWEST, MOST = 1e-5, 0.4  # share of the cells of a column that are wrong, per side
CHANCE = 1e-3  # p-value at which deviations do not follow one law any more
N_BINS, RATIO = 24, np.sqrt(2.0)  # of the histogram of deviations
KNOWN = 0.1  # share of the variance of errors that the other columns may explain
SLOWEST = 0.9  # ratio of counts of neighboring bins at which the density hardly falls
SHRUNK = 1.6  # ratio of a median of all cells to that of the good ones, at most


class CellClasses(NamedTuple):
    """Probabilities that cells are good, too low and too high; 0 for holes."""

    good: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class WrongCells:
    """How wrong cells are distributed in every column, too low and too high.

    Attributes
    ----------
    shares, centers, variances : ndarray of shape (2, D)
        Of cells that are too low and of cells that are too high.
    limits : ndarray of shape (2, D)
        Deviations, in standard deviations, up to which cells are good on either side.
    marginal : ndarray of shape (D,), bool
        Columns with few different values, whose cells are compared with the other cells
        of the column only: next to a level, another level is far away.
    """

    shares: Array
    centers: Array
    variances: Array
    limits: Array
    marginal: Mask

    def standard(self, X: Array, deviations: Deviations) -> Array:
        """Return the deviations of cells in standard deviations."""
        return np.where(self.marginal, X, deviations.standard())

    def log_densities(
        self, x: Array, column: NDArray[np.intp], difference: Array, variance: Array
    ) -> Array:
        """Return log densities of some cells, as good, too low and too high ones."""
        out = np.empty((3, len(x)))
        with np.errstate(over="ignore"):
            out[0] = -0.5 * (np.log(variance) + np.square(difference) / variance)
            out[0] += np.log1p(-self.shares.sum(axis=0))[column]
            for side in (0, 1):
                spread = self.variances[side][column]
                off = np.square(x - self.centers[side][column]) / spread
                constant = np.log(self.shares[side]) - 0.5 * np.log(
                    self.variances[side]
                )
                out[1 + side] = constant[column] - 0.5 * off
        out[0][self.marginal[column]] = -np.inf  # good within the limits, or not at all
        return out

    def classify(self, X: Array, seen: Mask, deviations: Deviations) -> CellClasses:
        """Return the probabilities of the three classes."""
        p = np.zeros((3, *X.shape))
        p[0] = seen
        places, log = self._beyond(X, seen, deviations)
        log -= log.max(axis=0)
        log = np.exp(log)
        p.reshape(3, -1)[:, places] = log / log.sum(axis=0)
        return CellClasses(*p)

    def good(self, X: Array, seen: Mask, deviations: Deviations) -> Mask:
        """Mark the cells that are more likely good than wrong."""
        good = np.array(seen, order="C")
        places, log = self._beyond(X, seen, deviations)
        good.reshape(-1)[places] = log[0] >= np.maximum(log[1], log[2])
        return good

    def _beyond(
        self, X: Array, seen: Mask, deviations: Deviations
    ) -> tuple[NDArray[np.intp], Array]:
        """Return the places and log densities of the cells beyond the limits."""
        low, high = self.limits
        # Most cells are within the nearer limit of both sides.
        out = np.square(deviations.difference) > (
            np.square(np.minimum(low, high)) * deviations.variance
        )
        if self.marginal.any():
            own = self.marginal
            out[:, own] = (X[:, own] > high[own]) | (X[:, own] < -low[own])
        out &= seen
        places = np.flatnonzero(out)
        x, difference, variance = (
            part.reshape(-1)[places]
            for part in (X, deviations.difference, deviations.variance)
        )
        column = places % X.shape[1]
        limit = np.where(difference > 0, high[column], low[column])
        far = np.square(difference) > np.square(limit) * variance
        far |= self.marginal[column]
        log = self.log_densities(x[far], column[far], difference[far], variance[far])
        return places[far], log


def first_guess(
    W: Array, seen: Mask, weights: Array, prior: Array, marginal: Mask
) -> WrongCells:
    """Return wrong cells as the prior has them, as frequent as cells left out by W."""
    n = np.maximum(weights @ seen, 1.0)
    share = np.clip(weights @ (seen * (1.0 - W)) / n, 0.005, 0.5) / 2
    away = AWAY * np.sqrt(prior)
    return WrongCells(
        np.array([share, share]),
        np.array([-away, away]),
        np.tile(PRIOR_VARIANCE * prior, (2, 1)),
        np.zeros((2, len(prior))),
        marginal,
    )


def learn_wrong(
    X: Array,
    classes: CellClasses,
    weights: Array,
    prior: Array,
    noise: Array,
    before: WrongCells,
) -> WrongCells:
    """Estimate shares, centers and variances of wrong cells, given probabilities."""
    n = weights @ (classes.good + classes.low + classes.high)
    shares, centers, variances = np.empty((3, 2, X.shape[1]))
    for side, sign in ((0, -1.0), (1, 1.0)):
        p = weights[:, None] * classes[1 + side]
        count = p.sum(axis=0)
        center = (p * X).sum(axis=0) + PRIOR_WRONG * sign * AWAY * np.sqrt(prior)
        centers[side] = center / (count + PRIOR_WRONG)
        squares = (p * np.square(X - centers[side])).sum(axis=0)
        squares += PRIOR_WRONG * PRIOR_VARIANCE * prior
        variances[side] = np.maximum(squares / (count + PRIOR_WRONG), noise)
        shares[side] = np.clip((count + 0.005) / (n + 1.0), FEWEST, MOST)
    return WrongCells(shares, centers, variances, before.limits, before.marginal)


def reach(z: Array, seen: Mask, good: Mask, marginal: Mask) -> Array:
    """Return the deviations up to which the cells of each side follow a single law.

    The density of the logarithm of deviations of a single law, light-tailed or heavy,
    is log-concave: from bin to bin, counts fall by ever larger factors. Where more
    cells follow than that allows, the law ended one bin before.

    Parameters
    ----------
    z : ndarray of shape (n, D)
        Standardized deviations.
    seen : ndarray of bool
        Cells to use.
    good : ndarray of bool
        Cells whose median deviation is the unit.
    marginal : ndarray of shape (D,), bool
        Columns whose deviations are in units of their own.

    Returns
    -------
    ndarray of shape (2, D)
        Low and high side; infinity if no cell needs to be wrong.
    """
    size = np.abs(z)
    # If ever more cells were left out, the unit would shrink, and more would be.
    unit = np.maximum(column_medians(size, good), column_medians(size, seen) / SHRUNK)
    unit = np.where((unit > 0) & ~marginal, unit / 0.6745, 1.0)
    with np.errstate(divide="ignore"):
        places = np.log(size / unit) / np.log(RATIO)
    # Bin 0 has the deviations below one unit.
    bins = np.clip(np.floor(np.maximum(places, -1.0)) + 1, 0, N_BINS).astype(np.intp)
    D = z.shape[1]
    limits = np.full((2, D), np.inf)
    for side in (0, 1):
        use = seen & ((z > 0) if side else (z < 0))
        flat = (np.arange(D) * (N_BINS + 1) + bins)[use]
        counts = np.bincount(flat, minlength=D * (N_BINS + 1)).reshape(D, -1)
        limits[side] = _law_ends(np.array(counts.T, float, order="C")) * unit
    return limits


def raise_known(limits: Array, z: Array, seen: Mask, factors: Array) -> Array:
    """Raise the limits of sides whose far cells the factors of the rows explain.

    Errors know nothing about the rest of their row. A tail or a mode of a column does:
    the rows that have it are of a kind. So the limit is moved out until the cells
    beyond it are anybody's.

    Parameters
    ----------
    limits : ndarray of shape (2, D)
        Of `reach`.
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


def column_medians(X: Array, some: Mask) -> Array:
    """Return the median of some cells of every column; 0 if there are none."""
    if not len(X):
        return np.zeros(X.shape[1])
    n, columns = some.sum(axis=0), np.arange(X.shape[1])
    ordered = np.sort(np.where(some, X, np.inf), axis=0)  # the others come last
    low, high = ordered[np.maximum(n - 1, 0) // 2, columns], ordered[n // 2, columns]
    return np.where(n > 0, (low + high) / 2, 0.0)


def _law_ends(counts: Array) -> Array:
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
        surplus = at_least(count, expected) < CHANCE
        falling = ratio < SLOWEST  # before, anything may follow
        rest = expected / np.maximum(1.0 - ratio, 1.0 - SLOWEST)
        surplus |= falling & (at_least(beyond[b, open_], rest) < CHANCE)
        ends[open_[surplus]] = RATIO ** (b - 2)
        now = np.maximum(np.maximum(count, expected / 2), 1e-30)
        ratio = np.minimum(ratio, now / last)
        open_, ratio, last = open_[~surplus], ratio[~surplus], now[~surplus]
    return ends


def at_least(count: Array, expected: Array) -> Array:
    """Return the probability of so many events or more, if `expected` are expected."""
    return np.where(count > 0, gammainc(np.maximum(count, 1e-9), expected), 1.0)
