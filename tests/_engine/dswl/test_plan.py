"""Modes of a DSWL fit."""

import numpy as np

from trueaxis import DSWL


def test_more_components_than_outliers_can_be_told_with():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5)) @ rng.standard_normal((5, 200)) * 3
    X += rng.standard_normal(X.shape)
    bad = np.arange(80) < 15
    X[bad, :50] += 10 * rng.standard_normal((15, 50))
    for k in (5, 15, 25, 45, 60):
        model = DSWL(k).fit(X)
        assert not model.support_[bad].any() and model.support_[~bad].mean() > 0.9
        assert model.components_.shape == (k, 200)
