"""Files of all sorts become numbers with names, or an error that says where."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import trueaxis
from trueaxis._cli.main import main
from trueaxis._files import atomic_write
from trueaxis._tables.read import Choice, TableError, read_table
from trueaxis._tables.write import write_table


def written(tmp_path, text, name="table.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n3,4\n",
        "a;b\n1;2\n3;4\n",
        "a\tb\n1\t2\n3\t4\n",
        "a|b\r\n1|2\r\n3|4",
        "\ufeffa,b\n 1 , 2 \n\n3,4\n\n",
        'a,b\n"1","2"\n3,4\n',
        "a;b\n1,0;2,0\n3,0;4\n",
        "a;b\n1;2e0\n3;0.4e1\n",
    ],
)
def test_delimiters_headers_and_decimals_are_found_out(tmp_path, text):
    table = read_table(written(tmp_path, text))
    assert table.columns == ("a", "b")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])


def test_a_table_without_header_gets_names(tmp_path):
    table = read_table(written(tmp_path, "1,2\n3,4\n5,6\n"))
    assert table.columns == ("x0", "x1") and len(table.X) == 3


def test_one_column_and_names_with_delimiters(tmp_path):
    assert read_table(written(tmp_path, "only\n1\n2\n")).X.shape == (2, 1)
    table = read_table(written(tmp_path, '"flow, in","a\nb"\n1,2\n3,4\n'))
    assert table.columns == ("flow, in", "a\nb")


def test_thousands_of_the_continent(tmp_path):
    table = read_table(written(tmp_path, "a;b\n1.234,5;2\n-0,25;3\n"))
    np.testing.assert_array_equal(table.X[:, 0], [1234.5, -0.25])


def test_other_encodings(tmp_path):
    table = read_table(written(tmp_path, "größe,b\n1,2\n", encoding="latin-1"))
    assert table.columns[0] == "größe"


def test_ids_labels_and_columns(tmp_path):
    path = written(tmp_path, "id,site,a,b,c\nr1,X,1,2,3\nr2,Y,4,5,6\n")
    table = read_table(path, Choice(id="id", label="site", drop=["b"]))
    assert table.columns == ("a", "c")
    assert table.ids.tolist() == ["r1", "r2"] and table.labels.tolist() == ["X", "Y"]
    assert read_table(path, Choice(columns=["c", "a"])).columns == ("c", "a")


def test_formats_agree(tmp_path):
    X = np.random.default_rng(0).standard_normal((20, 3))
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "a.parquet")
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "a.npz", table=X, notes=np.arange(3))
    for path in sorted(tmp_path.iterdir()):
        table = read_table(path)
        np.testing.assert_array_equal(table.X, X, err_msg=str(path))
        assert table.columns == ("x0", "x1", "x2")
    part = read_table(tmp_path / "a.npy", Choice(drop=["x1"]))
    assert part.columns == ("x0", "x2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n\n3,x7\n", "Column 'b' has text: 'x7' in line 4.*--drop b"),
        (
            "a,b\n1,\n3,4\n",
            "'b' has a cell that is missing in line 2.*in 1 of 2",
        ),
        ("a,b\n1,NA\n3,n/a\n", r"missing in line 2 \(such cells: 2"),
        ("a,b\n1,inf\n", "infinite in line 2"),
        ("a,b\n1,2\n3\n", "Line 3 of .* has 1 cells, line 1 has 2"),
        ("a,a\n1,2\n", "two columns named 'a'"),
        ("a,b\n", "has a header, but no rows"),
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b\n1,2\n\x00", "is no text"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, text, message):
    with pytest.raises(TableError, match=message):
        read_table(written(tmp_path, text))


def test_missing_cells_are_named_in_other_formats_too(tmp_path):
    X = np.ones((4, 2))
    X[2, 1] = np.nan
    np.save(tmp_path / "a.npy", X)
    frame = pd.DataFrame({"a": [1, None, 3], "b": ["u", "v", "w"]})
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(TableError, match="'x1' has a cell that is missing in row 2"):
        read_table(tmp_path / "a.npy")
    with pytest.raises(TableError, match="'b' has text: 'u' in row 0"):
        read_table(tmp_path / "a.parquet")
    with pytest.raises(TableError, match="'a' has a cell that is missing in row 1"):
        read_table(tmp_path / "a.parquet", Choice(drop=["b"]))


def test_unknown_columns_folders_and_arrays_are_refused(tmp_path):
    path = written(tmp_path, "a,b\n1,2\n")
    for choice in (Choice(id="z"), Choice(drop=["z"]), Choice(columns=["z"])):
        with pytest.raises(TableError, match="no column 'z'; there are a, b"):
            read_table(path, choice)
    with pytest.raises(TableError, match="No column is left"):
        read_table(path, Choice(drop=["a", "b"]))
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.csv")
    np.save(tmp_path / "cube.npy", np.ones((2, 2, 2)))
    with pytest.raises(TableError, match="3 dimensions"):
        read_table(tmp_path / "cube.npy")
    np.save(tmp_path / "objects.npy", np.array([[1, "a"]], dtype=object))
    with pytest.raises(TableError, match="no plain numbers"):
        read_table(tmp_path / "objects.npy")
    np.savez(tmp_path / "two.npz", a=np.ones((2, 2)), b=np.ones((2, 2)))
    with pytest.raises(TableError, match="has 2 tables"):
        read_table(tmp_path / "two.npz")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(TableError, match=r"pip install 'trueaxis\[parquet\]'"):
        read_table(tmp_path / "a.parquet")
    with pytest.raises(TableError, match=r"pip install 'trueaxis\[parquet\]'"):
        write_table(tmp_path / "b.parquet", {"a": [1.0]})


def test_standard_input_and_output(monkeypatch, capsys):
    class Stdin:
        buffer = io.BytesIO(b"a,b\n1,2\n")

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert read_table("-").X.tolist() == [[1.0, 2.0]]
    write_table("-", {"row": ["r1"], "score": [0.1]})
    assert capsys.readouterr().out == "row,score\nr1,0.1\n"


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_what_is_written_is_read_again(tmp_path, ending):
    values = np.random.default_rng(0).standard_normal(9)
    path = tmp_path / f"out{ending}"
    write_table(path, {"name": [f"r{i}, x" for i in range(9)], "value": values})
    table = read_table(path, Choice(id="name"))
    np.testing.assert_array_equal(table.X[:, 0], values)  # every digit
    assert table.ids[3] == "r3, x"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_failed_write_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    for error in (RuntimeError, KeyboardInterrupt):
        with pytest.raises(error), atomic_write(path) as file:
            file.write(b"half")
            raise error
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(FileNotFoundError, match="No such folder.*create it first"):
        write_table(tmp_path / "no" / "out.csv", {"a": [1]})


def test_files_are_as_private_as_others(tmp_path):
    write_table(tmp_path / "out.csv", {"a": [1]})
    (tmp_path / "other").write_text("")
    mode = os.stat(tmp_path / "out.csv").st_mode
    assert mode == os.stat(tmp_path / "other").st_mode


def test_reading_needs_no_pandas():
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "from trueaxis._tables.read import read_table; import tempfile, pathlib\n"
        "p = pathlib.Path(tempfile.mkdtemp()) / 'a.csv'; p.write_text('a\\n1\\n')\n"
        "assert read_table(p).X.tolist() == [[1.0]]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


# ---------------------------------------------------------------- decimals, thousands


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;b\n1.234;0,5\n1.234,5;2\n-1.234.567;3\n", [1234, 1234.5, -1234567]),
        ("a\tb\n1.234\t1,25\n999\t2\n0\t0\n", [1234, 999, 0]),
        ("a;b\n1,234;0.5\n1,234.5;2\n-1,234,567;3\n", [1234, 1234.5, -1234567]),
        ("a\tb\n1,234\t1.25\n999\t2\n0\t0\n", [1234, 999, 0]),
        ('a,b\n"1,234",0.5\n"12,345.6",2\n7,3\n', [1234, 12345.6, 7]),
        ("a;b\n0,234;1\n1,234;2\n,5;3\n", [0.234, 1.234, 0.5]),
        ("a;b\n0.234;1\n1.234;2\n.5;3\n", [0.234, 1.234, 0.5]),
        ("a;b\n1,234e3;1\n1,234;2\n1e3;3\n", [1234, 1.234, 1000]),
        ("a,b\n1.234,1\n2.345,2\n3.456,3\n", [1.234, 2.345, 3.456]),
    ],
)
def test_thousands_are_told_from_decimals(tmp_path, text, expected):
    np.testing.assert_array_equal(read_table(written(tmp_path, text)).X[:, 0], expected)


def test_the_last_row_may_tell_what_the_first_200_do_not(tmp_path):
    text = "a;b\n" + "1.234;7\n" * 300 + "0,5;7\n"
    X = read_table(written(tmp_path, text)).X
    assert X[0, 0] == 1234 and X[-1, 0] == 0.5


def test_columns_that_are_left_out_may_tell_too(tmp_path):
    path = written(tmp_path, "id;a;b\n1.5;1.234;0,5\n2.5;1.235;1,5\n")
    X = read_table(path, Choice(columns=["a"], id="id")).X
    assert X.ravel().tolist() == [1234, 1235]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a;b\n1,5;2\n2;2.5\n",
            "contradicts.*'1,5' in line 2, column 'a'.*'2.5' in line 3, column 'b'",
        ),
        (
            "a\tb\n1,234\t2\n2,345\t3\n",
            "'1,234' in line 2, column 'a', and '2,345' in line 3, column 'a'.*"
            "--decimal , if 1,234 is 1.234, --decimal . if it is 1234",
        ),
        ("a;b\n1.234;2\n2.345;3\n", "'1.234' in line 2.*--decimal , if it is 1234"),
        ("a|b\n1,234|1.234\n", "'1,234' in line 2, column 'a', and '1.234' in line 2"),
        ('a,b\n"1,234",2\n', "'1,234' in line 2"),
    ],
)
def test_what_can_be_read_in_two_ways_is_asked_for(tmp_path, text, message):
    with pytest.raises(TableError, match=message):
        read_table(written(tmp_path, text))


def test_the_decimal_sign_can_be_said(tmp_path):
    path = written(tmp_path, "a\tb\n1,234\t2\n")
    assert read_table(path, Choice(decimal=",")).X[0, 0] == 1.234
    assert read_table(path, Choice(decimal=".")).X[0, 0] == 1234
    path = written(tmp_path, "a;b\n1,5;2.5\n")
    with pytest.raises(TableError, match="'2.5' in line 2.*as --decimal says"):
        read_table(path, Choice(decimal=","))
    with pytest.raises(TableError, match="--decimal is 'x'"):
        read_table(path, Choice(decimal="x"))
    one = written(tmp_path, "only\n0,5\n1,5\n")
    assert read_table(one, Choice(decimal=",")).X.ravel().tolist() == [0.5, 1.5]


def test_three_decimals_between_tabs_are_noted(tmp_path):
    table = read_table(written(tmp_path, "a\tb\n1.234\t2\n"))
    assert table.X[0, 0] == 1.234 and "say --decimal , if it is 1234" in table.notes[0]
    assert read_table(written(tmp_path, "a\tb\n1.234\t2.5\n")).notes == ()


def test_names_are_not_mended(tmp_path):
    path = written(tmp_path, "id;no;1,5;b\n1,1;1.000;0,5;2\n1,2;2.000;0,7;3\n")
    table = read_table(path, Choice(id="id", label="no", header="yes"))
    assert table.ids.tolist() == ["1,1", "1,2"] and table.columns == ("1,5", "b")
    assert table.labels.tolist() == ["1.000", "2.000"]
    assert table.X.tolist() == [[0.5, 2], [0.7, 3]]


def test_signs_spaces_and_minus(tmp_path):
    text = (
        "a;b\n\u22121;1\u00a0234\n\u22120,5;1 234,5\n3;1\u202f000\u202f000\n4;1'000\n"
    )
    X = read_table(written(tmp_path, text)).X
    assert X.T.tolist() == [[-1, -0.5, 3, 4], [1234, 1234.5, 1e6, 1000]]


@pytest.mark.parametrize("cell", ["6 %", "6%", "$5", "-$5", "5 €", "€5", "£1,234"])
def test_a_sign_is_told_to_be_the_cause(tmp_path, cell):
    mark = next(c for c in cell if c in "%$€£")
    with pytest.raises(
        TableError, match=rf"in line 2: the sign \{mark} keeps.*--drop b"
    ):
        read_table(written(tmp_path, f"a;b\n1;{cell}\n2;3\n"))


def test_a_currency_as_spreadsheets_save_it(tmp_path):
    with pytest.raises(TableError, match="the sign € keeps"):
        read_table(written(tmp_path, "a;b\n1;5 €\n", encoding="cp1252"))


@pytest.mark.parametrize(
    "cell", ["#N/A", "#NA", "N/A", "NULL", "-", ".", "<NA>", "\u2212"]
)
def test_what_counts_as_missing(tmp_path, cell):
    with pytest.raises(TableError, match="'b' has a cell that is missing in line 3"):
        read_table(written(tmp_path, f"a,b\n1,2\n3,{cell}\n"))


def test_numbers_of_python_alone_are_text(tmp_path):
    with pytest.raises(TableError, match="'b' has text: '1_000' in line 2"):
        read_table(written(tmp_path, "a,b\n1,1_000\n"))


# ---------------------------------------------------------------- delimiters, records


@pytest.mark.parametrize("before", range(46, 52))
def test_a_cell_of_two_lines_does_not_hide_the_delimiter(tmp_path, before):
    text = "n;a;b\n" + "u;1,5;2\n" * before + '"x\ny";1,5;2\n' + "u;1,5;2\n" * 9
    table = read_table(written(tmp_path, text), Choice(label="n"))
    assert table.X.shape == (before + 10, 2)


@pytest.mark.parametrize(
    "text",
    [
        "a b c\n1.5  2   3\n 4 5 6 \n",
        "a;b;c\n1,5;2;3\n4;5;6\n",
        "sep=;\na;b;c\n1.5;2;3\n4;5;6\n",
        '"sep=|"\r\na|b|c\r\n1.5|2|3\r\n4|5|6\r\n',
        "sep=\t\na\tb\tc\n1,5\t2\t3\n4\t5\t6\n",
    ],
)
def test_more_delimiters(tmp_path, text):
    table = read_table(written(tmp_path, text))
    assert table.columns == ("a", "b", "c") and table.notes == ()
    assert table.X.tolist() == [[1.5, 2, 3], [4, 5, 6]]


def test_decimal_commas_do_not_part_cells(tmp_path):
    table = read_table(written(tmp_path, "1,5;2,5\n3,5;4,5\n7,5;1,5\n"))
    assert table.X.tolist() == [[1.5, 2.5], [3.5, 4.5], [7.5, 1.5]]


def test_the_delimiter_can_be_said(tmp_path):
    path = written(tmp_path, "a:b\n1:2\n")
    assert read_table(path, Choice(delimiter=":")).columns == ("a", "b")
    path = written(tmp_path, "a, x\tb\n1\t2\n")
    assert read_table(path, Choice(delimiter="tab")).columns == ("a, x", "b")
    with pytest.raises(TableError, match="'::' cannot part cells"):
        read_table(path, Choice(delimiter="::"))


def test_lines_are_those_where_records_begin(tmp_path):
    path = written(tmp_path, 'n,a\n"x\ny",1\n"u\nv\nw",z\n')
    with pytest.raises(TableError, match="'a' has text: 'z' in line 4"):
        read_table(path, Choice(id="n"))
    path = written(tmp_path, "sep=,\nn,a\n1,z\n")
    with pytest.raises(TableError, match="'z' in line 3"):
        read_table(path)


def test_a_quotation_mark_that_is_not_closed(tmp_path):
    text = 'a,b\n1,2\n3,"4\n' + "5,6\n" * 50_000
    with pytest.raises(
        TableError, match="131,072 characters.*not closed.*after line 2"
    ):
        read_table(written(tmp_path, text))


# ---------------------------------------------------------------- headers, names


def test_wavelengths_are_names(tmp_path):
    rows = "0,21;0,32;0,51\n0,41;0,52;0,53\n0,11;0,12;0,32\n"
    table = read_table(written(tmp_path, "1100;1102;1104\n" + rows))
    assert table.columns == ("1100", "1102", "1104") and len(table.X) == 3
    assert "--header no otherwise" in table.notes[0]
    named = "s;1100;1102;1104\n"
    named += "".join(f"p{i};{row}\n" for i, row in enumerate(rows.split()))
    table = read_table(written(tmp_path, named), Choice(id="s"))
    assert table.columns == ("1100", "1102", "1104") and table.ids[0] == "p0"
    plain = read_table(
        written(tmp_path, "1100;1102;1104\n" + rows), Choice(header="no")
    )
    assert len(plain.X) == 4 and plain.notes == ()


def test_columns_that_pandas_counted(tmp_path):
    X = np.random.default_rng(0).standard_normal((9, 4))
    for index in (True, False):
        pd.DataFrame(X).to_csv(tmp_path / "a.csv", index=index)
        table = read_table(tmp_path / "a.csv")
        np.testing.assert_array_equal(table.X, X)
        assert table.columns == ("0", "1", "2", "3")


@pytest.mark.parametrize(
    ("text", "doubtful"),
    [
        ("5,2,9\n3,4,1\n5,6,2\n7,8,3\n", False),
        ("1,2,3\n3,4,1\n5,6,2\n7,8,3\n", True),  # in steps, but like the others
        ("900,5,80\n.3,.4,.1\n.5,.6,.2\n.7,.8,.3\n", False),
        ("100,150,300\n.3,.4,.1\n.5,.6,.2\n.7,.8,.3\n", True),  # far, but not in steps
        ("1,2,3\n2,3,4\n9,9,2\n4,4,6\n", False),  # others are in steps, too
    ],
)
def test_numbers_in_the_first_line_are_data_if_in_doubt(tmp_path, text, doubtful):
    table = read_table(written(tmp_path, text))
    assert table.columns == ("x0", "x1", "x2") and len(table.X) == 4
    assert len(table.notes) == doubtful
    assert not doubtful or "taken as data: it has numbers only" in table.notes[0]
    named = read_table(written(tmp_path, text), Choice(header="yes"))
    assert named.columns == tuple(text.split("\n")[0].split(",")) and not named.notes


def test_a_column_of_names_makes_no_header(tmp_path):
    path = written(tmp_path, "A;0,2;0,3\nB;0,4;0,5\nC;0,1;0,1\n")
    table = read_table(path, Choice(id="x0"))
    assert table.ids.tolist() == ["A", "B", "C"] and table.columns == ("x1", "x2")
    assert "taken as data" in table.notes[0]
    with pytest.raises(TableError, match="'A' in line 1.*Note: .*--header yes") as told:
        read_table(path)
    assert "taken as data" in str(told.value)
    table = read_table(path, Choice(id="A", header="yes"))
    assert table.columns == ("0,2", "0,3") and len(table.X) == 2
    with pytest.raises(TableError, match="--header is 'maybe'"):
        read_table(path, Choice(header="maybe"))


@pytest.mark.parametrize("index", [[0, 1, 2], [7, 3, 5], ["u", "v", "w"]])
def test_the_index_of_pandas_names_the_rows(tmp_path, index):
    frame = pd.DataFrame({"a": [1.5, 2, 3], "b": [4.5, 6, 5]}, index=index)
    frame.to_csv(tmp_path / "a.csv")
    table = read_table(tmp_path / "a.csv")
    assert table.columns == ("a", "b") and table.ids.tolist() == list(map(str, index))
    assert "it names the rows" in table.notes[0]
    table = read_table(tmp_path / "a.csv", Choice(drop=["column 1"]))
    assert table.columns == ("a", "b") and table.ids is None and table.notes == ()


def test_other_columns_without_names_get_one(tmp_path):
    table = read_table(written(tmp_path, ",a,,b\n1.5,2,3,4\n1.5,6,7,9\n"))
    assert table.columns == ("column 1", "a", "column 3", "b") and table.ids is None
    for text in ("a;b;\n1;2;\n3;4;\n", "a;b;;\n1;2;;\n3;4;;\n"):
        assert read_table(written(tmp_path, text)).columns == ("a", "b")
    assert read_table(written(tmp_path, "1;2;\n3;5;\n")).columns == ("x0", "x1")
    with pytest.raises(TableError, match="'column 3' has a cell that is missing"):
        read_table(written(tmp_path, "a;b;\n1;2;\n3;4;5\n"))


# ---------------------------------------------------------------- what is refused


def test_all_columns_of_text_are_named_at_once(tmp_path):
    path = written(tmp_path, 'n,site,"x, y",a\np,u,r s,1\nq,u,r s,2\n')
    with pytest.raises(TableError) as caught:
        read_table(path)
    said = str(caught.value)
    assert "3 columns have text: 'n' ('p' in line 2), 'site' ('u' in line 2)" in said
    assert """--drop 'n,site,"x, y"'""" in said and "(--id n: no cell twice)" in said
    path = written(tmp_path, "a,b\n" + "1,2\n" * 9 + "1,x\n")
    with pytest.raises(
        TableError, match="'x' in line 11 .1 of 10 cells: put them right"
    ):
        read_table(path)


def test_few_columns_with_missing_cells_are_named(tmp_path):
    path = written(tmp_path, "a,b b,c,d\n1,,3,\n4,,6,7\n")
    with pytest.raises(TableError, match="2 of 4 columns.*--drop 'b b,d'"):
        read_table(path)
    with pytest.raises(TableError, match=r"2 of 2 columns\).*drop the columns\.$"):
        read_table(path, Choice(columns=["b b", "d"]))


def test_files_of_numpy_that_are_none(tmp_path):
    np.save(tmp_path / "whole.npy", np.ones((9, 9)))
    np.savez_compressed(
        tmp_path / "whole.npz", a=np.random.default_rng(0).random((50, 50))
    )
    garbled = bytearray((tmp_path / "whole.npz").read_bytes())
    garbled[300:400] = b"x" * 100
    contents = {
        "empty.npy": b"",
        "junk.npy": b"junk",
        "cut.npy": (tmp_path / "whole.npy").read_bytes()[:200],
        "empty.npz": b"",
        "junk.npz": b"PK\x03\x04junk",
        "cut.npz": (tmp_path / "whole.npz").read_bytes()[:-20],
        "garbled.npz": bytes(garbled),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(
            TableError, match=f"{name} is damaged, or no file"
        ) as caught:
            read_table(tmp_path / name)
        assert "pickle" not in str(caught.value)


def test_a_model_is_no_table(tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 3))
    trueaxis.save(trueaxis.DSWL(1).fit(X), tmp_path / "model.npz")
    with pytest.raises(TableError, match="model.npz is a model file, not a table"):
        read_table(tmp_path / "model.npz")


# ---------------------------------------------------------------- the command line


def test_options_and_notes_reach_the_command_line(tmp_path):
    rows = np.random.default_rng(0).integers(1000, 9999, (30, 3))
    text = "".join(";".join(f"{x:,}" for x in row) + "\n" for row in rows.tolist())
    path = str(written(tmp_path, text))
    asked = CliRunner().invoke(main, ["fit", path])
    assert asked.exit_code == 1 and "--decimal" in asked.stderr
    options = ["--decimal", ".", "--delimiter", ";", "--header", "no", "--json"]
    done = CliRunner().invoke(main, ["fit", path, *options])
    assert json.loads(done.stdout)["rows"] == 30 and done.stderr == ""
    model = str(tmp_path / "m.npz")
    pd.DataFrame(rows + 0.5, columns=["a", "b", "c"]).to_csv(tmp_path / "b.csv")
    for command in (["fit", "-o", model], ["score", model], ["transform", model]):
        done = CliRunner().invoke(main, [*command, str(tmp_path / "b.csv")])
        assert done.exit_code == 0
        assert done.stderr.startswith("Note: The first column has no name")
