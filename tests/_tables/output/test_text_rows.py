"""Rows of text files, written again with all their characters."""

import gzip
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_rows import written

from trueaxis.io.original import open_original
from trueaxis.io import Choice, read_table

ENDINGS = (".csv", ".tsv", ".txt.gz", ".jsonl", ".parquet", ".feather", ".xlsx")


@st.composite
def files(draw):
    """Text of a table, in many styles; its lines, and how it is encoded."""
    delimiter = draw(st.sampled_from([",", ";", "\t", "|"]))
    decimal = draw(st.sampled_from([".", ","] if delimiter != "," else ["."]))
    newline = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    encoding = draw(
        st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252", "utf-16-be"])
    )
    quote = st.sampled_from(["{}", '"{}"', " {}", "{} "])
    number = st.builds(
        lambda x, how: how.format(f"{x:.2f}".replace(".", decimal)),
        st.floats(-1e6, 1e6), quote,
    )  # fmt: skip
    word = st.sampled_from(
        ["north", '"a""b"', '"two\nlines"', f'"with{delimiter}sign"', "zwölf", ""]
    )
    n = draw(st.integers(2, 6))
    rows = [
        delimiter.join(
            [f"r{i}", draw(word), draw(number), draw(number), "0" + decimal + "5"]
        )
        for i in range(n)
    ]
    head = delimiter.join(["name", "site", "flow", "power", "kWh"])
    above = draw(st.sampled_from(["", "# by the logger" + newline]))
    end = draw(st.sampled_from(["", newline]))
    text = above + head + newline + newline.join(rows) + end
    data = text.encode(encoding)
    if encoding == "utf-16-be":
        data = b"\xfe\xff" + data
    return data, above + head + newline, rows, newline, encoding


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(files(), st.data())
def test_untouched_rows_are_the_same_bytes(tmp_path_factory, file, data):
    content, head, rows, newline, encoding = file
    path = tmp_path_factory.mktemp("t") / "in.csv"
    path.write_bytes(content)
    assert written(path) == content
    flagged = data.draw(st.sets(st.integers(0, len(rows) - 1)))
    parts = [sorted(flagged), [i for i in range(len(rows)) if i not in flagged]]
    lines = []
    for part in parts:
        found = written(path, rows=part)
        marks = {"utf-8-sig": 3, "utf-16": 2, "utf-16-be": 2}.get(encoding, 0)
        assert found[:marks] == content[:marks]
        name = encoding if encoding != "utf-16-be" else "utf-16"
        text = found.decode(name)
        assert text.startswith(head)
        body = text[len(head) :]
        expected = newline.join(rows[i] for i in part)
        assert body in (expected, expected + newline)
        lines += [rows[i] for i in part]
    assert sorted(lines) == sorted(rows)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(files(), st.floats(-1e9, 1e9), st.data())
def test_a_changed_cell_changes_nothing_else(tmp_path_factory, file, x, data):
    content, _, rows, *_ = file
    path = tmp_path_factory.mktemp("t") / "in.csv"
    path.write_bytes(content)
    row = data.draw(st.integers(0, len(rows) - 1))
    before = read_table(path, Choice(id="name"))
    out = path.with_name("out.csv")
    out.write_bytes(written(path, changes={"power": {row: x}}))
    after = read_table(out, Choice(id="name"))
    expected = before.X.copy()
    expected[row, before.columns.index("power")] = x
    np.testing.assert_array_equal(after.X, expected)
    assert after.columns == before.columns
    assert after.ids.tolist() == before.ids.tolist()


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(files(), st.sampled_from(ENDINGS))
def test_other_formats_have_the_same_table(tmp_path_factory, file, ending):
    content, _, rows, *_ = file
    path = tmp_path_factory.mktemp("t") / "in.csv"
    path.write_bytes(content)
    out = path.with_name(f"out{ending}")
    packed = written(path, out.name, rows=range(len(rows)))
    out.write_bytes(gzip.compress(packed) if ending.endswith(".gz") else packed)
    before, after = (read_table(each, Choice(id="name")) for each in (path, out))
    np.testing.assert_array_equal(after.X, before.X)
    assert after.columns == before.columns
    assert after.ids.tolist() == before.ids.tolist()


