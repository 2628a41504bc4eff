"""Draw tables with holes, wrong cells and bad rows for `cells.py`, with the truth.

Generated tables follow two laws. "narrow" is 500 x 20 with k = 3: scores with standard
deviations 3 to 1.5, and noise of 0.3. "wide" is 100 x 200 with k = 6: eigenvectors of
(-0.9)^|i - j|, eigenvalues 30 to 5, then 0.098 falling to 0.0015 (MacroPCA's own).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from trueaxis.datasets import planted

FIRST_SEED = 9000  # seeds from here on were not used to choose anything
MANY = 100_000  # rows that stand for the law, where its axes have no formula
AWAY = 20.0  # distance of a cluster of bad rows from the subspace


@dataclass(frozen=True)
class Table:
    """A spoiled table and the truth about it.

    Attributes
    ----------
    X, clean : ndarray of shape (n, D)
        The table with holes and wrong cells, and without them (bad rows are in both).
    axes : ndarray of shape (k, D)
        Principal axes of the law of the good rows.
    wrong : ndarray of shape (n, D), bool
        Wrong cells that are not missing.
    bad_row : ndarray of shape (n,), bool
    """

    X: np.ndarray
    clean: np.ndarray
    axes: np.ndarray
    wrong: np.ndarray
    bad_row: np.ndarray

    @cached_property
    def missing(self) -> np.ndarray:
        """Missing cells."""
        return np.isnan(self.X)

    @property
    def k(self) -> int:
        """Number of components."""
        return len(self.axes)


@dataclass(frozen=True)
class Case:
    """A kind of table: its name, how to draw one, and what MacroPCA was measured at.

    `macro` was measured with R's cellWise on other seeds: degrees, rmse of missing
    cells, cells found.
    """

    name: str
    draw: Callable[[int], Table]
    macro: str = ""
    wide: bool = False
    gamma: float = 6.0


@dataclass(frozen=True)
class Law:
    """Good rows: their axes, center and standard deviations, and how to draw them."""

    axes: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    rows: Callable[[int], np.ndarray]
    off: Callable[[int], np.ndarray]


def narrow_law(rng: np.random.Generator, df: float | None = None) -> Law:
    """Return the narrow law, with t noise of the same variance if `df` is given."""
    D, k = 20, 3
    axes = np.linalg.qr(rng.standard_normal((D, k)))[0].T
    spread = np.linspace(3, 1.5, k)

    def noise(n: int) -> np.ndarray:
        if df is None:
            return 0.3 * rng.standard_normal((n, D))
        return 0.3 * rng.standard_t(df, (n, D)) / np.sqrt(df / (df - 2))

    def rows(n: int) -> np.ndarray:
        return (rng.standard_normal((n, k)) * spread) @ axes + noise(n)

    def off(n: int) -> np.ndarray:
        return cluster(rng, axes) + noise(n)

    sd = np.sqrt((spread**2) @ axes**2 + 0.09)
    return Law(axes, np.zeros(D), sd, rows, off)


def wide_law(rng: np.random.Generator) -> Law:
    """Return the wide law."""
    D, k = 200, 6
    lags = np.abs(np.subtract.outer(np.arange(D), np.arange(D)))
    vectors = np.linalg.eigh((-0.9) ** lags)[1].T[::-1]
    spread = np.sqrt(np.r_[30, 25, 20, 15, 10, 5, np.linspace(0.098, 0.0015, D - k)])

    def rows(n: int) -> np.ndarray:
        return (rng.standard_normal((n, D)) * spread) @ vectors

    def off(n: int) -> np.ndarray:
        noise = (rng.standard_normal((n, D - k)) * spread[k:]) @ vectors[k:]
        return cluster(rng, vectors[:k]) + noise

    sd = np.sqrt((spread**2) @ vectors**2)
    return Law(vectors[:k], np.zeros(D), sd, rows, off)


def cluster(rng: np.random.Generator, axes: np.ndarray) -> np.ndarray:
    """Return the place of a cluster: off the subspace, in a random direction."""
    way = rng.standard_normal(axes.shape[1])
    way -= axes.T @ (axes @ way)
    return AWAY * way / np.linalg.norm(way)


def changed_law(rng: np.random.Generator, change: Callable) -> Law:
    """Return the narrow law with changed columns, z-scored; its axes are estimated."""
    law = narrow_law(rng)
    big = change(law.rows(MANY) / law.sd, rng)
    mean, sd = big.mean(axis=0), big.std(axis=0)
    axes = np.linalg.eigh(np.cov((big - mean).T / sd[:, None]))[1].T[::-1][:3]

    def rows(n: int) -> np.ndarray:
        return (change(law.rows(n) / law.sd, rng) - mean) / sd

    return Law(axes, np.zeros(20), np.ones(20), rows, law.off)


def skewed(Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.exp(0.6 * Z)


def counts(Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Turn five of 20 columns into three of counts and two of 0 and 1."""
    X = Z.copy()
    X[:, 15:18] = rng.poisson(np.exp(1 + 0.8 * Z[:, 15:18]))
    X[:, 18:] = Z[:, 18:] > 0.8
    return X


