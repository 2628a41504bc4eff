"""Low rank plus sparse: matrices are split, and the low rank gives the components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis._engine.iterate import IterationResult, iterate
from trueaxis._engine.lowrank.pursuit import PenalisedPursuit, PrincipalPursuit
from trueaxis._engine.problem import Problem
from trueaxis._engine.starts import equal_weights, plain_moments
from trueaxis._engine.subspace import spanned
from trueaxis._rows.base import ArrayRows
from trueaxis._validation import (
    number_or_none,
    validate_choice,
    validate_number,
    validate_rows,
    warn,
)
from trueaxis.estimators.method import Found, IteratedMethod


@dataclass(eq=False, repr=False, kw_only=True)
class Pursuit(IteratedMethod):
    """Base of methods that split X into a low rank and a sparse matrix.

    Where they find nothing of low rank (small tables), components are plain PCA's.

    Parameters
    ----------
    lam : float or "auto", default="auto"
        Price of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    centre : {"none", "median"}, default="none"
        What is taken off X before it is split.
    """

    lam: float | Literal["auto"] = "auto"
    centre: Literal["none", "median"] = "none"
    max_iter: int = 5000

    _rotatable: ClassVar[bool] = False

    def fit(self, X: ArrayLike, y: Any = None) -> Self:  # type: ignore[override]
        """Split X, and take the components of its low rank part.

        Parameters
        ----------
        X : array-like of shape (n, D)
        y : ignored

        Returns
        -------
        self
        """
        with validate_rows(self, X) as rows:
            return self._fit(rows)

    def _check(self) -> None:
        super()._check()
        self._price()
        validate_choice("centre", self.centre, ("none", "median"))

    def _price(self) -> float | None:
        return number_or_none("lam", self.lam, 0, np.inf)

    def _step(self, X: NDArray[Any]) -> PrincipalPursuit | PenalisedPursuit:
        raise TypeError(f"{type(self).__name__} does not say how to split.")

    def _search(self, problem: Problem, k: int) -> Found:
        X = problem.rows.read().astype(float)
        centre = np.zeros(X.shape[1])
        if self.centre == "median":
            centre = np.median(X, axis=0)
        step, tol = self._step(X - centre), self._tol(problem)
        result: IterationResult = iterate(
            step, step.start(), max_iter=self.max_iter, tol=tol
        )
        split = result.turn.next
        low_rank = centre + split.low_rank
        # Mean and axes are those of the low rank, variances those without gross errors.
        found = equal_weights(ArrayRows(low_rank), k)
        rows = plain_moments(ArrayRows(X - split.gross()), None).about(found.mean)
        plain = equal_weights(problem.rows, k)
        if found.total > 1e-12 * plain.total:
            found = spanned(found.basis, rows)
        elif plain.total > 0:
            self._warn_of_nothing()
            found = plain
        learnt = {"low_rank_": low_rank, "sparse_": split.sparse, "lam_": step.lam}
        return Found(found, result, learnt=learnt | self._learnt(step, split))

    def _learnt(self, step: Any, split: Any) -> dict[str, Any]:
        """Further attributes of the fitted estimator."""
        return {}

    def _warn_of_nothing(self) -> None:
        # Of small tables the default prices may leave nothing, as published; a price
        # that was chosen can be chosen otherwise.
        chosen = {
            name: getattr(self, name)
            for name in ("lam", "sigma", "gam")
            if not isinstance(getattr(self, name, "auto"), str)
        }
        if chosen:
            warn(
                f"{type(self).__name__} found nothing of low rank in X with {chosen}: "
                "its components are those of plain PCA. Choose a larger lam or gam, or "
                "a smaller sigma."
            )


@dataclass(eq=False, repr=False, kw_only=True)
class PCP(Pursuit):
    """Principal component pursuit: X = low rank + sparse, exactly.

    Minimises |L|_* + lam |S|_1 (sum of singular values, sum of absolute entries) where
    L + S = X, by the inexact augmented Lagrangian method. For gross errors in single
    cells rather than bad rows. Components and mean are those of L, variances those of
    X - S; new rows are transformed as by any other method. `n_components` does not
    enter the split.

    The objective is not monotone on the way; the end is the optimum of a convex
    problem.

    Confidence: as published with balance=inf, which on tall tables ends 1 % short of
    the optimum; the default waits for the multipliers and reaches it.

    Parameters
    ----------
    lam : float or "auto", default="auto"
        Price of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    centre : {"none", "median"}, default="none"
        What is taken off X before it is split; the paper takes off nothing, and far
        from the origin "median" is better.
    rho : float, default=1.5
        Factor by which the penalty grows; above 1.
    balance : float, default=10.0
        The penalty waits while the error of the multipliers is more than so many times
        that of L + S = X. Infinity never waits.
    n_components, max_iter, tol, random_state
        See `Method`.

    Attributes
    ----------
    low_rank_, sparse_ : ndarray of shape (n, D)
        The low rank part has the centre added again.
    lam_ : float

    References
    ----------
    J. Wright, A. Ganesh, S. Rao, Y. Peng, Y. Ma (2009): Robust principal component
    analysis: exact recovery of corrupted low-rank matrices by convex optimization.
    Z. Lin, M. Chen, Y. Ma (2010): The augmented Lagrange multiplier method for exact
    recovery of corrupted low-rank matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis import PCP
    >>> truth = np.outer(np.arange(1.0, 31), np.arange(1.0, 21))
    >>> X = truth.copy()
    >>> X[3, 4] += 500
    >>> bool(np.abs(PCP(1).fit(X).low_rank_ - truth).max() < 0.01)
    True
    """

    rho: float = 1.5
    balance: float = 10.0

    def _check(self) -> None:
        super()._check()
        validate_number("rho", self.rho, 1, 100)
        validate_number("balance", self.balance, 0, np.inf)

    def _step(self, X: NDArray[Any]) -> PrincipalPursuit:
        rho, balance = float(self.rho), float(self.balance)
        return PrincipalPursuit(X, self._price(), rho, balance)
