"""From the sample to all rows."""

import numpy as np
import pytest

from trueaxis._engine.dswl.full_fit import truncation
from trueaxis._engine.outliers.law import REGULAR


@pytest.mark.slow
@pytest.mark.parametrize("dof", [1, 2, 5, 40])
def test_truncation_by_simulation(dof):
    t = np.random.default_rng(dof).standard_normal((200_000, dof))
    d2 = (t**2).sum(axis=1)
    inner = t[d2 <= np.quantile(d2, 1 - REGULAR / 2)]
    np.testing.assert_allclose(truncation(dof, 0.0125), 1 / inner.var(), rtol=0.01)
    assert truncation(0, 0.0125) == 1
