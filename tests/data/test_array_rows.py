"""Reading blocks, taking rows and mapping, of arrays and of any source."""

import numpy as np
import pytest
from engine_data import normal_cloud

from trueaxis.data.rows import ArrayRows, Rows


def test_blocks_cover_all_rows_in_order():
    X = normal_cloud(n=10)
    rows = ArrayRows(X, block_rows=4)
    parts = list(rows.blocks())
    assert [first for first, _ in parts] == [0, 4, 8]
    np.testing.assert_array_equal(np.vstack([block for _, block in parts]), X)


def test_take_of_any_source_equals_indexing():
    X = normal_cloud(n=23)

    class Streamed(Rows):
        shape, dtype = X.shape, X.dtype

        def blocks(self):
            return ArrayRows(X, block_rows=5).blocks()

    index = np.array([22, 3, 3, 0, 11])
    np.testing.assert_array_equal(Streamed().take(index), X[index])


def test_a_source_without_blocks_raises():
    with pytest.raises(TypeError, match="does not implement `blocks`"):
        Rows().blocks()


def test_map_applies_to_every_block():
    X = normal_cloud(n=11)
    out = ArrayRows(X, block_rows=3).map(lambda block: block[:, :2] * 2, 2)
    np.testing.assert_array_equal(out, X[:, :2] * 2)
