"""DSWL: the subspace and the outliers it finds, sizes and dimensions."""

import numpy as np
import pytest
from estimator_data import angle
from sklearn.decomposition import PCA

from trueaxis import DSWL
from trueaxis.core import starts as sample
from trueaxis.datasets import KINDS, planted, spectra


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "none"])
@pytest.mark.parametrize("share", [0.1, 0.25, 0.4])
def test_it_finds_the_subspace_the_mean_and_the_bad_rows(kind, share):
    cloud = planted(kind, share=share, random_state=5)
    model = DSWL(3).fit(cloud.X)
    clean = cloud.X[~cloud.is_outlier]
    oracle = np.linalg.svd(clean - clean.mean(axis=0))[2][:3]
    limit = 1.15 * angle(oracle, cloud.components) + 0.2
    assert angle(model.components_, cloud.components) < limit
    assert np.linalg.norm(model.mean_ - clean.mean(axis=0)) < 0.25
    assert not model.support_[cloud.is_outlier].any()
    assert model.support_[~cloud.is_outlier].mean() > 0.93


@pytest.mark.slow
def test_on_clean_data_it_is_plain_pca_in_all_attributes():
    X = planted("none", n=2000, n_features=10).X
    robust, plain = DSWL(3).fit(X), PCA(3).fit(X)
    assert abs((robust.components_ * plain.components_).sum(axis=1)).min() > 0.995
    for name, tolerance in [
        ("mean_", 0.15),
        ("explained_variance_", 0.12),
        ("explained_variance_ratio_", 0.05),
        ("noise_variance_", 0.05),
    ]:
        one, two = getattr(robust, name), getattr(plain, name)
        np.testing.assert_allclose(one, two, rtol=tolerance, atol=tolerance * 0.5)
    np.testing.assert_allclose(
        robust.get_covariance(),
        plain.get_covariance(),
        atol=0.12 * plain.explained_variance_[0],
    )


# ---------------------------------------------------------------- large data


@pytest.mark.slow
def test_large_data_start_on_a_sample_and_agree_with_the_whole(monkeypatch):
    cloud = planted("ocs", n=12000, n_features=10, share=0.3)
    sampled = DSWL(3).fit(cloud.X)
    monkeypatch.setattr(sample, "SAMPLE_ROWS", 20000)
    whole = DSWL(3).fit(cloud.X)
    assert angle(sampled.components_, whole.components_) < 0.2
    assert np.linalg.norm(sampled.mean_ - whole.mean_) < 0.05
    assert (sampled.support_ == whole.support_).mean() > 0.98
    np.testing.assert_allclose(sampled.cutoffs_, whole.cutoffs_, rtol=0.1)
    np.testing.assert_allclose(
        sampled.explained_variance_, whole.explained_variance_, rtol=0.05
    )
    assert not sampled.support_[cloud.is_outlier].any()


@pytest.mark.slow
@pytest.mark.parametrize("n", [3900, 4200])
def test_a_group_stays_set_aside_beyond_the_sample(n):
    cloud = planted("none", n=n)
    rng = np.random.default_rng(0)
    off = np.linalg.svd(cloud.components)[2][3]
    group = np.arange(n) >= 0.65 * n
    cloud.X[group] = (
        cloud.mean + 2 * off + 0.05 * rng.standard_normal((group.sum(), 20))
    )
    model = DSWL(3).fit(cloud.X)
    assert angle(model.components_, cloud.components) < 2
    assert not model.support_[group].any() and model.weights_[group].sum() == 0


# ---------------------------------------------------------------- number of components


@pytest.mark.slow
def test_a_share_is_reached_and_no_component_is_superfluous():
    X = planted("ocs", share=0.25, n_components=5, n_features=15).X
    for share in (0.3, 0.6, 0.9, 0.99):
        model = DSWL(share).fit(X)
        ratio = model.explained_variance_ratio_
        assert ratio.sum() >= share
        fewer = DSWL(len(ratio) - 1).fit(X) if len(ratio) > 1 else None
        assert fewer is None or fewer.explained_variance_ratio_.sum() < share


def test_a_number_found_is_that_number_asked_for():
    X = planted("ocs", share=0.2).X
    found = DSWL().fit(X)
    asked = DSWL(found.n_components_).fit(X)
    np.testing.assert_array_equal(found.components_, asked.components_)


def test_rows_of_weight_zero_are_no_components():
    X = planted("none", n=10, n_features=20).X
    assert (
        DSWL(None).fit(X, sample_weight=np.r_[np.ones(5), np.zeros(5)]).n_components_
        == 5
    )


@pytest.mark.slow
def test_auto_finds_the_planted_dimension():
    for k in (1, 2, 3, 5):
        for kind in ("none", "ocs", "both", "scatter"):
            X = planted(kind, share=0.3, n_components=k).X
            assert DSWL().fit(X).n_components_ == k


def test_auto_finds_the_substances_in_spectra():
    for n, D in ((40, 226), (200, 50)):
        cloud = spectra(n=n, n_features=D, share=0.15)
        model = DSWL().fit(cloud.X)
        assert model.n_components_ == 4
        assert not model.support_[cloud.is_outlier].any()


# ---------------------------------------------------------------- degenerate data


def test_a_row_of_1e300_is_an_outlier_and_leaves_no_trace():
    X = planted("none", n=100, n_features=6).X
    bad = np.vstack([X, np.full((1, 6), 1e300)])
    model, clean = DSWL(3).fit(bad), DSWL(3).fit(X)
    assert not model.support_[-1] and model.weights_[-1] == 0
    assert model.predict(bad)[-1] == -1
    assert angle(model.components_, clean.components_) < 3
    np.testing.assert_allclose(model.mean_, clean.mean_, atol=0.2)


def test_the_papers_start_cannot_stand_1e300_and_says_so():
    X = np.vstack([planted("none", n=100, n_features=6).X, np.full((1, 6), 1e300)])
    with pytest.raises(ValueError, match="overflow.*without temperatures"):
        DSWL(2, tau=(1.0, 1.0, 1.0)).fit(X)
