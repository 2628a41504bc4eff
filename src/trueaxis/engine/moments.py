"""KERNELS: one block of rows in, small arrays out.

`Sweep` is the one pass that every row-weighted method makes: look at the rows (v, e),
weigh them, and add up their weighted moments, all while the block is in cache.
Notation: y = x - m, t = P y, v = |t|^2, e = |y - P't|^2, s = sum t_j^2 / variance_j.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsymm, dsyrk, ssyrk

if TYPE_CHECKING:
    from trueaxis.engine.subspace import Subspace


class Weighing(NamedTuple):
    """Log-weights of rows for the span of the subspace.

    Where `core` is given, it marks the rows that give centre and variances instead,
    each with weight 1.
    """

    log_weights: NDArray[np.float64]
    core: NDArray[np.bool_] | None = None

    def part(self, first: int, n: int) -> Weighing:
        """Return the weighing of n rows from row `first` on."""
        some = slice(first, first + n)
        return Weighing(
            self.log_weights[some], None if self.core is None else self.core[some]
        )


# (v, e, s) -> Weighing
Weigh = Callable[[NDArray, NDArray, NDArray], Weighing]


class Moments:
    """Weighted sums of rows about a fixed pivot.

    All parts share the pivot, so they add. A factor exp(log_scale) is taken out of the
    weights: those of DSWL may all be below the smallest float.
    """

    def __init__(self, pivot: NDArray[np.float64]) -> None:
        self.pivot = pivot
        self.log_scale = -np.inf
        self.weight = 0.0
        self.squares = 0.0
        self.first = np.zeros(0)
        self.second = np.zeros((0, 0))  # upper triangle only

    def add(self, y: NDArray, log_weights: NDArray, counts: NDArray | None) -> None:
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
        """Whether no row has been added."""
        return self.log_scale == -np.inf

    def plus(self, other: Moments) -> Moments:
        """Return the moments of both sets of rows."""
        if other.is_empty():
            return self
        total = Moments(self.pivot)
        total += self
        total += other
        return total

    def log_weight(self) -> float:
        """Logarithm of the sum of the weights."""
        return float(np.log(self.weight) + self.log_scale)

    def effective_size(self) -> float:
        """Effective sample size, (sum w)^2 / sum w^2, over all copies of the rows."""
        return self.weight**2 / self.squares

    def shift(self) -> NDArray[np.float64]:
        """Weighted mean, from the pivot."""
        if self.is_empty():
            raise ValueError(
                "No row carries weight: every weight is below the smallest number. The "
                "temperatures are far too small for these distances: raise tau, or use "
                'tau="auto".'
            )
        return self.first / self.weight

    def mean_and_scatter(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weighted mean and, in its upper triangle, the covariance about it."""
        shift = self.shift()
        with np.errstate(over="ignore", invalid="ignore"):  # `top_eigen` will tell
            scatter = self.second / self.weight
            scatter -= np.outer(shift, shift)
        return self.pivot + shift, scatter

    def total(self) -> float:
        """Variance in all directions together."""
        shift = self.shift()
        return float(np.trace(self.second) / self.weight - shift @ shift)

    def scattered(self, basis: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows of `basis` times the covariance, which is not formed."""
        shift = self.shift()
        product = dsymm(1.0 / self.weight, self.second, basis.T)
        return product.T - np.outer(basis @ shift, shift)

    def _raise_scale(self, top: float) -> None:
        if self.is_empty():  # most sums of a pass stay so: D x D numbers each
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


class Sums(NamedTuple):
    """State of a pass: moments of three groups of rows, and scratch space.

    both : rows that give span, centre and variances
    span_only, core_only : rows that give the span, or centre and variances, alone
    """

    both: Moments
    span_only: Moments
    core_only: Moments
    buffers: list[NDArray]

    @classmethod
    def about(cls, pivot: NDArray[np.float64]) -> Sums:
        """Return empty sums about a pivot."""
        return cls(Moments(pivot), Moments(pivot), Moments(pivot), [])

    def span(self) -> Moments:
        """Moments of the rows that give the span."""
        return self.both.plus(self.span_only)

    def core(self) -> Moments:
        """Moments of the rows that give centre and variances."""
        return self.both.plus(self.core_only)

    def workspace(self, block: NDArray) -> NDArray:
        """A buffer of the block's shape, allocated once per pass."""
        if not self.buffers or len(self.buffers[0]) < len(block):
            self.buffers[:] = [np.empty_like(block)]
        return self.buffers[0][: len(block)]

    def add(self, other: Sums) -> Sums:
        """Add the sums of later rows."""
        for mine, theirs in zip(self[:3], other[:3], strict=True):
            mine += theirs
        return self


class Gather:
    """The pass that only adds up moments, with weights known for all rows."""

    n_fields = 0

    def __init__(
        self,
        pivot: NDArray[np.float64],
        weighing: Weighing,
        counts: NDArray[np.float64] | None = None,
    ) -> None:
        self.pivot = pivot
        self.weighing = weighing
        self.counts = counts

    def start(self) -> Sums:
        """Return an empty state."""
        return Sums.about(self.pivot)

    def absorb(self, state: Sums, block: NDArray, first: int) -> None:
        """Add the moments of a block."""
        y = state.workspace(block)
        np.subtract(block, self.pivot, out=y, casting="same_kind")
        weighing = self.weighing.part(first, len(block))
        _accumulate(state, y, weighing, _part(self.counts, first, len(block)))

    def merge(self, state: Sums, other: Sums) -> Sums:
        """Add the state of later rows to that of earlier ones."""
        return state.add(other)


class Sweep:
    """The fused pass: look at the rows, weigh them, add up their moments.

    Parameters
    ----------
    subspace : Subspace
        Its mean is the pivot; its basis and variances give v, e and s.
    weigh : callable, optional
        Turns (v, e, s) into a `Weighing`. Without it the pass only looks.
    counts : ndarray, optional
        How often each row counts.
    """

    n_fields = 3  # v, e, s

    def __init__(
        self,
        subspace: Subspace,
        weigh: Weigh | None = None,
        counts: NDArray[np.float64] | None = None,
    ) -> None:
        self.subspace = subspace
        self.weigh = weigh
        self.counts = counts
        # BLAS is faster on a thin factor that lies row by row.
        self._axes = np.ascontiguousarray(subspace.basis.T)
        # v and s are both sums of squared scores, with these factors.
        inverse = 1.0 / subspace.floored_variances()
        self._factors = np.column_stack([np.ones_like(inverse), inverse])

    def start(self) -> Sums:
        """Return an empty state."""
        return Sums.about(self.subspace.mean if self.weigh else np.zeros(0))

    def absorb(self, state: Sums, block: NDArray, first: int) -> NDArray[np.float64]:
        """Look at a block and, if rows are weighed, add its moments."""
        y = state.workspace(block)
        # A row of 1e300 is infinitely far and gets weight 0: that is right.
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(block, self.subspace.mean, out=y, casting="same_kind")
            record = self._distances(y)
        if self.weigh is not None:
            counts = _part(self.counts, first, len(block))
            _accumulate(state, y, self.weigh(*record), counts)
        return record

    def merge(self, state: Sums, other: Sums) -> Sums:
        """Add the state of later rows to that of earlier ones."""
        return state.add(other)

    def _distances(self, y: NDArray) -> NDArray[np.float64]:
        t = y @ self._axes.astype(y.dtype, copy=False)
        d = np.einsum("ij,ij->i", y, y)
        record = np.empty((self.n_fields, len(y)))
        v, e, s = record
        v[:], s[:] = (np.square(t) @ self._factors).T
        np.subtract(d, v, out=e)
        # Near the subspace d - v loses its digits: take the residual there.
        near = ~(e > np.finfo(y.dtype).eps ** 0.25 * d)
        if near.any():
            residual = y[near] - t[near] @ self.subspace.basis
            e[near] = np.einsum("ij,ij->i", residual, residual)
            np.copyto(e, np.inf, where=np.isnan(e))  # inf - inf
        return record


def _part(counts: NDArray | None, first: int, n: int) -> NDArray | None:
    return None if counts is None else counts[first : first + n]


def _accumulate(
    state: Sums, y: NDArray, weighing: Weighing, counts: NDArray | None
) -> None:
    log_weights, core = weighing
    used = log_weights > -np.inf
    if counts is not None:
        used &= counts > 0
    if core is not None:
        if counts is not None:
            core = core & (counts > 0)
        # Only rows of weight 1 in the span count alike in both.
        alike = used & core & (log_weights == 0)
        apart = core & ~alike
        if apart.any():
            _add_some(state.core_only, y.copy(), np.zeros(len(y)), counts, apart)
        _add_some(state.span_only, y, log_weights, counts, used & ~alike)
        used = alike
    _add_some(state.both, y, log_weights, counts, used)


def _add_some(
    moments: Moments,
    y: NDArray,
    log_weights: NDArray,
    counts: NDArray | None,
    some: NDArray[np.bool_],
) -> None:
    # A row of weight 0 is left out rather than multiplied: it may be infinite.
    if not some.any():
        return
    if not some.all():
        y, log_weights = y[some], log_weights[some]
        counts = None if counts is None else counts[some]
    moments.add(y, log_weights, counts)
