"""Kinds and reasons of outliers, and the table of them."""

import numpy as np
import pandas as pd
import pytest
from nasty import nasty
from scipy.special import logsumexp
from scipy.stats import false_discovery_control
from sklearn.pipeline import make_pipeline
from small_tables import cloud, with_sides

from trueaxis import DSWL, ColumnScaler
from trueaxis.datasets import planted, sensors
from trueaxis.diagnostics import (
    KINDS,
    cell_map,
    contributions,
    diagnose,
    effect,
    explain,
    outlier_table,
    reasons,
    score_plane,
    trust_path,
)
from trueaxis.methods import METHODS, PlainPCA

CASES = list(nasty())


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_a_diagnosis_says_what_predict_says(name):
    model = METHODS[name](2).fit(cloud(share=0.1).X)
    new = cloud(share=0.5, random_state=7).X
    found = diagnose(model, new)
    np.testing.assert_array_equal(found.flagged, model.predict(new) == -1)
    np.testing.assert_array_equal(found.flagged, found.excess > 1)
    np.testing.assert_allclose(found.p_value, model.p_values(new))
    np.testing.assert_allclose(found.log_p / np.log(10), model.score_samples(new))
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


@pytest.mark.slow
def test_the_three_kinds_are_told_apart():
    right = []
    for seed in range(6):
        X, truth = three_kinds(seed)
        kind = diagnose(DSWL(3).fit(X), X).kind
        right.append([(kind == truth)[truth == one].mean() for one in KINDS[:4]])
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


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.03, 0.1, 0.3])
def test_kinds_of_rows_that_are_spread_out(share):
    planted_right, all_right = [], []
    for seed in range(6):
        X, truth = spread_kinds(seed, share)
        right = diagnose(DSWL(3).fit(X), X).kind == truth
        planted_right.append(right[truth != "regular"].mean())
        all_right.append(right.mean())
    assert np.mean(planted_right) > 0.95 and np.mean(all_right) > 0.95


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


@pytest.mark.slow
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


def test_the_three_log_weights_make_the_learned_weights():
    X = cloud(share=0.2).X
    model = DSWL(2, tau=(0.5, 0.3, 0.4), init="uniform", reweight=False).fit(X)
    why = reasons(model, X)
    log_weights = why.inside + why.off + why.center
    np.testing.assert_allclose(
        np.exp(log_weights - logsumexp(log_weights)), model.weights_, atol=1e-6
    )


def test_only_dswl_has_reasons():
    X = cloud().X
    with pytest.raises(TypeError, match="PlainPCA has no temperatures.*diagnose"):
        reasons(PlainPCA(2).fit(X), X)


@pytest.mark.slow
def test_the_table_of_outliers_is_sorted_and_labelled():
    table = sensors()
    frame = pd.DataFrame(table.X, columns=table.columns)
    frame.index = [f"day {i}" for i in range(200)]
    model = DSWL(2).fit(frame)
    found = model.outliers(frame)
    assert list(found.columns[:8]) == [
        "row", "kind", "p_value", "excess", "score", "orthogonal", "column", "share",
    ]  # fmt: skip
    assert found.p_value.is_monotonic_increasing and (found.p_value < 0.025).all()
    assert (found.excess > 1).all()
    assert len(found) == (model.predict(frame) == -1).sum()
    assert found.row.iloc[0] == "day 96" and found.column.iloc[0] == "flow"
    assert len(model.outliers(frame, everything=True)) == 200


def test_without_pandas_the_table_is_an_array(forget_pandas):
    X = cloud(share=0.1).X
    model = PlainPCA(2).fit(X)
    frame = outlier_table(model, X, everything=True)
    forget_pandas()
    array = outlier_table(model, X, everything=True)
    assert array.dtype.names == tuple(frame.columns)
    for name in array.dtype.names:
        assert list(array[name]) == list(frame[name])


def test_rows_of_a_list_are_numbered():
    X = cloud(share=0.1).X
    model = PlainPCA(2).fit(X)
    found = outlier_table(model, X.tolist())
    assert list(found.row) == list(outlier_table(model, X).row)


@pytest.fixture(scope="module")
def with_a_group():
    """A model that takes rows of its cloud for a group apart, and the rows."""
    X = cloud(share=0.1).X
    model = PlainPCA(2).fit(X)
    return with_sides(model, X), X


