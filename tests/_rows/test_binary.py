"""Rows of .npy files and memory maps."""

import numpy as np
import pytest
from forged_models import claiming
from row_sources import Chunked, D

from trueaxis import PlainPCA, open_rows
from trueaxis._rows import watched_file as watch
from trueaxis._rows.sliced import SlicedRows
from trueaxis.datasets import planted
from trueaxis.io import read_table


def test_take_reads_little_beyond_the_rows(X, folder, monkeypatch):
    read, fill = [], watch.fill

    def counting(out, *rest):
        read.append(out.nbytes)
        fill(out, *rest)

    monkeypatch.setattr(watch, "fill", counting)
    open_rows(folder / "all.npy").take(np.array([3, 5, 8000]))
    assert sum(read) == (3 + 1) * D * 8
    chunked = Chunked(X)
    open_rows(chunked, block_rows=100).take(np.array([8000, 8001, 120]))
    assert chunked.slices == [(100, 200), (8000, 8100)]


def test_views_of_memory_maps(X, folder):
    mapped = np.load(folder / "all.npy", mmap_mode="r")
    views = [mapped[100:5000], mapped[:, 2:9], mapped[::3], mapped.T[:50].T]
    for view in views:
        np.testing.assert_array_equal(open_rows(view).read(), np.asarray(view))
    assert not isinstance(open_rows(mapped[100:5000]), SlicedRows)
    changed = np.load(folder / "all.npy", mmap_mode="c")
    changed[7] = 1.0  # in memory only
    np.testing.assert_array_equal(open_rows(changed).take(np.array([7])), changed[7:8])


def test_writable_memory_map_is_read_as_it_is(tmp_path):
    mapped = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", "f8", (600, 5))
    mapped[:] = planted("none", n=600, n_features=5).X
    model = PlainPCA(2).fit(mapped)
    np.testing.assert_allclose(
        model.components_, PlainPCA(2).fit(mapped[:]).components_
    )


def test_a_header_that_is_no_python_is_refused(tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(claiming("<f8", "(" * 40, bytes(96)))
    for read in (open_rows, read_table):
        with pytest.raises(ValueError, match=r"x.npy .*numpy.save"):
            read(str(path))
