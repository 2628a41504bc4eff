"""A team whose data live on a cluster."""

import os
import signal

import numpy as np
import pandas as pd
import pytest

from trueaxis import DSWL
from trueaxis.datasets import planted
from trueaxis.methods import METHODS

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = [pytest.mark.dask, pytest.mark.xdist_group("dask")]


@pytest.fixture(scope="module")
def cloud():
    return planted("ocs", n=9_000, share=0.2)


def same(model, expected):
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-8)
    np.testing.assert_allclose(model.mean_, expected.mean_, atol=1e-6)
    np.testing.assert_array_equal(np.asarray(model.support_), expected.support_)


def test_a_dask_array_gives_the_same_answer(cloud, dask_client):
    """Rows are processed where they are; labels stay there until they are asked for."""
    expected = DSWL(3).fit(cloud.X)
    lazy = da.from_array(cloud.X, chunks=(1_000, -1))
    model = DSWL(3).fit(lazy)
    same(model, expected)
    labels = model.predict(lazy)
    assert isinstance(labels, da.Array)
    np.testing.assert_array_equal(labels.compute(), expected.predict(cloud.X))
    assert (labels.compute()[cloud.is_outlier] == -1).all()
    other = METHODS["r1-pca"]  # its weights come from all rows, in this process
    same(other(3).fit(lazy), other(3).fit(cloud.X))


def test_a_dask_data_frame_keeps_its_names(cloud, dask_client):
    """The same for a data frame in partitions, whose columns have names."""
    names = [f"sensor {j}" for j in range(cloud.X.shape[1])]
    frame = pd.DataFrame(cloud.X, columns=names)
    model = DSWL(3).fit(dd.from_pandas(frame, npartitions=5))
    same(model, DSWL(3).fit(frame))
    assert list(model.feature_names_in_) == names
    np.testing.assert_array_equal(model.predict(frame[:50]), model.predict(frame)[:50])


def test_a_worker_dies_during_the_fit(cloud, tmp_path):
    """A machine goes down in the middle: the others take over with the same answer."""
    mark = str(tmp_path / "killed")

    def die_once(block, block_id=None):
        if block_id[0] == 4:
            try:
                os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return block
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        lazy = da.from_array(cloud.X, chunks=(1_000, -1))
        deadly = lazy.map_blocks(die_once, dtype=float, meta=np.empty((0, 0)))
        model = DSWL(3).fit(deadly)
        assert os.path.exists(mark)
        same(model, DSWL(3).fit(cloud.X))
