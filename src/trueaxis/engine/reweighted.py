"""STEP: look, weigh, solve. What every row-weighted method repeats.

Rows that are weighed from their own distances alone are looked at, weighed and summed
in one pass; a rule that needs all rows at once costs a second pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueaxis.engine.iterate import Turn
from trueaxis.engine.kernels import Gather, Sums, Sweep, Weighing
from trueaxis.engine.rules import Rule, View
from trueaxis.engine.subspace import Subspace, solve, solve_from, subspace_change
from trueaxis.rows import Rows


@dataclass(frozen=True)
class Weighed(Turn):
    """One turn: the rows as seen from `state`, their weights, and the next subspace.

    `objective` is the logarithm of the sum of the weights, which DSWL climbs; `change`
    the angle between the spans of `state` and `next`.

    Attributes
    ----------
    state : Subspace
    view : View
        Distances of all rows from `state`.
    weighing : Weighing
        Log-weights (of one copy of each row) and core of all rows.
    """

    state: Subspace
    view: View
    weighing: Weighing

    def copy_weights(self) -> NDArray[np.float64]:
        """Weights of one copy of every row; over all copies they sum to 1."""
        return np.exp(self.weighing.log_weights - self.objective)


@dataclass(frozen=True)
class ReweightedStep:
    """The step of the weighted family, for `iterate`.

    Parameters
    ----------
    rows : Rows
    rule : Rule
    k : int
        Number of components.
    counts : ndarray, optional
        How often each row counts.
    nearby : bool
        Solve by power steps from the present subspace.
    """

    rows: Rows
    rule: Rule
    k: int
    counts: NDArray[np.float64] | None = None
    nearby: bool = False

    def __call__(self, state: Subspace, previous: Weighed | None = None) -> Weighed:
        """Look at the rows from `state`, weigh them, solve for the next subspace."""
        if self.rule.row_local:
            view, sums = self._fused(state)
            weighing = self.rule.weigh(view)
        else:
            view = look(self.rows, state)
            if previous is not None:
                view = view._replace(carried=previous.copy_weights())
            weighing = self.rule.weigh(view)
            sums = gather(self.rows, state.mean, weighing, self.counts)
        span = sums.span()
        if self.nearby:
            after = solve_from(span, state)
        else:
            after = solve(span, self.k, None if weighing.core is None else sums.core())
        return Weighed(
            state=state,
            next=after,
            view=view,
            weighing=weighing,
            objective=span.log_weight(),
            change=subspace_change(after.supported(), state.basis),
            effective=span.effective_size(),
        )

    def _fused(self, state: Subspace) -> tuple[View, Sums]:
        def weigh(v: NDArray, e: NDArray, s: NDArray) -> Weighing:
            return self.rule.weigh(View(v, e, s))

        (v, e, s), sums = self.rows.scan(Sweep(state, weigh, self.counts))
        return View(v, e, s), sums


def look(rows: Rows, state: Subspace) -> View:
    """Distances of all rows from a subspace, in one pass."""
    (v, e, s), _ = rows.scan(Sweep(state))
    return View(v, e, s)


def gather(
    rows: Rows, pivot: NDArray, weighing: Weighing, counts: NDArray | None = None
) -> Sums:
    """Moments of rows whose weights are known, in one pass."""
    _, sums = rows.scan(Gather(pivot, weighing, counts))
    return sums
