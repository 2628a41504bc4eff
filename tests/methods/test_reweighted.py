"""Plain PCA, and rules of your own."""

from dataclasses import dataclass

import numpy as np
import pytest
from engine_data import contaminated_cloud
from estimator_data import GOOD, angle
from sklearn.decomposition import PCA

from trueaxis.data.rows import ArrayRows
from trueaxis.datasets import planted
from trueaxis.methods import RPCAOM, PlainPCA, ReweightedPCA, Rule


def test_plain_pca_is_scikit_learns_in_every_attribute():
    X = contaminated_cloud()
    ours, theirs = PlainPCA(3).fit(X), PCA(3).fit(X)
    for name in (
        "mean_", "explained_variance_", "explained_variance_ratio_", "noise_variance_",
    ):  # fmt: skip
        one, two = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_allclose(one, two, rtol=1e-10)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance())
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)))


@dataclass(eq=False)
class Fade(Rule):
    power: float = 1.0

    def weights(self, v, e, d):
        return (1 + e / np.median(e)) ** -self.power


def test_a_function_and_an_object_give_the_same():
    X = planted("scatter", n=700, n_features=6, n_components=2, share=0.1).X
    by_object = ReweightedPCA(2, rule=Fade(2.0)).fit(X)
    # It needs all rows at once: blocks of the data must not see their own medians.
    by_function = ReweightedPCA(2, rule=Fade(2.0).weights).fit(ArrayRows(X, 50))
    np.testing.assert_allclose(by_object.components_, by_function.components_)
    np.testing.assert_allclose(by_object.weights_, by_function.weights_)


def test_a_function_can_rebuild_a_method():
    X = planted("scatter", n=200, n_features=6, n_components=2, share=0.1).X
    mine = ReweightedPCA(
        2, rule=lambda v, e, d: 1 / np.sqrt(e + 1e-10 * d.mean()), tol=1e-9
    ).fit(X)
    theirs = RPCAOM(2, tol=1e-9).fit(X)
    assert angle(mine, theirs) < 1e-3


def test_rows_without_weight_are_not_shown_to_a_rule():
    X = planted("scatter", n=90, n_features=6, n_components=2, share=0.1).X
    more = np.vstack([X, np.full((50, 6), 1e6)])
    weight = np.r_[np.ones(90), np.zeros(50)]
    one = ReweightedPCA(2, rule=Fade()).fit(X)
    two = ReweightedPCA(2, rule=Fade()).fit(more, sample_weight=weight)
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-9)
    assert not two.weights_[90:].any()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda v, e, d: -e, "row 0 the weight -.*finite and not negative"),
        (lambda v, e, d: e * np.nan, "the weight nan.*30 such rows"),
        (lambda v, e, d: e[:-1], r"shape \(29,\) for 30 rows"),
        (lambda v, e, d: 0 * e, "No row carries weight"),
    ],
    ids=["negative", "nan", "shape", "zero"],
)
def test_invalid_rules_raise_errors(rule, message):
    with pytest.raises(ValueError, match=message):
        ReweightedPCA(2, rule=rule).fit(GOOD)


def test_a_rule_that_follows_one_row_is_warned_of():
    def nearest(v, e, d):
        return d <= d.min()

    with pytest.warns(
        UserWarning, match="ReweightedPCA: only 1 of 30 rows carry weight"
    ):
        ReweightedPCA(2, rule=nearest, max_iter=5, tol=1.0).fit(GOOD)
