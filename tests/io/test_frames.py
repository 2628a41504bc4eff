"""Frames of pandas, polars and Arrow give the same columns."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from trueaxis import TableEncoder
from trueaxis._columns import Column
from trueaxis._frames import columns_of, frame_names, is_frame

DAY = datetime.date(2024, 1, 31)
MOMENT = datetime.datetime(2024, 1, 31, 12, 30)
D = decimal.Decimal


def one(X):
    (column,) = columns_of(X)
    return column


def check(column, kind, values):
    assert column.kind == kind
    if kind == "number":
        assert column.values.dtype == np.float64
        np.testing.assert_array_equal(column.values, np.array(values, dtype=float))
    else:
        assert column.values.dtype == object and list(column.values) == values


PANDAS = {
    "float": ([1.5, np.nan], None, "number", [1.5, np.nan]),
    "int": ([1, 2], "int8", "number", [1, 2]),
    "Int64": ([1, None], "Int64", "number", [1, np.nan]),
    "Float32": ([1, None], "Float32", "number", [1, np.nan]),
    "bool": ([True, False], None, "number", [1, 0]),
    "boolean": ([True, None], "boolean", "number", [1, np.nan]),
    "objects": ([1, None], object, "number", [1, np.nan]),
    "NA": ([1.5, pd.NA], object, "number", [1.5, np.nan]),
    "objects of booleans": ([True, None], object, "number", [1, np.nan]),
    "Decimal": ([D("1.5"), None], object, "number", [1.5, np.nan]),
    "nothing": ([None, None], object, "number", [np.nan, np.nan]),
    "str": (["a", None], None, "text", ["a", None]),
    "string": (["a", None], "string", "text", ["a", None]),
    "numbers as text": (["1,5", "2"], None, "text", ["1,5", "2"]),
    "mixed": ([1.5, "n/a"], object, "text", [1.5, "n/a"]),
    "category": (["a", None], "category", "text", ["a", None]),
    "category of numbers": ([1, 2], "category", "text", [1, 2]),
    "category of booleans": ([True, False], "category", "text", [True, False]),
    "datetime": ([MOMENT, None], "datetime64[us]", "calendar", None),
    "with a zone": ([MOMENT, None], "datetime64[us, UTC]", "calendar", None),
    "timedelta": ([1, 2], "timedelta64[s]", "calendar", None),
    "period": ([DAY, None], "period[D]", "calendar", None),
    "dates": ([DAY, None], object, "calendar", [DAY, None]),
    "lists": ([[1], None], object, "nested", [[1], None]),
    "sparse": ([1.0, 0.0], pd.SparseDtype(float, 0.0), "number", [1, 0]),
    "Arrow int": ([1, None], "int64[pyarrow]", "number", [1, np.nan]),
    "Arrow bool": ([True, None], "bool[pyarrow]", "number", [1, np.nan]),
    "Arrow text": (["a", None], "string[pyarrow]", "text", ["a", None]),
    "Arrow decimal": (
        [D("1.5"), None],
        pd.ArrowDtype(pa.decimal128(5, 2)),
        "number",
        [1.5, np.nan],
    ),
}


@pytest.mark.parametrize(
    ("cells", "dtype", "kind", "values"), PANDAS.values(), ids=PANDAS
)
def test_pandas(cells, dtype, kind, values):
    column = one(pd.DataFrame({"x": pd.Series(cells, dtype=dtype)}))
    if values is None:
        assert column.kind == kind and len(column.values) == 2
        assert [v is None for v in column.values] == [c is None for c in cells]
    else:
        check(column, kind, values)


ARROW = {
    "int": (pa.array([1, None]), "number", [1, np.nan]),
    "bool": (pa.array([True, None]), "number", [1, np.nan]),
    "float": (pa.array([1.5, None, float("nan")]), "number", [1.5, np.nan, np.nan]),
    "half": (pa.array(np.float16([1.5])), "number", [1.5]),
    "decimal": (pa.array([D("1.50"), None]), "number", [1.5, np.nan]),
    "null": (pa.nulls(2), "number", [np.nan, np.nan]),
    "text": (pa.array(["a", None]), "text", ["a", None]),
    "large text": (pa.array(["a", None], pa.large_string()), "text", ["a", None]),
    "dictionary": (pa.array(["a", None]).dictionary_encode(), "text", ["a", None]),
    "coded numbers": (pa.array([3, None]).dictionary_encode(), "text", [3, None]),
    "date": (pa.array([DAY, None]), "calendar", [DAY, None]),
    "timestamp": (pa.array([MOMENT, None]), "calendar", [MOMENT, None]),
    "list": (pa.array([[1, 2], None]), "nested", [[1, 2], None]),
}


@pytest.mark.parametrize(("array", "kind", "values"), ARROW.values(), ids=ARROW)
def test_arrow(array, kind, values):
    check(one(pa.table({"x": array})), kind, values)
    check(one(pa.record_batch({"x": array})), kind, values)
    chunked = pa.chunked_array([array[:1], array[1:]], type=array.type)
    check(one(pa.table({"x": chunked})), kind, values)


def test_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {
            "int": [1, None],
            "float": [1.5, None],
            "bool": [True, None],
            "none": [None, None],
            "text": ["a", None],
            "date": [DAY, None],
            "time": [datetime.timedelta(1), None],
            "list": [[1], None],
        }
    ).with_columns(
        pl.Series("decimal", [D("1.50"), None]),
        pl.Series("category", ["a", None], dtype=pl.Categorical),
        pl.Series("enum", ["a", None], dtype=pl.Enum(["b", "a"])),
        pl.Series("struct", [{"a": 1}, None]),
    )
    found = {column.name: column for column in columns_of(frame)}
    nan = np.nan
    for name, values in {
        "int": [1, nan],
        "float": [1.5, nan],
        "bool": [1, nan],
        "none": [nan, nan],
        "decimal": [1.5, nan],
    }.items():
        check(found[name], "number", values)
    for name in ("text", "category", "enum"):
        check(found[name], "text", ["a", None])
    check(found["date"], "calendar", [DAY, None])
    assert found["time"].kind == "calendar"
    assert found["list"].kind == found["struct"].kind == "nested"
    with pytest.raises(TypeError, match=r"LazyFrame.*collect"):
        columns_of(frame.lazy())


def test_objects_that_export_arrow_streams():
    class Stream:
        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    X = Stream(pa.table({"a": [1, 2], "b": ["x", "y"]}))
    assert is_frame(X) and frame_names(X) == ["a", "b"]
    assert [column.kind for column in columns_of(X)] == ["number", "text"]


def test_columns_are_passed_through():
    columns = [Column("a", "number", np.ones(3)), Column("b", "text", np.array(["x"]))]
    assert is_frame(columns) and columns_of(columns) == columns
    assert frame_names(columns) == ["a", "b"]
    assert not is_frame([]) and not is_frame([[1, 2]]) and not is_frame(np.ones((2, 2)))
    assert not is_frame(pd.Series([1, 2]))


def test_names():
    frame = pd.DataFrame(np.ones((2, 2)))
    assert frame_names(frame) is None
    assert [column.name for column in columns_of(frame)] == ["x0", "x1"]
    frame.columns = ["a", 1]
    with pytest.raises(TypeError, match="Only some names of columns are text"):
        columns_of(frame)
    frame.columns = ["a", "a"]
    with pytest.raises(ValueError, match="2 columns named 'a'"):
        columns_of(frame)
    with pytest.raises(ValueError, match="2 columns named 'a'"):
        columns_of(pa.table([[1], [2]], names=["a", "a"]))


@pytest.mark.parametrize("dtype", [complex, object])
def test_complex_numbers_are_refused(dtype):
    frame = pd.DataFrame({"z": pd.Series([1 + 2j, 1j], dtype=dtype)})
    with pytest.raises(ValueError, match="Complex data not supported. Column 'z'"):
        columns_of(frame)


def test_columns_are_copies_or_unchanged():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Series(["x", None], dtype=object)})
    before = frame.copy()
    columns_of(frame)[1].values[0] = "changed"
    pd.testing.assert_frame_equal(frame, before)


def test_numbers_as_names_are_names():
    rng = np.random.default_rng(0)
    spectra = pd.DataFrame(rng.random((30, 4)), columns=[1100, 1102, 1104, 1106])
    assert frame_names(spectra) == ["1100", "1102", "1104", "1106"]
    assert frame_names(pd.DataFrame(rng.random((3, 4)))) is None
    encoder = TableEncoder(scale="none").fit(spectra)
    reordered = spectra[spectra.columns[::-1]]
    np.testing.assert_array_equal(encoder.transform(reordered), spectra.to_numpy())
    with pytest.raises(ValueError, match="lacks columns .*'1100'"):
        encoder.transform(spectra.rename(columns={1100: 1098}))
