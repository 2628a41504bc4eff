"""Parquet tables in memory."""

import numpy as np
import pandas as pd
import pytest

from trueaxis.datasets import planted
from trueaxis.io import Choice, TableError, read_table


def test_parquet_tables_without_their_index_and_lists(tmp_path):
    frame = pd.DataFrame(planted("ocs", n=60, n_features=4).X, columns=list("abcd"))
    frame.index = 1000 * np.arange(60)
    path = tmp_path / "frame.parquet"
    frame.to_parquet(path)
    assert read_table(path).columns == ("a", "b", "c", "d")
    frame["pair"] = [[1, 2]] * 60
    frame.to_parquet(path)
    assert read_table(path).notes == ("Left out: 'pair' (nested).",)
    with pytest.raises(TableError, match="Column 'pair' .*lists or records"):
        read_table(path, Choice(columns=["a", "pair"]))
    assert read_table(path, Choice(drop=("pair",))).columns == ("a", "b", "c", "d")
