"""Methods compared in the toy and UCI studies, in the paper's order.

All run with the defaults of this library. Only DSWL as published has parameters to
choose: three temperatures, for which the paper gives no rule. `temperatures` selects
them from a grid without using labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis import DSWL
from trueaxis.base import SubspaceEstimator
from trueaxis.methods import PCAL1, R1PCA, RPCADI, RPCAOM, L2pPCA, PlainPCA

Tau = tuple[float, float, float]

PUBLISHED, AUTOMATIC = "DSWL as published", "DSWL automatic"
PLAIN: dict[str, Callable[[int], SubspaceEstimator]] = {
    "PCA": PlainPCA,
    "PCA-L1": PCAL1,
    "R1-PCA": R1PCA,
    "L2,p-PCA": L2pPCA,
    "RPCA-OM": RPCAOM,
    "RPCA-DI": RPCADI,
}
NAMES = (*PLAIN, PUBLISHED, AUTOMATIC)
# The methods that the paper compares DSWL with.
OTHERS = tuple(PLAIN)

# The grid combines every scale with every shape. A shape multiplies the three
# temperatures; tau_b never exceeds tau_a, or the iteration might cycle.
SCALES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
SHAPES = {
    "all three views": (1.0, 1.0, 1.0),
    "distance off the subspace": (10.0, 1.0, 10.0),
    "distance from the center": (10.0, 10.0, 1.0),
}
# Smallest squared length, relative to the mean and absolute.
FLOOR, LEAST = 1e-12, 1e-300


def build(name: str, k: int, tau: Tau | None = None) -> SubspaceEstimator:
    """Return an unfitted estimator.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    k : int
        Number of components.
    tau : tuple of three floats, optional
        Temperatures, required for DSWL as published.

    Returns
    -------
    SubspaceEstimator
    """
    if name in PLAIN:
        return PLAIN[name](k)
    if name == AUTOMATIC:
        return DSWL(k)
    if name != PUBLISHED:
        raise ValueError(f"name={name!r} is not in the study: choose one of {NAMES}.")
    if tau is None:
        raise ValueError(f"{name} needs temperatures: pass tau, see temperatures().")
    return DSWL(k, tau=tau)


def fitted(name: str, k: int, X: NDArray[Any], tau: Tau | None = None) -> Any:
    """Return a fitted estimator; failure to converge is only recorded in it.

    Parameters
    ----------
    name, k, tau
        See `build`.
    X : ndarray of shape (n, D)

    Returns
    -------
    SubspaceEstimator
    """
    # A few of thousands of fits warn. The studies count those that did not converge.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return build(name, k, tau).fit(X)


def grid(X: NDArray[Any], k: int) -> dict[tuple[float, str], Tau]:
    """Return the temperatures to choose from, by scale and shape.

    n times a temperature is a squared length. Its unit is the median, over the rows,
    of the squared distance that it divides, measured from plain PCA: v inside the
    subspace, e off it, d from the center.

    Parameters
    ----------
    X : ndarray of shape (n, D)
    k : int
        Number of components.

    Returns
    -------
    dict
        Maps (scale, name of the shape) to (tau_a, tau_b, tau_c).
    """
    v, e = _energies(fitted("PCA", k, X), X)
    least = max(FLOOR * float(np.mean(v + e)), LEAST)
    B = max(float(np.median(e)), least)
    A, C = max(float(np.median(v)), B), max(float(np.median(v + e)), least)
    return {
        (scale, name): (
            scale * shape[0] * A / len(X),
            scale * shape[1] * B / len(X),
            scale * shape[2] * C / len(X),
        )
        for scale in SCALES
        for name, shape in SHAPES.items()
    }


def temperatures(
    X: NDArray[Any], ks: Iterable[int], *, parts: int = 2, random_state: int = 0
) -> dict[int, Tau]:
    """Choose temperatures for DSWL as published, for each number of components.

    The rows are split at random into parts. Every grid point is fitted without one
    part and evaluated on it by the mean of e / (e + s), where e is the squared distance
    of a row from the subspace and s the median of e in plain PCA. This loss is at most
    1 even for distant outliers. The grid point with the lowest loss is used for all
    numbers of components. Neither labels nor clean rows are used.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Training rows; never test rows.
    ks : iterable of int
        Numbers of components.
    parts : int
        Number of parts. The rows outside one part must outnumber the components.
    random_state : int
        Seed of the split.

    Returns
    -------
    dict
        Maps the number of components to temperatures.
    """
    ks = list(ks)
    order = np.random.default_rng(random_state).permutation(len(X))
    cost = dict.fromkeys(grid(X, ks[0]), 0.0)
    for k in ks:
        for part in range(parts):
            held_out = order[part::parts]
            train, test = np.delete(X, held_out, axis=0), X[held_out]
            typical = np.median(_energies(fitted("PCA", k, train), test)[1])
            typical = max(float(typical), LEAST)
            for point, tau in grid(train, k).items():
                e = _energies(fitted(PUBLISHED, k, train, tau), test)[1]
                cost[point] += float(np.mean(e / (e + typical)))
    # Of equally good points take the last, which is the warmest and trusts most rows.
    best = min(reversed(cost), key=lambda point: cost[point])
    return {k: grid(X, k)[best] for k in ks}


def _energies(model: Any, X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return squared distances from the center inside the subspace, and off it."""
    centered = X - model.mean_
    v = ((centered @ model.components_.T) ** 2).sum(axis=1)
    return v, np.maximum((centered**2).sum(axis=1) - v, 0.0)
