"""Errors about bad values name the cell."""

import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest
from row_sources import N, write_parquet

from trueaxis import DSWL, open_rows
from trueaxis.methods import PlainPCA


@pytest.mark.slow
def test_bad_cell_is_reported_with_its_place(X, tmp_path):
    (tmp_path / "parts").mkdir()
    for number, part in enumerate(np.array_split(X, 3)):
        part = part.copy()
        if number == 2:
            part[1417, 3] = np.inf
            np.save(tmp_path / "part.npy", part)
        write_parquet(tmp_path / "parts" / f"part-{number}.parquet", part)
    place = (
        r"infinity in part-2.parquet, row group 2, row 17 \(row 7,417 of all\), "
        r"column 'x3'"
    )
    for options in ({}, {"spool": False}):
        with pytest.raises(ValueError, match=place):
            DSWL(3).fit(open_rows(tmp_path / "parts", **options))
        with pytest.raises(ValueError, match=place):
            DSWL(3).fit(X).predict(open_rows(tmp_path / "parts", **options))
    with pytest.raises(
        ValueError, match=r"infinity in .*part.npy, row 1,417, column 3"
    ):
        DSWL(3).fit(tmp_path / "part.npy")
    table = pyarrow.table({"a": [1, 2, None, 4], "b": [1.0, 2.0, 3.0, 5.0]})
    parquet.write_table(table, tmp_path / "null.parquet")
    with pytest.raises(ValueError, match="NaN in .*row group 0, row 2 .*column 'a'"):
        PlainPCA(1).fit(tmp_path / "null.parquet")
    huge = X.copy()
    huge[6000, 2] = 1e200
    np.save(tmp_path / "huge.npy", huge)
    with pytest.raises(ValueError, match="overflow: .*huge.npy, row 6,000 of X"):
        PlainPCA(3).fit(tmp_path / "huge.npy")
    with pytest.raises(ValueError, match="overflow: row 6000 of X"):
        PlainPCA(3).fit(huge)
    counts = np.ones(N)
    counts[6000] = 0  # zero weight: its values do not matter
    one = PlainPCA(3).fit(tmp_path / "huge.npy", sample_weight=counts)
    two = PlainPCA(3).fit(X, sample_weight=counts)
    np.testing.assert_allclose(one.components_, two.components_)
