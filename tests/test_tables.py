"""Tables as they come: skewed, discrete, mixed; and groups that stand apart."""

import numpy as np
import pytest

from trueaxis import DSWL, METHODS
from trueaxis._engine.dimension import above_noise, choose_dimension
from trueaxis._engine.dswl.full_fit import truncation
from trueaxis._engine.dswl.groups import (
    bending,
    cleave,
    heterogeneity,
    longest_axes,
    split_along,
)
from trueaxis._engine.dswl.rules import EntropyRule
from trueaxis._engine.dswl.temperatures import calibrate
from trueaxis._engine.iterate import iterate
from trueaxis._engine.moments import Moments
from trueaxis._engine.outliers.cutoffs import (
    valley,
)
from trueaxis._engine.outliers.discrete import discrete_columns, separable_columns
from trueaxis._engine.outliers.trim import without_leverage
from trueaxis._engine.reweighted import ReweightedStep, measure_rows
from trueaxis._engine.sample import draw_sample
from trueaxis._engine.squarem import Squarem
from trueaxis._engine.starts import (
    directions,
    equal_weights,
    outlyingness,
    shortest_variance,
)
from trueaxis._engine.subspace import (
    Subspace,
    orthonormal,
    solve,
    solve_from,
    subspace_change,
)
from trueaxis._rows.base import ArrayRows
from trueaxis.datasets import planted
from trueaxis.datasets.awkward import TABLES, factors, mostly_one_row, one_hot, shifted


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("k", [1, 2, "auto"])
def test_tables_with_nothing_planted_are_left_alone(name, k):
    for seed in range(100, 103):
        X = TABLES[name](np.random.default_rng(seed))
        model = DSWL(k).fit(X)
        assert np.isfinite(model.components_).all()
        assert np.isfinite(model.explained_variance_).all()
        assert (~model.support_).mean() <= 0.1


