"""Fits to Dask rows give the model of the array."""

import time

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask_helpers import D, N, X, assert_same, counting, reads

from trueaxis import DSWL, open_rows
from trueaxis.data.dask import scheduler
from trueaxis.datasets import planted
from trueaxis.methods import METHODS, RPCAOM
from trueaxis.plots import ScoresDisplay
from trueaxis.report.analysis import analyse

UNEQUAL = {"tau": (4e-4, 1e-4, 3e-4), "reweight": False, "init": "uniform"}


@pytest.mark.slow
@pytest.mark.parametrize("rows", [777, 4_000, N])
def test_same_model_for_any_chunks(client, rows):
    lazy = da.from_array(X, chunks=(rows, D))
    assert_same(DSWL(3).fit(lazy), DSWL(3).fit(X))


@pytest.mark.soak
def test_same_model_by_algorithm_1(client):
    lazy = da.from_array(X, chunks=(4_000, D))
    assert_same(DSWL(3, **UNEQUAL).fit(lazy), DSWL(3, **UNEQUAL).fit(X))


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, UNEQUAL, {"reweight": False}])
@pytest.mark.parametrize("rows", [777, (10, 0, 4_990, 4_000)])
def test_same_model_in_this_process(in_process, options, rows):
    lazy = da.from_array(X, chunks=(rows, D))
    assert_same(DSWL(3, **options).fit(lazy), DSWL(3, **options).fit(X))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_takes_dask(in_process, name):
    few = planted("ocs", n=300, n_features=8, share=0.1).X
    given = METHODS[name](n_components=2)
    expected = METHODS[name](n_components=2).fit(few)
    model = given.fit(da.from_array(few, chunks=(77, -1)))
    # Sums have another order, and some methods stop at 1e-6.
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


@pytest.mark.slow
def test_two_groups_apart(client):
    both = np.vstack([X, planted("ocs", n=2_500, share=0.0).X + 40.0])
    expected = DSWL(3).fit(both)
    assert not expected.support_[N:].any()
    lazy = da.from_array(both, chunks=(2_000, -1))
    assert_same(DSWL(3).fit(lazy), expected)
    assert_same(DSWL(3, reweight=False).fit(lazy), DSWL(3, reweight=False).fit(both))


def test_diagnostics_read_one_block_at_a_time(client):
    lazy = da.from_array(X, chunks=(2_000, -1))
    model = DSWL(3).fit(X)
    table, expected = model.outliers(lazy), model.outliers(X)
    pd.testing.assert_frame_equal(table, expected, rtol=1e-9)


@pytest.mark.slow
def test_plots_of_models_fitted_to_dask(in_process):
    few = planted("ocs", share=0.2).X
    lazy = da.from_array(few, chunks=(200, -1))
    model = DSWL(3).fit(lazy)
    shown = ScoresDisplay.from_estimator(model, lazy)
    np.testing.assert_allclose(shown.scores, model.transform(few)[:, :2])
    assert analyse(model, few).counts["off"] >= 100


def test_blocks_are_kept_where_they_fit(client, tmp_path):
    lazy = counting(da.from_array(X, chunks=(3_000, -1)), str(tmp_path))
    RPCAOM(3).fit(lazy)
    assert reads(tmp_path) == {0: 1, 1: 1, 2: 1}


def test_blocks_are_recomputed_where_they_do_not_fit(client, tmp_path, monkeypatch):
    monkeypatch.setattr(scheduler, "WORKER_SHARE", 0.0)
    lazy = counting(da.from_array(X, chunks=(3_000, -1)), str(tmp_path))
    DSWL(3).fit(lazy)
    assert reads(tmp_path) == {0: 3, 1: 3, 2: 3}  # sample, weights, verdicts


@pytest.mark.soak
def test_blocks_are_released_after_the_fit(client):
    before = set(client.who_has())
    model = DSWL(3).fit(da.from_array(X, chunks=(2_000, -1)))
    for _ in range(100):
        left = {key for key, who in client.who_has().items() if who} - before
        if len(left) <= 2 * 5:  # records of weights and of verdicts
            break
        time.sleep(0.05)
    assert len(left) <= 2 * 5, left
    assert model.weights_.shape == (N,)


def test_bad_cells_are_reported_with_their_block(client):
    bad = X.copy()
    bad[7_017, 3] = np.inf
    lazy = da.from_array(bad, chunks=(2_000, -1))
    place = r"infinity in block 3, row 1,017 \(row 7,017 of all\), column 3"
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


def test_overflow_is_reported_with_its_block(client):
    huge = X.copy()
    huge[7_017, 3] = 1e200
    lazy = da.from_array(huge, chunks=(2_000, -1))
    with pytest.raises(ValueError, match=r"overflow: block 3, row 1,017"):
        RPCAOM(3).fit(lazy)
    w = np.ones(N)
    w[7_017] = 0.0  # rows with zero weight may be of any size
    assert_same(
        RPCAOM(3).fit(lazy, sample_weight=w), RPCAOM(3).fit(huge, sample_weight=w)
    )


def test_limits_of_one_fit_do_not_affect_the_next(in_process):
    huge = X.copy()
    huge[7_017, 3] = 1e200
    rows = open_rows(da.from_array(huge, chunks=(2_000, -1)))
    for _ in range(2):
        with pytest.raises(ValueError, match=r"overflow: block 3, row 1,017"):
            RPCAOM(3).fit(rows)
        assert not np.asarray(DSWL(3).fit(rows).support_)[7_017]
