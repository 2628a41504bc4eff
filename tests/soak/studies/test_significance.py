"""Tests, ranks and verdicts."""

import numpy as np
import pytest
from scipy import stats

from studies.significance import (
    FAILS,
    HOLDS,
    UNCLEAR,
    holm,
    is_best,
    paired,
    ranking,
)


def test_ranks_and_friedman_agree_with_brute_force():
    rng = np.random.default_rng(0)
    values = {name: rng.integers(0, 6, 9).astype(float) for name in "abcd"}
    found = ranking(values, more=True)
    table = np.array(list(values.values()))
    for i, name in enumerate(values):
        above = (table > table[i]).sum(axis=0)
        equal = (table == table[i]).sum(axis=0)
        assert found.ranks[name] == pytest.approx((above + (equal + 1) / 2).mean())
    expected = stats.friedmanchisquare(*table)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    # Demsar (2006): q is 2.569 for 4 methods at the level 0.05.
    assert found.critical == pytest.approx(2.569 * np.sqrt(4 * 5 / 54), abs=1e-3)
    opposite = ranking({name: -x for name, x in values.items()}, more=False)
    assert opposite.ranks == found.ranks


def test_equal_methods_cannot_be_told_apart():
    found = ranking({name: np.ones(5) for name in "abc"}, more=False)
    assert found.ranks == {"a": 2, "b": 2, "c": 2}
    assert found.p == 1 and set(found.against.values()) == {1}


def test_holm_and_wilcoxon():
    assert holm({"a": 0.04, "b": 0.01, "c": 0.03}) == pytest.approx(
        {"a": 0.06, "b": 0.03, "c": 0.06}
    )
    rng = np.random.default_rng(1)
    one, other = rng.random((2, 12))
    expected = stats.wilcoxon(one, other).pvalue
    assert paired(one, other) == pytest.approx(expected)
    assert paired(one, one) == 1


def test_best_is_judged_by_median_and_test():
    noise = np.random.default_rng(0).normal(size=(3, 40))
    values = {"ours": noise[0], "near": noise[1] + 3, "far": noise[2] + 9}
    assert is_best("", values, "ours").verdict == HOLDS
    assert is_best("", values, "near").verdict == FAILS
    assert is_best("", values, "far", more=True).verdict == HOLDS
    values["near"] = noise[1]
    assert is_best("", values, "ours").verdict == UNCLEAR
