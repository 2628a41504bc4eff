"""Sparse PCA: an adaptive loss for rows, and loadings on few columns.

Finding the q columns with the largest variance is combinatorial; an iteration improves
good starts.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis.base import (
    MultistartMethod,
    count_or_share,
    number,
    number_or_none,
    reweighting,
)
from trueaxis.core.iteration import StepResult, iterate
from trueaxis.core.kernels import RowWeights
from trueaxis.core.moments import Moments
from trueaxis.core.problem import Problem
from trueaxis.core.recipes import Recipe
from trueaxis.core.reweighting import EXACT, Solver
from trueaxis.core.rules import RowDistances, UniformRule
from trueaxis.core.subspace import Subspace, along, solve, top_eigen
from trueaxis.methods.residual import ScaledRule


@dataclass(eq=False)
class AdaptiveRule(ScaledRule):
    """Adaptive loss: w = (r + 2 c) / (r + c)^2.

    Minimizes sum (1 + c) r^2 / (r + c), between r (small c) and r^2 (large c).
    """

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return ln((x + 2) / (x + 1)^2), x = r/c."""
        _, x = self.scaled(distances)
        return RowWeights(np.log(x + 2) - 2 * np.log(x + 1))

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the sum of losses."""
        c, x = self.scaled(distances)
        return c * (1 + c) * distances.total(x * (x / (x + 1)))


MOST_ROUNDS = 100
MOST_EXCHANGES = 2000


@dataclass(frozen=True)
class SparseSolver(Solver):
    """Solver for the leading axes on q columns, which all axes share.

    Attributes
    ----------
    q : int or float
        Number of columns, or a share of them.
    """

    q: int | float
    smooth: ClassVar[bool] = False

    def for_problem(self, problem: Problem, k: int) -> Solver:
        """Return the solver for a number of columns; raise if that is impossible."""
        D, columns = problem.rows.shape[1], self.q
        if not isinstance(columns, numbers.Integral):
            columns = max(k, round(float(columns) * D))
        if not k <= columns <= D:
            raise ValueError(
                f"q={self.q} columns for {k} components, but X has {D} columns: choose "
                f"q from {k} to {D}, or a share of the columns."
            )
        return EXACT if columns == D else SparseSolver(int(columns))

    def start(self, moments: Moments, k: int) -> Subspace:
        """Return sparse axes near those of plain PCA."""
        return self(moments, None, solve(moments, k))

    def __call__(
        self, moments: Moments, core: Moments | None, state: Subspace
    ) -> Subspace:
        """Return sparse axes with at least the variance of `state`, if it is sparse."""
        k, B = len(state.basis), moments.full_scatter()
        return along(sparse_axes(B, k, int(self.q), state.basis)[0], moments)


def sparse_axes(
    B: NDArray[Any], k: int, q: int, near: NDArray[Any] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return axes (as rows) on at most q columns with large variance, and variances.

    Iterates from several starts: the columns with the largest share in the k leading
    eigenvectors, those of largest variance, and those that `near` uses. Unless there
    are too many columns, the best result is improved by exchanging single columns.
    """
    leading, values = top_eigen(B, k)
    starts = [(leading**2 * values[:, None]).sum(axis=0), np.diag(B)]
    if near is not None:
        used = (near != 0).any(axis=0)
        if k <= used.sum() <= q:
            starts.append(used.astype(float))
    step = partial(_explain, B, k, q)
    ends = [
        iterate(step, largest(start, q), max_iter=MOST_ROUNDS, tol=0.5 / q).last.next
        for start in starts
    ]
    best = max(ends, key=lambda columns: _axes_on(B, k, columns)[1].sum())
    if q * (len(B) - q) <= MOST_EXCHANGES:
        exchange = partial(_exchange, B, k)
        best = iterate(exchange, best, max_iter=MOST_ROUNDS, tol=0.5 / q).last.next
    return _axes_on(B, k, best)


