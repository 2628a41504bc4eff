"""Distances of rows, and sums over their copies."""

import numpy as np
import pytest

from trueaxis import ReweightedPCA, Rule
from trueaxis._engine.rules.base import RowDistances, UniformRule
from trueaxis.datasets import planted


def test_sums_and_medians_count_copies():
    rng = np.random.default_rng(0)
    x, counts = rng.random(20), rng.integers(0, 4, 20).astype(float)
    distances = RowDistances(x, x, x, counts=counts)
    again = np.repeat(x, counts.astype(int))
    assert distances.total(x) == pytest.approx(again.sum())
    assert distances.mean(x) == pytest.approx(again.mean())
    assert distances.median(x) == pytest.approx(np.median(again))


def test_distances_of_some_rows_are_theirs_and_count_once():
    rng = np.random.default_rng(0)
    v, e, s, w = rng.random((4, 20))
    index = np.array([3, 3, 17, 0])  # a sample may have copies
    some = RowDistances(v, e, s, w, np.full(20, 2.0)).of(index)
    for found, expected in zip(some[:3], (v, e, s), strict=True):
        np.testing.assert_array_equal(found, expected[index])
    assert some.fit_weight is None and some.counts is None
    assert some.mean(some.d) == pytest.approx((v + e)[index].mean())


class Old(Rule):
    """A rule of a user of version 0.1, with parameters named like today's hooks."""

    def __init__(self, bounded=True, for_size=3):
        self.bounded, self.for_size = bounded, for_size

    def weights(self, v, e, d):
        return 1 / (1e-6 + e)

    def calm(self, view):
        return UniformRule()


def test_hooks_of_version_0_1_are_called_with_a_warning():
    X = planted("none", n=60, n_features=5).X
    with pytest.warns(FutureWarning, match="Old.calm is deprecated.*_bounded"):
        model = ReweightedPCA(2, rule=Old()).fit(X)
    # Variances are those of equally weighted rows.
    squares = (model.transform(X) ** 2).sum(axis=0)
    assert model.explained_variance_ == pytest.approx(squares / (len(X) - 1))
