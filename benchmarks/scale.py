"""Check time and memory of fits to data larger than memory, as ratios within one run.

    python benchmarks/scale.py [--rows 20000000] [--repeat 2] [--folder SCRATCH]

Needs about 13 bytes of disk space per cell in the folder (13 GB for 20,000,000 x 50),
which is freed at the end. Every fit is timed in a fresh process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pyarrow
import pyarrow.parquet as parquet

import scale_dask
from costs import Parts, measure
from sheet import CONSOLE, Sheet
from trueaxis import DSWL, open_rows
from trueaxis.methods import METHODS

D, K = 50, 5
CHUNK = 100_000
MEMORY_LIMIT = 1 << 30
# Unequal temperatures: with equal ones, weights do not depend on the components.
TEMPERATURES = (4e-4, 1e-4, 3e-4)


def chunks(n: int):
    """Yield low-rank rows with noise, a fifth of them outliers off the subspace."""
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((D, K + 1)))[0].T
    for first in range(0, n, CHUNK):
        m = min(CHUNK, n - first)
        X = (rng.standard_normal((m, K)) * np.linspace(3, 1.5, K)) @ axes[:K]
        X += 0.3 * rng.standard_normal((m, D))
        X[rng.random(m) < 0.2] += 20 * axes[K]
        yield X


def write_npy(path: Path, n: int) -> None:
    with open(path, "wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (n, D)}
        np.lib.format.write_array_header_1_0(file, header)
        for X in chunks(n):
            file.write(X.data)


def write_parquet(folder: Path, n: int, files: int = 8) -> None:
    """Write the same rows, in row groups of the default size of pyarrow."""
    folder.mkdir()
    names, pending, number = [f"x{i}" for i in range(D)], [], 0
    most = min(1 << 20, -(-n // files))
    held = 0
    for X in chunks(n):
        pending.append(X)
        held += len(X)
        if held >= most:
            number, pending, held = _part(folder, names, pending, number), [], 0
    if pending:
        _part(folder, names, pending, number)


def _part(folder: Path, names: list[str], pending: list, number: int) -> int:
    X = np.vstack(pending)
    table = pyarrow.table([np.ascontiguousarray(x) for x in X.T], names=names)
    parquet.write_table(table, folder / f"part-{number:03}.parquet")
    return number + 1


def high_water() -> int:
    """Return the peak resident memory of this process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    raise OSError("no VmHWM")


def child(kind: str, path: str, rows: int) -> None:
    """Fit once and print seconds and memory; runs in a separate process."""
    if kind == "parts":
        found = vars(measure(path, K))
        found["wall"] = found["sums"] + found["verdicts"]  # used to select the best run
        print(json.dumps(found))
        return
    if kind == "memory":
        source = np.array(np.load(path, mmap_mode="r")[:rows])
    elif kind == "memmap":
        source = np.load(path, mmap_mode="r")
    else:
        source = open_rows(path)
    model = METHODS["l2p-pca"](K) if kind == "iterating" else DSWL(K)
    before, wall, cpu = high_water(), time.perf_counter(), time.process_time()
    model.fit(source)
    found = {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "memory": high_water() - before,
        "rows": len(model.weights_),
    }
    print(json.dumps(found))


def measured(cases: dict[str, tuple[str, Path, int]], repeat: int) -> dict[str, dict]:
    """Return the best of several runs, interleaved so that load affects all alike."""
    best: dict[str, dict] = {}
    for _ in range(repeat):
        for name, (kind, path, rows) in cases.items():
            command = [sys.executable, __file__, "--child", kind, str(path), str(rows)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout)
            if name not in best or found["wall"] < best[name]["wall"]:
                best[name] = found
    return best


def same_model(folder: Path) -> None:
    """Check that every source gives the same model."""
    n = 30_000
    write_npy(folder / "small.npy", n)
    write_parquet(folder / "small", n, files=3)
    path, X = folder / "small.npy", np.load(folder / "small.npy")
    sheet = Sheet(
        "1. The same model from every source", "source", "options",
        "components differ by", "weights by", "limit", "verdict",
    )  # fmt: skip
    options = {
        "default": {},
        "unequal temperatures": {"tau": TEMPERATURES},
    }
    sources = {
        "memmap": np.load(path, mmap_mode="r"),
        ".npy": open_rows(path),
        "Parquet folder": open_rows(folder / "small"),
    }
    for size in (1000, 7777, n):
        sources[f".npy, blocks of {size:,}"] = open_rows(path, block_rows=size)
    with scale_dask.cluster():
        for size in (2500, 7777, n):
            name = f"Dask array, blocks of {size:,}"
            sources[name] = da.from_array(X, chunks=(size, -1))
        sources["Parquet folder, Dask"] = dd.read_parquet(folder / "small")
        for title, given in options.items():
            expected = DSWL(K, **given).fit(X)
            for name, source in sources.items():
                model = DSWL(K, **given).fit(source)
                axes = np.abs(model.components_ - expected.components_).max()
                apart = np.asarray(model.weights_) - expected.weights_
                weights = np.abs(apart).max()
                good = axes <= 1e-10 and weights <= 1e-8
                sheet.add(
                    name, title, f"{axes:.1e}", f"{weights:.1e}", "1e-10, 1e-8",
                    "ok" if good else "beyond",
                )  # fmt: skip
    sheet.show()
    scale_dask.killed(X[:20_000], K)