def _explain(
    B: NDArray[Any], k: int, q: int, columns: NDArray[Any], _: StepResult | None
) -> StepResult:
    """Step from columns to the q columns that the best axes on them explain best."""
    P, values = _axes_on(B, k, columns)
    # The variance of each column that the scores on P explain: diag B P (P'BP)^+ P'B.
    used = values > 1e-14 * values[0]
    loadings = (P[used] @ B) ** 2 / values[used, None]
    after = largest(loadings.sum(axis=0), q)
    moved = len(np.setdiff1d(columns, after, assume_unique=True))
    return StepResult(after, float(values.sum()), moved / q, float(q))


def _exchange(
    B: NDArray[Any], k: int, columns: NDArray[Any], _: StepResult | None
) -> StepResult:
    """Exchange the pair of columns that adds most variance, if any does."""
    others = np.setdiff1d(np.arange(len(B)), columns, assume_unique=True)
    q = len(columns)
    out, into = (a.ravel() for a in np.meshgrid(np.arange(q), others, indexing="ij"))
    tried = np.repeat(columns[None], len(out), axis=0)
    tried[np.arange(len(out)), out] = into
    blocks = B[tried[:, :, None], tried[:, None, :]]
    sums = np.linalg.eigvalsh(blocks)[:, -k:].sum(axis=1)
    now = float(_axes_on(B, k, columns)[1].sum())
    if not len(sums) or sums.max() <= now * (1 + 1e-12):
        return StepResult(columns, now, 0.0, float(q))
    return StepResult(np.sort(tried[sums.argmax()]), now, 1.0 / q, float(q))


def _axes_on(
    B: NDArray[Any], k: int, columns: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    inner, values = top_eigen(B[np.ix_(columns, columns)], k)
    P = np.zeros((k, len(B)))
    P[:, columns] = inner
    return P, values


def largest(x: NDArray[Any], q: int) -> NDArray[np.intp]:
    """Return the sorted indices of the q largest values; of equal ones, the first."""
    return np.sort(np.argsort(-x, kind="stable")[:q])


@dataclass(eq=False, repr=False, kw_only=True)
class RSPCA(MultistartMethod):
    """Robust sparse PCA: an adaptive loss, and components that use only q columns.

    Minimizes sum (1 + sigma) r^2 / (r + sigma), r = sqrt(e), over the center and axes
    that are zero outside q columns, the same for all axes. The loss is between r
    (sigma -> 0) and r^2 (sigma -> infinity), with weights
    w = (r + 2 sigma) / (r + sigma)^2.

    The objective falls at every iteration. Selecting the columns is a combinatorial
    problem, and the selection found is good, but not always optimal. With q, the result
    is not invariant to rotations of the data, and a D x D matrix is kept in memory:
    do not use it for thousands of columns.

    Confidence: formulas as published (from the first author's code, which runs the
    outer loop once; here it converges).

    Parameters
    ----------
    q : int, float or None, default=None
        Number of columns to use, at least n_components, or their share. None uses all.
    sigma : float or "auto", default="auto"
        Scale of the loss, in the unit of X; "auto" is the median of r in plain PCA.
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    Attributes
    ----------
    sigma_ : float
        The value of sigma used.

    References
    ----------
    J. Bian, D. Zhao, F. Nie, R. Wang, X. Li (2022): Robust and sparse principal
    component analysis with adaptive loss minimization for feature selection.

    Examples
    --------
    >>> from trueaxis.methods import RSPCA
    >>> from trueaxis.datasets import sensors
    >>> model = RSPCA(2, q=3).fit(sensors().X)
    >>> int((model.components_ != 0).any(axis=0).sum())
    3
    """

    q: int | float | None = count_or_share(None, optional=True)
    sigma: float | Literal["auto"] = number("auto", 1e-150, auto=True)

    _own_attributes: ClassVar[frozenset[str]] = frozenset({"sigma_"})

    def _recipe(self) -> Recipe:
        sigma = number_or_none(self.sigma)
        large = sigma is not None and sigma > 1e150
        return reweighting(
            self,
            UniformRule() if large else AdaptiveRule(sigma),
            solver=EXACT if self.q is None else SparseSolver(self.q),
            constants={"sigma_": ("c", np.inf)},
            rotatable=self.q is None,
        )
