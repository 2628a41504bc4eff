"""Sums of rows: weighted moments, means, medians and counts, with repetitions.

`kernels` adds rows to `Moments` block by block; those of separate blocks can be added.
The levels of discrete columns must not be mistaken for groups of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsymm, dsyrk, ssyrk


class NoSubspace(ValueError):
    """The rows, as they are weighted, do not determine a subspace."""


class Moments:
    """Weighted sums of rows about a fixed pivot.

    Moments about the same pivot can be added. The weights are divided by
    exp(log_scale), because those of DSWL may all be below the smallest float.

    Attributes
    ----------
    pivot : ndarray of shape (D,)
    log_scale : float
        Largest log-weight.
    weight, squares : float
        Sums of the weights and of their squares, in units of the largest.
    first : ndarray of shape (D,)
        Weighted sum of the rows.
    second : ndarray of shape (D, D)
        Weighted sum of their outer products, upper triangle only.
    """

    def __init__(self, pivot: NDArray[np.float64]) -> None:
        self.pivot = pivot
        self.log_scale = -np.inf
        self.weight = 0.0
        self.squares = 0.0
        self.first = np.zeros(0)
        self.second = np.zeros((0, 0))

    def add(
        self, y: NDArray[Any], log_weights: NDArray[Any], counts: NDArray[Any] | None
    ) -> None:
        """Add pivoted rows y, each `counts` times; overwrites y."""
        self._raise_scale(log_weights.max())
        w = np.exp(log_weights - self.log_scale)
        self.squares += float(np.dot(w, w if counts is None else w * counts))
        if counts is not None:
            w *= counts
        self.weight += float(w.sum())
        root = np.sqrt(w).astype(y.dtype, copy=False)
        y *= root[:, None]
        self.first += root @ y
        if y.dtype == np.float64:
            self.second = dsyrk(1.0, y.T, beta=1.0, c=self.second, overwrite_c=1)
        else:
            self.second += ssyrk(1.0, y.T)

    def add_equal(self, y: NDArray[Any], n: int) -> None:
        """Add pivoted rows of weight 1; n of them count, and the others are 0."""
        if n == 0:
            return
        self._raise_scale(0.0)
        factor = float(np.exp(-self.log_scale))
        self.weight += factor * n
        self.squares += factor**2 * n
        self.first += factor * (np.ones(len(y), dtype=y.dtype) @ y)
        # Unlike SciPy's BLAS, NumPy's lets other threads run meanwhile.
        product = y.T @ y
        self.second += product if factor == 1.0 else factor * product

    def __iadd__(self, other: Moments) -> Moments:
        if not other.is_empty():
            self._raise_scale(other.log_scale)
            factor = np.exp(other.log_scale - self.log_scale)
            self.weight += factor * other.weight
            self.squares += factor**2 * other.squares
            self.first += factor * other.first
            self.second += factor * other.second
        return self

    def is_empty(self) -> bool:
        """Return whether no row has been added."""
        return self.log_scale == -np.inf

    def widened(self, covariance: NDArray[np.float64] | None) -> Moments:
        """Return the moments with a covariance added, such as that of filled cells."""
        if covariance is None or self.is_empty():
            return self
        wider = Moments(self.pivot)
        wider += self
        wider.second += self.weight * covariance
        return wider

    def log_weight(self) -> float:
        """Return the logarithm of the sum of the weights."""
        return float(np.log(self.weight) + self.log_scale)

    def effective_size(self) -> float:
        """Return the effective sample size with repetitions, (sum w)^2 / sum w^2."""
        return self.weight**2 / self.squares

    def shift(self) -> NDArray[np.float64]:
        """Return the weighted mean minus the pivot."""
        if self.is_empty():
            raise NoSubspace(
                "No row carries weight: every weight is 0 or underflows. If you passed "
                'temperatures, raise tau or use tau="auto"; if you passed a rule, make '
                "it return some positive weights."
            )
        return self.first / self.weight

    def mean(self) -> NDArray[np.float64]:
        """Return the weighted mean."""
        return self.pivot + self.shift()

    def about(self, center: NDArray[np.float64]) -> Moments:
        """Return moments of the same rows with `center` as their mean."""
        step, shift = center - self.pivot, self.shift()
        moved = Moments(center)
        moved += self
        if step.any():
            cross = np.outer(step, shift)
            moved.second -= self.weight * (cross + cross.T - np.outer(step, step))
        moved.first = np.zeros_like(step)
        return moved

    def scatter(self) -> NDArray[np.float64]:
        """Return the covariance about the mean, upper triangle only."""
        shift = self.shift()
        with np.errstate(over="ignore", invalid="ignore"):  # `top_eigen` raises instead
            scatter = self.second / self.weight
            scatter -= np.outer(shift, shift)
        return scatter

    def total(self) -> float:
        """Return the trace of the covariance."""
        shift = self.shift()
        return float(np.trace(self.second) / self.weight - shift @ shift)

    def full_scatter(self) -> NDArray[np.float64]:
        """Return the covariance about the mean, both triangles."""
        upper = self.scatter()
        return np.triu(upper) + np.triu(upper, 1).T

    def column_variances(self) -> NDArray[np.float64]:
        """Return the variance of every column."""
        return np.diag(self.second) / self.weight - self.shift() ** 2

    def scattered(self, basis: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rows of `basis` times the covariance, without forming it."""
        shift = self.shift()
        product = dsymm(1.0 / self.weight, self.second, basis.T)
        scattered: NDArray[np.float64] = product.T - np.outer(basis @ shift, shift)
        return scattered

    def _raise_scale(self, top: float) -> None:
        if self.is_empty():  # allocated late: most moments of a pass stay empty
            D = len(self.pivot)
            self.first, self.second = np.zeros(D), np.zeros((D, D), order="F")
            self.log_scale = top
        if top > self.log_scale:
            factor = np.exp(self.log_scale - top)
            self.weight *= factor
            self.squares *= factor**2
            self.first *= factor
            self.second *= factor
            self.log_scale = top