def test_rows_of_a_group_apart_are_outliers_whatever_their_distances(with_a_group):
    model, X = with_a_group
    found = diagnose(model, X)
    np.testing.assert_array_equal(found.flagged, model.predict(X) == -1)
    np.testing.assert_allclose(found.p_value, model.p_values(X))
    group = found.kind == "group"
    apart = model._law().sides(X)
    assert group.any() and not group[~apart].any() and found.flagged[apart].all()
    assert (found.score_ratio[group] <= 1).all()
    assert (found.orthogonal_ratio[group] <= 1).all()
    assert (found.group_ratio[group] > 1).all()
    np.testing.assert_array_equal(found.flagged, found.excess > 1)
    alone = diagnose(model, X[group])
    assert (alone.kind == "group").all()


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"level": 0.2}, {"contamination": 0.3}], ids=str)
def test_flags_follow_the_line_and_p_values_do_not(settings):
    X = sensors().X
    model, other = DSWL(2).fit(X), DSWL(2, **settings).fit(X)
    before, found = diagnose(model, X), diagnose(other, X)
    np.testing.assert_array_equal(found.log_p, before.log_p)
    np.testing.assert_array_equal(found.flagged, ~other.support_)
    np.testing.assert_array_equal(found.flagged, found.excess > 1)
    assert found.flagged.sum() > before.flagged.sum()
    cutoffs = found.score_cutoff, found.orthogonal_cutoff
    assert cutoffs == other.cutoffs_ and cutoffs < model.cutoffs_


@pytest.mark.slow
@pytest.mark.parametrize("fdr", [0.01, 0.1, 0.5])
def test_a_false_discovery_rate_lists_what_benjamini_and_hochberg_reject(
    fdr, with_a_group
):
    for model, X in (with_a_group, (DSWL(2).fit(sensors().X), sensors().X)):
        p = model.p_values(X)
        # The adjusted p-values of another implementation.
        rejected = np.flatnonzero(false_discovery_control(p) <= fdr)
        found = model.outliers(X, fdr=fdr)
        assert sorted(found.row) == rejected.tolist() and len(rejected)
        assert found.p_value.is_monotonic_increasing
        assert (found.excess > 1).all() and "regular" not in set(found.kind)
        everything = model.outliers(X, fdr=fdr, everything=True)
        assert len(everything) == len(X)
        assert (everything.kind != "regular").sum() == len(rejected)


def test_a_false_discovery_rate_that_finds_nothing():
    X = cloud().X
    model = PlainPCA(2, level=0.5).fit(X)
    assert len(model.outliers(X)) and not len(model.outliers(X, fdr=1e-100))


def test_records_say_in_short_what_they_hold():
    X = sensors().X
    model = DSWL(2).fit(X)
    change = effect(model, X)
    path = trust_path(model, X, [0.9, 0.7])
    said = [
        (diagnose(model, X), "Diagnosis(200 rows, 33 outliers)"),
        (contributions(model, X), "Contributions(200 rows, 6 columns)"),
        (reasons(model, X), "Reasons(200 rows)"),
        (change, f"Effect(200 rows, largest angle {change.angle:.3g} degrees)"),
        (path, "TrustPath(2 fits, trust 0.9 to 0.7, 200 rows)"),
        (score_plane(model, X), "ScorePlane(200 rows, components (0, 1))"),
        (
            cell_map(model, X),
            "CellMap(200 rows, 6 columns, 0 wrong and 0 missing cells)",
        ),
    ]
    for record, words in said:
        assert repr(record) == words
    inside, off, center = reasons(model, X)  # tuples are still tuples
    assert len(inside) == len(off) == len(center) == 200


def test_the_table_has_value_and_fit_of_the_column_to_correct():
    X = pd.DataFrame(cloud(share=0.1).X, columns=list("abcdef"), index=range(100, 190))
    X = X * [1, 10, 1, 100, 1, 1]
    for model in (DSWL(2).fit(X), make_pipeline(ColumnScaler(), DSWL(2)).fit(X)):
        for everything in (False, True):
            table = outlier_table(model, X, everything=everything)
            explained = explain(model, X, table.position)
            for i, line in enumerate(table.itertuples()):
                assert line.value == pytest.approx(X.loc[line.row, line.column])
                if i < 20:
                    of_row = explained[explained.position == line.position]
                    (at,) = np.flatnonzero(of_row.column == line.column)
                    assert line.fitted == pytest.approx(of_row.fitted.iloc[at])


def test_p_values_of_some_rows_are_those_of_all():
    X = cloud(share=0.2).X
    found, some = diagnose(DSWL(2).fit(X), X), np.array([5, 0, 17])
    few = found.log_p_of(some)
    assert "log_p" not in vars(found)  # those of all rows were not needed
    np.testing.assert_array_equal(few, found.log_p[some])
    np.testing.assert_array_equal(found.log_p_of(some), few)
