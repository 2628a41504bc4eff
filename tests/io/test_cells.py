"""Cells: numbers, missing values and text."""

import numpy as np
import pytest
from text_files import text_file

from trueaxis.io import TableError, read_table


def test_minus_signs_and_spaces_between_thousands(tmp_path):
    text = (
        "a;b\n\u22121;1\u00a0234\n\u22120,5;1 234,5\n3;1\u202f000\u202f000\n4;1'000\n"
    )
    X = read_table(text_file(tmp_path, text)).X
    assert X.T.tolist() == [[-1, -0.5, 3, 4], [1234, 1234.5, 1e6, 1000]]


@pytest.mark.parametrize(
    "cell",
    ["", "#N/A", "#NA", "N/A", "NULL", "None", "nan", "-", "?", ".", "<NA>", "\u2212"],
)
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_what_counts_as_missing(tmp_path, cell, delimiter):
    text = f"a,b\n1.5,2\n3,{cell}\n".replace(",", delimiter)
    X = read_table(text_file(tmp_path, text)).X
    np.testing.assert_array_equal(X, [[1.5, 2], [3, np.nan]])
    text = f"a;b\n1,5;2\n3;{cell}\n"
    X = read_table(text_file(tmp_path, text)).X
    np.testing.assert_array_equal(X, [[1.5, 2], [3, np.nan]])


@pytest.mark.parametrize("cell", ["-- --", "off", "NA?", "n a", "no", "x", "#SUM"])
def test_other_words_are_text(tmp_path, cell):
    with pytest.raises(TableError, match="'b' has 1 of 4 cells that are not numbers"):
        read_table(text_file(tmp_path, f"a,b\n1,2\n,{cell}\n3,\n4,5\n5,7\n"))


def test_underscores_as_in_python_are_text(tmp_path):
    with pytest.raises(TableError, match="'1_000' in line 2"):
        read_table(text_file(tmp_path, "a,b\n1,1_000\n2,3\n3,4\n"))
