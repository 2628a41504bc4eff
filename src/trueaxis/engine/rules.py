"""WEIGH: every weight formula, side by side.

A rule turns the distances of rows into log-weights; `reweighted` does the rest, and
`selection` has the rules that keep some rows and drop the others. Notation: v squared
distance inside the subspace, e off it, d = v + e, r = sqrt(e), w weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from trueaxis.engine.calibrate import calibrate
from trueaxis.engine.kernels import Weighing
from trueaxis.engine.quantiles import counted_median

# Of the mean squared distance. An absolute guard lets objectives rise: rows in the
# subspace get weights beyond what the sums can hold.
GUARD = 1e-10
CALM = 0.1  # of the median squared distance


class View(NamedTuple):
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
    carried: NDArray[np.float64] | None = None
    counts: NDArray[np.float64] | None = None

    @property
    def d(self) -> NDArray[np.float64]:
        """Squared distance from the centre."""
        return self.v + self.e

    def total(self, x: NDArray) -> float:
        """Sum over all copies of the rows."""
        return float(x.sum() if self.counts is None else _dot(self.counts, x))

    def mean(self, x: NDArray) -> float:
        """Mean over all copies of the rows."""
        return self.total(x) / self.total(np.ones_like(x))

    def median(self, x: NDArray) -> float:
        """Median over all copies of the rows."""
        return counted_median(x, self.counts)


def _dot(counts: NDArray, x: NDArray) -> float:
    return float(np.dot(counts, np.where(counts > 0, x, 0.0)))


class Rule(BaseEstimator):
    """A weight formula; its parameters are reachable by a grid search.

    A rule of your own needs `weights`, and no more. `row_local` says that it uses
    nothing but a row's own distances, so that looking, weighing and summing share one
    pass over the data; others see all rows at once and pay a second pass. `sense` is 1
    or -1 if every step raises or lowers the `objective`, 0 if it may do either; the
    steps of `smooth` rules are extrapolated.

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
    sense = 0
    smooth = True

    def weights(self, v: NDArray, e: NDArray, d: NDArray) -> NDArray[np.float64]:
        """Weights of rows, not negative, up to a common factor."""
        raise TypeError(f"{type(self).__name__} has no formula for its weights.")

    def weigh(self, view: View) -> Weighing:
        """Log-weights of the rows in view, up to a common constant."""
        v, e, d = view.v, view.e, view.d
        name = type(self).__name__ if type(self) is not FunctionRule else "The rule"
        if view.counts is None:
            return Weighing(_logarithm(self.weights(v, e, d), v.shape, name))
        # Rows that do not count must not be seen: a formula may take medians.
        some = view.counts > 0
        v, e, d = v[some], e[some], d[some]
        log_weights = np.full(len(some), -np.inf)
        log_weights[some] = _logarithm(self.weights(v, e, d), v.shape, name)
        return Weighing(log_weights)

    def objective(self, view: View, log_total: float) -> float:
        """What `sense` speaks of; by default the logarithm of the sum of weights."""
        return log_total

    def freeze(self, view: View) -> Rule:
        """The rule with constants set by the first look at all rows."""
        return self

    def calm(self, view: View) -> Rule:
        """The rule with bounded weights, for variances that tell of many rows."""
        return self


def _logarithm(w: Any, shape: tuple[int, ...], name: str) -> NDArray[np.float64]:
    w = np.asarray(w)
    if w.dtype.kind not in "biuf":
        raise TypeError(f"{name} gave {w.dtype} instead of numbers: return weights.")
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

    function: Callable[[NDArray, NDArray, NDArray], NDArray]

    def weights(self, v: NDArray, e: NDArray, d: NDArray) -> NDArray[np.float64]:
        """Ask the function."""
        return self.function(v, e, d)


@dataclass(eq=False)
class UniformRule(Rule):
    """Equal weights: plain PCA. Minimises sum e."""

    row_local = True
    sense = -1

    def weigh(self, view: View) -> Weighing:
        """Zero for every row."""
        return Weighing(np.zeros_like(view.v))

    def objective(self, view: View, log_total: float) -> float:
        """Sum of e."""
        return view.total(view.e)


# ------------------------------------------------------------------------- DSWL


@dataclass(eq=False)
class EntropyRule(Rule):
    """DSWL with given temperatures: w = exp(-(v/a + e/b + d/c)).

    a, b and c are n times the paper's tau_a, tau_b and tau_c. Its three softmaxes are
    merged in log space, because apart they overflow; and as d = v + e only 1/a + 1/c
    and 1/b + 1/c matter. The sum of weights rises if b <= a.
    """

    a: float
    b: float
    c: float
    row_local = True
    sense = 1

    def weigh(self, view: View) -> Weighing:
        """Return -(v/a + e/b + d/c)."""
        inside, off = 1 / self.a + 1 / self.c, 1 / self.b + 1 / self.c
        return Weighing(-(inside * view.v + off * view.e))


