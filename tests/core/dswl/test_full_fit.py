"""From the sample to all rows."""

import numpy as np
import pytest

from trueaxis import DSWL
from trueaxis.core.law import REGULAR
from trueaxis.dswl.full_fit import truncation


@pytest.mark.slow
@pytest.mark.parametrize("dof", [1, 2, 5, 40])
def test_truncation_by_simulation(dof):
    t = np.random.default_rng(dof).standard_normal((200_000, dof))
    d2 = (t**2).sum(axis=1)
    inner = t[d2 <= np.quantile(d2, 1 - REGULAR / 2)]
    np.testing.assert_allclose(truncation(dof, 0.0125), 1 / inner.var(), rtol=0.01)
    assert truncation(0, 0.0125) == 1


@pytest.mark.filterwarnings("ignore:DSWL")
def test_weights_sum_to_one_however_far_all_rows_are_from_the_center():
    X = np.zeros((11, 2))
    X[[1, 2, 3, 4, 5, 8, 9, 10], 0] = X[[2, 4, 6, 9], 1] = 1e15
    for weights in (None, np.linspace(0.5, 1.5, 11)):
        model = DSWL(2, tau=(1.0, 1.0, 1.0)).fit(X, sample_weight=weights)
        np.testing.assert_allclose(model.weights_.sum(), 1.0)
