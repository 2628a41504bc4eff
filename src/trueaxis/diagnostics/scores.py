"""MEASURE: the plane of two components, as the robust model and as plain PCA see it.

See also `diagnostics`. Notation: t = P (x - m), with m and P those of the robust model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2

from trueaxis._engine.starts import plain_moments
from trueaxis._engine.subspace import solve
from trueaxis._rows.base import Rows
from trueaxis._validation import fitted_rows

if TYPE_CHECKING:
    from trueaxis.estimators.base import SubspaceEstimator


@dataclass(frozen=True)
class Spread:
    """Where rows lie and how they scatter, in j scores.

    Attributes
    ----------
    centre : ndarray of shape (j,)
    covariance : ndarray of shape (j, j)
    axes : ndarray of shape (j, j)
        A principal axis per row, one standard deviation long where it lies in the
        plane, shorter where it leaves it.
    """

    centre: NDArray[np.float64]
    covariance: NDArray[np.float64]
    axes: NDArray[np.float64]


@dataclass(frozen=True)
class ScorePlane:
    """Scores on two components (or one), and what scatter is regular there.

    Attributes
    ----------
    components : tuple of int
        Which ones, counted from 0.
    scores : ndarray of shape (n, j)
    robust, plain : Spread
        Of regular rows as the model has them, and of all rows alike.
    radius : float
        Of the ellipse that holds `level` of normal rows, in standard deviations.
    level : float
    """

    components: tuple[int, ...]
    scores: NDArray[np.float64]
    robust: Spread
    plain: Spread
    radius: float
    level: float


def score_plane(
    model: SubspaceEstimator,
    X: ArrayLike,
    components: Sequence[int] | None = None,
    level: float = 0.975,
) -> ScorePlane:
    """Scores on two components, with centre, covariance and axes, robust and plain.

    Parameters
    ----------
    model : estimator
        Any fitted method.
    X : array-like of shape (n, D)
        Rows, usually those of the fit.
    components : one or two ints, default the first two
        Counted from 0.
    level : float in (0, 1), default=0.975
        Share of normal rows that the tolerance ellipse holds.

    Returns
    -------
    ScorePlane

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.diagnostics import score_plane
    >>> X = sensors().X
    >>> plane = score_plane(DSWL(2).fit(X), X)
    >>> plane.scores.shape, round(plane.radius, 2)
    ((200, 2), 2.72)
    """
    with fitted_rows(model, X) as rows:
        return _plane(model, rows, components, level)


def _plane(
    model: SubspaceEstimator,
    rows: Rows,
    components: Sequence[int] | None,
    level: float,
) -> ScorePlane:
    robust = model._subspace()
    chosen = _chosen(components, len(robust.basis))
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} is no share: pass one between 0 and 1.")
    P = robust.basis[list(chosen)]
    scores = np.empty((rows.shape[0], len(chosen)))
    for first, block in rows.blocks():
        scores[first : first + len(block)] = (block - robust.mean) @ P.T
    plain = solve(plain_moments(rows, None), len(robust.basis))
    centre = (plain.mean - robust.mean) @ P.T
    t = scores - centre
    n = len(t)
    size = np.sqrt(plain.variances[list(chosen)] * n / max(n - 1, 1))
    variances = robust.variances[list(chosen)]
    return ScorePlane(
        components=chosen,
        scores=scores,
        robust=Spread(
            np.zeros(len(chosen)), np.diag(variances), np.diag(np.sqrt(variances))
        ),
        plain=Spread(
            centre,
            t.T @ t / max(n - 1, 1),
            size[:, None] * (plain.basis[list(chosen)] @ P.T),
        ),
        radius=float(np.sqrt(chi2.ppf(level, len(chosen)))),
        level=level,
    )


def _chosen(components: Sequence[int] | None, k: int) -> tuple[int, ...]:
    chosen = tuple(range(min(k, 2)) if components is None else components)
    known = len(set(chosen)) == len(chosen) in (1, 2)
    if not known or not all(0 <= j < k for j in chosen):
        raise ValueError(
            f"components={components!r}, but there are {k}: pass one or two different "
            f"numbers from 0 to {k - 1}."
        )
    return chosen