def large(folder: Path, n: int, repeat: int) -> None:
    """Measure memory, time per row and growth; compare Parquet with a memory map."""
    tenth = n // 10
    start = time.perf_counter()
    write_npy(folder / "all.npy", n)
    write_npy(folder / "tenth.npy", tenth)
    write_npy(folder / "quarter.npy", n // 4)
    write_parquet(folder / "quarter", n // 4)
    seconds = time.perf_counter() - start
    CONSOLE.print(f"{n:,} x {D} written, and a quarter as Parquet, in {seconds:.0f} s")
    cases = {
        "tenth in memory": ("memory", folder / "tenth.npy", tenth),
        "tenth, memmap": ("memmap", folder / "tenth.npy", tenth),
        "memmap": ("memmap", folder / "all.npy", n),
        ".npy": ("rows", folder / "all.npy", n),
        "quarter, memmap": ("memmap", folder / "quarter.npy", n // 4),
        "quarter, Parquet": ("rows", folder / "quarter", n // 4),
        "quarter, .npy, iterating": ("iterating", folder / "quarter.npy", n // 4),
        "quarter, Parquet, iterating": ("iterating", folder / "quarter", n // 4),
        "parts": ("parts", folder / "tenth.npy", tenth),
    }
    found = measured(cases, repeat)
    timed = found.pop("parts")
    timed.pop("wall")
    parts = Parts(**timed)
    sheet = Sheet(
        f"Fits to {n:,} x {D}, k={K}", "source", "rows", "wall, s", "CPU, s",
        "wall, us per row", "memory over the interpreter, MiB",
    )  # fmt: skip
    for name, one in found.items():
        sheet.add(
            name, f"{one['rows']:,}", f"{one['wall']:.2f}", f"{one['cpu']:.2f}",
            f"{1e6 * one['wall'] / one['rows']:.2f}", f"{one['memory'] / 2**20:.0f}",
        )  # fmt: skip
    sheet.show()
    verdicts(found)
    dask = scale_dask.large_fit(folder / "all.npy", folder / "tenth.npy", K)
    scale_dask.show_sizes(dask)
    scale_dask.verdicts(found, dask)
    CONSOLE.print(f"   {parts}\n   {dask['parts']}", highlight=False)
    scale_dask.predictions(found, dask, parts, D)
    some = np.array(np.load(folder / "tenth.npy", mmap_mode="r"))
    np.save(folder / "wide.npy", wider(some))
    wide = vars(measure(str(folder / "wide.npy"), K))
    wide["task"] = dask["parts"].task
    CONSOLE.print(f"   {Parts(**wide)}", highlight=False)
    scale_dask.extrapolated(Parts(**wide), 2 * D)


def wider(X: np.ndarray) -> np.ndarray:
    """Return half as many rows with twice as many columns."""
    half = len(X) // 2
    return np.hstack([X[:half], X[half : 2 * half]])


def verdicts(found: dict[str, dict]) -> None:
    """Check the required ratios."""
    whole, held = found["memmap"], found["tenth in memory"]
    sheet = Sheet("Requirements", "quantity", "measured", "limit", "verdict")

    def line(what: str, value: float, limit: float) -> None:
        verdict = "ok" if value <= limit else "beyond"
        sheet.add(what, f"{value:.2f}", f"{limit:g}", verdict)

    for name in ("memmap", ".npy", "quarter, Parquet", "quarter, Parquet, iterating"):
        memory = found[name]["memory"] / MEMORY_LIMIT
        line(f"2. Memory of the fit from {name}, GiB", memory, 1)
    for clock in ("wall", "cpu"):
        per_row = (whole[clock] / whole["rows"]) / (held[clock] / held["rows"])
        line(f"2. {clock} time per row, memmap over a tenth in memory", per_row, 1.5)
    small = found["tenth, memmap"]
    slope = np.log(whole["wall"] / small["wall"]) / np.log(
        whole["rows"] / small["rows"]
    )
    line("2. Growth with n: slope of log time over log n", float(slope), 1.1)
    for clock in ("wall", "cpu"):
        ratio = found["quarter, Parquet"][clock] / found["quarter, memmap"][clock]
        line(f"3. {clock} time, Parquet over memmap, a quarter of the rows", ratio, 1.5)
    for clock in ("wall", "cpu"):
        decoded = found["quarter, Parquet, iterating"][clock]
        ratio = decoded / found["quarter, .npy, iterating"][clock]
        line(f"3. {clock} time, the same with a method that iterates", ratio, 1.5)
    sheet.show()


def check_errors(folder: Path) -> None:
    """Check that errors locate bad cells and missing columns."""
    rng = np.random.default_rng(0)
    deep = folder / "deep"
    deep.mkdir()
    names = [f"x{i}" for i in range(D)]
    for number in range(4):
        X = rng.standard_normal((20_000, D))
        if number == 2:
            X[9_017, 3] = np.nan
        table = pyarrow.table(list(X.T.copy()), names=names)
        path = deep / f"part-{number}.parquet"
        parquet.write_table(table, path, row_group_size=4_500)
    CONSOLE.print("5. Errors locate what is wrong:")
    _show_error(deep, "part-2.parquet, row 9,017 (row 49,017 of all)")
    parquet.write_table(table.drop_columns(["x7"]), deep / "part-2.parquet")
    _show_error(deep, "part-2.parquet")


def _show_error(source: Path, expected: str) -> None:
    try:
        METHODS["pca"](K).fit(open_rows(source))  # DSWL takes missing cells
    except ValueError as error:
        verdict = "ok" if expected in str(error) else "beyond"
        CONSOLE.print(f"   {error} ({verdict})", highlight=False)
    else:
        CONSOLE.print("   no error was raised (beyond)")


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        kind, path, rows = sys.argv[2:]
        child(kind, path, int(rows))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--folder", help="for temporary files (default: TMPDIR)")
    args = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory(dir=args.folder, prefix="scale-") as scratch:
        folder = Path(scratch)
        same_model(folder)
        check_errors(folder)
        large(folder, args.rows, args.repeat)


if __name__ == "__main__":
    main()
