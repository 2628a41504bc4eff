"""Row-weighted methods with a robust loss of the distance from the subspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from trueaxis._engine.fit import Recipe
from trueaxis._engine.reweighted import EXACT, Powers
from trueaxis._engine.rules.base import Rule, UniformRule
from trueaxis._engine.rules.losses import CauchyRule, HuberRule, PowerRule
from trueaxis.estimators.method import FixedCenterMethod, MultistartMethod, reweighting
from trueaxis.estimators.parameters import (
    choice,
    flag,
    number,
    number_or_none,
    renamed_center,
)

ANNEALING_PATH = (1.5, 1.0, 0.75, 0.5, 0.35, 0.25, 0.15)


@dataclass(eq=False, repr=False, kw_only=True)
class RPCAOM(MultistartMethod):
    """Robust PCA with optimal mean: least sum of distances from the subspace.

    Minimises sum sqrt(e) over center and subspace together, by w = 1 / (2 sqrt(e)).
    The center is determined only up to moves inside the subspace.

    The objective falls at every iteration.

    Confidence: as published (the authors run 10 iterations and guard by the machine
    epsilon; here to convergence, with a guard in proportion to the data).

    Parameters
    ----------
    n_init : int, default=1
        Number of starts; all but the first are subspaces of a few random rows, and the
        best objective wins.
    n_components, max_iter, tol, random_state
        See `Method`.

    References
    ----------
    F. Nie, J. Yuan, H. Huang (2014): Optimal mean robust principal component analysis.

    Examples
    --------
    >>> from trueaxis import RPCAOM
    >>> from trueaxis.datasets import planted
    >>> RPCAOM(3).fit(planted("ocs", share=0.1).X).converged_
    True
    """

    def _recipe(self) -> Recipe:
        return reweighting(
            self,
            PowerRule(1.0),
        )


@dataclass(eq=False, repr=False, kw_only=True)
class R1PCA(FixedCenterMethod):
    """Rotational invariant L1-norm PCA: a robust loss of the distance r = sqrt(e).

    Minimises sum rho(r) about a fixed center: rho is r^2 up to c and 2 c r - c^2 beyond
    ("huber", w = min(1, c/r)), ln(1 + (r/c)^2) ("cauchy", w = 1 / (1 + (r/c)^2)) or r
    itself ("l21", w = 1/r). One step of subspace iteration per round.

    The objective falls at every iteration.

    Confidence: as published, from memory of the paper (c is fixed at the start).

    Parameters
    ----------
    loss : {"huber", "cauchy", "l21"}, default="huber"
    c : float or "auto", default="auto"
        Where the loss turns, in the unit of X; "auto" is the median of r in plain PCA.
        Not used by "l21".
    center : {"mean", "median"}, default="mean"
        The sample mean, as published, or the spatial median, which bad rows move less.
    centre : deprecated
        Old spelling of `center`.
    n_init : int, default=1
        Number of starts; all but the first are subspaces through random rows, and the
        best objective wins.
    n_components, max_iter, tol, random_state
        See `Method`.

    Attributes
    ----------
    c_ : float or None
        The c used.

    References
    ----------
    C. Ding, D. Zhou, X. He, H. Zha (2006): R1-PCA: rotational invariant L1-norm
    principal component analysis for robust subspace factorization.

    Examples
    --------
    >>> from trueaxis import R1PCA
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
            center=renamed_center(self),
            solver=Powers(1),
            learned={"c_": ("c", None)},
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
    """L2,p-norm PCA: least sum of p-th powers of the distances from the subspace.

    Minimises sum r^p, r = sqrt(e), about a fixed center, by w = r^(p-2).

    The objective falls at every iteration. For p < 1 every subspace through k rows is a
    trap: so p comes down from 2 in steps, and several starts can be tried.

    Confidence: objective as published; steps and constants from code that cites the
    paper (there: random start, 50 rounds of the power step, p = 1).

    Parameters
    ----------
    p : float in (0, 2], default=1.0
        2 is plain PCA.
    anneal : bool, default=True
        For p < 1, come down to p from above instead of starting there.
    solver : {"eigen", "power"}, default="eigen"
        Eigenvectors in every round, or one power step as in the authors' code; both
        come to rest at the same places.
    center : {"mean", "median"}, default="mean"
        The sample mean, as published, or the spatial median, which bad rows move less.
    centre : deprecated
        Old spelling of `center`.
    n_init : int, default=1
        Number of starts; all but the first are subspaces through random rows, and the
        best objective wins.
    n_components, max_iter, tol, random_state
        See `Method`. `history_` is that of the last p.

    References
    ----------
    Q. Wang, Q. Gao, X. Gao, F. Nie (2018): L2,p-norm based PCA for image recognition.

    Examples
    --------
    >>> from trueaxis import L2pPCA
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
            center=renamed_center(self),
            solver=EXACT if self.solver == "eigen" else Powers(1),
        )
