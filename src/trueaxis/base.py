"""The base class of all methods: the fit, and everything that a fitted subspace can do.

A method is a dataclass whose fields are its parameters, declared with the values that
are valid, as in ``tol: float = number(1e-6, 0)``. A fit follows the same steps for all
of them: check, start, iterate, judge, store. The stored subspace and null distribution
suffice to project, reconstruct, measure and judge rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    OutlierMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from trueaxis._validation import (
    fitted_rows,
    make_rng,
    validate_array,
    validate_choice,
    validate_count_or_share,
    validate_counts,
    validate_flag,
    validate_n_components,
    validate_number,
    validate_rows,
    warn,
)
from trueaxis.core.columns import refuse_rounded
from trueaxis.core.kernels import DistanceKernel
from trueaxis.core.law import Law
from trueaxis.core.moments import NoSubspace
from trueaxis.core.problem import FillingCovariance, Problem
from trueaxis.core.recipes import (
    FitResult,
    Recipe,
    ReweightingRecipe,
    SearchRecipe,
    fit_with,
)
from trueaxis.core.rules import Rule
from trueaxis.core.starts import SAMPLE_ROWS
from trueaxis.core.subspace import Subspace, fix_signs, orthonormal
from trueaxis.core.verdicts import PValueKernel, SupportKernel
from trueaxis.data.dask import dask_rows, is_dask, refuse_frames
from trueaxis.data.rows import ArrayRows, Rows
from trueaxis.data.threads import ignore_float_errors
from trueaxis.data.transformed import IncompleteRows, refuse_overflow, replace_uncounted


class Distances(NamedTuple):
    """Distances of rows, or their cut-offs.

    Attributes
    ----------
    score : ndarray of shape (n,), or float
        Distance from the center inside the subspace, with every component in units of
        its standard deviation.
    orthogonal : ndarray of shape (n,), or float
        Distance from the subspace, in the unit of the data.
    """

    score: Any
    orthogonal: Any


class SubspaceEstimator(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # scikit-learn is untyped
    TransformerMixin,  # type: ignore[misc]
    OutlierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Base class of all methods: what a fitted subspace and its cut-offs provide."""

    components_: NDArray[Any]
    mean_: NDArray[Any]
    explained_variance_: NDArray[Any]
    explained_variance_ratio_: NDArray[Any]
    noise_variance_: float
    n_components_: int
    n_samples_: float
    weights_: NDArray[np.float64]
    support_: NDArray[np.bool_]
    cutoffs_: Distances
    offset_: float
    history_: dict[str, NDArray[np.float64]]
    n_iter_: int
    converged_: bool
    _total_variance: float
    _tails: NDArray[np.float64]
    _sides: NDArray[np.float64]
    _n_judging: int

    @property
    @ignore_float_errors
    def loadings_(self) -> NDArray[Any]:
        """Components times the standard deviations along them, (n_components_, D).

        One component per row, as in `components_`. A loading is the covariance of a
        column with a component of variance 1: if the columns are scaled to variance 1,
        their correlation. With L for the loadings and P for the components, the
        covariance is ``L.T @ L + noise_variance_ * (I - P.T @ P)``.
        """
        check_is_fitted(self, "components_")
        deviations = np.sqrt(self.explained_variance_)
        scaled: NDArray[Any] = self.components_ * deviations[:, None]
        return scaled

    @property
    @ignore_float_errors
    def singular_values_(self) -> NDArray[Any]:
        """Singular values of the rows if all of them varied as the regular rows do.

        As in scikit-learn's PCA, they are ``sqrt((n - 1) * explained_variance_)``,
        where n counts all rows of the fit, outliers included.
        """
        check_is_fitted(self, "components_")
        variances = self.explained_variance_
        values = np.sqrt(max(self.n_samples_ - 1, 0.0) * variances)
        return np.asarray(values, dtype=variances.dtype)

    @ignore_float_errors
    def get_covariance(self) -> NDArray[Any]:
        """Compute the covariance of regular rows.

        It has the variances of the components along them, and the noise variance in all
        other directions.

        Returns
        -------
        ndarray of shape (D, D)
        """
        check_is_fitted(self, "components_")
        P, noise = self.components_, self.noise_variance_
        D = P.shape[1]
        excess = (P.T * (self.explained_variance_ - noise)) @ P
        return np.asarray(excess + noise * np.eye(D))

    @ignore_float_errors
    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Compute the scores of rows on the components.

        Parameters
        ----------
        X : array-like of shape (n, D)

        Returns
        -------
        ndarray of shape (n, n_components_)
        """
        with fitted_rows(self, X) as rows:
            if rows.lazy:
                refuse_frames(self)
            # Dask sends the function to its workers: keep the whole model out of it.
            mean, axes = self.mean_, self.components_

            def project(block: NDArray[Any]) -> Any:
                # Center first: x P - m P loses digits far from the origin.
                return (block - mean) @ axes.T

            scores: NDArray[Any] = rows.map(project, len(axes))
            return scores

    @ignore_float_errors
    def inverse_transform(self, X: ArrayLike) -> NDArray[Any]:
        """Map scores back to rows in the subspace.

        Parameters
        ----------
        X : array-like of shape (n, n_components_)
            Scores, as returned by `transform`.

        Returns
        -------
        ndarray of shape (n, D)
        """
        check_is_fitted(self, "components_")
        mean, axes = self.mean_, self.components_

        def reconstruct(scores: NDArray[Any]) -> Any:
            return scores @ axes + mean

        lazy = is_dask(X)
        scores: Any = dask_rows(X) if lazy else validate_array(X)
        if scores.shape[1] != self.n_components_:
            raise ValueError(
                f"X has {scores.shape[1]} columns, but there are {self.n_components_} "
                "components: pass the scores that transform returned."
            )
        rows: NDArray[Any] = (
            scores.map(reconstruct, len(mean)) if lazy else reconstruct(scores)
        )
        return rows

    @ignore_float_errors
    def distances(self, X: ArrayLike) -> Distances:
        """Compute the score distance and the orthogonal distance of every row.

        Parameters
        ----------
        X : array-like of shape (n, D)

        Returns
        -------
        Distances
            Two arrays of shape (n,): `score`, the distance from the center inside the
            subspace with every component in units of its standard deviation, and
            `orthogonal`, the distance from the subspace in the unit of the data. Both
            are infinite where squares overflow (values above 1e150).
        """
        with fitted_rows(self, X) as rows:
            _, e, s = rows.each(DistanceKernel(self._subspace()))
        return Distances(np.sqrt(s), np.sqrt(e))

    @ignore_float_errors
    def p_values(self, X: ArrayLike) -> NDArray[np.float64]:
        """Compute the share of regular rows that lie at least as far away as each row.

        A row may be far away by its score distance, by its orthogonal distance, or
        toward a separate cluster. The null distribution of both distances is estimated
        from the regular rows of the fit, so that the p-values are also valid for skewed
        and heavy-tailed data, but only approximate if they are far below one over the
        number of rows.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows of the fit, or new ones.

        Returns
        -------
        ndarray of shape (n,)
            1 at the center, near 0 for outliers.
        """
        p_values: NDArray[np.float64] = np.exp(self._log_p_values(X))
        return p_values

    @ignore_float_errors
    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Compute how regular rows are: the logarithm of their p-values, to base 10.

        Parameters
        ----------
        X : array-like of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
            0 at the center; -2 for rows that one in a hundred regular rows exceeds;
            lower for outliers, without bound: below -1e300, or -inf, for rows that are
            infinitely far away in units of the regular ones. Does not depend on `level`
            and `contamination`.
        """
        scores: NDArray[np.float64] = self._log_p_values(X) / np.log(10.0)
        return scores

    @ignore_float_errors
    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Compute `score_samples`, shifted so that outliers are negative.

        Parameters
        ----------
        X : array-like of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
            -inf where `score_samples` is.
        """
        return self.score_samples(X) - self.offset_

    @ignore_float_errors
    def predict(self, X: ArrayLike) -> NDArray[np.int_]:
        """Label rows as regular or as outliers.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows of the fit, or new ones. For rows of the fit, the answer is `support_`.

        Returns
        -------
        ndarray of shape (n,)
            1 for regular rows, -1 for outliers.
        """
        with fitted_rows(self, X) as rows:
            (regular,) = rows.each(self._support_kernel())
        return np.where(regular, 1, -1)

    def _log_p_values(self, X: ArrayLike) -> NDArray[np.float64]:
        with fitted_rows(self, X) as rows:
            log_p: NDArray[np.float64] = rows.each(
                PValueKernel(self._subspace(), self._law())
            )[0]
            return log_p

    def _repair(self) -> Any:
        """Return the model that fills missing cells; None if rows must be complete."""
        return None

    def _law(self) -> Law:
        return Law.from_arrays(self._tails, self._sides)

    def _set_threshold(self, offset: float) -> None:
        """Set the score below which rows are outliers."""
        cuts = self._law().cuts(offset * float(np.log(10.0)))
        self.offset_ = offset
        self.cutoffs_ = Distances(float(np.sqrt(cuts.s)), float(np.sqrt(cuts.e)))

    def _support_kernel(self) -> SupportKernel:
        law = self._law()
        cuts = law.cuts(self.offset_ * float(np.log(10.0)))
        return SupportKernel(self._subspace(), cuts, law.sides)

    @ignore_float_errors
    def outliers(
        self, X: ArrayLike, *, everything: bool = False, fdr: float | None = None
    ) -> Any:
        """List the outliers among rows, worst first: kind, distances and reason.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows of the fit, or new ones.
        everything : bool, default=False
            Whether to list regular rows as well.
        fdr : float in (0, 1), optional
            Expected share of regular rows among the outliers. If given, the outliers
            are those that Benjamini and Hochberg's procedure finds in the p-values,
            instead of those of `predict`.

        Returns
        -------
        pandas.DataFrame, or ndarray with named fields if pandas is not installed
            Indexed by the labels of the rows: see
            `trueaxis.diagnostics.outlier_table`.
        """
        # Imported here, because diagnostics import the estimators.
        from trueaxis.diagnostics import outlier_table

        return outlier_table(self, X, everything=everything, fdr=fdr)

    @ignore_float_errors
    def explain(self, X: ArrayLike, rows: ArrayLike | None = None) -> Any:
        """List every column of outliers, with its value and the value that would fit.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows of the fit, or new ones.
        rows : sequence of int, optional
            Positions of the rows, from 0; by default those of all outliers.

        Returns
        -------
        pandas.DataFrame, or ndarray with named fields if pandas is not installed
            One line per row and column: see `trueaxis.diagnostics.explain`.
        """
        from trueaxis.diagnostics import explain

        return explain(self, X, rows)

    @ignore_float_errors
    def summary(self) -> str:
        """Summarize the fit in a few lines of text.

        Returns
        -------
        str
            Shown as it is, without `print`: see `trueaxis.diagnostics.summary`.
        """
        from trueaxis.diagnostics import summary

        return summary(self)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _subspace(self) -> Subspace:
        """Return the subspace that rows are measured from and judged with.

        It has fewer components than the model if outliers would be part of the span of
        all of them.
        """
        return self._whole_subspace().leading(self._n_judging)

    def _whole_subspace(self) -> Subspace:
        """Return the subspace of all components."""
        basis = self.components_.astype(float)
        if self.components_.dtype != basis.dtype:  # rounded, so not quite orthonormal
            basis = orthonormal(basis)
        return Subspace(
            self.mean_.astype(float),
            basis,
            self.explained_variance_.astype(float),
            self._total_variance,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@contextmanager
def unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Undo all changes of an estimator if a fit fails.

    Otherwise the number of columns of the new data would be left alongside the
    components of an earlier fit.
    """
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


