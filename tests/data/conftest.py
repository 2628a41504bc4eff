"""Fixtures of the tests of row sources."""

import numpy as np
import pytest
from row_sources import N, write_parquet

from trueaxis.data import spooled as spool
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
    np.save(folder / "single.npy", X.astype(np.float32))
    (folder / "parts").mkdir()
    for number, part in enumerate(np.array_split(X, 3)):
        write_parquet(folder / "parts" / f"part-{number}.parquet", part)
        np.save(folder / f"part-{number}.npy", part)
    return folder


@pytest.fixture
def at_once(monkeypatch):
    """Write the spool before the first read."""
    monkeypatch.setattr(spool, "FREE_READS", 0)


@pytest.fixture
def spools(monkeypatch):
    """Collect the temporary files that are created."""
    made, make = [], spool.tempfile.TemporaryFile

    def making(*args, **options):
        made.append(make(*args, **options))
        return made[-1]

    monkeypatch.setattr(spool.tempfile, "TemporaryFile", making)
    return made
