"""Tables written to files."""

import numpy as np
import pytest

from trueaxis._tables.read import Choice, read_table
from trueaxis._tables.write import write_table


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_what_is_written_is_read_again(tmp_path, ending):
    values = np.random.default_rng(0).standard_normal(9)
    path = tmp_path / f"out{ending}"
    write_table(path, {"name": [f"r{i}, x" for i in range(9)], "value": values})
    table = read_table(path, Choice(id="name"))
    np.testing.assert_array_equal(table.X[:, 0], values)  # every digit
    assert table.ids[3] == "r3, x"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