def with_levels(cloud, n_columns, seed=0):
    """Binary columns beside the planted ones."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 2, size=(len(cloud.X), n_columns)).astype(float)
    return np.hstack([cloud.X, levels])


@pytest.mark.parametrize("kind", ["ocs", "scatter", "amp"])
def test_binary_columns_do_not_hide_outliers(kind):
    cloud = planted(kind, share=0.2, random_state=1)
    model = DSWL(3).fit(with_levels(cloud, 2))
    assert not model.support_[cloud.is_outlier].any()
    assert model.support_[~cloud.is_outlier].mean() > 0.93


def test_a_rare_level_is_no_outlier():
    rng = np.random.default_rng(2)
    X = np.hstack(
        [rng.standard_normal((300, 5)), one_hot(rng, 300, 3, [0.7, 0.2, 0.1]) * 3]
    )
    assert DSWL(2).fit(X).support_.mean() > 0.93


def test_an_exact_plane_is_found_and_everything_off_it_flagged():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 6))
    X[150:] += rng.standard_normal((50, 6))
    model = DSWL(2).fit(X)
    assert not model.support_[150:].any()
    assert model.support_[:150].mean() > 0.95
    assert model.noise_variance_ < 1e-20
    fresh = rng.standard_normal((20, 2)) @ model.components_ * 0.1 + model.mean_
    assert (model.predict(fresh) == 1).all()


def test_copies_of_one_row_leave_the_others_to_speak():
    X = mostly_one_row(np.random.default_rng(4), 300, 4)
    model = DSWL(2).fit(X)
    assert model.explained_variance_[0] > 0.1
    assert model.support_.mean() > 0.95


@pytest.mark.parametrize(("n", "bad"), [(12, 1), (40, 3), (100, 9)])
def test_few_gross_outliers_in_few_rows(n, bad):
    missed = 0
    for seed in range(10):
        X = planted("none", n=n, n_features=4, n_components=2, random_state=seed).X
        X[:bad] += 40 * np.sign(np.random.default_rng(seed).standard_normal((bad, 4)))
        missed += DSWL(2).fit(X).support_[:bad].sum()
    assert missed <= bad  # of 10 * bad


def test_pure_noise_neither_collapses_nor_warns():
    X = np.random.default_rng(0).standard_normal((120, 200))
    model = DSWL(10).fit(X)
    assert model.history_["effective"][-1] > 11
    assert model.support_.mean() > 0.95


@pytest.mark.parametrize("share", [0.03, 0.1, 0.3])
def test_gross_errors_show_even_in_a_mostly_discrete_table(share):
    rng = np.random.default_rng(0)
    X = np.hstack([factors(rng, 300, 5), rng.random((300, 3)) < 0.4])
    bad = np.arange(300) < share * 300
    X[bad, 0] = 999
    model = DSWL().fit(X)
    assert not model.support_[bad].any() and (model.predict(X[bad]) == -1).all()
    assert model.support_[~bad].mean() > 0.93
    assert abs(model.mean_[0]) < 0.5


def test_a_column_of_large_scale_hides_nothing():
    cloud = planted("ocs", share=0.2, random_state=1)
    large = 1000 * np.random.default_rng(1).standard_normal(500)
    model = DSWL(4).fit(np.column_stack([cloud.X, large]))
    assert not model.support_[cloud.is_outlier].any()


def test_small_clean_tables_keep_their_rows():
    flagged = []
    for seed in range(20):
        X = factors(np.random.default_rng(seed), 15, 6)
        flagged.append((~DSWL().fit(X).support_).mean())
    assert np.mean(np.array(flagged) > 0.1) <= 0.1


def test_five_rows_many_times_are_no_outliers():
    rows = np.random.default_rng(0).standard_normal((5, 4))
    assert DSWL(2).fit(np.tile(rows, (200, 1))).support_.all()


# ---------------------------------------------------------------- the parts


def test_a_valley_is_found_and_a_tail_is_not():
    rng = np.random.default_rng(0)
    bulk = np.sort(np.cbrt(rng.chisquare(5, 400)))
    apart = np.sort(np.r_[bulk, 6 + 0.1 * rng.standard_normal(100)])
    assert valley(apart) == 400
    tail = np.sort(np.cbrt(rng.lognormal(0, 1.5, 500)))
    assert valley(tail) == 500
    assert valley(bulk[:5]) == 5


def test_three_rows_just_beyond_the_edge_are_no_group():
    rng = np.random.default_rng(1)
    z = np.sort(np.r_[np.abs(rng.normal(1.5, 0.2, 60)), 2.35, 2.4, 2.45])
    assert valley(z) == 63
    assert valley(np.r_[z[:60], 9.0, 9.1, 9.2]) == 60


def test_discrete_columns_are_those_with_ties():
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(size=200), rng.integers(0, 2, 200), rng.integers(0, 100, 200)]
    )
    np.testing.assert_array_equal(discrete_columns(X), [False, True, False])
    np.testing.assert_array_equal(separable_columns(X), [True, False, True])


@pytest.mark.parametrize("n", [12, 21, 64, 65, 200, 1000, 3001])
def test_discrete_columns_are_those_that_counting_finds(n):
    rng = np.random.default_rng(n)
    smooth, i = rng.normal(size=n), np.arange(n)
    columns = [rng.integers(0, levels, n) for levels in (2, 9, 10, 11, 12, 40, 500)]
    for share in (0.3, 0.32, 0.35, 0.4, 0.6, 1.0):
        columns.append(np.where(rng.random(n) < share, 0.5, smooth))
        columns.append(np.where(i < share * n, 0.5, smooth))  # in one stretch
    for period in (2, 3, 5):  # every other row, every third
        for offset in range(period):
            columns.append(np.where(i % period == offset, 0.5, smooth))
            columns.append(np.where(i % period == offset, smooth, 0.5))
    for column in columns:
        _, counts = np.unique(column, return_counts=True)
        few = n > 20 and len(counts) <= 10
        shared = counts.max() > n / 3
        assert discrete_columns(column[:, None])[0] == (few or shared)


def test_the_nearest_orthonormal_basis():
    rng = np.random.default_rng(0)
    for k, D in ((1, 1), (3, 8), (40, 100), (7, 7)):
        basis = np.linalg.qr(rng.standard_normal((D, k)))[0].T
        for away in (0.0, 1e-12, 1e-5, 0.01, 0.1, 1.0, 100.0):
            B = basis + away / np.sqrt(k) * rng.standard_normal((k, D))
            U, _, Vt = np.linalg.svd(B, full_matrices=False)
            np.testing.assert_allclose(orthonormal(B), U @ Vt, atol=1e-12)
    assert orthonormal(np.empty((0, 5))).shape == (0, 5)


def test_a_mostly_discrete_table_has_no_separable_columns():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), one_hot(rng, 200, 3)])
    assert not separable_columns(X).any()


def test_a_split_is_where_two_normals_meet():
    rng = np.random.default_rng(0)
    z = np.r_[rng.normal(0, 1, 300), rng.normal(9, 0.3, 100)][:, None]
    (split,) = split_along(z, np.ones((1, 1)), 1)
    np.testing.assert_array_equal(split.larger, np.arange(400) < 300)
    assert split.gain < -1
    one_cloud = split_along(rng.standard_normal((400, 1)), np.ones((1, 1)), 1)
    assert one_cloud[0].gain > -0.2
    assert split_along(np.ones((50, 1)), np.ones((1, 1)), 1) == []


@pytest.mark.parametrize("share", [0.1, 0.2, 0.35])
@pytest.mark.parametrize(
    ("n", "D", "k"), [(200, 500, 40), (200, 500, 10), (300, 90, 9)]
)
def test_a_group_that_bends_an_axis_among_many_is_found(n, D, k, share):
    # Along 40 axes of like length its rows are not far out, and a component explains
    # them: plain PCA's first.
    X, bad = shifted(n, D, 40, seed=k, share=share)
    model = DSWL(k).fit(X)
    assert not model.support_[bad].any()
    assert model.support_[~bad].mean() > 0.9
    new, bad = shifted(n, D, 40, seed=k, share=share, rows_seed=1)
    assert (model.predict(new)[bad] == -1).all()
    assert (model.predict(new)[~bad] == 1).mean() > 0.85
    clean, _ = shifted(n, D, 40, seed=k, share=0)
    assert DSWL(k).fit(clean).support_.mean() > 0.93


@pytest.mark.parametrize(
    "sizes",
    [
        (160, 120, 120),  # without the largest, two would be left that bend an axis
        (200, 200),
    ],
)
def test_groups_of_which_none_is_the_majority_are_all_kept(sizes):
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.standard_normal((400, 10))
    X[:, :3] += 15 * np.eye(3)[group]
    support = DSWL(4).fit(X).support_
    assert all(support[group == i].mean() > 0.9 for i in range(len(sizes)))


def test_two_groups_that_bend_axes_are_both_found():
    X, bad = shifted(400, 300, 30, seed=0)
    rng = np.random.default_rng(1)
    other = ~bad & (rng.random(400) < 0.2)
    X[other] += 25 * np.linalg.qr(rng.standard_normal((300, 1)))[0].T
    for options in ({}, {"sample_weight": np.ones(400)}):
        support = DSWL(20).fit(X, **options).support_
        assert not support[bad | other].any() and support[~bad & ~other].mean() > 0.9


@pytest.mark.parametrize("options", [{"reweight": False}, {"n_components": "auto"}])
def test_a_group_that_bends_an_axis_gets_no_weight(options):
    X, bad = shifted(200, 150, 30, seed=0)
    model = DSWL(**{"n_components": 10} | options).fit(X)
    assert not model.support_[bad].any() and model.weights_[bad].sum() < 1e-3


def test_a_group_that_bends_an_axis_is_found_beyond_the_sample():
    X, bad = shifted(9000, 60, 30, seed=0)
    model = DSWL(10).fit(X)
    assert not model.support_[bad].any() and model.support_[~bad].mean() > 0.95


def test_one_cloud_bends_no_axis():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        t = np.linspace(0, 20, 300)[:, None]
        for X in (
            rng.standard_normal((25 + seed, 200)),
            rng.standard_normal((60, 5)),
            rng.standard_t(2, (100, 30)),
            rng.exponential(size=(80, 20)),
            rng.uniform(size=(300, 3)),
            3 * np.sin(t + [[0, 1, 2]]) + 0.1 * rng.standard_normal((300, 3)),
            4 * rng.beta(0.5, 0.5, (200, 2)),
            np.ones((40, 3)),
        ):
            assert bending(X, directions(X, rng)) is None
    assert bending(np.ones((40, 3)), np.empty((3, 0))) is None


@pytest.mark.parametrize("unit", [1e-140, 1.0, 1e140])
def test_what_bends_an_axis_is_a_group_in_any_unit(unit):
    X, bad = shifted(200, 100, 30, seed=0)
    X = unit * X
    split = bending(X, directions(X, np.random.default_rng(0)))
    np.testing.assert_array_equal(split.larger, ~bad)
    np.testing.assert_array_equal(split.keeps(X), ~bad)
    axes = longest_axes(X, directions(X, np.random.default_rng(0)))
    exact = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][0]
    assert abs(exact @ axes[:, 0]) > 1 - 1e-9


def test_a_near_cluster_is_cleaved_and_one_cloud_is_not():
    rng = np.random.default_rng(0)
    cloud = planted("both", share=0.4)
    split = cleave(cloud.X, directions(cloud.X, rng), 3, rng)
    assert (split.larger != cloud.is_outlier).mean() > 0.99
    X = planted("none").X
    assert cleave(X, directions(X, rng), 3, rng) is None


def test_heterogeneity_tells_one_cloud_from_two():
    rng = np.random.default_rng(0)
    one = rng.chisquare(4, 1000)
    assert heterogeneity(one) < 0.03
    assert heterogeneity(np.r_[one, 20 + rng.chisquare(4, 500)]) > 0.1
    assert heterogeneity(np.ones(50)) == 1.0


def test_the_tightest_half_by_brute_force():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((21, 4))
    Z[0, 1] = 1e12  # far values must not cost the others their digits
    Z[1, 2] = -1e12
    centre, spread = shortest_variance(Z.T, 11)
    for column in range(4):
        z = np.sort(Z[:, column])
        windows = [z[i : i + 11] for i in range(11)]
        best = min(windows, key=np.var)
        np.testing.assert_allclose(centre[column], best.mean(), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(spread[column], best.std(), rtol=1e-6)


def test_a_projection_of_ties_has_the_spread_of_all_rows():
    Z = np.r_[np.zeros(9), 3.0][:, None]
    np.testing.assert_allclose(outlyingness(Z.T)[-1], 3 / Z.std())
    np.testing.assert_array_equal(outlyingness(np.zeros((2, 5))), 0)


def test_the_dimension_rules():
    variances = np.r_[9.0, 4.0, 2.0, np.full(17, 0.1)]
    assert above_noise(variances, 500, 20) == 3
    assert above_noise(np.ones(20), 500, 20) == 1
    assert above_noise(variances, 12, 20) == 2  # one per five rows
    assert choose_dimension(0.5, variances, 500, 20) == 1
    assert choose_dimension(0.75, variances, 500, 20) == 2
    assert (
        choose_dimension(variances[:3].sum() / variances.sum(), variances, 500, 20) == 3
    )


def test_leverage_is_what_leaving_a_row_out_tells():
    """Residual over (1 - h), against a fit without the row."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 1)) * [3.0, 0.0] + 0.05 * rng.standard_normal((30, 2))

    def line(rows):
        mean = rows.mean(axis=0)
        axis = np.linalg.svd(rows - mean)[2][0]
        t = (rows - mean) @ axis
        return Subspace(mean, axis[None], np.array([t.var()]), 1.0)

    inside = measure_rows(ArrayRows(X), line(X))._replace(
        fit_weight=np.full(30, 1 / 30)
    )
    corrected = without_leverage(inside).e
    for i in range(30):
        outside = measure_rows(ArrayRows(X[[i]]), line(np.delete(X, i, axis=0))).e[0]
        np.testing.assert_allclose(corrected[i], outside, rtol=0.02)
    assert without_leverage(inside._replace(fit_weight=None)).e is inside.e


