import os

# One BLAS thread per test process: the tests already run side by side, and sums come
# out in the same order on every machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Let scikit-learn's suite check array API input as well.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# Pictures are drawn into memory, also where there is a screen.
os.environ.setdefault("MPLBACKEND", "Agg")

import signal

import pytest
from browsers import browser, open_page  # noqa: F401, fixtures
from hypothesis import settings

# Shells start processes in the background without Ctrl-C, which some tests need.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("ci", max_examples=30, deadline=None, derandomize=True)
settings.load_profile("ci")


@pytest.fixture(scope="session")
def dask_client():
    """A client of two worker processes, which all tests of a run share.

    Tests that harm workers start a cluster of their own.
    """
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(config, items):
    """Mark tests by what they need.

    `make test` leaves out what is marked `soak`. Tests that share a cluster or a
    browser run in one process, so that there is one of each.
    """
    for item in items:
        needs = set(getattr(item, "fixturenames", ()))
        parts = item.path.relative_to(config.rootpath).parts
        if needs >= {"estimator", "check"}:  # made by parametrize_with_checks
            item.add_marker("sklearn")
        if "browser" in needs:
            item.add_marker("browser")
            item.add_marker(pytest.mark.xdist_group("browser"))
        if "dask_client" in needs or any("dask" in part for part in parts):
            item.add_marker("dask")
            item.add_marker(pytest.mark.xdist_group("dask"))
        # The journeys open pages in a browser, too; the rest is breadth.
        if "soak" in parts or ("browser" in needs and "journeys" not in parts):
            item.add_marker("soak")
