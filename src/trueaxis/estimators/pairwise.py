"""Weighted PCA: pairs of rows are weighed, not rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueaxis._engine.iterate import at_once
from trueaxis._engine.problem import Problem
from trueaxis._engine.starts import plain_moments
from trueaxis._engine.steps.pairwise import pairwise_scatter
from trueaxis._engine.subspace import spanned, top_eigen
from trueaxis._validation import validate_number
from trueaxis.estimators.method import Found, Method


@dataclass(eq=False, repr=False, kw_only=True)
class WeightedPCA(Method):
    """Normalised PCA: pairs of rows count less, the farther they are apart.

    Maximises sum |P(x - x')|^2 / |x - x'|^power over all pairs of rows, in closed form:
    the leading eigenvectors of the weighted scatter of pairs, a global optimum.

    No centre is needed to find the subspace; for scores it is the sample mean, and the
    axes are turned so that scores are uncorrelated. Takes time in proportion to n^2.

    Confidence: as published, from memory of the paper (power=1; its supervised form,
    with smaller weights inside classes, is not offered).

    Parameters
    ----------
    power : float in [0, 2], default=1.0
        0 weighs all pairs alike, which is plain PCA.
    max_rows : int, default=20000
        More rows are refused rather than waited for.
    n_components, random_state
        See `Method`.

    References
    ----------
    Y. Koren, L. Carmel (2004): Robust linear dimensionality reduction.

    Examples
    --------
    >>> from trueaxis import WeightedPCA
    >>> from trueaxis.datasets import planted
    >>> WeightedPCA(3).fit(planted("scatter", share=0.1).X).components_.shape
    (3, 20)
    """

    power: float = 1.0
    max_rows: int = 20_000

    def _check(self) -> None:
        validate_number("power", self.power, 0, 2, low_too=True)
        validate_number("max_rows", self.max_rows, 2, np.inf, whole=True)

    def _search(self, problem: Problem, k: int) -> Found:
        n = problem.rows.shape[0]
        if n > self.max_rows:
            raise ValueError(
                f"X has {n} rows, which make {n * (n - 1) // 2:.2g} pairs, but "
                f"max_rows={self.max_rows}. Raise it if you have the time, or fit a "
                "sample of the rows."
            )
        moments = plain_moments(problem.rows, problem.counts)
        counts = problem.counts
        used = np.arange(n) if counts is None else np.flatnonzero(counts)
        X = problem.rows.take(used)
        # A centre in the midst of the rows keeps the digits of their differences.
        X = X - np.median(X, axis=0)
        counts = counts if counts is None else counts[used]
        scatter = pairwise_scatter(X, float(self.power), counts)
        axes, values = top_eigen(scatter, k)
        result = at_once(float(values.sum()), problem.n_copies)
        return Found(spanned(axes, moments), result)
