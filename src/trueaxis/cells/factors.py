"""A factor model of rows with holes: what a cell should be, given the others.

Rows are x = mean + L f + noise, with independent standard normal factors f, and noise
of its own variance in every column. The model is richer than the k components of a fit:
to fill a hole is to use all that the other columns know. Notation: n rows, D columns, r
factors; W are the weights of cells, 0 for holes and 1 for good cells; L is D x r.
"""

from __future__ import annotations

from dataclasses import dataclass
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


class Deviations(NamedTuple):
    """Comparison of cells with what the other good cells of their row say.

    Attributes
    ----------
    z : ndarray of shape (n, D)
        Differences in standard deviations of a good cell.
    fitted : ndarray of shape (n, D)
        Expected values, given all good cells.
    """

    z: Array
    fitted: Array


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
        """Return means and covariances of the factors of rows, given their cells."""
        L, r = self.loadings, self.loadings.shape[1]
        Q = W / self.noise
        precision = (Q @ _products(L)).reshape(-1, r, r)
        precision[:, range(r), range(r)] += 1.0
        covariance = np.asarray(np.linalg.inv(precision), dtype=float)
        scores = (Q * (X - self.mean)) @ L
        return np.einsum("nij,nj->ni", covariance, scores), covariance

    def fill(self, X: Array, W: Array) -> Array:
        """Return the expected values of all cells of rows."""
        return self.mean + self.factors(X, W)[0] @ self.loadings.T

    def deviations(self, X: Array, W: Array) -> Deviations:
        """Compare every cell with what the other good cells of its row say."""
        means, covariance = self.factors(X, W)
        fitted = self.mean + means @ self.loadings.T
        spread = covariance.reshape(len(X), -1) @ _products(self.loadings).T
        without = np.maximum(1.0 - W * spread / self.noise, 1e-6)
        z = (X - fitted) / without / np.sqrt(spread / without + self.noise)
        return Deviations(z, fitted)

    def filling_covariance(
        self, X: Array, W: Array, weights: Array, frame: Array | None = None
    ) -> Array:
        """Return the mean covariance of filled cells about the truth.

        Filled values vary less than true ones: the covariance of rows is that of filled
        rows, plus this. It is that of the coordinates along the rows of `frame`, if
        given.
        """
        holes = np.sqrt(weights)[:, None] * (1.0 - W)
        noise = (weights @ np.square(1.0 - W)) * self.noise
        total = np.diag(noise) if frame is None else (frame * noise) @ frame.T
        roots = np.linalg.cholesky(self.factors(X, W)[1])
        for root in roots.transpose(2, 0, 1):
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
    n, D = X.shape
    mean, variance = column_moments(X, W, weights)
    counts = np.sqrt(weights @ W + 1.0)
    Y = np.sqrt(weights)[:, None] * W * (X - mean) / (np.sqrt(variance) * counts)
    axes, values = axes_of_few(Y, r) if n < D else top_eigen(Y.T @ Y, r)
    rest = max((D - values.sum()) / max(D - r, 1), PRIOR_NOISE)
    loadings = axes.T * np.sqrt(np.maximum(values - rest, 1e-9))
    noise = np.maximum(1.0 - np.square(loadings).sum(axis=1), PRIOR_NOISE)
    return FactorModel(mean, np.sqrt(variance)[:, None] * loadings, variance * noise)


def column_moments(X: Array, W: Array, weights: Array) -> tuple[Array, Array]:
    """Return means and variances of the good cells of columns; no variance is 0."""
    total = np.maximum(weights @ W, 1e-9)
    mean = (weights @ (W * X)) / total
    variance = (weights @ (W * np.square(X - mean))) / total
    least = 1e-12 * (float(variance.max(initial=0.0)) or 1.0)
    return mean, np.maximum(variance, least)


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
    second = design[:, :, None] * design[:, None, :]
    second[:, :r, :r] += covariance
    second *= weights[:, None, None]
    A = (W.T @ second.reshape(n, -1)).reshape(-1, r + 1, r + 1)
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
        settled = np.linalg.norm(new - old) < tol * np.linalg.norm(old)
        if settled and moved < tol * float(np.sqrt(prior.max())):
            break
    return model.rotated()


def _products(L: Array) -> Array:
    """Return the products of all pairs of columns."""
    return (L[:, :, None] * L[:, None, :]).reshape(len(L), -1)
