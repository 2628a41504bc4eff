"""What a fit knows about cells, and the repair of rows by it.

A repair depends on nothing but the row, so that rows of the fit and new rows, arrays,
files and Dask are treated alike: it is a transform of blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc

from trueaxis._engine.cells.factors import Array, Deviations, FactorModel
from trueaxis._engine.cells.wrong import Mask, WrongCells
from trueaxis._rows.transformed import Where

NEAR = 2.0  # rows are first compared by the cells within so many units of the center
SWEEPS = 6  # over the cells of a row; the good ones rarely change after three
FAR = 1e8  # units of a column beyond which it does not matter how far a cell is
# Wrong cells that are rarer than this, in a row, are never held against it.
TOLERATED = 0.05
NAMES = ("center", "unit", "mean", "noise", "loadings")
WRONG_NAMES = ("shares", "centers", "variances", "limits", "marginal")


class Repaired(NamedTuple):
    """Rows after a repair.

    Attributes
    ----------
    rows : ndarray of shape (n, D)
        Holes are filled, and wrong cells replaced, except those of rows that are wrong
        as a whole.
    good : ndarray of shape (n, D), bool
        Cells that are there and right.
    crowded : ndarray of shape (n,), bool
        Rows with so many wrong cells that the row is wrong, not its cells.
    deviations : ndarray of shape (n, D)
        Standardized differences of the cells from what the other cells say; NaN for
        holes.
    fitted : ndarray of shape (n, D)
        What would fit, given the good cells of the row.
    """

    rows: NDArray[Any]
    good: Mask
    crowded: NDArray[np.bool_]
    deviations: Array
    fitted: Array


@dataclass(frozen=True)
class CellModel:
    """Fills holes and finds wrong cells.

    Attributes
    ----------
    center, unit : ndarray of shape (D,)
        Robust location and scale of the columns; everything else is in these units.
    factors : FactorModel
    wrong : WrongCells or None
        None if all cells that are there count as right.
    chance : float
        Probability of so many wrong cells in a row that the row is wrong.
    """

    center: Array
    unit: Array
    factors: FactorModel
    wrong: WrongCells | None
    chance: float

    def __call__(self, block: NDArray[Any], where: Where | None = None) -> NDArray[Any]:
        """Return the repaired rows of a block: a `BlockTransform`."""
        if self.wrong is not None:
            return self.repair(block).rows
        if not np.isnan(np.add.reduce(block, axis=None)):
            return block
        some = np.isnan(block).any(axis=1)
        rows = np.array(block)
        X, seen = self.standard(block[some])
        fitted = self.center + self.unit * self.factors.fill(X, seen.astype(float))
        rows[some] = np.where(seen, block[some], fitted)
        return rows

    def part(self, first: int, n: int) -> Self:
        """Return the transform for n rows: the same for all rows."""
        return self

    def impute(self, block: NDArray[Any]) -> NDArray[Any]:
        """Return the rows with holes filled, and nothing else changed."""
        if self.wrong is None:
            return self(block)
        fitted = self.repair(block).fitted
        return np.where(np.isnan(block), fitted, block).astype(block.dtype, copy=False)

    def standard(self, block: NDArray[Any]) -> tuple[Array, Mask]:
        """Return cells in units of their columns, 0 in holes, and where they are."""
        seen = ~np.isnan(block)
        with np.errstate(over="ignore", invalid="ignore"):
            X = (block - self.center) / self.unit
        np.clip(X, -FAR, FAR, out=X)
        X[~seen] = 0.0
        return X.astype(float, copy=False), seen

    def repair(self, block: NDArray[Any]) -> Repaired:
        """Find the wrong cells of rows, and say what would fit."""
        X, seen = self.standard(block)
        good, deviations = self.good_cells(X, seen)
        crowded = self.crowded(good, seen)
        z = deviations.standard()
        if self.wrong is not None:
            z = self.wrong.standard(X, deviations)
        fitted = self.center + self.unit * deviations.fitted
        kept = good | (seen & crowded[:, None])
        rows = np.where(kept, block, fitted).astype(block.dtype, copy=False)
        return Repaired(rows, good, crowded, np.where(seen, z, np.nan), fitted)

    def good_cells(self, X: Array, seen: Mask) -> tuple[Mask, Deviations]:
        """Mark the cells of rows that are there and right."""
        deviations = self.factors.deviations(X, seen.astype(float))
        if self.wrong is None:
            return seen, deviations
        good = self.wrong.good(X, seen, deviations)
        open_ = np.flatnonzero((good != seen).any(axis=1))
        # Wrong cells hide each other: begin with those that are nowhere near wrong.
        good[open_] = self.first_guess(X[open_], seen[open_])
        for _ in range(SWEEPS):
            if not len(open_):
                break
            some = self.factors.deviations(X[open_], good[open_].astype(float))
            now = self.wrong.good(X[open_], seen[open_], some)
            moved = (now != good[open_]).any(axis=1)
            for whole, part in zip(deviations, some, strict=True):
                whole[open_] = part
            good[open_] = now
            open_ = open_[moved]
        if len(open_):  # compare with the final choice
            some = self.factors.deviations(X[open_], good[open_].astype(float))
            for whole, part in zip(deviations, some, strict=True):
                whole[open_] = part
        return good, deviations

    def first_guess(self, X: Array, seen: Mask) -> Mask:
        """Mark the cells near the center of their column."""
        assert self.wrong is not None
        low, high = np.where(self.wrong.marginal, self.wrong.limits, NEAR)
        return np.asarray(seen & (X >= -low) & (X <= high))

    def crowded(self, good: Mask, seen: Mask) -> NDArray[np.bool_]:
        """Mark the rows that have more wrong cells than chance or a majority allows."""
        n_wrong = (seen & ~good).sum(axis=1)
        if self.wrong is None:
            return np.zeros(len(good), dtype=bool)
        expected = seen @ np.maximum(self.wrong.shares.sum(axis=0), TOLERATED)
        p = gammainc(np.maximum(n_wrong, 1e-9), np.maximum(expected, 1e-9))
        unlikely = (n_wrong > 0) & (p < self.chance)
        return np.asarray(unlikely | (2 * n_wrong > seen.sum(axis=1)))

    def without_wrong(self) -> CellModel:
        """Return the model that only fills holes."""
        return replace(self, wrong=None)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the model as arrays, for model files."""
        arrays = {
            "center": self.center,
            "unit": self.unit,
            "mean": self.factors.mean,
            "noise": self.factors.noise,
            "loadings": self.factors.loadings,
            "chance": np.array(self.chance),
        }
        if self.wrong is not None:
            arrays |= {name: getattr(self.wrong, name) for name in WRONG_NAMES}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> CellModel:
        """Return the model that `to_arrays` wrote."""
        factors = FactorModel(arrays["mean"], arrays["loadings"], arrays["noise"])
        wrong = None
        if "shares" in arrays:
            wrong = WrongCells(**{name: arrays[name] for name in WRONG_NAMES})
        chance = float(arrays["chance"])
        return cls(arrays["center"], arrays["unit"], factors, wrong, chance)
