"""What a fit knows about cells, and the repair of rows by it.

A repair depends on nothing but the row, so that rows of the fit and new rows, arrays,
files and Dask are treated alike: it is a transform of blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc

from trueaxis.cells.factors import Array, Deviations, FactorModel
from trueaxis.cells.limits import CHANCE, NEAR, Mask
from trueaxis.data.transformed import Where, largest_magnitude

SWEEPS = 6  # over the cells of a row; they rarely change after three
FAR = 1e8  # units of a column beyond which it does not matter how far a cell is

# About the factors, of all cells of a row, in units of their prior variances. Beyond
# 1e16, matrices are singular in floating point; fits reach about 1e3 per column.
MOST_INFORMATION = 1e14

# Wrong cells that are rarer than this, in a row, are never held against it.
TOLERATED = 0.05


@dataclass(frozen=True)
class WrongCells:
    """How often cells of every column are wrong, and how far away these are.

    Attributes
    ----------
    shares : ndarray of shape (D,)
    limits : ndarray of shape (2, D)
        Deviations, in standard deviations, up to which cells are good on either side.
    marginal : ndarray of shape (D,), bool
        Columns with few different values, whose cells are compared with the other cells
        of the column only: next to a level, another level is far away.
    """

    shares: Array
    limits: Array
    marginal: Mask


def within(limits: Array, z: Array, seen: Mask) -> Mask:
    """Mark the cells whose deviations are within the limits of both sides."""
    return np.asarray(seen & (z >= -limits[0]) & (z <= limits[1]))


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
    """

    center: Array
    unit: Array
    factors: FactorModel
    wrong: WrongCells | None = None

    def __call__(self, block: NDArray[Any], where: Where | None = None) -> NDArray[Any]:
        """Return the repaired rows of a block: a `BlockTransform`."""
        if self.wrong is not None:
            X, seen = self.standard(block)
            good, deviations = self.good_cells(X, seen)
            kept = kept_cells(good, seen, self.crowded(good, seen))
            return self._replaced(block, kept, deviations.fitted)
        if not np.isnan(largest_magnitude(block)):
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
        kept = kept_cells(good, seen, crowded)
        return Repaired(
            rows=self._replaced(block, kept, deviations.fitted),
            good=good,
            crowded=crowded,
            deviations=np.where(seen, deviations.z, np.nan),
            fitted=self.center + self.unit * deviations.fitted,
        )

    def _replaced(self, block: NDArray[Any], kept: Mask, fitted: Array) -> NDArray[Any]:
        """Return a block with what fits in place of cells that are not kept."""
        places = np.flatnonzero(~kept)
        rows, column = np.array(block, order="C"), places % block.shape[1]
        fits = self.unit[column] * fitted.reshape(-1)[places] + self.center[column]
        rows.reshape(-1)[places] = fits
        return rows

    def good_cells(self, X: Array, seen: Mask) -> tuple[Mask, Deviations]:
        """Mark the cells of rows that are there and right; also return deviations."""
        if self.wrong is None:
            return seen, self.factors.deviations(X, seen.astype(float))
        # Wrong cells hide each other: begin with those that are nowhere near wrong.
        own = np.where(self.wrong.marginal, self.wrong.limits, NEAR)
        good, deviations = self._settled(X, seen, within(own, X, seen))
        # A row far out along the factors is not a row of wrong cells: of two ways to
        # explain a row, the one with fewer wrong cells is right.
        rows = np.flatnonzero(self.crowded(good, seen))
        if len(rows):
            other, differing = self._settled(X[rows], seen[rows], seen[rows])
            better = other.sum(axis=1) > good[rows].sum(axis=1)
            good[rows[better]] = other[better]
            for whole, part in zip(deviations, differing, strict=True):
                whole[rows[better]] = part[better]
        return good, deviations

    def _settled(self, X: Array, seen: Mask, good: Mask) -> tuple[Mask, Deviations]:
        """Judge cells by the good ones of their row until these no longer change."""
        assert self.wrong is not None
        good, open_ = np.array(good), np.arange(len(X))
        deviations = Deviations(np.empty_like(X), np.empty_like(X))
        for sweep in range(SWEEPS):
            x, before = X[open_], good[open_]
            z, fitted = self.factors.deviations(x, before.astype(float))
            z = np.where(self.wrong.marginal, x, z)
            deviations.z[open_], deviations.fitted[open_] = z, fitted
            now = within(self.wrong.limits, z, seen[open_])
            moved = (now != before).any(axis=1)
            if sweep == SWEEPS - 1 or not moved.any():
                break
            good[open_] = now
            open_ = open_[moved]
        return good, deviations

    def crowded(self, good: Mask, seen: Mask) -> NDArray[np.bool_]:
        """Mark the rows that have more wrong cells than chance or a majority allows."""
        if self.wrong is None:
            return np.zeros(len(good), dtype=bool)
        n_seen = np.count_nonzero(seen, axis=1)
        n_wrong = n_seen - np.count_nonzero(good, axis=1)
        shares = np.maximum(self.wrong.shares, TOLERATED)
        crowded = np.asarray(2 * n_wrong > n_seen)
        # Fewer wrong cells than expected are never too many.
        (some,) = np.nonzero(~crowded & (n_wrong > shares.min() * n_seen))
        expected = seen[some] @ shares
        crowded[some] = gammainc(n_wrong[some], expected) < CHANCE
        return crowded

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the model as arrays, for model files."""
        arrays = {
            "center": self.center,
            "unit": self.unit,
            "mean": self.factors.mean,
            "noise": self.factors.noise,
            "loadings": self.factors.loadings,
        }
        if self.wrong is not None:
            arrays |= vars(self.wrong)
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> CellModel:
        """Return the model that `to_arrays` wrote."""
        factors = FactorModel(arrays["mean"], arrays["loadings"], arrays["noise"])
        wrong = None
        if "shares" in arrays:
            wrong = WrongCells(arrays["shares"], arrays["limits"], arrays["marginal"])
        return cls(arrays["center"], arrays["unit"], factors, wrong)


def kept_cells(good: Mask, seen: Mask, crowded: NDArray[np.bool_]) -> Mask:
    """Mark the cells that a repair keeps: all good ones, and those of crowded rows."""
    return np.where(crowded[:, None], seen, good)


def find_flaw(arrays: dict[str, Any], D: int) -> str | None:
    """Return why arrays cannot be a cell model of D columns, or None if they can."""
    r = np.shape(arrays.get("loadings", ()))[-1:]
    # Cells are at most FAR units from the center, and so is what is learned from them:
    # far beyond, products would overflow.
    most, far = float(np.finfo(float).max), FAR**2
    bounds: dict[str, tuple[tuple[int, ...], float, float]] = {
        "center": ((D,), -most, most),
        "unit": ((D,), float(np.finfo(float).tiny), most),
        "mean": ((D,), -far, far),
        "noise": ((D,), far**-2, far**2),
        "loadings": ((D, *r), -far, far),
    }
    if "shares" in arrays:
        bounds |= {"shares": ((D,), 0.0, 1.0), "limits": ((2, D), 0.0, np.inf)}
        bounds |= {"marginal": ((D,), 0, 1)}
    for name in sorted(bounds.keys() | arrays.keys()):
        array, kind = arrays.get(name), bool if name == "marginal" else np.float64
        if not isinstance(array, np.ndarray) or name not in bounds:
            return f"the cells have no {name}, or know nothing of it"
        shape, low, high = bounds[name]
        if array.shape != shape or array.dtype != kind:
            return f"{name} of the cells is not {kind.__name__} of shape {shape}"
        if not ((array >= low) & (array <= high)).all():
            return f"{name} of the cells is not between {low:.2g} and {high:.2g}"
    L, noise = arrays["loadings"], arrays["noise"][:, None]
    if (L**2 / noise).sum() > MOST_INFORMATION:
        return "loadings of the cells leave no digits to what is filled"
    return None


class RememberedRepair:
    """Repair of rows in memory that is computed once for every block.

    Only the cells that changed are kept. If they take more than half the memory of the
    block, they are computed anew in every pass.
    """

    def __init__(self, model: CellModel) -> None:
        self.model = model
        self._changes: dict[int, tuple[int, NDArray[np.int32], NDArray[Any]]] = {}

    def __call__(self, block: NDArray[Any], where: Where) -> NDArray[Any]:
        """Return the repaired rows of a block."""
        if not isinstance(where, slice) or where.start is None:
            return self.model(block)  # rows from anywhere
        known = self._changes.get(where.start)
        if known is not None and known[0] == where.stop:
            rows = np.array(block, order="C")
            rows.ravel()[known[1]] = known[2]
            return rows
        rows = self.model(block)
        with np.errstate(invalid="ignore"):
            places = np.flatnonzero(rows != block).astype(np.int32)
        changed = rows.ravel()[places]
        if rows is not block and 2 * (changed.nbytes + places.nbytes) <= block.nbytes:
            self._changes[where.start] = where.stop, places, changed
        return rows

    def part(self, first: int, n: int) -> CellModel:
        """Return the repair for n rows that are somewhere else."""
        return self.model