def some_cells(
    rng: np.random.Generator, n: int, columns: np.ndarray, D: int, share: float
) -> np.ndarray:
    """Draw the same share of cells in each column; below one cell, of the table."""
    hit = np.zeros((n, D), dtype=bool)
    if 0 < share * n < 1:
        hit.flat[rng.choice(n * D, round(share * n * D), replace=False)] = True
    else:
        for j in columns:
            hit[rng.choice(n, int(share * n), replace=False), j] = True
    return hit


def spoiled(
    seed: int,
    law: Callable[[np.random.Generator], Law] = narrow_law,
    *,
    n: int = 500,
    cells: float = 0.0,
    size: float | tuple[float, float] = 6.0,
    two_sided: bool = False,
    first_columns: int | None = None,
    rows: float = 0.0,
    missing: float = 0.0,
    by_chance: bool = False,
) -> Table:
    """Draw a table, then plant bad rows, wrong cells in the good ones, and holes.

    Wrong cells are `size` standard deviations from the center of their column, or
    between two sizes; `first_columns` limits them to the first columns. Each column has
    the same share of them, unless each cell is wrong by chance.
    """
    rng = np.random.default_rng(seed)
    drawn = law(rng)
    clean = drawn.rows(n)
    D = clean.shape[1]
    bad_row = np.arange(n) < round(rows * n)
    if rows:
        clean[bad_row] = drawn.off(bad_row.sum())
    if by_chance:
        wrong = rng.random((n, D)) < cells
    else:
        wrong = some_cells(rng, n, np.arange(first_columns or D), D, cells)
    wrong[bad_row] = False
    sizes = rng.uniform(*np.broadcast_to(size, 2), (n, D))
    if two_sided:
        sizes *= rng.choice([-1, 1], (n, D))
    X = np.where(wrong, drawn.mean + sizes * drawn.sd, clean)
    X[rng.random((n, D)) < missing] = np.nan
    return Table(X, clean, drawn.axes, wrong & ~np.isnan(X), bad_row)


def near_cluster(
    seed: int,
    kind: str = "both",
    *,
    share: float = 0.25,
    cells: float = 0.05,
    missing: float = 0.1,
    cluster_sd: float = 0.1,
) -> Table:
    """Draw a cloud with a cluster of bad rows, and spoil it as `spoiled` does."""
    cloud = planted(kind, share=share, cluster_sd=cluster_sd, random_state=seed)
    rng = np.random.default_rng(seed)
    n, D = cloud.X.shape
    wrong = some_cells(rng, n, np.arange(D), D, cells)
    wrong[cloud.is_outlier] = False
    sd = np.sqrt(np.linspace(3, 1.5, 3) ** 2 @ cloud.components**2 + 0.09)
    X = np.where(wrong, cloud.mean + 6 * sd, cloud.X)
    X[rng.random((n, D)) < missing] = np.nan
    seen = ~np.isnan(X)
    return Table(X, cloud.X, cloud.components, wrong & seen, cloud.is_outlier)


wide = partial(spoiled, law=wide_law, n=100)
exponential = partial(changed_law, change=skewed)
mixed = partial(changed_law, change=counts)
heavy = partial(narrow_law, df=3)

