"""Numbers of components chosen from variances."""

import numpy as np

from trueaxis._engine.dimension import above_noise, choose_dimension


def test_the_dimension_rules():
    variances = np.r_[9.0, 4.0, 2.0, np.full(17, 0.1)]
    assert above_noise(variances, 500, 20) == 3
    assert above_noise(np.ones(20), 500, 20) == 1
    assert above_noise(variances, 12, 20) == 2  # one per five rows
    assert choose_dimension(0.5, variances, 500, 20) == 1
    assert choose_dimension(0.75, variances, 500, 20) == 2
    assert (
        choose_dimension(variances[:3].sum() / variances.sum(), variances, 500, 20) == 3
    )
