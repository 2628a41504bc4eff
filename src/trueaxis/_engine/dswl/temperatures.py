"""Calibration of DSWL's temperatures by the share of rows to trust.

`trust` replaces the three temperatures of the paper, which depend on n and have the
squared unit of the data. It sets the perplexity exp(entropy) of the weights to
trust * n.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.quantiles import quantile

# Distances below this share of a typical one are rounding errors.
FLOOR = 1e-12
ROOT = 1e-12  # accuracy of the logarithm of a scale


class Temperatures(NamedTuple):
    """The paper's tau times n: squared lengths, independent of the number of rows."""

    a: float
    b: float
    c: float


def calibrate(v: NDArray[Any], e: NDArray[Any], trust: float) -> Temperatures:
    """Return temperatures for which a share `trust` of the rows carries the weight.

    They are proportional to A = max(median v, median e), B = median e and C = median d;
    the common factor is solved for. The maximum keeps tau_b <= tau_a, so that the
    objective cannot fall.
    """
    d = v + e
    typical = _typical(d)
    if typical == 0:
        return Temperatures(1.0, 1.0, 1.0)
    A, B, C = (_median(x, FLOOR * typical) for x in (v, e, d))
    A = max(A, B)
    scale = perplexity_scale(v / A + e / B + d / C, trust)
    return Temperatures(scale * A, scale * B, scale * C)


def perplexity_scale(rho: NDArray[Any], trust: float) -> float:
    """Return the scale s for which softmax(-rho/s) has perplexity trust * n."""
    n, typical = len(rho), _typical(rho)
    if typical == 0:
        return 1.0
    tied = int((rho <= 1e-12 * typical).sum())
    # If more rows are tied than are trusted, trust the same share of the others.
    target = float(np.log(trust * n if tied < trust * n else tied + trust * (n - tied)))
    near = rho[rho < np.inf]
    # The perplexity grows with s. Below this bracket all weight is on one row, and
    # above it weights are equal up to 1e-8.
    low, high = np.log(1e-6 * typical), np.log(1e8 * typical)
    log_scale = np.log(0.3 * typical)  # about right for the default trust
    while high - low > ROOT:
        H, slope = entropy(near * -np.exp(-log_scale))
        excess = H - target
        low, high = (low, log_scale) if excess > 0 else (log_scale, high)
        # A Newton step, or half of the bracket if that would leave it.
        newton = log_scale - excess / slope if slope > 0 else np.inf
        if abs(newton - log_scale) <= ROOT**0.5:  # the next step would be its square
            return float(np.exp(newton))
        log_scale = newton if low < newton < high else (low + high) / 2
    return float(np.exp(log_scale))


def entropy(log_weights: NDArray[Any]) -> tuple[float, float]:
    """Return the entropy of weights scaled to sum to 1, and its slope.

    The slope is the derivative by the logarithm of a temperature that divides the
    log-weights: their variance.
    """
    x = log_weights - log_weights.max()
    w = np.exp(x)
    total = w.sum()
    xw = x * w
    mean = xw.sum() / total
    return float(np.log(total) - mean), float(np.dot(xw, x) / total - mean**2)


def _median(x: NDArray[Any], floor: float) -> float:
    """Return the median, or a typical value of the other rows if the median is 0.

    It is 0 for copies of one row, and for an exact fit.
    """
    median = quantile(x, 0.5)
    if median > floor:
        return median
    return max(_typical(x[x > floor]), floor)


def _typical(x: NDArray[Any]) -> float:
    """Return the median of the finite positive values; 0 if there are none."""
    if not (x.min(initial=np.inf) > 0 and x.max(initial=0.0) < np.inf):
        x = x[(x > 0) & np.isfinite(x)]
    return quantile(x, 0.5) if len(x) else 0.0
