"""L1-PCA: least absolute residuals in every cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.iterate import iterate
from trueaxis._engine.problem import Problem
from trueaxis._engine.quantiles import counted_median
from trueaxis._engine.starts import plain_moments
from trueaxis._engine.steps.lad import AlternatingLad
from trueaxis._engine.subspace import spanned
from trueaxis._validation import validate_choice
from trueaxis.estimators.method import Found, IteratedMethod


@dataclass(eq=False, repr=False, kw_only=True)
class L1PCA(IteratedMethod):
    """L1-PCA: scores and loadings with the least sum of absolute residuals.

    Minimises |X - V U'|_1 over scores V and loadings U, in turns: each row, then each
    column, is a least absolute deviations fit, solved exactly (weighted medians for one
    component, linear programs for more). The components are an orthonormal basis of U.

    The objective falls at every iteration; where it ends depends on the start. Turning
    the axes of the data changes the answer. Linear programs take their time.

    Confidence: as published, from memory of the paper (there without centring, from
    another start; here the start does not see the lengths of the rows).

    Parameters
    ----------
    centre : {"median", "mean", "none"}, default="median"
        Median of every column, the mean, or zero (as in the paper).
    n_components, max_iter, tol, random_state
        See `Method`.

    References
    ----------
    Q. Ke, T. Kanade (2005): Robust L1 norm factorization in the presence of outliers
    and missing data by alternative convex programming.

    Examples
    --------
    >>> from trueaxis import L1PCA
    >>> from trueaxis.datasets import sensors
    >>> L1PCA(2).fit(sensors().X).components_.shape
    (2, 6)
    """

    centre: Literal["median", "mean", "none"] = "median"
    max_iter: int = 50
    tol: float = 1e-4

    _rotatable: ClassVar[bool] = False

    def _check(self) -> None:
        super()._check()
        validate_choice("centre", self.centre, ("median", "mean", "none"))

    def _search(self, problem: Problem, k: int) -> Found:
        X, counts = problem.rows.read(), problem.counts
        moments = plain_moments(problem.rows, counts)
        centre = self._centre(X, counts, moments.mean())
        step = AlternatingLad((X - centre).astype(float, copy=False), counts)
        tol = self._tol(problem)
        result = iterate(step, step.start(k), max_iter=self.max_iter, tol=tol)
        found = spanned(result.turn.next.loadings.T, moments.about(centre))
        return Found(found, result)

    def _centre(
        self, X: NDArray[Any], counts: NDArray[Any] | None, mean: NDArray[Any]
    ) -> NDArray[np.float64]:
        if self.centre == "mean":
            return mean
        if self.centre == "none":
            return np.zeros(X.shape[1])
        return np.array([counted_median(column, counts) for column in X.T], dtype=float)
