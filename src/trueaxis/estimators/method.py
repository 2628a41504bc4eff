"""The fit of every method: check, start, iterate, judge, store.

A method is a dataclass whose fields are its parameters. Its `_recipe` turns them into a
recipe that the engine carries out.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from trueaxis._engine.column_spread import refuse_rounded
from trueaxis._engine.fit import FitResult, Recipe, SearchResult, fit_with
from trueaxis._engine.moments import NoSubspace
from trueaxis._engine.problem import FillingCovariance, Problem
from trueaxis._engine.recipes import ReweightingRecipe
from trueaxis._engine.row_kernels import PValueKernel
from trueaxis._engine.rules.base import Rule
from trueaxis._engine.starts.sample import SAMPLE_ROWS
from trueaxis._engine.subspace import fix_signs
from trueaxis._validation import (
    make_rng,
    validate_counts,
    validate_n_components,
    validate_rows,
    warn,
)
from trueaxis.data.rows import ArrayRows, Rows
from trueaxis.data.threads import own_floats
from trueaxis.data.transformed import IncompleteRows, refuse_overflow, replace_uncounted
from trueaxis.estimators.base import (
    SubspaceEstimator,
    unchanged_on_error,
)
from trueaxis.estimators.parameters import (
    LEVEL,
    check_parameters,
    choice,
    number,
)


@dataclass(eq=False, repr=False)
class Method(SubspaceEstimator):
    """Base class of all methods.

    Parameters
    ----------
    n_components : int, float, "auto" or None, default="auto"
        Number of components. A float in (0, 1) asks for the fewest components that
        explain this share of the variance, "auto" for the components above the noise;
        both are decided before the fit, by the variances of the deepest half of the
        rows. None keeps all components.
    random_state : int, RandomState instance or None, default=0
        Seed of random starts, and of the sample that gives the cut-offs of large data.
    level : float in (0, 0.5], default=0.025
        Expected share of regular rows that are flagged: a row is an outlier if its
        p-value is smaller. The subspace does not depend on it.
    contamination : float in (0, 0.5], optional
        Share of all rows to flag, if known; `level` is then ignored.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, D)
        Principal axes.
    loadings_ : ndarray of shape (n_components_, D)
        Axes times the standard deviations along them.
    singular_values_ : ndarray of shape (n_components_,)
        Roots of (n - 1) times the variances along the axes.
    mean_ : ndarray of shape (D,)
        Center.
    explained_variance_ : ndarray of shape (n_components_,)
        Variances along the axes. They are weighted if the method has weights; large
        weights are bounded for this purpose.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Variances along the axes as shares of the total variance.
    noise_variance_ : float
        Mean variance in the remaining directions.
    n_components_ : int
        Number of components.
    n_samples_ : float
        Number of rows, repetitions included.
    weights_ : ndarray of shape (n,)
        Weights of the rows, sample weights included; they sum to 1. Only set by methods
        that weight rows.
    support_ : ndarray of shape (n,), bool
        Regular rows: what `predict` says about the rows of the fit.
    history_ : dict of ndarray
        For every iteration the "objective" at its start, the "change" of the subspace,
        and the "effective" sample size.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the iterations converged.
    cutoffs_ : Distances
        Largest score distance and orthogonal distance of a regular row.
    offset_ : float
        `decision_function` is `score_samples` minus `offset_`, the logarithm of the
        level to base 10.

    Notes
    -----
    Methods that iterate also have `max_iter`, the maximum number of iterations, and
    `tol`: they stop when the subspace (rms of the sines) and the objective (relative,
    if above 1) change by less.
    """

    n_components: int | float | Literal["auto"] | None = "auto"
    _: KW_ONLY
    random_state: Any = 0
    level: float = number(LEVEL, 0, 0.5)
    contamination: float | None = number(None, 0, 0.5, optional=True)

    # Names of fitted attributes that only this method has, for model files.
    _own_attributes: ClassVar[frozenset[str]] = frozenset()
    _takes_holes: ClassVar[bool] = False

    @own_floats
    def fit(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the subspace.

        Parameters
        ----------
        X : array-like of shape (n, D)
        y : ignored
        sample_weight : array-like of shape (n,), optional
            How often each row counts. If any weight is not an integer, only the ratios
            of the weights matter.

        Returns
        -------
        self

        Notes
        -----
        If a fit fails or is interrupted, the estimator is left as it was before: not
        fitted, or with the earlier fit.
        """
        with unchanged_on_error(self):
            try:
                fit = self._fit(X, sample_weight, holes=False)
            except IncompleteRows:
                if not self._takes_holes:
                    raise
                fit = None
            if fit is None:  # files show their holes only when they are read
                fit = self._fit(X, sample_weight, holes=True)
        # The fit is complete: keep it even if a warning is turned into an error.
        self._warn(fit.found)
        return self

    def _fit(self, X: Any, sample_weight: Any, *, holes: bool) -> FitResult:
        """Fit the subspace to complete rows, or to rows with holes."""
        with validate_rows(self, X, holes=holes) as rows:
            try:
                return self._fit_rows(rows, sample_weight, holes=holes)
            except NoSubspace:
                # A cause that neither weights nor distances show.
                names = getattr(self, "feature_names_in_", None)
                some = rows.take(np.arange(min(rows.shape[0], SAMPLE_ROWS)))
                refuse_rounded(some, rows.dtype, names)
                raise

    def _fit_rows(self, rows: Rows, sample_weight: Any, *, holes: bool) -> FitResult:
        counts = validate_counts(sample_weight, rows.shape[0])
        self._check(rows, counts)
        recipe = self._recipe()
        rows, filling = self._complete(rows, counts, recipe, holes)
        problem = self._build_problem(rows, counts, recipe, filling)  # start
        fit = fit_with(recipe, problem, self.n_components)  # iterate and judge
        self._store(problem, fit)
        # Rows that do not count are judged, too, like new ones.
        kernel = self._support_kernel()
        if fit.found.near is None:
            (support,), _ = rows.scan_in_place(kernel)
        else:
            support = fit.found.near.support(rows, kernel)
        self.support_ = rows.like_rows(support)
        return fit

    def _complete(
        self,
        rows: Rows,
        counts: NDArray[np.float64] | None,
        recipe: Recipe,
        holes: bool,
    ) -> tuple[Rows, FillingCovariance | None]:
        """Return rows without holes and wrong cells.

        Also return the mean covariance of filled cells about the truth, if there are
        any. Methods that do not repair cells return the rows as they are.
        """
        return rows, None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes_holes
        return tags

    def _recipe(self) -> Recipe:
        """Return the recipe of the fit for the current parameters."""
        raise TypeError(
            f"{type(self).__name__} does not define a recipe: override _recipe."
        )

    def _check(self, rows: Rows, counts: NDArray[np.float64] | None) -> None:
        n = rows.shape[0] if counts is None else int((counts > 0).sum())
        validate_n_components(self.n_components, n, rows.shape[1])
        check_parameters(self)

    def _build_problem(
        self,
        rows: Rows,
        counts: NDArray[np.float64] | None,
        recipe: Recipe,
        filling: FillingCovariance | None = None,
    ) -> Problem:
        if not recipe.ignores_far_rows:
            if counts is not None and not counts.all():
                rows = replace_uncounted(rows, counts)
            refuse_overflow(rows)
        rng = make_rng(self.random_state)
        return Problem(rows, counts, rng, rotatable=recipe.rotatable, filling=filling)

    def _store(self, problem: Problem, fit: FitResult) -> None:
        """Set all fitted attributes."""
        found, verdicts, rows = fit.found, fit.verdicts, problem.original
        subspace = problem.lift(verdicts.subspace)
        k, D, dtype = len(subspace.basis), rows.shape[1], rows.dtype
        self.n_components_ = k
        self.n_samples_ = problem.n_copies
        self.components_ = fix_signs(subspace.basis).astype(dtype)
        self.mean_ = subspace.mean.astype(dtype)
        self.explained_variance_ = subspace.variances.astype(dtype)
        self._total_variance = max(subspace.total, float(np.finfo(float).tiny))
        ratio = subspace.variances / self._total_variance
        self.explained_variance_ratio_ = ratio.astype(dtype)
        rest = subspace.total - subspace.variances.sum()
        if rest <= D * np.finfo(float).eps * subspace.total:  # a rounding error
            rest = 0.0
        self.noise_variance_ = float(rest / max(D - k, 1))
        law = problem.lift_law(verdicts.law)
        self._tails, self._sides = law.to_arrays(D)
        self._n_judging = verdicts.n_judging
        self._set_line(self._draw_line(problem))
        if found.weights is not None:
            self.weights_ = rows.like_rows(found.weights)
        self.history_ = found.iterations.history
        self.n_iter_ = found.iterations.n_iter
        self.converged_ = found.iterations.converged
        for name, value in found.attributes.items():
            setattr(self, name, value)

    def _draw_line(self, problem: Problem) -> float:
        """Return the score of the line between regular rows and outliers."""
        if self.contamination is None:
            return float(np.log10(self.level))
        rows = problem.original
        if problem.sample.large:
            rows = ArrayRows(rows.take(problem.sample.index))
        (log_p,), _ = rows.scan(PValueKernel(self._subspace(), self._law()))
        counts = np.ones(len(log_p))
        if problem.counts is not None and not problem.sample.large:
            counts = problem.counts
        used = counts > 0
        order = np.argsort(log_p[used], kind="stable")
        # Rows with a p-value of 0 are below every line that a model can have.
        ranked = np.maximum(log_p[used][order] / np.log(10.0), np.finfo(float).min)
        # The line lies between different scores: rounding must not decide about ties.
        ends = np.flatnonzero(np.diff(ranked) > 1e-9 * np.abs(ranked[1:])) + 1
        flagged = np.append(0.0, np.cumsum(counts[used][order]))
        ends = np.append(0, ends)
        n = int(ends[np.abs(flagged[ends] - self.contamination * flagged[-1]).argmin()])
        return float(ranked[n - 1 : n + 1].mean() if n else ranked[0] - 1.0)

    def _warn(self, found: SearchResult) -> None:
        if not self.converged_:
            change, tol = found.iterations.last.change, found.tol
            state = f"with a change of {change:.1e} (tol={tol:g})"
            if change <= tol:
                state = f"with an objective that still changes (tol={tol:g})"
            warn(
                f"{type(self).__name__} stopped after {self.n_iter_} iterations "
                f"{state}. Increase max_iter or tol, or inspect history_.",
                ConvergenceWarning,
            )
        for message in found.warnings:
            warn(f"{type(self).__name__}: {message}")


