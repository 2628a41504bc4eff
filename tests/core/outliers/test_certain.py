"""Verdicts from distances from a subspace nearby equal those of the kernel."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueaxis import DSWL
from trueaxis.core.kernels import RowCounts
from trueaxis.core.law import Cuts, Sides
from trueaxis.core.reweighting import measure_rows
from trueaxis.core.subspace import Subspace
from trueaxis.core.verdicts import NearDistances, SupportKernel
from trueaxis.data.rows import ArrayRows
from trueaxis.dswl.full_fit import ReweightKernel
from trueaxis.dswl.plan import EntropyRule


class CountingRows(ArrayRows):
    """Rows that count how many of them are read again."""

    taken = 0

    def take(self, index):
        self.taken += len(index)
        return super().take(index)


def some_rows(rng, n=400, D=5, unit=1.0, offset=0.0):
    return unit * (rng.standard_normal((n, D)) * np.linspace(4, 0.5, D) + offset)


def subspace_of(X, k):
    y = X - X.mean(axis=0)
    basis = np.linalg.svd(y, full_matrices=False)[2][:k]
    total = float(np.var(y, axis=0).sum())
    return Subspace(X.mean(axis=0), basis, np.var(y @ basis.T, axis=0), total)


def moved(rng, subspace, by):
    """A subspace that is turned, shifted and stretched by about as much."""
    k, D = subspace.basis.shape
    basis = np.linalg.qr((subspace.basis + by * rng.standard_normal((k, D))).T)[0].T
    shift = by * np.sqrt(subspace.total / D) * rng.standard_normal(D)
    variances = subspace.variances * np.exp(min(by, 2.0) * rng.standard_normal(k))
    return Subspace(subspace.mean + shift, basis, variances, subspace.total)


def between(x, share):
    """A cut between two values, so that no row lies on it."""
    x = np.sort(x[np.isfinite(x)])
    i = min(int(share * len(x)), len(x) - 2)
    return float((x[i] + x[i + 1]) / 2)


def measured(X, near, final, sides=None):
    """What the pass over large data records, about `near`."""
    kernel = ReweightKernel(
        final,
        EntropyRule(1.0, 1.0, 1.0),
        near,
        Cuts(near.total, 10.0),
        row_counts=RowCounts(None),
        sides=sides,
        dtype=X.dtype,
        with_distances=True,
    )
    (_, *distances), _ = ArrayRows(X).scan(kernel)
    return NearDistances(near, *distances)


def agree(X, near, kernel):
    """Assert that verdicts are the kernel's; return how many rows were read again."""
    rows = CountingRows(X)
    found = measured(X, near, kernel.measuring.subspace, kernel.sides)
    expected = ArrayRows(X).scan(kernel)[0][0]
    np.testing.assert_array_equal(found.support(rows, kernel), expected)
    return rows.taken


@given(
    seed=st.integers(0, 10**6),
    k=st.integers(0, 4),
    log_by=st.floats(-16, 1),
    shares=st.tuples(st.floats(0.1, 0.99), st.floats(0.1, 0.99)),
    unit=st.sampled_from([1e-140, 1.0, 1e140]),
)
@settings(deadline=None, max_examples=25)
def test_verdicts_are_those_of_the_kernel(seed, k, log_by, shares, unit):
    rng = np.random.default_rng(seed)
    X = some_rows(rng)
    near = subspace_of(X, k)
    final = moved(rng, near, 10.0**log_by)
    distances = measure_rows(ArrayRows(X), final)
    cuts = Cuts(
        between(distances.e, shares[0]), between(distances.s, shares[1]) if k else 1.0
    )
    agree(X, near, SupportKernel(final, cuts))
    in_unit = [
        Subspace(
            unit * one.mean, one.basis, unit**2 * one.variances, unit**2 * one.total
        )
        for one in (near, final)
    ]
    kernel = SupportKernel(in_unit[1], cuts._replace(e=unit**2 * cuts.e))
    agree(unit * X, in_unit[0], kernel)


@given(seed=st.integers(0, 10**6), log_by=st.floats(-9, 0))
@settings(deadline=None, max_examples=30)
def test_single_precision_far_from_the_origin_is_not_trusted_too_much(seed, log_by):
    rng = np.random.default_rng(seed)
    X = some_rows(rng, offset=rng.choice([0.0, 1e3, 1e4])).astype(np.float32)
    near = subspace_of(X.astype(float), 2)
    final = moved(rng, near, 10.0**log_by)
    distances = measure_rows(ArrayRows(X), final)
    cuts = Cuts(between(distances.e, 0.8), between(distances.s, 0.8))
    agree(X, near, SupportKernel(final, cuts))


