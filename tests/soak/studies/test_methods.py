"""Methods of the studies, and temperatures of DSWL as published."""

import numpy as np
import pytest

from studies.methods import grid, temperatures
from trueaxis.datasets import planted


@pytest.mark.slow
def test_temperatures_scale_with_the_data_and_the_objective_cannot_fall():
    X = planted("scatter", n=60, n_features=5, n_components=2).X
    chosen = temperatures(X, [1, 2])
    for k, tau in temperatures(7 * X, [1, 2]).items():
        np.testing.assert_allclose(tau, 49 * np.array(chosen[k]), rtol=1e-6)
    for k in (1, 2, 5):
        assert all(0 < tau[1] <= tau[0] for tau in grid(X, k).values())
        assert all(tau[2] > 0 for tau in grid(X, k).values())
