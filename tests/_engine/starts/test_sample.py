"""The sample on which a fit starts."""

import numpy as np

from trueaxis._engine.starts.sample import draw_sample
from trueaxis._rows.base import ArrayRows


def test_the_sample_of_weighted_rows_has_their_weights():
    X = np.arange(12000.0)[:, None]
    counts = np.where(X[:, 0] < 6000, 0.1, 1.0)
    sample = draw_sample(ArrayRows(X), counts, np.random.default_rng(0))
    assert sample.large and len(sample.X) == 4000
    np.testing.assert_allclose((sample.X[:, 0] < 6000).mean(), 600 / 6600, atol=0.01)
    few = draw_sample(
        ArrayRows(X[:4]), np.array([2.0, 0, 1, 3]), np.random.default_rng(0)
    )
    assert few.exact and sorted(few.index) == [0, 0, 2, 3, 3, 3]


def test_the_order_of_the_sample_is_equivariant():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    shuffle = rng.permutation(50)
    one = draw_sample(ArrayRows(X), None, rng)
    two = draw_sample(ArrayRows(7 * X[shuffle] @ Q + 3), None, rng)
    np.testing.assert_array_equal(one.index, shuffle[two.index])
