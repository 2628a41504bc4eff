"""The law of one distance among regular rows, with the tail that they show themselves.

The logarithm of a squared distance is taken to follow a log-gamma law (Prentice, 1974)
with three parameters: location, scale and shape. If shape equals scale, it is the law
of Gaussian rows (chi-square); around 0 it is lognormal, and below 0 the tail falls like
a power. So one family follows light, skewed and heavy tails.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, gammaln

from trueaxis._engine.quantiles import between

# Shapes that can be told apart from three quantiles. Between -0.05 and 0.05 the law is
# lognormal for all purposes.
SHAPES = np.concatenate([np.linspace(-2.0, -0.05, 40), np.linspace(0.05, 2.5, 50)])
# Three quantiles of few rows say little. With m rows, a tail counts as longer than that
# of Gaussian rows beyond a factor of exp(UNSURE / m), and as shorter below that of
# exp(-sqrt(UNSURE / m)).
UNSURE = 10.0
OFF_EXACT = -1e3  # log p-value of rows just beyond rounding errors, if the fit is exact
UNDERFLOW = -460.0  # log p-value (1e-200) beyond which asymptotes are used
LEAST_SHAPE = 1e-6  # that of Gaussian rows in 2e12 dimensions
LARGEST = 700.0  # of a logarithm whose exponential is finite


class Tail(NamedTuple):
    """Law of the logarithm of a squared distance.

    Attributes
    ----------
    location, scale, shape : float
        A scale of 0 means that regular rows have no distance beyond rounding errors, of
        which `location` is the largest.
    """

    location: float
    scale: float
    shape: float

    def is_valid(self) -> bool:
        """Return whether a fit can have led to these numbers."""
        if not np.isfinite(self).all():
            return False
        if self.scale == 0:
            return True
        least = np.finfo(float).tiny  # dividing by less overflows
        shaped = SHAPES[0] <= self.shape <= SHAPES[-1]
        return bool(self.scale >= least and shaped and abs(self.shape) >= LEAST_SHAPE)

    def log_sf(self, d2: NDArray[Any]) -> NDArray[np.float64]:
        """Return the logarithm of the share of regular rows that are farther away."""
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            y = np.log(d2) - self.location
            if self.scale == 0:
                return np.where(y <= 0, 0.0, OFF_EXACT * (1.0 + y))
            a = self.shape**-2
            t = a * np.exp(np.clip(self.shape / self.scale * y, -700.0, 700.0))
            if self.shape > 0:
                log_sf = np.log(gammaincc(a, t))
                far = (a - 1) * np.log(t) - t - gammaln(a)
            else:
                log_sf = np.log(gammainc(a, t))
                far = a * np.log(t) - gammaln(a + 1)
            return np.asarray(
                np.where(log_sf > UNDERFLOW, log_sf, np.minimum(far, UNDERFLOW))
            )

    def cut(self, log_p: float) -> float:
        """Return the squared distance that a share exp(log_p) of the rows exceeds."""
        return float(np.exp(self.log_cut(log_p)))

    def log_cut(self, log_p: float) -> float:
        """Return the logarithm of `cut`, finite so that infinity lies beyond it."""
        if self.scale == 0:
            return min(self.location + max(log_p / OFF_EXACT - 1.0, 0.0), LARGEST)
        upper = float(np.exp(max(log_p, UNDERFLOW)))
        quantile = _quantile(1 - upper, self.shape, upper)
        nearest = min(self.location + self.scale * quantile, LARGEST)
        return nearest if log_p >= UNDERFLOW else self._far_cut(log_p, nearest)

    def _far_cut(self, log_p: float, nearest: float) -> float:
        def missing(log_d2: float) -> float:
            return float(self.log_sf(np.exp([log_d2]))[0]) - log_p

        if missing(LARGEST) >= 0:
            return LARGEST
        # Where the asymptote takes over, the law has a small step.
        if missing(nearest) <= 0:
            return nearest
        from scipy.optimize import brentq  # takes long to import, and is rarely needed

        return float(brentq(missing, nearest, LARGEST, xtol=1e-14))

    def share_within(self, d2: float) -> float:
        """Return the share of the regular rows that lie within a squared distance.

        It is rounded, so that tables of quantiles can be kept.
        """
        if self.scale == 0:
            return 1.0
        return round(float(-np.expm1(self.log_sf(np.array([d2]))[0])), 3)


def fit_tail(
    y: NDArray[Any], share: float, dof: int, *, gaussian: bool = False
) -> Tail:
    """Fit the law to sorted log squared distances of some rows.

    Lower quartile and median give location and scale, an upper quantile the shape.

    Parameters
    ----------
    y : ndarray
        Sorted logarithms.
    share : float
        Share of the regular rows that they are; the others lie beyond.
    dof : int
        Number of dimensions of the distance. Rows are taken to vary at least as much
        as those of a Gaussian cloud with equal variances in all of them.
    gaussian : bool
        Whether to use the lower half only, with the tail of Gaussian rows.
    """
    m = len(y)
    upper = _upper(m)
    low, middle, high = (
        float(between(y, share * m - 0.5)) for share in (0.25, 0.5, upper)
    )
    half = middle - low
    below, above = _widths(upper, share)
    positive = SHAPES > 0
    least = (2.0 / dof) ** 0.5
    half = max(half, np.interp(least, SHAPES[positive], (SHAPES * below)[positive]))
    shape = np.interp(half, (SHAPES * below)[positive], SHAPES[positive])
    if not gaussian:
        expected = np.interp(shape, SHAPES, above / below)
        longer = np.log(max((high - middle) / half, 1e-300) / expected)
        # To miss a long tail costs false alarms, so that more evidence is asked of a
        # short one.
        doubt = UNSURE / m
        longer = max(longer - doubt, 0.0) + min(longer + doubt**0.5, 0.0)
        if longer != 0:
            ratio = expected * np.exp(longer)
            shape = np.interp(ratio, (above / below)[::-1], SHAPES[::-1])
    if abs(shape) < 0.05:
        shape = np.copysign(0.05, shape)
    quarter, center = (_quantile(p * share, float(shape)) for p in (0.25, 0.5))
    scale = half / (center - quarter)
    return Tail(float(middle - scale * center), float(scale), float(shape))


def _upper(m: int) -> float:
    """Return the upper quantile of m rows that shows their tail: 1 - 1/sqrt(m).

    It moves in steps, so that tables of quantiles can be kept.
    """
    step = 10 ** max(0, len(str(m)) - 2)
    return float(max(0.75, 1 - (m // step * step) ** -0.5))


@lru_cache(maxsize=256)
def _widths(upper: float, share: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distances between the three quantiles of the laws of all shapes."""
    low, middle, high = (
        np.array([_quantile(p * share, shape) for shape in SHAPES.tolist()])
        for p in (0.25, 0.5, upper)
    )
    return middle - low, high - middle


def _quantile(p: float, shape: float, upper: float | None = None) -> float:
    """Return the quantile p of a standard law; `upper` is 1 - p, if known better."""
    a = shape**-2
    rest = 1 - p if upper is None else upper
    lower, share = (gammaincinv, p) if p < 0.5 else (gammainccinv, rest)
    if shape < 0:
        lower = gammainccinv if p < 0.5 else gammaincinv
    t = float(lower(a, share))
    w = math.log(t / a) / shape if 0 < t < math.inf else -math.copysign(1e6, shape)
    return min(max(w, -1e6), 1e6)
