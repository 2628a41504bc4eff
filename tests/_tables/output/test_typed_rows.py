"""Rows of JSON, Excel and .npy files, written again with their types."""

import datetime
import io
import json

import numpy as np
import pytest
from written_rows import written

from trueaxis.io.original import open_original, write_rows
from trueaxis.io import Choice, read_table


def test_lines_of_json_stay_as_they_are(tmp_path):
    lines = [
        '{"a": 1.50, "b": null, "s": "\\u00e4"}',
        '{"b":2,"a":1e3}',
        '{"a":3,"b":4}',
    ]
    path = tmp_path / "in.jsonl"
    path.write_text("\n\n".join(lines))
    assert written(path, "o.jsonl", [2, 1]).decode() == f"{lines[2]}\n{lines[1]}\n"
    found = written(path, "o.jsonl", changes={"b": {0: 7.0}}).decode().splitlines()
    assert found == ['{"a": 1.5, "b": 7, "s": "ä"}', *lines[1:]]
    assert written(path, "o.csv", [0]).decode() == "a,b,s\n1.5,,ä\n"
    path = tmp_path / "in.json"
    path.write_text(f"[{','.join(lines)}]")
    found = json.loads(written(path, "o.json", [0, 2]))
    assert found == [json.loads(lines[0]), json.loads(lines[2])]


def test_sheets_keep_values_and_what_is_above_them(tmp_path):
    pytest.importorskip("xlsxwriter")
    rows = [["Run 7"], [], ["day", "site", "flow", "n"]]
    day = datetime.date(2024, 1, 2)
    rows += [[day, "a", 0.1 + 0.2, 1], [day, "b", None, 2], [day, "=1+1", 2.5, 3]]
    path, out = tmp_path / "in.xlsx", tmp_path / "out.xlsx"
    import xlsxwriter

    with xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd"}) as book:
        sheet = book.add_worksheet()
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                if isinstance(value, str):
                    sheet.write_string(i, j, value)
                else:
                    sheet.write(i, j, value)
    choice = Choice(columns=["flow", "n"])
    out.write_bytes(written(path, out.name, changes={"flow": {1: 1 / 3}}))
    after = read_table(out, choice)
    assert after.X[:, 0].tolist() == [read_table(path, choice).X[0, 0], 1 / 3, 2.5]
    out.write_bytes(written(path, out.name, rows=[2]))
    import python_calamine

    book = python_calamine.CalamineWorkbook.from_path(str(out))
    found = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    assert found[0][0] == "Run 7" and found[2] == ["day", "site", "flow", "n"]
    assert found[3] == [day, "=1+1", 2.5, 3.0]
    csv_text = written(path, "out.csv", rows=[0, 1]).decode().splitlines()
    assert csv_text == [
        "day,site,flow,n",
        "2024-01-02,a,0.3,1",
        "2024-01-02,b,,2",
    ] or csv_text[1].startswith("2024-01-02,a,0.3")  # XlsxWriter has 16 digits


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "?"])
def test_arrays_keep_their_type(dtype, tmp_path):
    X = (np.arange(12).reshape(4, 3) % 2 + (0.1 if dtype[0] == "f" else 0)).astype(
        dtype
    )
    np.save(tmp_path / "in.npy", X)
    found = np.load(io.BytesIO(written(tmp_path / "in.npy", "o.npy", [3, 0])))
    np.testing.assert_array_equal(found, X[[3, 0]])
    assert found.dtype == X.dtype
    found = np.load(
        io.BytesIO(written(tmp_path / "in.npy", "o.npy", None, {"x1": {2: 1.0}}))
    )
    assert found.dtype == X.dtype and found[2, 1] == 1
    out = io.BytesIO()
    original = open_original(str(tmp_path / "in.npy"))
    notes = write_rows(original, out, "o.npy", None, {"x1": {2: 1.5}})
    found = np.load(io.BytesIO(out.getvalue()))
    assert found[2, 1] == 1.5 and bool(notes) == (dtype[0] != "f")
    csv_file = tmp_path / "o.csv"
    csv_file.write_bytes(written(tmp_path / "in.npy", "o.csv"))
    np.testing.assert_array_equal(
        read_table(csv_file, Choice(columns=["x0", "x1", "x2"])).X.astype(dtype), X
    )


# ---------------------------------------------------------------- text among values


def test_repaired_json_has_the_style_of_its_column(tmp_path):
    records = [
        {"flow": "1,5", "mass": "0", "n": 1, "mixed": 1.5},
        {"flow": None, "mass": "4 kg", "n": "NA", "mixed": "2,5"},
        {"mass": "", "n": 3, "mixed": None},
        {"flow": "2,25", "mass": "7,5 kg", "n": 4, "mixed": 4},
        {"flow": "", "mass": "8 kg", "n": 9, "mixed": 5},
    ]
    new = {
        "flow": {1: 2.75, 2: 3.0, 4: 0.5},
        "mass": {2: 6.5},
        "n": {1: 2.0},
        "mixed": {2: 3.5},
    }
    for name in ("in.jsonl", "in.json"):
        path, out = tmp_path / name, tmp_path / f"out-{name}"
        lines = [json.dumps(record) for record in records]
        listed = "[" + ",".join(lines) + "]"
        path.write_text(listed if name == "in.json" else "\n".join(lines))
        out.write_bytes(written(path, out.name, changes=new))
        text = out.read_text()
        found = (
            json.loads(text)
            if name == "in.json"
            else [*map(json.loads, text.splitlines())]
        )
        assert [each["flow"] for each in found] == ["1,5", "2,75", "3", "2,25", "0,5"]
        assert found[2] == {"mass": "6,5 kg", "n": 3, "mixed": 3.5, "flow": "3"}
        assert found[1]["n"] == 2  # a number among numbers
        after = read_table(out)
        assert after.X[:, list(after.columns).index("flow")].tolist() == [
            1.5, 2.75, 3, 2.25, 0.5
        ]  # fmt: skip


def test_the_decimal_sign_may_be_given(tmp_path):
    path, choice = tmp_path / "in.jsonl", Choice(decimal=",")
    path.write_text('{"a": "1"}\n{"a": null}\n{"a": "3"}\n')
    found = written(path, "o.jsonl", changes={"a": {1: 2.5}}, choice=choice)
    assert found.decode().splitlines()[1] == '{"a": "2,5"}'


def test_repaired_sheets_have_the_style_of_their_columns(tmp_path):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path, out = tmp_path / "in.xlsx", tmp_path / "out.xlsx"
    rows = [["flow", "mass", "n"], ["1,5", "0", 1], ["", "4 kg", 2], ["2,5", "", 3]]
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for i, row in enumerate(rows):
            sheet.write_row(i, 0, row)
    new = {"flow": {1: 2.75}, "mass": {2: 6.5}, "n": {2: 2.5}}
    out.write_bytes(written(path, out.name, changes=new))
    assert read_table(out).X.tolist() == [[1.5, 0, 1], [2.75, 4, 2], [2.5, 6.5, 2.5]]
    found = [json.loads(line) for line in written(out, "o.jsonl").splitlines()]
    assert found[1]["flow"] == "2,75" and found[2] == {
        "flow": "2,5", "mass": "6,5 kg", "n": 2.5
    }  # fmt: skip
