"""Rows as given, apart from their holes: what a method that knows no cells would see.

`fitted_rows` returns rows whose wrong cells are replaced, too, as the model judges
them. The effect of outliers on plain PCA includes that of wrong cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from trueaxis.cells.model import CellModel
from trueaxis.data.rows import Rows
from trueaxis.data.transformed import RowwiseRows, Where


@dataclass(frozen=True)
class Filling:
    """Transform of blocks: fill holes, and leave all other cells as they are."""

    model: CellModel

    def __call__(self, block: NDArray[Any], where: Where | None = None) -> NDArray[Any]:
        """Return the block without holes."""
        return self.model.impute(block)

    def part(self, first: int, n: int) -> Filling:
        """Return the transform of n rows, which is the same for all rows."""
        return self


def cell_repair(rows: Rows) -> CellModel | None:
    """Return what repairs the rows that `fitted_rows` returned; None if nothing."""
    if isinstance(rows, RowwiseRows) and isinstance(rows.change, CellModel):
        return rows.change
    return None


def imputed(rows: Rows) -> Rows:
    """Return the rows that `fitted_rows` returned, with their wrong cells put back.

    The same object if no cells were replaced.
    """
    repair = cell_repair(rows)
    if repair is None or repair.wrong is None:
        return rows
    assert isinstance(rows, RowwiseRows)
    return RowwiseRows(rows.rows, Filling(repair))
