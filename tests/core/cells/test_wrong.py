"""Wrong cells: where the law of a column ends, and the mixture by brute force."""

import numpy as np
import pytest
from scipy.stats import norm

from trueaxis.cells.factors import Deviations
from trueaxis.cells.wrong import (
    WrongCells,
    reach,
)


def limits(column, marginal=False):
    z = np.asarray(column, dtype=float)[:, None]
    use = np.ones_like(z, dtype=bool)
    return reach(z, use, use, np.array([marginal]))[:, 0]


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=500),
        lambda rng: rng.exponential(size=500) - 1.0,
        lambda rng: rng.lognormal(size=500) - 1.6,
        lambda rng: rng.uniform(-1, 1, 500),
        lambda rng: rng.standard_t(3, 500),
        lambda rng: np.zeros(500),
    ],
    ids=["normal", "exponential", "lognormal", "uniform", "t3", "constant"],
)
def test_next_to_no_cell_of_a_single_law_is_beyond_it(draw):
    beyond = []
    for seed in range(20):
        z = draw(np.random.default_rng(seed))
        low, high = limits(z)
        beyond.append(np.mean((z < -low) | (z > high)))
    assert np.mean(beyond) < 0.02


@pytest.mark.parametrize("share", [0.002, 0.01, 0.1, 0.3])
def test_cells_that_stand_apart_lie_beyond_the_law(share):
    rng = np.random.default_rng(0)
    z = rng.normal(size=1000)
    wrong = np.arange(1000) < share * 1000
    z[wrong] = rng.normal(18.0, 2.0, wrong.sum())
    low, high = limits(z)
    assert np.isinf(low)
    assert z[~wrong].max() * 0.4 < high < z[wrong].min()


def test_classes_by_brute_force():
    rng = np.random.default_rng(2)
    X = rng.normal(0, 3, size=(40, 3))
    seen = rng.random(X.shape) > 0.2
    deviations = Deviations(
        rng.normal(0, 2, X.shape), rng.uniform(0.5, 2.0, X.shape), np.zeros_like(X)
    )
    wrong = WrongCells(
        rng.uniform(0.01, 0.2, (2, 3)),
        np.array([[-5.0] * 3, [5.0] * 3]),
        rng.uniform(1.0, 4.0, (2, 3)),
        np.zeros((2, 3)),
        np.array([False, False, False]),
    )
    classes = wrong.classify(X, seen, deviations)
    scale = np.sqrt(deviations.variance)
    good = (1 - wrong.shares.sum(axis=0)) * norm.pdf(deviations.difference, 0, scale)
    sides = [
        wrong.shares[side]
        * norm.pdf(X, wrong.centers[side], np.sqrt(wrong.variances[side]))
        for side in (0, 1)
    ]
    total = good + sides[0] + sides[1]
    np.testing.assert_allclose(classes.good, seen * good / total, atol=1e-12)
    np.testing.assert_allclose(classes.low, seen * sides[0] / total, atol=1e-12)
    np.testing.assert_allclose(classes.high, seen * sides[1] / total, atol=1e-12)
    likely = good >= np.maximum(*sides)
    np.testing.assert_array_equal(wrong.good(X, seen, deviations), seen & likely)
