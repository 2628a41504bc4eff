"""DSWL on shifted, rotated, rescaled, permuted and repeated rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueaxis import DSWL
from trueaxis.datasets import KINDS, planted

pytestmark = pytest.mark.slow
SEEDS = st.integers(0, 10**6)


def random_cloud(seed, n=None, D=None):
    rng = np.random.default_rng(seed)
    return planted(
        KINDS[int(rng.integers(len(KINDS)))],
        n=n or int(rng.integers(30, 90)),
        n_features=D or int(rng.integers(3, 9)),
        n_components=2,
        share=float(rng.uniform(0, 0.3)),
        random_state=seed,
    ).X


def rotation(seed, D):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((D, D)))[0]


def assert_same_subspace(A, B, tolerance=1e-6):
    np.testing.assert_allclose(A.T @ A, B.T @ B, atol=tolerance)


@pytest.mark.slow
@settings(max_examples=10)
@given(seed=SEEDS)
def test_wide_data_rotate_too(seed):
    X = random_cloud(seed, n=25, D=40)
    Q = rotation(seed, 40)
    one, two = DSWL(2).fit(X), DSWL(2).fit(X @ Q)
    np.testing.assert_array_equal(one.support_, two.support_)
    assert_same_subspace(one.components_ @ Q, two.components_)


@pytest.mark.slow
def test_of_other_weights_only_ratios_matter_and_zero_drops_a_row():
    cloud = planted("ocs", n=120, n_features=6, share=0.2)
    w = np.random.default_rng(0).uniform(0.1, 1, size=120)
    one = DSWL(2).fit(cloud.X, sample_weight=w)
    two = DSWL(2).fit(cloud.X, sample_weight=8 * w)
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-10)
    w[7] = 0
    without = DSWL(2).fit(np.delete(cloud.X, 7, axis=0), sample_weight=np.delete(w, 7))
    with_zero = DSWL(2).fit(cloud.X, sample_weight=w)
    np.testing.assert_allclose(with_zero.components_, without.components_, atol=1e-8)
    assert with_zero.weights_[7] == 0
    assert with_zero.support_[7] == (with_zero.predict(cloud.X[[7]])[0] == 1)


@pytest.mark.slow
def test_fewer_rows_than_columns_equals_more_columns_of_nothing():
    """The affine hull: padding with zero columns must not change a thing."""
    X = planted("ocs", n=60, n_features=20, share=0.2).X
    wide = np.hstack([X, np.zeros((60, 100))]) @ rotation(3, 120)
    one, two = DSWL(3).fit(X), DSWL(3).fit(wide)
    np.testing.assert_array_equal(one.support_, two.support_)
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-8)
    np.testing.assert_allclose(one.explained_variance_, two.explained_variance_)
