"""A model of what a fit costs, from what one core of this machine does.

`measure` times the parts; `Costs` adds them up for any size and number of workers.
`scale.py` compares it with whole fits; docs/scaling.md explains it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trueaxis import DSWL, open_rows
from trueaxis.dask_rows import FAN
from trueaxis.engine.sample import SAMPLE_ROWS
from trueaxis.rows import ArrayRows, Kernel

FLOAT = 8
PASSES = 2  # over all rows: weights and subspace, verdicts
GROUPS = 3  # of rows, whose sums of squares a pass keeps apart
KEPT_PER_ROW = FLOAT + 1  # weight and verdict
WORKER_BYTES = 40e6  # blocks of 1 MB, buffers, libraries that are loaded on the way


@dataclass(frozen=True)
class Parts:
    """Seconds that parts of a fit take on one core.

    Attributes
    ----------
    start : float
        All that is done on the sample.
    sums, verdicts : float
        Per row of the two passes.
    reading : float
        Per byte of a file.
    task : float
        Per block and pass that Dask has to arrange.
    """

    start: float
    sums: float
    verdicts: float
    reading: float
    task: float = 0.0


@contextmanager
def timed_passes() -> Iterator[list[float]]:
    """Note how long each pass over all rows in memory takes."""
    found: list[float] = []
    scan = ArrayRows.scan_there

    def timed(self: ArrayRows, kernel: Kernel) -> tuple:
        begin = time.perf_counter()
        answer = scan(self, kernel)
        found.append(time.perf_counter() - begin)
        return answer

    ArrayRows.scan_there = timed  # type: ignore[method-assign]
    try:
        yield found
    finally:
        ArrayRows.scan_there = scan  # type: ignore[method-assign]


def measure(X: np.ndarray, k: int, path: Path, task: float = 0.0) -> Parts:
    """Time the parts on some rows in memory, and on the file that has them."""
    best: Parts | None = None
    for _ in range(3):
        begin = time.perf_counter()
        with timed_passes() as (found):
            DSWL(k).fit(X)
        whole = time.perf_counter() - begin
        begin = time.perf_counter()
        for _ in open_rows(path).blocks():
            pass
        read = (time.perf_counter() - begin) / X.nbytes
        now = Parts(
            whole - sum(found), found[0] / len(X), found[1] / len(X), read, task
        )
        if best is None or now.sums + now.verdicts < best.sums + best.verdicts:
            best = now
    assert best is not None
    return best


@dataclass(frozen=True)
class Costs:
    """What a default DSWL fit of n x D costs.

    Attributes
    ----------
    n, D : int
    parts : Parts
        Of this D and k.
    workers : int
        1 for a fit without Dask.
    block_rows : int
        In a block of Dask.
    kept : bool
        Whether the workers keep the blocks, so that they read them once.
    """

    n: int
    D: int
    parts: Parts
    workers: int = 1
    block_rows: int = 0
    kept: bool = False

    @property
    def blocks(self) -> int:
        """Number of blocks of Dask."""
        return math.ceil(self.n / self.block_rows) if self.block_rows else 0

    def bytes_read(self) -> float:
        """From files, by all together."""
        return (1 if self.kept else PASSES) * self.n * self.D * FLOAT

    def seconds(self, *, in_memory: bool = False) -> float:
        """From beginning to end."""
        p = self.parts
        work = self.n * (p.sums + p.verdicts)
        if not in_memory:
            work += self.bytes_read() * p.reading
        return p.start + work / self.workers + PASSES * self.blocks * p.task

    def bytes_sent(self) -> float:
        """Over the network, to workers that merge and to the client."""
        sums = GROUPS * FLOAT * self.D**2
        # Of the sums that are merged at a time, those of other workers travel.
        away = 1 - 1 / min(self.workers, FAN)
        merged = sum(self.blocks / FAN**level for level in range(8))
        sample = max(SAMPLE_ROWS, 4 * self.D) * self.D * FLOAT
        return sums * (merged * away + 1) + sample

    def bytes_held(self) -> float:
        """By a worker, beyond its interpreter."""
        held = WORKER_BYTES + KEPT_PER_ROW * self.n / self.workers
        if self.kept:
            block = self.block_rows * self.D * FLOAT
            held += block + self.n / self.workers * self.D * FLOAT
        return held
