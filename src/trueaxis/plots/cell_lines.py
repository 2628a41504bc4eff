"""Choose the lines of a cell map: rows that have something to see, or blocks of rows.

`cell_map` draws them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.diagnostics import CellMap

MOST_LINES = 100  # lines of the map; more rows are drawn in blocks
MOST_WORST = 40  # rows that are listed one by one, worst first


class CellLines(NamedTuple):
    """What the map shows, one line per row or block of rows.

    deviations : (m, D), of the worst cell of a block; NaN for missing cells
    wrong, missing : (m, D), bool
    outlying : (m,), share of the rows that are outliers
    first : (m,), index of the first row of every line
    per_line : number of rows in a line
    n_rows : number of rows that there would be to show
    """

    deviations: NDArray[np.float64]
    wrong: NDArray[np.bool_]
    missing: NDArray[np.bool_]
    outlying: NDArray[np.float64]
    first: NDArray[np.intp]
    per_line: int
    n_rows: int


def has_something(cells: CellMap) -> NDArray[np.bool_]:
    """Mark outliers, and rows with wrong or missing cells."""
    return np.asarray(cells.outlier | (cells.wrong | cells.missing).any(axis=1))


def worst_rows(cells: CellMap) -> CellLines:
    """Return the rows that have something to see.

    Outliers first, then good rows with wrong cells, then rows that only have holes;
    among them, rows with many wrong cells first, and then those with large deviations.
    """
    n_wrong, n_missing = cells.wrong.sum(axis=1), cells.missing.sum(axis=1)
    size = np.where(cells.missing, 0.0, np.abs(cells.deviations)).max(axis=1)
    order = np.lexsort((-n_missing, -size, -n_wrong))
    order = order[has_something(cells)[order]]
    bad, touched = cells.outlier[order], n_wrong[order] > 0
    good = order[~bad & touched]
    # However many outliers there are, half of the map is for cells of good rows.
    room = max(MOST_WORST // 2, MOST_WORST - len(good))
    chosen = np.concatenate([order[bad][:room], good, order[~bad & ~touched]])
    chosen = chosen[:MOST_WORST]
    return CellLines(
        cells.deviations[chosen],
        cells.wrong[chosen],
        cells.missing[chosen],
        cells.outlier[chosen].astype(float),
        chosen,
        1,
        len(order),
    )


def all_rows(cells: CellMap) -> CellLines:
    """Return all rows in their order, in blocks if there are many.

    A block shows the largest deviation of every column, that of a wrong cell if there
    is one. It is missing if at least half of its cells are and none is wrong.
    """
    n, D = cells.wrong.shape
    per = -(-n // MOST_LINES)
    starts = np.arange(0, n, per)
    # Wrong cells outdo all others, missing ones none.
    size = np.where(cells.missing, -1.0, np.abs(cells.deviations))
    size[cells.wrong] += np.max(size, initial=0.0) + 1.0
    lines = CellLines(
        np.empty((len(starts), D)),
        np.logical_or.reduceat(cells.wrong, starts, axis=0),
        np.zeros((len(starts), D), dtype=bool),
        np.add.reduceat(cells.outlier.astype(float), starts) / np.diff([*starts, n]),
        starts,
        per,
        n,
    )
    for line, first in enumerate(starts):
        block = slice(first, first + per)
        worst = size[block].argmax(axis=0)
        lines.deviations[line] = cells.deviations[block][worst, np.arange(D)]
        missing = 2 * cells.missing[block].sum(axis=0) >= len(size[block])
        lines.missing[line] = missing & ~lines.wrong[line]
    return lines
