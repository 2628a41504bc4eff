"""Delimiters, records and column names of text files."""

import numpy as np
import pytest
from text_files import text_file

from trueaxis.io import Choice, TableError, read_table


@pytest.mark.parametrize("before", range(46, 52))
def test_a_cell_of_two_lines_does_not_hide_the_delimiter(tmp_path, before):
    text = "n;a;b\n" + "u;1,5;2\n" * before + '"x\ny";1,5;2\n' + "u;1,5;2\n" * 9
    table = read_table(text_file(tmp_path, text), Choice(label="n"))
    assert table.X.shape == (before + 10, 2)


def test_the_delimiter_can_be_given(tmp_path):
    path = text_file(tmp_path, "a:b\n1:2\n")
    assert read_table(path, Choice(delimiter=":")).columns == ("a", "b")
    path = text_file(tmp_path, "a, x\tb\n1\t2\n")
    assert read_table(path, Choice(delimiter="tab")).columns == ("a, x", "b")
    with pytest.raises(TableError, match="'::' cannot separate cells"):
        read_table(path, Choice(delimiter="::"))


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("last", ['5,"6', '5,"', '"5,6', '5,"6""', '"5""",6,"'])
def test_a_quotation_mark_that_is_open_at_the_end(tmp_path, last, end):
    path = text_file(tmp_path, "a,b\n1,2\n3,4\n" + last + end)
    message = "begins in line 4 never ends: a quotation mark is not closed"
    with pytest.raises(TableError, match=message):
        read_table(path)


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
