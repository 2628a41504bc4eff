"""Learn from rows how to fill holes and find wrong cells.

DSWL is the judge of rows. Rows and cells spoil each other's verdicts, so they take
turns: a first look at the rows with all cells pulled in, then the cells of the rows
that look regular, then the rows once more, repaired, and the cells of all that look
regular now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.cells.factors import (
    Array,
    FactorModel,
    column_moments,
    fit_factors,
    start_factors,
)
from trueaxis.cells.limits import (
    NEAR,
    RATIO,
    SURELY,
    Mask,
    law_ends,
    majority,
    raise_known,
)
from trueaxis.cells.model import SWEEPS, CellModel, WrongCells, kept_cells, within
from trueaxis.core.columns import refuse_rounded
from trueaxis.core.law import REGULAR
from trueaxis.core.moments import discrete_columns
from trueaxis.core.problem import Problem
from trueaxis.core.recipes import Recipe, fit_with
from trueaxis.core.starts import SAMPLE_ROWS, repeated
from trueaxis.core.verdicts import PValueKernel
from trueaxis.data.rows import ArrayRows, Rows

FEWEST_ROWS = 20  # with fewer, nobody can say which cells are wrong
MAX_FACTORS = 16  # factors that are not needed vanish; more of them only take longer
ROWS_PER_FACTOR = 8

# Budgets: more of them take longer and change next to nothing.
START_STEPS, STEPS = 20, 5  # of EM, at the start and in later rounds
TURNS = 10  # of learning what good and wrong cells are like

# Complete rows -> the logarithms of their p-values
JudgeRows = Callable[[Array], Array]


def centers_and_units(X: Array, seen: Mask) -> tuple[Array, Array, Mask]:
    """Return center and spread of the majority of the cells, and discrete columns.

    In a column with few different values, or one that most cells share, the center is
    the median, and the unit is the larger deviations of the cells that differ: no level
    is far away from the others.
    """
    center, unit = majority(X, seen)
    marginal, complete = unit == 0, seen.all(axis=0)
    if len(X) > 1:
        marginal[complete] |= discrete_columns(X[:, complete])
    for j in np.flatnonzero(~complete & (seen.sum(axis=0) > 1)):
        marginal[j] |= discrete_columns(X[seen[:, j], j][:, None])[0]
    for j in np.flatnonzero(marginal):
        x = X[seen[:, j], j]
        center[j] = np.median(x)
        apart = np.abs(x - center[j])
        apart = apart[apart > 0]
        unit[j] = np.quantile(apart, 0.75) if len(apart) else 1.0
    return center, unit, marginal


def learn_cells(
    X: NDArray[np.float64],
    judge_rows: JudgeRows,
    *,
    find_wrong: bool,
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
    """
    n, D = X.shape
    seen = ~np.isnan(X)
    center, unit, marginal = centers_and_units(X, seen)
    nothing = FactorModel(np.zeros(D), np.zeros((D, 1)), np.ones(D))
    model = CellModel(center, unit, nothing)
    Z, _ = model.standard(X)
    table, weights = _Table(Z, seen, marginal), np.ones(n)
    if find_wrong:
        pulled = np.where(marginal, Z, np.clip(Z, -SURELY, SURELY))
        regular = judge_rows(center + unit * pulled) >= np.log(REGULAR)
        weights = np.where(regular, 1.0, 0.0)
        model = table.start(model, weights)
    else:  # rows that are bad may still count: pull their cells in
        pulled = np.clip(Z, -2 * SURELY, 2 * SURELY)
        factors = replace(table, Z=pulled).fit(seen, weights, START_STEPS)
        model = replace(model, factors=factors)
    repaired = model.repair(X)
    # Leave out rows only if no regular row, of so many, has a smaller p-value.
    regular = judge_rows(repaired.rows) >= np.log(REGULAR / n)
    kept = regular & ~repaired.crowded
    weights = np.where(kept if kept.any() else regular, 1.0, 0.0)
    if find_wrong:
        return table.take_turns(model, weights), weights
    factors = table.fit(seen, weights, START_STEPS, model.factors)
    return replace(model, factors=factors), weights


