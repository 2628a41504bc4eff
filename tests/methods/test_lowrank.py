"""PCP, SPCP and RRPCP."""

import numpy as np
import pytest
from engine_data import contaminated_cloud
from estimator_data import GOOD, angle
from pyrpca import rpca_pcp_ialm
from sklearn.utils.validation import has_fit_parameter
from skpcp.pcp import pcp

from trueaxis.methods import METHODS, PCP, RRPCP, SPCP, PlainPCA


def test_pursuit_agrees_with_other_packages():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 50))
    X[rng.random(X.shape) < 0.05] += 10
    ours = PCP(3, balance=np.inf, tol=1e-7).fit(X)
    lam = 1 / np.sqrt(60)
    for low_rank in (rpca_pcp_ialm(X, lam, verbose=False)[0], pcp(X)[0]):
        assert np.linalg.norm(ours.low_rank_ - low_rank) < 1e-5 * np.linalg.norm(X)
    np.testing.assert_allclose(ours.low_rank_ + ours.sparse_, X, atol=1e-4)


def test_one_column_is_explained_by_itself():
    model = PCP(1).fit(GOOD[:, :1])
    np.testing.assert_allclose(model.explained_variance_, GOOD[:, 0].var(ddof=1))


@pytest.mark.parametrize(
    ("model", "chosen"),
    [(SPCP(2, sigma=1e6), "'sigma': 1000000"), (PCP(2, lam=1e-3), "'lam': 0.001")],
)
def test_a_fit_without_low_rank_part_warns(model, chosen):
    name = type(model).__name__
    with pytest.warns(UserWarning, match=f"{name}: nothing of low rank.*{chosen}"):
        model.fit(GOOD)
    assert np.abs(model.low_rank_).max() < 1e-9
    assert angle(model, PlainPCA(2).fit(GOOD)) < 1e-6


@pytest.mark.parametrize("center", ["none", "median"])
def test_the_parts_add_up_to_x(center):
    X = contaminated_cloud()
    exact = PCP(2, center=center).fit(X)
    np.testing.assert_allclose(exact.low_rank_ + exact.sparse_, X, atol=1e-4)
    model = RRPCP(2, center=center).fit(X)
    rest = X - model.low_rank_ - model.sparse_ - model.outlying_
    assert np.abs(rest).std() < 3 * model.sigma_
    assert exact.lam_ == model.lam_ == pytest.approx(1 / np.sqrt(60))
    assert model.gam_ == pytest.approx(0.85 * np.sqrt(6 / 60))


def test_components_are_those_of_the_low_rank_part():
    X = contaminated_cloud()
    model = SPCP(2, sigma=0.4).fit(X)
    plain = PlainPCA(2).fit(model.low_rank_)
    assert angle(model, plain) < 1e-5
    np.testing.assert_allclose(model.mean_, model.low_rank_.mean(axis=0), atol=1e-9)


@pytest.mark.parametrize("name", ["pcp", "spcp", "rrpcp"])
def test_pursuits_say_that_they_cannot_weight_rows(name):
    X, model = np.eye(6), METHODS[name](1)
    with pytest.raises(TypeError, match="cannot weight rows: leave out sample_weight"):
        model.fit(X, sample_weight=np.ones(6))
    with pytest.raises(TypeError, match="leave out weights"):
        model.fit(X, weights=np.ones(6))
    assert not has_fit_parameter(model, "sample_weight")
    model.fit(X, sample_weight=None)  # as pipelines pass it on
