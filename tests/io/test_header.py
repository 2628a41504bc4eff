"""Headers are told from data."""

import numpy as np
import pandas as pd
import pytest
from text_files import text_file

from trueaxis.io import Choice, TableError, read_table


def test_wavelengths_are_names(tmp_path):
    rows = "0,21;0,32;0,51\n0,41;0,52;0,53\n0,11;0,12;0,32\n"
    table = read_table(text_file(tmp_path, "1100;1102;1104\n" + rows))
    assert table.columns == ("1100", "1102", "1104") and len(table.X) == 3
    assert "use --read header=no if it is data" in table.notes[-1]
    named = "s;1100;1102;1104\n"
    named += "".join(f"p{i};{row}\n" for i, row in enumerate(rows.split()))
    table = read_table(text_file(tmp_path, named), Choice(id="s"))
    assert table.columns == ("1100", "1102", "1104") and table.ids[0] == "p0"
    plain = read_table(
        text_file(tmp_path, "1100;1102;1104\n" + rows), Choice(header="no")
    )
    assert len(plain.X) == 4 and len(plain.notes) == 1


def test_column_numbers_of_pandas_are_names(tmp_path):
    X = np.random.default_rng(0).standard_normal((9, 4))
    for index in (True, False):
        pd.DataFrame(X).to_csv(tmp_path / "a.csv", index=index)
        table = read_table(tmp_path / "a.csv")
        np.testing.assert_array_equal(table.X, X)
        assert table.columns == ("0", "1", "2", "3")


@pytest.mark.parametrize(
    "text",
    [
        "5,2,9\n3,4,1\n5,6,2\n7,8,3\n",
        "1,2,3\n3,4,1\n5,6,2\n7,8,3\n",  # in steps, but like the others
        "100,150,300\n.3,.4,.1\n.5,.6,.2\n.7,.8,.3\n",  # far, but not in steps
        "1,2,3\n2,3,4\n9,9,2\n4,4,6\n",  # others are in steps, too
    ],
)
def test_numbers_in_the_first_line_are_data_if_in_doubt(tmp_path, text):
    table = read_table(text_file(tmp_path, text))
    assert table.columns == ("x0", "x1", "x2") and len(table.X) == 4
    assert table.notes[0] == "Read without a header (columns x0 to x2)."
    assert len(table.notes) == 1
    named = read_table(text_file(tmp_path, text), Choice(header="yes"))
    assert named.columns == tuple(text.split("\n")[0].split(",")) and not named.notes


def test_a_column_of_names_does_not_make_a_header(tmp_path):
    path = text_file(tmp_path, "A;0,2;0,3\nB;0,4;0,5\nC;0,1;0,1\n")
    table = read_table(path, Choice(id="x0"))
    assert table.ids.tolist() == ["A", "B", "C"] and table.columns == ("x1", "x2")
    assert "read as data" in table.notes[-1]
    table = read_table(path, Choice(id="A", header="yes"))
    assert table.columns == ("0,2", "0,3") and len(table.X) == 2
    with pytest.raises(TableError, match="header is 'maybe'"):
        read_table(path, Choice(header="maybe"))
