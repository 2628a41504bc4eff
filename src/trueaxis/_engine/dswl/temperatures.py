"""Choose DSWL's temperatures from the data, by the share of rows that may count.

`trust` replaces the paper's three temperatures, whose unit is that of the data squared
and which depend on n. The weights' perplexity exp(entropy) becomes trust * n.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from trueaxis._engine.quantiles import quantile

# Distances below this share of a typical one are none.
FLOOR = 1e-12


class Temperatures(NamedTuple):
    """The paper's tau times n: squared lengths, independent of the number of rows."""

    a: float
    b: float
    c: float


def calibrate(v: NDArray[Any], e: NDArray[Any], trust: float) -> Temperatures:
    """Temperatures for which a share `trust` of the rows carries the weight.

    The shape is v/A + e/B + d/C with A = max(median v, median e), B = median e and
    C = median d (the maximum keeps tau_b <= tau_a, so that the objective can't fall);
    the common factor is solved for.
    """
    d = v + e
    floor = FLOOR * _typical(d)
    if floor == 0:
        return Temperatures(1.0, 1.0, 1.0)
    A, B, C = (_middle(x, floor) for x in (v, e, d))
    A = max(A, B)
    scale = perplexity_scale(v / A + e / B + d / C, trust)
    return Temperatures(scale * A, scale * B, scale * C)


def perplexity_scale(rho: NDArray[Any], trust: float) -> float:
    """The s for which softmax(-rho/s) has perplexity trust * n (it grows with s)."""
    n, typical = len(rho), _typical(rho)
    if typical == 0:
        return 1.0
    tied = int((rho <= 1e-12 * typical).sum())
    # More copies of one row than are trusted: trust that share of the others as well.
    target = np.log(trust * n if tied < trust * n else tied + trust * (n - tied))
    # Outside this bracket the weights are one row's, or equal to 1e-8.
    low, high = np.log(1e-6 * typical), np.log(1e8 * typical)

    def excess(log_scale: float) -> float:
        return entropy(-rho / np.exp(log_scale)) - target

    if excess(low) >= 0:  # that many rows are nearest
        return float(np.exp(low))
    if excess(high) <= 0:  # full trust
        return float(np.exp(high))
    return float(np.exp(brentq(excess, low, high, xtol=1e-12, rtol=1e-12)))


def entropy(log_weights: NDArray[Any]) -> float:
    """Entropy of normalised weights."""
    x = log_weights - log_weights.max()
    w = np.exp(x)
    total = w.sum()
    return float(np.log(total) - np.dot(w, np.where(w > 0, x, 0.0)) / total)


def _middle(x: NDArray[Any], floor: float) -> float:
    """Median; where it vanishes (copies of a row, an exact fit) that of other rows."""
    middle = quantile(x, 0.5)
    if middle > floor:
        return middle
    return max(_typical(x[x > floor]), floor)


def _typical(x: NDArray[Any]) -> float:
    """Median of the finite positive values, 0 if there are none."""
    positive = x[(x > 0) & np.isfinite(x)]
    return float(np.median(positive)) if len(positive) else 0.0
