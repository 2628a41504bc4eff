"""The two-way step: coordinates of the rows do not change it."""

import numpy as np
import pytest

from trueaxis.core.problem import AffineHull
from trueaxis.datasets import planted
from trueaxis.methods import two_way
from trueaxis.methods.two_way import TwoWayPCA


@pytest.mark.parametrize("weighted", [False, True])
def test_wide_tables_in_coordinates_of_the_rows_and_of_the_columns(
    monkeypatch, weighted
):
    X = planted("scatter", share=0.1, random_state=3, n=25, n_features=40).X
    counts = np.arange(25) % 3 + 1.0 if weighted else None
    short = TwoWayPCA(3).fit(X, sample_weight=counts)
    origin = np.zeros(X.shape[1])
    monkeypatch.setattr(
        two_way, "affine_hull", lambda rows: AffineHull(rows, origin, None)
    )
    long = TwoWayPCA(3).fit(X, sample_weight=counts)
    np.testing.assert_allclose(short.components_, long.components_, atol=1e-9)
    np.testing.assert_allclose(short.mean_, long.mean_, atol=1e-9)
    np.testing.assert_allclose(short.feature_weights_, long.feature_weights_, rtol=1e-7)
    np.testing.assert_allclose(
        short.history_["objective"], long.history_["objective"], rtol=1e-12
    )
    assert (np.diff(short.history_["objective"]) <= 1e-12).all()
