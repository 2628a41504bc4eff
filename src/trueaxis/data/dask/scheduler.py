"""Run Dask tasks on the workers of the current client, or in this process.

Dask alone waits forever once its last worker is gone, and reports lost tasks without a
reason. Here, the workers are monitored while tasks run.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, wait
from contextlib import suppress
from typing import Any

from trueaxis.data.memory import SHARE, available_memory
from trueaxis.data.progress import SILENT, Advance, passing
from trueaxis.data.watched_file import SourceError

WORKER_TIMEOUT = 20.0  # seconds to wait for a worker if there is none
WORKER_POLL = 0.5  # seconds between checks of the workers
TASK_POLL = 0.01  # seconds between checks of the tasks
WORKER_SHARE = 0.5  # share of the workers' memory that rows may take


class TaskRunner:
    """Runner of tasks on the workers of a client, or in this process.

    Parameters
    ----------
    client : distributed.Client, optional
        By default, the client that Dask would use when the tasks are run.
    """

    def __init__(self, client: Any = None) -> None:
        self.given_client = client
        self._pinned: list[Any] = []  # the client, while it is pinned

    def pin(self) -> None:
        """Use the current client until `unpin`, even if Dask's default changes."""
        self._pinned = [self._find_client()]

    def unpin(self) -> None:
        """Look up the client again from now on."""
        self._pinned = []

    @property
    def client(self) -> Any | None:
        """The client, or None if Dask runs tasks in this process."""
        client = self._pinned[0] if self._pinned else self._find_client()
        if client is not None and client.status != "running":
            raise _connection_lost(client.status)
        return client

    def _find_client(self) -> Any | None:
        if self.given_client is not None:
            return self.given_client
        import dask.config

        if dask.config.get("scheduler", None) not in (None, "dask.distributed"):
            return None
        try:
            import distributed

            return distributed.default_client()
        except (ImportError, ValueError):  # not installed, or no client
            return None

    def persist(self, array: Any) -> Any:
        """Return an array whose blocks are kept once computed, if there is room."""
        client, size = self.client, array.nbytes
        if client is None:
            available = available_memory()
            fits = available is not None and size <= SHARE * available
            return array.persist() if fits else array
        room = sum(worker["memory_limit"] or 0 for worker in _workers(client).values())
        return client.persist(array) if size <= WORKER_SHARE * room else array

    def run(
        self,
        tasks: Sequence[Any],
        n_remote: int = 0,
        title: str = "",
        rows: Sequence[int] = (),
    ) -> Iterator[tuple[int, Any]]:
        """Run tasks; yield (number, result) as they complete.

        Parameters
        ----------
        tasks : sequence of Delayed
        n_remote : int
            Results of the first `n_remote` tasks stay with the workers, and their
            futures are yielded instead.
        title : str
            Purpose of the pass, if the progress is to be reported.
        rows : sequence of int
            Number of rows that each of the first tasks processes.
        """
        client = self.client
        with passing(title, sum(rows)) if title else SILENT as advance:
            if client is None:
                yield from enumerate(_run_here(tasks, rows, advance))
                return
            for number, result in _run_on_workers(client, tasks, n_remote):
                if number < len(rows):
                    advance(rows[number])
                yield number, result


def _workers(client: Any) -> dict[str, Any]:
    """Return the scheduler's information about all workers.

    Some versions of Dask return only five unless asked for all.
    """
    limited = "n_workers" in inspect.signature(client.scheduler_info).parameters
    info = client.scheduler_info(**({"n_workers": -1} if limited else {}))
    workers: dict[str, Any] = info.get("workers", {})
    return workers


def _run_here(tasks: Sequence[Any], rows: Sequence[int], advance: Advance) -> Any:
    from dask.base import compute
    from dask.callbacks import Callback

    left = {task.key: n for task, n in zip(tasks, rows, strict=False)}
    with Callback(posttask=lambda key, *_: advance(left.pop(key, 0))):
        return compute(*tasks)


