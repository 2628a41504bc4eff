"""Rules that keep the best rows: selection with counts, and projection on a simplex."""

from types import SimpleNamespace

import numpy as np
import pytest
from engine_data import some_distances
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from trueaxis.methods.selection import (
    NearestRule,
    NeighborRule,
    project_on_simplex,
    smallest,
)

PROBLEM = SimpleNamespace(n_rows=20, total_weight=20.0)


def test_simplex_projection_and_adaptive_neighbors_agree():
    distances = some_distances()
    rule = NeighborRule(12.0)
    gamma, w = rule.solved(distances)
    assert (w > 0).sum() == 12 and w.sum() == pytest.approx(1)
    again = project_on_simplex(-distances.e / (2 * gamma), None)
    np.testing.assert_allclose(w, again, atol=1e-14)
    # brute force: the quadratic program itself
    found = minimize(
        lambda u: u @ distances.e + gamma * u @ u,
        np.full(len(w), 1 / len(w)),
        bounds=[(0, 1)] * len(w),
        constraints={"type": "eq", "fun": lambda u: u.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(w, found.x, atol=1e-4)


@given(seed=st.integers(0, 10**6))
def test_selection_and_projection_count_repetitions(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    x, counts = rng.integers(0, 6, n) + rng.random(n), rng.integers(0, 4, n)
    if counts.sum() < 2:
        counts[:2] = 1
    again = np.repeat(np.arange(n), counts)
    q = int(rng.integers(1, counts.sum() + 1))
    share, edge = smallest(x, q, counts.astype(float))
    expanded, edge_of_all = smallest(x[again], q, None)
    total = np.bincount(again, weights=expanded, minlength=n)
    np.testing.assert_allclose(share * counts, total)
    assert edge == edge_of_all
    w = project_on_simplex(-x, counts.astype(float))
    np.testing.assert_allclose(
        w[again], project_on_simplex(-x[again], None), atol=1e-12
    )
    assert (w * counts).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        (NearestRule(7), 7),
        (NearestRule(0.5), 10),
        (NearestRule(0.51), 11),  # rounded up
        (NearestRule(0.01), 4),  # k + 2 rows determine a subspace
        (NearestRule(1.0), 20),
        (NearestRule(1.0, left_out=1), 19),
        (NearestRule(20), 20),
        (NearestRule(4), 4),
    ],
    ids=str,
)
def test_the_number_of_rows_to_keep(rule, kept):
    assert rule._for_problem(PROBLEM, k=2).q == kept


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            NearestRule(21),
            "q=21 rows are to be kept, but X has 20: choose at most 20, or",
        ),
        (NearestRule(20, left_out=1), "q=20 rows .* X has 20: choose at most 19, or a"),
        (NearestRule(3), "q=3 rows are too few for 2 .*: choose at least 4 of the 20"),
    ],
    ids=["more than there are", "all of them", "too few"],
)
def test_numbers_of_rows_that_are_impossible_raise(rule, message):
    with pytest.raises(ValueError, match=message):
        rule._for_problem(PROBLEM, k=2)
