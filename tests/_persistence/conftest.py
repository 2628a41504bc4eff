"""Model files that several modules of tests read."""

import numpy as np
import pytest
from saved_models import fitted, rows
from sklearn.pipeline import make_pipeline

import trueaxis
from trueaxis import DSWL, ColumnScaler


@pytest.fixture
def path(tmp_path):
    trueaxis.save(fitted("dswl", named=True), tmp_path / "model.npz")
    return tmp_path / "model.npz"


@pytest.fixture
def scaled(tmp_path):
    """A pipeline of scaler and method, and the file it was saved to."""
    X = rows() * np.geomspace(1, 1000, rows().shape[1])
    pipeline = make_pipeline(ColumnScaler("robust"), DSWL(2)).fit(X)
    trueaxis.save(pipeline, tmp_path / "scaled.npz")
    return pipeline, X, tmp_path / "scaled.npz"
