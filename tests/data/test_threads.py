"""How many threads there are, results in the order of the tasks, and forks."""

import os
import threading
import time
import warnings

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from trueaxis import DSWL
from trueaxis.data.threads import (
    ONE_BLAS_THREAD,
    cached_property,
    ignore_float_errors,
    in_order,
    n_threads,
)


def blas_threads():
    found = threadpool_info()
    return [each["num_threads"] for each in found if each["user_api"] == "blas"]


def test_the_number_of_threads(monkeypatch):
    """As many as cores and the BLAS allow."""
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    for limit in (1, 3, 64):
        with threadpool_limits(limit, user_api="blas"):
            assert n_threads() == min(4, limit, *blas_threads())


def test_limits_of_passes_that_overlap():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with ONE_BLAS_THREAD:
            with ONE_BLAS_THREAD:
                assert set(blas_threads()) == {1}
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


@pytest.mark.parametrize("n", [1, 2, 5])
def test_results_come_in_order_and_few_tasks_ahead(n):
    taken = []

    def items():
        for i in range(20):
            taken.append(i)
            yield i

    def late(i):
        time.sleep(0.002 * (i % 3 == 0))
        return i

    for i, result in enumerate(in_order(late, items(), n)):
        assert result == i and len(taken) <= i + 2 * n
    assert not [t for t in threading.enumerate() if t.name.startswith("trueaxis")]


def test_the_first_error_is_raised_and_the_threads_end():
    late = threading.Event()

    def fails_late():
        late.wait(5)
        raise ValueError("first")

    def fails_early():
        late.set()
        raise ValueError("second")

    tasks = [lambda: 0, fails_late, fails_early]
    results = in_order(lambda task: task(), tasks, 3)
    assert next(results) == 0
    with pytest.raises(ValueError, match="first"):
        next(results)
    assert not [t for t in threading.enumerate() if t.name.startswith("trueaxis")]


def test_overflows_in_threads_are_those_of_far_rows():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for square in in_order(lambda size: np.full(9, size) ** 2, [1e200] * 4, 2):
            assert square[0] == np.inf
        assert ignore_float_errors(np.exp)(np.array([1e9]))[0] == np.inf


def test_a_cached_property_is_computed_once():
    class Counting:
        def __init__(self):
            self.calls = 0

        @cached_property
        def value(self):
            """Return the number of calls."""
            self.calls += 1
            return self.calls

    one, two = Counting(), Counting()
    assert (one.value, one.value, two.value) == (1, 1, 1)
    assert Counting.value.__doc__ == "Return the number of calls."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork")
def test_processes_forked_while_another_thread_fits_can_fit(X, monkeypatch):
    """Whatever lock or pool the other thread holds at the time of the fork."""
    monkeypatch.setattr("trueaxis.data.rows.n_threads", lambda: 2)
    many, few = np.tile(X, (6, 1)), X[:300]
    DSWL(3).fit(many)
    expected = DSWL(3).fit(few).components_
    stop = threading.Event()

    def fit_on():
        while not stop.is_set():
            DSWL(3).fit(many)
            DSWL(3).fit(few)

    thread = threading.Thread(target=fit_on)
    thread.start()
    children = []
    try:
        for _ in range(12):
            time.sleep(0.01)
            child = os.fork()
            if child == 0:
                same = np.allclose(DSWL(3).fit(few).components_, expected)
                large = DSWL(3).fit(many).components_.shape == (3, 20)
                os._exit(0 if same and large else 1)
            children.append(child)
    finally:
        stop.set()
        thread.join()
    end = time.monotonic() + 60
    hung = []
    for child in children:
        while not (done := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > end:
                os.kill(child, 9)
                os.waitpid(child, 0)
                hung.append(child)
                break
            time.sleep(0.01)
        else:
            assert done[1] == 0
    assert not hung, f"{len(hung)} of {len(children)} processes never ended"