@dataclass(eq=False, repr=False, kw_only=True)
class IterativeMethod(Method):
    """Base class of methods that iterate.

    Parameters
    ----------
    max_iter : int, default=200
        Maximum number of iterations.
    tol : float, default=1e-6
        Tolerance: stop when both the subspace (root mean square of the sines of its
        angles) and the objective (relative, if above 1) change by less.
    """

    max_iter: int = number(200, 1, whole=True)
    tol: float = number(1e-6, 0)


@dataclass(eq=False, repr=False, kw_only=True)
class MultistartMethod(Method):
    """Base class of iterative methods that can be started several times.

    Parameters
    ----------
    max_iter, tol
        See `IterativeMethod`.
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    """

    max_iter: int = number(200, 1, whole=True)
    tol: float = number(1e-6, 0)
    n_init: int = number(1, 1, whole=True)


@dataclass(eq=False, repr=False, kw_only=True)
class FixedCenterMethod(Method):
    """Base class of multistart methods that do not learn a center.

    Parameters
    ----------
    max_iter, tol, n_init
        See `MultistartMethod`.
    center : {"mean", "median"}, default="mean"
        The sample mean, as in the papers, or the spatial median.
    """

    max_iter: int = number(200, 1, whole=True)
    tol: float = number(1e-6, 0)
    n_init: int = number(1, 1, whole=True)
    center: Literal["mean", "median"] = choice("mean", "median")


class IterationParameters(Protocol):
    """The parameters that all row-weighted methods share."""

    n_init: int
    max_iter: int
    tol: float


def reweighting(method: IterationParameters, *rules: Rule, **options: Any) -> Recipe:
    """Return the recipe of a row-weighted method; see `ReweightingRecipe`."""
    return ReweightingRecipe(
        rules,
        n_init=method.n_init,
        max_iter=method.max_iter,
        tol=method.tol,
        **options,
    )
