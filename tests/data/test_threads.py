"""How many threads there are, and results in the order of the tasks."""

import os
import subprocess
import sys
import threading
import time
import warnings
from contextvars import ContextVar

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from trueaxis.data import threads
from trueaxis.data.threads import ONE_BLAS_THREAD, in_order, n_threads

pytestmark = pytest.mark.soak


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    monkeypatch.delenv("TRUEAXIS_THREADS", raising=False)


def blas_threads():
    found = threadpool_info()
    return [each["num_threads"] for each in found if each["user_api"] == "blas"]


def running():
    return [t for t in threading.enumerate() if t.name.startswith("trueaxis")]


def test_the_variable_decides(monkeypatch):
    monkeypatch.setenv("TRUEAXIS_THREADS", " 3 ")
    with threadpool_limits(1, user_api="blas"):
        assert n_threads() == 3
    monkeypatch.setenv("TRUEAXIS_THREADS", "")
    with threadpool_limits(1, user_api="blas"):
        assert n_threads() == 1


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "auto"])
def test_a_variable_that_is_no_number_is_refused(value, monkeypatch):
    monkeypatch.setenv("TRUEAXIS_THREADS", value)
    message = f"TRUEAXIS_THREADS is '{value}', .* at least 1, or unset it"
    with pytest.raises(ValueError, match=message):
        n_threads()


def test_as_many_threads_as_cores_and_blas_allow(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    for limit, expected in ((1, 1), (3, 3), (64, 4)):
        with threadpool_limits(limit, user_api="blas"):
            assert n_threads() == min(expected, *blas_threads())
    monkeypatch.setattr(threads, "_controller", None)
    nothing = type("Nothing", (), {"lib_controllers": []})
    monkeypatch.setattr(threads, "_blas", nothing)  # a BLAS that is not known
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    assert n_threads() == 4


def test_limits_of_passes_that_overlap():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first, second = ONE_BLAS_THREAD, ONE_BLAS_THREAD
        first.__enter__()
        assert set(blas_threads()) == {1}
        assert ONE_BLAS_THREAD.limit_outside() == min(before)
        second.__enter__()
        first.__exit__()
        assert set(blas_threads()) == {1}
        second.__exit__()
        assert blas_threads() == before


def test_results_come_in_order_whatever_takes_longer():
    def task(i):
        def run(advance):
            time.sleep(0.01 * (i % 3 == 0))
            advance(1)
            return i

        return run

    for n in (1, 2, 3, 8):
        done = []
        assert list(in_order(map(task, range(20)), n, done.append)) == list(range(20))
        assert sum(done) == 20
    assert not running()


def test_few_tasks_are_taken_ahead():
    taken = []

    def tasks():
        for i in range(30):
            taken.append(i)
            yield lambda advance: None

    for given, _ in enumerate(in_order(tasks(), 3, lambda rows: None)):
        assert len(taken) <= given + 2 * 3
    assert len(taken) == 30


def test_the_first_error_is_raised_and_the_others_stop():
    late = threading.Event()

    def fails_late(advance):
        late.wait(5)
        raise ValueError("first")

    def fails_early(advance):
        late.set()
        raise ValueError("second")

    def endless(advance):
        while True:
            advance(1)
            time.sleep(0.001)

    tasks = iter([lambda advance: 0, fails_late, fails_early, endless, endless])
    results = in_order(tasks, 3, lambda rows: None)
    assert next(results) == 0
    with pytest.raises(ValueError, match="first"):
        next(results)
    assert not running()


def test_a_time_out_of_a_task_is_an_error_like_others():
    def fails(advance):
        raise TimeoutError("of a disk")

    with pytest.raises(TimeoutError, match="of a disk"):
        list(in_order(iter([fails, fails]), 2, lambda rows: None))


def test_threads_end_with_the_loop_that_reads_their_results():
    def endless(advance):
        while True:
            advance(1)
            time.sleep(0.001)

    results = in_order(iter([lambda advance: 0, endless, endless]), 2, lambda rows: 0)
    assert next(results) == 0
    results.close()
    assert not running()


def test_progress_is_reported_by_the_thread_that_waits(monkeypatch):
    monkeypatch.setattr(threads, "POLL", 0.01)
    reported = []

    def task(advance):
        for _ in range(10):
            advance(5)
            time.sleep(0.005)

    def report(rows):
        reported.append((rows, threading.current_thread()))

    list(in_order(iter([task] * 4), 2, report))
    assert sum(rows for rows, _ in reported) == 4 * 10 * 5
    assert {thread for _, thread in reported} == {threading.current_thread()}
    assert len(reported) > 4  # also before a task ends


def test_tasks_have_the_settings_of_their_caller():
    variable = ContextVar("variable", default="default")

    def overflow(advance):
        return np.full(1000, 1e200) ** 2, variable.get()

    variable.set("set")
    with warnings.catch_warnings(), np.errstate(over="ignore"):
        warnings.simplefilter("error")
        for square, value in in_order(iter([overflow] * 4), 2, lambda rows: None):
            assert square[0] == np.inf and value == "set"
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        list(in_order(iter([overflow] * 4), 2, lambda rows: None))


COUNT = "from trueaxis.data.threads import n_threads; import numpy, scipy.linalg.blas"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"])
def test_variables_of_the_blas_are_respected(name):
    chosen = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "TRUEAXIS_THREADS")
    others = {key: value for key, value in os.environ.items() if key not in chosen}
    command = [sys.executable, "-c", f"{COUNT}; print(n_threads())"]
    for environment in (others | {name: "1"}, others):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        expected = 1 if name in environment else joblib.cpu_count()
        assert int(done.stdout) == min(expected, 64)


@pytest.mark.slow
def test_workers_of_joblib_share_the_cores():
    cores = joblib.cpu_count()
    jobs = joblib.Parallel(n_jobs=2, backend="loky")
    found = jobs(joblib.delayed(_threads_of_a_worker)() for _ in range(2))
    assert all(n <= max(1, cores // 2) for n in found)


def _threads_of_a_worker():
    from trueaxis.data.threads import n_threads

    return n_threads()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork")
def test_a_fork_during_a_pass_leaves_no_lock_behind():
    with ONE_BLAS_THREAD:
        ONE_BLAS_THREAD._lock.acquire()
        try:
            child = os.fork()
            if child == 0:
                with ONE_BLAS_THREAD:
                    os._exit(0)
        finally:
            ONE_BLAS_THREAD._lock.release()
        assert os.waitpid(child, 0)[1] == 0
