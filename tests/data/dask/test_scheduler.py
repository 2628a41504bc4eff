"""Workers that die, and schedulers that close."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import dask
import dask.array as da
import distributed
import numpy as np
import pytest
from dask_helpers import X, counting, local_cluster, reads

from trueaxis import DSWL, open_rows
from trueaxis.data.dask import scheduler
from trueaxis.data.dask.collections import dask_rows
from trueaxis.data.dask.rows import DaskRows
from trueaxis.data.dask.scheduler import TaskRunner
from trueaxis.data.rows import Kernel
from trueaxis.data.watched_file import SourceError

pytestmark = pytest.mark.soak


def deadly(array, folder, when):
    """Return the array; the workers that compute block 1 at these times are killed."""

    def kill(block, block_id=None):
        if block_id[0] == 1:
            with open(os.path.join(folder, "count"), "a") as file:
                file.write("x")
                file.flush()
                if file.tell() in when:
                    os.kill(os.getpid(), signal.SIGKILL)
        return block

    return array.map_blocks(kill, dtype=array.dtype, meta=np.empty((0, 0)))


@pytest.mark.slow
@pytest.mark.parametrize("when", [1, 2, 3])
def test_killed_worker_changes_no_bit(tmp_path, monkeypatch, when):
    monkeypatch.setattr(scheduler, "WORKER_SHARE", 0.0)  # every pass reads once
    with local_cluster(2):
        expected = DSWL(3).fit(da.from_array(X, chunks=(1_000, -1)))
        alike = DSWL(3).fit(
            deadly(da.from_array(X, chunks=(1_000, -1)), str(tmp_path), {when})
        )
        for name in ("components_", "mean_", "explained_variance_", "cutoffs_"):
            assert np.array_equal(getattr(alike, name), getattr(expected, name))
        for name in ("weights_", "support_"):
            mine, theirs = getattr(alike, name), getattr(expected, name)
            assert np.array_equal(mine.compute(), theirs.compute())
    assert (tmp_path / "count").stat().st_size >= 4  # three passes, one of them twice


@pytest.mark.slow
def test_killed_worker_changes_no_bit_of_a_fit_with_holes_and_wrong_cells(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(scheduler, "WORKER_SHARE", 0.0)
    spoiled, rng = X.copy(), np.random.default_rng(5)
    spoiled[rng.random(X.shape) < 0.05] = 20.0
    spoiled[rng.random(X.shape) < 0.05] = np.nan
    expected = DSWL(3, cells=True).fit(spoiled)
    lazy = da.from_array(spoiled, chunks=(1_000, -1))
    with local_cluster(2):
        alike = DSWL(3, cells=True).fit(deadly(lazy, str(tmp_path), {3}))
        support = alike.support_.compute()
    for name in ("components_", "mean_", "explained_variance_"):
        one, two = getattr(alike, name), getattr(expected, name)
        np.testing.assert_allclose(one, two, atol=1e-8)
    assert np.array_equal(support, expected.support_)
    assert (tmp_path / "count").stat().st_size >= 4


@pytest.mark.slow
def test_killed_worker_with_kept_blocks_changes_no_bit():
    with local_cluster(2) as client:
        lazy = da.from_array(X, chunks=(1_000, -1))
        expected = DSWL(3).fit(lazy)
        rows = dask_rows(lazy)
        with rows:
            one = DSWL(3).fit(rows)
            pids = client.run(os.getpid)
            os.kill(next(iter(pids.values())), signal.SIGKILL)
            two = DSWL(3).fit(rows)
        for model in (one, two):
            assert np.array_equal(model.components_, expected.components_)
            assert np.array_equal(model.weights_.compute(), expected.weights_.compute())


@pytest.mark.slow
def test_workers_killed_by_a_block_are_reported(tmp_path):
    with local_cluster(2):
        lazy = deadly(da.from_array(X, chunks=(3_000, -1)), str(tmp_path), range(1, 99))
        with pytest.raises(SourceError, match=r"died 4 times.*lack of memory"):
            DSWL(3).fit(lazy)


@contextmanager
def lonely_worker(folder):
    """Start a worker that is not restarted when it dies."""
    with local_cluster(0) as client:
        command = [sys.executable, "-m", "distributed.cli.dask_worker"]
        command += [client.scheduler.address, "--no-nanny", "--no-dashboard"]
        command += ["--nthreads", "1", "--local-directory", str(folder / "local")]
        worker = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            client.wait_for_workers(1, timeout=60)
            yield
        finally:
            worker.kill()
            worker.wait()


@pytest.mark.slow
def test_loss_of_all_workers_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(scheduler, "WORKER_TIMEOUT", 2.0)
    with lonely_worker(tmp_path):
        lazy = deadly(da.from_array(X, chunks=(3_000, -1)), str(tmp_path), range(1, 99))
        with pytest.raises(SourceError, match=r"No Dask worker is left \(there"):
            DSWL(3).fit(lazy)


@pytest.mark.slow
def test_scheduler_closed_during_a_pass_is_reported(tmp_path):
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster):
        lazy = counting(da.from_array(X, chunks=(500, -1)), str(tmp_path), delay=0.2)

        def close():
            while not reads(tmp_path):
                time.sleep(0.01)
            cluster.close()

        thread = threading.Thread(target=close)
        thread.start()
        with pytest.raises(SourceError, match=r"Dask scheduler is lost|No Dask worker"):
            DSWL(3).fit(lazy)
        thread.join()


@pytest.mark.slow
def test_scheduler_closed_between_passes_is_reported(monkeypatch):
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        client = distributed.Client(cluster)
        scan = DaskRows.scan_in_place

        def last(self, kernel):
            found = scan(self, kernel)
            client.close()
            return found

        monkeypatch.setattr(DaskRows, "scan_in_place", last)
        lazy = open_rows(da.from_array(X, chunks=(3_000, -1)), client=client)
        with pytest.raises(SourceError, match="Dask scheduler is lost"):
            DSWL(3).fit(lazy)


def test_closed_client_is_reported(tmp_path):
    np.save(tmp_path / "all.npy", X)
    with local_cluster(1) as client:
        rows = open_rows(tmp_path / "all.npy", client=client)
    with pytest.raises(SourceError, match="Dask scheduler is lost"):
        DSWL(3).fit(rows)


def test_cancelled_tasks_are_reported(client, tmp_path, monkeypatch):
    monkeypatch.setattr(scheduler, "WORKER_SHARE", 0.0)
    compute = distributed.Client.compute

    def cancelled(self, *args, **kwargs):
        futures = compute(self, *args, **kwargs)
        self.cancel(futures, force=True)
        return futures

    monkeypatch.setattr(distributed.Client, "compute", cancelled)
    with pytest.raises(SourceError, match="is cancelled: the cluster was restarted"):
        DSWL(3).fit(da.from_array(X, chunks=(3_000, -1)))


def test_interrupt_cancels_the_remaining_tasks(client, tmp_path, monkeypatch):
    monkeypatch.setattr(scheduler, "WORKER_SHARE", 0.0)
    lazy = counting(da.from_array(X, chunks=(100, -1)), str(tmp_path), delay=0.1)

    def interrupt():
        while not reads(tmp_path):
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        DSWL(3).fit(lazy)
    thread.join()
    done = sum(reads(tmp_path).values())
    time.sleep(1.0)
    later = sum(reads(tmp_path).values())
    assert later - done <= 4  # one running and one queued block per worker
    assert later < 90


@pytest.mark.slow
def test_lost_results_are_recomputed(monkeypatch):
    next_batch, killed = distributed.as_completed.next_batch, []

    def late(self, block=True):
        batch = next_batch(self, block)
        if batch and not killed:
            pids = client.run(os.getpid)
            killed.extend(pids.values())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
            end = time.monotonic() + 30
            while batch[0].status == "finished" and time.monotonic() < end:
                time.sleep(0.001)
        return batch

    with local_cluster(2) as client:
        expected = DSWL(3).fit(da.from_array(X, chunks=(3_000, -1)))
        monkeypatch.setattr(distributed.as_completed, "next_batch", late)
        model = DSWL(3).fit(da.from_array(X, chunks=(3_000, -1)))
        assert np.array_equal(model.components_, expected.components_)
    assert len(killed) == 2


@pytest.mark.slow
def test_workers_killed_with_their_results_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(scheduler, "WORKER_TIMEOUT", 1.0)
    gather = scheduler.WorkerMonitor.gather

    def late(self, futures):
        pids = self.client.run(os.getpid)
        for pid in pids.values():
            os.kill(pid, signal.SIGKILL)
        return gather(self, futures)

    with lonely_worker(tmp_path):
        monkeypatch.setattr(scheduler.WorkerMonitor, "gather", late)
        with pytest.raises(SourceError, match=r"No Dask worker is left"):
            DSWL(3).fit(da.from_array(X, chunks=(3_000, -1)))


def test_kernel_errors_in_this_process_are_raised(in_process):
    class Broken(Kernel):
        def start(self):
            return None

        def absorb(self, state, block, first):
            raise RuntimeError("a bug of a kernel")

    with pytest.raises(RuntimeError, match="a bug of a kernel"):
        dask_rows(da.from_array(X, chunks=(3_000, -1))).scan(Broken())


def test_the_runner_prefers_the_current_client(client):
    assert TaskRunner().client is client
    with dask.config.set(scheduler="threads"):
        assert TaskRunner().client is None
