"""Rows of Dask collections give the model of the array, and lazy answers."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask_helpers import D, X, assert_same, counting, reads

from trueaxis import DSWL, ColumnScaler, open_rows
from trueaxis.data import dask as dask_module
from trueaxis.data.files import SourceError
from trueaxis.datasets import planted
from trueaxis.methods import METHODS, RPCAOM

UNEQUAL = {"tau": (4e-4, 1e-4, 3e-4)}
FEW = planted("ocs", n=300, n_features=8, share=0.1).X


@pytest.mark.parametrize("options", [{}, UNEQUAL])
@pytest.mark.parametrize("chunks", [777, (10, 0, 4_990, 4_000), 100])
def test_same_model_for_any_chunks(in_process, options, chunks):
    lazy = da.from_array(X, chunks=(chunks, D))
    model = DSWL(3, **options).fit(lazy)
    assert_same(model, DSWL(3, **options).fit(X))


@pytest.mark.parametrize("name", ["pca", "rpca-om", "pca-l1", "two-way"])
def test_other_methods_and_sample_weights(in_process, name):
    w = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    lazy = da.from_array(FEW, chunks=(77, -1))
    for weights in (None, w):
        expected = METHODS[name](n_components=2).fit(FEW, sample_weight=weights)
        model = METHODS[name](n_components=2).fit(lazy, sample_weight=weights)
        # Sums have another order, and some methods stop at 1e-6.
        assert np.abs(model.components_ - expected.components_).max() < 1e-6
        assert np.array_equal(np.asarray(model.support_), expected.support_)


def test_whole_numbers_and_single_precision(in_process):
    whole = np.round(10 * X).astype(np.int16)
    expected = DSWL(3).fit(whole.astype(float))
    assert_same(DSWL(3).fit(da.from_array(whole, chunks=(2_000, -1))), expected)
    lazy = da.from_array(X.astype(np.float32), chunks=(2_000, -1))
    single = DSWL(3).fit(lazy)
    assert single.components_.dtype == np.float32
    answer = single.transform(lazy)
    assert answer.dtype == answer.compute().dtype == np.float32


def test_missing_cells_are_filled_by_the_workers(in_process):
    holes = X.copy()
    holes[::7, 3] = np.nan
    lazy = da.from_array(holes, chunks=(2_000, -1))
    assert_same(DSWL(3).fit(lazy), DSWL(3).fit(holes), axes=1e-9)


def test_answers_are_lazy_and_correct(client):
    lazy = da.from_array(X, chunks=(2_000, -1))
    model = DSWL(3).fit(X)
    pairs = [
        (model.transform(lazy), model.transform(X)),
        (model.predict(lazy), model.predict(X)),
        (model.score_samples(lazy), model.score_samples(X)),
        (model.distances(lazy).orthogonal, model.distances(X).orthogonal),
        (
            model.inverse_transform(model.transform(lazy)),
            model.inverse_transform(model.transform(X)),
        ),
        (ColumnScaler().fit(X).transform(lazy), ColumnScaler().fit(X).transform(X)),
    ]
    for answer, expected in pairs:
        assert isinstance(answer, da.Array)
        assert answer.chunks[0] == lazy.chunks[0] and answer.dtype == expected.dtype
        np.testing.assert_allclose(answer.compute(), expected, rtol=1e-9, atol=1e-9)
    with pytest.raises(TypeError, match="set_output.*would load the whole result"):
        DSWL(3).fit(X).set_output(transform="pandas").transform(lazy)


def test_nothing_is_read_before_compute(in_process, tmp_path):
    lazy = counting(da.from_array(X, chunks=(3_000, -1)), str(tmp_path))
    answer = DSWL(3).fit(X).transform(lazy)
    assert reads(tmp_path) == {}
    answer[:10].compute()
    assert reads(tmp_path) == {0: 1}


def test_blocks_are_kept_where_they_fit(client, tmp_path, monkeypatch):
    (tmp_path / "kept").mkdir()
    (tmp_path / "read").mkdir()
    lazy = da.from_array(X, chunks=(3_000, -1))
    RPCAOM(3).fit(counting(lazy, str(tmp_path / "kept")))
    assert reads(tmp_path / "kept") == {0: 1, 1: 1, 2: 1}
    monkeypatch.setattr(dask_module, "WORKER_SHARE", 0.0)
    DSWL(3).fit(counting(lazy, str(tmp_path / "read")))
    # The sample, weights and subspace, the verdicts.
    assert reads(tmp_path / "read") == {0: 3, 1: 3, 2: 3}


def test_data_frames_keep_their_names(in_process):
    names = [f"c{i}" for i in range(D)]
    frame = pd.DataFrame(X, columns=names)
    frame.iloc[::50, 2] = np.nan
    frame["c2"] = frame["c2"].astype("Float64")
    lazy = dd.from_pandas(frame.iloc[:5_000], npartitions=3)
    model = DSWL(3).fit(lazy)
    assert_same(model, DSWL(3).fit(frame.iloc[:5_000]), axes=1e-9)
    assert model.feature_names_in_.tolist() == names
    some = open_rows(lazy, columns=["c7", "c1"])
    np.testing.assert_array_equal(some.read(), X[:5_000, [7, 1]])
    with pytest.raises(SourceError, match="no column 'z'; its 20 columns"):
        open_rows(lazy, columns=["z"])
    with pytest.raises(SourceError, match="Column 'text' of .*only numbers"):
        DSWL(3).fit(lazy.assign(text="a"))
    bad = frame.copy()
    bad.iloc[4_000, 5] = np.inf
    with pytest.raises(ValueError, match=r"infinity in block \d, row .* 'c5'"):
        DSWL(3).fit(dd.from_pandas(bad, npartitions=5))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: da.ones(9), "1 dimension.*reshape"),
        (lambda: da.ones((9, 4)).astype(str), "only numbers"),
        (lambda: dask.delayed(FEW), "is a Dask Delayed.*: pass a Dask array"),
        (lambda: dask.bag.from_sequence([1]), "is a Dask Bag: pass a Dask array"),
    ],
)
def test_other_collections_are_refused(make, words, in_process):
    import dask.bag  # noqa: F401

    with pytest.raises((TypeError, ValueError), match=words):
        DSWL(2).fit(make())


def test_blocks_of_columns_and_of_unknown_lengths_are_read(in_process):
    expected = DSWL(2).fit(FEW)
    lazy = da.from_array(FEW, chunks=(77, 3))
    assert_same(DSWL(2).fit(lazy), expected)
    lazy = da.from_array(FEW, chunks=(77, -1))
    unknown = lazy[da.from_array(np.ones(300), chunks=77) > 0]
    assert_same(DSWL(2).fit(unknown), expected)
    assert np.isnan(unknown.shape[0])  # is left as it was


def test_bad_values_are_reported_with_their_block(in_process):
    bad = X.copy()
    bad[4_321, 5] = np.nan
    lazy = da.from_array(bad, chunks=(2_000, -1))
    with pytest.raises(ValueError, match=r"NaN in block 2, row 321 \(row 4,321 of all"):
        RPCAOM(3).fit(lazy)
    bad[4_321, 5] = 1e200
    lazy = da.from_array(bad, chunks=(2_000, -1))
    with pytest.raises(ValueError, match="overflow: block 2, row 321"):
        RPCAOM(3).fit(lazy)
    wrong = lazy.map_blocks(lambda b: b[:5], dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(SourceError, match=r"\(5, 20\), but was declared"):
        RPCAOM(3).fit(wrong)
