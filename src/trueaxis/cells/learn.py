"""Learn from rows how to fill holes and find wrong cells.

DSWL is the judge of rows. Rows and cells spoil each other's verdicts, so they take
turns: a first look at the rows with all cells pulled in, then the cells of the rows
that look regular, then the rows once more, repaired, and the cells of all that look
regular now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.cells.factors import (
    Array,
    FactorModel,
    column_variances,
    fit_factors,
    start_factors,
)
from trueaxis.cells.model import NEAR, CellModel, kept_cells
from trueaxis.cells.wrong import (
    RATIO,
    Mask,
    WrongCells,
    column_medians,
    first_guess,
    learn_wrong,
    raise_known,
    reach,
)
from trueaxis.core.columns import refuse_rounded
from trueaxis.core.law import REGULAR
from trueaxis.core.moments import discrete_columns
from trueaxis.core.problem import Problem
from trueaxis.core.recipes import Recipe, fit_with
from trueaxis.core.starts import SAMPLE_ROWS, repeated
from trueaxis.core.verdicts import PValueKernel
from trueaxis.data.rows import ArrayRows, Rows
from trueaxis.data.threads import cached_property

MAX_FACTORS = 16  # factors that are not needed vanish; more of them only take longer
ROWS_PER_FACTOR = 8
CLIPPED = 3.0  # units at which cells are clipped for the first look at the rows
CODES = 8  # a column with so few different values has codes: rare ones are no errors
CODES_APART = 4.0  # unless they are so many times farther away than all but 1 %
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
FEW = 0.25  # rows with at most this share of wrong cells tell what wrong cells are like

# Budgets: more of them take longer and change next to nothing.
START_STEPS, STEPS, TURN_STEPS = 20, 5, 2  # of EM, at the start and in later rounds
ROUNDS = 4  # of the start, each leaving out cells beyond NEAR standard deviations
TURNS = 6  # of learning what good and wrong cells are like
LOOKS = 3  # at the cells of all rows, in every round and turn

# Complete rows -> the logarithms of their p-values
JudgeRows = Callable[[Array], Array]


def centers_and_units(X: Array, seen: Mask, marginal: Mask) -> tuple[Array, Array]:
    """Return the median of every column, and its median absolute deviation, scaled.

    In a column with few different values, the unit is the larger deviations of the
    cells that differ: no level is far away from the others.
    """
    center = column_medians(X, seen)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(X - center)
    unit = 1.4826 * column_medians(size, seen)
    for j in np.flatnonzero(marginal | ~(unit > 0)):
        apart = size[seen[:, j] & (size[:, j] > 0), j]
        unit[j] = np.quantile(apart, 0.75) if len(apart) else 1.0
    return center, unit


def few_values(X: Array, seen: Mask) -> Mask:
    """Mark the columns with few different values, or one that most cells share."""
    found, complete = np.zeros(X.shape[1], dtype=bool), seen.all(axis=0)
    if len(X) > 1:
        found[complete] = discrete_columns(X[:, complete])
    for j in np.flatnonzero(~complete & (seen.sum(axis=0) > 1)):
        found[j] = discrete_columns(X[seen[:, j], j][:, None])[0]
    return found


def levels(Z: Array, seen: Mask) -> tuple[Array, Mask]:
    """Return the smallest gap between values of every column, and where codes are."""
    ordered = np.sort(np.where(seen, Z, np.inf), axis=0)  # holes come last
    with np.errstate(invalid="ignore"):
        steps = np.diff(ordered, axis=0)
    apart = (steps > 0) & np.isfinite(steps)
    gaps = np.where(apart, steps, np.inf).min(axis=0, initial=np.inf)
    n_values = apart.sum(axis=0) + seen.any(axis=0)
    return np.where(n_values > 1, gaps, 0.0), n_values <= CODES


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
    marginal = few_values(X, seen)
    center, unit = centers_and_units(X, seen, marginal)
    model = CellModel(center, unit, _no_factors(D))
    weights = np.ones(n)
    if find_wrong:
        Z, _ = model.standard(X)
        pulled = center + unit * np.where(marginal, Z, np.clip(Z, -CLIPPED, CLIPPED))
        weights = np.where(judge_rows(pulled) >= np.log(REGULAR), 1.0, 0.0)
        some = weights > 0
        known = seen[some].any(axis=0)
        regular = centers_and_units(X[some], seen[some], marginal)
        center, unit = np.where(known, regular, (center, unit))
        model = replace(model, center=center, unit=unit)
    learner = _Learner(model, model.standard(X)[0], seen, marginal)
    learn = learner.learn_repair if find_wrong else learner.learn_filling
    model = learn(weights, None)
    repaired = model.repair(X)
    # Leave out rows only if no regular row, of so many, has a smaller p-value.
    regular_rows = judge_rows(repaired.rows) >= np.log(REGULAR / n)
    kept = regular_rows & ~repaired.crowded
    weights = np.where(kept if kept.any() else regular_rows, 1.0, 0.0)
    return learn(weights, model), weights


class _Learner:
    """Cells in units of their columns, from which a cell model is learned."""

    def __init__(self, model: CellModel, Z: Array, seen: Mask, marginal: Mask) -> None:
        self.model, self.Z, self.seen, self.marginal = model, Z, seen, marginal
        n, D = Z.shape
        self.gaps, self.codes = levels(Z, seen)
        self.r = max(1, min(MAX_FACTORS, D // 2 + 1, n // ROWS_PER_FACTOR))

    def learn_filling(self, weights: Array, start: CellModel | None) -> CellModel:
        """Learn to fill holes, given the weights of rows."""
        W = self.seen.astype(float)
        if start is None:  # rows that are bad may still count: pull their cells in
            pulled = copy(self)
            pulled.Z = np.clip(self.Z, -CLIPPED, CLIPPED)
            return replace(self.model, factors=pulled.fit(W, weights, START_STEPS // 2))
        factors = self.fit(W, weights, START_STEPS, start.factors)
        return replace(self.model, factors=factors)

    def learn_repair(self, weights: Array, start: CellModel | None) -> CellModel:
        """Learn to fill holes and to find wrong cells, given the weights of rows."""
        if start is None:
            factors, wrong = self.start(weights)
        else:
            assert start.wrong is not None
            factors, wrong = start.factors, start.wrong
        factors, wrong = self.take_turns(factors, wrong, weights)
        return replace(self.model, factors=factors, wrong=wrong)

    def fit(
        self,
        W: Array,
        weights: Array,
        steps: int,
        start: FactorModel | None = None,
        prior: Array | None = None,
    ) -> FactorModel:
        if prior is None:
            prior = self.prior(W, weights)
        some = weights > 0
        Z, W, weights = self.Z[some], W[some], weights[some]
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
            for look in range(LOOKS):
                z = factors.deviations(Z, W).standard()
                W = (seen & (self.marginal | (np.abs(z) <= NEAR))).astype(float)
                if look == 0:
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
        z = wrong.standard(Z, factors.deviations(Z, W))
        limits = self.limits(z, W > 0, factors, weights)
        return factors, replace(wrong, limits=limits)

    def prior(self, W: Array, weights: Array) -> Array:
        """Return the variances of the columns."""
        some = weights > 0
        return column_variances(self.Z[some], W[some], weights[some])

    def limits(
        self, z: Array, good: Mask, factors: FactorModel, weights: Array
    ) -> Array:
        """Return the deviations up to which cells of either side are good."""
        rows = self.telling(good, weights) > 0
        if not rows.any():  # most cells of every row look wrong
            rows = weights > 0
        z, seen, good = z[rows], self.seen[rows], good[rows]
        unit = np.where(self.marginal, 1.0, np.sqrt(factors.noise))
        limits = reach(z + self.spread[rows] / unit, seen, good, self.marginal)
        # A cell in question must not tell what kind of row it is in.
        within = seen & (z >= -limits[0]) & (z <= limits[1])
        means, _ = factors.factors(self.Z[rows], within.astype(float))
        limits = raise_known(limits, z, seen, means)
        # Nothing is known about what lies beyond all cells: there, they may be wrong.
        farthest = np.where(seen, z, 0.0)
        farthest = RATIO * np.array([-farthest.min(axis=0), farthest.max(axis=0)])
        limits = np.where(limits < farthest, limits, farthest)
        if self.codes.any():
            codes = np.where(seen, np.abs(z), 0.0)[:, self.codes]
            limits[:, self.codes] = CODES_APART * np.quantile(codes, 0.99, axis=0)
        return limits

    @cached_property
    def spread(self) -> Array:
        """Shifts within the gaps between levels, so that counts have no gaps."""
        places = (np.arange(len(self.Z)) * GOLDEN) % 1.0 - 0.5
        return np.outer(places, self.gaps)

    def telling(self, good: Mask, weights: Array) -> Array:
        """Mark the rows that tell what wrong cells are like.

        A row with few wrong cells does, even if these made it look irregular; a row
        most of whose cells are wrong does not, even if it looks regular.
        """
        most = np.where(weights > 0, 0.5, FEW)
        few = (self.seen & ~good).sum(axis=1) <= most * self.seen.sum(axis=1)
        return np.where(few, 1.0, 0.0)

    def take_turns(
        self,
        factors: FactorModel,
        wrong: WrongCells,
        weights: Array,
    ) -> tuple[FactorModel, WrongCells]:
        """Learn the factors from good cells, and how cells are wrong, in turns."""
        Z, seen = self.Z, self.seen
        current = replace(self.model, factors=factors, wrong=wrong)
        W = current.good_cells(Z, seen)[0].astype(float)
        prior = self.prior(W, weights)
        for _ in range(TURNS):
            for _ in range(LOOKS):
                deviations = factors.deviations(Z, W)
                classes = wrong.classify(Z, seen, deviations)
                W = classes.good
            good = W > 0.5
            z = wrong.standard(Z, deviations)
            limits = self.limits(z, good, factors, weights)
            crowded = replace(self.model, wrong=wrong).crowded(good, seen)
            telling = self.telling(good, weights) * ~crowded
            wrong = learn_wrong(
                Z, classes, telling, prior, factors.noise, replace(wrong, limits=limits)
            )
            factors = self.fit(W, weights * ~crowded, TURN_STEPS, factors, prior)
        return factors, wrong


def _no_factors(D: int) -> FactorModel:
    return FactorModel(np.zeros(D), np.zeros((D, 1)), np.ones(D))


FEWEST_ROWS = 20  # with fewer, nobody can say which cells are wrong


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
