"""Names of rows are read along with blocks of rows."""

import tracemalloc

import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest

from trueaxis.cli.id_columns import IdColumns
from trueaxis.data.files import SourceError

N = 1000


@pytest.fixture
def data(tmp_path):
    """A table with names of rows, as one file and as a folder of files."""
    table = pyarrow.table({"who": [f"pump {i}" for i in range(N)], "x0": np.arange(N)})
    parquet.write_table(table, tmp_path / "one.parquet", row_group_size=130)
    (tmp_path / "parts").mkdir()
    for number, first in enumerate(range(0, N, 400)):
        part = table.slice(first, 400)
        parquet.write_table(part, tmp_path / "parts" / f"{number}.parquet")
    return tmp_path


def test_names_that_are_missing_in_a_file_are_told(data):
    short = pyarrow.table({"x0": np.arange(3)})
    parquet.write_table(short, data / "parts" / "9.parquet")
    names = IdColumns(data / "parts", ["who"])
    with pytest.raises(SourceError, match="9.parquet has no column 'who'"):
        names.next(N + 1)
    names = IdColumns(data / "one.parquet", ["who"])
    assert [len(names.next(n)[0]) for n in (1, 300, N - 301)] == [1, 300, N - 301]
    with pytest.raises(SourceError, match="fewer cells in who than rows"):
        names.next(1)


@pytest.mark.slow
def test_names_take_no_more_memory_than_some_rows(tmp_path):
    n = 400_000
    texts = pyarrow.array([f"a rather long name of row {i}" for i in range(n)])
    fields = pyarrow.table({"who": texts})
    parquet.write_table(fields, tmp_path / "x.parquet", row_group_size=n)
    del texts, fields
    names = IdColumns(tmp_path / "x.parquet", ["who"])
    tracemalloc.start()
    for _ in range(n // 10_000):
        names.next(10_000)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20e6  # all of them take 35 MB and more