@dataclass(eq=False)
class TrustRule(Rule):
    """DSWL calibrated anew in every round, so that a share `trust` of the rows counts.

    Not row-local: the temperatures are medians and a perplexity over all rows.
    """

    trust: float

    def weigh(self, view: View) -> Weighing:
        """Calibrate, then weigh with those temperatures."""
        temperatures = calibrate(view.v, view.e, self.trust)
        return EntropyRule(*temperatures).weigh(view)


# ------------------------------------------------- concave losses of the residual


@dataclass(eq=False, kw_only=True)
class GuardedRule(Rule):
    """A formula that divides by distances, which get a little more to be safe."""

    guard: float | None = None
    row_local = True

    def freeze(self, view: View) -> GuardedRule:
        """Guard in proportion to the data, if no guard is given."""
        return replace(self, guard=self._guard(view))

    def _guard(self, view: View) -> float:
        if self.guard is not None:
            return self.guard
        return max(GUARD * view.mean(view.d), float(np.finfo(float).tiny))

    def calm(self, view: View) -> GuardedRule:
        """No row may weigh much more than usual because it is near."""
        usual = CALM * view.median(self.nearness(view))
        return replace(self, guard=max(usual, self.guard or 0.0))

    def nearness(self, view: View) -> NDArray[np.float64]:
        """The squared distances that the formula divides by."""
        return view.e

    def guarded(self, d2: NDArray) -> NDArray[np.float64]:
        """Squared distances that are safe to divide by."""
        assert self.guard is not None  # `freeze` comes first
        return d2 + self.guard


@dataclass(eq=False)
class PowerRule(GuardedRule):
    """w = e^(p/2 - 1). Minimises sum r^p."""

    p: float
    sense = -1

    def weigh(self, view: View) -> Weighing:
        """(p/2 - 1) ln e."""
        return Weighing((self.p / 2 - 1) * np.log(self.guarded(view.e)))

    def objective(self, view: View, log_total: float) -> float:
        """Sum of r^p."""
        return view.total(self.guarded(view.e) ** (self.p / 2))


@dataclass(eq=False)
class ResidualScaleRule(GuardedRule):
    """A loss with a scale c for r; None takes the median of r at the first look."""

    c: float | None = None
    sense = -1

    def freeze(self, view: View) -> ResidualScaleRule:
        """Set c, and the guard."""
        guard, c = self._guard(view), self.c
        if c is None:
            # Half of the rows in the subspace exactly: any positive residual will do.
            c = view.median(np.sqrt(view.e)) or np.sqrt(guard)
        return replace(self, guard=guard, c=float(c))

    def ratio(self, view: View) -> NDArray[np.float64]:
        """Residuals in units of c."""
        assert self.c is not None  # `freeze` comes first
        return np.sqrt(view.e) / self.c


@dataclass(eq=False)
class HuberRule(ResidualScaleRule):
    """w = min(1, c/r). Minimises sum of r^2 up to c, of 2 c r - c^2 beyond."""

    def weigh(self, view: View) -> Weighing:
        """0 up to c, ln(c/r) beyond."""
        return Weighing(-np.log(np.maximum(1.0, self.ratio(view))))

    def objective(self, view: View, log_total: float) -> float:
        """Sum of losses, in units of c^2."""
        x = self.ratio(view)
        return view.total(np.where(x <= 1, np.minimum(x, 1) ** 2, 2 * x - 1))


@dataclass(eq=False)
class CauchyRule(ResidualScaleRule):
    """w = 1 / (1 + (r/c)^2). Minimises sum ln(1 + (r/c)^2)."""

    def weigh(self, view: View) -> Weighing:
        """-ln(1 + (r/c)^2)."""
        return Weighing(-2 * np.log(np.hypot(1.0, self.ratio(view))))

    def objective(self, view: View, log_total: float) -> float:
        """Sum of losses, in units of c^2."""
        return view.total(2 * np.log(np.hypot(1.0, self.ratio(view))))


@dataclass(eq=False)
class AdaptiveRule(ResidualScaleRule):
    """w = (r + 2 c) / (r + c)^2. Minimises sum r^2 / (r + c): from r to r^2."""

    def weigh(self, view: View) -> Weighing:
        """ln((x + 2) / (x + 1)^2), x = r/c."""
        x = self.ratio(view)
        return Weighing(np.log(x + 2) - 2 * np.log(x + 1))

    def objective(self, view: View, log_total: float) -> float:
        """Sum of losses, in units of c."""
        x = self.ratio(view)
        return view.total(x * (x / (x + 1)))


