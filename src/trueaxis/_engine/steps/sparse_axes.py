"""A solver for components with loadings on few columns, for `reweighted`.

Finding the q columns with the largest variance is combinatorial; an iteration improves
good starts.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.iterate import StepResult, iterate
from trueaxis._engine.moments import Moments
from trueaxis._engine.reweighted import EXACT, Solver
from trueaxis._engine.rules.base import Size
from trueaxis._engine.subspace import Subspace, along, solve, top_eigen

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

    def for_size(self, size: Size) -> Solver:
        """Return the solver for a number of columns; raise if that is impossible."""
        D, k, columns = size.n_columns, size.k, self.q
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
