"""Rows of Parquet and Feather files, written again with their types."""

import datetime
import decimal
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather
from written_rows import written

from trueaxis.io.original import open_original, write_rows
from trueaxis.io import Choice, read_columns, read_table


@pytest.fixture
def frame():
    """Columns of many types."""
    return pa.table(
        {
            "n": pa.array([1, None, 2**60 + 1], type=pa.int64()),
            "small": pa.array([1, 2, 3], type=pa.int8()),
            "x": pa.array([0.1, None, 0.3], type=pa.float32()),
            "ok": pa.array([True, None, False]),
            "price": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("2.25")]),
            "day": pa.array([datetime.date(2024, 1, d) for d in (1, 2, 3)]),
            "site": pa.array(["a", "b", None]).dictionary_encode(),
            "tags": pa.array([["x"], [], None]),
        },
        metadata={"by": "logger"},
    )


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".arrow"])
def test_types_are_kept(ending, frame, tmp_path):
    path = tmp_path / f"in{ending}"
    if ending == ".parquet":
        pq.write_table(frame, path)
    else:
        feather.write_feather(frame, path)
    out = tmp_path / f"out{ending}"
    for rows in (None, [2, 0], []):
        out.write_bytes(written(path, out.name, rows=rows))
        found = pq.read_table(out) if ending == ".parquet" else feather.read_table(out)
        assert found.equals(
            frame if rows is None else frame.take(pa.array(rows, "int64"))
        )
        assert found.schema.metadata[b"by"] == b"logger"


def test_repaired_cells_keep_types_that_can_hold_them(frame, tmp_path):
    pq.write_table(frame, tmp_path / "in.parquet")
    out = io.BytesIO()
    new = {"n": {1: 7.0}, "x": {1: 0.25}, "ok": {1: 1.0}, "price": {1: 1.239}}
    original = open_original(str(tmp_path / "in.parquet"))
    assert write_rows(original, out, "out.parquet", None, new) == []
    found = pq.read_table(io.BytesIO(out.getvalue()))
    assert found.schema.equals(frame.schema)
    assert found["n"].to_pylist() == [1, 7, 2**60 + 1]
    assert found["price"][1].as_py() == decimal.Decimal("1.24")
    out = io.BytesIO()
    notes = write_rows(original, out, "o.parquet", None, {"small": {0: 1.5, 2: 200.0}})
    assert notes == [
        "Column 'small' was int8, which cannot hold its new cells: it was written as "
        "double."
    ]
    found = pq.read_table(io.BytesIO(out.getvalue()))
    assert found["small"].to_pylist() == [1.5, 2, 200]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".xlsx"])
def test_typed_columns_as_text_are_read_as_the_same_table(ending, frame, tmp_path):
    frame = frame.append_column("y", pa.array([1.5, 2.5, np.nan]))
    pq.write_table(frame, tmp_path / "in.parquet")
    out = tmp_path / f"out{ending}"
    out.write_bytes(written(tmp_path / "in.parquet", out.name))
    choice = Choice(columns=["n", "small", "x", "ok", "price", "y"])
    before, after = (
        read_table(tmp_path / name, choice) for name in ("in.parquet", out)
    )
    np.testing.assert_allclose(after.X, before.X, rtol=1e-7)
    day = {c.name: c.kind for c in read_columns(out, Choice()).columns}["day"]
    assert day == "calendar"
    if ending == ".csv":
        assert out.read_text().splitlines()[3] == (
            "1152921504606846977,3,0.3,0,2.25,2024-01-03,,,"
        )


def test_the_index_of_a_data_frame_comes_first(tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": [3, 4]}, index=["r1", "r2"])
    frame.to_parquet(tmp_path / "in.parquet")
    found = written(tmp_path / "in.parquet").decode()
    assert found == ",a,b\nr1,1.5,3\nr2,2.5,4\n"


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
@pytest.mark.parametrize("target", ["out.parquet", "out.csv", "out.jsonl"])
def test_repaired_text_has_the_style_of_its_column(kind, target, tmp_path):
    """Decimal commas and units, also where a column shows no decimals itself."""
    texts = {
        "flow": ["1,5", None, "2,25", "3,75"],
        "mass": ["0", "4 kg", "n.d.", "7,5 kg"],
        "n": ["1", "2", "3", None],
        "site": ["a", "b", "c", "d"],
    }
    table = pa.table(texts)
    if kind == "dictionary":
        table = pa.table({name: table[name].dictionary_encode() for name in texts})
        table = table.set_column(0, "flow", pa.array(texts["flow"]))  # shows the sign
    elif kind == "large_string":
        table = table.cast(pa.schema([(name, pa.large_string()) for name in texts]))
    path, out = tmp_path / "in.parquet", tmp_path / target
    pq.write_table(table, path)
    new = {"flow": {1: 2.75}, "mass": {2: 6.5}, "n": {3: 1.234}}
    out.write_bytes(written(path, target, changes=new))
    before, after = read_table(path), read_table(out)
    assert after.columns == before.columns == ("flow", "mass", "n")
    expected = before.X.copy()
    expected[1, 0], expected[2, 1], expected[3, 2] = 2.75, 6.5, 1.234
    np.testing.assert_array_equal(after.X, expected)
    if target == "out.parquet":
        found = pq.read_table(out).to_pydict()
        assert found["flow"] == ["1,5", "2,75", "2,25", "3,75"]
        assert found["mass"] == ["0", "4 kg", "6,5 kg", "7,5 kg"]
        assert found["n"][3] == "1,2340"  # 1,234 could be thousands


def test_a_column_without_values_gets_floats(tmp_path):
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"a": [1.5, 2.5], "b": pa.nulls(2)}), path)
    out = io.BytesIO()
    original = open_original(str(path))
    notes = write_rows(original, out, "out.parquet", None, {"b": {0: 1.5, 1: 2.0}})
    assert "Column 'b' was null" in notes[0]
    assert pq.read_table(out)["b"].to_pylist() == [1.5, 2.0]


def test_no_rows_have_the_index_once(tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": [3, 4]}, index=["r1", "r2"])
    frame.to_parquet(tmp_path / "in.parquet")
    assert written(tmp_path / "in.parquet", rows=[]) == b",a,b\n"
