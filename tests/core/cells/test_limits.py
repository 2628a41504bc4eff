"""Limits of good cells: the majority of a column, and where its law ends."""

import numpy as np
import pytest

from trueaxis.cells.limits import law_ends, majority, raise_known


def limits(column, marginal=False):
    z = np.asarray(column, dtype=float)[:, None]
    return law_ends(z, np.ones_like(z, dtype=bool), np.array([marginal]))[:, 0]


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
    assert np.mean(beyond) < 0.03


@pytest.mark.parametrize("share", [0.002, 0.01, 0.1, 0.3])
def test_cells_that_stand_apart_lie_beyond_the_law(share):
    rng = np.random.default_rng(0)
    z = rng.normal(size=1000)
    wrong = np.arange(1000) < share * 1000
    z[wrong] = rng.normal(18.0, 2.0, wrong.sum())
    low, high = limits(z)
    assert np.isinf(low)
    assert z[~wrong].max() * 0.4 < high < z[wrong].min()


def test_the_more_cells_are_wrong_the_nearer_is_the_limit():
    rng = np.random.default_rng(1)
    z = rng.normal(size=2000)
    high = []
    for share in (0.02, 0.2):
        wrong = np.arange(2000) < share * 2000
        high.append(limits(np.where(wrong, np.abs(rng.normal(8, 3, 2000)), z))[1])
    assert 2.0 <= high[1] < high[0]


def test_columns_of_few_cells_say_together_what_none_says_alone():
    rng = np.random.default_rng(2)
    z = rng.normal(size=(30, 40))
    z[0] = 6.0
    seen = np.ones_like(z, dtype=bool)
    together = law_ends(z, seen, np.zeros(40, dtype=bool))[1]
    alone = np.array([limits(column)[1] for column in z.T])
    assert (together < 6.0).mean() > 0.9
    assert (alone < 6.0).mean() < 0.6


def test_the_majority_holds_still_with_two_fifths_of_the_cells_off():
    X = np.random.default_rng(3).normal(5.0, 2.0, size=(1000, 3))
    X[:400, 1] = 5.0 + 6 * 2.0
    X[:, 2] = 7.0
    seen = np.ones_like(X, dtype=bool)
    seen[500:600, 0] = False
    X[500:600, 0] = 1e9
    center, spread = majority(X, seen)
    np.testing.assert_allclose(center, [5.0, 5.0, 7.0], atol=0.5)
    np.testing.assert_allclose(spread, [2.0, 2.0, 0.0], rtol=0.2)


def test_a_mode_that_the_factors_explain_is_no_error():
    rng = np.random.default_rng(4)
    factor = rng.normal(size=(400, 1))
    own = np.where(factor[:, 0] > 1.0, 8.0, 0.0)  # rows of a kind
    anybody = np.where(rng.random(400) < 0.15, 8.0, 0.0)
    z = rng.normal(size=(400, 2)) + np.column_stack([own, anybody])
    raised = raise_known(np.full((2, 2), 4.0), z, np.ones_like(z, dtype=bool), factor)
    assert np.isinf(raised[1, 0]) and raised[1, 1] == 4.0
