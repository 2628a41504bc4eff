"""A factor model of rows with holes: what a cell should be, given the others.

Rows are x = mean + L f + noise, with independent standard normal factors f, and noise
of its own variance in every column. The model is richer than the k components of a fit:
to fill a hole is to use all that the other columns know. Notation: n rows, D columns, r
factors; W are the weights of cells, 0 for holes and 1 for good cells; L is D x r.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.core.subspace import axes_of_few, top_eigen

Array = NDArray[np.float64]

# The prior of a column, in cells: so many more had its variance, without any factor,
# and this share of it is noise.
PRIOR_CELLS = 3.0
PRIOR_NOISE = 0.1
USELESS = 0.05  # factors that explain less, in units of the noise, are dropped
LEAST_NOISE = 0.05  # of the variance, at the start
TINY = float(np.finfo(float).tiny)
UNCERTAIN = 1e-6  # smallest share of noise in the variance of a prediction


class Prediction(NamedTuple):
    """What the good cells of rows say about each of their cells.

    Attributes
    ----------
    fitted : ndarray of shape (n, D)
        Expected values, given the good cells of the row.
    spread : ndarray of shape (n, D)
        Variances of the fitted values.
    """

    fitted: Array
    spread: Array


class Deviations(NamedTuple):
    """Differences of cells from what the other good cells of their row say.

    Attributes
    ----------
    difference : ndarray of shape (n, D)
    variance : ndarray of shape (n, D)
        Of a good cell.
    fitted : ndarray of shape (n, D)
        Expected values, given all good cells.
    """

    difference: Array
    variance: Array
    fitted: Array

    def standard(self) -> Array:
        """Return the differences in standard deviations."""
        return self.difference / np.sqrt(self.variance)


@dataclass(frozen=True)
class FactorModel:
    """Mean, loadings and noise of rows.

    Attributes
    ----------
    mean : ndarray of shape (D,)
    loadings : ndarray of shape (D, r)
    noise : ndarray of shape (D,)
        Variances.
    """

    mean: Array
    loadings: Array
    noise: Array

    def factors(self, X: Array, W: Array) -> tuple[Array, Array]:
        """Return means and covariances of the factors of rows, given their cells.

        The covariances are upper triangles, one column per row.
        """
        L, r = self.loadings, self.loadings.shape[1]
        Q = W / self.noise
        precision = _products(L).T @ Q.T
        precision[_diagonal(r)] += 1.0
        covariance = invert(precision, r)
        scores = (Q * (X - self.mean)) @ L
        return _times(covariance, scores), covariance

    def predict(self, X: Array, W: Array) -> Prediction:
        """Return the expected values of all cells of rows, and their variances."""
        means, covariance = self.factors(X, W)
        r = self.loadings.shape[1]
        doubled = _products(self.loadings) * _multiplicity(r)
        spread = covariance.T @ doubled.T
        return Prediction(self.mean + means @ self.loadings.T, spread)

    def fill(self, X: Array, W: Array) -> Array:
        """Return the expected values of all cells of rows."""
        return self.mean + self.factors(X, W)[0] @ self.loadings.T

    def deviations(self, X: Array, W: Array) -> Deviations:
        """Compare every cell with what the other good cells of its row say."""
        fitted, spread = self.predict(X, W)
        without = spread / self.noise
        without *= W
        np.subtract(1.0, without, out=without)
        np.maximum(without, UNCERTAIN, out=without)
        difference = np.subtract(X, fitted)
        difference /= without
        spread /= without
        spread += self.noise
        return Deviations(difference, spread, fitted)

    def filling_covariance(
        self, X: Array, W: Array, weights: Array, frame: Array | None = None
    ) -> Array:
        """Return the mean covariance of filled cells about the truth.

        Filled values vary less than true ones: the covariance of rows is that of filled
        rows, plus this. It is that of the coordinates along the rows of `frame`, if
        given.
        """
        covariance, r = self.factors(X, W)[1], self.loadings.shape[1]
        holes = np.sqrt(weights)[:, None] * (1.0 - W)
        noise = (weights @ np.square(1.0 - W)) * self.noise
        total = np.diag(noise) if frame is None else (frame * noise) @ frame.T
        square = covariance[_square(r)].T
        for root in np.linalg.cholesky(square.reshape(-1, r, r)).transpose(2, 0, 1):
            part = holes * (root @ self.loadings.T)
            if frame is not None:
                part = part @ frame.T
            total += part.T @ part
        filling: Array = total / weights.sum()
        return filling

    def rotated(self) -> FactorModel:
        """Return the same model with orthogonal factors, by decreasing strength.

        Factors that explain next to nothing are left out.
        """
        unit = np.sqrt(self.noise)[:, None]
        U, strength, _ = np.linalg.svd(self.loadings / unit, full_matrices=False)
        kept = max(1, int((np.square(strength) > USELESS).sum()))
        return FactorModel(self.mean, unit * U[:, :kept] * strength[:kept], self.noise)


def start_factors(X: Array, W: Array, weights: Array, r: int) -> FactorModel:
    """Return a model by the correlations of pairs of columns, where both are good."""
    D, mean = X.shape[1], column_means(X, W, weights)
    variance = column_variances(X, W, weights)
    Y = W * (X - mean) / np.sqrt(variance)
    if len(X) < D:
        # Pairs are counted by their columns: a matrix of all pairs would be large.
        pairs = np.sqrt(weights @ W + 1.0)
        axes, values = axes_of_few(np.sqrt(weights)[:, None] * Y / pairs, r)
    else:
        weighted = weights[:, None] * W
        correlation = (weights[:, None] * Y).T @ Y / (weighted.T @ W + 1.0)
        axes, values = top_eigen(correlation, r)
    rest = max((D - values.sum()) / max(D - r, 1), LEAST_NOISE)
    loadings = axes.T * np.sqrt(np.maximum(values - rest, 0.01))
    noise = np.maximum(1.0 - np.square(loadings).sum(axis=1), LEAST_NOISE)
    unit = np.sqrt(variance)
    return FactorModel(mean, unit[:, None] * loadings, variance * noise)


def column_means(X: Array, W: Array, weights: Array) -> Array:
    """Return the means of the good cells of every column."""
    means: Array = (weights @ (W * X)) / np.maximum(weights @ W, 1e-9)
    return means


def column_variances(X: Array, W: Array, weights: Array) -> Array:
    """Return the variances of the good cells of every column; none is 0."""
    mean, total = column_means(X, W, weights), np.maximum(weights @ W, 1e-9)
    variances = (weights @ (W * np.square(X - mean))) / total
    least = 1e-12 * (float(variances.max(initial=0.0)) or 1.0)
    return np.maximum(variances, least)


def penalty(model: FactorModel, prior: Array) -> Array:
    """Return the precisions of the prior of loadings, column by factor, over the noise.

    Two priors: a few cells of each column know no factor, so that columns with few
    values do not run away; and a factor must earn its place in all columns together
    (automatic relevance determination), so that their number need not be known.
    """
    D, unit = len(model.mean), np.sqrt(model.noise)[:, None]
    strength = np.square(model.loadings / unit).sum(axis=0)
    relevance = D / np.maximum(strength, 1e-9)
    return np.asarray((PRIOR_CELLS * model.noise / prior)[:, None] + relevance)


def improve(
    model: FactorModel,
    X: Array,
    W: Array,
    weights: Array,
    prior: Array,
    fixed: Array,
) -> FactorModel:
    """Take one step of the EM algorithm; the log-posterior never falls.

    Parameters
    ----------
    model : FactorModel
    X : ndarray of shape (n, D)
        Finite; cells of weight 0 do not matter.
    W : ndarray of shape (n, D)
        Weights of cells, between 0 and 1.
    weights : ndarray of shape (n,)
        Weights of rows.
    prior : ndarray of shape (D,)
        Variances of the columns, for the prior.
    fixed : ndarray of shape (D, r)
        `penalty`.
    """
    n, r = len(X), model.loadings.shape[1]
    means, covariance = model.factors(X, W)
    design = np.column_stack([means, np.ones(n)])
    i, j = _pairs(r + 1)
    second = design[:, i] * design[:, j]
    factors_only = j < r
    second[:, factors_only] += covariance.T
    second *= weights[:, None]
    A = (W.T @ second)[:, _square(r + 1)].reshape(-1, r + 1, r + 1)
    b = (W * X).T @ (weights[:, None] * design)
    A[:, range(r), range(r)] += fixed
    A[:, r, r] += 1e-9
    slopes = np.linalg.solve(A, b[..., None])[..., 0]
    squares = weights @ (W * np.square(X)) - (slopes * b).sum(axis=1)
    noise = (np.maximum(squares, 0.0) + PRIOR_CELLS * PRIOR_NOISE * prior) / (
        weights @ W + PRIOR_CELLS
    )
    return FactorModel(slopes[:, r], slopes[:, :r], noise)


def fit_factors(
    model: FactorModel,
    X: Array,
    W: Array,
    weights: Array,
    prior: Array,
    max_iter: int,
    tol: float = 1e-3,
) -> FactorModel:
    """Improve a model until the explained covariance settles."""
    for _ in range(max_iter):
        before = model.rotated()
        model = improve(before, X, W, weights, prior, penalty(before, prior))
        old = before.loadings @ (before.loadings.T @ before.loadings)
        new = model.loadings @ (model.loadings.T @ before.loadings)
        moved = float(np.abs(model.mean - before.mean).max())
        change = float(np.linalg.norm(new - old)) / max(
            float(np.linalg.norm(old)), TINY
        )
        if change < tol and moved < tol * float(np.sqrt(prior.max())):
            break
    return model.rotated()


def invert(triangles: Array, r: int) -> Array:
    """Invert many small positive definite matrices, given as upper triangles.

    Each step is one operation on all matrices: LAPACK takes ten times as long, one
    matrix at a time.

    Parameters
    ----------
    triangles : ndarray of shape (r (r + 1) / 2, n)
    r : int

    Returns
    -------
    ndarray of the same shape
    """
    at = _square(r).reshape(r, r)
    # Cholesky factor G = R'R, R upper triangular; then its inverse; then the product.
    R = np.array(triangles)
    for a in range(r):
        for b in range(a):
            R[at[a, a] : at[a, r - 1] + 1] -= (
                R[at[b, a]] * R[at[b, a] : at[b, r - 1] + 1]
            )
        R[at[a, a]] = 1.0 / np.sqrt(R[at[a, a]])
        R[at[a, a] + 1 : at[a, r - 1] + 1] *= R[at[a, a]]
    # `R` has the reciprocals of its diagonal on it.
    T = np.zeros_like(R)
    for a in range(r):
        T[at[a, a]] = R[at[a, a]]
        for b in range(a + 1, r):
            row, column = T[at[a, a] : at[a, b]], R[at[a:b, b]]
            T[at[a, b]] = -np.einsum("cn,cn->n", row, column) * R[at[b, b]]
    inverse = np.empty_like(R)
    for a in range(r):
        for b in range(a, r):
            inverse[at[a, b]] = np.einsum(
                "cn,cn->n",
                T[at[a, b] : at[a, r - 1] + 1],
                T[at[b, b] : at[b, r - 1] + 1],
            )
    return inverse


def _times(triangles: Array, vectors: Array) -> Array:
    """Multiply many symmetric matrices, given as triangles, by one vector each."""
    r = vectors.shape[1]
    at = _square(r).reshape(r, r)
    columns = np.ascontiguousarray(vectors.T)
    products = [np.einsum("bn,bn->n", triangles[at[a]], columns) for a in range(r)]
    return np.array(products).T


@lru_cache
def _diagonal(r: int) -> NDArray[np.intp]:
    return _square(r).reshape(r, r).diagonal()


@lru_cache
def _square(r: int) -> NDArray[np.intp]:
    """Return, for every cell of a symmetric matrix, its place in the triangle."""
    place = np.zeros((r, r), dtype=np.intp)
    i, j = _pairs(r)
    place[i, j] = place[j, i] = np.arange(len(i))
    return place.ravel()


@lru_cache
def _multiplicity(r: int) -> Array:
    i, j = _pairs(r)
    return np.where(i == j, 1.0, 2.0)


def _products(L: Array) -> Array:
    """Return the products of all pairs of columns, upper triangle."""
    i, j = _pairs(L.shape[1])
    return L[:, i] * L[:, j]


@lru_cache
def _pairs(r: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    i, j = np.triu_indices(r)
    return i, j
