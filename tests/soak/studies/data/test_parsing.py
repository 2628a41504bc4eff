"""CSV and ARFF files of registries."""

import pytest

from studies.data.parsing import arff_cells, csv_cells, decode, find_table
from studies.data.registry import facts_of


def test_text_formats():
    text = "@relation x\n@data\n1, 'a b'\n\n% no\n2,c\n"
    assert arff_cells(text) == [["1", "a b"], ["2", "c"]]
    assert arff_cells('@DATA\n1,"a b"\n') == [["1", "a b"]]
    assert csv_cells(decode("\ufeffa,b\n1,2\n".encode())) == [["1", "2"]]
    with pytest.raises(ValueError, match="no rows"):
        csv_cells("a,b\n")


def test_a_missing_value_makes_a_column_unfit():
    cells = [["?", "1"]] * 210
    with pytest.raises(ValueError, match="adds up"):
        find_table(facts_of("seeds"), cells)
