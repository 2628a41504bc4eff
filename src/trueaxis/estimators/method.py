"""What all methods but DSWL share: check, search, judge, store.

A method is a dataclass: its fields are its parameters, `_search` its mathematics.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis._engine.iterate import IterationResult
from trueaxis._engine.problem import Problem
from trueaxis._engine.starts import GivenCentre
from trueaxis._engine.subspace import Subspace
from trueaxis._rows.base import Rows
from trueaxis._rows.checked import refuse_overflow
from trueaxis._rows.transformed import replace_uncounted
from trueaxis._validation import (
    generator,
    validate_choice,
    validate_counts,
    validate_n_components,
    validate_number,
    validate_rows,
    warn,
)
from trueaxis.estimators.base import SubspaceEstimator, reachable


class Found(NamedTuple):
    """What a search brings home.

    subspace : in the coordinates of the ground
    result : of the iteration
    weights : of one copy of every row, summing to 1 over all copies; None where the
        method has no weights
    n : number of rows that variances rest on; None for all
    learnt : further attributes of the fitted estimator
    """

    subspace: Subspace
    result: IterationResult[Any]
    weights: NDArray[np.float64] | None = None
    n: float | None = None
    learnt: dict[str, Any] = {}


@dataclass(eq=False, repr=False)
class Method(SubspaceEstimator):
    """Base of the methods that DSWL is compared with.

    Parameters
    ----------
    n_components : int, float, "auto" or None, default="auto"
        Number of components. Before the fit, and the same for every method, a float in
        (0, 1) or "auto" is turned into a number by the variances of the deepest half of
        the rows: the least that reach the share, or those above the noise. None is all.
    random_state : int, RandomState instance or None, default=0
        Seeds random starts, and the sample that cut-offs of large data come from.

    Attributes
    ----------
    components_, mean_, explained_variance_, explained_variance_ratio_, noise_variance_
        The subspace; variances are weighted where the method has weights (bounded, as
        those of rows near the subspace may be huge).
    n_components_ : int
    n_samples_ : float
        Number of rows, repetitions counted.
    weights_ : ndarray of shape (n,)
        Weights of rows, sample weights included; they sum to 1. Only of methods that
        have weights.
    support_ : ndarray of shape (n,), bool
        Rows within both cut-offs, seen without their own part in the fit.
    history_ : dict of ndarray
        "objective" (where the iteration began), "change" (of the subspace) and
        "effective" sample size, for every iteration.
    n_iter_, converged_
        Number of iterations, and whether they came to rest.
    cutoffs_, offset_
        Largest score and orthogonal distance of a regular row; -1.
    """

    n_components: int | float | Literal["auto"] | None = "auto"
    random_state: Any = field(default=0, kw_only=True)

    _rotatable: ClassVar[bool] = True

    def fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find the subspace.

        Parameters
        ----------
        X : array-like of shape (n, D)
        y : ignored
        sample_weight : array-like of shape (n,), optional
            How often each row counts. Of weights that are not whole numbers only the
            ratios matter.

        Returns
        -------
        self
        """
        with validate_rows(self, X) as rows:
            return self._fit(rows, validate_counts(sample_weight, rows.shape[0]))

    def _fit(self, rows: Rows, counts: NDArray[Any] | None = None) -> Self:
        n = rows.shape[0] if counts is None else int((counts > 0).sum())
        validate_n_components(self.n_components, n, rows.shape[1])
        self._check()
        if n < rows.shape[0] and counts is not None:
            rows = replace_uncounted(rows, counts)
        refuse_overflow(rows)
        rng = generator(self.random_state)
        problem = Problem(rows, counts, rng, rotatable=self._rotatable)
        found = self._search(problem, problem.n_components(self.n_components))
        subspace = unbiased(found.subspace, found.n or problem.n_copies)
        self._store(problem, problem.judged(subspace), found.result)
        for name, value in found.learnt.items():
            setattr(self, name, value)
        if found.weights is not None:
            w = found.weights if counts is None else counts * found.weights
            self.weights_ = rows.like_rows(w / w.sum())
        # Last, as a warning may be turned into an error.
        self._warn_unless_converged(found.result, self._tol(problem))
        if found.weights is not None:
            self._warn_if_few(self._carrying(found, w), n)
        return self

    def _tol(self, problem: Problem) -> float:
        return 0.0

    def _check(self) -> None:
        """Refuse parameters that are wrong whatever the data."""

    def _search(self, problem: Problem, k: int) -> Found:
        raise TypeError(f"{type(self).__name__} does not say how to fit.")

    def _warn_if_few(self, carry: float, n: int) -> None:
        k = self.n_components_
        if carry < min(k + 1, n - 1):
            warn(
                f"Only {carry:.3g} of {n} rows carry weight, too few for "
                f"n_components={k}: {type(self).__name__} follows single rows. Choose "
                "what weighs rows more evenly, or fewer components."
            )

    def _carrying(self, found: Found, weights: NDArray[Any]) -> float:
        # Not the effective number: rows that the subspace passes through may have
        # nearly all weight, and it is right nevertheless.
        return float((weights > 0).sum())


@dataclass(eq=False, repr=False, kw_only=True)
class IteratedMethod(Method):
    """Base of methods that iterate.

    Parameters
    ----------
    max_iter : int, default=200
        Most iterations.
    tol : float, default=1e-6
        Stop when the subspace (rms of the sines) and the objective (relative, if above
        1) change by less.
    """

    max_iter: int = 200
    tol: float = 1e-6

    def _check(self) -> None:
        validate_number("max_iter", self.max_iter, 1, np.inf, whole=True)
        validate_number("tol", self.tol, 0, np.inf)

    def _tol(self, problem: Problem) -> float:
        return reachable(self.tol, problem.given)


@dataclass(eq=False, repr=False, kw_only=True)
class StartedMethod(IteratedMethod):
    """Base of methods that can be started in several places.

    Parameters
    ----------
    n_init : int, default=1
        Number of starts; all but the first are random, and the best objective wins.
    """

    n_init: int = 1

    def _check(self) -> None:
        super()._check()
        validate_number("n_init", self.n_init, 1, np.inf, whole=True)


@dataclass(eq=False, repr=False, kw_only=True)
class AboutGivenCentre(StartedMethod):
    """Base of methods that do not learn a centre.

    Parameters
    ----------
    centre : {"mean", "median"}, default="mean"
        The sample mean, as the papers have it, or the spatial median.
    """

    centre: GivenCentre = "mean"

    def _check(self) -> None:
        super()._check()
        validate_choice("centre", self.centre, ("mean", "median"))


def unbiased(subspace: Subspace, n: float) -> Subspace:
    """Variances over n - 1 rows instead of n."""
    factor = n / max(n - 1.0, 1.0)
    variances, total = factor * subspace.variances, factor * subspace.total
    return replace(subspace, variances=variances, total=total)
