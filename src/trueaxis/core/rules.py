"""Weight formulas: the base class, equal and user-defined weights, powers.

A rule turns the distances of rows into log-weights; `reweighting` does the rest. Other
rules stand next to the methods that use them. Notation: v squared distance inside the
subspace, e orthogonal to it, d = v + e, r = sqrt(e), w weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from trueaxis.core.kernels import RowWeights
from trueaxis.core.moments import counted_median

if TYPE_CHECKING:
    from trueaxis.core.problem import Problem


class RowDistances(NamedTuple):
    """Distances of rows from a subspace: of all rows, or of one block.

    Attributes
    ----------
    v, e : ndarray
        Squared distances inside the subspace and orthogonal to it.
    s : ndarray
        Squared score distances: v with every component in units of its deviation.
    fit_weight : ndarray or None
        Weight of each row (of one repetition) in the fit of the subspace; None if
        unknown.
    counts : ndarray or None
        How often each row counts; None for once.
    """

    v: NDArray[np.float64]
    e: NDArray[np.float64]
    s: NDArray[np.float64]
    fit_weight: NDArray[np.float64] | None = None
    counts: NDArray[np.float64] | None = None

    @property
    def d(self) -> NDArray[np.float64]:
        """Squared distances from the center."""
        return self.v + self.e

    def of(self, index: NDArray[np.intp]) -> RowDistances:
        """Return the distances of some rows, each of which counts once."""
        return RowDistances(self.v[index], self.e[index], self.s[index])

    def total(self, x: NDArray[Any]) -> float:
        """Return the sum over all repetitions of the rows."""
        return float(x.sum() if self.counts is None else _dot(self.counts, x))

    def mean(self, x: NDArray[Any]) -> float:
        """Return the mean over all repetitions of the rows."""
        return self.total(x) / self.total(np.ones_like(x))

    def median(self, x: NDArray[Any]) -> float:
        """Return the median over all repetitions of the rows."""
        return counted_median(x, self.counts)


def _dot(counts: NDArray[Any], x: NDArray[Any]) -> float:
    return float(np.dot(counts, np.where(counts > 0, x, 0.0)))


class Rule(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A weight formula, whose parameters a grid search can set.

    A custom rule needs to define `weights` only.

    Attributes
    ----------
    row_local : bool
        Whether a weight depends on the row's own distances only. Then a step takes one
        pass over the data; otherwise the rule sees all rows at once, which takes a
        second pass.
    aim : {1, -1}
        1 if a larger `objective` is better, -1 if a smaller one is.
    smooth : bool
        Whether the weights depend smoothly on the distances, and no step makes the
        objective worse: then steps are extrapolated.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from trueaxis.methods import ReweightedPCA, Rule
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
    smooth = False

    def weights(
        self, v: NDArray[Any], e: NDArray[Any], d: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Return the weights of rows, not negative, up to a common factor."""
        raise TypeError(f"{type(self).__name__} has no formula: define `weights`.")

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return the log-weights of rows, up to a common constant."""
        v, e, d = distances.v, distances.e, distances.d
        name = type(self).__name__ if type(self) is not FunctionRule else "The rule"
        if distances.counts is None:
            return RowWeights(_logarithm(self.weights(v, e, d), v.shape, name))
        # Pass only rows that count: the formula may compute medians.
        some = distances.counts > 0
        v, e, d = v[some], e[some], d[some]
        log_weights = np.full(len(some), -np.inf)
        log_weights[some] = _logarithm(self.weights(v, e, d), v.shape, name)
        return RowWeights(log_weights)

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the objective; by default the logarithm of the sum of weights."""
        return log_total

    def _for_problem(self, problem: Problem, k: int) -> Rule:
        """Return the rule with shares turned into numbers."""
        return self

    def freeze(self, distances: RowDistances) -> Rule:
        """Return the rule with constants set by the distances of all rows."""
        return self

    def for_part(self, share: float) -> Rule:
        """Return the rule for a sample that has this share of the rows."""
        return self

    def _bounded(self, distances: RowDistances) -> Rule:
        """Return the rule with bounded weights, for computing variances."""
        return self


