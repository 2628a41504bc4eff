"""Tables written to files."""

import numpy as np
import pytest

from trueaxis.io import Choice, TableError, read_table, write
from trueaxis.io.write import write_table

ENDINGS = [
    ".csv", ".tsv", ".txt.gz", ".jsonl", ".jsonl.gz", ".parquet", ".pq",
    ".feather", ".arrow", ".xlsx",
]  # fmt: skip


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_is_read_again(tmp_path, ending):
    values = np.random.default_rng(0).standard_normal(9)
    path = tmp_path / f"out{ending}"
    write_table(path, {"name": [f"r{i}, x" for i in range(9)], "value": values})
    table = read_table(path, Choice(id="name"))
    np.testing.assert_array_equal(table.X[:, 0], values)  # every digit
    assert table.ids[3] == "r3, x"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_missing_values_are_empty_cells(tmp_path):
    fields = {"a": [1, None, 2**60], "b": np.array([0.5, np.nan, np.inf])}
    write_table(tmp_path / "x.csv", fields)
    text = (tmp_path / "x.csv").read_text()
    assert text == "a,b\n1,0.5\n,\n1152921504606846976,inf\n"
    write_table(tmp_path / "x.jsonl", fields)
    lines = (tmp_path / "x.jsonl").read_text().splitlines()
    assert lines[1:] == [
        '{"a": null, "b": null}', '{"a": 1152921504606846976, "b": null}'
    ]  # fmt: skip


def test_the_same_rows_give_the_same_compressed_file(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        write_table(tmp_path / name, {"a": [1, 2]})
    first, second = (tmp_path / f"{name}.csv.gz" for name in "ab")
    assert first.read_bytes() == second.read_bytes()


def test_sheets_have_a_largest_size(tmp_path):
    fields = {"a": np.zeros((1 << 20) + 1)}
    with pytest.raises(TableError, match="Excel takes 1,048,576"):
        write_table(tmp_path / "x.xlsx", fields)
    assert not list(tmp_path.iterdir())


def test_text_is_written_a_few_rows_at_a_time_as_all_at_once(tmp_path, monkeypatch):
    x = np.array([0.1, np.nan, -np.inf, 1e300, 3.0])
    fields = {"=x": x, "i": np.arange(5), "b": x > 0, "t": ["=a", None, "", 2.5, "b,c"]}
    monkeypatch.setattr(write, "_ROWS", 2)
    write_table(tmp_path / "t.csv", fields)
    assert (tmp_path / "t.csv").read_text() == (
        "=x,i,b,t\n0.1,0,True,=a\n,1,False,\n-inf,2,False,\n1e+300,3,True,2.5\n"
        '3.0,4,True,"b,c"\n'
    )


def test_columns_of_different_lengths_are_not_cut_off(tmp_path, monkeypatch):
    monkeypatch.setattr(write, "_ROWS", 2)
    with pytest.raises(ValueError, match="shorter|longer"):
        write_table(tmp_path / "t.csv", {"a": np.zeros(2), "b": np.zeros(3)})
