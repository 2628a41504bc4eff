"""The base class of all estimators: everything that a fitted subspace can do.

`Method.fit` stores a subspace and cut-offs; the methods here project rows onto the
subspace, reconstruct them, measure their distances and flag outliers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    OutlierMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from trueaxis._engine.kernels import DistanceKernel, RowRecord
from trueaxis._engine.outliers.law import Law
from trueaxis._engine.row_kernels import PValueKernel, SupportKernel
from trueaxis._engine.subspace import Subspace, orthonormal
from trueaxis._validation import fitted_rows, validate_array
from trueaxis.data.dask import dask_rows, is_dask, refuse_frames
from trueaxis.data.threads import own_floats
from trueaxis.estimators.fitted import density
from trueaxis.estimators.fitted.overview import as_html, overview


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

    loadings_ = property(density.loadings)
    singular_values_ = property(density.singular_values)
    get_covariance = density.get_covariance
    get_precision = density.get_precision
    score = density.score

    @own_floats
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

    @own_floats
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

    @own_floats
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
        return Distances(*self._measure(X, RowRecord(2, float, _distances)))

    @own_floats
    def p_values(self, X: ArrayLike) -> NDArray[np.float64]:
        """Compute the share of regular rows that lie at least as far away as each row.

        Far away inside the subspace, off it, or towards a group that stands apart. The
        tails of both distances are those that the regular rows of the fit showed, so
        that the p-values hold for skewed and heavy-tailed data, too, though only
        roughly where they are far below one over the number of rows.

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

    @own_floats
    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Compute how regular rows are: the logarithm of their p-values, to base 10.

        Parameters
        ----------
        X : array-like of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
            0 at the center; -2 for rows that one in a hundred regular rows exceeds;
            lower for outliers, without end: below -1e300, or -inf, for rows that are
            infinitely far away in units of the regular ones. Does not depend on `level`
            and `contamination`.
        """
        scores: NDArray[np.float64] = self._log_p_values(X) / np.log(10.0)
        return scores

    @own_floats
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

    @own_floats
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
        """Return what fills the holes of rows; None if holes are refused."""
        return None

    def _law(self) -> Law:
        return Law.from_arrays(self._tails, self._sides)

    def _set_line(self, offset: float) -> None:
        """Draw the line between regular rows and outliers at a score."""
        cuts = self._law().cuts(offset * float(np.log(10.0)))
        self.offset_ = offset
        self.cutoffs_ = Distances(float(np.sqrt(cuts.s)), float(np.sqrt(cuts.e)))

    def _support_kernel(self) -> SupportKernel:
        law = self._law()
        cuts = law.cuts(self.offset_ * float(np.log(10.0)))
        return SupportKernel(self._subspace(), cuts, law.sides)

    @own_floats
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
        # Imported here, as diagnostics import the estimators.
        from trueaxis.diagnostics import outlier_table

        return outlier_table(self, X, everything=everything, fdr=fdr)

    @own_floats
    def explain(self, X: ArrayLike, rows: ArrayLike | None = None) -> Any:
        """List every column of outliers, with its value and what would fit.

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

    @own_floats
    def summary(self, X: ArrayLike | None = None) -> str:
        """Summarize the fit in a few lines of text.

        Parameters
        ----------
        X : array-like of shape (n, D), optional
            Rows of the fit, or new ones, whose outliers are then counted by kind.

        Returns
        -------
        str
            Shown as it is, without `print`: see `trueaxis.diagnostics.summary`.
        """
        from trueaxis.diagnostics import summary

        return summary(self, X)

    def _repr_html_inner(self) -> str:
        html: str = super()._repr_html_inner()
        return html + self._overview_html()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] += self._overview_html()
        return bundle

    def _overview_html(self) -> str:
        """Return what notebooks show below scikit-learn's diagram of a fitted model."""
        return as_html(overview(self)) if hasattr(self, "components_") else ""

    def _measure(self, X: ArrayLike, record: RowRecord) -> Any:
        """Return the record of every row, in one pass."""
        with fitted_rows(self, X) as rows:
            return rows.each(DistanceKernel(self._subspace(), record=record))

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _subspace(self) -> Subspace:
        """Return the subspace that rows are measured from and judged with.

        It has fewer components than the model if so many were asked for that outliers
        would become part of the span.
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


def _distances(
    v: NDArray[Any], e: NDArray[Any], s: NDArray[Any]
) -> NDArray[np.float64]:
    return np.sqrt([s, e])


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
