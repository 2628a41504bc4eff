"""Fixtures of the tests of Dask rows."""

import dask
import pytest


@pytest.fixture
def client(dask_client):
    with dask_client.as_current():
        yield dask_client


@pytest.fixture
def in_process():
    with dask.config.set(scheduler="synchronous"):
        yield
