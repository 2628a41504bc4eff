"""Say how far axes turn by chance: PCA of regular rows, drawn again and again.

The angle between plain PCA and the model means something only beside this one: what
plain PCA of other regular rows of the same kind would give.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.core.subspace import axes_of_few, top_eigen
from trueaxis.diagnostics.influence import largest_angle

RESAMPLES = 40
# Multiplications of all resamples, for well under a second; larger tables are thinned.
MOST_WORK = 4e9
SEED = 0


class ChanceTurn(NamedTuple):
    """Angles between a model and plain PCA of resampled regular rows, in degrees.

    median : of the resamples
    high : 95 % of the resamples are below it
    """

    median: float
    high: float


def turn_by_chance(rows: NDArray[Any], basis: NDArray[np.float64]) -> ChanceTurn | None:
    """Resample regular rows, and compare their plain PCA with a subspace.

    Parameters
    ----------
    rows : ndarray of shape (n, D)
        The regular rows, without holes.
    basis : ndarray of shape (k, D)
        Orthonormal basis of the subspace.

    Returns
    -------
    ChanceTurn or None
        None if there are too few rows for k components.
    """
    n, k = len(rows), len(basis)
    if n < k + 2 or not k:
        return None
    some = rows[thinned(*rows.shape)]
    # In units of at most 1, squares cannot overflow.
    y = some - some.mean(axis=0)
    y /= np.abs(y).max(initial=0.0) or 1.0
    # Angles fall like 1 / sqrt(n): those of fewer rows are too large by this factor.
    shrink = np.sqrt(len(some) / n)
    rng = np.random.default_rng(SEED)
    angles = []
    for _ in range(RESAMPLES):
        counts = np.bincount(rng.integers(0, len(y), len(y)), minlength=len(y))
        angle = largest_angle(plain_axes(y, counts, k), basis)
        angles.append(np.degrees(np.arctan(shrink * np.tan(np.radians(angle)))))
    return ChanceTurn(*np.quantile(angles, [0.5, 0.95]).tolist())


def thinned(n: int, D: int) -> NDArray[np.intp]:
    """Return as many evenly spaced rows as can be resampled within `MOST_WORK`."""
    most = MOST_WORK / RESAMPLES
    m = min(n, max(int(most / D**2), int(np.sqrt(most / D)), 2))
    return np.linspace(0, n - 1, m).round().astype(np.intp)


def plain_axes(
    rows: NDArray[Any], counts: NDArray[np.intp], k: int
) -> NDArray[np.float64]:
    """Return the first k principal axes of rows that count several times each.

    Parameters
    ----------
    rows : ndarray of shape (n, D)
        About their mean: sums of squares about another point would lose digits.
    counts : ndarray of shape (n,), int
    k : int
    """
    root = np.sqrt(counts)[:, None]
    if len(rows) >= rows.shape[1]:
        y, total = rows * root, counts @ rows
        scatter = y.T @ y - np.outer(total, total) / counts.sum()
        return np.asarray(top_eigen(scatter, k)[0])
    # Fewer rows than columns: the axes are combinations of the rows.
    y = (rows - np.average(rows, axis=0, weights=counts)) * root
    return axes_of_few(y, k)[0]
