"""The data of one fit: rows in convenient coordinates, their counts, and a sample.

`_validation` provides rows and counts; a `Problem` is built from them once per fit,
whatever the method and however many components are tried. `choose_dimension` chooses
their number by the variances of regular rows. Notation: n rows, D columns.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from trueaxis.core.law import Law
from trueaxis.core.moments import (
    n_different_rows,
    separable_columns,
    total_count,
)
from trueaxis.core.starts import (
    Depth,
    depth,
    direction_rng,
    draw_sample,
    enough_rows,
    moments_of,
    random_directions,
)
from trueaxis.core.subspace import Subspace, spectrum
from trueaxis.data.rows import ArrayRows, Rows
from trueaxis.data.threads import cached_property
from trueaxis.data.transformed import largest_squarable


def choose_dimension(
    n_components: float | str, variances: NDArray[Any], n: int, D: int
) -> int:
    """Turn a share of the variance, or "auto", into a number of components.

    Parameters
    ----------
    n_components : float or "auto"
        A share of the variance, or "auto" for the components above the noise.
    variances : ndarray
        Robust variances, decreasing; any missing up to D are taken as 0.
    n : int
        Number of distinct rows they were computed from.
    D : int
        Number of columns.

    Returns
    -------
    int
    """
    if n_components == "auto":
        return above_noise(variances, n, D)
    total = np.cumsum(variances)
    # Rounding errors must not add a component.
    return (
        int(np.searchsorted(total, float(n_components) * total[-1] * (1 - 1e-12))) + 1
    )


def above_noise(variances: NDArray[Any], n: int, D: int) -> int:
    """Return the number of variances that stand out from the noise, at least 1.

    Noise that is correlated between columns, as in spectra, has large variances of its
    own, and all of them exceed the threshold for white noise. So their number is an
    upper bound. Of these, count those before the steepest drop, and those that even
    noise with all of the variance would not reach.
    """
    # n rows vary in at most n - 1 directions.
    padded = np.zeros(max(1, min(D, n - 1)))
    padded[: len(variances)] = variances[: len(padded)]
    most = above_white_noise(padded, n, D)
    if most <= 1:
        return 1
    return min(most, max(before_drop(padded, most), above_chance(padded, n, D)))


def above_white_noise(variances: NDArray[Any], n: int, D: int) -> int:
    """Return the number of variances above the threshold for white noise.

    A singular value counts if it exceeds `hard_threshold` times the median one.
    """
    median = np.median(variances)
    floor = 1e-12 * variances[0]
    return int((variances > max(hard_threshold(n, D) ** 2 * median, floor)).sum())


def hard_threshold(n: int, D: int) -> float:
    """Return the threshold of singular values of n x D noise, relative to their median.

    The optimal hard threshold for unknown noise: Gavish and Donoho (2014), equation 5.
    """
    beta = min(D, n) / max(D, n)
    return 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43


def above_chance(variances: NDArray[Any], n: int, D: int) -> int:
    """Return the number of variances above all those of white noise of the same total.

    This is Horn's parallel analysis, with the limit of the largest variance (Marchenko
    and Pastur 1967) in place of simulated noise.
    """
    largest = variances.sum() / D * (1 + np.sqrt(D / n)) ** 2
    return int((variances > largest).sum())


def before_drop(variances: NDArray[Any], most: int) -> int:
    """Return the number of variances before the steepest drop, between 1 and `most`.

    The drop is steepest where the growth ratio of Ahn and Horenstein (2013) is largest.
    With V(k) the variance left by k components, that is the ratio of log V(k-1)/V(k) to
    log V(k)/V(k+1). It is 1 if the variances decay geometrically.
    """
    rounding = np.finfo(float).eps * variances[0]
    left = np.cumsum(np.maximum(variances, rounding)[::-1])[::-1][: most + 2]
    growth = np.log(left[:-1] / left[1:])
    return int((growth[:-1] / growth[1:]).argmax()) + 1


# A subspace cannot be determined more finely than this many units of rounding.
ROUNDINGS = 30


class FillingCovariance(Protocol):
    """The mean covariance of cells that were filled or repaired about the truth."""

    def along(self, frame: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return it in coordinates along the rows of `frame`; None for the columns."""


@dataclass(frozen=True)
class AffineHull:
    """Rows in coordinates of their affine hull.

    Orthogonally equivariant methods lose nothing when n rows in D > n dimensions are
    written in n orthonormal coordinates; `lift` maps the answer back.

    Attributes
    ----------
    rows : Rows
        The coordinates, n x n.
    origin : ndarray of shape (D,)
    frame : ndarray of shape (n, D), or None
        Orthonormal rows that span the hull; None where nothing was reduced.
    """

    rows: Rows
    origin: NDArray[np.float64]
    frame: NDArray[np.float64] | None

    def lift(self, subspace: Subspace) -> Subspace:
        """Map a subspace of the coordinates back to the columns of the data."""
        if self.frame is None:
            return subspace
        return replace(
            subspace,
            mean=self.origin + subspace.mean @ self.frame,
            basis=subspace.basis @ self.frame,
        )

    def lower(self, subspace: Subspace) -> Subspace:
        """Write a subspace of the hull in its coordinates."""
        if self.frame is None:
            return subspace
        return replace(
            subspace,
            mean=(subspace.mean - self.origin) @ self.frame.T,
            basis=subspace.basis @ self.frame.T,
        )


