"""MEASURE: how DSWL's answer changes as ever fewer rows are trusted.

A path of fits, each started where the one before ended; see also `diagnostics`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis._engine.dswl.sample_fit import learn, settle
from trueaxis._engine.problem import Problem
from trueaxis._engine.starts import equal_weights
from trueaxis._rows.base import ArrayRows
from trueaxis._validation import fitted_rows
from trueaxis.diagnostics.influence import largest_angle

DEFAULT_TRUSTS = tuple(float(t) for t in np.round(np.arange(0.95, 0.49, -0.05), 2))
PATH_ROUNDS, PATH_TOL = 50, 1e-4


@dataclass(frozen=True)
class TrustPath:
    """DSWL fitted along falling trust, each fit started where the one before ended.

    Attributes
    ----------
    trust : ndarray of shape (m,)
    step : ndarray of shape (m,)
        Largest angle to the fit before in degrees (0 for the first): a jump tells that
        a group of rows held the axes until then.
    to_model : ndarray of shape (m,)
        Largest angle to the model's own subspace in degrees.
    rows : ndarray of shape (r,)
        Numbers of the rows that the path was made of (all, or a sample of large data).
    weights : ndarray of shape (m, r)
        In units of their mean: 1 for a row that counts like others.
    """

    trust: NDArray[np.float64]
    step: NDArray[np.float64]
    to_model: NDArray[np.float64]
    rows: NDArray[np.intp]
    weights: NDArray[np.float64]

    @property
    def jump(self) -> int:
        """Number of the step that turns the subspace most."""
        return int(self.step.argmax())

    def left_at(self, least: float = 0.05) -> NDArray[np.float64]:
        """Trust at which the weight of each row fell below `least`; 0 if it never did.

        A row that came back has not left.
        """
        low = self.weights < least
        stays = np.logical_and.accumulate(low[::-1], axis=0)[::-1]
        first = np.where(stays.any(axis=0), stays.argmax(axis=0), -1)
        return np.where(first >= 0, self.trust[first], 0.0)

    def n_left(self, least: float = 0.05) -> NDArray[np.intp]:
        """Number of rows that left at each trust, see `left_at`."""
        return (self.left_at(least) == self.trust[:, None]).sum(axis=1)


def trust_path(
    model: Any, X: ArrayLike, trust: ArrayLike = DEFAULT_TRUSTS
) -> TrustPath:
    """How subspace and weights change as ever fewer rows are trusted.

    Parameters
    ----------
    model : DSWL
        Fitted; gives the number of components.
    X : array-like of shape (n, D)
        Rows, usually those of the fit.
    trust : array-like, default from 0.95 down to 0.5
        Falling shares in (0, 1].

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
    >>> bool(path.step.max() > 50)  # the group lets go of the axes
    True
    """
    rows = fitted_rows(model, X)
    if not hasattr(model, "tau_"):
        raise TypeError(
            f"{type(model).__name__} has no trust: the path is one of DSWL fits. Pass "
            "a fitted DSWL."
        )
    shares = _falling(trust)
    k = model.n_components_
    with rows:
        problem = Problem(rows, None, np.random.default_rng(0))
    S = ArrayRows(problem.sample.X)
    robust = model._subspace().basis
    state, before, found = equal_weights(S, k), None, []
    for share in shares:
        start, temperatures = settle(S, state, float(share))
        turn = learn(S, start, temperatures, PATH_ROUNDS, PATH_TOL).last
        state = turn.next
        basis = problem.hull.lift(state).basis
        step = 0.0 if before is None else largest_angle(before, basis)
        weights = len(problem.sample.X) * turn.copy_weights()
        found.append((step, largest_angle(robust, basis), weights))
        before = basis
    steps, to_model, all_weights = zip(*found, strict=True)
    order = np.argsort(problem.sample.index, kind="stable")
    return TrustPath(
        trust=shares,
        step=np.array(steps),
        to_model=np.array(to_model),
        rows=problem.sample.index[order],
        weights=np.array(all_weights)[:, order],
    )


def _falling(trust: ArrayLike) -> NDArray[np.float64]:
    shares = np.atleast_1d(np.asarray(trust, dtype=float))
    known = shares.ndim == 1 and len(shares) and ((shares > 0) & (shares <= 1)).all()
    if not known:
        raise ValueError(
            f"trust={trust!r} is not understood: pass shares of the rows between 0 and "
            "1, from large to small."
        )
    if (np.diff(shares) >= 0).any():
        raise ValueError(
            f"trust={trust!r} does not fall: each fit starts where the one before "
            "ended, so pass shares from large to small."
        )
    return shares
