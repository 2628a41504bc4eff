"""Methods that keep q rows: T-RPCA, DRPCA, RWL-AN and RPCA-RP."""

from itertools import combinations

import numpy as np
import pytest
from estimator_data import GOOD

from trueaxis.datasets import planted
from trueaxis.methods import DRPCA, RPCARP, RWLAN, TRPCA


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_drpca_reaches_the_best_subset(seed):
    X = np.random.default_rng(seed).standard_normal((10, 3))

    def loss(rows):
        values = np.linalg.svd(rows - rows.mean(axis=0))[1]
        return (values[1:] ** 2).sum()

    best = min(loss(X[list(rows)]) for rows in combinations(range(10), 7))
    model = DRPCA(1, q=7, n_init=60).fit(X)
    kept = X[model.weights_ > 0]
    assert len(kept) == 7 and loss(kept) == pytest.approx(best)


def test_the_center_of_selected_rows_is_their_mean():
    X = planted("scatter", n=120, n_features=6, share=0.1).X
    model = RPCARP(2).fit(X)
    np.testing.assert_allclose(model.mean_, X[model.weights_ > 0].mean(axis=0))


def test_weights_on_too_few_rows_are_reported():
    with pytest.warns(UserWarning, match="RWLAN: only 1 of 30 rows.*follows"):
        RWLAN(2, gamma=1e-12).fit(GOOD)


@pytest.mark.parametrize("cls", [TRPCA, DRPCA, RWLAN, RPCARP])
@pytest.mark.parametrize("q", [25, 0.5])
def test_q_rows_are_kept(cls, q):
    X = planted("scatter", n=50, n_features=6, n_components=2, share=0.1).X
    model = cls(2, q=q).fit(X)
    assert model.q_ == 25
    assert (model.weights_ > 0).sum() == 25
