"""Compare DSWL with ROBPCA from the R package rrcov, which must be installed.

Both get the same tables and the true number of components, and otherwise use their
defaults. Angles are to the true subspace in degrees, medians over seeds.

    python benchmarks/peers.py [--seeds 10]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

from accuracy import TALL, angle
from sheet import Sheet
from trueaxis import DSWL
from trueaxis.datasets import planted

CASES = (("none", 0.0), ("pcs", 0.4), ("ocs", 0.25), ("ocs", 0.4), ("both", 0.1),
         ("both", 0.25), ("both", 0.4), ("scatter", 0.4), ("amp", 0.25))  # fmt: skip

# alpha = 0.5 is the most robust setting of ROBPCA, 0.75 its default.
ROBPCA = """
suppressMessages(library(rrcov))
args <- commandArgs(TRUE)
X <- as.matrix(read.csv(args[1], header = FALSE))
start <- proc.time()
fit <- PcaHubert(X, k = as.integer(args[2]), alpha = as.numeric(args[3]), mcd = FALSE)
cat((proc.time() - start)[1], "\\n")
write.table(t(getLoadings(fit)), args[4], row.names = FALSE, col.names = FALSE)
write.table(as.integer(fit@flag), args[5], row.names = FALSE, col.names = FALSE)
"""


def robpca(X: np.ndarray, k: int, alpha: float, folder: Path):
    """Return the components, regular rows and CPU time of rrcov's PcaHubert."""
    table, loadings, flags, script = (
        folder / name for name in ("X.csv", "loadings", "flags", "robpca.R")
    )
    np.savetxt(table, X, delimiter=",")
    script.write_text(ROBPCA)
    command = ["Rscript", script, table, str(k), str(alpha), loadings, flags]
    out = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds = float(out.stdout.split()[-1])
    return np.loadtxt(loadings, ndmin=2), np.loadtxt(flags) > 0, seconds


def plain(X: np.ndarray, k: int, rows: np.ndarray):
    """Return the components of PCA on some rows, these rows, and the CPU time."""
    start = time.process_time()
    model = PCA(k, svd_solver="full").fit(X[rows])
    return model.components_, rows, time.process_time() - start


def dswl(X: np.ndarray, k: int):
    """Return the components, regular rows and CPU time of DSWL."""
    start = time.process_time()
    model = DSWL(k).fit(X)
    return model.components_, model.support_, time.process_time() - start


def judged(kind: str, share: float, seed: int):
    """Return angle, percentage of clean rows flagged and CPU time of every method."""
    cloud = planted(kind, share=share, random_state=seed, **TALL)
    X, k, clean = cloud.X, TALL["n_components"], ~cloud.is_outlier
    with tempfile.TemporaryDirectory() as name:
        found = (
            plain(X, k, np.ones(len(X), dtype=bool)),
            plain(X, k, clean),
            dswl(X, k),
            robpca(X, k, 0.5, Path(name)),
            robpca(X, k, 0.75, Path(name)),
        )
    return [
        (angle(components, cloud.components), 100 * (~regular[clean]).mean(), seconds)
        for components, regular, seconds in found
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    args = parser.parse_args()
    if shutil.which("Rscript") is None:
        raise SystemExit("Rscript is not installed: install R and its package rrcov.")
    table = Sheet(
        f"500 x 20, k=3, {args.seeds} seeds: angle, clean rows flagged",
        "outliers",
        "PCA",
        "oracle",
        "DSWL",
        "ROBPCA 0.5",
        "ROBPCA 0.75",
        "CPU, ROBPCA / DSWL",
    )
    for kind, share in CASES:
        found = np.array([judged(kind, share, seed) for seed in range(args.seeds)])
        angles, flagged, seconds = np.median(found, axis=0).T
        wrong = (found[:, :, 0] > 10).sum(axis=0)
        cells = [f"{a:.1f}" for a in angles[:2]] + [
            f"{a:.1f}, {f:.0f} %" + (f" ({w} wrong)" if w else "")
            for a, f, w in zip(angles[2:], flagged[2:], wrong[2:], strict=True)
        ]
        table.add(f"{share:.0%} {kind}", *cells, f"{seconds[3] / seconds[2]:.1f}")
    table.show()


if __name__ == "__main__":
    main()