@given(seed=st.integers(0, 10**6), beyond=st.sampled_from([0.5, 1.0, np.inf]))
@settings(deadline=None, max_examples=30)
def test_rows_of_groups_are_told_as_by_the_kernel(seed, beyond):
    rng = np.random.default_rng(seed)
    X = some_rows(rng, offset=3.0)
    near = subspace_of(X, 2)
    final = moved(rng, near, 1e-3)
    directions = rng.standard_normal((2, 5))
    centers = directions @ X.mean(axis=0)
    sides = Sides(directions, centers, centers + rng.choice([-3.0, 2.0], 2))
    distances = measure_rows(ArrayRows(X), final)
    cuts = Cuts(between(distances.e, 0.8), between(distances.s, 0.8), beyond)
    agree(X, near, SupportKernel(final, cuts, sides))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("grouped", [False, True])
def test_rows_whose_squares_overflow_are_beyond_all_cuts(dtype, grouped):
    X = some_rows(np.random.default_rng(0)).astype(dtype)
    near = subspace_of(X.astype(float), 2)
    final = moved(np.random.default_rng(1), near, 1e-4)
    top = float(np.finfo(dtype).max)
    X[3], X[4], X[5, 0] = 0.9 * top, -0.5 * top, top**0.8
    sides = Sides(np.ones((1, 5)), np.zeros(1), np.full(1, 4.0)) if grouped else None
    for cuts in (Cuts(5.0, 6.0, 1.0), Cuts(np.inf, np.inf, 1.0)):
        agree(X, near, SupportKernel(final, cuts, sides))


def test_few_rows_near_the_cuts_are_measured_again():
    rng = np.random.default_rng(0)
    X = some_rows(rng, n=5000)
    near = subspace_of(X, 2)
    cuts = Cuts(5.0, 6.0)
    assert agree(X, near, SupportKernel(near, cuts)) == 0
    taken = [
        agree(X, near, SupportKernel(moved(np.random.default_rng(1), near, by), cuts))
        for by in (1e-6, 1e-3, 0.1)
    ]
    assert taken == sorted(taken) and taken[0] < 5 and taken[1] < 500


def test_subspaces_far_apart_tell_little_but_nothing_wrong():
    X = some_rows(np.random.default_rng(0), n=300)
    near = subspace_of(X, 2)
    across = replace(near, basis=np.linalg.svd(near.basis)[2][2:4])
    distances = measure_rows(ArrayRows(X), across)
    cuts = Cuts(between(distances.e, 0.6), between(distances.s, 0.6))
    assert agree(X, near, SupportKernel(across, cuts)) > 200
    away = replace(near, mean=near.mean + 1e3)
    distances = measure_rows(ArrayRows(X), away)
    cuts = Cuts(between(distances.e, 0.6), between(distances.s, 0.6))
    assert agree(X, near, SupportKernel(away, cuts)) == 300


def test_variances_of_zero_and_all_columns_tell_nothing_wrong():
    rng = np.random.default_rng(0)
    X = some_rows(rng, D=3)
    X[:, 2] = 1.0
    near = subspace_of(X, 3)  # its last variance is a rounding error
    final = moved(rng, near, 1e-5)
    distances = measure_rows(ArrayRows(X), final)
    agree(X, near, SupportKernel(final, Cuts(1e-3, between(distances.s, 0.9))))
    still = Subspace(np.ones(3), np.eye(2, 3), np.zeros(2), 0.0)
    agree(np.ones((20, 3)), still, SupportKernel(still, Cuts(1.0, 1.0)))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_support_of_a_large_fit_is_what_it_predicts(dtype):
    rng = np.random.default_rng(0)
    X = some_rows(rng, n=4600, D=6)
    group = X.copy()
    group[:900] += 15
    huge = group.copy()
    huge[5] = 0.5 * float(np.finfo(dtype).max)
    for table in (X, X + 1e3, np.round(X), group, huge):
        for k in (1, 5, 6):
            model = DSWL(k).fit(table.astype(dtype))
            predicted = model.predict(table.astype(dtype)) == 1
            np.testing.assert_array_equal(model.support_, predicted)
