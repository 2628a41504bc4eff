"""Diagnostics of Dask arrays: the same answers, with blocks left to the workers."""

import dask
import dask.array as da
import numpy as np
import pytest

from trueaxis import DSWL
from trueaxis.data.dask.rows import DaskRows
from trueaxis.datasets import planted
from trueaxis.diagnostics import diagnose, effect, outlier_table, reasons, score_plane

X = planted("ocs", n=9_000, share=0.2).X
MODEL = DSWL(3).fit(X)


@pytest.fixture
def no_blocks(monkeypatch):
    """Fail if a block is fetched from the workers."""

    def fetched(rows):
        raise AssertionError("A block was fetched.")

    monkeypatch.setattr(DaskRows, "blocks", fetched)
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("chunks", [777, (10, 0, 4_990, 4_000), 9_000])
@pytest.mark.parametrize("ask", [diagnose, effect, reasons, score_plane])
def test_answers_agree_with_those_for_an_array(no_blocks, ask, chunks):
    expected = ask(MODEL, X)
    answer = ask(MODEL, da.from_array(X, chunks=(chunks, X.shape[1])))
    names = getattr(expected, "_fields", None) or {*vars(expected)}
    for name in {*names, "log_p"} if ask is diagnose else names:
        here, there = getattr(answer, name), getattr(expected, name)
        if not isinstance(there, np.ndarray):
            continue
        assert type(here) is np.ndarray and here.dtype == there.dtype
        if there.dtype.kind == "f":
            rounding = 1e-10 * np.abs(there).max()
            np.testing.assert_allclose(here, there, rtol=1e-9, atol=rounding)
        else:
            np.testing.assert_array_equal(here, there)


def test_the_table_of_outliers_agrees(no_blocks):
    lazy = da.from_array(X, chunks=(4_000, X.shape[1]))
    table, expected = outlier_table(MODEL, lazy), outlier_table(MODEL, X)
    assert list(table.row) == list(expected.row)
    assert list(table.column) == list(expected.column)
