"""Results and per-row vectors of Dask rows stay lazy."""

import pickle

import dask.array as da
import numpy as np
import pytest
from dask_helpers import D, X, assert_same, local_cluster
from sklearn.pipeline import make_pipeline

import trueaxis
from trueaxis import DSWL, ColumnScaler, open_rows
from trueaxis.data.dask.collections import dask_rows
from trueaxis.data.watched_file import SourceError
from trueaxis.methods import RPCAOM


@pytest.mark.soak
def test_results_are_lazy_and_correct(client):
    lazy = da.from_array(X, chunks=(2_000, -1))
    model = DSWL(3).fit(X)
    pairs = [
        (model.transform(lazy), model.transform(X)),
        (model.predict(lazy), model.predict(X)),
        (model.score_samples(lazy), model.score_samples(X)),
        (model.decision_function(lazy), model.decision_function(X)),
        (model.distances(lazy).score, model.distances(X).score),
        (model.distances(lazy).orthogonal, model.distances(X).orthogonal),
        (
            model.inverse_transform(model.transform(lazy)),
            model.inverse_transform(model.transform(X)),
        ),
        (DSWL(3).fit_transform(lazy), DSWL(3).fit_transform(X)),
        (DSWL(3).fit_predict(lazy), DSWL(3).fit_predict(X)),
    ]
    for answer, expected in pairs:
        assert isinstance(answer, da.Array)
        assert answer.chunks[0] == lazy.chunks[0]
        assert answer.dtype == expected.dtype
        np.testing.assert_allclose(answer.compute(), expected, rtol=1e-9, atol=1e-9)


def test_nothing_is_read_before_compute(in_process):
    read = []

    def note(block, block_id=None):
        read.append(block_id[0])
        return block

    lazy = da.from_array(X, chunks=(3_000, -1)).map_blocks(
        note, dtype=float, meta=np.empty((0, 0))
    )
    model = DSWL(3).fit(X)
    answer = model.transform(lazy)
    assert read == []
    answer[:10].compute()
    assert read == [0]


@pytest.mark.slow
def test_collections_are_never_computed_as_a_whole(client, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the whole collection was asked for")

    monkeypatch.setattr(da.Array, "__array__", refuse)
    monkeypatch.setattr(da.Array, "compute", refuse)
    lazy = da.from_array(X, chunks=(2_000, -1))
    model = DSWL(3).fit(lazy)
    model.predict(model.inverse_transform(model.transform(lazy)))
    RPCAOM(3).fit(lazy).score_samples(lazy)


@pytest.mark.slow
def test_a_pipeline_stays_lazy(client):
    lazy = da.from_array(X * np.logspace(0, 3, D), chunks=(2_000, -1))
    pipe = make_pipeline(ColumnScaler(), DSWL(3)).fit(lazy)
    expected = make_pipeline(ColumnScaler(), DSWL(3)).fit(np.asarray(lazy))
    answer = pipe.predict(lazy)
    assert isinstance(answer, da.Array)
    assert np.array_equal(answer.compute(), expected.predict(np.asarray(lazy)))


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("model", [DSWL(2), ColumnScaler()])
def test_pandas_output_of_lazy_results_is_refused(in_process, model, opened):
    model = model.fit(X[:300]).set_output(transform="pandas")
    lazy = da.from_array(X, chunks=(2_000, -1))
    with pytest.raises(
        TypeError, match=r"load the whole result into memory.*'default'"
    ):
        model.transform(open_rows(lazy) if opened else lazy)


def test_scaling_is_undone_lazily(in_process):
    lazy = da.from_array(X * 7 + 3, chunks=(2_000, -1))
    scaler = ColumnScaler().fit(lazy)
    back = scaler.inverse_transform(scaler.transform(lazy))
    assert isinstance(back, da.Array)
    np.testing.assert_allclose(back.compute(), X * 7 + 3, rtol=1e-9)


def test_per_row_vectors_have_the_blocks_of_the_rows(client):
    lazy = da.from_array(X, chunks=(2_000, -1))
    model = DSWL(3).fit(lazy)
    for vector in (model.weights_, model.support_):
        assert isinstance(vector, da.Array)
        assert vector.chunks == (lazy.chunks[0],)
    assert float(model.weights_.sum()) == pytest.approx(1.0, abs=1e-12)
    kept = lazy[model.support_].compute_chunk_sizes()
    assert len(kept) == int(model.support_.sum())


def test_saved_models_need_no_workers(client, tmp_path):
    lazy = da.from_array(X, chunks=(2_000, -1))
    model, expected = DSWL(3).fit(lazy), DSWL(3).fit(X)
    trueaxis.save(model, tmp_path / "model.npz")
    loaded = trueaxis.load(tmp_path / "model.npz")
    assert_same(loaded, expected)
    assert isinstance(loaded.weights_, np.ndarray)


def test_pickled_models_leave_their_vectors_behind(client):
    lazy = da.from_array(X, chunks=(2_000, -1))
    model = DSWL(3).fit(lazy)
    text = pickle.dumps(model)
    assert len(text) < 20_000
    assert_same(pickle.loads(text), DSWL(3).fit(X))  # the workers still have them
    answer = da.map_blocks(model.predict, lazy, dtype=int, drop_axis=1)
    assert np.array_equal(answer.compute(), model.predict(X))


def test_saving_without_training_computes_no_vector(client, tmp_path, monkeypatch):
    model = DSWL(3).fit(da.from_array(X, chunks=(2_000, -1)))
    monkeypatch.setattr("trueaxis.data.memory.available_memory", lambda: 1_000)
    with pytest.raises(MemoryError, match=r"9,000 rows.*training=False"):
        trueaxis.save(model, tmp_path / "model.npz")
    trueaxis.save(model, tmp_path / "model.npz", training=False)


def test_records_that_do_not_fit_into_memory_are_refused(in_process, monkeypatch):
    rows = dask_rows(da.from_array(X, chunks=(2_000, -1)))
    monkeypatch.setattr("trueaxis.data.memory.available_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"per row for 9,000 rows.*DSWL"):
        RPCAOM(3).fit(rows)


@pytest.mark.soak
def test_saving_after_the_cluster_closed_is_refused(tmp_path):
    with local_cluster(1):
        model = DSWL(3).fit(da.from_array(X, chunks=(3_000, -1)))
    with pytest.raises(SourceError, match="no longer has it. Save the model"):
        trueaxis.save(model, tmp_path / "model.npz")
    trueaxis.save(model, tmp_path / "model.npz", training=False)