def _logarithm(w: Any, shape: tuple[int, ...], name: str) -> NDArray[np.float64]:
    w = np.asarray(w)
    if w.dtype.kind not in "biuf":
        raise TypeError(f"{name} returned {w.dtype}: return weights, as numbers.")
    w = w.astype(float)
    if w.shape != shape:
        raise ValueError(
            f"{name} returned weights of shape {w.shape} for {shape[0]} rows: return "
            "one weight per row."
        )
    bad = ~(np.isfinite(w) & (w >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"{name} gave row {row} the weight {w[row]} ({bad.sum()} such rows): "
            "weights must be finite and not negative. Guard divisions, for example as "
            "in 1 / (e + 1e-10 * d.mean())."
        )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(w))


@dataclass(eq=False)
class FunctionRule(Rule):
    """Weights by a plain function (v, e, d) -> w of all rows."""

    function: Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], NDArray[Any]]

    def weights(
        self, v: NDArray[Any], e: NDArray[Any], d: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Call the function."""
        return self.function(v, e, d)


@dataclass(eq=False)
class UniformRule(Rule):
    """Equal weights: plain PCA. Minimizes sum e."""

    row_local = True
    aim = -1
    smooth = True

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return zeros."""
        return RowWeights(np.zeros_like(distances.v))

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the sum of e."""
        return distances.total(distances.e)


# Share of the mean squared distance that guards divisions. With an absolute guard, the
# weights of rows in the subspace may exceed the precision of the sums, and objectives
# rise.
GUARD = 1e-10
BOUND = 0.1  # share of the median squared distance that bounds weights
LEAST = float(np.finfo(float).tiny)


def usual_guard(distances: RowDistances) -> float:
    """Return the constant that is added to squared distances before dividing."""
    return max(GUARD * distances.mean(distances.d), LEAST)


@dataclass(eq=False, kw_only=True)
class GuardedRule(Rule):
    """A formula that divides by squared distances plus a small guard.

    Attributes
    ----------
    guard : float or None
        None to set it in proportion to the data.
    """

    guard: float | None = None
    row_local = True

    def freeze(self, distances: RowDistances) -> GuardedRule:
        """Return the rule with its guard set, if none is given."""
        if self.guard is not None:
            return self
        return replace(self, guard=usual_guard(distances))

    def _bounded(self, distances: RowDistances) -> GuardedRule:
        """Return the rule with a guard that bounds the weights of near rows."""
        bound = BOUND * distances.median(self.nearness(distances))
        return replace(self, guard=max(bound, self.guard or 0.0))

    def nearness(self, distances: RowDistances) -> NDArray[np.float64]:
        """Return the squared distances that the formula divides by."""
        return distances.e

    def guarded(self, d2: NDArray[Any]) -> NDArray[np.float64]:
        """Return squared distances that are safe to divide by."""
        assert self.guard is not None  # `freeze` comes first
        return d2 + self.guard

    def off_center(self, distances: RowDistances) -> NDArray[np.bool_]:
        """Mark the rows that are not at the center, and so have a direction.

        If all rows are at the center, all are marked.
        """
        assert self.guard is not None  # `freeze` comes first
        return (distances.d > GUARD * self.guard) | (self.guard <= LEAST)


@dataclass(eq=False)
class PowerRule(GuardedRule):
    """Power loss: w = e^(p/2 - 1). Minimizes sum r^p."""

    p: float
    aim = -1
    smooth = True

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return (p/2 - 1) ln e."""
        return RowWeights((self.p / 2 - 1) * np.log(self.guarded(distances.e)))

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the sum of r^p."""
        return distances.total(self.guarded(distances.e) ** (self.p / 2))
