"""The Gaussian density that a fitted subspace stands for, in the terms of PCA.

The functions of a model are its methods and properties: see `SubspaceEstimator`. They
need the subspace only, so models from files have them, too. Notation: y = x - m,
t = P y, variances a_j along the k rows of P, and c in all other directions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from trueaxis._engine.subspace import Subspace
from trueaxis._validation import raw_rows
from trueaxis.data.rows import Kernel
from trueaxis.data.threads import own_floats

LN_2_PI = float(np.log(2 * np.pi))


@own_floats
def loadings(model: Any) -> NDArray[Any]:
    """Components times the standard deviations along them, (n_components_, D).

    One component per row, as in `components_`. A loading is the covariance of a column
    with a component of variance 1: if the columns are scaled to variance 1, their
    correlation. With L for the loadings and P for the components, the covariance is
    ``L.T @ L + noise_variance_ * (I - P.T @ P)``.
    """
    check_is_fitted(model, "components_")
    deviations = np.sqrt(model.explained_variance_)
    scaled: NDArray[Any] = model.components_ * deviations[:, None]
    return scaled


@own_floats
def singular_values(model: Any) -> NDArray[Any]:
    """Singular values of as many rows that all vary as the regular rows do.

    As in scikit-learn's PCA, they are ``sqrt((n - 1) * explained_variance_)``, where n
    counts all rows of the fit, outliers included.
    """
    check_is_fitted(model, "components_")
    variances = model.explained_variance_
    values = np.sqrt(max(model.n_samples_ - 1, 0.0) * variances)
    return np.asarray(values, dtype=variances.dtype)


@own_floats
def get_covariance(model: Any) -> NDArray[Any]:
    """Compute the covariance of regular rows.

    It has the variances of the components along them, and the noise variance in all
    other directions.

    Returns
    -------
    ndarray of shape (D, D)
    """
    check_is_fitted(model, "components_")
    P, noise = model.components_, model.noise_variance_
    D = P.shape[1]
    excess = (P.T * (model.explained_variance_ - noise)) @ P
    return np.asarray(excess + noise * np.eye(D))


@own_floats
def get_precision(model: Any) -> NDArray[Any]:
    """Compute the inverse of the covariance of regular rows.

    Returns
    -------
    ndarray of shape (D, D)

    Raises
    ------
    ValueError
        If the regular rows do not vary in some direction.
    """
    check_is_fitted(model, "components_")
    variances, (k, D) = model.explained_variance_, model.components_.shape
    if not variances.min() > 0 or (k < D and not model.noise_variance_ > 0):
        raise ValueError(
            "The covariance has no inverse: the regular rows do not vary in some "
            f"direction ({k} components of {D} columns, {model.n_samples_:g} rows). "
            "Ask for fewer components, or drop columns that are constant or follow "
            "from others."
        )
    density = density_of(model)
    P, c = density.axes, density.noise
    excess = (P.T * (1 / density.variances - 1 / c)) @ P
    return np.asarray(excess + np.eye(D) / c)


@own_floats
def score(model: Any, X: ArrayLike, y: Any = None) -> float:
    """Compute the mean log-likelihood of rows, as scikit-learn's PCA does.

    The rows are taken for normally distributed about `mean_` with the covariance
    `get_covariance()`. Holes are left out: a row with holes has the likelihood of the
    cells that are there. Wrong cells are not replaced. `score_samples` is another
    measure: the logarithm of p-values, by which outliers are found.

    A single outlier may outweigh all other rows. To compare models, score rows that are
    regular, such as ``X[model.predict(X) == 1]``. In directions in which the regular
    rows do not vary at all, a variance of 1e-20 of the total is assumed.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Rows of the fit, or new ones.
    y : ignored

    Returns
    -------
    float
    """
    density = density_of(model)
    with raw_rows(model, X) as rows:
        _, total = rows.scan(LogDensityKernel(density))
        return float(total[0]) / rows.shape[0]


def density_of(model: Any) -> FactoredGaussian:
    """Return the density of regular rows, with variances that are safe to divide by."""
    check_is_fitted(model, "components_")
    subspace: Subspace = model._whole_subspace()
    variances = subspace.floored_variances()
    if len(variances) == len(subspace.mean):
        # The excess over any c will do; over the least variance, it is no deficit.
        noise = float(variances.min())
    else:
        rest = np.array([model.noise_variance_], dtype=float)
        noise = float(replace(subspace, variances=rest).floored_variances()[0])
    return FactoredGaussian(subspace.mean, subspace.basis, variances, noise)


class FactoredGaussian:
    """Gaussian density with variances a_j along k axes, and c in other directions.

    Parameters
    ----------
    mean : ndarray of shape (D,)
    axes : ndarray of shape (k, D)
    variances : ndarray of shape (k,)
    noise : float
        c; any number below the variances if k = D.
    """

    def __init__(
        self,
        mean: NDArray[np.float64],
        axes: NDArray[np.float64],
        variances: NDArray[np.float64],
        noise: float,
    ) -> None:
        self.mean, self.axes, self.variances = mean, axes, variances
        self.noise = noise

    def log_density(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Return the log-density of rows; of the cells that are there, with holes."""
        seen = ~np.isnan(rows)
        complete = seen.all(axis=1)
        y = np.where(seen, rows - self.mean, 0.0)
        out = np.empty(len(rows))
        # Squares of values like 1e300 overflow: their density is 0, as intended.
        with np.errstate(over="ignore", invalid="ignore"):
            out[complete] = self._complete(y[complete])
            if not complete.all():
                out[~complete] = self._holed(y[~complete], seen[~complete])
        out[np.isnan(out)] = -np.inf  # inf - inf
        return out

    def _complete(self, y: NDArray[Any]) -> NDArray[np.float64]:
        (k, D), a, c = self.axes.shape, self.variances, self.noise
        t = y @ self.axes.T
        distance = np.square(t) @ (1 / a)
        log_volume = np.log(a).sum()
        if k < D:
            distance += np.square(y - t @ self.axes).sum(axis=1) / c
            log_volume += (D - k) * np.log(c)
        return np.asarray(-0.5 * (D * LN_2_PI + log_volume + distance))

    def _holed(self, y: NDArray[Any], seen: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the log-density of the cells that are there; y is 0 in holes.

        Their covariance is c I + P'(a - c)P, with the seen columns of P only.
        Woodbury's identity and the determinant lemma leave k equations for every row.
        """
        P, c, n_seen = self.axes, self.noise, seen.sum(axis=1)
        k, D = P.shape
        b = self.variances / c - 1
        pairs = (P[:, None] * P[None]).reshape(k * k, D)
        G = (seen @ pairs.T).reshape(-1, k, k)
        A = np.eye(k) + b[:, None] * G
        t = y @ P.T
        z = np.linalg.solve(A, (b * t)[..., None])[..., 0]
        residual = np.where(seen, y - z @ P, 0.0)
        left = t - np.einsum("ijk,ik->ij", G, z)
        distance = np.square(residual).sum(axis=1) + (z * left).sum(axis=1)
        log_volume = n_seen * np.log(c) + np.linalg.slogdet(A)[1]
        return np.asarray(-0.5 * (n_seen * LN_2_PI + log_volume + distance / c))


class LogDensityKernel(Kernel):
    """Kernel that adds up the log-densities of rows."""

    title = "log-likelihood"

    def __init__(self, density: FactoredGaussian) -> None:
        self.density = density

    def start(self) -> NDArray[np.float64]:
        """Return an empty sum."""
        return np.zeros(1)

    def absorb(
        self, state: NDArray[np.float64], block: NDArray[Any], first: int
    ) -> None:
        """Add the rows of a block."""
        state += self.density.log_density(block.astype(float, copy=False)).sum()

    def merge(
        self, state: NDArray[np.float64], other: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Add the sum of later rows to that of earlier ones."""
        return state + other
