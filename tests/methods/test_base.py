"""Fitted models: scores, distances, labels, and what they refuse."""

import numpy as np
import pytest
from estimator_data import GOOD, angle
from sklearn.exceptions import NotFittedError

from trueaxis import DSWL
from trueaxis.base import unchanged_on_error
from trueaxis.methods import METHODS, ReweightedPCA


def test_wrong_columns_at_transform_are_refused():
    model = DSWL(2).fit(GOOD)
    for method in (model.transform, model.predict, model.distances):
        with pytest.raises(
            ValueError, match="X has 3 features, but DSWL is expecting 4"
        ):
            method(GOOD[:, :3])
    with pytest.raises(ValueError, match="3 columns, but there are 2 components"):
        model.inverse_transform(GOOD[:, :3])


@pytest.mark.slow
def test_float32_stays_float32_and_agrees(cloud):
    X = cloud.X.astype(np.float32)
    small, large = DSWL(3).fit(X), DSWL(3).fit(cloud.X)
    assert small.components_.dtype == small.mean_.dtype == np.float32
    assert small.transform(X).dtype == np.float32
    assert small.inverse_transform(small.transform(X)).dtype == np.float32
    np.testing.assert_array_equal(small.support_, large.support_)
    np.testing.assert_allclose(small.components_, large.components_, atol=1e-5)


ANSWERS = (
    "transform", "inverse_transform", "distances", "score_samples", "decision_function",
    "predict", "outliers",
)  # fmt: skip


@pytest.mark.parametrize("cls", [*METHODS.values(), ReweightedPCA])
def test_nothing_is_answered_before_a_fit(cls):
    for answer in ANSWERS:
        with pytest.raises(NotFittedError, match=cls.__name__):
            getattr(cls(2), answer)(GOOD)
    with pytest.raises(NotFittedError, match=cls.__name__):
        cls(2).get_covariance()


def test_answers_follow_from_components_mean_and_variances():
    model = DSWL(2).fit(GOOD)
    P, centered = model.components_, GOOD - model.mean_
    scores = centered @ P.T
    np.testing.assert_allclose(model.transform(GOOD), scores)
    back = model.inverse_transform(scores)
    np.testing.assert_allclose(back, model.mean_ + scores @ P)
    distances = model.distances(GOOD)
    np.testing.assert_allclose(
        distances.orthogonal, np.linalg.norm(GOOD - back, axis=1)
    )
    scaled = scores / np.sqrt(model.explained_variance_)
    np.testing.assert_allclose(distances.score, np.linalg.norm(scaled, axis=1))
    p_values = model.p_values(GOOD)
    np.testing.assert_allclose(model.score_samples(GOOD), np.log10(p_values))
    within = [d <= c for d, c in zip(distances, model.cutoffs_, strict=True)]
    np.testing.assert_array_equal(model.support_, np.logical_and(*within))
    np.testing.assert_array_equal(model.support_, p_values >= model.level)
    covariance = model.get_covariance()
    values, vectors = np.linalg.eigh(covariance)
    expected = [*model.explained_variance_, *[model.noise_variance_] * 2]
    np.testing.assert_allclose(values[::-1], expected)
    assert angle(vectors[:, :1:-1].T, P) < 1e-6


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_changes_are_undone_if_there_is_an_error(error):
    model = DSWL(2).fit(GOOD)
    before = dict(vars(model))
    with pytest.raises(error), unchanged_on_error(model):
        model.n_features_in_, model.mine_ = 7, 1
        del model.components_
        raise error
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    with unchanged_on_error(model):
        model.n_features_in_ = 7
    assert model.n_features_in_ == 7


def test_contamination_flags_its_share_off_an_exact_subspace():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 6))
    X[:20] += rng.standard_normal((20, 6))
    model = DSWL(2, contamination=0.05).fit(X)
    assert (
        (model.predict(X) == -1).sum() == (model.decision_function(X) < 0).sum() == 10
    )


def test_contamination_counts_rows_as_often_as_their_weight_says():
    X = np.random.default_rng(3).standard_normal((300, 4))
    weights = np.repeat([1, 9], 150)
    weighted = DSWL(2, contamination=0.1).fit(X, sample_weight=weights)
    repeated = DSWL(2, contamination=0.1).fit(np.repeat(X, weights, axis=0))
    assert weighted.offset_ == pytest.approx(repeated.offset_)
    share = weights[~weighted.support_].sum() / weights.sum()
    assert share == pytest.approx(0.1, abs=0.004)


def test_contamination_never_cuts_between_equal_rows():
    X = np.repeat(np.random.default_rng(0).standard_normal((100, 4)), 5, axis=0)
    flagged = ~DSWL(2, contamination=0.013).fit(X).support_
    assert flagged.sum() == 5 and flagged.reshape(100, 5).all(axis=1).sum() == 1


def test_a_gross_cell_leaves_p_values_to_all_other_rows():
    X = np.random.default_rng(0).standard_normal((200, 4))
    X[0, 0] = 1e6
    for name in ("pca", "rpca-om"):
        model = METHODS[name](2, contamination=0.1).fit(X)
        assert len(np.unique(model.p_values(X))) > 150
        assert (model.predict(X) == -1).sum() == 20
