"""Decimal signs and thousands."""

import numpy as np
import pytest
from text_files import text_file

from trueaxis.io import Choice, TableError, read_table


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
        ("a;b\n1.234,567;1\n2.345,678;2\n1;3\n", [1234.567, 2345.678, 1]),
        ('a,b\n"1,234.567",1\n"2,345.678",2\n1,3\n', [1234.567, 2345.678, 1]),
        ("a;b\n1'234.567;1\n2'345.678;2\n1;3\n", [1234.567, 2345.678, 1]),
    ],
)
def test_thousands_are_distinguished_from_decimals(tmp_path, text, expected):
    np.testing.assert_array_equal(
        read_table(text_file(tmp_path, text)).X[:, 0], expected
    )


def test_dropped_columns_may_show_the_decimal_sign(tmp_path):
    path = text_file(tmp_path, "id;a;b\n1.5;1.234;0,5\n2.5;1.235;1,5\n")
    X = read_table(path, Choice(columns=["a"], id="id")).X
    assert X.ravel().tolist() == [1234, 1235]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a;b\n1,5;2\n2;2.5\n",
            "'2.5' in line 3.*",
        ),
        (
            "a\tb\n1,234\t2\n2,345\t3\n",
            "'1,234' in line 2, column 'a', can be read.*"
            "--read decimal=, if 1,234 is 1.234, --read decimal=. if it is 1234",
        ),
        (
            "a;b\n1.234;2\n2.345;3\n",
            "'1.234' in line 2.*--read decimal=, if it is 1234",
        ),
        ("a|b\n1,234|1.234\n", "'1,234' in line 2, column 'a', and '1.234' in line 2"),
        ('a,b\n"1,234",2\n', "'1,234' in line 2"),
    ],
)
def test_ambiguous_cells_are_refused(tmp_path, text, message):
    with pytest.raises(TableError, match=message):
        read_table(text_file(tmp_path, text))


def test_the_decimal_sign_can_be_given(tmp_path):
    path = text_file(tmp_path, "a\tb\n1,234\t2\n")
    assert read_table(path, Choice(decimal=",")).X[0, 0] == 1.234
    assert read_table(path, Choice(decimal=".")).X[0, 0] == 1234
    path = text_file(tmp_path, "a;b\n1,5;2.5\n")
    with pytest.raises(
        TableError, match="comma, as set by --read decimal: '2.5' in line 2"
    ):
        read_table(path, Choice(decimal=","))
    with pytest.raises(TableError, match="decimal is 'x'"):
        read_table(path, Choice(decimal="x"))
    one = text_file(tmp_path, "only\n0,5\n1,5\n")
    assert read_table(one, Choice(decimal=",")).X.ravel().tolist() == [0.5, 1.5]


def test_three_decimals_between_tabs_are_noted(tmp_path):
    table = read_table(text_file(tmp_path, "a\tb\n1.234\t2\n"))
    assert (
        table.X[0, 0] == 1.234
        and "use --read decimal=, if it is 1234" in table.notes[1]
    )
    assert len(read_table(text_file(tmp_path, "a\tb\n1.234\t2.5\n")).notes) == 1


def test_row_names_labels_and_headers_are_not_converted(tmp_path):
    path = text_file(tmp_path, "id;no;1,5;b\n1,1;1.000;0,5;2\n1,2;2.000;0,7;3\n")
    table = read_table(path, Choice(id="id", label="no", header="yes"))
    assert table.ids.tolist() == ["1,1", "1,2"] and table.columns == ("1,5", "b")
    assert table.labels.tolist() == ["1.000", "2.000"]
    assert table.X.tolist() == [[0.5, 2], [0.7, 3]]
