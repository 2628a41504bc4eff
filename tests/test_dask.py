"""Rows of Dask: the same answers, whoever computes them, and whoever dies meanwhile."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.pipeline import make_pipeline

import trueaxis
from trueaxis import DSWL, METHODS, RPCAOM, ColumnScaler, open_rows
from trueaxis._cli.main import main
from trueaxis._rows.base import Kernel
from trueaxis._rows.dask import scheduler as dask_jobs
from trueaxis._rows.dask.blocks import BUNDLE_BYTES, bundle_lengths
from trueaxis._rows.dask.collections import dask_rows, read_by_workers
from trueaxis._rows.dask.rows import DaskRows
from trueaxis._rows.dask.scheduler import TaskRunner
from trueaxis._rows.watched_file import SourceError
from trueaxis.datasets import planted
from trueaxis.plots import WeightsDisplay
from trueaxis.report.analysis import analyse

CLOUD = planted("ocs", n=9_000, share=0.2)
X = CLOUD.X
N, D = X.shape
UNEQUAL = {"tau": (4e-4, 1e-4, 3e-4), "reweight": False, "init": "uniform"}


CUT = da.from_array(X, chunks=(3_000, 5))  # columns apart, too
POSITIVE = da.from_array(X[:, 0] > 0, chunks=3_000)
UNKNOWN = da.from_array(X, chunks=(3_000, -1))[POSITIVE]
TEXT = pd.DataFrame({"a": [1.0], "t": ["x"]})


@contextmanager
def started(n_workers, **options):
    given = {"threads_per_worker": 1, "dashboard_address": ":0"} | options
    with (
        distributed.LocalCluster(n_workers=n_workers, **given) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def two_workers():
    with started(2) as client:
        yield client


@pytest.fixture
def client(two_workers):
    with two_workers.as_current():
        yield two_workers


@pytest.fixture
def in_process():
    with dask.config.set(scheduler="synchronous"):
        yield


def assert_same(model, expected, *, axes=1e-10, weights=1e-8):
    assert np.abs(model.components_ - expected.components_).max() <= axes
    assert np.abs(model.mean_ - expected.mean_).max() <= axes * np.abs(X).max()
    assert np.abs(np.asarray(model.weights_) - expected.weights_).max() <= weights
    assert np.array_equal(np.asarray(model.support_), expected.support_)


# ---------------------------------------------------------------- the same model


@pytest.mark.parametrize("rows", [777, 4_000, N])
def test_same_model_for_any_chunks(client, rows):
    lazy = da.from_array(X, chunks=(rows, D))
    assert_same(DSWL(3).fit(lazy), DSWL(3).fit(X))


def test_same_model_by_algorithm_1(client):
    lazy = da.from_array(X, chunks=(4_000, D))
    assert_same(DSWL(3, **UNEQUAL).fit(lazy), DSWL(3, **UNEQUAL).fit(X))


@pytest.mark.parametrize("options", [{}, UNEQUAL, {"reweight": False}])
@pytest.mark.parametrize("rows", [777, (10, 0, 4_990, 4_000)])
def test_same_model_in_this_process(in_process, options, rows):
    lazy = da.from_array(X, chunks=(rows, D))
    assert_same(DSWL(3, **options).fit(lazy), DSWL(3, **options).fit(X))


def test_same_model_from_data_frames(client):
    names = [f"c{i}" for i in range(D)]
    frame = pd.DataFrame(X, columns=names)
    model = DSWL(3).fit(dd.from_pandas(frame, npartitions=5))
    assert_same(model, DSWL(3).fit(frame))
    assert list(model.feature_names_in_) == names
    some = open_rows(dd.from_pandas(frame, npartitions=2), columns=["c3", "c1", "c9"])
    assert list(DSWL(1).fit(some).feature_names_in_) == ["c3", "c1", "c9"]


def test_same_model_from_files_that_workers_read(client, tmp_path):
    np.save(tmp_path / "all.npy", X)
    expected = DSWL(3).fit(X)
    rows = open_rows(tmp_path / "all.npy", client=client, block_rows=2_000)
    assert isinstance(rows, DaskRows)
    assert len(rows.lengths) == 5
    assert_same(DSWL(3).fit(rows), expected)
    folder = tmp_path / "parts"
    folder.mkdir()
    for number, part in enumerate(np.array_split(X, 3)):
        frame = pd.DataFrame(part, columns=[f"c{i}" for i in range(D)])
        frame.to_parquet(folder / f"{number}.parquet", row_group_size=700)
    rows = open_rows(folder, client=client, block_rows=1_500)
    assert set(rows.lengths[:2]) == {1_400}  # whole row groups
    model = DSWL(3).fit(rows)
    assert_same(model, expected)
    assert model.feature_names_in_[4] == "c4"


def test_a_client_that_is_not_current_reads(tmp_path):
    np.save(tmp_path / "all.npy", X)
    address = {"dashboard_address": ":0", "threads_per_worker": 1}
    with (
        distributed.LocalCluster(n_workers=1, **address) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        rows = open_rows(tmp_path / "all.npy", client=client, block_rows=2_000)
        model = DSWL(3).fit(rows)
        assert np.abs(model.components_ - DSWL(3).fit(X).components_).max() < 1e-10
        lazy = open_rows(da.from_array(X, chunks=(2_000, -1)), client=client)
        assert lazy.runner.client is client
        again = DSWL(3).fit(lazy)
        assert np.array_equal(model.components_, again.components_)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_takes_dask(in_process, name):
    few = planted("ocs", n=300, n_features=8, share=0.1).X
    given = METHODS[name](n_components=2)
    expected = METHODS[name](n_components=2).fit(few)
    model = given.fit(da.from_array(few, chunks=(77, -1)))
    # Sums are taken in another order, and some methods stop at 1e-6.
    assert np.abs(model.components_ - expected.components_).max() < 1e-6
    assert np.array_equal(np.asarray(model.support_), expected.support_)
    assert isinstance(model.support_, da.Array)


@pytest.mark.parametrize("name", ["dswl", "rpca-om", "pca-l1", "two-way"])
def test_sample_weights_reach_the_blocks(in_process, name):
    few = planted("ocs", n=300, n_features=8, share=0.1).X
    w = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    expected = METHODS[name](n_components=2).fit(few, sample_weight=w)
    lazy = da.from_array(few, chunks=(77, -1))
    model = METHODS[name](n_components=2).fit(lazy, sample_weight=w)
    assert np.abs(model.components_ - expected.components_).max() < 1e-6
    assert np.array_equal(np.asarray(model.support_), expected.support_)


def test_sample_weights_of_many_rows(in_process):
    w = np.random.default_rng(0).integers(0, 3, N).astype(float)
    lazy = da.from_array(X, chunks=(2_000, -1))
    assert_same(DSWL(3).fit(lazy, sample_weight=w), DSWL(3).fit(X, sample_weight=w))


def test_whole_numbers_and_single_precision(in_process):
    whole = np.round(10 * X).astype(np.int16)
    expected = DSWL(3).fit(whole.astype(float))
    assert_same(DSWL(3).fit(da.from_array(whole, chunks=(2_000, -1))), expected)
    single = DSWL(3).fit(da.from_array(X.astype(np.float32), chunks=(2_000, -1)))
    assert single.components_.dtype == np.float32
    answer = single.transform(da.from_array(X.astype(np.float32), chunks=(2_000, -1)))
    assert answer.dtype == answer.compute().dtype == np.float32


def test_two_groups_apart(client):
    both = np.vstack([X, planted("ocs", n=2_500, share=0.0).X + 40.0])
    expected = DSWL(3).fit(both)
    assert not expected.support_[N:].any()
    lazy = da.from_array(both, chunks=(2_000, -1))
    assert_same(DSWL(3).fit(lazy), expected)
    assert_same(DSWL(3, reweight=False).fit(lazy), DSWL(3, reweight=False).fit(both))


# ---------------------------------------------------------------- stays lazy


def test_answers_are_lazy_and_right(client):
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


def test_nothing_is_read_before_it_is_asked_for(in_process):
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


def test_no_collection_is_ever_turned_into_an_array(client, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the whole collection was asked for")

    monkeypatch.setattr(da.Array, "__array__", refuse)
    monkeypatch.setattr(da.Array, "compute", refuse)
    lazy = da.from_array(X, chunks=(2_000, -1))
    model = DSWL(3).fit(lazy)
    model.predict(model.inverse_transform(model.transform(lazy)))
    RPCAOM(3).fit(lazy).score_samples(lazy)


def test_diagnostics_read_one_block_at_a_time(client):
    lazy = da.from_array(X, chunks=(2_000, -1))
    model = DSWL(3).fit(X)
    table, expected = model.outliers(lazy), model.outliers(X)
    pd.testing.assert_frame_equal(table, expected, rtol=1e-9)


def test_a_pipeline_stays_lazy(client):
    lazy = da.from_array(X * np.logspace(0, 3, D), chunks=(2_000, -1))
    pipe = make_pipeline(ColumnScaler(), DSWL(3)).fit(lazy)
    expected = make_pipeline(ColumnScaler(), DSWL(3)).fit(np.asarray(lazy))
    answer = pipe.predict(lazy)
    assert isinstance(answer, da.Array)
    assert np.array_equal(answer.compute(), expected.predict(np.asarray(lazy)))


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("model", [DSWL(2), ColumnScaler()])
def test_frames_are_not_made_of_lazy_answers(in_process, model, opened):
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


def test_pictures_of_models_of_dask(in_process):
    few = planted("ocs", share=0.2).X
    lazy = da.from_array(few, chunks=(200, -1))
    model = DSWL(3).fit(lazy)
    shown = WeightsDisplay.from_estimator(model, lazy)
    assert isinstance(shown.weights, np.ndarray)
    assert analyse(model, few).counts["off"] >= 100


# ---------------------------------------------------------------- per-row vectors


def test_weights_and_verdicts_stay_with_their_blocks(client):
    lazy = da.from_array(X, chunks=(2_000, -1))
    model = DSWL(3).fit(lazy)
    for vector in (model.weights_, model.support_):
        assert isinstance(vector, da.Array)
        assert vector.chunks == (lazy.chunks[0],)
    assert float(model.weights_.sum()) == pytest.approx(1.0, abs=1e-12)
    kept = lazy[model.support_].compute_chunk_sizes()
    assert len(kept) == int(model.support_.sum())


def test_models_travel_without_their_workers(client, tmp_path):
    lazy = da.from_array(X, chunks=(2_000, -1))
    model, expected = DSWL(3).fit(lazy), DSWL(3).fit(X)
    trueaxis.save(model, tmp_path / "model.npz")
    loaded = trueaxis.load(tmp_path / "model.npz")
    assert_same(loaded, expected)
    assert isinstance(loaded.weights_, np.ndarray)


def test_models_go_to_workers_without_their_vectors(client):
    lazy = da.from_array(X, chunks=(2_000, -1))
    model = DSWL(3).fit(lazy)
    text = pickle.dumps(model)
    assert len(text) < 20_000
    assert_same(pickle.loads(text), DSWL(3).fit(X))  # the workers still have them
    answer = da.map_blocks(model.predict, lazy, dtype=int, drop_axis=1)
    assert np.array_equal(answer.compute(), model.predict(X))


def test_a_model_file_without_training_asks_for_no_vector(
    client, tmp_path, monkeypatch
):
    model = DSWL(3).fit(da.from_array(X, chunks=(2_000, -1)))
    monkeypatch.setattr("trueaxis._rows.memory.available_memory", lambda: 1_000)
    with pytest.raises(MemoryError, match=r"9,000 rows.*training=False"):
        trueaxis.save(model, tmp_path / "model.npz")
    trueaxis.save(model, tmp_path / "model.npz", training=False)


def test_vectors_that_do_not_fit_here_are_refused(in_process, monkeypatch):
    rows = dask_rows(da.from_array(X, chunks=(2_000, -1)))
    monkeypatch.setattr("trueaxis._rows.memory.available_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"per row for 9,000 rows.*DSWL"):
        RPCAOM(3).fit(rows)


# ---------------------------------------------------------------- what is read


def counting(array, folder, delay=0.0):
    """The array, and a file for every time that one of its blocks is made."""

    def note(block, block_id=None):
        with open(os.path.join(folder, f"{block_id[0]}"), "a") as file:
            file.write("x")
        time.sleep(delay)
        return block

    return array.map_blocks(note, dtype=array.dtype, meta=np.empty((0, 0)))


def reads(folder):
    return {int(file.name): len(file.read_text()) for file in folder.iterdir()}


def test_blocks_are_kept_where_they_fit(client, tmp_path):
    lazy = counting(da.from_array(X, chunks=(3_000, -1)), str(tmp_path))
    RPCAOM(3).fit(lazy)
    assert reads(tmp_path) == {0: 1, 1: 1, 2: 1}


def test_blocks_are_made_anew_where_they_do_not_fit(client, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_jobs, "WORKER_SHARE", 0.0)
    lazy = counting(da.from_array(X, chunks=(3_000, -1)), str(tmp_path))
    DSWL(3).fit(lazy)
    assert reads(tmp_path) == {0: 3, 1: 3, 2: 3}  # sample, weights, verdicts


def test_blocks_are_let_go_of_after_the_fit(client):
    before = set(client.who_has())
    model = DSWL(3).fit(da.from_array(X, chunks=(2_000, -1)))
    for _ in range(100):
        left = {key for key, who in client.who_has().items() if who} - before
        if len(left) <= 2 * 5:  # records of weights and of verdicts
            break
        time.sleep(0.05)
    assert len(left) <= 2 * 5, left
    assert model.weights_.shape == (N,)


def test_many_small_blocks_are_taken_together(client, tmp_path):
    small = da.from_array(X, chunks=(50, -1))
    rows = dask_rows(counting(small, str(tmp_path)))
    assert len(rows.lengths) == 1 and sum(rows.lengths) == N
    model = DSWL(3).fit(rows)
    assert_same(model, DSWL(3).fit(X))
    assert len(reads(tmp_path)) == 180 and set(reads(tmp_path).values()) == {1}
    for answer in (model.weights_, model.support_, model.predict(small)):
        assert answer.chunks == (small.chunks[0],)
    bad = X.copy()
    bad[7_017, 3] = np.nan
    with pytest.raises(ValueError, match=r"block 140, row 17 \(row 7,017 of all\)"):
        DSWL(3).fit(da.from_array(bad, chunks=(50, -1)))


def test_bundles_are_not_larger_than_they_should_be():
    assert bundle_lengths((5,) * 64, 8) == (5,) * 64
    assert bundle_lengths((5,) * 65, 8) == (325,)
    most = BUNDLE_BYTES // 8
    assert bundle_lengths((most, 1, 1) * 30, 8) == (most, 2) * 30
    assert bundle_lengths((2 * most,) * 70, 8) == (2 * most,) * 70


# ---------------------------------------------------------------- refused, with reasons


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (lambda: CUT, SourceError, r"4 blocks of columns.*rechunk\(\{0"),
        (lambda: UNKNOWN, SourceError, r"unknown.*compute_chunk_sizes\(\)"),
        (lambda: da.zeros((4, 4, 4)), SourceError, "3 dimension"),
        (lambda: da.from_array(np.full((5, 2), "a")), SourceError, "number"),
        (lambda: dask.delayed(X), TypeError, "Dask Delayed.*: pass a Dask array"),
        (lambda: dd.from_pandas(TEXT, npartitions=1), SourceError, "Column 't'.*only"),
        (lambda: da.from_array(X[:1], chunks=(1, -1)), ValueError, "1 sample"),
    ],
)  # fmt: skip
def test_what_cannot_be_fitted(in_process, wrong, error, words):
    with pytest.raises(error, match=words):
        DSWL(1).fit(wrong())


def test_the_calls_that_errors_name_help(in_process):
    assert_same(DSWL(3).fit(CUT.rechunk({0: "auto", 1: -1})), DSWL(3).fit(X))
    known = UNKNOWN.copy().compute_chunk_sizes()
    assert_same(DSWL(3).fit(known), DSWL(3).fit(X[X[:, 0] > 0]))


def test_columns_that_are_not_there(in_process):
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0]}), npartitions=1)
    with pytest.raises(SourceError, match="no column 'b'.*'a'"):
        open_rows(frame, columns=["b"])
    with pytest.raises(SourceError, match="no column 7.*0 to 1"):
        open_rows(da.zeros((3, 2)), columns=[7])
    assert open_rows(da.zeros((3, 2)), columns=[1]).shape == (3, 1)


def test_other_columns_than_those_of_the_fit(in_process):
    model = DSWL(2).fit(X[:300])
    with pytest.raises(ValueError, match="5 features, but DSWL is expecting 20"):
        model.transform(da.zeros((10, 5)))


def test_bad_cells_are_named_with_their_block(client):
    bad = X.copy()
    bad[7_017, 3] = np.nan
    lazy = da.from_array(bad, chunks=(2_000, -1))
    place = r"NaN in block 3, row 1,017 \(row 7,017 of all\), column 3"
    with pytest.raises(ValueError, match=place):
        DSWL(3).fit(lazy)
    with pytest.raises(ValueError, match=place):
        RPCAOM(3).fit(lazy)
    answer = DSWL(3).fit(X).transform(lazy)
    with pytest.raises(ValueError, match=place):
        answer.compute()
    frame = pd.DataFrame(bad, columns=[f"c{i}" for i in range(D)])
    with pytest.raises(ValueError, match=r"partition 1, .*7,017 of all.*'c3'"):
        DSWL(3).fit(dd.from_pandas(frame, npartitions=2))


def test_bad_cells_of_files_are_named_with_their_row_group(client, tmp_path):
    bad = X.copy()
    bad[7_017, 3] = np.inf
    frame = pd.DataFrame(bad, columns=[f"c{i}" for i in range(D)])
    frame.to_parquet(tmp_path / "bad.parquet", row_group_size=2_000)
    rows = open_rows(tmp_path / "bad.parquet", client=client, block_rows=2_000)
    place = r"infinity in .*bad.parquet, row group 3, row 1,017 .*column 'c3'"
    with pytest.raises(ValueError, match=place):
        DSWL(3).fit(rows)


def test_values_beyond_squares_are_named(client):
    huge = X.copy()
    huge[7_017, 3] = 1e200
    lazy = da.from_array(huge, chunks=(2_000, -1))
    with pytest.raises(ValueError, match=r"overflow: block 3, row 1,017"):
        RPCAOM(3).fit(lazy)
    w = np.ones(N)
    w[7_017] = 0.0  # what does not count may be of any size
    assert_same(RPCAOM(3).fit(lazy, sample_weight=w), RPCAOM(3).fit(X, sample_weight=w))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (
            lambda b: b[:, :7],
            r"row 6,000 is of type ndarray.* shape \(3000, 7\)",
        ),
        (lambda b: b[:70], r"shape \(70, 20\), but was declared .*\(3000, 20\)"),
        (lambda b: b.astype(object), r"is of type ndarray \(object\)"),
        (lambda b: np.ma.masked_greater(b, 3), "is of type MaskedArray"),
    ],
)
def test_blocks_that_are_not_what_was_declared(client, made, words):
    def last(block, block_id=None):
        return made(block) if block_id[0] == 2 else block

    lazy = da.from_array(X, chunks=(3_000, -1)).map_blocks(
        last, dtype=float, meta=np.empty((0, 0))
    )
    with pytest.raises(SourceError, match=words):
        DSWL(3).fit(lazy)


def test_columns_of_frames_are_no_tables(in_process):
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0]}), npartitions=1)
    with pytest.raises(TypeError, match="Dask Series: pass a Dask array or data frame"):
        DSWL(1).fit(frame["a"])


def test_paths_are_those_of_this_process(client, tmp_path, monkeypatch):
    np.save(tmp_path / "all.npy", X)
    monkeypatch.chdir(tmp_path)  # where the workers are not
    assert_same(DSWL(3).fit(open_rows("all.npy", client=client)), DSWL(3).fit(X))


def test_files_that_workers_cannot_see(client, tmp_path):
    np.save(tmp_path / "all.npy", X)
    rows = open_rows(tmp_path / "all.npy")
    (tmp_path / "all.npy").unlink()
    with pytest.raises(SourceError, match=r"worker tcp.* cannot see .*all.npy"):
        read_by_workers(rows, client, None)


def test_models_are_saved_before_their_cluster_closes(tmp_path):
    with started(1):
        model = DSWL(3).fit(da.from_array(X, chunks=(3_000, -1)))
    with pytest.raises(SourceError, match="no longer has it. Save the model"):
        trueaxis.save(model, tmp_path / "model.npz")
    trueaxis.save(model, tmp_path / "model.npz", training=False)


def test_one_fit_leaves_no_limits_for_the_next(in_process):
    huge = X.copy()
    huge[7_017, 3] = 1e200
    rows = open_rows(da.from_array(huge, chunks=(2_000, -1)))
    for _ in range(2):
        with pytest.raises(ValueError, match=r"overflow: block 3, row 1,017"):
            RPCAOM(3).fit(rows)
        assert not np.asarray(DSWL(3).fit(rows).support_)[7_017]


def test_what_is_open_is_not_opened_otherwise(in_process):
    rows = open_rows(da.from_array(X, chunks=(2_000, -1)))
    with pytest.raises(TypeError, match="open already"):
        open_rows(rows, columns=[0, 1])


def test_what_cannot_travel_is_refused(two_workers, tmp_path):
    class Sliceable:
        shape, dtype = (10, 2), np.dtype(float)

        def __getitem__(self, some):
            return np.zeros((10, 2))[some]

    with pytest.raises(TypeError, match="SlicedRows cannot be sent to Dask workers"):
        open_rows(Sliceable(), client=two_workers)
    np.save(tmp_path / "all.npy", X)
    mapped = open_rows(np.load(tmp_path / "all.npy", mmap_mode="r"), client=two_workers)
    assert_same(DSWL(3).fit(mapped), DSWL(3).fit(X))


# ---------------------------------------------------------------- workers that die


def deadly(array, folder, when):
    """The array; whoever makes block 1 for the `when`-th time is killed."""

    def kill(block, block_id=None):
        if block_id[0] == 1:
            with open(os.path.join(folder, "count"), "a") as file:
                file.write("x")
                file.flush()
                if file.tell() in when:
                    os.kill(os.getpid(), signal.SIGKILL)
        return block

    return array.map_blocks(kill, dtype=array.dtype, meta=np.empty((0, 0)))


@pytest.mark.parametrize("when", [1, 2, 3])
def test_a_killed_worker_changes_no_bit(tmp_path, monkeypatch, when):
    monkeypatch.setattr(dask_jobs, "WORKER_SHARE", 0.0)  # one read for every pass
    with started(2):
        expected = DSWL(3).fit(da.from_array(X, chunks=(1_000, -1)))
        alike = DSWL(3).fit(
            deadly(da.from_array(X, chunks=(1_000, -1)), str(tmp_path), {when})
        )
        for name in ("components_", "mean_", "explained_variance_", "cutoffs_"):
            assert np.array_equal(getattr(alike, name), getattr(expected, name))
        for name in ("weights_", "support_"):
            mine, theirs = getattr(alike, name), getattr(expected, name)
            assert np.array_equal(mine.compute(), theirs.compute())
    assert (tmp_path / "count").stat().st_size >= 4  # three passes, one of them twice


def test_a_killed_worker_with_kept_blocks_changes_no_bit():
    with started(2) as client:
        lazy = da.from_array(X, chunks=(1_000, -1))
        expected = DSWL(3).fit(lazy)
        rows = dask_rows(lazy)
        with rows:
            one = DSWL(3).fit(rows)
            pids = client.run(os.getpid)
            os.kill(next(iter(pids.values())), signal.SIGKILL)
            two = DSWL(3).fit(rows)
        for model in (one, two):
            assert np.array_equal(model.components_, expected.components_)
            assert np.array_equal(model.weights_.compute(), expected.weights_.compute())


def test_workers_that_die_of_a_block_end_in_words(tmp_path):
    with started(2):
        lazy = deadly(da.from_array(X, chunks=(3_000, -1)), str(tmp_path), range(1, 99))
        with pytest.raises(SourceError, match=r"died 4 times.*lack of memory"):
            DSWL(3).fit(lazy)


@contextmanager
def lonely_worker(folder):
    """A worker that nobody starts again."""
    with started(0) as client:
        command = [sys.executable, "-m", "distributed.cli.dask_worker"]
        command += [client.scheduler.address, "--no-nanny", "--no-dashboard"]
        command += ["--nthreads", "1", "--local-directory", str(folder / "local")]
        worker = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            client.wait_for_workers(1, timeout=60)
            yield
        finally:
            worker.kill()
            worker.wait()


def test_no_worker_left_ends_in_words(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_jobs, "WORKER_TIMEOUT", 2.0)
    with lonely_worker(tmp_path):
        lazy = deadly(da.from_array(X, chunks=(3_000, -1)), str(tmp_path), range(1, 99))
        with pytest.raises(SourceError, match=r"No Dask worker is left \(there"):
            DSWL(3).fit(lazy)


def test_a_scheduler_that_closes_ends_in_words(tmp_path):
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster):
        lazy = counting(da.from_array(X, chunks=(500, -1)), str(tmp_path), delay=0.2)

        def close():
            while not reads(tmp_path):
                time.sleep(0.01)
            cluster.close()

        thread = threading.Thread(target=close)
        thread.start()
        with pytest.raises(SourceError, match=r"Dask scheduler is lost|No Dask worker"):
            DSWL(3).fit(lazy)
        thread.join()


def test_a_scheduler_that_closes_between_passes_ends_in_words(monkeypatch):
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        client = distributed.Client(cluster)
        scan = DaskRows.scan_in_place

        def last(self, kernel):
            found = scan(self, kernel)
            client.close()
            return found

        monkeypatch.setattr(DaskRows, "scan_in_place", last)
        lazy = open_rows(da.from_array(X, chunks=(3_000, -1)), client=client)
        with pytest.raises(SourceError, match="Dask scheduler is lost"):
            DSWL(3).fit(lazy)


def test_a_closed_client_ends_in_words(tmp_path):
    np.save(tmp_path / "all.npy", X)
    with started(1) as client:
        rows = open_rows(tmp_path / "all.npy", client=client)
    with pytest.raises(SourceError, match="Dask scheduler is lost"):
        DSWL(3).fit(rows)


def test_what_others_cancel_ends_in_words(client, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_jobs, "WORKER_SHARE", 0.0)
    compute = distributed.Client.compute

    def cancelled(self, *args, **kwargs):
        futures = compute(self, *args, **kwargs)
        self.cancel(futures, force=True)
        return futures

    monkeypatch.setattr(distributed.Client, "compute", cancelled)
    with pytest.raises(SourceError, match="is cancelled: the cluster was restarted"):
        DSWL(3).fit(da.from_array(X, chunks=(3_000, -1)))


@pytest.mark.parametrize("what", ["truncated", "gone"])
def test_a_file_that_changes_between_passes_ends_in_words(
    client, tmp_path, monkeypatch, what
):
    monkeypatch.setattr(dask_jobs, "WORKER_SHARE", 0.0)
    path = tmp_path / "all.npy"
    np.save(path, X)
    rows = open_rows(path, client=client, block_rows=2_000)
    scan = DaskRows.scan_in_place

    def spoilt(self, kernel):
        found = scan(self, kernel)
        if what == "gone":
            path.unlink()
        else:
            os.truncate(path, 5_000)
        return found

    monkeypatch.setattr(DaskRows, "scan_in_place", spoilt)
    words = "can no longer be read" if what == "gone" else "has 5,000 bytes, but had"
    with pytest.raises(SourceError, match=words):
        DSWL(3).fit(rows)


def test_an_interrupt_cancels_what_is_left(client, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_jobs, "WORKER_SHARE", 0.0)
    lazy = counting(da.from_array(X, chunks=(100, -1)), str(tmp_path), delay=0.1)

    def interrupt():
        while not reads(tmp_path):
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        DSWL(3).fit(lazy)
    thread.join()
    done = sum(reads(tmp_path).values())
    time.sleep(1.0)
    later = sum(reads(tmp_path).values())
    assert later - done <= 4  # a block that each worker had in hand, or was given
    assert later < 90


def test_results_that_are_lost_are_made_again(monkeypatch):
    next_batch, killed = distributed.as_completed.next_batch, []

    def late(self, block=True):
        batch = next_batch(self, block)
        if batch and not killed:
            pids = client.run(os.getpid)
            killed.extend(pids.values())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
            end = time.monotonic() + 30
            while batch[0].status == "finished" and time.monotonic() < end:
                time.sleep(0.001)
        return batch

    with started(2) as client:
        expected = DSWL(3).fit(da.from_array(X, chunks=(3_000, -1)))
        monkeypatch.setattr(distributed.as_completed, "next_batch", late)
        model = DSWL(3).fit(da.from_array(X, chunks=(3_000, -1)))
        assert np.array_equal(model.components_, expected.components_)
    assert len(killed) == 2


def test_workers_that_die_with_their_results_end_in_words(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_jobs, "WORKER_TIMEOUT", 1.0)
    gather = dask_jobs.WorkerMonitor.gather

    def late(self, futures):
        pids = self.client.run(os.getpid)
        for pid in pids.values():
            os.kill(pid, signal.SIGKILL)
        return gather(self, futures)

    with lonely_worker(tmp_path):
        monkeypatch.setattr(dask_jobs.WorkerMonitor, "gather", late)
        with pytest.raises(SourceError, match=r"No Dask worker is left"):
            DSWL(3).fit(da.from_array(X, chunks=(3_000, -1)))


def test_errors_of_blocks_stay_what_they_are(client):
    def broken(block):
        raise PermissionError("no key to the vault")

    lazy = da.from_array(X, chunks=(3_000, -1)).map_blocks(
        broken, dtype=float, meta=np.empty((0, 0))
    )
    with pytest.raises(PermissionError, match="no key to the vault"):
        DSWL(3).fit(lazy)


def test_patience_is_only_for_workers(in_process):
    class Broken(Kernel):
        def start(self):
            return None

        def absorb(self, state, block, first):
            raise RuntimeError("a bug of a kernel")

    with pytest.raises(RuntimeError, match="a bug of a kernel"):
        dask_rows(da.from_array(X, chunks=(3_000, -1))).scan(Broken())


def test_the_runner_prefers_the_current_client(client):
    assert TaskRunner().client is client
    with dask.config.set(scheduler="threads"):
        assert TaskRunner().client is None


# ---------------------------------------------------------------- the command line


def test_command_line_with_workers_of_its_own(tmp_path):
    np.save(tmp_path / "all.npy", X)
    arguments = ["fit", str(tmp_path / "all.npy"), "-k", "3", "--workers", "2"]
    arguments += ["-o", str(tmp_path / "model.npz")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    model = trueaxis.load(tmp_path / "model.npz")
    assert np.array_equal(np.asarray(model.support_), DSWL(3).fit(X).support_)
    assert f"{int((~model.support_).sum()):,} of 9,000 rows are bad" in result.output


def test_command_line_with_a_running_cluster(two_workers, tmp_path):
    np.save(tmp_path / "all.npy", X)
    address = two_workers.scheduler.address
    arguments = ["fit", str(tmp_path / "all.npy"), "-k", "3", "--client", address]
    result = CliRunner().invoke(main, [*arguments, "-o", str(tmp_path / "model.npz")])
    assert result.exit_code == 0, result.output
    assert trueaxis.load(tmp_path / "model.npz").n_components_ == 3


def test_command_line_without_the_cluster(tmp_path, monkeypatch):
    monkeypatch.setattr("trueaxis._cli.cluster.CONNECT_SECONDS", 1)
    np.save(tmp_path / "all.npy", X)
    file = str(tmp_path / "all.npy")
    arguments = ["fit", file, "--client", "tcp://127.0.0.1:1"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert "no Dask scheduler at tcp://127.0.0.1:1" in result.stderr
    both = ["fit", file, "--client", "tcp://127.0.0.1:1", "--workers", "2"]
    result = CliRunner().invoke(main, both)
    assert result.exit_code == 2
    assert "--workers" in result.stderr
    (tmp_path / "table.csv").write_text("a,b\n1,2\n3,4\n5,7\n")
    result = CliRunner().invoke(
        main, ["fit", str(tmp_path / "table.csv"), "--workers", "2"]
    )
    assert result.exit_code == 1
    assert "workers read only such files" in result.stderr