def total_count(n: int, counts: NDArray[Any] | None) -> float:
    """Return the number of rows, repetitions included."""
    return float(n) if counts is None else float(counts.sum())


def column_means(X: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean of every column, which is exact for constant columns."""
    first: NDArray[np.float64] = X[0].astype(float)
    means: NDArray[np.float64] = first + (X - first).mean(axis=0)
    return means


def quantile(x: NDArray[Any], q: float) -> float:
    """Return a quantile with linear interpolation.

    Faster than numpy's, and correct between infinite values.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.core.moments import quantile
    >>> quantile(np.array([5.0, 1.0, np.inf, np.inf]), 0.25)
    4.0
    """
    n = len(x)
    place = q * (n - 1)
    low = int(place)
    high = min(low + 1, n - 1)
    pair = np.partition(x, [low, high])
    below, above = pair[low], pair[high]
    if below == above:  # also if both are infinite
        return float(below)
    return float(below + (place - low) * (above - below))


def between(values: NDArray[Any], place: float) -> Any:
    """Interpolate sorted values, or lines of them, at a place between two of them."""
    last = values.shape[-1] - 1
    place = min(max(place, 0.0), float(last))
    low = int(place)
    below, above = values[..., low], values[..., min(low + 1, last)]
    return below + (above - below) * (place - low)


def counted_median(x: NDArray[Any], counts: NDArray[Any] | None) -> float:
    """Return the median of values, each repeated as often as it counts.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.core.moments import counted_median
    >>> counted_median(np.array([5.0, 1.0, 2.0]), np.array([3.0, 1.0, 2.0]))
    3.5
    """
    if counts is None:
        return quantile(x, 0.5)
    order = np.argsort(x, kind="stable")
    last = np.cumsum(counts[order])
    half, rounding = last[-1] / 2, 1e-9 * last[-1]
    # If a count ends exactly in the middle, the median lies between two values.
    pair = np.searchsorted(last, [half - rounding, half + rounding], side="left")
    return float(x[order[np.minimum(pair, len(x) - 1)]].mean())


def n_different_rows(X: NDArray[Any]) -> int:
    """Return the number of distinct rows."""
    # Adding 0.0 turns -0.0 into 0.0, whose bytes differ.
    return len({row.tobytes() for row in np.ascontiguousarray(X) + 0.0})


class Scratch:
    """Buffer with the size of a block, allocated once per pass."""

    def __init__(self) -> None:
        self.buffer: NDArray[Any] | None = None

    def like(self, block: NDArray[Any]) -> NDArray[Any]:
        """Return an uninitialized array of the shape of a block."""
        if self.buffer is None or len(self.buffer) < len(block):
            self.buffer = np.empty_like(block, order="C")
        return self.buffer[: len(block)]

    def __reduce__(self) -> tuple[Any, ...]:
        return Scratch, ()  # the buffer is not pickled


MOSTLY = 1 / 3  # data are mostly discrete if more than this share of the columns are
FIRST_LOOK = 8  # rows, times the square root of their number, that are looked at first
TIE = 1e-5  # values that differ by less, relative to their spread, are the same level


def discrete_columns(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark columns with a value that most rows share, or with few values.

    Few are at most the square root of the number of rows. Most columns are plainly
    continuous in some of the rows already, and are not looked at again.
    """
    n = len(X)
    few = np.sqrt(n)
    size = min(n, int(FIRST_LOOK * few))
    # Rows are drawn at random, because values may recur periodically.
    some = X[np.random.default_rng(0).permutation(n)[:size]]
    discrete = _has_levels(some, 2 * few, len(some) // 4)
    if discrete.any():
        discrete[discrete] = _has_levels(X[:, discrete], few, n // 2)
    return discrete


def _has_levels(X: NDArray[Any], few: float, many: int) -> NDArray[np.bool_]:
    """Mark columns with at most `few` values, or one that more than `many` rows share.

    Values that differ by less than a tie are the same.
    """
    values = np.sort(X.T, axis=1)
    tie = np.asarray(tie_of(values.T))[:, None]
    n_values = (np.diff(values, axis=1) > tie).sum(axis=1) + 1
    shared = (values[:, many:] - values[:, : len(X) - many] <= tie).any(axis=1)
    return np.asarray((n_values <= few) | shared)


def tie_of(values: NDArray[Any]) -> Any:
    """Return the difference up to which sorted values, or columns of them, are equal.

    It is relative to the shortest interval with three quarters of the values: the
    others may be far away, and half of the values may be the same.
    """
    n = len(values)
    most = 3 * n // 4
    with np.errstate(invalid="ignore"):
        widths = values[most:] - values[: n - most]
    return TIE * np.nan_to_num(widths.min(axis=0).astype(float), posinf=0.0)


def separable_columns(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the columns in which a cluster can be separate: the continuous ones.

    If the data are mostly discrete, none is marked.
    """
    vary = varying_columns(X)
    discrete = discrete_columns(X) & vary
    return np.asarray(~discrete & bool(discrete.sum() <= MOSTLY * vary.sum()))


def varying_columns(X: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the columns that are not constant."""
    return np.asarray(X.min(axis=0) < X.max(axis=0))
