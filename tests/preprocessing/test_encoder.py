"""Tables of all kinds, and what becomes of their columns."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import trueaxis
from trueaxis import ColumnScaler, TableEncoder
from trueaxis._columns import Column
from trueaxis._frames import columns_of

N = 120


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    flow = rng.normal(20, 2, N)
    table = pd.DataFrame(
        {
            "nr": np.arange(1, N + 1),
            "flow": flow,
            "temp_in": 3 * flow + rng.normal(0, 1, N),
            "temp_out": 60 - 2 * flow + rng.normal(0, 1, N),
            "price": rng.lognormal(3, 1, N),
            "site": rng.choice(["north", "south", "west"], N, p=[0.5, 0.3, 0.2]),
            "ok": rng.random(N) < 0.8,
            "name": [f"pump {i}" for i in range(N)],
            "day": pd.date_range("2024-01-01", periods=N),
        }
    )
    table.loc[3, "flow"] = np.nan
    table.loc[4, "site"] = None
    return table


def names(encoder):
    return encoder.get_feature_names_out().tolist()


@pytest.mark.sklearn
@parametrize_with_checks(
    [
        TableEncoder(),
        TableEncoder(scale="robust"),
        TableEncoder(categories=True, scale="none"),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# ------------------------------------------------------------------- which columns


def test_numbers_are_used_and_the_rest_is_left_out(table):
    encoder = TableEncoder().fit(table)
    assert names(encoder) == ["flow", "temp_in", "temp_out", "price", "ok"]
    assert encoder.left_out_ == {
        "nr": "counts the rows",
        "site": "text",
        "name": "text",
        "day": "calendar",
    }
    assert encoder.notes_[0] == (
        "Left out: 'nr' (counts the rows), 'site', 'name' (text), 'day' (calendar)."
    )
    assert encoder.notes_[-1].startswith("Columns were")
    assert encoder.n_features_in_ == 9
    assert [*encoder.feature_names_in_] == [*table.columns]
    assert encoder.categories_ == {} and encoder.log_ == []


def test_categories_and_logarithms(table):
    encoder = TableEncoder(categories=True, log=["price"]).fit(table)
    assert names(encoder) == [
        *("flow", "temp_in", "temp_out", "log10(price)"),
        *("site=north", "site=south", "site=west", "ok=0", "ok=1"),
    ]
    assert encoder.left_out_["name"] == "names"
    assert encoder.categories_ == {"site": ["north", "south", "west"], "ok": ["0", "1"]}
    assert encoder.log_ == ["price"] and encoder.scale_ == "robust"
    E = encoder.encode(table)
    np.testing.assert_array_equal(E[:, 3], np.log10(table["price"]))
    np.testing.assert_array_equal(E[:, 8], table["ok"])
    assert np.isnan(E[3, 0]) and np.isnan(E[4, 4:7]).all() and np.isnan(E).sum() == 4
    shares = table["site"].value_counts(normalize=True).sort_index()
    np.testing.assert_allclose(encoder.center_[4:7], shares)
    np.testing.assert_allclose(encoder.unit_[4:7], np.sqrt(shares))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"columns": ["price", "flow"]}, ["price", "flow"]),
        ({"columns": ["flow:price"], "drop": ["temp*"]}, ["flow", "price"]),
        ({"columns": ["nr", "flow"]}, ["nr", "flow"]),  # asked for
        ({"drop": pd.Index(["ok", "price"])}, ["flow", "temp_in", "temp_out"]),
        (
            {"drop": None, "columns": ["flow"], "log": None, "categories": None},
            ["flow"],
        ),
        (
            {"columns": ["site", "flow"], "categories": True},
            ["site=north", "site=south", "site=west", "flow"],
        ),
    ],
)
def test_choice_of_columns(table, settings, expected):
    encoder = TableEncoder(**settings).fit(table)
    assert names(encoder) == expected
    assert encoder.transform(table).shape == (N, len(expected))


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"columns": ["flwo"]}, r"no column 'flwo' \(columns\)\. Did you mean 'flow'"),
        ({"drop": ["*"]}, "No column is left to analyze: drop fewer"),
        ({"columns": ["site"]}, r"names 'site', .*\(text\).*categories=\['site'\]"),
        ({"columns": ["day"]}, r"'day', .*\(calendar\): convert it to numbers"),
        ({"columns": ["s*", "nam?"]}, "No column is left to analyze. Left out: 'site'"),
        ({"categories": ["site"], "drop": ["site"]}, r"no column 'site' \(categor"),
        ({"log": ["site"]}, "log names 'site', which is not analyzed as a number"),
        ({"log": ["ok"]}, r"'ok' has 0 in row \d+ .*no logarithm"),
        ({"categories": ["list"]}, "'list' holds lists or records"),
        ({"scale": "max"}, "scale='max' is not valid"),
        ({"scale": None}, "scale=None is not valid"),
    ],
)
def test_choices_that_are_refused(table, settings, match):
    table = table.assign(list=[[1]] * N) if "list" in match else table
    encoder = TableEncoder(**settings)
    with pytest.raises(ValueError, match=match):
        encoder.fit(table)
    with pytest.raises(NotFittedError):
        encoder.transform(table)
    assert not hasattr(encoder, "n_features_in_")


def test_a_few_words_among_numbers_are_an_error_unless_dropped(table):
    odd = table.assign(flow=table["flow"].astype(object))
    odd.loc[7, "flow"] = "broken"
    match = "'flow' has numbers in 118 cells and text in 1, such as 'broken' in row 7"
    with pytest.raises(ValueError, match=match):
        TableEncoder().fit(odd)
    assert "flow" not in names(TableEncoder(drop=["flow"]).fit(odd))
    encoder = TableEncoder(columns=["flow"], categories=["flow"]).fit(odd)
    assert "flow=broken" in names(encoder)
    encoder = TableEncoder().fit(table)
    with pytest.raises(
        ValueError, match="numbers in the fit, but has 'broken' in row 7"
    ):
        encoder.transform(odd)
    # A column without any value has no kind of its own.
    empty = encoder.encode(table.assign(flow=pd.Series([None] * N, dtype="string")))
    assert np.isnan(empty[:, 0]).all()
    with pytest.raises(ValueError, match=r"but has Timestamp.* \(calendar\)"):
        encoder.encode(table.assign(flow=table["day"]))


def test_infinite_values(table):
    odd = table.copy()
    odd.loc[7, "flow"] = np.inf
    match = "'flow' has inf in row 7"
    with pytest.raises(ValueError, match=match):
        TableEncoder().fit(odd)
    with pytest.raises(ValueError, match=match):
        TableEncoder().fit(table).transform(odd)
    TableEncoder(drop=["flow"]).fit(odd)


def test_log_of_new_values_that_are_not_positive(table):
    encoder = TableEncoder(log=["price"]).fit(table)
    odd = table.copy()
    odd.loc[7, "price"] = 0
    with pytest.raises(ValueError, match="'price' has 0 in row 7 .*1 of 120"):
        encoder.transform(odd)
    odd.loc[7, "price"] = np.nan
    assert np.isnan(encoder.transform(odd)[7]).sum() == 1


def test_levels_that_the_fit_did_not_see(table):
    encoder = TableEncoder(columns=["flow", "site"], categories=True).fit(table)
    new = table.assign(site="east")
    with pytest.warns(UserWarning, match="'site' has a level .* in 120 rows: 'east'"):
        E = encoder.encode(new)
    assert (E[:, 1:] == 0).all()


# ---------------------------------------------------------------------- identities


def test_without_categories_and_logs_it_is_a_column_scaler(table):
    numbers = table[["flow", "temp_in", "temp_out", "price", "ok"]].astype(float)
    encoder = TableEncoder(scale="robust").fit(table)
    scaler = ColumnScaler().fit(numbers)
    np.testing.assert_array_equal(encoder.center_, scaler.center_)
    np.testing.assert_array_equal(encoder.unit_, scaler.unit_)
    np.testing.assert_array_equal(encoder.transform(table), scaler.transform(numbers))


def test_frames_of_all_libraries_give_the_same(table):
    settings = {"categories": True, "log": ["price"]}
    expected = TableEncoder(**settings).fit(table)
    Z = expected.transform(table)
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    frames = {"pyarrow": arrow, "batch": arrow.combine_chunks().to_batches()[0]}
    frames["nullable"] = table.convert_dtypes()
    frames["category"] = table.astype({"site": "category"})
    frames["columns"] = columns_of(table)
    try:
        import polars

        frames["polars"] = polars.from_arrow(arrow)
    except ImportError:
        pass
    for name, frame in frames.items():
        encoder = TableEncoder(**settings).fit(frame)
        assert encoder.notes_ == expected.notes_, name
        assert names(encoder) == names(expected), name
        np.testing.assert_array_equal(encoder.transform(frame), Z, name)
        np.testing.assert_array_equal(expected.transform(frame), Z, name)


def test_columns_are_found_by_name(table):
    encoder = TableEncoder(categories=True).fit(table)
    Z = encoder.transform(table)
    mixed = table[table.columns[::-1]].assign(extra="more")
    np.testing.assert_array_equal(encoder.transform(mixed), Z)
    # Columns that were left out are not needed.
    np.testing.assert_array_equal(
        encoder.transform(table.drop(columns=["nr", "name", "day"])), Z
    )
    with pytest.raises(
        ValueError, match=r"lacks columns .*: 'flow', 'site' \(2 of 6\)"
    ):
        encoder.transform(table.drop(columns=["flow", "site"]))


def test_arrays_and_names():
    X = np.random.default_rng(0).normal(size=(30, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    plain, named = TableEncoder("x1:x2").fit(X), TableEncoder(["b:"]).fit(frame)
    assert names(plain) == ["x1", "x2"] and names(named) == ["b", "c"]
    assert plain.get_feature_names_out(["a", "b", "c"]).tolist() == ["b", "c"]
    assert not hasattr(plain, "feature_names_in_")
    unnamed = pd.DataFrame(X)
    np.testing.assert_array_equal(plain.transform(unnamed), plain.transform(X))
    np.testing.assert_array_equal(plain.transform(frame), plain.transform(X))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_array_equal(named.transform(X), named.transform(frame))
    np.testing.assert_array_equal(named.transform(unnamed), named.transform(frame))
    with pytest.raises(ValueError, match="X has 2 features, but TableEncoder is expec"):
        plain.transform(unnamed[[0, 1]])
    with pytest.raises(ValueError, match="X has 2 features, but TableEncoder is expec"):
        plain.transform(X[:, :2])
    named.set_params(columns=None).fit(X)  # forgets the names
    assert not hasattr(named, "feature_names_in_")


def test_what_is_not_in_memory_is_refused(tmp_path, table):
    np.save(tmp_path / "x.npy", np.ones((4, 2)))
    for X in (tmp_path / "x.npy", "x.npy", trueaxis.open_rows(tmp_path / "x.npy")):
        with pytest.raises(TypeError, match="needs the table in memory"):
            TableEncoder().fit(X)


def test_inverse_transform(table):
    encoder = TableEncoder(categories=True, log=["price"]).fit(table)
    E = encoder.encode(table)
    back = encoder.inverse_transform(encoder.transform(table))
    np.testing.assert_allclose(back, E, rtol=1e-12, atol=1e-12)
    with pytest.raises(
        ValueError, match="has 2 columns, but the table was encoded in 9"
    ):
        encoder.inverse_transform(np.ones((3, 2)))


# ------------------------------------------------------------------------- company


cells = {
    "number": st.one_of(st.none(), st.floats(-1e6, 1e6)),
    "text": st.one_of(
        st.none(), st.sampled_from(["a", "b", "", "=", "x:y", "\x1b[2J"])
    ),
    "flag": st.one_of(st.none(), st.booleans()),
}
columns = st.sampled_from(sorted(cells)).flatmap(
    lambda kind: st.lists(cells[kind], min_size=8, max_size=8)
)


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.text(max_size=6), columns, min_size=1, max_size=5), st.data())
def test_any_table(content, data):
    arrays = {}
    for name, values in content.items():
        arrays[name] = np.empty(8, dtype=object)
        arrays[name][:] = values
    frame = pd.DataFrame(arrays)
    choices = {
        "categories": data.draw(st.booleans()),
        "scale": data.draw(st.sampled_from(["auto", "none", "robust"])),
    }
    encoder = TableEncoder(**choices)
    try:
        Z = encoder.fit_transform(frame)
    except ValueError as error:
        assert re.match("No column is left to analyze", str(error))
        return
    found = names(encoder)
    assert len(set(found)) == len(found) == Z.shape[1] == len(encoder.unit_)
    E = encoder.encode(frame)
    assert not np.isinf(Z).any() and (np.isnan(Z) == np.isnan(E)).all()
    tolerance = 1e-9 * max(1.0, np.nanmax(np.abs(E), initial=0))
    np.testing.assert_allclose(encoder.inverse_transform(Z), E, atol=tolerance)
    # Rows one by one are encoded as all together.
    np.testing.assert_array_equal(encoder.transform(frame.tail(1)), Z[-1:])
    used = {name for name in content if name not in encoder.left_out_}
    assert {n for n in found if n in content} <= used
    assert set(encoder.categories_) <= used


def test_units_of_columns_decide_about_the_scale():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 20))
    same = [Column("a", "number", a, "mm"), Column("b", "number", 1000 * b, "mm")]
    other = [same[0], Column("b", "number", b, "kg")]
    assert TableEncoder().fit(same).scale_ == "none"
    encoder = TableEncoder().fit(other)
    assert encoder.scale_ == "robust" and "different units" in encoder.notes_[-1]
    assert TableEncoder(scale="none").fit(other).notes_ == []
