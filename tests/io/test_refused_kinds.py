"""What is not a number is refused, wherever users pass rows or weights."""

import datetime
import decimal
import fractions

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from trueaxis import DSWL, ColumnScaler, TableEncoder, diagnostics
from trueaxis._frames import refuse_other_kinds
from trueaxis.datasets import planted
from trueaxis.methods.reweighted import PlainPCA

pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))

N = 30
RNG = np.random.default_rng(0)
NUMBERS = planted("none", n=N, n_features=3).X
DAYS = np.datetime64("2020-01-01") + RNG.integers(0, 999, (N, 3)).astype("m8[D]")
MISSING_DAY = DAYS.copy()
MISSING_DAY[2, 1] = np.datetime64("NaT", "D")
SECONDS = RNG.integers(0, 999, (N, 3)).astype("m8[s]")


def objects(cell):
    cells = NUMBERS.astype(object)
    cells[4, 1] = cell
    return cells


def with_numbers(column):
    return {"when": column, "b": NUMBERS[:, 0], "c": NUMBERS[:, 1]}


CALENDAR = {
    "datetime64": DAYS,
    "NaT": MISSING_DAY,
    "timedelta64": SECONDS,
    "masked": np.ma.array(DAYS),
    "objects": DAYS.astype(object),
    "lists": DAYS.astype(object).tolist(),
    "one date": objects(datetime.datetime(2020, 1, 1)),
    "one NaT": objects(np.datetime64("NaT", "D")),
    "one duration": objects(np.timedelta64(3, "s")),
    "pandas": pd.DataFrame(DAYS),
    "pandas durations": pd.DataFrame(SECONDS),
    "pandas mixed": pd.DataFrame(with_numbers(DAYS[:, 0])),
    "pandas zones": pd.DataFrame(
        with_numbers(pd.date_range("2020", periods=N, tz="UTC"))
    ),
    "pandas periods": pd.DataFrame(
        with_numbers(pd.period_range("2020", periods=N, freq="D"))
    ),
    "pandas Arrow": pd.DataFrame(
        with_numbers(pd.array(DAYS[:, 0], dtype="timestamp[us][pyarrow]"))
    ),
    "polars": pl.DataFrame(DAYS.astype("M8[us]")),
    "polars mixed": pl.DataFrame(with_numbers(DAYS[:, 0].astype(object))),
    "polars durations": pl.DataFrame(SECONDS.astype("m8[us]")),
    "pyarrow": pa.table(dict(zip("abc", map(pa.array, DAYS.T), strict=True))),
    "pyarrow mixed": pa.table(with_numbers(DAYS[:, 0])),
}


@pytest.mark.parametrize("name", CALENDAR)
def test_dates_are_refused_by_fits(name):
    for estimator in (DSWL(2), PlainPCA(2), ColumnScaler()):
        with pytest.raises(TypeError, match=r"has dates or times \(.*\), but only"):
            estimator.fit(CALENDAR[name])
        assert not hasattr(estimator, "n_features_in_")


@pytest.mark.parametrize("name", ["datetime64", "NaT", "one NaT", "polars mixed"])
def test_dates_are_refused_by_everything_that_a_fitted_model_does(name):
    model, X = DSWL(2).fit(NUMBERS), CALENDAR[name]
    scaler = ColumnScaler().fit(NUMBERS)
    for use in (
        model.transform,
        model.predict,
        model.distances,
        model.p_values,
        model.score_samples,
        model.repair,
        model.outliers,
        model.explain,
        model.inverse_transform,
        scaler.transform,
        scaler.inverse_transform,
        TableEncoder().fit(NUMBERS).inverse_transform,
        lambda X: diagnostics.diagnose(model, X),
        lambda X: diagnostics.effect(model, X),
        lambda X: diagnostics.cell_map(model, X),
    ):
        with pytest.raises(TypeError, match="has dates or times"):
            use(X)


