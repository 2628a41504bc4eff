"""Learn a cell model from rows of any source, with DSWL as the judge of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.cells.factors import Array, FactorModel
from trueaxis._engine.cells.learn import learn_cells
from trueaxis._engine.cells.model import CellModel, kept_cells
from trueaxis._engine.column_spread import refuse_rounded
from trueaxis._engine.fit import Recipe, fit_with
from trueaxis._engine.problem import Problem
from trueaxis._engine.row_kernels import PValueKernel
from trueaxis._engine.starts.sample import SAMPLE_ROWS, repeated
from trueaxis.data.rows import ArrayRows, Rows

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
