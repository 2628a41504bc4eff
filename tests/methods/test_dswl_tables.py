"""Outliers in tables as they come: skewed, discrete, mixed, small."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.awkward import FRESH, TABLES, mostly_one_row
from trueaxis import DSWL
from trueaxis.datasets import planted

# Strongly skewed columns, few rows, and levels beside other columns: what looks like a
# shoulder may be the tail.
HARD = {
    "lognormal, two factors",
    "mixed",
    "Weibull, shape 0.8",
    "small, 100 x 2, lognormal",
    "Gaussian, small, 30 x 4",
    "lognormal, small, 40 x 4",
}


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2, "auto"])
def test_hardly_a_row_of_clean_tables_is_flagged(k):
    shares = {}
    for name, make in (TABLES | FRESH).items():
        for seed in range(100, 103):
            model = DSWL(k).fit(make(np.random.default_rng(seed)))
            assert np.isfinite(model.components_).all()
            assert np.isfinite(model.explained_variance_).all()
            shares[name, seed] = (~model.support_).mean()
    everything = np.array(list(shares.values()))
    assert everything.mean() <= 0.04 and np.quantile(everything, 0.9) <= 0.1
    for (name, _), share in shares.items():
        assert share <= (0.5 if name in HARD else 0.15), name


def with_levels(cloud, n_columns, seed=0):
    """Binary columns beside the planted ones."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 2, size=(len(cloud.X), n_columns)).astype(float)
    return np.hstack([cloud.X, levels])


@pytest.mark.parametrize("kind", ["ocs", "scatter", "amp"])
def test_binary_columns_do_not_hide_outliers(kind):
    cloud = planted(kind, share=0.2, random_state=1)
    model = DSWL(3).fit(with_levels(cloud, 2))
    assert not model.support_[cloud.is_outlier].any()
    assert model.support_[~cloud.is_outlier].mean() > 0.93


def test_an_exact_plane_is_found_and_everything_off_it_flagged():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 6))
    X[150:] += rng.standard_normal((50, 6))
    model = DSWL(2).fit(X)
    assert not model.support_[150:].any()
    assert model.support_[:150].mean() > 0.95
    assert model.noise_variance_ < 1e-20
    fresh = rng.standard_normal((20, 2)) @ model.components_ * 0.1 + model.mean_
    assert (model.predict(fresh) == 1).all()


def test_repetitions_of_one_row_do_not_determine_the_variances():
    X = mostly_one_row(np.random.default_rng(4), 300, 4)
    model = DSWL(2).fit(X)
    assert model.explained_variance_[0] > 0.1
    assert model.support_.mean() > 0.95


@pytest.mark.slow
def test_pure_noise_neither_collapses_nor_warns():
    X = np.random.default_rng(0).standard_normal((120, 200))
    model = DSWL(10).fit(X)
    assert model.history_["effective"][-1] > 11
    assert model.support_.mean() > 0.95


def test_a_column_of_large_scale_does_not_hide_outliers():
    cloud = planted("ocs", share=0.2, random_state=1)
    large = 1000 * np.random.default_rng(1).standard_normal(500)
    model = DSWL(4).fit(np.column_stack([cloud.X, large]))
    assert not model.support_[cloud.is_outlier].any()


@pytest.mark.parametrize(("n", "share"), [(41, 0.025), (200, 0.05), (400, 0.08)])
def test_a_code_for_missing_among_grades_is_flagged(n, share):
    rng = np.random.default_rng(n)
    marks = rng.integers(1, 6, size=(n, 1)) + rng.integers(-1, 2, size=(n, 6))
    X = np.clip(marks, 1, 5).astype(float)
    bad = np.arange(n) < round(share * n)
    X[bad, rng.integers(0, 6, bad.sum())] = 99
    for k in (1, 2):
        flagged = ~DSWL(k).fit(X).support_
        assert flagged[bad].all() and flagged[~bad].mean() < 0.06


def test_gaussian_rows_are_not_taken_for_repetitions():
    for D, k in ((1, 1), (2, 2), (5, 1)):
        X = np.random.default_rng(D).standard_normal((4000, D))
        X[:, k:] *= 0.003
        assert 0.018 < (~DSWL(k).fit(X).support_).mean() < 0.032


def test_one_repetition_among_few_rows_does_not_make_the_others_outliers():
    X = np.random.default_rng(0).standard_normal((7, 3))
    X[1] = X[0]
    assert DSWL(1).fit(X).support_.all()


@given(
    st.integers(0, 10**6), st.floats(4, 16), st.floats(-17.5, -14), st.integers(1, 5)
)
def test_no_warning_and_no_wrong_advice_where_the_spread_is_rounding(
    seed, offset, spread, D
):
    rng = np.random.default_rng(seed)
    X = 10**offset * (1 + 10**spread * rng.normal(size=(40, D)))
    model = DSWL(1).fit(X)
    assert not np.isnan(model.score_samples(X)).any()
