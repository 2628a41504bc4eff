"""Distances of rows, and sums over their copies."""

import numpy as np
import pytest

from trueaxis._engine.rules.base import RowDistances


def test_sums_and_medians_count_copies():
    rng = np.random.default_rng(0)
    x, counts = rng.random(20), rng.integers(0, 4, 20).astype(float)
    distances = RowDistances(x, x, x, counts=counts)
    again = np.repeat(x, counts.astype(int))
    assert distances.total(x) == pytest.approx(again.sum())
    assert distances.mean(x) == pytest.approx(again.mean())
    assert distances.median(x) == pytest.approx(np.median(again))
