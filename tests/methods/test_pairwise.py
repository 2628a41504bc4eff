"""Weighted PCA."""

from itertools import combinations

import numpy as np
import pytest
from estimator_data import angle

from trueaxis.datasets import planted
from trueaxis.methods import WeightedPCA


def test_a_far_row_without_weight_leaves_pairs_alone():
    X = planted("none", n=90, n_features=6, n_components=2).X
    more = np.vstack([X, 1e10 * np.eye(6)[:1]])
    weight = np.r_[np.ones(90), 0.0]
    one, two = WeightedPCA(2).fit(X), WeightedPCA(2).fit(more, sample_weight=weight)
    assert angle(one, two) < 1e-6
    # With power 2 a single row has bounded influence, however far.
    assert angle(WeightedPCA(2, power=2.0).fit(more), one) < 10


def test_too_many_rows_for_pairs_raise():
    X = planted("none", n=60, n_features=4).X
    with pytest.raises(ValueError, match="60 rows.*1.8e.03 pairs, but max_rows=50"):
        WeightedPCA(2, max_rows=50).fit(X)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_axes_are_those_of_all_pairs(power, weighted):
    X = planted("scatter", n=25, n_features=4, n_components=2, share=0.1).X
    counts = np.arange(25) % 3 + 0.0 if weighted else np.ones(25)
    scatter = np.zeros((4, 4))
    for i, j in combinations(range(25), 2):
        gap = X[i] - X[j]
        weight = counts[i] * counts[j] / np.linalg.norm(gap) ** power
        scatter += weight * np.outer(gap, gap)
    axes = np.linalg.eigh(scatter)[1][:, :1:-1].T
    model = WeightedPCA(2, power=power).fit(X, sample_weight=counts)
    assert angle(model, axes) < 1e-6
    scores = model.transform(np.repeat(X, counts.astype(int), axis=0))
    assert abs(np.corrcoef(scores.T)[0, 1]) < 1e-9
    assert model.n_iter_ == 1 and model.converged_
