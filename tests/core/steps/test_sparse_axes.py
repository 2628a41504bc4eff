"""Sparse axes against brute force."""

from itertools import combinations

import numpy as np

from trueaxis.methods.sparse import sparse_axes


def test_sparse_axes_reach_the_best_columns():
    reached = 0
    for seed in range(40):
        A = np.random.default_rng(seed).standard_normal((20, 8))
        B = A.T @ A
        best = max(
            np.linalg.eigvalsh(B[np.ix_(columns, columns)])[-2:].sum()
            for columns in map(list, combinations(range(8), 4))
        )
        found = sparse_axes(B, 2, 4)[1].sum()
        assert found <= best * (1 + 1e-12)
        reached += found >= best * (1 - 1e-12)
    assert reached >= 38
