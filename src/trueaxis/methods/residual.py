"""Row-weighted methods with a robust loss of the distances from the subspace.

A weight is the derivative of the loss with respect to e, so that no step raises the sum
of losses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis.base import (
    FixedCenterMethod,
    MultistartMethod,
    choice,
    flag,
    number,
    number_or_none,
    reweighting,
)
from trueaxis.core.kernels import RowWeights
from trueaxis.core.recipes import Recipe
from trueaxis.core.reweighting import EXACT, PowerSolver
from trueaxis.core.rules import (
    BOUND,
    PowerRule,
    RowDistances,
    Rule,
    UniformRule,
    usual_guard,
)


@dataclass(eq=False)
class ScaledRule(Rule):
    """A loss with a scale c for r.

    Attributes
    ----------
    c : float or None
        None for the median of r at the start.
    """

    c: float | None = None
    row_local = True
    aim = -1
    smooth = True

    def freeze(self, distances: RowDistances) -> ScaledRule:
        """Return the rule with c set, if none is given."""
        if self.c is not None:
            return self
        # The median is 0 if half of the rows are in the subspace: any scale will do.
        c = distances.median(np.sqrt(distances.e)) or np.sqrt(usual_guard(distances))
        return replace(self, c=float(c))

    def _bounded(self, distances: RowDistances) -> ScaledRule:
        """Return the rule with a c that bounds the weights of near rows."""
        bound = np.sqrt(BOUND * distances.median(distances.e))
        return replace(self, c=max(float(bound), self.c or 0.0))

    def scaled(self, distances: RowDistances) -> tuple[float, NDArray[np.float64]]:
        """Return c, and residuals in units of c."""
        assert self.c is not None  # `freeze` comes first
        return self.c, np.sqrt(distances.e) / self.c


@dataclass(eq=False)
class HuberRule(ScaledRule):
    """Huber's loss: w = min(1, c/r).

    Minimizes the sum of r^2 where r <= c, and 2 c r - c^2 beyond.
    """

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return 0 where r <= c, and ln(c/r) beyond."""
        _, x = self.scaled(distances)
        return RowWeights(-np.log(np.maximum(1.0, x)))

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the sum of losses."""
        c, x = self.scaled(distances)
        losses = np.where(x <= 1, np.minimum(x, 1) ** 2, 2 * x - 1)
        return c**2 * distances.total(losses)


@dataclass(eq=False)
class CauchyRule(ScaledRule):
    """Cauchy's loss: w = 1 / (1 + (r/c)^2). Minimizes sum ln(1 + (r/c)^2)."""

    def weigh(self, distances: RowDistances) -> RowWeights:
        """Return -ln(1 + (r/c)^2)."""
        _, x = self.scaled(distances)
        return RowWeights(-2 * np.log(np.hypot(1.0, x)))

    def objective(self, distances: RowDistances, log_total: float) -> float:
        """Return the sum of losses."""
        _, x = self.scaled(distances)
        return distances.total(2 * np.log(np.hypot(1.0, x)))


ANNEALING_PATH = (1.5, 1.0, 0.75, 0.5, 0.35, 0.25, 0.15)


@dataclass(eq=False, repr=False, kw_only=True)
class RPCAOM(MultistartMethod):
    """Robust PCA with optimal mean: smallest sum of distances from the subspace.

    Minimizes sum sqrt(e) jointly over center and subspace, with weights
    w = 1 / (2 sqrt(e)). The center is unique only up to shifts inside the subspace.

    The objective falls at every iteration.

    Confidence: as published (the authors run 10 iterations and bound e by the machine
    epsilon; here the iterations converge, and the bound is proportional to the data).

    Parameters
    ----------
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    References
    ----------
    F. Nie, J. Yuan, H. Huang (2014): Optimal mean robust principal component analysis.

    Examples
    --------
    >>> from trueaxis.methods import RPCAOM
    >>> from trueaxis.datasets import planted
    >>> RPCAOM(3).fit(planted("ocs", share=0.1).X).converged_
    True
    """

    def _recipe(self) -> Recipe:
        return reweighting(self, PowerRule(1.0))


