"""Wall time of fits with one thread and with two, on rows in memory and in files.

Runs with one and with two threads alternate, and the best of each counts. Threads only
gain on cores that are idle: the load average is printed, and the CPU time next to the
wall time. `--gigabytes 8` measures the memory map of the requirement.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from scale import D, write_npy, write_parquet
from sheet import CONSOLE, Sheet
from trueaxis import DSWL

K = 3
LIMIT = 0.62  # of the wall time of one thread
THREADS = (1, 2)

Timing = tuple[float, float]  # wall and CPU seconds


def timed(work: Callable[[], object], threads: int) -> Timing:
    cpu, wall = time.process_time(), time.perf_counter()
    with threadpool_limits(threads, user_api="blas"):
        work()
    return time.perf_counter() - wall, time.process_time() - cpu


def compared(work: Callable[[], object], repeat: int) -> dict[int, Timing]:
    """Return the best run with each number of threads."""
    runs: dict[int, list[Timing]] = {n: [] for n in THREADS}
    for _ in range(repeat):
        for n in THREADS:
            runs[n].append(timed(work, n))
    return {n: min(found) for n, found in runs.items()}


def bits(model: DSWL) -> bytes:
    fitted = (model.components_, model.mean_, model.weights_, model.support_)
    return b"".join(array.tobytes() for array in fitted)


def same_bits(source: object) -> bool:
    """Return whether both numbers of threads give the same model, to the last bit."""
    models = []
    for n in THREADS:
        with threadpool_limits(n, user_api="blas"):
            models.append(bits(DSWL(K).fit(source)))
    return len(set(models)) == 1


def load() -> str:
    return " ".join(f"{average:.2f}" for average in os.getloadavg())


def measure(folder: Path, n: int, gigabytes: float, repeat: int) -> None:
    n_mapped = int(gigabytes * 1e9 / (8 * D))
    write_npy(folder / "memory.npy", n)
    write_npy(folder / "map.npy", n_mapped)
    write_parquet(folder / "parquet", n)
    os.sync()  # writing the files in the background would take a core
    X = np.load(folder / "memory.npy")
    mapped, parquet = np.load(folder / "map.npy", mmap_mode="r"), folder / "parquet"
    model = DSWL(K).fit(X)
    works = {
        "fit, in memory": (n, LIMIT, lambda: DSWL(K).fit(X)),
        "fit, memory map": (n_mapped, LIMIT, lambda: DSWL(K).fit(mapped)),
        "fit, Parquet": (n, None, lambda: DSWL(K).fit(parquet)),
        "check and distances, in memory": (n, None, lambda: model.distances(X)),
        "distances, memory map": (n_mapped, None, lambda: model.distances(mapped)),
        "scores, in memory": (n, None, lambda: model.transform(X)),
    }
    before = load()
    sheet = Sheet(
        f"One thread and two, {D} columns, k={K}", "what", "rows", "1 thread, s",
        "2 threads, s", "ratio", "limit", "verdict", "CPU, s",
    )  # fmt: skip
    for name, (rows, limit, work) in works.items():
        found = compared(work, repeat)
        ratio = found[2][0] / found[1][0]
        verdict = "" if limit is None else "ok" if ratio <= limit else "beyond"
        sheet.add(
            name, f"{rows:,}", f"{found[1][0]:.3f}", f"{found[2][0]:.3f}",
            f"{ratio:.2f}", limit or "", verdict,
            f"{found[1][1]:.2f}, {found[2][1]:.2f}",
        )  # fmt: skip
    sheet.show()
    same = all(same_bits(source) for source in (X, mapped, parquet))
    CONSOLE.print(f"Same bits with both: {'yes (ok)' if same else 'no (beyond)'}")
    cores = os.cpu_count()
    CONSOLE.print(f"Load average {before} before, {load()} after, {cores} cores")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--folder", help="for temporary files (default: TMPDIR)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder, prefix="threads-") as scratch:
        measure(Path(scratch), args.rows, args.gigabytes, args.repeat)


if __name__ == "__main__":
    main()
