"""L1-PCA against linear programs."""

import numpy as np
import pytest
from scipy.optimize import linprog

from trueaxis import L1PCA


@pytest.mark.parametrize("seed", range(5))
def test_l1_pca_with_all_but_one_component_is_exact(seed):
    X = np.random.default_rng(seed).standard_normal((15, 3))

    def deviations(j):
        A = np.delete(X, j, axis=1)
        n, k = A.shape
        cost = np.r_[np.zeros(k), np.ones(2 * n)]
        found = linprog(
            cost,
            A_eq=np.hstack([A, np.eye(n), -np.eye(n)]),
            b_eq=X[:, j],
            bounds=[(None, None)] * k + [(0, None)] * (2 * n),
        )
        return found.fun

    best = min(deviations(j) for j in range(3))
    model = L1PCA(2, center="none", tol=1e-9).fit(X)
    assert model.history_["objective"][-1] == pytest.approx(best, rel=1e-6)
