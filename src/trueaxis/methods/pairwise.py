"""Scatter of all pairs of rows, for the method that weights pairs instead of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from trueaxis.base import Method, number
from trueaxis.core.iteration import at_once
from trueaxis.core.problem import Problem
from trueaxis.core.recipes import FitResult
from trueaxis.core.starts import plain_moments
from trueaxis.core.subspace import spanned, top_eigen

PAIRS_AT_A_TIME = 1 << 21
SAME = 1e-8  # relative to the length of rows; smaller differences lack digits


def pairwise_scatter(
    X: NDArray[Any], power: float, counts: NDArray[Any] | None
) -> NDArray[np.float64]:
    """Return the sum of (x - x')(x - x')' / |x - x'|^power over all pairs.

    Pairs of equal or nearly equal rows are skipped.
    """
    n, D = X.shape
    length = np.linalg.norm(X, axis=1)
    c = np.ones(n) if counts is None else counts
    scatter = np.zeros((D, D))
    block = max(1, PAIRS_AT_A_TIME // n)
    for first in range(0, n, block):
        some = slice(first, first + block)
        distance = cdist(X[some], X)
        apart = distance > SAME * np.maximum(length[some, None], length)
        weight = np.zeros_like(distance)
        np.power(distance, -power, out=weight, where=apart)
        weight *= c[some, None] * c
        # Each pair occurs in both orders, and one half of it is added each time.
        degree = weight.sum(axis=1)
        scatter += X[some].T @ (degree[:, None] * X[some] - weight @ X)
    return 0.5 * (scatter + scatter.T)


@dataclass(eq=False, repr=False, kw_only=True)
class WeightedPCA(Method):
    """Normalized PCA: pairs of rows count less the farther apart they are.

    Maximizes ``sum |P(x - x')|^2 / |x - x'|^power`` over all pairs of rows. The leading
    eigenvectors of the weighted scatter of pairs are the global optimum, in closed
    form.

    The subspace does not depend on a center. Scores are centered at the sample mean,
    and the axes are rotated so that scores are uncorrelated. The time is proportional
    to n^2.

    Confidence: as published, from memory of the paper (power=1; its supervised form,
    with smaller weights inside classes, is not implemented).

    Parameters
    ----------
    power : float in [0, 2], default=1.0
        Power of the distances. 0 gives all pairs equal weights, which is plain PCA.
    max_rows : int, default=20000
        Maximum number of rows; beyond it, an error is raised, as the fit would take
        too long.
    n_components, random_state, level, contamination
        See `Method`.

    References
    ----------
    Y. Koren, L. Carmel (2004): Robust linear dimensionality reduction.

    Examples
    --------
    >>> from trueaxis.methods import WeightedPCA
    >>> from trueaxis.datasets import planted
    >>> WeightedPCA(3).fit(planted("scatter", share=0.1).X).components_.shape
    (3, 20)
    """

    power: float = number(1.0, 0, 2, include_low=True)
    max_rows: int = number(20_000, 2, whole=True)

    def _search(self, problem: Problem, k: int) -> FitResult:
        n, counts = problem.rows.shape[0], problem.counts
        if n > self.max_rows:
            raise ValueError(
                f"X has {n} rows, which make {n * (n - 1) // 2:.2g} pairs, but "
                f"max_rows={self.max_rows}. Raise it if you have the time, or fit a "
                "sample of the rows."
            )
        moments = plain_moments(problem.rows, counts)
        used = np.arange(n) if counts is None else np.flatnonzero(counts)
        X = problem.rows.take(used)
        # Centering keeps the digits of differences between rows.
        X = X - np.median(X, axis=0)
        counts = counts if counts is None else counts[used]
        axes, values = top_eigen(pairwise_scatter(X, float(self.power), counts), k)
        iterations = at_once(float(values.sum()), problem.total_weight)
        return FitResult(spanned(axes, moments), iterations)
