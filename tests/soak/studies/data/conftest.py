"""A data home and an empty cache, without the network."""

import os
from pathlib import Path

import pytest

from studies.data import download

GIVEN = os.environ.get("TRUEAXIS_DATA")


@pytest.fixture
def home():
    if GIVEN is None:
        pytest.skip("TRUEAXIS_DATA, a folder with the paper's data sets, is not set")
    return Path(GIVEN)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    # No test sees the user's cache, nor the network.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("TRUEAXIS_DATA", raising=False)
    monkeypatch.setattr(download, "OPENML", "http://127.0.0.1:9")
    monkeypatch.setattr(download, "UCI", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")
    return tmp_path / "cache" / "trueaxis"
