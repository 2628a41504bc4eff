"""Delimiters, records and column names of text files."""

import numpy as np
import pandas as pd
import pytest
from text_files import text_file

from trueaxis.io import Choice, TableError, read_table


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
def test_delimiters_headers_and_decimals_are_detected(tmp_path, text):
    table = read_table(text_file(tmp_path, text))
    assert table.columns == ("a", "b")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])


def test_one_column_and_names_with_delimiters(tmp_path):
    assert read_table(text_file(tmp_path, "only\n1\n2\n")).X.shape == (2, 1)
    table = read_table(text_file(tmp_path, '"flow, in","a\nb"\n1,2\n3,4\n'))
    assert table.columns == ("flow, in", "a\nb")


@pytest.mark.parametrize("before", range(46, 52))
def test_a_cell_of_two_lines_does_not_hide_the_delimiter(tmp_path, before):
    text = "n;a;b\n" + "u;1,5;2\n" * before + '"x\ny";1,5;2\n' + "u;1,5;2\n" * 9
    table = read_table(text_file(tmp_path, text), Choice(label="n"))
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
    table = read_table(text_file(tmp_path, text))
    assert table.columns == ("a", "b", "c") and len(table.notes) == 1
    assert table.X.tolist() == [[1.5, 2, 3], [4, 5, 6]]


def test_decimal_commas_do_not_separate_cells(tmp_path):
    table = read_table(text_file(tmp_path, "1,5;2,5\n3,5;4,5\n7,5;1,5\n"))
    assert table.X.tolist() == [[1.5, 2.5], [3.5, 4.5], [7.5, 1.5]]


def test_the_delimiter_can_be_given(tmp_path):
    path = text_file(tmp_path, "a:b\n1:2\n")
    assert read_table(path, Choice(delimiter=":")).columns == ("a", "b")
    path = text_file(tmp_path, "a, x\tb\n1\t2\n")
    assert read_table(path, Choice(delimiter="tab")).columns == ("a, x", "b")
    with pytest.raises(TableError, match="'::' cannot separate cells"):
        read_table(path, Choice(delimiter="::"))


def test_lines_are_those_where_records_begin(tmp_path):
    path = text_file(tmp_path, 'n,a\n"x\ny",1\n"u\nv\nw",z\nr,2\n')
    with pytest.raises(TableError, match="'z' in line 4"):
        read_table(path, Choice(id="n"))
    path = text_file(tmp_path, "sep=,\nn,a\n1,z\n2,3\n3,4\n")
    with pytest.raises(TableError, match="'z' in line 3"):
        read_table(path)


def test_a_quotation_mark_that_is_not_closed(tmp_path):
    text = 'a,b\n1,2\n3,"4\n' + "5,6\n" * 50_000
    with pytest.raises(
        TableError, match="begins in line 3 never ends: a quotation mark is not closed"
    ):
        read_table(text_file(tmp_path, text))


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("last", ['5,"6', '5,"', '"5,6', '5,"6""', '"5""",6,"'])
def test_a_quotation_mark_that_is_open_at_the_end(tmp_path, last, end):
    path = text_file(tmp_path, "a,b\n1,2\n3,4\n" + last + end)
    message = "begins in line 4 never ends: a quotation mark is not closed"
    with pytest.raises(TableError, match=message):
        read_table(path)


def test_inch_marks_need_not_be_closed(tmp_path):
    path = text_file(tmp_path, 'a,b,n\n1,2,"x"\n3,4,y\n5,6,3"\n')
    assert read_table(path, Choice(id="n")).ids.tolist() == ["x", "y", '3"']


def test_blanks_around_cells_are_no_part_of_names(tmp_path):
    path = text_file(tmp_path, 'n,a,b\n x,1,2\n" y ",3,5\nz\t,5,6\n')
    table = read_table(path, Choice(id="n", delimiter=","))
    assert table.ids.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("index", [[0, 1, 2], [7, 3, 5], ["u", "v", "w"]])
def test_the_index_of_pandas_names_the_rows(tmp_path, index):
    frame = pd.DataFrame({"a": [1.5, 2, 3], "b": [4.5, 6, 5]}, index=index)
    frame.to_csv(tmp_path / "a.csv")
    table = read_table(tmp_path / "a.csv")
    assert table.columns == ("a", "b") and table.ids.tolist() == list(map(str, index))
    assert "it was used as row names" in table.notes[0]
    table = read_table(tmp_path / "a.csv", Choice(drop=["column 1"]))
    assert table.columns == ("a", "b") and table.ids is None and table.notes == ()


def test_other_columns_without_names_get_one(tmp_path):
    table = read_table(text_file(tmp_path, ",a,,b\n1.5,2,3,4\n1.5,6,7,9\n"))
    assert table.columns == ("column 1", "a", "column 3", "b") and table.ids is None
    for text in ("a;b;\n1;2;\n3;4;\n", "a;b;;\n1;2;;\n3;4;;\n"):
        assert read_table(text_file(tmp_path, text)).columns == ("a", "b")
    assert read_table(text_file(tmp_path, "1;2;\n3;5;\n")).columns == ("x0", "x1")
    table = read_table(text_file(tmp_path, "a;b;\n1;2;\n3;4;5\n"))
    assert table.columns == ("a", "b", "column 3") and np.isnan(table.X[0, 2])


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_lines_of_empty_cells_are_left_out_with_a_note(tmp_path, delimiter):
    def read(text):
        return read_table(text_file(tmp_path, text.replace(",", delimiter)))

    table = read("a,b\n1,2\n,\n3,\n\n,\n5,6\n\n,\n , \n")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, np.nan], [5, 6]])
    assert table.notes[-1] == (
        "2 lines have only empty cells and were left out; the first is line 3."
    )
    assert read("a,b\n1,2\n,\n3,4\n").notes[-1] == (
        "Line 3 has only empty cells and was left out."
    )
    usual = () if delimiter == "," else (table.notes[0],)
    assert read("\na,b\n\n1,2\n3,4\n,\n,\n").notes == usual
