"""Which rows, in what way, because of which columns, and so what."""

import sys

import numpy as np
import pandas as pd
import pytest
from nasty import nasty
from scipy.linalg import subspace_angles
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.decomposition import PCA

from trueaxis import DSWL, METHODS, PlainPCA
from trueaxis.datasets import planted, sensors
from trueaxis.diagnostics import (
    KINDS,
    contributions,
    diagnose,
    effect,
    outlier_table,
    reasons,
    trust_path,
)
from trueaxis.diagnostics.comparison import compare

EVERY = pytest.mark.parametrize("name", METHODS)


def cloud(**options):
    return planted("scatter", n=90, n_features=6, n_components=2, **options)


@EVERY
def test_contributions_add_up_to_the_squared_distances(name):
    model = METHODS[name](2).fit(cloud(share=0.1).X)
    new = cloud(share=0.5, random_state=7).X
    parts, distances = contributions(model, new), model.distances(new)
    np.testing.assert_allclose(parts.score.sum(axis=1), distances.score**2)
    np.testing.assert_allclose(parts.orthogonal.sum(axis=1), distances.orthogonal**2)
    assert (parts.orthogonal >= 0).all()


@EVERY
def test_a_diagnosis_says_what_predict_says(name):
    model = METHODS[name](2).fit(cloud(share=0.1).X)
    new = cloud(share=0.5, random_state=7).X
    found = diagnose(model, new)
    np.testing.assert_array_equal(found.flagged, model.predict(new) == -1)
    np.testing.assert_allclose(found.excess, -model.score_samples(new))
    inside = found.score > found.score_cutoff
    off = found.orthogonal > found.orthogonal_cutoff
    assert (found.kind[inside & off] == "both").all()
    assert (found.kind[inside & ~off] == "inside").all()
    assert (found.kind[~inside & off] == "off").all()
    assert set(found.kind) <= set(KINDS)
    assert ((found.share >= 0) & (found.share <= 1)).all()


def three_kinds(seed, n=500, D=20, k=3):
    """Rows far inside the subspace, far off it, and both, each in a group."""
    rng = np.random.default_rng(seed)
    base = planted("none", n=n, n_features=D, n_components=k, random_state=seed)
    frame = np.linalg.qr(np.c_[base.components.T, rng.standard_normal((D, D - k))])[0]
    inside, off = 30 * base.components[0], 6 * frame[:, k]
    X, truth = base.X.copy(), np.full(n, "regular", dtype="U8")
    for j, (kind, move) in enumerate(
        [("inside", inside), ("off", off), ("both", inside + off)]
    ):
        rows = slice(30 * j, 30 * (j + 1))
        X[rows] += move
        truth[rows] = kind
    return X, truth


@pytest.mark.parametrize("D", [4, 5, 10])
def test_as_many_components_as_columns_leave_nothing_off_them_to_blame(D):
    rng = np.random.default_rng(D)
    X = rng.standard_normal((200, D))
    X[0, 1] += 40
    model = DSWL(D).fit(X)
    found = diagnose(model, X)
    assert found.column[0] == 1 and found.share[0] > 0.9
    assert abs(X[0, 1] - found.surplus[0]) < 3
    assert np.abs(found.surplus).max() < 100


def test_the_three_kinds_are_told_apart():
    right = []
    for seed in range(6):
        X, truth = three_kinds(seed)
        kind = diagnose(DSWL(3).fit(X), X).kind
        right.append([(kind == truth)[truth == one].mean() for one in KINDS])
    assert np.mean(right) > 0.95 and np.min(np.mean(right, axis=0)) > 0.9


def spread_kinds(seed, share, n=500, D=20, k=3):
    """The three kinds, every row in a direction of its own.

    Inside the subspace 6 to 12 deviations out, off it 3 to 6 times the usual distance.
    """
    rng = np.random.default_rng(seed)
    frame, sd = np.linalg.qr(rng.standard_normal((D, D)))[0], np.linspace(3, 1.5, k)
    inner, outer = rng.standard_normal((n, k)), rng.standard_normal((n, D - k))
    truth, m = np.full(n, "regular", dtype="U8"), round(share * n / 3)
    order = rng.permutation(n)
    for j, kind in enumerate(("inside", "off", "both")):
        rows = order[j * m : (j + 1) * m]
        truth[rows] = kind
        if kind != "off":
            inner[rows] *= rng.uniform(6, 12, (m, 1)) / lengths(inner[rows])
        if kind != "inside":
            usual = np.sqrt(D - k)
            outer[rows] *= usual * rng.uniform(3, 6, (m, 1)) / lengths(outer[rows])
    return (inner * sd) @ frame[:, :k].T + 0.3 * outer @ frame[:, k:].T, truth


def lengths(rows):
    return np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("share", [0.03, 0.1, 0.3])
