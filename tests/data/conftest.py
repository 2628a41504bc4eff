"""Fixtures of the tests of rows."""

import dask
import numpy as np
import pytest
from row_sources import N, write_parquet

from trueaxis.datasets import planted


@pytest.fixture(scope="session")
def X():
    return planted("ocs", n=N, share=0.2).X


@pytest.fixture(scope="session")
def folder(X, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    np.save(folder / "all.npy", X)
    np.save(folder / "columns.npy", np.asfortranarray(X))
    np.save(folder / "swapped.npy", X.astype(">f8"))
    (folder / "parts").mkdir()
    for number, part in enumerate(np.array_split(X, 3)):
        write_parquet(folder / "parts" / f"part-{number}.parquet", part)
        np.save(folder / f"part-{number}.npy", part)
    return folder


@pytest.fixture
def client(dask_client):
    with dask_client.as_current():
        yield dask_client


@pytest.fixture
def in_process():
    with dask.config.set(scheduler="synchronous"):
        yield
