"""RUN tasks of Dask: on the workers of the current client, or in this process.

Dask by itself waits for ever when its last worker is gone, and names lost tasks rather
than reasons; here somebody watches.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, wait
from contextlib import suppress
from typing import Any

from trueaxis._rows.memory import SHARE, available_memory
from trueaxis._rows.progress import SILENT, Advance, passing
from trueaxis._rows.watched_file import SourceError

PATIENCE = 20.0  # seconds without any worker: a new one may be on its way
GLANCE = 0.5  # seconds between looks at the workers
NAP = 0.01  # seconds between looks at the tasks
WORKER_SHARE = 0.5  # of the memory of workers that rows may take


class TaskRunner:
    """Who does the work: the workers of a client, or this process.

    Parameters
    ----------
    client : distributed.Client, optional
        If not given, the one that Dask would use at the time.
    """

    def __init__(self, client: Any = None) -> None:
        self.given = client
        self._settled: list[Any] = []  # the client, once it is decided

    def settle(self) -> None:
        """Decide who it is; until `part`, nobody else takes over."""
        self._settled = [self._found()]

    def part(self) -> None:
        """End it; who comes next may be others."""
        self._settled = []

    @property
    def client(self) -> Any | None:
        """The client, or None if Dask works in this process."""
        client = self._settled[0] if self._settled else self._found()
        if client is not None and client.status != "running":
            raise _lost(client.status)
        return client

    def _found(self) -> Any | None:
        if self.given is not None:
            return self.given
        import dask.config

        if dask.config.get("scheduler", None) not in (None, "dask.distributed"):
            return None
        try:
            import distributed

            return distributed.default_client()
        except (ImportError, ValueError):  # not installed; none there
            return None

    def kept(self, array: Any) -> Any:
        """An array whose blocks are kept once they are made, if there is room."""
        client, size = self.client, array.nbytes
        if client is None:
            available = available_memory()
            fits = available is not None and size <= SHARE * available
            return array.persist() if fits else array
        room = sum(worker["memory_limit"] or 0 for worker in _workers(client).values())
        return client.persist(array) if size <= WORKER_SHARE * room else array

    def completed(
        self,
        tasks: Sequence[Any],
        stay: int = 0,
        title: str = "",
        rows: Sequence[int] = (),
    ) -> Iterator[tuple[int, Any]]:
        """Yield (number, result) of tasks as they are done.

        Parameters
        ----------
        tasks : sequence of Delayed
        stay : int
            Of the first tasks so many stay where they were done; of workers a future
            is given instead of the result.
        title : str
            What the pass is for, if it is one.
        rows : sequence of int
            That each of the first tasks goes over.
        """
        client = self.client
        with passing(title, sum(rows)) if title else SILENT as advance:
            if client is None:
                yield from enumerate(_done_here(tasks, rows, advance))
                return
            for number, found in _from_workers(client, tasks, stay):
                if number < len(rows):
                    advance(rows[number])
                yield number, found


def _workers(client: Any) -> dict[str, Any]:
    """What is known of all workers; some versions tell of five unless asked for all."""
    all_of_them = "n_workers" in inspect.signature(client.scheduler_info).parameters
    info = client.scheduler_info(**({"n_workers": -1} if all_of_them else {}))
    return info.get("workers", {})


def _done_here(tasks: Sequence[Any], rows: Sequence[int], advance: Advance) -> Any:
    from dask.base import compute
    from dask.callbacks import Callback

    left = {task.key: n for task, n in zip(tasks, rows, strict=False)}
    with Callback(posttask=lambda key, *_: advance(left.pop(key, 0))):
        return compute(*tasks)


def _from_workers(
    client: Any, tasks: Sequence[Any], stay: int
) -> Iterator[tuple[int, Any]]:
    from distributed import as_completed

    futures = client.compute(list(tasks))
    numbers = {future: number for number, future in enumerate(futures)}
    guard = WorkerMonitor(client)
    coming = as_completed(futures, loop=client.loop)
    del futures
    try:
        while numbers:
            batch = coming.next_batch(block=False)
            if not batch:
                guard.look()
                time.sleep(NAP)
                continue
            guard.seen = time.monotonic()
            done = []
            for future in batch:
                status = future.status
                if status in ("error", "cancelled"):
                    raise guard.told(future)
                if status == "finished":
                    done.append(future)
                else:  # it was done, but by a worker that died since: it is done again
                    coming.add(future)
            there = [future for future in done if numbers[future] < stay]
            here = [future for future in done if numbers[future] >= stay]
            found = guard.gathered(here)
            # What is let go of makes room on its worker.
            yield from [(numbers.pop(future), future) for future in there]
            yield from zip([numbers.pop(future) for future in here], found, strict=True)
    finally:
        if numbers:  # an error, or Ctrl-C: nobody needs the rest
            with suppress(Exception):  # the scheduler may be what failed
                client.cancel(list(numbers), force=True)


class WorkerMonitor:
    """Watches the workers, and says in words what became of them."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.most = len(client.nthreads())  # workers seen at once
        self.seen = self.looked = time.monotonic()

    def look(self) -> None:
        """Give up if there has been no worker for long."""
        now = time.monotonic()
        if now - self.looked < GLANCE:
            return
        self.looked = now
        try:
            workers = len(self.client.nthreads())
        except OSError as error:  # time is up, or the line is closed
            raise _lost(error) from error
        self.most = max(self.most, workers)
        if workers:
            self.seen = now
        elif now - self.seen > PATIENCE:
            had = f"there were {self.most}" if self.most else "there never was one"
            raise SourceError(
                f"No Dask worker is left ({had}, and none came for {PATIENCE:g} s), so "
                "that nothing can be computed. Start workers for the scheduler "
                f"{self.client.scheduler.address} and fit again; if they died of lack "
                "of memory, give them more, or smaller chunks of rows."
            )

    def gathered(self, futures: Sequence[Any]) -> list[Any]:
        """Results of tasks that are done, if those who have them live long enough."""
        if not futures:
            return []
        answer = asyncio.run_coroutine_threadsafe(
            self.client.gather(futures, asynchronous=True),
            self.client.loop.asyncio_loop,
        )
        try:
            while not wait([answer], timeout=GLANCE).done:
                self.look()
            return answer.result()
        except (CancelledError, OSError) as error:
            raise _lost(error) from error
        finally:
            answer.cancel()

    def told(self, future: Any) -> BaseException:
        """What became of a task that failed."""
        from distributed import KilledWorker

        if future.status != "error" and self.client.status != "running":
            return _lost(self.client.status)
        if future.status != "error":
            return SourceError(
                f"A part of the fit is {future.status}: the cluster was restarted, or "
                "somebody who uses it, too, cancelled it. Fit again."
            )
        error = future.exception()
        if not isinstance(error, KilledWorker):
            return error.with_traceback(future.traceback())
        return SourceError(
            f"The workers of Dask that were given a part of the rows died "
            f"{error.allowed_failures + 1} times, the last one at "
            f"{error.last_worker.address}: most likely of lack of memory. Give them "
            "more, or smaller chunks of rows."
        )


def _lost(what: Any) -> SourceError:
    return SourceError(
        f"The connection to the Dask scheduler is lost ({what or 'closed'}): it was "
        "shut down or cannot be reached. Connect a new Client and fit again."
    )
