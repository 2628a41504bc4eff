"""Measure how the CPU time of a default fit grows with rows, columns and components.

One BLAS thread, beside scikit-learn's PCA, ROBPCA of the R package rrcov (if installed,
and up to the sizes at which it takes seconds), the order of ROBPCA's published steps,
and the limit, reading every cell once. Prints times and log-log slopes, and draws them.

    python benchmarks/growth.py [--repeat 7] [--picture docs/images/growth.png]
                                [--times FILE]

With --times, what was measured is kept in a file, and not measured again if it exists.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from growth_picture import SWEEPS, Sweep, Times, draw, slope
from robpca import available
from sheet import Sheet
from speed import data
from trueaxis import DSWL

ENOUGH = 5.0  # seconds: no more repetitions after that
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "growth.png"
METHODS = ("DSWL", "PCA", "ROBPCA", "limit")

ROBPCA = """
suppressMessages(library(rrcov))
args <- commandArgs(TRUE)
n <- as.integer(args[2]); D <- as.integer(args[3]); k <- as.integer(args[4])
X <- matrix(readBin(args[1], "double", n * D, endian = "little"), n, D)
best <- Inf
for (i in seq_len(as.integer(args[5]))) {
  start <- proc.time()
  fit <- PcaHubert(X, k = k, kmax = max(k, 10), mcd = FALSE)
  best <- min(best, sum((proc.time() - start)[1:2]))
  if (best > 3) break
}
cat(best, "\\n")
"""


def rows(n: int, D: int, k: int) -> np.ndarray:
    """Return the rows of a size, a fifth of them outliers, in random order."""
    X = data(n, D, k)
    np.random.default_rng(1).shuffle(X)
    return X


def least(functions: list[Callable[[], object]], repeat: int) -> list[float]:
    """Return the least CPU time of each; they take turns."""
    best = [np.inf] * len(functions)
    begin = time.process_time()
    for _ in range(repeat):
        for i, function in enumerate(functions):
            start = time.process_time()
            function()
            best[i] = min(best[i], time.process_time() - start)
        if time.process_time() - begin > ENOUGH:
            break
    return best


def robpca(X: np.ndarray, k: int, repeat: int) -> float:
    """Return the least CPU time of rrcov's PcaHubert."""
    with tempfile.TemporaryDirectory() as name:
        table, script = Path(name) / "table", Path(name) / "robpca.R"
        np.asarray(X, dtype="<f8").T.tofile(table)
        script.write_text(ROBPCA)
        shape = [str(number) for number in (*X.shape, k, repeat)]
        command = ["Rscript", "--vanilla", script, table, *shape]
        threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        out = subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | threads,
        )
    return float(out.stdout.split()[-1])


def measure(sweep: Sweep, repeat: int) -> Times:
    """Return the seconds of every method by size, nan where it was not run."""
    found: Times = {name: [] for name in METHODS}
    for n, D, k in sweep.sizes:
        X = rows(n, D, k)
        solver = "covariance_eigh" if n >= D else "full"
        functions: list[Callable[[], object]] = [
            lambda X=X, k=k: DSWL(k).fit(X),
            lambda X=X, k=k, solver=solver: PCA(k, svd_solver=solver).fit(X),
            X.sum,
        ]
        dswl, plain, limit = least(functions, repeat)
        peer = np.nan
        if available() and (n, D, k)[sweep.axis] <= sweep.robpca_until:
            peer = robpca(X, k, min(repeat, 3))
        for name, value in zip(METHODS, (dswl, plain, peer, limit), strict=True):
            found[name].append(value)
        print(f"{n:,} x {D}, k={k}: {dswl:.4f} s, PCA {plain:.4f} s", flush=True)
    return found


def seconds(value: float) -> str:
    """Write seconds with two digits."""
    if np.isnan(value):
        return ""
    digits = max(0, 1 - int(np.floor(np.log10(value))))
    return f"{value:.{digits}f}"


def show_times(sweep: Sweep, times: Times) -> None:
    """Print the seconds of all sizes."""
    table = Sheet(
        f"CPU seconds of a fit by {sweep.name} ({sweep.fixed})",
        sweep.symbol,
        "DSWL",
        "PCA",
        "DSWL / PCA",
        "ROBPCA (rrcov)",
        "every cell read once",
    )
    for i, value in enumerate(sweep.grows()):
        dswl, plain, peer, limit = (times[name][i] for name in METHODS)
        cells = (seconds(dswl), seconds(plain), f"{dswl / plain:.1f}")
        table.add(f"{value:,.0f}", *cells, seconds(peer), seconds(limit))
    table.show()


def show_slopes(measured: dict[str, Times]) -> None:
    """Print the log-log slopes of all segments."""
    table = Sheet(
        "Log-log slopes of the CPU time",
        "growing",
        "from",
        "to",
        "DSWL",
        "PCA",
        "ROBPCA (rrcov)",
        "ROBPCA's order",
        "every cell read once",
    )
    for sweep in SWEEPS:
        times = measured[sweep.name] | {"order": sweep.robpca_order()}
        for low, high in sweep.segments:
            found = [
                slope(sweep.grows(), times[name], low, high)
                for name in ("DSWL", "PCA", "ROBPCA", "order", "limit")
            ]
            cells = ["" if np.isnan(value) else f"{value:.2f}" for value in found]
            name = f"{sweep.symbol} ({sweep.fixed})"
            table.add(name, f"{low:,}", f"{high:,}", *cells)
    table.show()


def main() -> None:
    """Measure, or read what was measured; print and draw it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--picture", type=Path, default=PICTURE)
    parser.add_argument("--times", type=Path)
    args = parser.parse_args()
    if args.times is not None and args.times.exists():
        measured = json.loads(args.times.read_text())
    else:
        with threadpool_limits(1):
            DSWL(2).fit(rows(5000, 10, 2))  # import everything
            measured = {sweep.name: measure(sweep, args.repeat) for sweep in SWEEPS}
    if args.times is not None:
        args.times.write_text(json.dumps(measured))
    for sweep in SWEEPS:
        show_times(sweep, measured[sweep.name])
    show_slopes(measured)
    draw(measured, args.picture)


if __name__ == "__main__":
    main()