def test_kinds_of_rows_that_are_spread_out(share):
    planted_right, all_right = [], []
    for seed in range(6):
        X, truth = spread_kinds(seed, share)
        right = diagnose(DSWL(3).fit(X), X).kind == truth
        planted_right.append(right[truth != "regular"].mean())
        all_right.append(right.mean())
    assert np.mean(planted_right) > 0.95 and np.mean(all_right) > 0.95


@pytest.mark.parametrize(("D", "k"), [(20, 3), (6, 2), (8, 4), (40, 5)])
def test_a_single_wrong_cell_is_blamed_on_its_column(D, k):
    named = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = planted("none", n=300, n_features=D, n_components=k, random_state=seed).X
        wrong = rng.integers(D, size=30)
        size = rng.choice([-1, 1], 30) * rng.uniform(6, 10, 30)
        X[np.arange(30), wrong] += size * X.std(axis=0)[wrong]
        found = diagnose(DSWL(k).fit(X), X)
        named.append((found.column[:30] == wrong)[found.flagged[:30]].mean())
    assert np.mean(named) > 0.95


def test_the_blame_is_what_putting_one_column_right_would_mend():
    model = DSWL(2).fit(cloud(share=0.1).X)
    new = cloud(share=0.5, random_state=7).X[-12:]
    found = diagnose(model, new)
    for row, x in enumerate(new):

        def far(value, column, x=x):
            y = x.copy()
            y[column] = value
            distances = model.distances(y[None])
            return sum(
                float(d[0]) ** 2 / c**2
                for d, c in zip(distances, model.cutoffs_, strict=True)
            )

        now = far(x[0], 0)
        left = [minimize_scalar(far, args=(j,)).fun for j in range(6)]
        assert found.column[row] == np.argmin(left)
        assert found.share[row] == pytest.approx(1 - min(left) / now, abs=1e-5)


def test_sensors_have_the_faults_that_they_have():
    table = sensors()
    found = diagnose(DSWL(2).fit(table.X), table.X)
    columns = np.array(table.columns)[found.column]
    assert (columns[table.fault == "flow unit wrong"] == "flow").all()
    assert (columns[table.fault == "loose sensor"] == "vibration").all()
    assert (columns[table.fault == "over-run + outlet"] == "outlet").all()
    assert (found.kind[table.fault == "over-run"] == "inside").all()


# ---------------------------------------------------------------- reasons


def test_the_three_log_weights_make_the_learned_weights():
    X = cloud(share=0.2).X
    model = DSWL(2, tau=(0.5, 0.3, 0.4), init="uniform", reweight=False).fit(X)
    why = reasons(model, X)
    log_weights = why.inside + why.off + why.centre
    np.testing.assert_allclose(
        np.exp(log_weights - logsumexp(log_weights)), model.weights_, atol=1e-6
    )


def test_only_dswl_has_reasons_and_a_path():
    X = cloud().X
    with pytest.raises(TypeError, match="PlainPCA has no trust.*Pass a fitted DSWL"):
        trust_path(PlainPCA(2).fit(X), X)
    with pytest.raises(TypeError, match="PlainPCA has no temperatures.*diagnose"):
        reasons(PlainPCA(2).fit(X), X)


# ---------------------------------------------------------------- effect


@EVERY
def test_effect_compares_with_plain_pca(name):
    X = cloud(share=0.2).X
    model = METHODS[name](2).fit(X)
    found, plain = effect(model, X), PCA(2).fit(X)
    angles = np.degrees(subspace_angles(model.components_.T, plain.components_.T))
    np.testing.assert_allclose(found.angles, angles, atol=1e-5)
    np.testing.assert_allclose(found.shift, plain.mean_ - model.mean_, atol=1e-9)


def test_the_rows_responsible_are_the_bad_ones():
    data = planted("ocs", share=0.15)
    found = effect(DSWL(3).fit(data.X), data.X)
    assert found.angles[0] > 80
    for share in (found.tilt_share, found.shift_share):
        assert share.sum() == pytest.approx(1)
    assert found.shift_share[data.is_outlier].sum() > 0.95
    scattered = planted("amp", share=0.15)
    tilt = effect(DSWL(3).fit(scattered.X), scattered.X).tilt_share
    assert tilt[scattered.is_outlier].sum() > 0.95


def test_plain_pca_has_no_effect_on_itself():
    X = cloud().X
    found = effect(PlainPCA(2).fit(X), X)
    assert found.angles.max() < 1e-5 and np.linalg.norm(found.shift) < 1e-12


# ---------------------------------------------------------------- table


