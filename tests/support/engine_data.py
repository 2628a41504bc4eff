"""Small data sets and subspaces for the tests of the engine."""

import numpy as np

from trueaxis.core.reweighting import measure_rows
from trueaxis.core.starts import equal_weights
from trueaxis.core.subspace import Subspace
from trueaxis.data.rows import ArrayRows


def normal_cloud(seed=0, n=60, D=5, offset=0.0):
    """Independent normal columns of decreasing scale."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, D)) * np.linspace(3, 0.5, D) + offset


def contaminated_cloud(seed=0, n=60, D=6, outliers=9, k=2):
    """A few columns of structure, noise, and rows moved away."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n, k)) * np.linspace(3, 1.5, k)
    X = scores @ np.linalg.qr(rng.standard_normal((D, k)))[0].T
    X += 0.4 * rng.standard_normal((n, D)) + rng.standard_normal(D)
    X[:outliers] += 4 * rng.standard_normal((outliers, D)) + 3
    return X


def pca_subspace(X, k=2):
    """The subspace of plain PCA, by a singular value decomposition."""
    mean = X.mean(axis=0)
    basis = np.linalg.svd(X - mean, full_matrices=False)[2][:k]
    scores = (X - mean) @ basis.T
    return Subspace(mean, basis, scores.var(axis=0), float(X.var(axis=0).sum()))


def some_distances():
    """Distances of 30 rows from the subspace of plain PCA."""
    rows = ArrayRows(contaminated_cloud(3, n=30))
    return measure_rows(rows, equal_weights(rows, 2))


def low_rank_and_errors(
    seed=0, n=100, D=100, rank=5, share=0.05, noise=0.0, outlying=0
):
    """A matrix of low rank, and its sum with gross errors, noise and outlying rows."""
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, D))
    gross = np.where(rng.random((n, D)) < share, rng.uniform(-10, 10, (n, D)), 0.0)
    X = L + gross + noise * rng.standard_normal((n, D))
    X[:outlying] += 10 * rng.standard_normal((outlying, D))
    return L, X