@given(
    arrays.arrays(
        st.sampled_from([np.dtype("M8[ns]"), np.dtype("m8[D]"), np.dtype("M8[s]")]),
        st.tuples(st.integers(2, 6), st.integers(1, 4)),
    ),
    st.sampled_from([np.asarray, pd.DataFrame, lambda X: X.astype(object)]),
)
def test_no_array_of_dates_is_taken(X, convert):
    # Dates beyond the years of datetime become integers as objects.
    given = convert(X)
    if given.__class__ is np.ndarray and given.dtype == object:
        integers = all(type(cell) is int or cell is None for cell in given.ravel())
        if integers:
            return
    with pytest.raises(TypeError, match="has dates or times"):
        refuse_other_kinds(given)


def test_complex_numbers_are_refused():
    for X in (
        NUMBERS + 1j,
        (NUMBERS + 1j).tolist(),
        objects(1 + 2j),
        objects(np.complex64(1j)),
        pd.DataFrame(NUMBERS + 0j),
    ):
        for use in (DSWL(2).fit, TableEncoder().fit, DSWL(2).fit(NUMBERS).predict):
            with pytest.raises(ValueError, match=r"^Complex data not supported\. "):
                use(X)


@given(st.integers(309, 5000), st.booleans())
def test_integers_that_no_float_holds_are_refused(digits, negative):
    cell = (-1) ** negative * 10**digits
    X = objects(cell)
    for table in (X, X.tolist(), pd.DataFrame(X)):
        with pytest.raises(ValueError, match="(Row 4 in c|C)olumn .* of X has an int"):
            refuse_other_kinds(table)


def test_other_numbers_are_taken():
    expected = DSWL(2).fit(objects(1.5).astype(float)).components_
    for cell in (decimal.Decimal("1.5"), fractions.Fraction(3, 2), "1.5", b"1.5"):
        found = DSWL(2).fit(objects(cell)).components_
        np.testing.assert_array_equal(found, expected)
    refuse_other_kinds(objects(2**70))
    refuse_other_kinds(objects(None))
    refuse_other_kinds(pd.DataFrame({"time": [1.0], "date": [2]}))  # names may be any


def test_masked_weights_are_refused():
    hidden = np.ma.array(np.ones(N), mask=np.arange(N) < 3)
    with pytest.raises(
        ValueError, match=f"masked array that hides 3 of {N} weights: fill"
    ):
        DSWL(2).fit(NUMBERS, sample_weight=hidden)
    nothing_hidden = np.ma.array(np.arange(1.0, N + 1), mask=False)
    found = DSWL(2).fit(NUMBERS, sample_weight=nothing_hidden)
    expected = DSWL(2).fit(NUMBERS, sample_weight=np.arange(1.0, N + 1))
    np.testing.assert_array_equal(found.components_, expected.components_)


@pytest.mark.parametrize(
    "weights",
    [
        np.ones(N, "M8[s]"),
        np.ones(N, "m8[s]"),
        [datetime.date(2020, 1, 1)] * N,
        [datetime.timedelta(1)] * N,
        np.ones(N) + 1j,
        objects(1j)[:, 1],
        [10**400] * N,
        [-(10**5000)] * N,
        ["a"] * N,
        np.ones(N, [("a", float)]),
        np.ones(N, [("a", float), ("b", float)]),
        [[1]] + [[1, 2]] * (N - 1),
    ],
    ids=range(12),
)
def test_weights_must_be_real_numbers(weights):
    advice = r"of type .*, is not numeric \(.*\): pass one real number per row\."
    with pytest.raises(TypeError, match=rf"^sample_weight, {advice}$"):
        DSWL(2).fit(NUMBERS, sample_weight=weights)


def test_what_is_no_table_is_refused():
    for X in (iter(NUMBERS.tolist()), {"a": 1}, object(), None):
        with pytest.raises((TypeError, ValueError), match="float|Expected 2D array"):
            PlainPCA(1).fit(X)
    with pytest.raises(TypeError, match="Row 4 in column 1 of X is of type list"):
        PlainPCA(1).fit(objects([]))


def test_frames_without_columns_are_refused():
    for X in (pd.DataFrame(index=range(5)), pl.DataFrame(), np.zeros((5, 0))):
        with pytest.raises(ValueError, match=r"0 feature\(s\)"):
            PlainPCA(1).fit(X)
