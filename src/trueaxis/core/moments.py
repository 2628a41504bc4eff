"""Weighted sums of rows, from which `subspace` computes a center and a basis.

`kernels` adds the rows block by block; the moments of separate blocks can be added.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsymm, dsyrk, ssyrk


class NoSubspace(ValueError):
    """The rows, as they are weighted, do not determine a subspace."""


class Scatter(Protocol):
    """What the axes of rows follow from: their mean and their covariance."""

    def mean(self) -> NDArray[np.float64]:
        """Return the mean."""

    def total(self) -> float:
        """Return the trace of the covariance."""

    def scattered(self, basis: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rows of `basis` times the covariance, without forming it."""


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
        Sums of the weights and of their squares.
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
        """Add pivoted rows of weight 1; n is how many of them are not dropped, or 0."""
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

    def plus(self, other: Moments) -> Moments:
        """Return the moments of both sets of rows."""
        if other.is_empty():
            return self
        total = Moments(self.pivot)
        total += self
        total += other
        return total

    def widened(self, covariance: NDArray[np.float64] | None) -> Moments:
        """Return the moments of rows that vary more, by a covariance of their own."""
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
        """Return the effective sample size, (sum w)^2 / sum w^2, copies included."""
        return self.weight**2 / self.squares

    def equal_size(self) -> float:
        """Return the sum of weights divided by the largest: n, if all are equal."""
        return self.weight

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
