"""Scores on two components, and the spread that the robust model and plain PCA expect.

Notation: t = P (x - m), where m and P are the mean and the basis of the robust model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv

from trueaxis._validation import fitted_rows
from trueaxis.core.subspace import Subspace
from trueaxis.data.rows import RecordKernel, Rows
from trueaxis.diagnostics.filled import imputed
from trueaxis.diagnostics.influence import plain_subspace
from trueaxis.diagnostics.pipelines import takes_pipelines

if TYPE_CHECKING:
    from trueaxis.base import SubspaceEstimator


@dataclass(frozen=True)
class Spread:
    """Center, covariance and principal axes of rows, in j scores.

    Attributes
    ----------
    center : ndarray of shape (j,)
    covariance : ndarray of shape (j, j)
    axes : ndarray of shape (j, j)
        One principal axis per row: one standard deviation long if it lies in the
        plane, shorter if it points out of it.
    """

    center: NDArray[np.float64]
    covariance: NDArray[np.float64]
    axes: NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class ScorePlane:
    """Scores on one or two components, with robust and plain spread.

    Attributes
    ----------
    components : tuple of int
        Indices of the components, from 0.
    scores : ndarray of shape (n, j)
    robust, plain : Spread
        Spread according to the model, and of all rows with equal weights; wrong cells
        that the model replaces are part of the plain spread, but not of the scores.
    radius : float
        Radius, in standard deviations, of the ellipse that contains the share `level`
        of normally distributed rows.
    level : float
    """

    components: tuple[int, ...]
    scores: NDArray[np.float64]
    robust: Spread
    plain: Spread
    radius: float
    level: float

    def __repr__(self) -> str:
        return f"ScorePlane({len(self.scores):,} rows, components {self.components})"


@takes_pipelines()
def score_plane(
    model: SubspaceEstimator,
    X: ArrayLike,
    components: Sequence[int] | None = None,
    level: float = 0.975,
) -> ScorePlane:
    """Compute the scores on two components, with robust and plain spread.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or at the end of a pipeline.
    X : array-like of shape (n, D)
        Rows, usually those of the fit.
    components : one or two ints, default the first two
        Indices, from 0.
    level : float in (0, 1), default=0.975
        Share of normally distributed rows inside the tolerance ellipse.

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
        return _score_plane(model._subspace(), rows, components, level)


def _score_plane(
    robust: Subspace, rows: Rows, components: Sequence[int] | None, level: float
) -> ScorePlane:
    chosen = _check_components(components, len(robust.basis))
    if not 0 < level < 1:
        raise ValueError(
            f"level={level!r} is not a share of the rows: pass a number between 0 and "
            "1."
        )
    P = robust.basis[list(chosen)]
    scores = _scores(rows, robust.mean, P)
    given = imputed(rows)
    plain = plain_subspace(given, len(robust.basis))
    center = (plain.mean - robust.mean) @ P.T
    t = (scores if given is rows else _scores(given, robust.mean, P)) - center
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
            center,
            t.T @ t / max(n - 1, 1),
            size[:, None] * (plain.basis[list(chosen)] @ P.T),
        ),
        radius=float(np.sqrt(2 * gammaincinv(len(chosen) / 2, level))),
        level=level,
    )


def _scores(
    rows: Rows, mean: NDArray[np.float64], axes: NDArray[np.float64]
) -> NDArray[np.float64]:
    record, _ = rows.scan(ScoreKernel(mean, axes))
    return np.ascontiguousarray(record.T)


class ScoreKernel(RecordKernel):
    """Record the scores of every row on some axes."""

    title = "scores"

    def __init__(self, mean: NDArray[np.float64], axes: NDArray[np.float64]) -> None:
        self.mean, self.axes = mean, axes
        self.n_fields = len(axes)

    def absorb(
        self, state: None, block: NDArray[Any], first: int
    ) -> NDArray[np.float64]:
        """Return the scores of the rows of a block."""
        scores: NDArray[np.float64] = (block - self.mean) @ self.axes.T
        return scores.T


def _check_components(components: Sequence[int] | None, k: int) -> tuple[int, ...]:
    chosen = tuple(range(min(k, 2)) if components is None else components)
    distinct = len(set(chosen)) == len(chosen) in (1, 2)
    if not distinct or not all(0 <= j < k for j in chosen):
        raise ValueError(
            f"components={components!r}, but the model has {k}: pass one or two "
            f"different numbers from 0 to {k - 1}."
        )
    return chosen
