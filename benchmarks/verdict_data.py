"""Tables for `verdicts.py`: labelled, with a wrong cell, planted, or without outliers.

Labelled tables are read from a folder: `outliers/*.npz` with X and y (1 for outliers),
and `outliers/textbook/*.csv`, whose last column is 1 for outliers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from accuracy import TALL
from awkward import FRESH, TABLES, correlated, factors
from trueaxis.datasets import planted


class Labelled(NamedTuple):
    """A table, the number of components to fit, and a mask of the outliers."""

    name: str
    X: np.ndarray
    k: int
    bad: np.ndarray


def textbook(folder: Path) -> list[Labelled]:
    """Read the textbook tables of a folder, raw, with k = 1, 2 and 3."""
    tables = []
    for path in sorted(folder.glob("*.csv")):
        values = np.loadtxt(path, delimiter=",", skiprows=1)
        X, bad = values[:, :-1], values[:, -1] > 0
        for k in range(1, 1 + min(3, X.shape[1])):
            tables.append(Labelled(path.stem, X, k, bad))
    return tables


def real(folder: Path) -> list[Labelled]:
    """Read the real tables, z-scored, with k at 80 % of the variance of plain PCA."""
    tables = []
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as file:
            X, bad = file["X"].astype(float), file["y"].ravel() > 0
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        variance = np.cumsum(np.linalg.svd(X, compute_uv=False) ** 2)
        k = int(np.searchsorted(variance, 0.8 * variance[-1] * (1 - 1e-12))) + 1
        tables.append(Labelled(path.stem, X, k, bad))
    return tables


# Measurements: positive, with a spread that is small against their size. In a table
# that is centered at 0, three times a cell is nothing special.
MEASURED = {
    "two factors, mean 5 sd": lambda r, n: 5 + over_sd(factors(r, n, 6)),
    "two factors, mean 3 to 10 sd": lambda r, n: (
        r.uniform(3, 10, 8) + over_sd(factors(r, n, 8))
    ),
    "correlated, mean 5 sd": lambda r, n: 5 + over_sd(correlated(r, n, 5)),
    "correlated, 12 columns": lambda r, n: 5 + over_sd(correlated(r, n, 12)),
    "lognormal, sigma 0.2": lambda r, n: np.exp(0.2 * over_sd(factors(r, n, 6))),
    "gamma, shape 20": lambda r, n: r.gamma(20.0, size=(n, 4)),
    "counts, mean 25": lambda r, n: r.poisson(25, (n, 5)).astype(float),
    "rounded to integers": lambda r, n: np.round(20 + 4 * over_sd(factors(r, n, 5))),
}
LOADED = {
    "iris": load_iris,
    "wine": load_wine,
    "diabetes": lambda: load_diabetes(scaled=False),
    "breast cancer": load_breast_cancer,
}


def over_sd(X: np.ndarray) -> np.ndarray:
    """Divide columns by their standard deviation."""
    return X / X.std(axis=0)


class Cell(NamedTuple):
    """A table with one wrong cell: its row, and by how many sd it was moved."""

    kind: str
    X: np.ndarray
    k: int
    row: int
    moved: float


def one_wrong_cell(kind, X, regular, factor, k, rng) -> Cell:
    """Multiply a cell in a random row by a factor.

    The cell is one whose absolute value is at least the median of its column's, so that
    multiplying it changes something. If a row has none, another one is drawn.
    """
    size = np.abs(X)
    candidate = (size >= np.median(size, axis=0)) & (size > 0)
    row = rng.choice(np.flatnonzero(regular & candidate.any(axis=1)))
    column = rng.choice(np.flatnonzero(candidate[row]))
    moved = (factor - 1) * size[row, column] / X[regular, column].std()
    X = X.copy()
    X[row, column] *= factor
    return Cell(kind, X, k, row, moved)


def wrong_cells(factor: float, seeds: int, books: list[Labelled]) -> Iterator[Cell]:
    """Yield tables of 20 to 100 rows with one wrong cell, with k = 1, 2 and 3.

    Columns of real tables, which have different units, are divided by their standard
    deviations first; textbook tables are as they are, and the cell is in a regular row.
    """
    for seed in range(seeds):
        for k in (1, 2, 3):
            rng = np.random.default_rng([seed, k])
            for kind, make in MEASURED.items():
                X = make(rng, rng.integers(20, 101))
                yield one_wrong_cell(kind, X, np.ones(len(X), bool), factor, k, rng)
            for kind, load in LOADED.items():
                X = rng.permutation(load().data)[: rng.integers(20, 101)]
                X = over_sd(X[:, X.std(axis=0) > 0])
                yield one_wrong_cell(kind, X, np.ones(len(X), bool), factor, k, rng)
            for book in books:
                if book.k == k:
                    yield one_wrong_cell(book.name, book.X, ~book.bad, factor, k, rng)


def moderate(seed: int, share: float = 0.15) -> Labelled:
    """Move rows off the subspace: 3 to 6 deviations beyond the median distance."""
    cloud = planted("none", random_state=seed, **TALL)
    rng = np.random.default_rng([seed, 1])
    P = cloud.components
    off = cloud.X - cloud.mean
    off -= off @ P.T @ P
    distance = np.linalg.norm(off, axis=1)
    middle = np.median(distance)
    deviation = 1.4826 * np.median(np.abs(distance - middle))
    n = len(off)
    bad = rng.permutation(n) < share * n
    far = middle + rng.uniform(3, 6, n) * deviation
    move = np.where(bad, far / distance - 1, 0)
    return Labelled("moderate", cloud.X + move[:, None] * off, len(P), bad)


KINDS_OF_ROWS = ("Gaussian", "t with 5 df", "lognormal")


def scattered(kind: str, n: int, share: float, seed: int) -> tuple[Labelled, Labelled]:
    """Draw n training rows and n new ones, with the same share of far, scattered ones.

    These lie in random directions, at 6 to 12 times the median distance from the
    center.
    """
    rng = np.random.default_rng([seed, 2])
    df = 5 if kind == "t with 5 df" else None
    X = planted("none", df=df, random_state=seed, **TALL | {"n": 2 * n}).X
    if kind == "lognormal":
        X = np.exp(0.3 * X)
    center = X.mean(axis=0)
    typical = np.median(np.linalg.norm(X - center, axis=1))
    bad = np.arange(2 * n) % n < share * n
    away = rng.standard_normal((bad.sum(), X.shape[1]))
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    X[bad] = center + away * typical * rng.uniform(6, 12, (bad.sum(), 1))
    k = TALL["n_components"]
    return Labelled(kind, X[:n], k, bad[:n]), Labelled(kind, X[n:], k, bad[n:])


STEADY_REAL = ("breastw", "cardio", "glass", "mammography", "pageblocks", "stamps",
               "vertebral", "wdbc", "wine")  # fmt: skip
STEADY_KINDS = ("lognormal, sigma 0.5", "one-hot and Gaussian", "counts, mean 3",
                "mixed", "t with 3 df", "people", "Gaussian, small, 30 x 4",
                "Gaussian, small, 60 x 8", "lognormal, small, 40 x 4")  # fmt: skip


def steady_tables(home: Path | None, books: list[Labelled]) -> list[Labelled]:
    """Return tables of 20 to 4000 rows, with outliers and without."""
    tables = []
    for n in (20, 50, 100, 500, 2000, 4000):
        for kind, share in (("none", 0.0), ("ocs", 0.2), ("both", 0.2), ("amp", 0.1)):
            shape = {"n": n, "n_features": 8 if n < 100 else 20, "n_components": 2}
            cloud = planted(kind, share=share, random_state=n, **shape)
            tables.append(Labelled(f"{n} x {cloud.X.shape[1]}, {share:.0%} {kind}",
                                   cloud.X, 2, cloud.is_outlier))  # fmt: skip
    for name in STEADY_KINDS:
        X = (TABLES | FRESH)[name](np.random.default_rng(0))
        tables.append(Labelled(name, X, 2, np.zeros(len(X), bool)))
    tables += [book for book in books if len(book.X) >= 20]
    if home is not None:
        tables += [table for table in real(home) if table.name in STEADY_REAL]
    return tables
