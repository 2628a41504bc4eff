"""The methods that the studies compare, in the paper's order.

All run with this library's defaults. Only DSWL as published needs numbers of its own,
three temperatures, for which the paper has no rule: `temperatures` chooses them from a
grid, by rows alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.estimators import (
    DSWL,
    PCAL1,
    R1PCA,
    RPCADI,
    RPCAOM,
    L2pPCA,
    PlainPCA,
)
from trueaxis.estimators.base import SubspaceEstimator

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
# What the paper compares its method with.
OTHERS = tuple(PLAIN)

# The grid: every scale with every shape. A shape multiplies the three temperatures;
# tau_b never exceeds tau_a, as the iteration might cycle otherwise.
SCALES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
SHAPES = {
    "all three views": (1.0, 1.0, 1.0),
    "distance off the subspace": (10.0, 1.0, 10.0),
    "distance from the centre": (10.0, 10.0, 1.0),
}
# Least squared length, as a share of the mean one and at all.
FLOOR, LEAST = 1e-12, 1e-300


def build(name: str, k: int, tau: Tau | None = None) -> SubspaceEstimator:
    """Make an estimator, not fitted.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    k : int
        Number of components.
    tau : tuple of three floats, optional
        Temperatures for DSWL as published, which cannot do without.

    Returns
    -------
    SubspaceEstimator
    """
    if name in PLAIN:
        return PLAIN[name](k)
    if name == AUTOMATIC:
        return DSWL(k)
    if name != PUBLISHED:
        raise ValueError(f"name={name!r} is not compared: choose one of {NAMES}.")
    if tau is None:
        raise ValueError(f"{name} needs temperatures: pass tau, see temperatures().")
    return DSWL(k, tau=tau, init="uniform", reweight=False)


def fitted(name: str, k: int, X: NDArray[Any], tau: Tau | None = None) -> Any:
    """Make an estimator and fit it; that it did not converge is only stored in it.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    k : int
        Number of components.
    X : ndarray of shape (n, D)
    tau : tuple of three floats, optional
        Temperatures for DSWL as published.

    Returns
    -------
    SubspaceEstimator
    """
    # In thousands of fits a few warn. The studies count what did not converge.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return build(name, k, tau).fit(X)


def grid(X: NDArray[Any], k: int) -> dict[tuple[float, str], Tau]:
    """Temperatures to choose from, by scale and shape.

    n times a temperature is a squared length. The unit of each is the median over the
    rows of what it divides, seen from plain PCA: v inside the subspace, e off it, d
    from the centre.

    Parameters
    ----------
    X : ndarray of shape (n, D)
    k : int
        Number of components.

    Returns
    -------
    dict
        (scale, name of the shape) to (tau_a, tau_b, tau_c).
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

    The rows are dealt at random into parts. Every point of the grid is fitted without
    one part and judged on it by the mean of e / (e + s), with e the squared distance of
    a row from the subspace and s the median of e in plain PCA: a bad row costs no more
    than 1 however far it is, and every regular row counts. One point of the grid is
    taken for all numbers of components, the one that costs least. Neither labels nor
    clean rows are seen.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Rows that a fit may see; never test rows.
    ks : iterable of int
        Numbers of components.
    parts : int
        Number of parts; the rows without one of them must be more than components.
    random_state : int
        Seeds the parts.

    Returns
    -------
    dict
        Number of components to temperatures.
    """
    ks = list(ks)
    order = np.random.default_rng(random_state).permutation(len(X))
    cost = dict.fromkeys(grid(X, ks[0]), 0.0)
    for k in ks:
        for part in range(parts):
            held = order[part::parts]
            fit, judged = np.delete(X, held, axis=0), X[held]
            typical = np.median(_energies(fitted("PCA", k, fit), judged)[1])
            typical = max(float(typical), LEAST)
            for point, tau in grid(fit, k).items():
                e = _energies(fitted(PUBLISHED, k, fit, tau), judged)[1]
                cost[point] += float(np.mean(e / (e + typical)))
    # Of equals the warmest, which trusts most rows: the grid has it last.
    best = min(reversed(cost), key=lambda point: cost[point])
    return {k: grid(X, k)[best] for k in ks}


def _energies(model: Any, X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Squared distances from the centre inside the subspace, and off it."""
    centred = X - model.mean_
    v = ((centred @ model.components_.T) ** 2).sum(axis=1)
    return v, np.maximum((centred**2).sum(axis=1) - v, 0.0)