def test_power_steps_go_where_the_exact_solution_is():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 12)) * np.r_[5, 4, 3, np.ones(9)]
    moments = Moments(np.zeros(12))
    moments.add(X.copy(), np.zeros(500), None)
    exact = solve(moments, 3)
    found = Subspace(
        np.zeros(12), np.linalg.qr(rng.standard_normal((12, 3)))[0].T, np.ones(3), 1.0
    )
    errors = []
    for _ in range(12):
        found = solve_from(moments, found)
        errors.append(subspace_change(found.basis, exact.basis))
    # two power steps: the error falls by (1/9)^2 a time, in the end
    assert errors[0] < 0.3 and errors[-1] < 1e-10
    np.testing.assert_allclose(found.variances, exact.variances, rtol=1e-8)
    np.testing.assert_allclose(found.mean, exact.mean, atol=1e-12)
    np.testing.assert_allclose(found.total, exact.total)


@pytest.mark.parametrize("dof", [1, 2, 5, 40])
def test_truncation_by_simulation(dof):
    t = np.random.default_rng(dof).standard_normal((200_000, dof))
    d2 = (t**2).sum(axis=1)
    inner = t[d2 <= np.quantile(d2, 0.99)]
    np.testing.assert_allclose(truncation(dof), 1 / inner.var(), rtol=0.01)
    assert truncation(0) == 1


