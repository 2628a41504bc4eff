"""DSWL among scikit-learn's tools."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from trueaxis import DSWL
from trueaxis.datasets import planted


@parametrize_with_checks([DSWL(), DSWL(2, trust=0.7), DSWL(1, reweight=False)])
def test_scikit_learns_own_suite(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cloud():
    return planted("ocs", n=200, n_features=8, share=0.2)


def test_pipeline_and_grid_search_over_trust(cloud):
    y = (cloud.X @ cloud.components[0] > np.median(cloud.X @ cloud.components[0])) * 1
    pipeline = make_pipeline(StandardScaler(), DSWL(2), LogisticRegression())
    grid = {"dswl__trust": [0.4, 0.5, 0.8], "dswl__n_components": [1, 2, "auto"]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(cloud.X, y)
    assert search.best_score_ > 0.8
    assert len(search.cv_results_["params"]) == 9


def test_clone_and_pickle_give_the_same_bits(cloud):
    model = DSWL(3).fit(cloud.X)
    again = clone(model).fit(cloud.X)
    thawed = pickle.loads(pickle.dumps(model))
    for other in (again, thawed):
        np.testing.assert_array_equal(
            model.transform(cloud.X), other.transform(cloud.X)
        )
        np.testing.assert_array_equal(model.weights_, other.weights_)
        np.testing.assert_array_equal(model.predict(cloud.X), other.predict(cloud.X))


def test_pandas_in_pandas_out(cloud):
    frame = pd.DataFrame(cloud.X, columns=[f"c{i}" for i in range(8)])
    model = DSWL(2).set_output(transform="pandas").fit(frame)
    scores = model.transform(frame)
    assert (
        list(scores.columns)
        == ["dswl0", "dswl1"]
        == list(model.get_feature_names_out())
    )
    assert list(model.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[frame.columns[::-1]])


def test_sample_weight_is_routed(cloud):
    weights = np.where(cloud.is_outlier, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            DSWL(2).set_fit_request(sample_weight=True),
            KMeans(2, n_init=1, random_state=0).set_fit_request(sample_weight=False),
        )
        pipeline.fit(cloud.X, sample_weight=weights)
    assert (pipeline[1].weights_[cloud.is_outlier] == 0).all()


def test_fit_transform_and_inverse_transform(cloud):
    model = DSWL(8)
    scores = model.fit_transform(cloud.X)
    np.testing.assert_allclose(scores, model.transform(cloud.X), rtol=1e-10)
    np.testing.assert_allclose(model.inverse_transform(scores), cloud.X, atol=1e-9)


def test_float32_stays_float32_and_agrees(cloud):
    X = cloud.X.astype(np.float32)
    small, large = DSWL(3).fit(X), DSWL(3).fit(cloud.X)
    assert small.components_.dtype == small.mean_.dtype == np.float32
    assert small.transform(X).dtype == np.float32
    assert small.inverse_transform(small.transform(X)).dtype == np.float32
    np.testing.assert_array_equal(small.support_, large.support_)
    np.testing.assert_allclose(small.components_, large.components_, atol=1e-5)


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
