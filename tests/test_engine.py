"""The engine's parts, each against a second route to the same number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import subspace_angles

from trueaxis._engine.dswl.rules import EntropyRule, TrustRule
from trueaxis._engine.dswl.temperatures import calibrate, entropy, perplexity_scale
from trueaxis._engine.iterate import iterate
from trueaxis._engine.kernels import DistanceKernel, MomentKernel, RowWeights
from trueaxis._engine.moments import Moments
from trueaxis._engine.problem import affine_hull
from trueaxis._engine.quantiles import quantile
from trueaxis._engine.reweighted import ReweightedStep, measure_rows
from trueaxis._engine.rules.base import UniformRule
from trueaxis._engine.subspace import (
    Subspace,
    fix_signs,
    solve,
    spectrum,
    subspace_change,
    top_eigen,
)
from trueaxis._rows.base import ArrayRows, Rows


def cloud(seed=0, n=60, D=5, offset=0.0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, D)) * np.linspace(3, 0.5, D) + offset


def some_subspace(X, k=2):
    m = X.mean(axis=0)
    P = np.linalg.svd(X - m, full_matrices=False)[2][:k]
    t = (X - m) @ P.T
    return Subspace(m, P, t.var(axis=0), float(X.var(axis=0).sum()))


def symmetric(scatter):
    """Moments keep the upper triangle only."""
    return np.triu(scatter) + np.triu(scatter, 1).T


# ---------------------------------------------------------------- rows


def test_blocks_cover_all_rows_in_order():
    X = cloud(n=10)
    rows = ArrayRows(X, block_rows=4)
    parts = list(rows.blocks())
    assert [first for first, _ in parts] == [0, 4, 8]
    np.testing.assert_array_equal(np.vstack([block for _, block in parts]), X)


def test_take_of_any_source_equals_indexing():
    X = cloud(n=23)

    class Streamed(Rows):
        shape, dtype = X.shape, X.dtype

        def blocks(self):
            return ArrayRows(X, block_rows=5).blocks()

    index = np.array([22, 3, 3, 0, 11])
    np.testing.assert_array_equal(Streamed().take(index), X[index])


def test_a_source_without_blocks_says_so():
    with pytest.raises(TypeError, match="does not implement `blocks`"):
        Rows().blocks()


def test_map_applies_to_every_block():
    X = cloud(n=11)
    out = ArrayRows(X, block_rows=3).map(lambda block: block[:, :2] * 2, 2)
    np.testing.assert_array_equal(out, X[:, :2] * 2)


# ---------------------------------------------------------------- kernels


@pytest.mark.parametrize("block_rows", [1, 7, 60])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_distances_equal_the_plain_formulas(block_rows, offset):
    X = cloud(offset=offset)
    sub = some_subspace(X)
    view = measure_rows(ArrayRows(X, block_rows), sub)
    y = X - sub.mean
    t = y @ sub.basis.T
    r = y - t @ sub.basis
    np.testing.assert_allclose(view.v, (t**2).sum(1), rtol=1e-12)
    np.testing.assert_allclose(view.e, (r**2).sum(1), rtol=1e-10)
    np.testing.assert_allclose(view.s, (t**2 / sub.variances).sum(1), rtol=1e-12)


def test_rows_next_to_the_subspace_keep_their_digits():
    rng = np.random.default_rng(1)
    P = np.eye(2, 6)
    tiny = 1e-9 * rng.standard_normal((40, 4))
    X = np.hstack([rng.standard_normal((40, 2)), tiny])
    view = measure_rows(ArrayRows(X), Subspace(np.zeros(6), P, np.ones(2), 2.0))
    np.testing.assert_allclose(view.e, (tiny**2).sum(1), rtol=1e-6)


def test_infinite_rows_are_infinitely_far_not_nan():
    X = cloud()
    X[3] = 1e300
    X[4] = -1.7e308
    view = measure_rows(ArrayRows(X), some_subspace(cloud()))
    assert np.isinf(view.e[3:5]).all()
    assert not np.isnan(np.concatenate([view.v, view.e, view.s])).any()


@given(seed=st.integers(0, 10**6), block_rows=st.integers(1, 70))
def test_moments_do_not_depend_on_blocks_pivot_or_scale(seed, block_rows):
    rng = np.random.default_rng(seed)
    X = cloud(seed, offset=rng.normal(scale=1e4))
    # The spread of log-weights forces the common factor to change on the way.
    log_w = rng.normal(scale=30, size=len(X)) - 2000
    kernel = MomentKernel(X[0] + rng.normal(size=5), RowWeights(log_w))
    _, sums = ArrayRows(X, block_rows).scan(kernel)
    mean, scatter = sums.span().mean(), sums.span().scatter()
    w = np.exp(log_w - log_w.max())
    np.testing.assert_allclose(mean, np.average(X, axis=0, weights=w), rtol=1e-9)
    expected = np.cov(X.T, aweights=w, ddof=0)
    scatter = symmetric(scatter)
    np.testing.assert_allclose(scatter, expected, atol=1e-9 * np.trace(expected) + 1e-9)
    ratio = w.sum() ** 2 / (w**2).sum()
    np.testing.assert_allclose(sums.span().effective_size(), ratio, rtol=1e-9)


def test_merging_states_equals_one_state():
    X = cloud(n=50)
    log_w = np.linspace(-40, 5, 50)
    log_w[::5] = -np.inf
    core = np.arange(50) % 3 > 0
    kernel = MomentKernel(X[0], RowWeights(log_w, core))
    _, whole = ArrayRows(X).scan(kernel)
    a, b = kernel.start(), kernel.start()
    kernel.absorb(a, X[:20], 0)
    kernel.absorb(b, X[20:], 20)
    merged = kernel.merge(a, b)
    for one, two in [
        (whole.span(), merged.span()),
        (whole.core(), merged.core()),
        (whole.core_only, merged.core_only),
    ]:
        for x, y in [(one.mean(), two.mean()), (one.scatter(), two.scatter())]:
            np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-10)


def test_fused_states_merge_too():
    X = cloud(n=50)
    sub = some_subspace(X)
    kernel = DistanceKernel(sub, lambda v, e, s: RowWeights(-v))
    _, whole = ArrayRows(X).scan(kernel)
    a, b = kernel.start(), kernel.start()
    kernel.absorb(a, X[:20], 0)
    kernel.absorb(b, X[20:], 20)
    np.testing.assert_allclose(
        kernel.merge(a, b).span().scatter(),
        whole.span().scatter(),
        rtol=1e-12,
        atol=1e-14,
    )


def test_counts_equal_repetitions():
    X = cloud(n=20)
    rng = np.random.default_rng(0)
    log_w = rng.normal(size=20)
    counts = rng.integers(0, 4, size=20).astype(float)
    again = np.repeat(np.arange(20), counts.astype(int))
    _, one = ArrayRows(X).scan(MomentKernel(X[0], RowWeights(log_w), counts))
    _, two = ArrayRows(X[again]).scan(MomentKernel(X[0], RowWeights(log_w[again])))
    np.testing.assert_allclose(one.core().scatter(), two.core().scatter(), rtol=1e-12)
    np.testing.assert_allclose(one.span().effective_size(), two.span().effective_size())
    np.testing.assert_allclose(one.span().log_weight(), two.span().log_weight())


def test_float32_sums_are_kept_in_float64():
    X = cloud(n=5000).astype(np.float32)
    weighing = RowWeights(np.zeros(5000))
    _, sums = ArrayRows(X, 100).scan(MomentKernel(X[0].astype(float), weighing))
    assert sums.both.second.dtype == np.float64
    np.testing.assert_allclose(
        symmetric(sums.core().scatter()),
        np.cov(X.T.astype(float), ddof=0),
        atol=2e-5,
    )


# ---------------------------------------------------------------- solve


def test_solve_is_the_weighted_eigenproblem():
    X = cloud()
    sums = Moments(np.zeros(5))
    sums.add(X.copy(), np.zeros(60), None)
    sub = solve(sums, 2)
    values, vectors = np.linalg.eigh(np.cov(X.T, ddof=0))
    np.testing.assert_allclose(sub.variances, values[::-1][:2], rtol=1e-10)
    assert subspace_angles(sub.basis.T, vectors[:, ::-1][:, :2])[0] < 1e-7
    np.testing.assert_allclose(spectrum(sums), values[::-1], rtol=1e-10)
    np.testing.assert_allclose(sub.total, values.sum())


def test_no_variance_gives_a_basis_all_the_same():
    basis, values = top_eigen(np.zeros((4, 4)), 2)
    np.testing.assert_array_equal(basis @ basis.T, np.eye(2))
    np.testing.assert_array_equal(values, 0)


def test_overflowing_squares_are_an_error_that_says_so():
    sums = Moments(np.zeros(2))
    with np.errstate(over="ignore"):
        sums.add(np.array([[1e300, 0.0], [0.0, 1.0]]), np.zeros(2), None)
    with pytest.raises(ValueError, match="overflow"):
        solve(sums, 1)


def test_subspace_change_resolves_small_angles():
    angle = 1e-12
    P = np.array([[1.0, 0.0]])
    Q = np.array([[np.cos(angle), np.sin(angle)]])
    np.testing.assert_allclose(subspace_change(P, Q), angle, rtol=1e-3)


def test_signs_make_the_largest_loading_positive():
    fixed = fix_signs(np.array([[0.6, -0.8], [0.8, 0.6], [0.0, 0.0]]))
    np.testing.assert_array_equal(fixed, [[-0.6, 0.8], [0.8, 0.6], [0.0, 0.0]])


# ---------------------------------------------------------------- calibration


@given(seed=st.integers(0, 10**6), q=st.floats(0, 1))
def test_quantiles_are_numpys(seed, q):
    x = np.round(np.random.default_rng(seed).normal(size=30), 1)
    np.testing.assert_allclose(quantile(x, q), np.quantile(x, q), atol=1e-12)


@given(seed=st.integers(0, 10**6), trust=st.floats(0.1, 0.95))
def test_perplexity_is_the_trusted_share(seed, trust):
    rho = np.random.default_rng(seed).chisquare(3, size=200)
    s = perplexity_scale(rho, trust)
    np.testing.assert_allclose(np.exp(entropy(-rho / s)), trust * 200, rtol=1e-8)


def test_full_trust_is_equal_weights():
    rho = np.random.default_rng(0).chisquare(3, size=200)
    np.testing.assert_allclose(-rho / perplexity_scale(rho, 1.0), 0, atol=1e-6)


def test_more_copies_of_a_row_than_are_trusted_leave_the_others_their_share():
    rho = np.r_[np.zeros(60), np.linspace(1, 2, 40)]
    weights = np.exp(-rho / perplexity_scale(rho, 0.5))
    np.testing.assert_allclose(np.exp(entropy(np.log(weights))), 60 + 0.5 * 40)


@given(seed=st.integers(0, 10**6), unit=st.sampled_from([1e-12, 1.0, 1e9]))
def test_calibration_knows_units_and_keeps_the_order_of_temperatures(seed, unit):
    rng = np.random.default_rng(seed)
    v, e = rng.chisquare(2, 100), rng.chisquare(6, 100)
    base = calibrate(v, e, 0.5)
    np.testing.assert_allclose(
        calibrate(v * unit, e * unit, 0.5), np.array(base) * unit
    )
    assert base.b <= base.a


def test_calibration_survives_vanishing_medians():
    v = np.r_[np.zeros(60), np.arange(1.0, 41)]
    for temperatures in (
        calibrate(v, np.zeros(100), 0.5),
        calibrate(np.zeros(100), np.zeros(100), 0.5),
    ):
        assert np.isfinite(temperatures).all() and min(temperatures) > 0


# ---------------------------------------------------------------- step and loop


def test_two_passes_and_one_pass_agree():
    X = cloud(3, n=200)
    sub = some_subspace(X)
    two = ReweightedStep(ArrayRows(X, 33), TrustRule(0.5))(sub)
    T = calibrate(two.view.v, two.view.e, 0.5)
    one = ReweightedStep(ArrayRows(X, 50), EntropyRule(*T))(sub)
    w = one.copy_weights()
    np.testing.assert_allclose(w, two.copy_weights(), rtol=1e-10)
    np.testing.assert_allclose(w.sum(), 1)
    np.testing.assert_allclose(one.next.mean, two.next.mean, rtol=1e-10)
    assert subspace_change(one.next.basis, two.next.basis) < 1e-10
    np.testing.assert_allclose(one.effective, 1 / (w**2).sum())


def test_uniform_rule_is_plain_pca_in_one_step():
    X = cloud()
    start = Subspace(X[0], np.eye(2, 5), np.ones(2), 1.0)
    result = iterate(
        ReweightedStep(ArrayRows(X), UniformRule()), start, max_iter=5, tol=1e-9
    )
    expected = some_subspace(X)
    assert result.converged and result.n_iter <= 3
    assert subspace_change(result.last.next.basis, expected.basis) < 1e-10
    np.testing.assert_allclose(result.last.next.variances, expected.variances)


def test_the_loop_stops_at_max_iter_and_says_so():
    X = cloud()
    start = Subspace(X[0], np.eye(2, 5), np.ones(2), 1.0)
    result = iterate(
        ReweightedStep(ArrayRows(X), UniformRule()), start, max_iter=1, tol=1e-9
    )
    assert not result.converged
    assert [len(values) for values in result.history.values()] == [1, 1, 1]


def test_the_hull_keeps_distances_and_maps_back():
    X = cloud(n=8, D=30, offset=5.0)
    X[2] *= 1e6  # must not cost the other rows their digits
    hull = affine_hull(ArrayRows(X))
    Z = hull.rows.take(np.arange(8))
    others = [0, 1, 3, 4, 5, 6, 7]
    gram = lambda A: (A[others] - A[0]) @ (A[others] - A[0]).T  # noqa: E731
    np.testing.assert_allclose(gram(Z), gram(X), rtol=1e-8, atol=1e-8)
    back = hull.lift(Subspace(Z[4], np.eye(2, 8), np.ones(2), 1.0))
    np.testing.assert_allclose(back.mean, X[4], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(back.basis @ back.basis.T, np.eye(2), atol=1e-12)


def test_enough_rows_need_no_hull():
    rows = ArrayRows(cloud())
    hull = affine_hull(rows)
    assert hull.rows is rows
    sub = some_subspace(cloud())
    assert hull.lift(sub) is sub