def test_the_sample_of_weighted_rows_has_their_weights():
    X = np.arange(12000.0)[:, None]
    counts = np.where(X[:, 0] < 6000, 0.1, 1.0)
    sample = draw_sample(ArrayRows(X), counts, np.random.default_rng(0))
    assert sample.large and len(sample.X) == 4000
    np.testing.assert_allclose((sample.X[:, 0] < 6000).mean(), 600 / 6600, atol=0.01)
    few = draw_sample(
        ArrayRows(X[:4]), np.array([2.0, 0, 1, 3]), np.random.default_rng(0)
    )
    assert few.exact and sorted(few.index) == [0, 0, 2, 3, 3, 3]


def test_the_order_of_the_sample_knows_no_axes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    shuffle = rng.permutation(50)
    one = draw_sample(ArrayRows(X), None, rng)
    two = draw_sample(ArrayRows(7 * X[shuffle] @ Q + 3), None, rng)
    np.testing.assert_array_equal(one.index, shuffle[two.index])


def test_leaps_end_where_plain_steps_end():
    X = planted("both", n=150, n_features=6, share=0.2).X
    start = equal_weights(ArrayRows(X), 2)
    T = calibrate(*measure_rows(ArrayRows(X), start)[:2], 0.6)
    step = ReweightedStep(ArrayRows(X), EntropyRule(*T))
    plain = iterate(step, start, max_iter=3000, tol=1e-10)
    fast = iterate(step, start, max_iter=3000, tol=1e-10, accelerator=Squarem())
    assert fast.n_iter < plain.n_iter
    assert subspace_change(fast.last.next.basis, plain.last.next.basis) < 1e-6
    assert (np.diff(fast.history["objective"]) >= -1e-12).all()


