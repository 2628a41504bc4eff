"""Run ROBPCA, `PcaHubert(mcd = FALSE)` of the R package rrcov, on many tables at once.

One R session fits all tables of a call, as starting R and rrcov takes longer than most
fits. Without Rscript or rrcov, `available` is False.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

# alpha "default" is left out of the call: h then depends on kmax, unlike alpha = 0.75.
SCRIPT = """
suppressMessages(library(rrcov))
folder <- commandArgs(TRUE)[1]
jobs <- read.table(file.path(folder, "jobs"), colClasses = "character")
for (i in seq_len(nrow(jobs))) {
  job <- as.list(jobs[i, ])
  n <- as.integer(job[[2]]); D <- as.integer(job[[3]]); k <- as.integer(job[[4]])
  X <- readBin(file.path(folder, job[[1]]), "double", n * D, endian = "little")
  call <- list(matrix(X, n, D), k = k, kmax = max(k, 10), mcd = FALSE)
  if (job[[5]] != "default") call$alpha <- as.numeric(job[[5]])
  set.seed(as.integer(job[[6]]))
  start <- proc.time()[1]
  fit <- tryCatch(do.call(PcaHubert, call), error = function(e) NULL)
  if (is.null(fit)) next
  seconds <- proc.time()[1] - start
  P <- getLoadings(fit)
  od <- if (length(fit@od)) fit@od else rep(0, n)
  limit <- if (length(fit@cutoff.od)) fit@cutoff.od else 0
  out <- file(file.path(folder, paste0(job[[1]], ".out")), "wb")
  values <- c(ncol(P), fit@cutoff.sd, limit, seconds,
              as.vector(P), fit@sd, od, fit@flag)
  writeBin(as.double(values), out, endian = "little")
  close(out)
}
"""


class Job(NamedTuple):
    """A table, the number of components, alpha (None: default), and the seed of R."""

    X: np.ndarray
    k: int
    alpha: float | None = None
    seed: int = 0


class Fit(NamedTuple):
    """Axes, the larger ratio of a distance to its cut-off, flags, and CPU time."""

    components: np.ndarray
    score: np.ndarray
    flagged: np.ndarray
    seconds: float


@functools.cache
def available() -> bool:
    """Return whether Rscript and rrcov are installed."""
    if shutil.which("Rscript") is None:
        return False
    command = ["Rscript", "--vanilla", "-e", "library(rrcov)"]
    return subprocess.run(command, capture_output=True).returncode == 0


def robpca(jobs: Sequence[Job]) -> list[Fit | None]:
    """Fit every table, with fewer components where R fails; None if it always does.

    R fails where k is the rank of the table, but not that of its h innermost rows.
    """
    fits = session(jobs)
    failed = [i for i, fit in enumerate(fits) if fit is None and jobs[i].k > 1]
    if failed:
        fewer = robpca([jobs[i]._replace(k=jobs[i].k - 1) for i in failed])
        for i, fit in zip(failed, fewer, strict=True):
            fits[i] = fit
    return fits


def session(jobs: Sequence[Job]) -> list[Fit | None]:
    """Fit all tables in one R session; None where R fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = []
        for i, (X, k, alpha, seed) in enumerate(jobs):
            np.asarray(X, dtype="<f8").T.tofile(folder / f"{i}")
            lines.append(
                f"{i} {X.shape[0]} {X.shape[1]} {k} {alpha or 'default'} {seed}"
            )
        (folder / "jobs").write_text("\n".join(lines) + "\n")
        (folder / "script.R").write_text(SCRIPT)
        command = ["Rscript", "--vanilla", folder / "script.R", folder]
        subprocess.run(command, check=True, capture_output=True)
        outputs = (folder / f"{i}.out" for i in range(len(jobs)))
        return [
            parsed(np.fromfile(path, "<f8"), *job.X.shape) if path.exists() else None
            for path, job in zip(outputs, jobs, strict=True)
        ]


def parsed(values: np.ndarray, n: int, D: int) -> Fit:
    k, (sd_limit, od_limit, seconds) = int(values[0]), values[1:4]
    P, sd, od, regular = np.split(values[4:], np.cumsum([k * D, n, n]))
    score = sd / sd_limit
    if od_limit > 0:  # rrcov has 0 if k is the rank: no row is off the subspace
        score = np.maximum(score, od / od_limit)
    return Fit(P.reshape(k, D), score, regular == 0, float(seconds))
