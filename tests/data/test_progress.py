"""Which passes are reported, and how soon Ctrl-C ends them."""

import os
import pickle
import signal
import threading

import dask.array as da
import numpy as np
import pytest
from pass_listener import Listener
from row_sources import posix, write_parquet

from trueaxis import DSWL, open_rows
from trueaxis.core.kernels import DistanceKernel
from trueaxis.core.starts import equal_weights
from trueaxis.data import spooled as spool
from trueaxis.data.progress import has_listener, passing, report_to, stage
from trueaxis.data.rows import ArrayRows, Rows
from trueaxis.methods import METHODS


@pytest.fixture(params=["npy", "spool", "no spool", "dask"])
def source(request, X, tmp_path):
    if request.param == "npy":
        np.save(tmp_path / "x.npy", X)
        return open_rows(tmp_path / "x.npy", block_rows=1000)
    if request.param == "dask":
        return da.from_array(X, chunks=(1000, -1))
    write_parquet(tmp_path / "x.parquet", X, row_group_size=1000)
    return open_rows(tmp_path / "x.parquet", spool=request.param == "spool")


@pytest.mark.slow
def test_every_pass_of_a_fit_is_reported_to_its_last_row(source, monkeypatch):
    monkeypatch.setattr(spool, "FREE_READS", 0)
    listener = Listener()
    with report_to(listener):
        model = DSWL(3).fit(source)
    assert {"weights and subspace", "verdicts"} <= set(listener.titles)
    assert listener.complete()
    decoded = listener.titles.count("decoding")
    spooled = type(source).__name__ == "SpooledRows"
    assert decoded == spooled
    np.testing.assert_array_equal(DSWL(3).fit(source).components_, model.components_)


def test_iterations_are_counted(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    listener = Listener()
    with report_to(listener):
        model = METHODS["l2p-pca"](3).fit(tmp_path / "x.npy")
    told = [title for title in listener.titles if "iteration" in title]
    assert told[0].endswith("iteration 1") and listener.complete()
    last = max(int(title.split()[-1]) for title in told)
    assert last >= model.n_iter_ > 1


@pytest.mark.slow
def test_predict_and_transform_are_reported(source):
    model, listener = DSWL(3).fit(source), Listener()
    with report_to(listener):
        model.predict(source)
        scores = model.transform(source)
    lazy = not isinstance(scores, np.ndarray)
    assert lazy or {"verdicts", "transforming"} <= set(listener.titles)
    assert listener.complete()


def test_rows_in_memory_are_not_reported(X):
    listener = Listener()
    with report_to(listener):
        DSWL(3).fit(X)
        METHODS["r1-pca"](3).fit(X)
    assert not listener.passes


def test_other_threads_are_not_reported(X):
    assert not has_listener()
    listener, seen = Listener(), []
    with report_to(listener):
        assert has_listener()
        other = threading.Thread(target=lambda: seen.append(has_listener()))
        other.start()
        other.join()
    assert seen == [False] and not has_listener()
    with passing("reading", 3) as advance:
        advance(3)
    with report_to(listener), stage("iteration 2"), passing("axes", 3):
        pass
    assert listener.titles == ["axes, iteration 2"]


def test_pickled_kernels_keep_their_titles(X):
    state = equal_weights(ArrayRows(X), 3)
    assert pickle.loads(pickle.dumps(DistanceKernel(state))).title == "distances"


class Interrupting(Rows):
    """Source that interrupts its own process while a block is read."""

    def __init__(self, X, at=5):
        self.X, self.at, self.given = X, at, 0
        self.shape, self.dtype = X.shape, X.dtype

    def blocks(self):
        for first in range(0, len(self.X), 100):
            self.given += 1
            if self.given == self.at:
                os.kill(os.getpid(), signal.SIGINT)
            yield first, self.X[first : first + 100]


@pytest.mark.slow
@posix
@pytest.mark.parametrize("at", [5, 90 + 5, 180 + 5])
def test_an_interrupt_ends_a_pass_at_once(at, X):
    rows, listener = Interrupting(X, at), Listener()
    with report_to(listener), pytest.raises(KeyboardInterrupt):
        DSWL(3).fit(rows)
    assert rows.given == at and listener.open == 0


@pytest.mark.slow
@posix
@pytest.mark.parametrize("what", ["read", "transform", "predict"])
def test_an_interrupt_ends_other_work_at_once(what, X):
    model, rows = DSWL(3).fit(X), Interrupting(X)
    work = rows.read if what == "read" else lambda: getattr(model, what)(rows)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert rows.given == 5


@pytest.mark.slow
@posix
def test_an_interrupt_ends_decoding_at_once(X, tmp_path, monkeypatch):
    write_parquet(tmp_path / "x.parquet", X, row_group_size=1000)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(spool, "FREE_READS", 0)
    rows, listener = open_rows(tmp_path / "x.parquet", block_rows=100), Listener()
    inner, given = rows.rows.blocks, []

    def blocks():
        for first, block in inner():
            given.append(first)
            if len(given) == 5:
                os.kill(os.getpid(), signal.SIGINT)
            yield first, block

    rows.rows.blocks = blocks
    with report_to(listener), pytest.raises(KeyboardInterrupt):
        DSWL(3).fit(rows)
    assert len(given) == 5 and listener.open == 0 and "decoding" in listener.titles
    assert os.listdir(tmp_path) == ["x.parquet"]
