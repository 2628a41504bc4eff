"""Many small blocks are bundled."""

import dask.array as da
import numpy as np
import pytest
from dask.delayed import delayed
from dask_helpers import N, X, assert_same, counting, reads

from trueaxis import DSWL
from trueaxis.data.dask.blocks import BUNDLE_BYTES, bundle_lengths
from trueaxis.data.dask.collections import dask_rows


@pytest.mark.soak
def test_many_small_blocks_are_bundled(client, tmp_path):
    small = da.from_array(X, chunks=(50, -1))
    rows = dask_rows(counting(small, str(tmp_path)))
    assert len(rows.lengths) == 1 and sum(rows.lengths) == N
    model = DSWL(3).fit(rows)
    assert_same(model, DSWL(3).fit(X))
    assert len(reads(tmp_path)) == 180 and set(reads(tmp_path).values()) == {1}
    for answer in (model.weights_, model.support_, model.predict(small)):
        assert answer.chunks == (small.chunks[0],)
    bad = X.copy()
    bad[7_017, 3] = np.inf
    with pytest.raises(ValueError, match=r"block 140, row 17 \(row 7,017 of all\)"):
        DSWL(3).fit(da.from_array(bad, chunks=(50, -1)))


def test_bundles_have_a_maximum_size():
    assert bundle_lengths((5,) * 64, 8) == (5,) * 64
    assert bundle_lengths((5,) * 65, 8) == (325,)
    most = BUNDLE_BYTES // 8
    assert bundle_lengths((most, 1, 1) * 30, 8) == (most, 2) * 30
    assert bundle_lengths((2 * most,) * 70, 8) == (2 * most,) * 70


def test_blocks_may_be_memory_maps(in_process, tmp_path):
    halves = [X[: N // 2], X[N // 2 :]]
    mapped = []
    for number, half in enumerate(halves):
        np.save(tmp_path / f"{number}.npy", half)
        load = delayed(np.load)(tmp_path / f"{number}.npy", mmap_mode="r")
        mapped.append(da.from_delayed(load, half.shape, half.dtype))
    model = DSWL(2).fit(da.concatenate(mapped))
    arrays = DSWL(2).fit(da.from_array(X, (N // 2, -1)))
    np.testing.assert_array_equal(model.components_, arrays.components_)
    assert model.predict(da.concatenate(mapped)).compute().shape == (N,)
