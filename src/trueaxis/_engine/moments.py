"""Weighted sums of rows, from which `subspace` makes a center and a basis.

`kernels` fills them block by block; those of separate blocks add up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsymm, dsyrk, ssyrk


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

    def equal_size(self) -> float:
        """Sum of the weights in units of the largest: n, if all are equal."""
        return self.weight

    def shift(self) -> NDArray[np.float64]:
        """Weighted mean, from the pivot."""
        if self.is_empty():
            raise ValueError(
                "No row carries weight: every weight is zero or below the smallest "
                "number. Give some rows weight: raise tau where temperatures are "
                'given, or use tau="auto"; a rule of your own must not give zeros only.'
            )
        return self.first / self.weight

    def mean(self) -> NDArray[np.float64]:
        """Weighted mean."""
        return self.pivot + self.shift()

    def about(self, center: NDArray[np.float64]) -> Moments:
        """Return moments of the same rows that take `center` for their mean."""
        step, shift = center - self.pivot, self.shift()
        moved = Moments(center)
        moved += self
        if step.any():
            cross = np.outer(step, shift)
            moved.second -= self.weight * (cross + cross.T - np.outer(step, step))
        moved.first = np.zeros_like(step)
        return moved

    def scatter(self) -> NDArray[np.float64]:
        """Covariance about the mean, in its upper triangle."""
        shift = self.shift()
        with np.errstate(over="ignore", invalid="ignore"):  # `top_eigen` will tell
            scatter = self.second / self.weight
            scatter -= np.outer(shift, shift)
        return scatter

    def total(self) -> float:
        """Variance in all directions together."""
        shift = self.shift()
        return float(np.trace(self.second) / self.weight - shift @ shift)

    def full_scatter(self) -> NDArray[np.float64]:
        """Covariance about the mean, both triangles."""
        upper = self.scatter()
        return np.triu(upper) + np.triu(upper, 1).T

    def column_variances(self) -> NDArray[np.float64]:
        """Variance of every column."""
        return np.diag(self.second) / self.weight - self.shift() ** 2

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
