"""Figures of DSWL, its peers and the bound on spoiled tables, for `cells.py`."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

from cells_data import Table
from trueaxis import DSWL
from trueaxis.diagnostics import cell_map

# What DSWL warned of or failed with, and how often.
TROUBLE: Counter[str] = Counter()


class Figures(NamedTuple):
    """Figures of a fit to a table.

    Attributes
    ----------
    angle : float
        Largest principal angle to the true axes, in degrees.
    rmse : float
        Of filled holes in good rows.
    found, flagged : float
        Share of wrong cells that are flagged, and of good cells.
    rows_found, rows_flagged : float
        Share of bad rows that are flagged, and of good rows.
    """

    angle: float = np.nan
    rmse: float = np.nan
    found: float = np.nan
    flagged: float = np.nan
    rows_found: float = np.nan
    rows_flagged: float = np.nan


def angle(axes: np.ndarray, true: np.ndarray) -> float:
    """Return the largest principal angle between two subspaces, in degrees."""
    cosines = np.linalg.svd(axes @ true.T, compute_uv=False)
    return float(np.degrees(np.arccos(np.clip(cosines.min(), -1, 1))))


def lost(clean: np.ndarray, axes: np.ndarray) -> float:
    """Return the variance that axes lose, over what the table's own PCA loses."""
    centered = clean - clean.mean(axis=0)
    total = (centered**2).sum()
    best = (np.linalg.svd(centered, compute_uv=False)[len(axes) :] ** 2).sum()
    return float((total - ((centered @ axes.T) ** 2).sum()) / best)


def rmse(filled: np.ndarray, clean: np.ndarray, holes: np.ndarray) -> float:
    if not holes.any():
        return np.nan
    return float(np.sqrt(np.mean((filled - clean)[holes] ** 2)))


def share(flags: np.ndarray, among: np.ndarray) -> float:
    return float(flags[among].mean()) if among.any() else np.nan


def bound(table: Table, rounds: int = 2000, tol: float = 1e-10) -> Figures:
    """Return the figures of least squares that is told which cells and rows are good.

    Holes and wrong cells are filled by the fit of the previous round, from their
    columns' means on, until the error no longer falls.
    """
    good = ~table.bad_row
    used = ~(table.missing | table.wrong)[good]
    X = np.where(used, table.X[good], 0)
    Y = np.where(used, X, X.sum(axis=0) / used.sum(axis=0))
    before = np.inf
    for _ in range(rounds):
        mean, axes = plain_pca(Y, table.k)
        fit = mean + (Y - mean) @ axes.T @ axes
        error = ((Y - fit) ** 2)[used].sum()
        Y = np.where(used, X, fit)
        if before - error <= tol * error:
            break
        before = error
    holes = table.missing[good]
    return Figures(angle(axes, table.axes), rmse(Y, table.clean[good], holes))


def plain_pca(Y: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    mean = Y.mean(axis=0)
    return mean, np.linalg.svd(Y - mean, full_matrices=False)[2][:k]


@contextmanager
def noted(what: str) -> Iterator[None]:
    """Count warnings and errors instead of passing them on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except Exception as error:
            TROUBLE[f"{what}: {type(error).__name__}: {error}"] += 1
    for warning in caught:
        TROUBLE[f"{what}: {warning.category.__name__}: {warning.message}"] += 1


def dswl(table: Table, *, cells: bool, what: str = "DSWL") -> Figures:
    """Return the figures of DSWL on the table with its holes and wrong cells."""
    with noted(what):
        model = DSWL(table.k, cells=cells).fit(table.X)
        seen = cell_map(model, table.X)
        good_row = ~table.bad_row[:, None]
        return Figures(
            angle(model.components_, table.axes),
            rmse(
                model.repair(table.X, wrong=False),
                table.clean,
                table.missing & good_row,
            ),
            share(seen.wrong, table.wrong),
            share(seen.wrong, ~(table.wrong | table.missing) & good_row),
            share(seen.outlier, table.bad_row),
            share(seen.outlier, ~table.bad_row),
        )
    return Figures()


def dswl_complete(table: Table) -> Figures:
    """Return the angle of DSWL on the table before cells were spoiled."""
    model = DSWL(table.k).fit(table.clean)
    return Figures(angle(model.components_, table.axes))


def median_filled(table: Table) -> Figures:
    """Return the figures of DSWL where holes are filled with medians."""
    filled = np.where(table.missing, np.nanmedian(table.X, axis=0), table.X)
    model = DSWL(table.k).fit(filled)
    holes = table.missing & ~table.bad_row[:, None]
    return Figures(
        angle(model.components_, table.axes), rmse(filled, table.clean, holes)
    )


def imputer(table: Table) -> Figures:
    """Return the figures of IterativeImputer and PCA."""
    filled = imputed(table.X)
    axes = PCA(table.k).fit(filled).components_
    holes = table.missing & ~table.bad_row[:, None]
    return Figures(angle(axes, table.axes), rmse(filled, table.clean, holes))


def imputed(X: np.ndarray) -> np.ndarray:
    if not np.isnan(X).any():
        return X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return IterativeImputer(random_state=0).fit_transform(X)


def cpu(function: Any) -> tuple[Any, float]:
    """Return what a function returns, and its CPU time in seconds."""
    start = time.process_time()
    answer = function()
    return answer, time.process_time() - start


def mean_figures(figures: list[Figures]) -> Figures:
    """Return the means, of those that are not NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return Figures(*np.nanmean(np.array(figures), axis=0))
