"""The pass over large data, against separate passes and plain formulas."""

from dataclasses import replace

import numpy as np
import pytest
from engine_data import contaminated_cloud, pca_subspace
from hypothesis import given, settings
from hypothesis import strategies as st

from trueaxis.core.kernels import RowCounts, RowWeights
from trueaxis.core.law import Cuts, Sides
from trueaxis.core.reweighting import measure_rows, weighted_moments
from trueaxis.core.verdicts import LogWeightKernel
from trueaxis.data.rows import ArrayRows
from trueaxis.dswl.full_fit import ReweightKernel
from trueaxis.dswl.plan import EntropyRule

RULE = EntropyRule(9.0, 4.0, 12.0)


def two_subspaces(X, k=2):
    """The subspace of plain PCA, and another one with another center."""
    near = pca_subspace(X.astype(float), k)
    rng = np.random.default_rng(0)
    basis = np.linalg.qr((near.basis + 0.1 * rng.standard_normal(near.basis.shape)).T)
    return near, replace(near, mean=near.mean + 0.2, basis=basis[0].T)


def passed(X, near, state, cuts, counts=None, sides=None, with_distances=True):
    kernel = ReweightKernel(
        state,
        RULE,
        near,
        cuts,
        row_counts=RowCounts(counts),
        sides=sides,
        dtype=X.dtype,
        with_distances=with_distances,
    )
    return ArrayRows(X, 37).scan(kernel)


def clear_cuts(distances):
    """Cuts halfway between two rows."""
    pairs = (np.sort(x)[[40, 41]].mean() for x in (distances.e, distances.s))
    return Cuts(*map(float, pairs))


@given(seed=st.integers(0, 10**6), weighted=st.booleans(), grouped=st.booleans())
@settings(deadline=None, max_examples=15)
def test_one_pass_does_the_work_of_three(seed, weighted, grouped):
    rng = np.random.default_rng(seed)
    X = contaminated_cloud(seed) + rng.choice([0.0, 1e3])
    near, state = two_subspaces(X)
    counts = rng.integers(0, 3, 60).astype(float) if weighted else None
    sides = None
    if grouped:
        direction = rng.standard_normal((1, 6))
        center = direction @ near.mean
        sides = Sides(direction, center, center + 2.0)
    distances = measure_rows(ArrayRows(X), near)
    cuts = clear_cuts(distances)
    (x, e, s, beyond), sums = passed(X, near, state, cuts, counts, sides)
    np.testing.assert_allclose(e, distances.e, rtol=1e-7)
    np.testing.assert_allclose(s, distances.s, rtol=1e-7, atol=1e-9)
    apart = np.zeros(60, dtype=bool)
    if sides is not None:
        apart = sides(X)
        np.testing.assert_allclose(beyond, sides.beyond(X), atol=1e-9)
    # Weights: the kernel of small data, for the rows of no group.
    (expected,), _ = ArrayRows(X).scan(LogWeightKernel(state, RULE, RowCounts(counts)))
    expected[apart] = -np.inf
    np.testing.assert_allclose(x, expected, rtol=1e-7)
    w = np.exp(expected)
    np.testing.assert_allclose(np.exp(sums.total.log_total()), w.sum(), rtol=1e-7)
    # Moments: rows within the cuts, with weight 1.
    kept = (distances.e <= cuts.e) & (distances.s <= cuts.s) & ~apart
    weighting = RowWeights(np.where(kept, 0.0, -np.inf))
    moments = weighted_moments(ArrayRows(X), near.mean, weighting, counts).span()
    if moments.is_empty():
        assert sums.moments.is_empty()
        return
    np.testing.assert_allclose(sums.moments.mean(), moments.mean(), rtol=1e-9)
    np.testing.assert_allclose(
        sums.moments.full_scatter(), moments.full_scatter(), atol=1e-9
    )
    np.testing.assert_allclose(sums.moments.log_weight(), moments.log_weight())


def test_distances_are_recorded_only_if_asked_for():
    X = contaminated_cloud()
    near, state = two_subspaces(X)
    cuts = clear_cuts(measure_rows(ArrayRows(X), near))
    with_distances, sums = passed(X, near, state, cuts)
    without, same = passed(X, near, state, cuts, with_distances=False)
    assert with_distances.shape == (4, 60) and without.shape == (1, 60)
    np.testing.assert_array_equal(without[0], with_distances[0])
    np.testing.assert_array_equal(sums.moments.second, same.moments.second)


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_single_precision_loses_no_more_than_its_own_roundings(offset):
    X = (contaminated_cloud() + offset).astype(np.float32)
    near, state = two_subspaces(X)
    exact = X.astype(float)
    cuts = clear_cuts(measure_rows(ArrayRows(exact), near))
    record, sums = passed(X, near, state, cuts)
    expected, more = passed(exact, near, state, cuts)
    np.testing.assert_allclose(record[:3], expected[:3], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(
        sums.moments.mean() - offset, more.moments.mean() - offset, atol=1e-5
    )
    np.testing.assert_allclose(
        sums.moments.full_scatter(), more.moments.full_scatter(), atol=1e-4
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_infinite_rows_have_no_weight_and_no_moments(dtype, weighted):
    X = contaminated_cloud().astype(dtype)
    near, state = two_subspaces(X)
    cuts = clear_cuts(measure_rows(ArrayRows(X), near))
    counts = np.ones(60) if weighted else None
    top = float(np.finfo(dtype).max)
    far = X.copy()
    far[[3, 9, 11]] = np.array([[0.9 * top], [-0.5 * top], [top**0.75]])
    rest = np.delete(np.arange(60), [3, 9, 11])
    (x, e, s, _), sums = passed(far, near, state, cuts, counts)
    assert (x[[3, 9, 11]] == -np.inf).all() and (e[[3, 9, 11]] == np.inf).all()
    assert not np.isnan([x, e, s]).any()
    few = None if counts is None else counts[rest]
    _, expected = passed(X[rest], near, state, cuts, few)
    rtol = 1e-9 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(
        sums.moments.full_scatter(), expected.moments.full_scatter(), atol=rtol
    )
    np.testing.assert_allclose(
        sums.total.log_total(), expected.total.log_total(), rtol=rtol
    )


def test_rows_next_to_a_shifted_subspace_keep_their_digits():
    rng = np.random.default_rng(1)
    tiny = 1e-9 * rng.standard_normal((40, 4))
    X = np.hstack([rng.standard_normal((40, 2)), tiny])
    near = replace(
        pca_subspace(X), mean=np.zeros(6), basis=np.eye(2, 6), variances=np.ones(2)
    )
    record, _ = passed(X + 0.1, replace(near, mean=np.full(6, 0.1)), near, Cuts(1, 1))
    np.testing.assert_allclose(record[1], (tiny**2).sum(axis=1), rtol=1e-6)
    # The other way round, log-weights follow from distances of the state.
    far = replace(near, mean=np.full(6, 5.0))
    record, _ = passed(X, far, near, Cuts(1.0, 1.0))
    (expected,), _ = ArrayRows(X).scan(LogWeightKernel(near, RULE))
    np.testing.assert_allclose(record[0], expected, rtol=1e-9)
