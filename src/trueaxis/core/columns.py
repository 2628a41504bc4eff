"""Mean and standard deviation of columns, accumulated block by block without overflow.

Used by the scaler. `refuse_rounded` finds columns without any spread worth the name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.rows import Kernel

ROUNDED = 64  # units of rounding; values that differ by less tell nothing


@dataclass
class ColumnSpread:
    """Means and sums of squared deviations of y = (x - pivot) / 4, for every column.

    Attributes
    ----------
    pivot : ndarray of shape (D,)
    n : ndarray of shape (D,)
        Number of cells that are not missing.
    size : ndarray of shape (D,)
        Largest |y|. `mean` is in units of `size`, and `square` in units of its square,
        so that nothing overflows.
    mean : ndarray of shape (D,)
        Mean of y.
    square : ndarray of shape (D,)
        Sum of squared deviations of y from its mean.
    """

    pivot: NDArray[np.float64]
    n: NDArray[np.float64]
    size: NDArray[np.float64]
    mean: NDArray[np.float64]
    square: NDArray[np.float64]

    @classmethod
    def about(cls, pivot: NDArray[np.float64]) -> ColumnSpread:
        """Return an empty spread, to which rows can be added."""
        return cls(pivot, *np.zeros((4, len(pivot))))

    @classmethod
    def of(cls, pivot: NDArray[np.float64], block: NDArray[Any]) -> ColumnSpread:
        """Return the spread of a block, without its missing cells."""
        y = block.astype(float) / 4 - pivot / 4
        size = np.abs(y).max(axis=0)
        if np.isnan(size).any():
            return cls._of_seen_cells(pivot, y)
        y /= np.where(size > 0, size, 1.0)
        mean = y.mean(axis=0)
        y -= mean
        square = np.einsum("ij,ij->j", y, y)
        return cls(pivot, np.full(len(size), float(len(block))), size, mean, square)

    @classmethod
    def _of_seen_cells(
        cls, pivot: NDArray[np.float64], y: NDArray[np.float64]
    ) -> ColumnSpread:
        hole = np.isnan(y)
        n = (~hole).sum(axis=0).astype(float)
        y[hole] = 0.0
        size = np.abs(y).max(axis=0)
        y /= np.where(size > 0, size, 1.0)
        mean = y.sum(axis=0) / np.maximum(n, 1.0)
        y -= mean
        y[hole] = 0.0
        return cls(pivot, n, size, mean, np.einsum("ij,ij->j", y, y))

    def add(self, other: ColumnSpread) -> None:
        """Add the spread of other rows."""
        size = np.maximum(self.size, other.size)
        unit = np.where(size > 0, size, 1.0)
        own_unit, other_unit = self.size / unit, other.size / unit
        n = self.n + other.n
        some = np.maximum(n, 1.0)
        step = other_unit * other.mean - own_unit * self.mean
        self.square = own_unit**2 * self.square + other_unit**2 * other.square
        self.square += step**2 * (self.n * other.n / some)
        self.mean = own_unit * self.mean + step * (other.n / some)
        self.n, self.size = n, size

    def center_and_unit(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return means and standard deviations (1 for constant columns).

        Columns without any value, whose pivot is NaN, have a mean of NaN.
        """
        some = np.maximum(self.n, 1.0)
        deviation = 4 * (self.size * np.sqrt(self.square / some))
        constant = self.size == 0
        center = self.pivot + 4 * (self.size * self.mean)
        return center, np.where(constant, 1.0, deviation)


class SpreadKernel(Kernel):
    """Kernel that adds up the spread of all rows."""

    def __init__(self, pivot: NDArray[np.float64]) -> None:
        self.pivot = pivot

    def start(self) -> ColumnSpread:
        """Return an empty state."""
        return ColumnSpread.about(self.pivot)

    def absorb(self, state: ColumnSpread, block: NDArray[Any], first: int) -> None:
        """Add a block."""
        state.add(ColumnSpread.of(self.pivot, block))

    def merge(self, state: ColumnSpread, other: ColumnSpread) -> ColumnSpread:
        """Add the state of later rows to the state of earlier ones."""
        if other.n.any():
            state.add(other)
        return state


def refuse_rounded(
    X: NDArray[Any], dtype: np.dtype[Any], names: Sequence[Any] | None
) -> None:
    """Raise if a column varies, but hardly more than its values are rounded.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        NaN in holes.
    dtype : dtype
        Type in which the values were stored.
    names : sequence or None
        Names of the columns, for error messages.
    """
    low, high = np.fmin.reduce(X), np.fmax.reduce(X)
    # Halves, as the difference of two values may overflow.
    spread, size = high / 2 - low / 2, np.maximum(np.abs(low), np.abs(high)) / 2
    rounded = (spread > 0) & (spread <= ROUNDED * np.finfo(dtype).eps * size)
    if not rounded.any():
        return
    first = int(rounded.argmax())
    name = first if names is None else repr(str(names[first]))
    raise ValueError(
        f"The values of column {name} of X are about {2 * size[first]:.1e}, and differ "
        f"by at most {2 * spread[first]:.1e}, hardly more than {dtype} values of this "
        f"size are rounded (such columns: {rounded.sum()} of {len(rounded)}). Subtract "
        "an offset before values are rounded, or drop such columns."
    )
