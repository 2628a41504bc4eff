"""Trust path: fits of DSWL that trust fewer and fewer rows.

Each fit starts from the result of the previous one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis._validation import fitted_rows
from trueaxis.core.problem import Problem
from trueaxis.core.reweighting import POWER_STEPS, PowerSolver
from trueaxis.core.starts import equal_weights
from trueaxis.data.rows import ArrayRows
from trueaxis.diagnostics.influence import largest_angle
from trueaxis.diagnostics.pipelines import takes_pipelines
from trueaxis.dswl.sample_fit import learn, settle

DEFAULT_TRUSTS = tuple(float(t) for t in np.round(np.arange(0.95, 0.49, -0.05), 2))
PATH_ROUNDS, PATH_TOL = 50, 1e-4


@dataclass(frozen=True, repr=False)
class TrustPath:
    """DSWL fitted along decreasing trust, each fit warm-started from the previous one.

    Attributes
    ----------
    trust : ndarray of shape (m,)
    step : ndarray of shape (m,)
        Largest angle to the previous fit in degrees (0 for the first). A jump means
        that a group of rows held the axes until then.
    to_model : ndarray of shape (m,)
        Largest angle to the subspace of the model in degrees.
    rows : ndarray of shape (r,)
        Positions of the rows that were fitted: all, or a sample of large data.
    weights : ndarray of shape (m, r)
        Weights over their mean: 1 for a row of average weight.
    """

    trust: NDArray[np.float64]
    step: NDArray[np.float64]
    to_model: NDArray[np.float64]
    rows: NDArray[np.intp]
    weights: NDArray[np.float64]

    @property
    def jump(self) -> int:
        """Index of the step that turns the subspace most."""
        return int(self.step.argmax())

    def left_at(self, least: float = 0.05) -> NDArray[np.float64]:
        """Return the trust at which each row's weight fell below `least` for good.

        It is 0 for rows that never left, or came back.
        """
        low = self.weights < least
        stays = np.logical_and.accumulate(low[::-1], axis=0)[::-1]
        first = np.where(stays.any(axis=0), stays.argmax(axis=0), -1)
        return np.where(first >= 0, self.trust[first], 0.0)

    def n_left(self, least: float = 0.05) -> NDArray[np.intp]:
        """Count the rows that left at each trust, see `left_at`."""
        left = self.left_at(least) == self.trust[:, None]
        counts: NDArray[np.intp] = left.sum(axis=1)
        return counts

    def __repr__(self) -> str:
        ends = f"trust {self.trust[0]:g} to {self.trust[-1]:g}"
        return f"TrustPath({len(self.trust)} fits, {ends}, {len(self.rows):,} rows)"


@takes_pipelines()
def trust_path(
    model: Any, X: ArrayLike, trust: ArrayLike = DEFAULT_TRUSTS
) -> TrustPath:
    """Fit DSWL with less and less trust, and follow its subspace and weights.

    Parameters
    ----------
    model : DSWL or Pipeline
        Fitted, alone or at the end of a pipeline; determines the number of components.
    X : array-like of shape (n, D)
        Rows, usually those of the fit.
    trust : array-like, default from 0.95 down to 0.5
        Shares of trusted rows in (0, 1], in decreasing order.

    Returns
    -------
    TrustPath

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import planted
    >>> from trueaxis.diagnostics.trust import trust_path
    >>> cloud = planted("ocs", share=0.2)
    >>> path = trust_path(DSWL(3).fit(cloud.X), cloud.X)
    >>> bool(path.step.max() > 50)  # where the group loses its hold on the axes
    True
    """
    rows = fitted_rows(model, X)
    if not hasattr(model, "tau_"):
        raise TypeError(
            f"{type(model).__name__} has no trust: the path consists of fits of DSWL. "
            "Pass a fitted DSWL."
        )
    shares = _check_decreasing(trust)
    k = model.n_components_
    with rows:
        problem = Problem(rows, None, np.random.default_rng(0))
    S = ArrayRows(problem.sample.X)
    robust = model._subspace().basis
    state, previous, fits = equal_weights(S, k), None, []
    # The fits are the same to a fraction of a degree, in half the time if D is large.
    solver = PowerSolver(POWER_STEPS)
    for share in shares:
        start, temperatures = settle(S, state, float(share), -np.inf)
        turn = learn(S, start, temperatures, PATH_ROUNDS, PATH_TOL, solver=solver).last
        state = turn.next
        basis = problem.hull.lift(state).basis
        step = 0.0 if previous is None else largest_angle(previous, basis)
        weights = len(problem.sample.X) * turn.copy_weights()
        fits.append((step, largest_angle(robust, basis), weights))
        previous = basis
    steps, to_model, all_weights = zip(*fits, strict=True)
    order = np.argsort(problem.sample.index, kind="stable")
    return TrustPath(
        trust=shares,
        step=np.array(steps),
        to_model=np.array(to_model),
        rows=problem.sample.index[order],
        weights=np.array(all_weights)[:, order],
    )


def _check_decreasing(trust: ArrayLike) -> NDArray[np.float64]:
    shares = np.atleast_1d(np.asarray(trust, dtype=float))
    valid = shares.ndim == 1 and len(shares) and ((shares > 0) & (shares <= 1)).all()
    if not valid:
        raise ValueError(
            f"trust={trust!r} is not valid: pass shares of the rows between 0 and 1, "
            "in decreasing order."
        )
    if (np.diff(shares) >= 0).any():
        raise ValueError(
            f"trust={trust!r} is not decreasing: each fit starts from the previous "
            "one, so pass shares in decreasing order."
        )
    return shares
