"""Loadings, covariance, precision and likelihood, by independent routes."""

import dask.array as da
import numpy as np
import pytest
from estimator_data import GOOD
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from trueaxis import DSWL, ColumnScaler
from trueaxis.datasets import planted
from trueaxis.methods import METHODS, PlainPCA


def correlated(seed=0, n=200, D=6):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, D)) @ rng.standard_normal((D, D)) + 5


def likelihood(model, X):
    """The mean log-likelihood of the cells that are there, cell by cell pattern."""
    covariance, mean = model.get_covariance(), model.mean_
    each = [
        multivariate_normal(mean[s], covariance[np.ix_(s, s)]).logpdf(row[s])
        if s.any()
        else 0.0
        for row, s in zip(X, ~np.isnan(X), strict=True)
    ]
    return np.mean(each)


@pytest.mark.parametrize("k", [1, 3, 5, 6])
def test_plain_pca_agrees_with_scikit_learn(k):
    X = correlated()
    ours, theirs = PlainPCA(k).fit(X), PCA(k).fit(X)
    for name in ("singular_values_", "explained_variance_", "noise_variance_"):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-8, err_msg=name
        )
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), 1e-8)
    np.testing.assert_allclose(
        ours.get_precision(), theirs.get_precision(), rtol=1e-6, atol=1e-8
    )
    new = correlated(1)
    assert ours.score(new) == pytest.approx(theirs.score(new), rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_identities_of_every_method(name):
    X = planted("scatter", n=120, n_features=6, n_components=2, share=0.1).X
    model = METHODS[name](2).fit(X)
    P, L, noise = model.components_, model.loadings_, model.noise_variance_
    assert L.shape == P.shape
    covariance = model.get_covariance()
    rest = noise * (np.eye(6) - P.T @ P)
    np.testing.assert_allclose(L.T @ L + rest, covariance, atol=1e-9)
    np.testing.assert_allclose((L**2).sum(axis=1), model.explained_variance_)
    np.testing.assert_allclose(
        model.singular_values_**2, 119 * model.explained_variance_
    )
    if noise > 0:
        precision = model.get_precision()
        np.testing.assert_allclose(
            precision, np.linalg.inv(covariance), rtol=1e-6, atol=1e-8
        )
        assert model.score(X) == pytest.approx(likelihood(model, X))
    assert isinstance(model.score(X, None), float)


def test_loadings_of_scaled_columns_are_correlations():
    X = correlated()
    scaled = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    model = PlainPCA(3).fit(scaled)
    scores = model.transform(scaled)
    among = np.corrcoef(scores.T, scaled.T)[:3, 3:]
    np.testing.assert_allclose(model.loadings_, among, atol=1e-8)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 5),
    st.floats(0.0, 0.9),
    st.integers(0, 1000),
    st.sampled_from([1, 9]),
)
def test_holes_are_left_out_of_the_likelihood(k, share, seed, far):
    X = correlated(D=5)
    model = DSWL(k).fit(X)
    rng = np.random.default_rng(seed)
    rows = far * X[:40].copy()
    rows[rng.random(rows.shape) < share] = np.nan
    rows[0] = np.nan
    assert model.score(rows) == pytest.approx(likelihood(model, rows), rel=1e-8)


def test_wrong_cells_count_as_they_are():
    X = correlated()
    X[3, 2] += 100
    model = DSWL(2, cells=True).fit(X)
    assert model.score(X) == pytest.approx(likelihood(model, X))


def test_far_rows_have_no_likelihood_and_no_warning():
    model = DSWL(2).fit(GOOD)
    far = np.vstack([GOOD, np.full((1, 4), 1e200)])
    assert model.score(far) == -np.inf


def test_rows_without_variance_off_the_components():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 5))
    model = PlainPCA(2).fit(X)
    assert model.noise_variance_ == 0
    with pytest.raises(ValueError, match="no inverse.*2 components of 5 columns, 50 r"):
        model.get_precision()
    inside, off = model.score(X), model.score(X + [1, 0, 0, 0, 0])
    assert np.isfinite([inside, off]).all() and off < inside - 1e10
    with pytest.raises(ValueError, match="no inverse"):
        PlainPCA(4).fit(np.c_[GOOD[:, :3], np.ones(30)]).get_precision()


def test_float32_models_have_them_too():
    X = correlated()
    small, large = DSWL(2).fit(X.astype(np.float32)), DSWL(2).fit(X)
    assert small.loadings_.dtype == small.singular_values_.dtype == np.float32
    assert small.score(X.astype(np.float32)) == pytest.approx(large.score(X), rel=1e-3)
    precision = small.get_precision() @ small.get_covariance()
    np.testing.assert_allclose(precision, np.eye(6), atol=1e-3)


@pytest.mark.parametrize("cls", [DSWL, PlainPCA])
def test_nothing_is_answered_before_a_fit(cls):
    for name in ("loadings_", "singular_values_"):
        assert not hasattr(cls(), name)
    for ask in (cls().get_precision, lambda: cls().score(GOOD)):
        with pytest.raises(NotFittedError, match=cls.__name__):
            ask()


@pytest.mark.dask
def test_rows_of_files_and_of_dask_have_the_same_likelihood(tmp_path):
    X = correlated(n=2000)
    model = DSWL(2).fit(X)
    np.save(tmp_path / "rows.npy", X)
    for source in (tmp_path / "rows.npy", da.from_array(X, chunks=(300, 6))):
        found = model.score(source)
        assert isinstance(found, float) and found == pytest.approx(model.score(X))


def test_pipelines_and_searches_use_the_score():
    X = correlated()
    pipeline = make_pipeline(ColumnScaler(), DSWL(2)).fit(X)
    assert pipeline.score(X) == pipeline[1].score(pipeline[0].transform(X))
    search = GridSearchCV(DSWL(), {"n_components": [1, 2, 3]}, cv=3).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_the_score_prefers_the_true_number_of_components():
    cloud = planted("none", n=600, n_features=8, n_components=3)
    fit, new = cloud.X[::2], cloud.X[1::2]
    scores = np.array([DSWL(k).fit(fit).score(new) for k in range(1, 8)])
    # The least number within chance of the best, whose log-density is 0.1 from others.
    assert int(np.argmax(scores > scores.max() - 0.1 / np.sqrt(300))) + 1 == 3
    assert scores[:2].max() < scores[2] - 1
