"""The law of regular rows: what it follows, and where it stops."""

import numpy as np
import pytest

from trueaxis.core.law import (
    Cloud,
    Law,
    Sides,
    Tail,
    distinct_rows,
    law_of_fit,
    learn_law,
    log_p_of_each,
)
from trueaxis.core.rules import RowDistances
from trueaxis.core.subspace import Subspace


def cloud_of(e, s, D=15, k=3):
    """A cloud with given distances, whose columns say nothing."""
    subspace = Subspace(np.zeros(D), np.eye(k, D), np.ones(k), float(D))
    distances = RowDistances(np.asarray(s), np.asarray(e), np.asarray(s))
    return Cloud(distances, 2.2e-16, np.ones(D, dtype=bool), subspace)


def flagged(e, s, level=0.025, **options):
    cuts = learn_law(cloud_of(e, s, **options)).cuts(np.log(level))
    return (e > cuts.e) | (s > cuts.s)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_gaussian_rows_are_flagged_as_often_as_the_level_says(share):
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        e, s = rng.chisquare(12, 600), rng.chisquare(3, 600)
        bad = np.arange(600) < share * 600
        e[bad] *= 50
        out = flagged(e, s)
        assert out[bad].all()
        found.append(out[~bad].mean())
    assert 0.01 < np.mean(found) < 0.04


@pytest.mark.parametrize("dof", [3, 5])
def test_heavy_tails_are_followed(dof):
    """As often flagged as the level says, except where chance looks like a shoulder."""
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        scale = dof / rng.chisquare(dof, 800)
        e, s = rng.chisquare(12, 800) * scale, rng.chisquare(3, 800) * scale
        found.append(flagged(e, s).mean())
        in_fit = law_of_fit(cloud_of(e, s)).cuts(np.log(0.025))
        learned = learn_law(cloud_of(e, s)).cuts(np.log(0.025))
        assert in_fit.s == learned.s and in_fit.e < learned.e
    assert 0.018 < np.median(found) < 0.032
    assert np.mean(found) < 0.04 and max(found) < 0.12


def test_a_shoulder_is_not_a_tail():
    """Rows that begin where regular ones end are seen by the bend of the density."""
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        e, s = rng.chisquare(12, 1000), rng.chisquare(3, 1000)
        e[:150] = rng.uniform(30, 60, 150)
        found.append(flagged(e, s)[:150].mean())
    assert np.mean(np.array(found) > 0.95) >= 0.9


def test_two_distances_have_one_p_value():
    for log_p in np.log([1e-300, 1e-12, 0.025, 0.3, 1.0]):
        assert log_p_of_each(log_p, 1) == log_p
        each = np.exp(log_p_of_each(log_p, 2))
        assert each * (2 - each) == pytest.approx(np.exp(log_p))


def test_far_rows_do_not_hide_behind_the_other_distance():
    """Rows off the subspace have any score distance, and must not widen that law."""
    rng = np.random.default_rng(0)
    e, s = rng.chisquare(12, 500), rng.chisquare(3, 500)
    clean = learn_law(cloud_of(e, s))
    e[:120] *= 100
    s[:120] *= 4
    bad = learn_law(cloud_of(e, s))
    np.testing.assert_allclose(bad.score.cut(-3.7), clean.score.cut(-3.7), rtol=0.25)


def test_repetitions_count_once_and_those_of_few_rows_are_regular():
    v, e = np.array([1.0, 2.0, 1.0, 1.0, 2.0]), np.array([3.0, 3.0, 3.0, 4.0, 3.0])
    first = distinct_rows(RowDistances(v, e, v))
    assert first.sum() == 3 and first[3]
    rows = np.repeat([1.0, 2.0, 7.0], 20)
    assert not flagged(rows, rows).any()
    once = np.append(rows, 7.1)
    assert np.flatnonzero(flagged(once, once)).tolist() == [60]


def test_an_exact_fit_leaves_no_room_off_the_subspace():
    rng = np.random.default_rng(0)
    e, s = np.zeros(200), rng.chisquare(2, 200)
    e[:40] = rng.chisquare(2, 40) * 1e-6
    out = flagged(e, s)
    assert out[:40].all() and out[40:].mean() < 0.08
    law = learn_law(cloud_of(e, s))
    assert law.orthogonal.scale == 0


def test_p_values_and_cuts_agree_and_groups_lie_beyond_their_edge():
    sides = Sides(np.array([[1.0, 0.0]]), np.zeros(1), np.array([4.0]))
    law = Law(Tail(0.5, 1.0, 0.9), Tail(1.0, 0.6, -0.2), sides)
    rng = np.random.default_rng(0)
    e, s, X = (
        rng.chisquare(4, 500),
        rng.chisquare(2, 500),
        3 * rng.normal(size=(500, 2)),
    )
    beyond = sides.beyond(X)
    np.testing.assert_array_equal(sides(X), X[:, 0] > 4)
    log_p = law.log_p(e, s, beyond)
    assert (log_p <= 0).all()
    for level in (0.2, 0.025, 0.001):
        cuts = law.cuts(np.log(level))
        within = (e <= cuts.e) & (s <= cuts.s) & (beyond <= cuts.beyond)
        np.testing.assert_array_equal(within, log_p >= np.log(level))
    again = Law.from_arrays(*law.to_arrays(2))
    np.testing.assert_array_equal(again.log_p(e, s, again.sides.beyond(X)), log_p)
    frame = np.linalg.qr(rng.standard_normal((5, 2)))[0].T
    lifted = sides.lifted(np.arange(5.0), frame)
    np.testing.assert_allclose(lifted.beyond(X @ frame + np.arange(5.0)), beyond)