def _run_on_workers(
    client: Any, tasks: Sequence[Any], n_remote: int
) -> Iterator[tuple[int, Any]]:
    from distributed import as_completed

    futures = client.compute(list(tasks))
    numbers = {future: number for number, future in enumerate(futures)}
    monitor = WorkerMonitor(client)
    pending = as_completed(futures, loop=client.loop)
    del futures
    try:
        while numbers:
            batch = pending.next_batch(block=False)
            if not batch:
                monitor.check()
                time.sleep(TASK_POLL)
                continue
            monitor.last_sign = time.monotonic()
            done = []
            for future in batch:
                status = future.status
                if status in ("error", "cancelled"):
                    raise monitor.explain(future)
                if status == "finished":
                    done.append(future)
                else:  # its worker has died, so the task runs again
                    pending.add(future)
            remote = [future for future in done if numbers[future] < n_remote]
            local = [future for future in done if numbers[future] >= n_remote]
            results = monitor.gather(local)
            # Dropping a future frees memory on its worker.
            yield from [(numbers.pop(future), future) for future in remote]
            yield from zip(
                [numbers.pop(future) for future in local], results, strict=True
            )
    finally:
        if numbers:  # after an error or Ctrl-C, cancel the rest
            with suppress(Exception):  # the scheduler itself may have failed
                client.cancel(list(numbers), force=True)


class WorkerMonitor:
    """Monitor of the workers of a client, which also explains failures."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.most = len(client.nthreads())  # largest number of workers seen
        self.last_sign = self.last_check = time.monotonic()

    def check(self) -> None:
        """Raise if there has been no worker for too long."""
        now = time.monotonic()
        if now - self.last_check < WORKER_POLL:
            return
        self.last_check = now
        try:
            workers = len(self.client.nthreads())
        except OSError as error:  # a timeout, or a closed connection
            raise _connection_lost(error) from error
        self.most = max(self.most, workers)
        if workers:
            self.last_sign = now
        elif now - self.last_sign > WORKER_TIMEOUT:
            had = f"there were {self.most}" if self.most else "there never was one"
            raise SourceError(
                f"No Dask worker is left ({had}, and none joined for "
                f"{WORKER_TIMEOUT:g} s), so nothing can be computed. Start workers for "
                f"the scheduler {self.client.scheduler.address} and fit again; if they "
                "ran out of memory, give them more, or use smaller chunks of rows."
            )

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """Return the results of finished tasks; raise if their workers are lost."""
        if not futures:
            return []
        import asyncio  # takes long, and is not needed without a cluster

        answer = asyncio.run_coroutine_threadsafe(
            self.client.gather(futures, asynchronous=True),
            self.client.loop.asyncio_loop,
        )
        try:
            while not wait([answer], timeout=WORKER_POLL).done:
                self.check()
            results: list[Any] = answer.result()
            return results
        except (CancelledError, OSError) as error:
            raise _connection_lost(error) from error
        finally:
            answer.cancel()

    def explain(self, future: Any) -> BaseException:
        """Return the error to raise for a task that failed."""
        from distributed import KilledWorker

        if future.status != "error" and self.client.status != "running":
            return _connection_lost(self.client.status)
        if future.status != "error":
            return SourceError(
                f"A task of the fit is {future.status}: the cluster was restarted, or "
                "another of its users cancelled the task. Fit again."
            )
        error: BaseException = future.exception()
        if not isinstance(error, KilledWorker):
            return error.with_traceback(future.traceback())
        return SourceError(
            "The Dask workers that received one part of the rows died "
            f"{error.allowed_failures + 1} times, the last one at "
            f"{error.last_worker.address}, most likely for lack of memory. Give them "
            "more, or use smaller chunks of rows."
        )


def _connection_lost(reason: Any) -> SourceError:
    return SourceError(
        f"The connection to the Dask scheduler is lost ({reason or 'closed'}): it was "
        "shut down or cannot be reached. Connect a new Client and fit again."
    )
