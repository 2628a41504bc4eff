"""Rows in few coordinates: nothing is lost, and what is missing is added."""

from dataclasses import replace

import numpy as np
import pytest

from trueaxis.core.reweighting import measure_rows
from trueaxis.core.starts import direction_rng, random_directions
from trueaxis.core.subspace import subspace_change
from trueaxis.data.rows import ArrayRows
from trueaxis.dswl.sample_fit import SPARE, compress, find_core


def wide(seed=0, n=300, D=200, k=3, noise=0.3, offset=0.0):
    """Rows near a subspace, in many columns."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((D, k)))[0]
    scores = rng.standard_normal((n, k)) * np.linspace(18, 9, k)
    return scores @ axes.T + noise * rng.standard_normal((n, D)) + offset


def compressed(X, k=3, n_half=None):
    half = X[: n_half or len(X) // 2 + 1]
    return compress(X, half, random_directions(X, direction_rng()), k)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_distances_in_few_coordinates_are_those_in_all_columns(dtype, offset):
    X = wide(offset=offset).astype(dtype)
    space, start = compressed(X)
    assert space.rows.shape == (300, 2 * 3 + SPARE)
    few = measure_rows(space.rows, start)
    lifted = space.lift(start)
    all_columns = measure_rows(ArrayRows(X.astype(float)), lifted)
    rtol = 1e-9 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(few.v, all_columns.v, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(few.e, all_columns.e, rtol=rtol)
    np.testing.assert_allclose(few.s, all_columns.s, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_added_coordinates_lead_to_the_solution_in_all_columns(offset):
    X = wide(2, noise=1.0, offset=offset)
    space, start = compressed(X, n_half=40)  # whose axes are not those of all rows
    core = find_core(space.rows, start)
    w = core.single_weights()
    y = np.sqrt(w)[:, None] * (X - w @ X)
    exact = np.linalg.svd(y, full_matrices=False)[2][:3]
    lifted, errors, shares = space.lift_step(core), [], []
    for _ in range(4):
        before = measure_rows(ArrayRows(X), lifted.next)
        lowered = replace(lifted, next=space.lower(lifted.next))
        space, missing = space.completed(lowered)
        # Distances stay right in the new coordinates, about the new center.
        again = measure_rows(space.rows, space.lower(lifted.next))
        np.testing.assert_allclose(again.e, before.e, rtol=1e-7)
        inner = space.axes.T @ space.axes
        np.testing.assert_allclose(inner, np.eye(len(inner)), atol=1e-10)
        lifted = replace(lifted, next=space.lift(space.solve(lifted)))
        errors.append(subspace_change(lifted.next.basis, exact))
        shares.append(missing)
    assert errors == sorted(errors, reverse=True) and errors[-1] < 1e-4
    assert shares == sorted(shares, reverse=True)
    np.testing.assert_allclose(lifted.next.mean, w @ X, atol=1e-9)
    np.testing.assert_allclose(lifted.next.total, (y**2).sum(), rtol=1e-9)