def test_the_table_of_outliers_is_sorted_and_labelled():
    table = sensors()
    frame = pd.DataFrame(table.X, columns=table.columns)
    frame.index = [f"day {i}" for i in range(200)]
    model = DSWL(2).fit(frame)
    found = model.outliers(frame)
    assert list(found.columns[:7]) == [
        "row", "kind", "excess", "score", "orthogonal", "column", "share",
    ]  # fmt: skip
    assert found.excess.is_monotonic_decreasing and (found.excess > 1).all()
    assert len(found) == (model.predict(frame) == -1).sum()
    assert found.row.iloc[0] == "day 96" and found.column.iloc[0] == "flow"
    assert len(model.outliers(frame, everything=True)) == 200


def test_without_pandas_the_table_is_an_array(monkeypatch):
    X = cloud(share=0.1).X
    model = PlainPCA(2).fit(X)
    frame = outlier_table(model, X, everything=True)
    monkeypatch.setitem(sys.modules, "pandas", None)
    array = outlier_table(model, X, everything=True)
    assert array.dtype.names == tuple(frame.columns)
    for name in array.dtype.names:
        assert list(array[name]) == list(frame[name])


def test_rows_of_a_list_are_numbered():
    X = cloud(share=0.1).X
    model = PlainPCA(2).fit(X)
    found = outlier_table(model, X.tolist())
    assert list(found.row) == list(outlier_table(model, X).row)


CASES = list(nasty())


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
@pytest.mark.filterwarnings("ignore:Only")
def test_degenerate_data_have_a_diagnosis(case):
    _, X, k = case
    model = DSWL(k).fit(X)
    if "1e300" in case[0]:
        X = X[:-1]  # its squares overflow; predict knows it all the same
    found = diagnose(model, X)
    assert not np.isnan(found.share).any() and not np.isnan(found.excess).any()
    np.testing.assert_array_equal(found.flagged, model.predict(X) == -1)


# ---------------------------------------------------------------- trust path


def test_the_path_jumps_where_a_group_lets_go():
    data = planted("ocs", share=0.2)
    model = DSWL(3).fit(data.X)
    path = trust_path(model, data.X)
    assert path.trust[0] == 0.95 and path.trust[-1] == 0.5
    assert path.step.max() > 50 and path.to_model[-1] < 5
    np.testing.assert_array_equal(path.rows, np.arange(500))
    np.testing.assert_allclose(path.weights.mean(axis=1), 1)
    left = path.left_at()
    assert left[data.is_outlier].min() > left[~data.is_outlier].mean()


def test_the_path_of_clean_data_is_smooth():
    X = planted("none").X
    path = trust_path(DSWL(3).fit(X), X)
    assert path.step.max() < 5 and path.to_model.max() < 10


def test_wide_and_large_data_have_paths():
    X = planted("ocs", n=60, n_features=90, share=0.2).X
    assert trust_path(DSWL(3).fit(X), X, [0.8, 0.5]).weights.shape == (2, 60)
    X = planted("ocs", n=6000, n_features=5, share=0.2).X
    path = trust_path(DSWL(3).fit(X), X, [0.7, 0.5])
    assert path.weights.shape == (2, 4000) and (np.diff(path.rows) > 0).all()


@pytest.mark.parametrize(
    ("trust", "message"),
    [([0.5, 0.9], "does not fall"), ([1.5, 0.5], "between 0 and 1"), ([], "between")],
)
def test_bad_paths_are_refused(trust, message):
    X = cloud().X
    with pytest.raises(ValueError, match=message):
        trust_path(DSWL(2).fit(X), X, trust)


def test_an_effect_knows_plain_pca_as_it_is():
    X = sensors().X
    found, plain = effect(DSWL(2).fit(X), X), PlainPCA(2).fit(X)
    np.testing.assert_allclose(found.plain_variance, plain.explained_variance_)
    assert found.angle == found.angles[0] > 50


def test_worst_first_and_ratios_are_those_of_predict():
    X = sensors().X
    model = DSWL(2).fit(X)
    found = diagnose(model, X)
    order = found.worst_first(everything=True)
    assert (np.diff(model.score_samples(X)[order]) >= 0).all()
    bad = found.worst_first()
    assert (bad == order[: len(bad)]).all() and len(bad) == found.flagged.sum()
    assert ((found.score_ratio > 1) == np.isin(found.kind, ["inside", "both"])).all()
    assert ((found.orthogonal_ratio > 1) == np.isin(found.kind, ["off", "both"])).all()


def test_the_jump_of_a_path_is_its_largest_step():
    X = planted("ocs", share=0.2).X
    path = trust_path(DSWL(3).fit(X), X)
    assert path.step[path.jump] == path.step.max() > 50


def test_methods_side_by_side_share_outliers():
    X = planted("ocs", n=200, share=0.1).X
    dswl, pca = compare(X, ["dswl", "pca"], n_components=3)
    both = (DSWL(3).fit(X).predict(X) < 0) & (PlainPCA(3).fit(X).predict(X) < 0)
    assert pca.shared == both.sum() and 0 < pca.shared < min(pca.flagged, dswl.flagged)
    assert dswl.shared == dswl.flagged