# --------------------------------------------- measures of what the subspace keeps


@dataclass(eq=False)
class LengthRule(GuardedRule):
    """w = 1 / sqrt(v). With power steps it maximises sum sqrt(v)."""

    sense = 1

    def nearness(self, view: View) -> NDArray[np.float64]:
        """Distance inside the subspace."""
        return view.v

    def weigh(self, view: View) -> Weighing:
        """-ln(v) / 2."""
        return Weighing(-0.5 * np.log(self.guarded(view.v)))

    def objective(self, view: View, log_total: float) -> float:
        """Sum of projected lengths."""
        return view.total(np.sqrt(self.guarded(view.v)))


@dataclass(eq=False)
class AngleRule(GuardedRule):
    """Ratio of projected length to residual, sqrt(v) / sqrt(e + g^2), g = `gamma`.

    exact : w = d / (sqrt(v) e^1.5), its gradient; with power steps the sum rises
    not exact : w = d / (sqrt(v) e), gradient of sum sqrt(d) artanh(sqrt(v / d))

    Of the guarded distances, all of them. `gamma` None is the median residual at the
    first look.
    """

    gamma: float | None = None
    exact: bool = True

    @property
    def sense(self) -> int:  # type: ignore[override]
        """Proven for the gradient only."""
        return 1 if self.exact else 0

    def freeze(self, view: View) -> AngleRule:
        """Set gamma, and the guard."""
        guard, gamma = self._guard(view), self.gamma
        if gamma is None:
            gamma = np.sqrt(view.median(view.e)) or np.sqrt(guard)
        return replace(self, guard=guard, gamma=float(gamma))

    def nearness(self, view: View) -> NDArray[np.float64]:
        """Distance inside the subspace; off it gamma is the guard."""
        return view.v

    def both(self, view: View) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Distances inside and off the subspace that are safe to divide by."""
        assert self.gamma is not None  # `freeze` comes first
        return self.guarded(view.v), view.e + self.gamma**2

    def weigh(self, view: View) -> Weighing:
        """Logarithm of the formula."""
        v, e = self.both(view)
        power = 1.5 if self.exact else 1.0
        return Weighing(np.log(v + e) - 0.5 * np.log(v) - power * np.log(e))

    def objective(self, view: View, log_total: float) -> float:
        """Sum of sqrt(v / e), or of sqrt(d) artanh(sqrt(v / d))."""
        v, e = self.both(view)
        if self.exact:
            return view.total(np.sqrt(v / e))
        d = v + e
        return view.total(np.sqrt(d) * np.arctanh(np.sqrt(v / d)))


Membership = Literal["ratio", "root", "norm", "raw"]


@dataclass(eq=False)
class MembershipRule(GuardedRule):
    """RPCA-DI: w = lambda / d, lambda = exp((inside - off) / tau).

    inside and off are what a row has in the subspace and off it, by `membership`:
    "ratio" v/d and e/d, "root" their roots, "norm" sqrt(v) and sqrt(e), "raw" v and e.
    With a fixed centre and "ratio" the sum of lambda rises.
    """

    tau: float = 1.0
    membership: Membership = "ratio"

    @property
    def sense(self) -> int:  # type: ignore[override]
        """Proven for "ratio" only."""
        return 1 if self.membership == "ratio" else 0

    def log_lambda(self, view: View) -> NDArray[np.float64]:
        """How much more a row belongs into the subspace than off it."""
        v, e = view.v, view.e
        if self.membership in ("ratio", "root"):
            d = np.maximum(view.d, np.finfo(float).tiny)
            v, e = v / d, e / d
        if self.membership in ("root", "norm"):
            v, e = np.sqrt(v), np.sqrt(e)
        return (v - e) / self.tau

    def nearness(self, view: View) -> NDArray[np.float64]:
        """Distance from the centre."""
        return view.d

    def weigh(self, view: View) -> Weighing:
        """Ln lambda - ln d; a row on the centre says nothing and is left out."""
        d, least = view.d, np.finfo(float).tiny
        assert self.guard is not None  # `freeze` comes first
        on_centre = d <= GUARD * self.guard
        log_weights = self.log_lambda(view) - np.log(np.maximum(d, self.guard))
        if self.guard <= least:  # unless all rows are there
            on_centre[:] = False
        return Weighing(np.where(on_centre, -np.inf, log_weights))

    def objective(self, view: View, log_total: float) -> float:
        """Logarithm of the sum of lambda."""
        x = self.log_lambda(view)
        top = x.max()
        return float(top + np.log(view.total(np.exp(x - top))))