def affine_hull(rows: Rows) -> AffineHull:
    """Write rows in coordinates of their affine hull if that has fewer dimensions."""
    n, D = rows.shape
    if n >= D:
        return AffineHull(rows, np.zeros(D), None)
    X = rows.read()
    origin = np.median(X, axis=0).astype(float)
    # QR keeps the digits of every row, however large others are; an SVD would lose
    # those of regular rows next to a huge one.
    centered = X - origin
    # The norm of a row near the largest float overflows: write it in a larger unit.
    limit, unit = largest_squarable(X.dtype), 2.0 ** (np.finfo(X.dtype).maxexp // 2)
    huge = (X.max(axis=1) > limit) | (X.min(axis=1) < -limit)
    centered[huge] = X[huge] / unit - origin / unit
    Q, R = scipy.linalg.qr(
        centered.T.astype(X.dtype, copy=False), mode="economic", check_finite=False
    )
    coordinates = np.ascontiguousarray(R.T)
    largest = np.finfo(X.dtype).max / unit
    coordinates[huge] = np.clip(coordinates[huge], -largest, largest) * unit
    return AffineHull(ArrayRows(coordinates), origin, Q.T.astype(float))


class Problem:
    """Rows in the coordinates of a fit, their counts, and a sample of them.

    Parameters
    ----------
    original : Rows
        The rows with the columns as given.
    counts : ndarray or None
        How often each row counts.
    rng : Generator
    rotatable : bool
        Whether the method gives the same answer in any orthonormal coordinates, so that
        n rows in more than n columns can be written in n coordinates.
    filling : FillingCovariance, optional
        If cells of the rows were filled or repaired.

    Attributes
    ----------
    original, counts
        As passed.
    filling : ndarray or None
        In the coordinates of the fit.
    hull : AffineHull
        The coordinates of the fit.
    rows : Rows
        All rows, in the coordinates of the fit.
    sample : Sample
    n_rows : int
        Number of rows that count.
    total_weight : float
        Number of rows, repetitions included.
    max_components : int
    first_fits : dict
        Fits that chose the number of components, from which recipes continue.
    """

    def __init__(
        self,
        original: Rows,
        counts: NDArray[np.float64] | None,
        rng: np.random.Generator,
        *,
        rotatable: bool = True,
        filling: FillingCovariance | None = None,
    ) -> None:
        self.original = original
        self.counts = counts
        n, D = original.shape
        self.hull = AffineHull(original, np.zeros(D), None)
        if rotatable:
            self.hull = affine_hull(original)
        self.rows = self.hull.rows
        self.filling = None if filling is None else filling.along(self.hull.frame)
        self.sample = draw_sample(self.rows, counts, rng)
        if self.hull.frame is not None:
            as_given = original.take(self.sample.index)
            self.sample = replace(self.sample, original=as_given)
        self.n_rows = n if counts is None else int((counts > 0).sum())
        self.total_weight = total_count(n, counts)
        self.max_components = min(self.n_rows, D)
        self._seed = int(rng.integers(2**31))
        self.first_fits: dict[Any, Any] = {}

    def rng(self) -> np.random.Generator:
        """Return a new generator, always with the same seed.

        The fit must not depend on whether its number of components was chosen
        automatically or passed.
        """
        return np.random.default_rng(self._seed)

    def reachable(self, tol: float) -> float:
        """Return `tol`, or the smallest tolerance that the precision of X allows."""
        return max(float(tol), ROUNDINGS * float(np.finfo(self.original.dtype).eps))

    def counted(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of rows with all repetitions, given those of one."""
        return weights if self.counts is None else self.counts * weights

    def normalized(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of rows with all repetitions, scaled to sum to 1."""
        w = self.counted(weights)
        scaled: NDArray[np.float64] = w / w.sum()
        return scaled

    def n_components(self, wanted: int | float | str | None) -> int:
        """Turn the `n_components` parameter into a number.

        A share, or "auto", refers to the variances of the deepest half of the rows.
        """
        if wanted is None:
            return self.max_components
        if isinstance(wanted, numbers.Integral):
            return int(wanted)
        wanted = wanted if isinstance(wanted, str) else float(wanted)
        X, D = self.sample.X, self.original.shape[1]
        all_rows = depth(X, random_directions(X, direction_rng()))
        variances = spectrum(moments_of(X[all_rows.deepest_half()]))
        n = (n_different_rows(self.sample.original) + 1) // 2
        return min(choose_dimension(wanted, variances, n, D), self.max_components)

    @cached_property
    def depth(self) -> Depth:
        """Outlyingness of as many rows of the sample as a start needs."""
        X = self.sample.X
        return depth(X, random_directions(X, direction_rng()), enough_rows(X.shape))

    @cached_property
    def separable(self) -> NDArray[np.bool_]:
        """Coordinates in which a cluster of rows can be separate."""
        if self.hull.frame is None:
            return self._separable
        # Hull coordinates mix the columns: groups show in all of them, or in none.
        return np.full(self.rows.shape[1], self._separable.any())

    @property
    def leveled(self) -> bool:
        """Whether some of the columns are discrete."""
        return not self._separable.all()

    @cached_property
    def _separable(self) -> NDArray[np.bool_]:
        return separable_columns(self.sample.original)

    def lift_law(self, law: Law) -> Law:
        """Map a null distribution to the columns as given."""
        hull = self.hull
        if law.sides is None or hull.frame is None:
            return law
        return replace(law, sides=law.sides.lifted(hull.origin, hull.frame))
