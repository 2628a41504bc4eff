"""Sources of rows for tests: files, stored arrays, and rows that change."""

import numpy as np
import pyarrow
import pyarrow.parquet as parquet

from trueaxis.data.rows import Rows

N, D = 9000, 20
NAMES = [f"x{i}" for i in range(D)]


def write_parquet(path, X, names=NAMES, **options):
    table = pyarrow.table(list(np.ascontiguousarray(X.T)), names=names)
    parquet.write_table(table, path, **{"row_group_size": 700} | options)
    return table


class Chunked:
    """Array-like object with chunks, such as an HDF5 or Zarr array."""

    def __init__(self, X):
        self.X, self.chunks = X, (100, 7)
        self.shape, self.dtype = X.shape, X.dtype

    def __getitem__(self, rows):
        return self.X[rows]


class Spoiling(Rows):
    """Rows whose file is changed by `spoil` after the first pass."""

    def __init__(self, rows, spoil):
        self.rows, self.spoil = rows, spoil
        self.shape, self.dtype = rows.shape, rows.dtype

    def blocks(self):
        yield from self.rows.blocks()
        self.spoil()

    def take(self, index):
        return self.rows.take(index)


def assert_same_model(one, two):
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-10)
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-8 / N)
    np.testing.assert_allclose(one.mean_, two.mean_, atol=1e-10)
    np.testing.assert_array_equal(one.support_, two.support_)
