"""WEIGH by rank: rules that keep the q best rows and drop the others.

They see all rows at once, and so cost a second pass. Copies of a row are counted, so
that of the row on the edge only a part may be kept. Notation as in `rules`.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.kernels import RowWeights
from trueaxis._engine.rules.base import RowDistances, Rule, Size
from trueaxis._engine.rules.losses import GuardedRule

TIE = 1e-9


class Smallest(NamedTuple):
    """The q smallest values, copies counted.

    share : part of each that is among them, 0 to 1
    edge : the smallest value that is not (infinity where all are)
    """

    share: NDArray[np.float64]
    edge: float


def smallest(x: NDArray[Any], q: float, counts: NDArray[Any] | None) -> Smallest:
    """Find the q smallest values; of equal ones the first.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis._engine.rules.selection import smallest
    >>> smallest(np.array([3.0, 1.0, 2.0]), 3.0, np.array([1.0, 2.0, 2.0])).share
    array([0. , 1. , 0.5])
    """
    order = np.argsort(x, kind="stable")
    c = np.ones(len(x)) if counts is None else counts[order]
    before = np.cumsum(c) - c
    share = np.empty(len(x))
    kept = np.clip(q - before, 0.0, c)
    np.divide(kept, c, out=kept, where=c > 0)
    # What rounding of the counts leaves over is no part of a row.
    kept = np.where(np.abs(kept - np.round(kept)) < TIE, np.round(kept), kept)
    share[order] = np.where(c > 0, kept, 0.0)
    # The first value of which a copy is left out.
    out = (c > 0) & (before + c > q * (1 + 1e-12))
    return Smallest(share, float(x[order[out.argmax()]]) if out.any() else np.inf)


def _log(share: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.log(share)


@dataclass(frozen=True)
class Selection:
    """How many rows to keep, before the size of the data is known.

    Attributes
    ----------
    q : int or float
        Their number, or their share.
    left_out : int
        Number of rows that must be left out.
    """

    q: int | float
    left_out: int = 0

    def count(self, size: Size) -> float:
        """Return the number of rows to keep, copies counted; raise if impossible."""
        n, q, k = size.n_copies, self.q, size.k
        least, most = min(k + 2, size.n_rows), n - self.left_out
        if not isinstance(q, numbers.Integral):
            return float(np.clip(np.ceil(float(q) * n - 1e-9), min(least, most), most))
        if q > most:
            raise ValueError(
                f"q={q} rows are to be kept, but X has {n:g}: choose at most {most:g}, "
                "or a share."
            )
        if q < least:
            raise ValueError(
                f"q={q} rows are to be kept for {k} components, but through {k + 1} "
                f"rows or fewer some subspace fits exactly: choose at least {least} "
                f"of the {n:g} rows, or a share."
            )
        return float(q)


@dataclass(eq=False)
class SelectingRule(Rule):
    """A rule that keeps q rows."""

    q: float | Selection
    smooth = False
    aim = -1

    def for_size(self, size: Size) -> SelectingRule:
        """Return the rule with the number of rows to keep."""
        if not isinstance(self.q, Selection):
            return self
        return replace(self, q=self.q.count(size))

    def for_part(self, share: float) -> SelectingRule:
        """Return the rule that keeps the same share of a sample."""
        return replace(self, q=share * self.count)

    @property
    def count(self) -> float:
        """Number of rows to keep."""
        assert not isinstance(self.q, Selection)  # `for_size` comes first
        return self.q


@dataclass(eq=False)
class NearestRule(SelectingRule, GuardedRule):
    """The q rows nearest the subspace, w = r^(p-2). Minimises the sum of their r^p.

    p = 2 weighs them alike (DRPCA), p = 1 truncates RPCA-OM (T-RPCA).
    """

    p: float = 2.0
    row_local = False
    proven = True

    def weigh(self, view: RowDistances) -> RowWeights:
        """(p/2 - 1) ln e, or minus infinity."""
        share = smallest(view.e, self.count, view.counts).share
        power = self.p / 2 - 1
        return RowWeights(_log(share) + power * np.log(self.guarded(view.e)))

    def objective(self, view: RowDistances, log_total: float) -> float:
        """Sum of the q smallest r^p."""
        share = smallest(view.e, self.count, view.counts).share
        return view.total(share * self.guarded(view.e) ** (self.p / 2))


Gamma = Literal["adaptive", "frozen"]


@dataclass(eq=False)
class NeighbourRule(SelectingRule):
    """RWL-AN: weights on the simplex that minimise sum w e + gamma sum w^2.

    gamma "adaptive" is chosen in every round so that q weights are positive; "frozen"
    keeps that of the first round, and then every step lowers the objective; a number is
    used as it is.
    """

    gamma: Gamma | float = "adaptive"

    @property
    def proven(self) -> bool:  # type: ignore[override]
        """Nothing is promised while gamma changes."""
        return self.gamma != "adaptive"

    def for_part(self, share: float) -> NeighbourRule:
        """As many of a sample as of all rows, whose weights are larger there."""
        gamma = self.gamma if isinstance(self.gamma, str) else share * self.gamma
        return replace(self, q=share * self.count, gamma=gamma)

    def freeze(self, view: RowDistances) -> NeighbourRule:
        """Set gamma by the first look, if it is to be frozen."""
        if self.gamma != "frozen":
            return self
        return replace(self, gamma=max(self.solved(view)[0], np.finfo(float).tiny))

    def solved(self, view: RowDistances) -> tuple[float, NDArray[np.float64]]:
        """Return gamma, and the weights of one copy of every row (all sum to 1)."""
        if not isinstance(self.gamma, str):
            gamma, counts = float(self.gamma), view.counts
            nearest = (view.e if counts is None else view.e[counts > 0]).min()
            with np.errstate(over="ignore"):
                return gamma, project_on_simplex((nearest - view.e) / gamma / 2, counts)
        share, edge = smallest(view.e, self.count, view.counts)
        missing = np.maximum(edge - view.e, 0.0)
        # The gamma that leaves q rows: half the sum of what they lack to the edge.
        gamma = 0.5 * view.total(share * missing)
        if gamma == 0:  # the q nearest are equally near: let them count alike
            return gamma, share / view.total(share)
        return gamma, missing / (2 * gamma)

    def weigh(self, view: RowDistances) -> RowWeights:
        """Logarithm of the weights."""
        return RowWeights(_log(self.solved(view)[1]))

    def objective(self, view: RowDistances, log_total: float) -> float:
        """Sum of w e + gamma w^2."""
        gamma, w = self.solved(view)
        if np.isinf(gamma):  # then the second sum is constant
            return view.total(w * view.e)
        return view.total(w * (view.e + gamma * w))


def project_on_simplex(
    x: NDArray[Any], counts: NDArray[Any] | None
) -> NDArray[np.float64]:
    """Nearest weights that are not negative and, over all copies, sum to 1."""
    order = np.argsort(-x, kind="stable")
    c = np.ones(len(x)) if counts is None else counts[order]
    # The largest is 0, so that no digits are lost; what is infinitely far is just far.
    z = np.maximum(x[order] - x[order[0]], -1e200)
    total, n = np.cumsum(c * z), np.cumsum(c)
    # Lower all by one amount, and cut at zero; find how many stay above.
    above = (c > 0) & (1.0 + n * z > total)
    last = len(x) - 1 - above[::-1].argmax()
    lowered = (total[last] - 1.0) / n[last]
    out = np.empty(len(x))
    out[order] = np.maximum(z - lowered, 0.0)
    return out


Ratio = Literal["tan", "sin2"]


@dataclass(eq=False)
class RatioRule(SelectingRule, GuardedRule):
    """RPCA-RP: the q rows with the smallest e/d, which also give the center.

    "tan" : w = d / (sqrt(e) v^1.5), gradient of sqrt(e/v)
    "sin2" : w = 1/d, gradient of e/d; with a fixed center the sum falls
    """

    ratio: Ratio = "tan"
    centre_fixed: bool = False
    row_local = False

    @property
    def proven(self) -> bool:  # type: ignore[override]
        """For "sin2" about a fixed center only."""
        return self.ratio == "sin2" and self.centre_fixed

    def about_fixed_center(self) -> RatioRule:
        """Return the rule for a center that is not learned."""
        return replace(self, centre_fixed=True)

    def score(self, view: RowDistances) -> NDArray[np.float64]:
        """Return e/d, infinite on the center, where it means nothing."""
        there = self.off_center(view) & (view.d > 0)
        return np.where(there, view.e / np.where(there, view.d, 1.0), np.inf)

    def weigh(self, view: RowDistances) -> RowWeights:
        """Log-weights of the rows that are kept; they are the core."""
        score = self.score(view)
        share = smallest(score, self.count, view.counts).share
        # All copies of the last row are in the core.
        core = score <= score[share > 0].max() * (1 + TIE)
        v, e = self.guarded(view.v), self.guarded(view.e)
        if self.ratio == "tan":
            log_weights = np.log(v + e) - 0.5 * np.log(e) - 1.5 * np.log(v)
        else:
            log_weights = -np.log(v + e)
        return RowWeights(_log(share) + log_weights, core)

    def objective(self, view: RowDistances, log_total: float) -> float:
        """Sum of the q smallest e/d, or of their sqrt(e/v)."""
        v, e = self.guarded(view.v), self.guarded(view.e)
        x = np.sqrt(e / v) if self.ratio == "tan" else e / (v + e)
        share = smallest(self.score(view), self.count, view.counts).share
        return view.total(share * x)
