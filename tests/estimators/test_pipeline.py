"""Pipelines of a scaler and a method, split and joined."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from trueaxis import DSWL, ColumnScaler
from trueaxis.estimators.pipeline import SplitPipeline, join_pipeline, split_pipeline


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


@pytest.mark.parametrize(
    ("steps", "named"),
    [
        ([StandardScaler(), DSWL()], "StandardScaler, DSWL"),
        ([ColumnScaler(), PCA(), DSWL()], "ColumnScaler, PCA, DSWL"),
        ([PCA(), ColumnScaler()], "PCA, ColumnScaler"),
    ],
)
def test_other_pipelines_are_refused(steps, named):
    with pytest.raises(TypeError, match=f"{named}: only a ColumnScaler before"):
        split_pipeline(make_pipeline(*steps))
