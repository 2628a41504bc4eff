"""Distances of rows, and sums over their copies."""

import numpy as np
import pytest

from trueaxis.core.rules import RowDistances


def test_sums_and_medians_count_copies():
    rng = np.random.default_rng(0)
    x, counts = rng.random(20), rng.integers(0, 4, 20).astype(float)
    distances = RowDistances(x, x, x, counts=counts)
    again = np.repeat(x, counts.astype(int))
    assert distances.total(x) == pytest.approx(again.sum())
    assert distances.mean(x) == pytest.approx(again.mean())
    assert distances.median(x) == pytest.approx(np.median(again))


def test_distances_of_some_rows_are_theirs_and_count_once():
    rng = np.random.default_rng(0)
    v, e, s, w = rng.random((4, 20))
    index = np.array([3, 3, 17, 0])  # a sample may have copies
    some = RowDistances(v, e, s, w, np.full(20, 2.0)).of(index)
    for found, expected in zip(some[:3], (v, e, s), strict=True):
        np.testing.assert_array_equal(found, expected[index])
    assert some.fit_weight is None and some.counts is None
    assert some.mean(some.d) == pytest.approx((v + e)[index].mean())
