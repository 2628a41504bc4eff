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
from hypothesis import settings

# Shells start processes in the background without Ctrl-C, which some tests need.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("ci", max_examples=30, deadline=None, derandomize=True)
settings.load_profile("ci")


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(config, items):
    """Mark the tests that `make quick` leaves out."""
    for item in items:
        needs = set(getattr(item, "fixturenames", ()))
        path = item.path.relative_to(config.rootpath)
        if needs >= {"estimator", "check"}:  # made by parametrize_with_checks
            item.add_marker("sklearn")
        if "browser" in needs:
            item.add_marker("browser")
        if any("dask" in part for part in path.parts):
            item.add_marker("dask")
