"""Positions and labels of rows, which are never confused."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from trueaxis import DSWL
from trueaxis.datasets import sensors
from trueaxis.diagnostics import outlier_table, row_labels
from trueaxis.diagnostics.tables import check_positions
from trueaxis.methods import PlainPCA

TABLE = sensors()
PLAIN = pd.DataFrame(TABLE.X, columns=TABLE.columns)
MODEL = DSWL(2).fit(PLAIN)
N = len(PLAIN)

INDEXES = {
    "numbers that are not positions": np.arange(N)[::-1] * 3,
    "positions in another order": np.random.default_rng(0).permutation(N),
    "duplicates": np.arange(N) // 2,
    "text": [f"day {i}" for i in range(N)],
    "dates": pd.date_range("2024-01-01", periods=N, name="when"),
    "zones": pd.date_range("2024-01-01", periods=N, tz="Europe/Rome"),
    "categories": pd.CategoricalIndex(["a", "b"] * (N // 2)),
    "levels": pd.MultiIndex.from_product(
        [range(N // 4), [*"abcd"]], names=["site", "pump"]
    ),
}


@pytest.mark.parametrize("name", INDEXES)
def test_the_index_of_the_frame_is_the_index_of_the_table(name):
    X = PLAIN.set_axis(INDEXES[name], axis=0)
    table = MODEL.outliers(X)
    positions = MODEL.outliers(PLAIN).row
    assert list(table.position) == list(positions)
    assert list(table.row) == list(X.index[positions])
    pd.testing.assert_index_equal(table.index, X.index[positions])
    if X.index.is_unique:
        pd.testing.assert_frame_equal(X.loc[table.index], X.iloc[table.position])
        assert len(X.join(table, how="inner")) == len(table)


def test_filtered_frames_keep_their_labels():
    some = PLAIN[PLAIN.flow > PLAIN.flow.median()]
    table = MODEL.outliers(some)
    assert len(table) and set(table.index) <= set(some.index)
    flagged = some.index[MODEL.predict(some) == -1]
    assert sorted(table.index) == sorted(flagged)
    assert sorted(table.position) == sorted(some.index.get_indexer(flagged))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_rows_of_arrays_are_labelled_by_their_positions():
    for X in (TABLE.X, TABLE.X.tolist()):
        table = MODEL.outliers(X)
        assert list(table.index) == list(table.row) == list(table.position)
    assert list(row_labels(TABLE.X, 3)) == [0, 1, 2]


@pytest.mark.dask
def test_dask_frames_have_labels_too():
    X = PLAIN.set_axis(INDEXES["numbers that are not positions"], axis=0).sort_index()
    lazy = dd.from_pandas(X, npartitions=3)
    table, expected = MODEL.outliers(lazy), MODEL.outliers(X)
    assert list(table.index) == list(table.row) == list(expected.index)
    assert list(table.position) == list(expected.position)


def test_frames_without_pandas_objects_are_numbered():
    # Frames of other libraries have no index.
    class Frame:
        columns = TABLE.columns

        def __array__(self, dtype=None, copy=None):
            return np.asarray(TABLE.X, dtype=dtype)

    model = PlainPCA(2).fit(TABLE.X)
    table, expected = outlier_table(model, Frame()), outlier_table(model, TABLE.X)
    assert list(table.row) == list(table.position) == list(expected.row)


def test_positions_are_checked():
    assert check_positions([0, -1, 5], 6).tolist() == [0, 5, 5]
    for labels in (["day 3"], [1.0], [True, False], 3, [[1]], [(1, "a")]):
        with pytest.raises(TypeError, match="not positions of rows.*get_loc"):
            check_positions(labels, 6)
    with pytest.raises(ValueError, match="Row 6 does not exist, as X has 6 rows"):
        check_positions([1, 6], 6)
    with pytest.raises(ValueError, match="rows is empty"):
        check_positions([], 6)
