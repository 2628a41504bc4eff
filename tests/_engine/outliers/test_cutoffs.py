"""Valleys in sorted distances."""

import numpy as np

from trueaxis._engine.outliers.cutoffs import (
    valley,
)


def test_a_valley_is_found_and_a_tail_is_not():
    rng = np.random.default_rng(0)
    bulk = np.sort(np.cbrt(rng.chisquare(5, 400)))
    apart = np.sort(np.r_[bulk, 6 + 0.1 * rng.standard_normal(100)])
    assert valley(apart) == 400
    tail = np.sort(np.cbrt(rng.lognormal(0, 1.5, 500)))
    assert valley(tail) == 500
    assert valley(bulk[:5]) == 5


def test_three_rows_just_beyond_the_edge_are_no_group():
    rng = np.random.default_rng(1)
    z = np.sort(np.r_[np.abs(rng.normal(1.5, 0.2, 60)), 2.35, 2.4, 2.45])
    assert valley(z) == 63
    assert valley(np.r_[z[:60], 9.0, 9.1, 9.2]) == 60
