"""Pipelines of a scaler or an encoder and a method, split and joined."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from trueaxis import DSWL, ColumnScaler, TableEncoder
from trueaxis.data.rows import Rows
from trueaxis.methods import PlainPCA
from trueaxis.pipeline import SplitPipeline, join_pipeline, split_pipeline


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.standard_normal((101, 5)) * [1, 1e3, 1e-3, 7, 1]


@pytest.mark.slow
def test_parted_and_joined_are_each_others_inverse(X):
    pipeline = make_pipeline(ColumnScaler(), DSWL(2)).fit(X)
    parts = split_pipeline(pipeline)
    assert parts.scaler is pipeline[0] and parts.model is pipeline[1]
    again = join_pipeline(*parts)
    assert isinstance(again, Pipeline)
    np.testing.assert_array_equal(again.predict(X), pipeline.predict(X))
    np.testing.assert_array_equal(
        parts.model.transform(parts.scaled(X)), pipeline.transform(X)
    )
    method = pipeline[1]
    for alone in (method, make_pipeline(method)):
        assert split_pipeline(alone) == SplitPipeline(None, method)
    assert join_pipeline(None, method) is method
    assert SplitPipeline(None, method).scaled(X) is X


@pytest.mark.slow
def test_the_method_gets_the_names_that_only_the_scaler_knows(X):
    frame = pd.DataFrame(X, columns=[*"abcde"])
    pipeline = make_pipeline(ColumnScaler(), DSWL(2)).fit(frame)
    assert not hasattr(pipeline[1], "feature_names_in_")
    parts = split_pipeline(pipeline)
    assert [*parts.model.feature_names_in_] == [*"abcde"]
    assert not hasattr(pipeline[1], "feature_names_in_")  # the user's is as it was
    assert (parts.model.components_ == pipeline[1].components_).all()
    named = make_pipeline(ColumnScaler().set_output(transform="pandas"), DSWL(2))
    assert split_pipeline(named.fit(frame)).model is named[1]


@pytest.fixture
def table(X):
    table = pd.DataFrame(X, columns=[*"abcde"])
    table["site"] = np.resize(["north", "south", "south"], len(X))
    return table.assign(nr=np.arange(len(X)), price=np.exp(X[:, 0]))


def test_encoders_are_split_off_as_well(table):
    encoder = TableEncoder(categories=True, log=["price"])
    pipeline = make_pipeline(encoder, PlainPCA(2)).fit(table)
    parts = split_pipeline(pipeline)
    assert parts.scaler is pipeline[0]
    expected = [*"abcde", "site=north", "site=south", "log10(price)"]
    assert [*parts.model.feature_names_in_] == expected
    assert not hasattr(pipeline[1], "feature_names_in_")
    raw = parts.raw(table)
    np.testing.assert_array_equal(raw, pipeline[0].encode(table))
    np.testing.assert_array_equal(parts.scaled(raw), pipeline[0].transform(table))
    np.testing.assert_array_equal(
        parts.prepared(table).read(), pipeline[0].transform(table)
    )
    again = join_pipeline(*parts)
    assert [name for name, _ in again.steps] == ["tableencoder", "plainpca"]
    with pytest.raises(ValueError, match="lacks columns .* 'site'"):
        parts.raw(table.drop(columns=["site"]))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_raw_rows_have_checked_names_and_the_units_of_the_user(X):
    frame = pd.DataFrame(X, columns=[*"abcde"])
    holed = frame.copy()
    holed.iloc[3, 2] = np.nan
    for pipeline in (
        make_pipeline(ColumnScaler(), PlainPCA(2)),
        make_pipeline(PlainPCA(2)),
        make_pipeline(TableEncoder(), PlainPCA(2)),
    ):
        parts = split_pipeline(pipeline.fit(frame))
        np.testing.assert_array_equal(parts.raw(frame), X)
        prepared = parts.prepared(frame)
        prepared = prepared.read() if isinstance(prepared, Rows) else prepared
        np.testing.assert_array_equal(parts.scaled(parts.raw(frame)), prepared)
        with pytest.raises(ValueError, match=r"names should match|lacks columns"):
            parts.raw(frame.rename(columns={"a": "z"}))
        if not isinstance(parts.scaler, TableEncoder):  # the method refuses it there
            with pytest.raises(ValueError, match="missing"):
                parts.raw(holed)
    parts = split_pipeline(make_pipeline(ColumnScaler(), DSWL(2)).fit(frame))
    np.testing.assert_array_equal(parts.raw(holed), holed)


@pytest.mark.slow
def test_of_other_steps_only_what_they_return_is_known(X):
    pipeline = make_pipeline(StandardScaler(), ColumnScaler(), DSWL(2)).fit(X)
    parts = split_pipeline(pipeline)
    assert parts.unit is None and [*parts.scaler] == [*pipeline[:-1]]
    given = pipeline[:-1].transform(X)
    np.testing.assert_array_equal(parts.scaled(parts.raw(X)), given)
    np.testing.assert_array_equal(parts.restored(given), given)
