"""WEIGH: what a weight formula is, equal weights, and those of DSWL.

A rule turns the distances of rows into log-weights; `reweighted` does the rest. There
are more in `losses` (of the residual), `retained` (what the subspace keeps) and
`selection` (some rows kept, the others dropped). Notation: v squared distance inside
the subspace, e off it, d = v + e, w weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from trueaxis._engine.kernels import RowWeights
from trueaxis._engine.quantiles import counted_median


class Size(NamedTuple):
    """Numbers that shares of rows and columns refer to.

    n_rows : rows that count
    n_copies : the same, repetitions included
    n_columns : columns, in the coordinates of the fit
    k : components
    """

    n_rows: int
    n_copies: float
    n_columns: int
    k: int


class RowDistances(NamedTuple):
    """What a rule sees of the rows at hand, all of them or one block.

    v, e : squared distance inside the subspace and off it
    s : squared score distance (v with every component in units of its deviation)
    carried : weight of each row (of one copy) in the fit that is looked from, None
        where that is not known
    counts : how often each row counts, None for once
    """

    v: NDArray[np.float64]
    e: NDArray[np.float64]
    s: NDArray[np.float64]
    fit_weight: NDArray[np.float64] | None = None
    counts: NDArray[np.float64] | None = None

    @property
    def d(self) -> NDArray[np.float64]:
        """Squared distance from the center."""
        return self.v + self.e

    def total(self, x: NDArray[Any]) -> float:
        """Sum over all copies of the rows."""
        return float(x.sum() if self.counts is None else _dot(self.counts, x))

    def mean(self, x: NDArray[Any]) -> float:
        """Mean over all copies of the rows."""
        return self.total(x) / self.total(np.ones_like(x))

    def median(self, x: NDArray[Any]) -> float:
        """Median over all copies of the rows."""
        return counted_median(x, self.counts)


def _dot(counts: NDArray[Any], x: NDArray[Any]) -> float:
    return float(np.dot(counts, np.where(counts > 0, x, 0.0)))


class Rule(BaseEstimator):
    """A weight formula; its parameters are reachable by a grid search.

    A rule of your own needs `weights`, and no more. `row_local` says that it uses
    nothing but a row's own distances, so that looking, weighing and summing share one
    pass over the data; others see all rows at once and pay a second pass. `aim` is 1 if
    a larger `objective` is better, -1 if a smaller one is; `proven` says that no step
    makes it worse. Steps of `smooth` rules are extrapolated then.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from trueaxis import ReweightedPCA, Rule
    >>> from trueaxis.datasets import planted
    >>> @dataclass(eq=False)
    ... class Fade(Rule):
    ...     power: float = 1.0
    ...
    ...     def weights(self, v, e, d):
    ...         return (1 + e / e.mean()) ** -self.power
    >>> model = ReweightedPCA(3, rule=Fade(2.0)).fit(planted("none").X)
    >>> model.get_params()["rule__power"]
    2.0
    """

    row_local = False
    aim = 1
    proven = False
    smooth = True

    def weights(
        self, v: NDArray[Any], e: NDArray[Any], d: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Weights of rows, not negative, up to a common factor."""
        raise TypeError(f"{type(self).__name__} has no formula for its weights.")

    def weigh(self, view: RowDistances) -> RowWeights:
        """Log-weights of the rows in view, up to a common constant."""
        v, e, d = view.v, view.e, view.d
        name = type(self).__name__ if type(self) is not FunctionRule else "The rule"
        if view.counts is None:
            return RowWeights(_logarithm(self.weights(v, e, d), v.shape, name))
        # Rows that do not count must not be seen: a formula may take medians.
        some = view.counts > 0
        v, e, d = v[some], e[some], d[some]
        log_weights = np.full(len(some), -np.inf)
        log_weights[some] = _logarithm(self.weights(v, e, d), v.shape, name)
        return RowWeights(log_weights)

    def objective(self, view: RowDistances, log_total: float) -> float:
        """What `aim` speaks of; by default the logarithm of the sum of weights."""
        return log_total

    def for_size(self, size: Size) -> Rule:
        """Return the rule with shares turned into numbers."""
        return self

    def freeze(self, view: RowDistances) -> Rule:
        """The rule with constants set by the first look at all rows."""
        return self

    def for_part(self, share: float) -> Rule:
        """The rule for a sample that is a share of the rows."""
        return self

    def about_fixed_center(self) -> Rule:
        """Return the rule for a center that is not learned."""
        return self

    def bounded(self, view: RowDistances) -> Rule:
        """The rule with bounded weights, for variances that tell of many rows."""
        return self


def _logarithm(w: Any, shape: tuple[int, ...], name: str) -> NDArray[np.float64]:
    w = np.asarray(w)
    if w.dtype.kind not in "biuf":
        raise TypeError(f"{name} gave {w.dtype} instead of numbers: return weights.")
    w = w.astype(float)
    if w.shape != shape:
        raise ValueError(
            f"{name} gave weights of shape {w.shape} for {shape[0]} rows: return one "
            "weight per row."
        )
    bad = ~(np.isfinite(w) & (w >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"{name} gave row {row} the weight {w[row]} ({bad.sum()} such rows): "
            "weights must be finite and not negative. Guard divisions, for instance "
            "by 1 / (e + 1e-10 * d.mean())."
        )
    with np.errstate(divide="ignore"):
        return np.log(w)


@dataclass(eq=False)
class FunctionRule(Rule):
    """A plain function (v, e, d) -> w of all rows."""

    function: Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], NDArray[Any]]

    def weights(
        self, v: NDArray[Any], e: NDArray[Any], d: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Ask the function."""
        return self.function(v, e, d)


@dataclass(eq=False)
class UniformRule(Rule):
    """Equal weights: plain PCA. Minimises sum e."""

    row_local = True
    aim = -1
    proven = True

    def weigh(self, view: RowDistances) -> RowWeights:
        """Zero for every row."""
        return RowWeights(np.zeros_like(view.v))

    def objective(self, view: RowDistances, log_total: float) -> float:
        """Sum of e."""
        return view.total(view.e)
