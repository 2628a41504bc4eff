"""Learn from a sample of rows how to fill holes and find wrong cells.

Rows and cells spoil each other's verdicts, so they take turns: a first look at the rows
with all cells pulled in, then the cells of the rows that look regular, then the rows
once more, repaired, and the cells of all that look regular now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.cells.factors import (
    Array,
    FactorModel,
    column_variances,
    fit_factors,
    start_factors,
)
from trueaxis._engine.cells.model import NEAR, CellModel
from trueaxis._engine.cells.wrong import (
    Mask,
    WrongCells,
    column_medians,
    first_guess,
    learn_wrong,
    reach,
)
from trueaxis._engine.outliers.discrete import discrete_columns
from trueaxis._engine.outliers.law import REGULAR

MAX_FACTORS = 16  # factors that are not needed vanish; more of them only take longer
ROWS_PER_FACTOR = 8
CLIPPED = 3.0  # units at which cells are clipped for the first look at the rows
FEW = 0.25  # rows with at most this share of wrong cells tell what wrong cells are like
START_STEPS, STEPS = 20, 5  # of EM, at the start and after a change of cells
ROUNDS = 4  # of the start, each leaving out cells beyond NEAR standard deviations
TURNS = 6  # of learning good and wrong cells

# Complete rows -> the logarithms of their p-values
JudgeRows = Callable[[Array], Array]


def marginals(X: Array, seen: Mask, marginal: Mask) -> tuple[Array, Array]:
    """Return the median of every column, and its median absolute deviation.

    In a column with few different values, the unit is the larger deviations of the
    cells that differ: no level is far away from the others.
    """
    D = X.shape[1]
    center, unit = np.zeros(D), np.ones(D)
    for j in range(D):
        x = X[seen[:, j], j]
        if not len(x):
            continue
        center[j] = np.median(x)
        with np.errstate(over="ignore"):
            size = np.abs(x - center[j])
        unit[j] = 1.4826 * np.median(size)
        if marginal[j] or not unit[j] > 0:
            apart = size[size > 0]
            unit[j] = np.quantile(apart, 0.75) if len(apart) else 1.0
    return center, unit


def few_values(X: Array, seen: Mask) -> Mask:
    """Mark the columns with few different values, or one that most cells share."""
    found = [
        bool(discrete_columns(X[use, j][:, None])[0]) if use.sum() > 1 else False
        for j, use in enumerate(seen.T)
    ]
    return np.array(found)


def learn_cells(
    X: NDArray[np.float64],
    judge_rows: JudgeRows,
    *,
    find_wrong: bool,
    counts: Array | None = None,
) -> tuple[CellModel, Array]:
    """Learn a cell model from rows with holes; also return the weights of the rows.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        NaN in holes. Every column has a value.
    judge_rows : callable
        Returns log p-values of complete rows.
    find_wrong : bool
        Whether cells may be wrong, too.
    counts : ndarray of shape (n,), optional
        How often each row counts.
    """
    n, D = X.shape
    seen = ~np.isnan(X)
    counts = np.ones(n) if counts is None else counts
    cell_share = np.log(REGULAR / n)  # no regular row of so many has a smaller p-value
    marginal = few_values(X, seen)
    center, unit = marginals(X, seen, marginal)
    model = CellModel(center, unit, _no_factors(D), None, float(REGULAR / n))
    weights = counts
    if find_wrong:
        Z, _ = model.standard(X)
        clipped = center + unit * np.where(marginal, Z, np.clip(Z, -CLIPPED, CLIPPED))
        weights = counts * (judge_rows(clipped) >= np.log(REGULAR))
        some = weights > 0
        center, unit = marginals(X[some], seen[some], marginal)
        model = replace(model, center=center, unit=unit)
    Z, _ = model.standard(X)
    learner = _Learner(Z, seen, marginal)
    if find_wrong:
        factors, wrong = learner.start(weights)
        factors, wrong = learner.take_turns(factors, wrong, weights, model)
        model = replace(model, factors=factors, wrong=wrong)
    else:
        pulled = _Learner(np.clip(Z, -CLIPPED, CLIPPED), seen, marginal)
        W = seen.astype(float)
        model = replace(model, factors=pulled.fit(W, weights, START_STEPS // 2))
    repaired = model.repair(X)
    weights = counts * (judge_rows(repaired.rows) >= cell_share) * ~repaired.crowded
    if find_wrong:
        assert model.wrong is not None
        factors, wrong = learner.take_turns(model.factors, model.wrong, weights, model)
        return replace(model, factors=factors, wrong=wrong), weights
    factors = learner.fit(W, weights, START_STEPS, model.factors)
    return replace(model, factors=factors), weights


class _Learner:
    """Cells in units of their columns, and what is known about them."""

    def __init__(self, Z: Array, seen: Mask, marginal: Mask) -> None:
        self.Z, self.seen, self.marginal = Z, seen, marginal
        n, D = Z.shape
        self.r = max(1, min(MAX_FACTORS, D // 2 + 1, n // ROWS_PER_FACTOR))

    def fit(
        self,
        W: Array,
        weights: Array,
        steps: int,
        start: FactorModel | None = None,
        prior: Array | None = None,
    ) -> FactorModel:
        some = weights > 0
        Z, W, weights = self.Z[some], W[some], weights[some]
        if prior is None:
            prior = column_variances(Z, W, weights)
        if start is None:
            start = start_factors(Z, W, weights, self.r)
        return fit_factors(start, Z, W, weights, prior, steps)

    def start(self, weights: Array) -> tuple[FactorModel, WrongCells]:
        """Return a first model, from cells that are not far from anything."""
        Z, seen = self.Z, self.seen
        W = (seen & (self.marginal | (np.abs(Z) <= NEAR))).astype(float)
        prior = self.prior(W, weights)
        factors = self.fit(W, weights, START_STEPS, prior=prior)
        regular = weights > 0
        for _ in range(ROUNDS):
            for again in range(3):
                z = factors.deviations(Z, W).standard()
                W = (seen & (self.marginal | (np.abs(z) <= NEAR))).astype(float)
                if not again:
                    # Half of the cells tell the scale, whatever the others are.
                    size = np.abs(z[regular])
                    scale = column_medians(size, seen[regular]) / 0.6745
                    scale = np.where(scale > 0, np.clip(scale, 0.1, 10.0), 1.0)
                    scale[self.marginal] = 1.0
                    factors = replace(factors, noise=factors.noise * scale**2)
            most = 2 * W.sum(axis=1) >= seen.sum(axis=1)
            usable = weights * most
            if 2 * (usable > 0).sum() < regular.sum():
                usable = weights
            factors = self.fit(W, usable, STEPS, factors, prior)
        wrong = first_guess(W, seen, weights, prior, self.marginal)
        good = W > 0
        return factors, replace(wrong, limits=self.limits(factors, good, weights))

    def prior(self, W: Array, weights: Array) -> Array:
        """Return the variances of the columns."""
        some = weights > 0
        return column_variances(self.Z[some], W[some], weights[some])

    def limits(self, factors: FactorModel, good: Mask, weights: Array) -> Array:
        """Return the deviations up to which cells of either side are good."""
        deviations = factors.deviations(self.Z, good.astype(float))
        z = np.where(self.marginal, self.Z, deviations.standard())
        rows = self.telling(good, weights) > 0
        return reach(z[rows], self.seen[rows], good[rows], self.marginal)

    def telling(self, good: Mask, weights: Array) -> Array:
        """Mark the rows that tell what wrong cells are like.

        A row with few wrong cells does, even if these made it look irregular.
        """
        few = (self.seen & ~good).sum(axis=1) <= FEW * self.seen.sum(axis=1)
        return np.where((weights > 0) | few, 1.0, 0.0)

    def take_turns(
        self,
        factors: FactorModel,
        wrong: WrongCells,
        weights: Array,
        model: CellModel,
    ) -> tuple[FactorModel, WrongCells]:
        """Learn the factors from good cells, and how cells are wrong, in turns."""
        Z, seen = self.Z, self.seen
        current = replace(model, factors=factors, wrong=wrong)
        W = current.good_cells(Z, seen)[0].astype(float)
        prior = self.prior(W, weights)
        for _ in range(TURNS):
            for _ in range(3):
                deviations = factors.deviations(Z, W)
                classes = wrong.classify(Z, seen, deviations)
                W = classes.good
            good = W > 0.5
            z = wrong.standard(Z, deviations)
            telling = self.telling(good, weights)
            rows = telling > 0
            limits = reach(z[rows], seen[rows], good[rows], self.marginal)
            wrong = replace(
                wrong, limits=np.where(wrong.shares > 1 / 3, np.inf, limits)
            )
            crowded = replace(model, wrong=wrong).crowded(good, seen)
            wrong = learn_wrong(
                Z, classes, telling * ~crowded, prior, factors.noise, wrong
            )
            factors = self.fit(W, weights * ~crowded, 2, factors, prior)
        return factors, wrong


def _no_factors(D: int) -> FactorModel:
    return FactorModel(np.zeros(D), np.zeros((D, 1)), np.ones(D))