@pytest.mark.parametrize(("n", "share"), [(41, 0.025), (200, 0.05), (400, 0.08)])
def test_a_code_for_missing_among_marks_is_found(n, share):
    rng = np.random.default_rng(n)
    marks = rng.integers(1, 6, size=(n, 1)) + rng.integers(-1, 2, size=(n, 6))
    X = np.clip(marks, 1, 5).astype(float)
    bad = np.arange(n) < round(share * n)
    X[bad, rng.integers(0, 6, bad.sum())] = 99
    for k in (1, 2):
        flagged = ~DSWL(k).fit(X).support_
        assert flagged[bad].all() and flagged[~bad].mean() < 0.06


@pytest.mark.parametrize("name", METHODS)
def test_rows_that_differ_from_copies_of_one_row_are_flagged(name):
    rng = np.random.default_rng(0)
    for odd in ([[5, 5, 5, 5]], [[1, 1, 1, 2]], 100 * rng.standard_normal((2, 4))):
        X = np.ones((60, 4))
        X[3 : 3 + len(odd)] = odd
        flagged = METHODS[name](1).fit(X).predict(X) < 0
        assert np.array_equal(flagged, (X != 1).any(axis=1))


def test_components_beyond_what_rows_can_be_judged_with():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5)) @ rng.standard_normal((5, 200)) * 3
    X += rng.standard_normal(X.shape)
    bad = np.arange(80) < 15
    X[bad, :50] += 10 * rng.standard_normal((15, 50))
    for k in (5, 15, 25, 45, 60):
        model = DSWL(k).fit(X)
        assert not model.support_[bad].any() and model.support_[~bad].mean() > 0.9
        assert model.components_.shape == (k, 200)
