"""Fixtures of the tests of Dask rows."""

import dask
import pytest
from dask_helpers import local_cluster


@pytest.fixture(scope="module")
def two_workers():
    with local_cluster(2) as client:
        yield client


@pytest.fixture
def client(two_workers):
    with two_workers.as_current():
        yield two_workers


@pytest.fixture
def in_process():
    with dask.config.set(scheduler="synchronous"):
        yield