MISSING = (
    Case("clean", spoiled, "3.7"),
    Case("10 % missing", partial(spoiled, missing=0.1)),
    Case("20 % missing", partial(spoiled, missing=0.2), "4.3, .37"),
    Case("30 % missing", partial(spoiled, missing=0.3)),
    Case("40 % missing", partial(spoiled, missing=0.4), "6.8, .40"),
    Case("wide, clean", wide, "9.8", wide=True),
    Case("wide, 10 % missing", partial(wide, missing=0.1), wide=True),
    Case("wide, 20 % missing", partial(wide, missing=0.2), "11.2", wide=True),
    Case("wide, 30 % missing", partial(wide, missing=0.3), wide=True),
    Case("wide, 40 % missing", partial(wide, missing=0.4), wide=True),
)
WRONG = (
    Case("nothing planted", spoiled, "3.7"),
    Case("5 % cells", partial(spoiled, cells=0.05), "3.6, 100 %"),
    Case("10 % cells", partial(spoiled, cells=0.1), "4.0, 99 %"),
    Case("20 % cells", partial(spoiled, cells=0.2), "3.7, 90 %"),
    Case(
        "20 % cells, gamma 3",
        partial(spoiled, cells=0.2, size=3),
        "13.5, 25 %",
        gamma=3,
    ),
    Case("30 % cells", partial(spoiled, cells=0.3), "4.4, 45 %"),
    Case("wide, nothing planted", wide, "9.8", wide=True),
    Case("wide, 10 % cells", partial(wide, cells=0.1), "13.9", wide=True),
    Case("wide, 20 % cells", partial(wide, cells=0.2), "14.6", wide=True),
)
OWN = (
    Case("0.1 % cells", partial(spoiled, cells=0.001)),
    Case("1 % cells", partial(spoiled, cells=0.01)),
    Case("10 % cells, two-sided", partial(spoiled, cells=0.1, two_sided=True)),
    Case(
        "10 % cells, two-sided, gamma 3",
        partial(spoiled, cells=0.1, size=3, two_sided=True),
        gamma=3,
    ),
    Case(
        "20 % cells, two-sided, gamma 3",
        partial(spoiled, cells=0.2, size=3, two_sided=True),
        gamma=3,
    ),
    Case(
        "10 % cells, 3 to 30 sds, two-sided",
        partial(spoiled, cells=0.1, size=(3, 30), two_sided=True),
    ),
    Case("20 % of 5 columns", partial(spoiled, cells=0.2, first_columns=5)),
    Case("skewed columns, nothing", partial(spoiled, law=exponential)),
    Case("skewed columns, 10 % cells", partial(spoiled, law=exponential, cells=0.1)),
    Case("t3 noise, nothing", partial(spoiled, law=heavy)),
    Case("t3 noise, 10 % cells", partial(spoiled, law=heavy, cells=0.1)),
    Case("counts and 0/1, nothing", partial(spoiled, law=mixed)),
    Case(
        "counts and 0/1, 10 % of the others",
        partial(spoiled, law=mixed, cells=0.1, first_columns=15),
    ),
)
TOGETHER = (
    Case(
        "20 % cells, 20 % missing",
        partial(spoiled, cells=0.2, missing=0.2),
        "3.9, .37, 84 %",
    ),
    Case("20 % rows", partial(spoiled, rows=0.2), "3.0"),
    Case("40 % rows", partial(spoiled, rows=0.4), "3.3"),
    Case("10 % cells, 20 % rows", partial(spoiled, cells=0.1, rows=0.2), "3.4, 95 %"),
    Case(
        "10 % cells, 20 % rows, 20 % missing",
        partial(spoiled, cells=0.1, rows=0.2, missing=0.2),
        "4.8, .36, 94 %",
    ),
    Case(
        "wide, 20 % cells, 20 % missing",
        partial(wide, cells=0.2, missing=0.2),
        "17.4",
        wide=True,
    ),
    Case(
        "wide, 10 % cells, 20 % rows, 20 % missing",
        partial(wide, cells=0.1, rows=0.2, missing=0.2),
        "17.3",
        wide=True,
    ),
)
macropca = partial(wide, by_chance=True)
WIDE = (
    Case("20 % cells, gamma 3", partial(macropca, cells=0.2, size=3), gamma=3),
    Case("30 % cells, gamma 6", partial(macropca, cells=0.3)),
    Case(
        "20 % cells, gamma 3, 20 % missing",
        partial(macropca, cells=0.2, size=3, missing=0.2),
        gamma=3,
        wide=True,
    ),
    Case(
        "20 % cells, gamma 6, 20 % missing",
        partial(macropca, cells=0.2, missing=0.2),
        wide=True,
    ),
)
CLUSTERS = (
    Case("near, 25 % rows only", partial(near_cluster, cells=0, missing=0)),
    Case("near, 25 %, 10 % missing", partial(near_cluster, cells=0)),
    Case("near, 25 %, 5 % cells", partial(near_cluster, missing=0)),
    Case("near, 25 %, 5 % cells, 10 % missing", near_cluster, "73 to 81"),
    Case("near, 10 %, 5 % cells, 10 % missing", partial(near_cluster, share=0.1)),
    Case("near and wider, 25 %, both", partial(near_cluster, cluster_sd=0.3)),
    Case("far inside, 25 %, both", partial(near_cluster, kind="pcs")),
    Case("far off, 25 %, both", partial(near_cluster, kind="ocs")),
)
