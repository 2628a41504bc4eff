"""The eigenvectors are those of SciPy, but other threads go on meanwhile."""

import threading
import time

import numpy as np
import pytest
import scipy.linalg

from trueaxis.core import lapack
from trueaxis.core.lapack import leading_eigen


def scatter(D, seed=0):
    A = np.random.default_rng(seed).standard_normal((D, D))
    return A @ A.T


def of_scipy(A, k):
    D = len(A)
    ends = [D - k, D - 1]
    return scipy.linalg.eigh(A, subset_by_index=ends, lower=False, check_finite=False)


@pytest.mark.parametrize(("D", "k"), [(1, 1), (2, 1), (8, 1), (8, 8), (50, 3)])
def test_same_bits_as_scipy(D, k):
    A = scatter(D)
    A[np.tril_indices(D, -1)] = np.nan  # is not read
    for found, expected in zip(leading_eigen(A, k), of_scipy(A, k), strict=True):
        assert np.array_equal(found, expected)


def test_without_the_routine_scipy_is_called(monkeypatch):
    A = scatter(20)
    expected = leading_eigen(A, 2)
    monkeypatch.setattr(lapack, "_dsyevr", lambda: None)
    for one, other in zip(leading_eigen(A.copy(), 2), expected, strict=True):
        assert np.array_equal(one, other)


def test_scipy_has_the_routine():
    assert lapack._dsyevr() is not None


@pytest.mark.soak
def test_other_threads_go_on():
    A, ticks, done = scatter(1200), [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(time.monotonic())

    clock = threading.Thread(target=tick)
    clock.start()
    begin = time.monotonic()
    leading_eigen(A, 3)
    end = time.monotonic()
    done.set()
    clock.join()
    inside = [tick for tick in ticks if begin < tick < end]
    assert len(inside) > 10, (len(inside), end - begin)
