"""Groups of rows that stand apart: found, set aside, and told from one cloud."""

import numpy as np
import pytest

from benchmarks.awkward import shifted
from trueaxis import DSWL
from trueaxis.core.starts import random_directions
from trueaxis.datasets import planted
from trueaxis.dswl.groups import (
    bending_group,
    heterogeneity,
    longest_axes,
    sides_of,
    split_along,
    split_in_two,
)


def test_a_split_is_where_two_normals_meet():
    rng = np.random.default_rng(0)
    z = np.r_[rng.normal(0, 1, 300), rng.normal(9, 0.3, 100)][:, None]
    (split,) = split_along(z, np.ones((1, 1)), 1)
    np.testing.assert_array_equal(split.larger, np.arange(400) < 300)
    assert split.gain < -1
    one_cloud = split_along(rng.standard_normal((400, 1)), np.ones((1, 1)), 1)
    assert one_cloud[0].gain > -0.2
    assert split_along(np.ones((50, 1)), np.ones((1, 1)), 1) == []


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.2, 0.35])
@pytest.mark.parametrize(
    ("n", "D", "k"), [(200, 500, 40), (200, 500, 10), (300, 90, 9)]
)
def test_a_group_that_bends_an_axis_among_many_is_found(n, D, k, share):
    # Along 40 axes of like length its rows are not far out, and a component explains
    # them: plain PCA's first.
    X, bad = shifted(n, D, 40, seed=k, share=share)
    model = DSWL(k).fit(X)
    assert not model.support_[bad].any()
    assert model.support_[~bad].mean() > 0.9
    new, bad = shifted(n, D, 40, seed=k, share=share, rows_seed=1)
    assert (model.predict(new)[bad] == -1).all()
    assert (model.predict(new)[~bad] == 1).mean() > 0.85
    clean, _ = shifted(n, D, 40, seed=k, share=0)
    assert DSWL(k).fit(clean).support_.mean() > 0.93


@pytest.mark.slow
def test_a_group_that_bends_an_axis_is_found_beyond_the_sample():
    X, bad = shifted(9000, 60, 30, seed=0)
    model = DSWL(10).fit(X)
    assert not model.support_[bad].any() and model.support_[~bad].mean() > 0.95


@pytest.mark.slow
def test_one_cloud_bends_no_axis():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        t = np.linspace(0, 20, 300)[:, None]
        for X in (
            rng.standard_normal((25 + seed, 200)),
            rng.standard_normal((60, 5)),
            rng.standard_t(2, (100, 30)),
            rng.exponential(size=(80, 20)),
            rng.uniform(size=(300, 3)),
            3 * np.sin(t + [[0, 1, 2]]) + 0.1 * rng.standard_normal((300, 3)),
            4 * rng.beta(0.5, 0.5, (200, 2)),
            np.ones((40, 3)),
        ):
            assert bending_group(X, random_directions(X, rng)) is None
    assert bending_group(np.ones((40, 3)), np.empty((3, 0))) is None


@pytest.mark.parametrize("unit", [1e-140, 1.0, 1e140])
def test_a_group_that_bends_an_axis_is_found_in_any_unit(unit):
    X, bad = shifted(200, 100, 30, seed=0)
    X = unit * X
    split = bending_group(X, random_directions(X, np.random.default_rng(0)))
    np.testing.assert_array_equal(split.larger, ~bad)
    smaller = sides_of([split], np.ones(X.shape[1], dtype=bool))
    np.testing.assert_array_equal(smaller(X), bad)
    axes = longest_axes(X, random_directions(X, np.random.default_rng(0)))
    exact = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][0]
    assert abs(exact @ axes[:, 0]) > 1 - 1e-9


def test_a_near_cluster_is_split_off_and_one_cloud_is_not():
    rng = np.random.default_rng(0)
    cloud = planted("both", share=0.4)
    axes = np.eye(3, cloud.X.shape[1])
    split = split_in_two(cloud.X, random_directions(cloud.X, rng), axes, rng)
    assert (split.larger != cloud.is_outlier).mean() > 0.99
    X = planted("none").X
    assert split_in_two(X, random_directions(X, rng), axes, rng) is None


def test_heterogeneity_tells_one_cloud_from_two():
    rng = np.random.default_rng(0)
    one = rng.chisquare(4, 1000)
    assert heterogeneity(one) < 0.03
    assert heterogeneity(np.r_[one, 20 + rng.chisquare(4, 500)]) > 0.1
    assert heterogeneity(np.ones(50)) == 1.0
