"""Fit the robust PCA of R's rrcov as its users call it, and fetch R's textbook tables.

One R session fits all tables of a call. Needs Rscript with rrcov and robustbase.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

FUNCTIONS = ("PcaHubert", "PcaGrid", "PcaLocantore", "PcaProj", "PcaCov", "PcaClassic")
TABLES = """
library(robustbase)
folder <- commandArgs(TRUE)[1]
data(bus, package = "rrcov")
bus <- as.matrix(bus)[, -9]  # its median absolute deviation is 0
tables <- list(hbk = hbk[, 1:3], wood = wood[, 1:5], stackloss = stackloss,
               milk = milk, bus = sweep(bus, 2, apply(bus, 2, mad), "/"))
for (name in names(tables))
  write.table(format(as.matrix(tables[[name]]), digits = 17), file.path(folder, name),
              quote = FALSE, row.names = FALSE, col.names = FALSE)
"""
# The first fit of a session loads code: it is not timed.
FITS = """
suppressMessages(library(rrcov))
folder <- commandArgs(TRUE)[1]
jobs <- read.table(file.path(folder, "jobs"), colClasses = "character")
for (i in c(1, seq_len(nrow(jobs)))) {
  X <- as.matrix(read.table(file.path(folder, jobs[i, 1])))
  set.seed(0)
  start <- proc.time()
  fit <- get(jobs[i, 2])(X, k = as.integer(jobs[i, 3]))
  seconds <- sum((proc.time() - start)[1:2])
  out <- list(seconds, c(fit@cutoff.sd, fit@cutoff.od), getEigenvalues(fit), fit@center,
              as.vector(getLoadings(fit)), fit@sd, fit@od, as.integer(fit@flag))
  lines <- sapply(out, function(x) paste(format(x, digits = 17), collapse = " "))
  writeLines(lines, file.path(folder, paste0(i, ".out")))
}
"""
VERSIONS = """
cat(R.version.string)
for (name in c("rrcov", "robustbase"))
  cat(",", name, as.character(packageVersion(name)))
"""


class Job(NamedTuple):
    """A table, the function of rrcov, and the number of components."""

    X: np.ndarray
    function: str
    k: int


class Fit(NamedTuple):
    """What rrcov found, and how long it took (seconds of CPU)."""

    seconds: float
    cutoffs: np.ndarray
    variances: np.ndarray
    center: np.ndarray
    components: np.ndarray
    score: np.ndarray
    orthogonal: np.ndarray
    flagged: np.ndarray


def run(script: str, *arguments: object) -> str:
    """Run a script of R and return what it prints."""
    with tempfile.NamedTemporaryFile("w", suffix=".R") as file:
        file.write(script)
        file.flush()
        command = ["Rscript", "--vanilla", file.name, *map(str, arguments)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def versions() -> str:
    """Return the versions of R and its packages."""
    return run(VERSIONS)


def textbook() -> dict[str, np.ndarray]:
    """Return tables that come with R, robustbase and rrcov."""
    with tempfile.TemporaryDirectory() as folder:
        run(TABLES, folder)
        return {path.name: np.loadtxt(path) for path in Path(folder).iterdir()}


def fit(jobs: Sequence[Job]) -> list[Fit]:
    """Fit all tables in one session."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = []
        for i, job in enumerate(jobs):
            np.savetxt(folder / f"{i}.txt", job.X, fmt="%.17g")
            lines.append(f"{i}.txt {job.function} {job.k}\n")
        (folder / "jobs").write_text("".join(lines))
        run(FITS, folder)
        outputs = [folder / f"{i + 1}.out" for i in range(len(jobs))]
        return [
            parsed(path.read_text(), *job.X.shape)
            for path, job in zip(outputs, jobs, strict=True)
        ]


def parsed(text: str, n: int, D: int) -> Fit:
    """Return the arrays in the lines that the script wrote."""
    lines = [np.array(line.split(), dtype=float) for line in text.splitlines()]
    seconds, cutoffs, variances, center, loadings, score, orthogonal, regular = lines
    return Fit(
        float(seconds[0]),
        cutoffs,
        variances,
        center,
        loadings.reshape(-1, D),
        score,
        orthogonal,
        regular == 0,
    )
