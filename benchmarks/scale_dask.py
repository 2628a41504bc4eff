"""Measure fits with Dask worker processes, some of which are killed, for `scale.py`."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from distributed import Client, KilledWorker, LocalCluster

from costs import PASSES, Costs, Parts, measure
from sheet import CONSOLE, Sheet
from trueaxis import DSWL
from trueaxis.data import dask as dask_jobs
from trueaxis.data.dask import dask_rows
from trueaxis.data.rows import Kernel

WORKERS = 2
BLOCKS = 2048  # of whole rows, on a cluster
SLOW_READING = 1 / 200e6  # seconds per byte: a store with 200 MB/s per worker


@contextmanager
def cluster(workers: int = WORKERS) -> Iterator[Any]:
    """Yield a client of new worker processes with one thread each."""
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as local,
        Client(local) as client,
    ):
        yield client


class Nothing(Kernel):
    """A pass that does nothing, so that only the overhead of Dask is measured."""

    n_fields = 1
    field_type = bool

    def start(self) -> float:
        """Return an empty state."""
        return 0.0

    def absorb(self, state: float, block: np.ndarray, first: int) -> np.ndarray:
        """Return a field of zeros."""
        return np.zeros((1, len(block)), dtype=bool)

    def merge(self, state: float, other: float) -> float:
        """Merge two empty states."""
        return state + other


def seconds_per_block(blocks: int = 256) -> float:
    """Return the seconds that Dask takes to schedule the work on a block."""
    rows = dask_rows(da.zeros((blocks, 1), chunks=(1, 1)))
    with rows:
        rows.scan(Nothing())
        begin = time.perf_counter()
        rows.scan(Nothing())
        return (time.perf_counter() - begin) / blocks


def usage(client: Any) -> dict[str, float]:
    """Return CPU seconds of all processes, bytes sent by workers, and their memory."""

    def of_worker(dask_worker: Any) -> tuple[float, int, int, int]:
        status = Path("/proc/self/status").read_text().splitlines()
        size = {
            line.split(":")[0]: 1024 * int(line.split()[1])
            for line in status
            if line.startswith(("VmHWM", "VmRSS"))
        }
        sent = dask_worker.transfer_outgoing_bytes_total
        return time.process_time(), sent, size["VmHWM"], size["VmRSS"]

    found = list(client.run(of_worker).values())
    return {
        "cpu": sum(one[0] for one in found) + time.process_time(),
        "sent": sum(one[1] for one in found),
        "most": max(one[2] for one in found),
        "now": min(one[3] for one in found),
    }


def parts_of_workers(client: Any, path: Path, k: int) -> Parts:
    """Return the mean cost of each part while all workers are busy."""
    found = [vars(one) for one in client.run(measure, str(path), k).values()]
    mean = {name: sum(one[name] for one in found) / len(found) for name in found[0]}
    return Parts(**(mean | {"task": seconds_per_block()}))


def stored_blocks(path: Path) -> Any:
    """Return a .npy file as a Dask array whose blocks of 64 MB the workers read."""
    stored = np.load(path, mmap_mode="r")
    n, D = stored.shape
    rows = (1 << 26) // (D * stored.itemsize)

    def read(first: int) -> np.ndarray:
        return np.array(np.load(path, mmap_mode="r")[first : first + rows])

    parts = [
        da.from_delayed(
            delayed(read)(first), (min(rows, n - first), D), dtype=stored.dtype
        )
        for first in range(0, n, rows)
    ]
    return da.concatenate(parts)


def large_fit(path: Path, some: Path, k: int) -> dict[str, Any]:
    """Fit a file with workers, and measure the fit."""
    warm = np.random.default_rng(0).standard_normal((20_000, 10))
    with cluster() as client:
        # Workers load libraries during their first fit, which is not to be measured.
        DSWL(k).fit(da.from_array(warm, chunks=(5_000, -1)))
        rows = dask_rows(stored_blocks(path))
        before, wall = usage(client), time.perf_counter()
        DSWL(k).fit(rows)
        wall = time.perf_counter() - wall
        after = usage(client)
        parts = parts_of_workers(client, some, k)
    return {
        "rows": rows.shape[0],
        "block_rows": rows.array.chunks[0][0],
        "blocks": len(rows.array.chunks[0]),
        "wall": wall,
        "cpu": after["cpu"] - before["cpu"],
        "sent": after["sent"] - before["sent"],
        "memory": after["most"] - before["now"],
        "parts": parts,
    }


def predictions(
    found: dict[str, dict], dask: dict[str, Any], parts: Parts, D: int
) -> None:
    """Compare the cost model with the measurements."""
    sheet = Sheet(
        "6. Cost model", "fit", "quantity", "predicted", "measured", "ratio", "verdict"
    )

    def line(fit: str, what: str, predicted: float, measured: float) -> None:
        ratio = predicted / measured
        good = 1 / 1.3 <= ratio <= 1.3
        sheet.add(
            fit, what, f"{predicted:.3g}", f"{measured:.3g}", f"{ratio:.2f}",
            "ok" if good else "beyond",
        )  # fmt: skip

    for name in ("tenth in memory", "tenth, memmap", "memmap"):
        costs = Costs(found[name]["rows"], D, parts)
        predicted = costs.seconds(in_memory="memory" in name)
        line(name, "seconds", predicted, found[name]["wall"])
    # The client computes the start; the workers do the rest.
    timed = Parts(**(vars(dask["parts"]) | {"start": parts.start}))
    costs = Costs(dask["rows"], D, timed, WORKERS, dask["block_rows"])
    fit = f"Dask, {WORKERS} workers"
    line(fit, "seconds", costs.seconds(), dask["wall"])
    line(fit, "MB sent", costs.bytes_sent() / 1e6, dask["sent"] / 1e6)
    line(fit, "MB per worker", costs.bytes_held() / 1e6, dask["memory"] / 1e6)
    sheet.show()


def verdicts(found: dict[str, dict], dask: dict[str, Any]) -> None:
    """Compare the CPU time of a fit by workers with that of one process."""
    sheet = Sheet(
        "4. Dask, 2 worker processes", "quantity", "measured", "limit", "verdict"
    )
    ratio = dask["cpu"] / found[".npy"]["cpu"]
    verdict = "ok" if ratio <= 2 else "beyond"
    sheet.add("CPU of the fit over that of one process", f"{ratio:.2f}", "2", verdict)
    sheet.show()


def extrapolated(parts: Parts, D: int, n: int = 10**9) -> None:
    """Predict the cost of 1e9 rows on clusters of cores like this one."""
    sheet = Sheet(
        f"6. {n:,} x {D} ({n * D * 8 / 1e9:.0f} GB) on workers like this core",
        "workers", "MB per block", "blocks", "seconds", "seconds from a store",
        "of which Dask", "GB sent", "GB per worker",
    )  # fmt: skip
    slow = Parts(**(vars(parts) | {"reading": SLOW_READING}))
    rows = n // BLOCKS
    for workers in (10, 100, 1000):
        costs, from_store = (
            Costs(n, D, given, workers, rows) for given in (parts, slow)
        )
        sheet.add(
            workers, f"{rows * D * 8 / 1e6:.0f}", f"{costs.blocks:,}",
            f"{costs.seconds():.0f}", f"{from_store.seconds():.0f}",
            f"{PASSES * costs.blocks * parts.task:.0f}",
            f"{costs.bytes_sent() / 1e9:.2f}", f"{costs.bytes_held() / 1e9:.2f}",
        )  # fmt: skip
    sheet.show()


# ---------------------------------------------------------------- workers that die


def _deadly(X: np.ndarray, rows: int, folder: str, when: range) -> Any:
    def kill(block: np.ndarray, block_id: Any = None) -> np.ndarray:
        if block_id[0] == 1:
            with open(os.path.join(folder, "count"), "a") as file:
                file.write("x")
                file.flush()
                if file.tell() in when:
                    os.kill(os.getpid(), signal.SIGKILL)
        return block

    lazy = da.from_array(X, chunks=(rows, -1))
    return lazy.map_blocks(kill, dtype=X.dtype, meta=np.empty((0, 0)))


def killed(X: np.ndarray, k: int) -> None:
    """Kill workers during a fit, and remove or truncate its file between passes."""
    sheet = Sheet("4. Dying workers, changing files", "event", "result", "verdict")
    dask_jobs.WORKER_SHARE = 0.0  # so that every pass reads the rows again
    with cluster(), tempfile.TemporaryDirectory() as folder:
        expected = DSWL(k).fit(da.from_array(X, chunks=(2_000, -1)))
        for when in (1, 2, 3):
            part = Path(folder, str(when))
            part.mkdir()
            lazy = _deadly(X, 2_000, str(part), range(when, when + 1))
            model = DSWL(k).fit(lazy)
            same = all(
                np.array_equal(np.asarray(getattr(model, a)), np.asarray(b))
                for a, b in vars(expected).items()
                if isinstance(b, np.ndarray | da.Array)
            )
            sheet.add(
                f"one worker killed in read {when} of 3",
                "bitwise identical" if same else "different model",
                "ok" if same else "beyond",
            )
        expected.weights_ = expected.support_ = None
    with cluster(), tempfile.TemporaryDirectory() as folder:
        lazy = _deadly(X, 2_000, folder, range(1, 999))
        _expect_error(sheet, "every worker killed", lambda: DSWL(k).fit(lazy))
    sheet.show()


def _expect_error(sheet: Sheet, what: str, fit: Any) -> None:
    before = set(os.listdir(tempfile.gettempdir()))
    try:
        fit()
    except KilledWorker as error:
        left = {
            name
            for name in set(os.listdir(tempfile.gettempdir())) - before
            if name.startswith("trueaxis")
        }
        good = "ok" if not left else f"left {left}"
        sheet.add(what, str(error), good)
    else:
        sheet.add(what, "no error was raised", "beyond")


def show_sizes(dask: dict[str, Any]) -> None:
    """Print the measurements."""
    CONSOLE.print(
        f"   Dask: {dask['blocks']} blocks, wall {dask['wall']:.1f} s, CPU "
        f"{dask['cpu']:.1f} s, sent {dask['sent'] / 1e6:.1f} MB, memory of a worker "
        f"{dask['memory'] / 1e6:.0f} MB, {1e3 * dask['parts'].task:.1f} ms per block",
        highlight=False,
    )
