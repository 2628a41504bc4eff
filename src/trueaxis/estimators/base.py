"""What every fitted subspace can do: project, reconstruct, measure and judge rows.

A method's `fit` stores a subspace and cut-offs; this module is all that follows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    OutlierMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_array, check_is_fitted

from trueaxis._engine.kernels import DistanceKernel, RowRecord
from trueaxis._engine.outliers.judge import cutoff_ratio
from trueaxis._engine.subspace import Subspace, orthonormal
from trueaxis._rows.dask.collections import dask_rows, is_dask, refuse_frames
from trueaxis._rows.dask.rows import DaskRows
from trueaxis._validation import fitted_rows


class Distances(NamedTuple):
    """Distances of rows, or their cut-offs.

    score : inside the subspace, every component in units of its standard deviation
    orthogonal : from the row to the subspace, in the unit of the data
    """

    score: Any
    orthogonal: Any


class SubspaceEstimator(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, OutlierMixin, BaseEstimator
):
    """Base of all methods: what follows from a subspace and its cut-offs."""

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

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Scores of rows on the components.

        Parameters
        ----------
        X : array-like of shape (n, D)

        Returns
        -------
        ndarray of shape (n, n_components_)
        """
        with fitted_rows(self, X) as rows:
            if isinstance(rows, DaskRows):
                refuse_frames(self)
            # Functions that may travel to other processes leave the model at home.
            mean, axes = self.mean_, self.components_

            def project(block: NDArray[Any]) -> NDArray[Any]:
                # Center first: far from the origin, x P - m P loses the digits.
                return (block - mean) @ axes.T

            return rows.map(project, len(axes))

    def inverse_transform(self, X: ArrayLike) -> NDArray[Any]:
        """Rows that have these scores and lie in the subspace.

        Parameters
        ----------
        X : array-like of shape (n, n_components_)
            Scores.

        Returns
        -------
        ndarray of shape (n, D)
        """
        check_is_fitted(self, "components_")
        mean, axes = self.mean_, self.components_

        def back(scores: NDArray[Any]) -> NDArray[Any]:
            return scores @ axes + mean

        lazy = is_dask(X)
        kinds = [np.float64, np.float32]
        scores: Any = dask_rows(X) if lazy else check_array(X, dtype=kinds)
        if scores.shape[1] != self.n_components_:
            raise ValueError(
                f"X has {scores.shape[1]} columns, but there are {self.n_components_} "
                "components: pass what transform returned."
            )
        return scores.map(back, len(mean)) if lazy else back(scores)

    def distances(self, X: ArrayLike) -> Distances:
        """Score distance and orthogonal distance of every row.

        Parameters
        ----------
        X : array-like of shape (n, D)

        Returns
        -------
        Distances
            Two arrays of length n, `score` and `orthogonal`.
        """
        return Distances(*self._scanned(X, RowRecord(2, float, _distances)))

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """How regular rows are: minus the larger of both distances over their cut-offs.

        Parameters
        ----------
        X : array-like of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
            0 at the center, -1 on a cut-off, lower for outliers.
        """
        check_is_fitted(self, "components_")
        limits = self.cutoffs_

        def regularity(
            v: NDArray[Any], e: NDArray[Any], s: NDArray[Any]
        ) -> NDArray[Any]:
            return -np.maximum(*map(cutoff_ratio, _distances(v, e, s), limits))

        return self._scanned(X, RowRecord(1, float, regularity))[0]

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """`score_samples` shifted so that outliers are negative.

        Parameters
        ----------
        X : array-like of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike) -> NDArray[np.int_]:
        """1 for regular rows, -1 for outliers, also for rows never seen.

        Parameters
        ----------
        X : array-like of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def outliers(self, X: ArrayLike, *, everything: bool = False) -> Any:
        """Table of the outliers among rows, worst first: kind, distances, reason.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows of the fit, or new ones.
        everything : bool, default=False
            Regular rows as well.

        Returns
        -------
        pandas.DataFrame, or ndarray with named fields where pandas is not installed
            See `trueaxis.diagnostics.outlier_table`.
        """
        # Diagnostics build on estimators, and are needed here alone.
        from trueaxis.diagnostics import outlier_table

        return outlier_table(self, X, everything=everything)

    def get_covariance(self) -> NDArray[Any]:
        """Covariance of regular rows: the components, and equal noise off them.

        Returns
        -------
        ndarray of shape (D, D)
        """
        check_is_fitted(self, "components_")
        P, noise = self.components_, self.noise_variance_
        D = P.shape[1]
        return (P.T * (self.explained_variance_ - noise)) @ P + noise * np.eye(D)

    def _scanned(self, X: ArrayLike, record: RowRecord) -> NDArray[Any]:
        """What is kept of every row, in one pass."""
        with fitted_rows(self, X) as rows:
            return rows.each(DistanceKernel(self._subspace(), record=record))

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _subspace(self) -> Subspace:
        basis = self.components_.astype(float)
        if self.components_.dtype != basis.dtype:  # rounded: not quite orthonormal
            basis = orthonormal(basis)
        return Subspace(
            self.mean_.astype(float),
            basis,
            self.explained_variance_.astype(float),
            self._total_variance,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _distances(
    v: NDArray[Any], e: NDArray[Any], s: NDArray[Any]
) -> NDArray[np.float64]:
    return np.sqrt([s, e])
