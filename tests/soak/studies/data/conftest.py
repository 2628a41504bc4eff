"""A data home, an empty cache and a registry, without the network."""

import os
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from studies.data import download
from tests.soak.studies.registry_server import Registry

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


@pytest.fixture
def server(monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    server.pages, server.broken, server.asked = {}, set(), []
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(download, "OPENML", address)
    monkeypatch.setattr(download, "UCI", address)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()
