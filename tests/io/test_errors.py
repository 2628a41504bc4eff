"""Errors about cells name the column, the line and a remedy."""

import numpy as np
import pandas as pd
import pytest
from text_files import text_file

from trueaxis import DSWL, open_rows
from trueaxis.io import Choice, TableError, read_table
from trueaxis.io.table import MissingCells


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n\n3,x7\n4,5\n", "'b' has 1 of 3 .*: 'x7' in line 4.*--drop b"),
        ("a,b\n1,\n3,4\n", "'b' has a missing cell in line 2.*in 1 of 2"),
        ("a,b\n1,NA\n3,n/a\n2,2\n", r"missing cell in line 2 \(missing cells: 2"),
        ("a,b\n1,inf\n", "an infinite cell in line 2"),
        ("a,b\n,inf\n", r"an infinite cell in line 2 \(infinite cells: 1"),
        ("a,b\n1,2\n3\n", "Line 3 of .* has 1 cell, but line 2 has 2"),
    ],
)
def test_errors_name_the_place(tmp_path, text, message):
    with pytest.raises(TableError, match=message):
        read_table(text_file(tmp_path, text), Choice(missing="error"))


def test_missing_cells_are_named_in_other_formats_too(tmp_path):
    X = np.ones((4, 2))
    X[2, 1] = np.nan
    np.save(tmp_path / "a.npy", X)
    frame = pd.DataFrame({"a": [1, None, 3], "b": ["u", "v", "w"]})
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(TableError, match="'x1' has a missing cell in row 2"):
        read_table(tmp_path / "a.npy", Choice(missing="error"))
    with pytest.raises(TableError, match="'b' contains text: 'u' in row 0"):
        read_table(tmp_path / "a.parquet", Choice(columns=["b"]))
    with pytest.raises(TableError, match="'a' has a missing cell in row 1"):
        read_table(tmp_path / "a.parquet", Choice(drop=["b"], missing="error"))


def test_all_columns_of_text_are_named_at_once(tmp_path):
    path = text_file(tmp_path, 'n,site,"x, y",a\np,u,r s,1\nq,u,r s,2\n')
    (note,) = read_table(path).notes
    assert note == (
        "Left out: 'n', 'site', 'x, y' (text). To name the rows by one of them, use "
        "--id."
    )
    with pytest.raises(TableError, match="no column of numbers.*'n', 'site'"):
        read_table(path, Choice(drop=["a"]))
    path = text_file(tmp_path, "a,b\n" + "1,2\n" * 9 + "1,x\n")
    with pytest.raises(TableError, match="1 of 10 cells .*'x' in line 11.*--na x"):
        read_table(path)


def test_few_columns_with_missing_cells_are_named(tmp_path):
    path = text_file(tmp_path, "a,b b,c,d\n1,,3,\n4,,6,7\n4,1,6,8\n")
    with pytest.raises(TableError, match="2 of 4 columns.*--drop 'b b,d'"):
        read_table(path, Choice(missing="error"))
    with pytest.raises(TableError, match=r"2 of 2 columns\).*drop the columns\.$"):
        read_table(path, Choice(columns=["b b", "d"], missing="error"))


def test_notes_on_guesses_follow_an_error_of_the_same_class(tmp_path):
    path = text_file(tmp_path, ",a\nu,1\nv,\n")
    with pytest.raises(MissingCells, match=r"in line 3 .*\nNote: The first column"):
        read_table(path, Choice(missing="error"))


def test_long_cells_are_not_repeated_in_full(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("\n".join(["a,b", *["1,2"] * 9, f"{'9' * 4000}x,3"]))
    with pytest.raises(ValueError, match="1 of 10 cells.*categories") as caught:
        read_table(path)
    assert len(str(caught.value)) < 500


@pytest.mark.filterwarnings("error")
def test_infinite_cells_below_counted_columns(tmp_path):
    path = tmp_path / "inf.csv"
    path.write_text("\n".join(["0,1", *["0.5,1.5"] * 9, "-inf,2.5"]))
    with pytest.raises(ValueError, match="inf"):
        DSWL(1).fit(open_rows(path))