@dataclass(frozen=True)
class _Table:
    """Cells in units of their columns, from which a cell model is learned."""

    Z: Array
    seen: Mask
    marginal: Mask

    def fit(
        self,
        good: Mask,
        weights: Array,
        steps: int,
        start: FactorModel | None = None,
    ) -> FactorModel:
        """Fit factors to the good cells."""
        some = weights > 0
        Z, W, weights = self.Z[some], good[some].astype(float), weights[some]
        if start is None:
            n, D = self.Z.shape
            r = max(1, min(MAX_FACTORS, D // 2 + 1, n // ROWS_PER_FACTOR))
            start = start_factors(Z, W, weights, r)
        prior = column_moments(Z, W, weights)[1]
        return fit_factors(start, Z, W, weights, prior, steps)

    def deviations(self, factors: FactorModel, good: Mask) -> Array:
        """Return the deviations of cells in standard deviations."""
        z = factors.deviations(self.Z, good.astype(float)).z
        return np.where(self.marginal, self.Z, z)

    def near(self, z: Array) -> Mask:
        """Mark the cells that are not far from anything."""
        return self.seen & (self.marginal | (np.abs(z) <= NEAR))

    def start(self, model: CellModel, weights: Array) -> CellModel:
        """Learn from the cells that are not far from anything, and then in turns."""
        good, regular = self.near(self.Z), weights > 0
        factors = self.fit(good, weights, START_STEPS)
        for _ in range(SWEEPS):
            z = self.deviations(factors, good)
            # The majority of cells tells the law, whatever the others are.
            middle, spread = majority(z[regular], self.seen[regular])
            good = self.near((z - middle) / np.where(spread > 0, spread, 1.0))
            most = 2 * good.sum(axis=1) >= self.seen.sum(axis=1)
            many = 2 * (most & regular).sum() >= regular.sum()
            factors = self.fit(
                good, weights * most if many else weights, STEPS, factors
            )
        wrong = self.wrong(factors, good, weights)
        return self.take_turns(replace(model, factors=factors, wrong=wrong), weights)

    def take_turns(self, model: CellModel, weights: Array) -> CellModel:
        """Learn the factors from good cells, and how cells are wrong, in turns."""
        good = model.good_cells(self.Z, self.seen)[0]
        for _ in range(TURNS):
            assert model.wrong is not None
            good = within(
                model.wrong.limits, self.deviations(model.factors, good), self.seen
            )
            usable = weights * ~model.crowded(good, self.seen)
            wrong = self.wrong(model.factors, good, weights)
            factors = self.fit(good, usable, STEPS, model.factors)
            model = replace(model, factors=factors, wrong=wrong)
        return model

    def wrong(self, factors: FactorModel, good: Mask, weights: Array) -> WrongCells:
        """Learn up to which deviations cells of either side are good."""
        z = self.deviations(factors, good)
        # A row with few wrong cells tells, even if these made it look irregular; a row
        # most of whose cells are wrong does not, even if it looks regular.
        most = np.where(weights > 0, 0.5, 0.25) * self.seen.sum(axis=1)
        tells = (self.seen & ~good).sum(axis=1) <= most
        rows = tells if tells.any() else weights > 0
        seen, unit = self.seen[rows], np.sqrt(factors.noise)
        shifted = z[rows] + self.shifts()[rows] / np.where(self.marginal, 1.0, unit)
        limits = law_ends(shifted, seen, self.marginal)
        # A cell in question must not tell what kind of row it is in.
        sure = within(limits, z[rows], seen)
        means, _ = factors.factors(self.Z[rows], sure.astype(float))
        limits = raise_known(limits, z[rows], seen, means)
        # Nothing is known about what lies beyond all cells: there, they may be wrong.
        size = np.where(seen, z[rows], 0.0)
        farthest = RATIO * np.array([-size.min(axis=0), size.max(axis=0)])
        limits = np.minimum(limits, np.maximum(farthest, SURELY))
        some = weights > 0
        wrong = self.seen[some] & ~within(limits, z[some], self.seen[some])
        shares = wrong.sum(axis=0) / np.maximum(self.seen[some].sum(axis=0), 1)
        return WrongCells(shares, limits, self.marginal)

    def shifts(self) -> Array:
        """Return shifts within the gaps between levels, so that counts have no gaps."""
        ordered = np.sort(np.where(self.seen, self.Z, np.inf), axis=0)  # holes are last
        with np.errstate(invalid="ignore"):
            steps = np.diff(ordered, axis=0)
        gaps = np.where(steps > 0, steps, np.inf).min(axis=0, initial=np.inf)
        golden = (np.sqrt(5.0) - 1.0) / 2.0  # no two rows get the same shift
        places = (np.arange(len(self.Z)) * golden) % 1.0 - 0.5
        return np.outer(places, np.where(np.isfinite(gaps), gaps, 0.0))


class SampleFilling(NamedTuple):
    """The mean covariance of filled cells about the truth, computed when asked for.

    factors : FactorModel
    cells, good : cells of a sample of rows in units of their columns, and the weights
        of those that were not filled
    weights : of the rows
    unit : of the columns
    """

    factors: FactorModel
    cells: Array
    good: Array
    weights: Array
    unit: Array

    def along(self, frame: Array | None) -> Array:
        """Return it in coordinates along the rows of `frame`; None for the columns."""
        given = self.cells, self.good, self.weights
        if frame is None:
            unit = np.outer(self.unit, self.unit)
            return self.factors.filling_covariance(*given) * unit
        return self.factors.filling_covariance(*given, frame * self.unit)


class LearnedCells(NamedTuple):
    """A cell model, and the mean covariance of filled cells about the truth."""

    model: CellModel
    filling: SampleFilling


def learn_from_rows(
    rows: Rows,
    counts: Array | None,
    rng: np.random.Generator,
    recipe: Recipe,
    n_components: Any,
    *,
    find_wrong: bool,
    names: Sequence[Any] | None = None,
) -> LearnedCells:
    """Learn how to fill and repair rows from a sample of them.

    Parameters
    ----------
    rows : Rows
        With NaN in holes.
    counts : ndarray or None
        How often each row counts.
    rng : Generator
    recipe : Recipe
        How rows are judged.
    n_components : int, float, "auto" or None
        Number of components that rows are judged with.
    find_wrong : bool
        Whether cells may be wrong, too; taken as False for tables that are too small.
    names : sequence, optional
        Names of the columns, for error messages.
    """
    n = rows.shape[0]
    index = np.arange(n) if counts is None else np.flatnonzero(counts)
    drawn = len(index) > SAMPLE_ROWS
    if counts is not None:  # a row that counts twice is two rows
        index = rng.permutation(index) if drawn else index
        index = np.sort(index[repeated(counts[index], SAMPLE_ROWS)])
    elif drawn:
        index = np.sort(rng.choice(index, SAMPLE_ROWS, replace=False))
    X = rows.take(index)
    refuse_empty_columns(X, n if drawn else None, names)
    refuse_rounded(X, rows.dtype, names)
    X = X.astype(float)
    find_wrong = find_wrong and len(X) >= FEWEST_ROWS
    seed = int(rng.integers(2**31))

    def judge_rows(complete: Array) -> Array:
        problem = Problem(ArrayRows(complete), None, np.random.default_rng(seed))
        verdicts = fit_with(recipe, problem, n_components).verdicts
        kernel = PValueKernel(verdicts.judging, verdicts.law)
        log_p: Array = problem.rows.scan(kernel)[0][0]
        return log_p

    model, weights = learn_cells(X, judge_rows, find_wrong=find_wrong)
    Z, seen = model.standard(X)
    good, _ = model.good_cells(Z, seen)
    W = kept_cells(good, seen, model.crowded(good, seen)).astype(float)
    return LearnedCells(model, SampleFilling(model.factors, Z, W, weights, model.unit))


def refuse_empty_columns(
    X: NDArray[Any], drawn_from: int | None, names: Sequence[Any] | None
) -> None:
    """Raise if a column has no value at all, in all rows or in some of them."""
    empty = np.flatnonzero(np.isnan(X).all(axis=0))
    if not len(empty):
        return
    first = empty[0] if names is None else repr(str(names[empty[0]]))
    where = f"the {len(X):,} rows"
    if drawn_from is not None:
        where = f"{len(X):,} of {drawn_from:,} rows drawn"
    raise ValueError(
        f"{len(empty)} column(s) of X have no value in {where}, such as column "
        f"{first}: nothing can be learned about them. Drop them."
    )
