"""Kinds and reasons of outliers, tables of them, and summaries."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from nasty import nasty
from scipy.stats import false_discovery_control
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_tables import cloud, frame, with_sides

from trueaxis import DSWL, ColumnScaler
from trueaxis.datasets import sensors
from trueaxis.diagnostics import (
    KINDS,
    diagnose,
    explain,
    outlier_table,
    summary,
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
    inside = found.score > found.cutoffs.score
    off = found.orthogonal > found.cutoffs.orthogonal
    assert (found.kind[inside & off] == "both").all()
    assert (found.kind[inside & ~off] == "inside").all()
    assert (found.kind[~inside & off] == "off").all()
    assert set(found.kind) <= set(KINDS)
    assert ((found.share >= 0) & (found.share <= 1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
@pytest.mark.filterwarnings("ignore:Only")
def test_degenerate_data_are_diagnosed_and_explained(case):
    what, X, k = case
    model = DSWL(k).fit(X)
    if "1e300" in what:
        X = X[:-1]  # its squares overflow; predict knows it all the same
    found = diagnose(model, X)
    assert not np.isnan(found.share).any() and not np.isnan(found.excess).any()
    np.testing.assert_array_equal(found.flagged, model.predict(X) == -1)
    table = model.explain(X, np.arange(len(X)))
    assert np.isfinite(table.fitted).all() and not table.share.isna().any()
    assert not table.deviation.isna().any()


def test_without_pandas_tables_are_arrays(forget_pandas):
    X = cloud(share=0.1).X
    model = DSWL(2).fit(X)
    frames = model.outliers(X), model.explain(X), model.summary()
    forget_pandas()
    for array, table in zip(
        (model.outliers(X), model.explain(X)), frames, strict=False
    ):
        assert array.dtype.names == tuple(table.columns)
        for name in array.dtype.names:
            assert list(array[name]) == list(table[name])
    assert model.summary() == frames[2]


@pytest.fixture(scope="module")
def with_a_group():
    """A model that takes rows of its cloud for a separate cluster, and the rows."""
    X = cloud(share=0.1).X
    model = PlainPCA(2).fit(X)
    return with_sides(model, X), X


def test_rows_of_a_separate_cluster_are_outliers_whatever_their_distances(with_a_group):
    model, X = with_a_group
    found = diagnose(model, X)
    np.testing.assert_array_equal(found.flagged, model.predict(X) == -1)
    np.testing.assert_allclose(found.p_value, model.p_values(X))
    group = found.kind == "group"
    apart = model._law().sides(X)
    assert group.any() and not group[~apart].any() and found.flagged[apart].all()
    assert (found.ratios[:2, group] <= 1).all() and (found.ratios[2, group] > 1).all()
    np.testing.assert_array_equal(found.flagged, found.excess > 1)
    alone = diagnose(model, X[group])
    assert (alone.kind == "group").all()


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


@pytest.mark.parametrize("fdr", [0, 1, "0.1", True, np.nan])
def test_other_rates_are_refused(fdr):
    X = cloud().X
    with pytest.raises(ValueError, match="is not a false discovery rate.*0 and 1"):
        PlainPCA(2).fit(X).outliers(X, fdr=fdr)


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


def fact(text, name):
    (line,) = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    return line.removeprefix(name).strip()


def test_the_docs_show_a_summary():
    page = Path(__file__).parents[2] / "docs" / "diagnostics.md"
    text = DSWL(2).fit(frame()).summary()
    assert f"```\n{text}\n```" in page.read_text()
    assert fact(text, "outliers") == "33 of 200 rows (16 %)"


def test_a_summary_of_a_pipeline_says_what_came_before_the_fit():
    X = frame()
    scaled = make_pipeline(ColumnScaler(), DSWL(2)).fit(X)
    assert fact(summary(scaled), "columns") == "as ColumnScaler gave them to the fit"
    assert "power" in summary(scaled)  # names that only the scaler knows
    other = make_pipeline(StandardScaler(), PlainPCA(2)).fit(X)
    assert "StandardScaler" in fact(summary(other), "columns")