def test_repaired_cells_have_the_style_of_their_column(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(
        "site;flow;cost;share;n\r\n"
        "a; 1,50 ;$ 12,5;5 %;3\r\n"
        "b;NA;$7;6 %;12345678901234567890\r\n"
        '"c;d";"2,5";;7 %;\r\n',
        newline="",
    )
    new = {"flow": {1: 0.1 + 0.2}, "cost": {2: -8.25}, "share": {0: 4.5}, "n": {2: 7.0}}
    assert written(path, changes=new).decode() == (
        "site;flow;cost;share;n\r\n"
        "a; 1,50 ;$ 12,5;4,5 %;3\r\n"
        "b;0,30000000000000004;$7;6 %;12345678901234567890\r\n"
        '"c;d";"2,5";-$8,25;7 %;7\r\n'
    )
    new = {"flow": {2: 3.75}}
    assert '"c;d";"3,75";;7 %;' in written(path, changes=new).decode()


def test_cells_that_could_be_thousands_get_another_digit(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("a;b\n1;2\n3;\n5;6\n")
    out = tmp_path / "out.csv"
    out.write_bytes(written(path, changes={"b": {1: 1.234}}))
    assert read_table(out).X[1, 1] == 1.234


def test_decimal_commas_between_commas_are_quoted(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text('a,b\n"1,5",2\n"2,5",\n"3,5",4\n')
    found = written(path, changes={"b": {1: 2.5}}).decode()
    assert found == 'a,b\n"1,5",2\n"2,5","2,5"\n"3,5",4\n'


def test_lines_that_are_no_rows_have_no_number(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(
        "Run 7 of the pump\n"
        "flow,power,temp\n"
        "l/s,kW,C\n"
        "1.5,20,7\n"
        "\n"
        "# paused\n"
        ",,\n"
        "2.5,31,8\n"
        "3.5,40,9\n"
        "checked by: K. L.\n"
    )
    table = read_table(path)
    assert table.X[:, 0].tolist() == [1.5, 2.5, 3.5]
    original = open_original(str(path))
    assert len(original) == 3
    head = "Run 7 of the pump\nflow,power,temp\nl/s,kW,C\n"
    assert written(path, rows=[1]).decode() == head + "2.5,31,8\n"
    assert written(path, rows=[0, 2]).decode() == head + "1.5,20,7\n3.5,40,9\n"
    whole = written(path, changes={"power": {1: 30}}).decode()
    assert whole == path.read_text().replace("2.5,31,8", "2.5,30,8")
    tabs = "flow\tpower\ttemp\nl/s\tkW\tC\n3.5\t40\t9\n"
    assert written(path, "out.tsv", rows=[2]).decode() == tabs


def test_columns_aligned_by_spaces_stay_where_they_are(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("  flow  power\n   1.5     20\n    NA     31\n   3.5     40\n")
    found = written(path, "out.txt", changes={"flow": {1: 2.5}}).decode()
    assert found == path.read_text().replace("    NA", "    2.5")
    assert written(path, "out.csv", rows=[2]).decode() == "flow,power\n3.5,40\n"


def test_rows_with_a_hole_that_were_left_out_keep_their_positions(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("a,b\n1,2\n,,\n3,\n\n5,6\n7,9\n".replace(",,", ","))
    table = read_table(path, Choice(missing="drop"))
    assert table.X[:, 0].tolist() == [1, 5, 7]
    found = written(path, rows=table.positions[[1, 2]]).decode()
    assert found == "a,b\n5,6\n7,9\n"


def test_integers_zeros_units_and_limits_in_typed_files(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(
        "zip;n;big;x;mass;low\n"
        "007;1;9007199254740993;1,5;3 kg;<0,5\n"
        "012;;9007199254740995;2;4 kg;0,75\n"
    )
    out = tmp_path / "out.parquet"
    out.write_bytes(written(path, "out.parquet"))
    table = pq.read_table(out).to_pydict()
    assert table == {
        "zip": ["007", "012"],
        "n": [1, None],
        "big": [9007199254740993, 9007199254740995],
        "x": [1.5, 2.0],
        "mass": ["3 kg", "4 kg"],
        "low": ["<0,5", "0,75"],
    }


def test_an_empty_column_beside_decimal_commas(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("a;empty;b\n1,5;;2\n2,5;;3\n")
    found = [json.loads(line) for line in written(path, "o.jsonl").splitlines()]
    assert found == [
        {"a": 1.5, "empty": None, "b": 2},
        {"a": 2.5, "empty": None, "b": 3},
    ]


@pytest.mark.parametrize(
    ("sep", "rule"),
    [(" | ", "---+---+---\n"), ("   ", "=== === ===\n"), (" ", "   \n")],
)
@pytest.mark.parametrize("quote", ["", '"'])
def test_lines_that_are_drawn_between_rows_are_none(sep, rule, quote, tmp_path):
    path = tmp_path / "in.txt"
    rows = [sep.join([f"{i}.5", f"{10 * i}", f"{quote}s{quote}"]) for i in (1, 2, 3)]
    head = sep.join(["flow", "power", "site"]) + "\n"
    path.write_text(head + "".join(rule + row + "\n" for row in rows) + rule)
    table = read_table(path)
    assert table.X[:, 0].tolist() == [1.5, 2.5, 3.5]
    assert len(open_original(str(path))) == 3
    above = path.read_text().index(rows[0])
    for i, row in enumerate(rows):
        found = written(path, "out.txt", rows=[i]).decode()
        assert found == path.read_text()[:above] + row + "\n"
    found = written(path, "out.txt", changes={"power": {1: 21.5}}).decode()
    assert found == path.read_text().replace("20", "21.5")


def test_cells_may_be_long(tmp_path):
    path, long = tmp_path / "in.csv", '"' + "x, " * 45_000 + '"'
    path.write_text(f"s,a,b\n{long},1,2\ny,,4\n{long},,6\n")
    assert written(path, rows=[2]).decode() == f"s,a,b\n{long},,6\n"
    found = written(path, changes={"a": {2: 5}}).decode()
    assert found == f"s,a,b\n{long},1,2\ny,,4\n{long},5,6\n"


@pytest.mark.parametrize("zero", ["0", "0,0", "-0"])
def test_a_zero_without_unit_is_no_example(zero, tmp_path):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text(f"mass;n\n{zero};1\n;2\n5,5 kg;3\n4 kg;4\n")
    out.write_bytes(written(path, changes={"mass": {1: 6.5}}))
    assert ";2\n" in out.read_text() and "6,5 kg;2\n" in out.read_text()
    assert read_table(out).X[:, 0].tolist() == [0, 6.5, 5.5, 4]


def test_words_for_missing_cells_are_no_example(tmp_path):
    path, choice = tmp_path / "in.csv", Choice(na=["-999"])
    path.write_text("mass,n\n-999,1\n5.5 kg,3\n4 kg,4\n")
    found = written(path, changes={"mass": {0: 6.5}}, choice=choice).decode()
    assert found == "mass,n\n6.5 kg,1\n5.5 kg,3\n4 kg,4\n"
    path.write_text("a;b\n-999,0;1,5\n3;4\n")
    found = written(path, "o.jsonl", choice=choice).splitlines()
    assert [json.loads(line)["a"] for line in found] == [None, 3]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_a_mark_is_kept_also_if_the_encoding_is_given(encoding, tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes("\ufeffa,b\n1,2\n3,4\n".encode(encoding))
    choice = Choice(encoding=encoding)
    found = written(path, rows=[1], choice=choice)
    assert found == "\ufeffa,b\n3,4\n".encode(encoding)
