"""SOLVE for components that use few columns.

A solver for `reweighted`: of all bases whose axes live on q columns, one with much
variance. Finding the best is combinatorial; from a good start the iteration climbs.
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
    """Leading axes on the q best columns, the same for all axes.

    Attributes
    ----------
    q : int or float
        Number of columns, or their share.
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
                f"q from {k} to {D}, or a share."
            )
        return EXACT if columns == D else SparseSolver(int(columns))

    def start(self, moments: Moments, k: int) -> Subspace:
        """Begin with sparse axes, too."""
        return self(moments, None, solve(moments, k))

    def __call__(
        self, moments: Moments, core: Moments | None, state: Subspace
    ) -> Subspace:
        """Never less variance than `state` has, if that is sparse itself."""
        k, B = len(state.basis), moments.full_scatter()
        return along(sparse_axes(B, k, int(self.q), state.basis)[0], moments)


def sparse_axes(
    B: NDArray[Any], k: int, q: int, near: NDArray[Any] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Axes (as rows) on at most q columns with much variance, and their variances.

    Climbs from several starts: the columns that matter most to the k leading
    eigenvectors, those of largest variance, and those that `near` lives on. Where there
    are not too many columns, the best end is improved by exchanging single ones.
    """
    leading, values = top_eigen(B, k)
    starts = [(leading**2 * values[:, None]).sum(axis=0), np.diag(B)]
    if near is not None:
        used = (near != 0).any(axis=0)
        if k <= used.sum() <= q:
            starts.append(used.astype(float))
    climb = partial(_explain, B, k, q)
    ends = [
        iterate(climb, largest(start, q), max_iter=MOST_ROUNDS, tol=0.5 / q).last.next
        for start in starts
    ]
    best = max(ends, key=lambda columns: _on(B, k, columns)[1].sum())
    if q * (len(B) - q) <= MOST_EXCHANGES:
        swap = partial(_exchange, B, k)
        best = iterate(swap, best, max_iter=MOST_ROUNDS, tol=0.5 / q).last.next
    return _on(B, k, best)


def _explain(
    B: NDArray[Any], k: int, q: int, columns: NDArray[Any], _: StepResult | None
) -> StepResult:
    """From columns to the q that the best axes on them explain best."""
    P, values = _on(B, k, columns)
    # Variance of every column that scores on P explain: diag B P (P'BP)^+ P'B.
    used = values > 1e-14 * values[0]
    loadings = (P[used] @ B) ** 2 / values[used, None]
    after = largest(loadings.sum(axis=0), q)
    moved = len(np.setdiff1d(columns, after, assume_unique=True))
    return StepResult(after, float(values.sum()), moved / q, float(q))


def _exchange(
    B: NDArray[Any], k: int, columns: NDArray[Any], _: StepResult | None
) -> StepResult:
    """Exchange the one column for the one other that adds most, if any does."""
    others = np.setdiff1d(np.arange(len(B)), columns, assume_unique=True)
    q = len(columns)
    out, into = (a.ravel() for a in np.meshgrid(np.arange(q), others, indexing="ij"))
    tried = np.repeat(columns[None], len(out), axis=0)
    tried[np.arange(len(out)), out] = into
    blocks = B[tried[:, :, None], tried[:, None, :]]
    sums = np.linalg.eigvalsh(blocks)[:, -k:].sum(axis=1)
    now = float(_on(B, k, columns)[1].sum())
    if not len(sums) or sums.max() <= now * (1 + 1e-12):
        return StepResult(columns, now, 0.0, float(q))
    return StepResult(np.sort(tried[sums.argmax()]), now, 1.0 / q, float(q))


def _on(
    B: NDArray[Any], k: int, columns: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    inner, values = top_eigen(B[np.ix_(columns, columns)], k)
    P = np.zeros((k, len(B)))
    P[:, columns] = inner
    return P, values


def largest(x: NDArray[Any], q: int) -> NDArray[np.intp]:
    """Numbers of the q largest values, in order; of equal ones the first."""
    return np.sort(np.argsort(-x, kind="stable")[:q])
