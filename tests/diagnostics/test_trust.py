"""Fits of DSWL along decreasing trust."""

import numpy as np
import pytest
from small_tables import cloud

from trueaxis import DSWL
from trueaxis.datasets import planted
from trueaxis.diagnostics import trust_path
from trueaxis.methods import PlainPCA


@pytest.mark.slow
def test_the_path_jumps_where_a_group_lets_go():
    data = planted("ocs", share=0.2)
    model = DSWL(3).fit(data.X)
    path = trust_path(model, data.X)
    assert path.trust[0] == 0.95 and path.trust[-1] == 0.5
    assert path.step.max() > 50 and path.to_model[-1] < 5
    np.testing.assert_array_equal(path.rows, np.arange(500))
    np.testing.assert_allclose(path.weights.mean(axis=1), 1)
    left = path.left_at()
    assert left[data.is_outlier].min() > left[~data.is_outlier].mean()


@pytest.mark.slow
def test_the_path_of_clean_data_is_smooth():
    X = planted("none").X
    path = trust_path(DSWL(3).fit(X), X)
    assert path.step.max() < 5 and path.to_model.max() < 10


@pytest.mark.slow
def test_wide_and_large_data_have_paths():
    X = planted("ocs", n=60, n_features=90, share=0.2).X
    assert trust_path(DSWL(3).fit(X), X, [0.8, 0.5]).weights.shape == (2, 60)
    X = planted("ocs", n=6000, n_features=5, share=0.2).X
    path = trust_path(DSWL(3).fit(X), X, [0.7, 0.5])
    assert path.weights.shape == (2, 4000) and (np.diff(path.rows) > 0).all()


@pytest.mark.slow
def test_the_jump_of_a_path_is_its_largest_step():
    X = planted("ocs", share=0.2).X
    path = trust_path(DSWL(3).fit(X), X)
    assert path.step[path.jump] == path.step.max() > 50


@pytest.mark.parametrize(
    ("trust", "message"),
    [
        ([0.5, 0.9], "is not decreasing"),
        ([1.5, 0.5], "between 0 and 1"),
        ([], "between"),
    ],
)
def test_bad_paths_are_refused(trust, message):
    X = cloud().X
    with pytest.raises(ValueError, match=message):
        trust_path(DSWL(2).fit(X), X, trust)


def test_only_dswl_has_a_path():
    X = cloud().X
    with pytest.raises(TypeError, match="PlainPCA has no trust.*Pass a fitted DSWL"):
        trust_path(PlainPCA(2).fit(X), X)