@dataclass(eq=False, repr=False, kw_only=True)
class R1PCA(FixedCenterMethod):
    """Rotational invariant L1-norm PCA: a robust loss of the distances r = sqrt(e).

    Minimizes sum rho(r) with a fixed center. For "huber", rho is r^2 up to c and
    2 c r - c^2 beyond, with weights w = min(1, c/r); for "cauchy" it is ln(1 + (r/c)^2)
    with w = 1 / (1 + (r/c)^2); for "l21" it is r with w = 1/r. Every iteration makes
    one step of subspace iteration.

    The objective falls at every iteration.

    Confidence: as published, from memory of the paper (c is fixed at the start).

    Parameters
    ----------
    loss : {"huber", "cauchy", "l21"}, default="huber"
        Loss rho.
    c : float or "auto", default="auto"
        Scale of the loss, in the unit of X; "auto" is the median of r in plain PCA.
        Ignored by "l21".
    center : {"mean", "median"}, default="mean"
        Fixed center: sample mean, as published, or spatial median (more robust).
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    Attributes
    ----------
    c_ : float or None
        The value of c used; None if the loss has none.

    References
    ----------
    C. Ding, D. Zhou, X. He, H. Zha (2006): R1-PCA: rotational invariant L1-norm
    principal component analysis for robust subspace factorization.

    Examples
    --------
    >>> from trueaxis.methods import R1PCA
    >>> from trueaxis.datasets import planted
    >>> model = R1PCA(3, loss="cauchy").fit(planted("scatter", share=0.1).X)
    >>> model.components_.shape
    (3, 20)
    """

    loss: Literal["huber", "cauchy", "l21"] = choice("huber", "cauchy", "l21")
    c: float | Literal["auto"] = number("auto", 1e-150, auto=True)

    _own_attributes: ClassVar[frozenset[str]] = frozenset({"c_"})

    def _recipe(self) -> Recipe:
        return reweighting(
            self,
            self._rule(),
            solver=PowerSolver(1),
            constants={"c_": ("c", None)},
        )

    def _rule(self) -> Rule:
        c = number_or_none(self.c)
        if self.loss == "l21":
            return PowerRule(1.0)
        if c is not None and c > 1e150:
            return UniformRule()
        return HuberRule(c) if self.loss == "huber" else CauchyRule(c)


@dataclass(eq=False, repr=False, kw_only=True)
class L2pPCA(FixedCenterMethod):
    """L2,p-norm PCA: smallest sum of p-th powers of the distances from the subspace.

    Minimizes sum r^p, r = sqrt(e), with a fixed center and weights w = r^(p-2).

    The objective falls at every iteration. For p < 1 every subspace through k rows is a
    local minimum; therefore p is lowered in steps, and several starts can be tried.

    Confidence: objective as published; steps and constants from code that cites the
    paper (which uses a random start, 50 power steps and p = 1).

    Parameters
    ----------
    p : float in (0, 2], default=1.0
        Power of the distances; 2 is plain PCA.
    anneal : bool, default=True
        Whether to lower p in steps if p < 1, instead of starting with p itself.
    solver : {"eigen", "power"}, default="eigen"
        Eigenvectors in every iteration, or one power step as in the authors' code. Both
        have the same fixed points.
    center : {"mean", "median"}, default="mean"
        Fixed center: sample mean, as published, or spatial median (more robust).
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`. `history_` belongs to
        the last p.

    References
    ----------
    Q. Wang, Q. Gao, X. Gao, F. Nie (2018): L2,p-norm based PCA for image recognition.

    Examples
    --------
    >>> from trueaxis.methods import L2pPCA
    >>> from trueaxis.datasets import planted
    >>> L2pPCA(3, p=0.5).fit(planted("ocs", share=0.2).X).converged_
    True
    """

    p: float = number(1.0, 0, 2)
    anneal: bool = flag(True)
    solver: Literal["eigen", "power"] = choice("eigen", "power")

    def _recipe(self) -> Recipe:
        path = ANNEALING_PATH if self.anneal else ()
        above = [p for p in path if p > self.p and self.p < 1]
        return reweighting(
            self,
            *(PowerRule(p) for p in (*above, self.p)),
            solver=EXACT if self.solver == "eigen" else PowerSolver(1),
        )