LEVEL = 0.025  # default of `level`


def checked(default: Any, check: Callable[[str, Any], None]) -> Any:
    """Declare a parameter with its own check, which raises if a value is invalid."""
    return dataclasses.field(default=default, metadata={"check": check})


def number(default: Any, low: float, high: float = np.inf, **options: Any) -> Any:
    """Declare a number in (low, high]; see `validate_number` for the options."""
    return checked(default, partial(validate_number, low=low, high=high, **options))


def choice(default: str, *others: str) -> Any:
    """Declare a string with a few valid values, the default first."""
    return checked(default, partial(validate_choice, choices=(default, *others)))


def flag(default: bool) -> Any:
    """Declare a boolean parameter."""
    return checked(default, validate_flag)


def count_or_share(default: int | float | None, **options: Any) -> Any:
    """Declare a number of rows or columns, or a share of them; or None if optional."""
    return checked(default, partial(validate_count_or_share, **options))


def number_or_none(value: Any) -> float | None:
    """Return a valid number as a float, or None for "auto"."""
    return None if isinstance(value, str) else float(value)


def check_parameters(estimator: Any) -> None:
    """Raise if a parameter of a dataclass is not valid."""
    for parameter in dataclasses.fields(estimator):
        check = parameter.metadata.get("check")
        if check is not None:
            check(parameter.name, getattr(estimator, parameter.name))


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
        Regular rows: the answer of `predict` for the rows of the fit.
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
    _takes_missing: ClassVar[bool] = False
    # Whether the answer is the same in any orthonormal coordinates.
    _rotatable: ClassVar[bool] = True

    @ignore_float_errors
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
                fit = self._fit(X, sample_weight, missing_ok=False)
            except IncompleteRows:
                if not self._takes_missing:
                    raise
                fit = None
            if fit is None:  # missing cells of files are only found while reading
                fit = self._fit(X, sample_weight, missing_ok=True)
        # The fit is complete: keep it even if a warning is turned into an error.
        self._warn(fit)
        return self

    def _fit(self, X: Any, sample_weight: Any, *, missing_ok: bool) -> FitResult:
        """Fit the subspace to complete rows, or to rows with missing cells."""
        with validate_rows(self, X, missing_ok=missing_ok) as rows:
            try:
                return self._fit_rows(rows, sample_weight, missing_ok=missing_ok)
            except NoSubspace:
                # Weights and distances cannot reveal that columns vary by rounding
                # only.
                names = getattr(self, "feature_names_in_", None)
                some = rows.take(np.arange(min(rows.shape[0], SAMPLE_ROWS)))
                refuse_rounded(some, rows.dtype, names)
                raise

    def _fit_rows(
        self, rows: Rows, sample_weight: Any, *, missing_ok: bool
    ) -> FitResult:
        counts = validate_counts(sample_weight, rows.shape[0])
        self._check(rows, counts)
        recipe = self._recipe()
        rows, filling = self._complete(rows, counts, recipe, missing_ok)
        problem = self._build_problem(rows, counts, recipe, filling)  # start
        fit = fit_with(recipe, problem, self.n_components)  # iterate and judge
        self._store(problem, fit)
        # Rows of weight 0 are judged, too, like new rows.
        (self.support_,), _ = rows.scan(self._support_kernel())
        return fit

    def _complete(
        self,
        rows: Rows,
        counts: NDArray[np.float64] | None,
        recipe: Recipe,
        missing_ok: bool,
    ) -> tuple[Rows, FillingCovariance | None]:
        """Return rows with missing cells filled and wrong cells replaced.

        Also return the mean covariance of filled cells about the truth, if there are
        any. Methods that do not repair cells return the rows as they are.
        """
        return rows, None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes_missing
        return tags

    def _recipe(self) -> Recipe:
        """Return the recipe of the fit for the current parameters."""
        return SearchRecipe(self._search, self._rotatable)

    def _search(self, problem: Problem, k: int) -> FitResult:
        """Find a subspace with k components."""
        raise TypeError(
            f"{type(self).__name__} does not say how to fit: override _search or "
            "_recipe."
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
        verdicts, rows = fit.verdicts, problem.original
        subspace = problem.hull.lift(verdicts.subspace)
        k, D, dtype = len(subspace.basis), rows.shape[1], rows.dtype
        self.n_components_ = k
        self.n_samples_ = problem.total_weight
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
        self._set_threshold(self._score_threshold(problem))
        if fit.weights is not None:
            self.weights_ = fit.weights
        self.history_ = fit.iterations.history
        self.n_iter_ = fit.iterations.n_iter
        self.converged_ = fit.iterations.converged
        for name, value in fit.attributes.items():
            setattr(self, name, value)

    def _score_threshold(self, problem: Problem) -> float:
        """Return the score below which rows are outliers."""
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
        # Rows with a p-value of 0 are below every threshold that a model can have.
        ranked = np.maximum(log_p[used][order] / np.log(10.0), np.finfo(float).min)
        # The threshold lies between different scores, so that rounding decides no ties.
        ends = np.flatnonzero(np.diff(ranked) > 1e-9 * np.abs(ranked[1:])) + 1
        flagged = np.append(0.0, np.cumsum(counts[used][order]))
        ends = np.append(0, ends)
        n = int(ends[np.abs(flagged[ends] - self.contamination * flagged[-1]).argmin()])
        return float(ranked[n - 1 : n + 1].mean() if n else ranked[0] - 1.0)

    def _warn(self, fit: FitResult) -> None:
        if not self.converged_:
            change, tol = fit.iterations.last.change, fit.tol
            state = f"with a change of {change:.1e} (tol={tol:g})"
            if change <= tol:
                state = f"with an objective that still changes (tol={tol:g})"
            warn(
                f"{type(self).__name__} stopped after {self.n_iter_} iterations "
                f"{state}. Increase max_iter or tol, or inspect history_.",
                ConvergenceWarning,
            )
        for message in fit.warnings:
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
class MultistartMethod(IterativeMethod):
    """Base class of iterative methods that can be started several times.

    Parameters
    ----------
    max_iter, tol
        See `IterativeMethod`.
    n_init : int, default=1
        Number of starts. All but the first are random; the best objective wins.
    """

    n_init: int = number(1, 1, whole=True)


@dataclass(eq=False, repr=False, kw_only=True)
class FixedCenterMethod(MultistartMethod):
    """Base class of multistart methods that do not learn a center.

    Parameters
    ----------
    max_iter, tol, n_init
        See `MultistartMethod`.
    center : {"mean", "median"}, default="mean"
        The sample mean, as in the papers, or the spatial median.
    """

    center: Literal["mean", "median"] = choice("mean", "median")


def reweighting(method: MultistartMethod, *rules: Rule, **options: Any) -> Recipe:
    """Return the recipe of a row-weighted method; see `ReweightingRecipe`.

    Its center is the parameter `center` of the method, if there is one.
    """
    return ReweightingRecipe(
        rules,
        center=getattr(method, "center", "weighted"),
        n_init=method.n_init,
        max_iter=method.max_iter,
        tol=method.tol,
        **options,
    )
