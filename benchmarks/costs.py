"""Model the cost of a fit, from measurements on one core of this machine.

`measure` times the parts of a fit; `Costs` adds them up for any size and number of
workers. `scale.py` compares the model with whole fits; docs/scaling.md explains it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from trueaxis import DSWL, open_rows
from trueaxis.core.starts import SAMPLE_ROWS
from trueaxis.core.verdicts import ReweightKernel, SupportKernel
from trueaxis.data.rows import ArrayRows, Changes, Kernel
from trueaxis.data.transformed import refuse_nonfinite

FLOAT = 8
PASSES = 2  # over all rows: weights and subspace, then verdicts
GROUPS = 3  # of rows whose sums of squares a pass keeps separate
SOME_ROWS = 1_000_000  # used to time the parts
KEPT_PER_ROW = FLOAT + 1  # weight and verdict
WORKER_BYTES = 35e6  # blocks of 1 MB, buffers, libraries loaded during the fit


@dataclass(frozen=True)
class Parts:
    """Seconds that the parts of a fit take on one core.

    Attributes
    ----------
    start : float
        All work on the sample.
    check, sums, verdicts : float
        Per row: checking that it is finite, and the two passes.
    reading : float
        Per byte read from a file.
    task : float
        Scheduling by Dask, per block and pass.
    """

    start: float
    check: float
    sums: float
    verdicts: float
    reading: float
    task: float = 0.0


@contextmanager
def timed_passes() -> Iterator[list[float]]:
    """Record how long the passes for weights and for verdicts take."""
    found: list[float] = []
    scan = ArrayRows.scan

    def timed(self: ArrayRows, kernel: Kernel, changes: Changes = ()) -> tuple:
        begin = time.perf_counter()
        answer = scan(self, kernel, changes)
        if isinstance(kernel, ReweightKernel | SupportKernel):
            found.append(time.perf_counter() - begin)
        return answer

    ArrayRows.scan = timed  # type: ignore[method-assign]
    try:
        yield found
    finally:
        ArrayRows.scan = scan  # type: ignore[method-assign]


def measure(path: str, k: int, rows: int = SOME_ROWS) -> Parts:
    """Time the parts on the first rows of a .npy file, in memory and from the file."""
    X = np.array(np.load(path, mmap_mode="r")[:rows])
    begin = time.perf_counter()
    with timed_passes() as found:
        DSWL(k).fit(X)
    whole = time.perf_counter() - begin
    begin = time.perf_counter()
    for _ in open_rows(path).blocks():
        pass
    reading = (time.perf_counter() - begin) / X.nbytes
    begin = time.perf_counter()
    refuse_nonfinite(ArrayRows(X), None)
    found.insert(0, time.perf_counter() - begin)
    return Parts(whole - sum(found), *(part / len(X) for part in found), reading)


@dataclass(frozen=True)
class Costs:
    """Costs of a default DSWL fit to n x D.

    Attributes
    ----------
    n, D : int
        Number of rows and columns.
    parts : Parts
        Measured for the same D and k.
    workers : int
        Number of workers; 1 for a fit without Dask.
    block_rows : int
        Rows per Dask block; 0 for a fit without Dask.
    """

    n: int
    D: int
    parts: Parts
    workers: int = 1
    block_rows: int = 0

    @property
    def blocks(self) -> int:
        """Number of Dask blocks."""
        return math.ceil(self.n / self.block_rows) if self.block_rows else 0

    def bytes_read(self) -> float:
        """Return the bytes that all workers together read from files."""
        return PASSES * self.n * self.D * FLOAT

    def seconds(self, *, in_memory: bool = False) -> float:
        """Return the seconds from start to end."""
        p = self.parts
        work = self.n * (p.check + p.sums + p.verdicts)
        if not in_memory:
            work += self.bytes_read() * p.reading
        return p.start + work / self.workers + PASSES * self.blocks * p.task

    def bytes_sent(self) -> float:
        """Return the bytes sent over the network, to other workers and to the client.

        Neighboring blocks are usually read by the same worker, which merges their sums
        before they are merged with those of other workers.
        """
        sums = GROUPS * FLOAT * self.D**2
        sample = max(SAMPLE_ROWS, 4 * self.D) * self.D * FLOAT
        return sums * min(2 * self.workers + 1, self.blocks + 1) + sample

    def bytes_held(self) -> float:
        """Return the bytes held by a worker, in addition to its interpreter."""
        return WORKER_BYTES + KEPT_PER_ROW * self.n / self.workers
