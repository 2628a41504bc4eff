"""DSWL, plain PCA, IsolationForest and ROBPCA, with the same answer from each.

`found_by` runs one of them on many tables, on all cores.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import IsolationForest
from threadpoolctl import threadpool_limits

from robpca import Job, available, robpca
from trueaxis import DSWL
from trueaxis.methods import METHODS

JOBS = os.cpu_count() or 1  # processes


class Found(NamedTuple):
    """What a detector says about the rows of a table; a high score is outlying."""

    flagged: np.ndarray
    score: np.ndarray
    components: np.ndarray | None = None
    n_components: int = 0


def dswl(job: Job) -> Found:
    return of_model(DSWL(job.k, random_state=job.seed), job.X)


def plain(job: Job) -> Found:
    return of_model(METHODS["pca"](job.k), job.X)


def of_model(model: Any, X: np.ndarray) -> Found:
    model.fit(X)
    score = np.nan_to_num(-model.score_samples(X))
    return Found(~model.support_, score, model.components_, model.n_components_)


def forest(job: Job) -> Found:
    model = IsolationForest(random_state=job.seed).fit(job.X)
    score = -model.score_samples(job.X)
    return Found(score > -model.offset_, score)


def hubert(jobs: Sequence[Job]) -> list[Found | None]:
    return [
        fit and Found(fit.flagged, np.nan_to_num(fit.score), fit.components)
        for fit in robpca(jobs)
    ]


ALONE: dict[str, Callable[[Job], Found]] = {
    "DSWL": dswl,
    "PCA": plain,
    "IsolationForest": forest,
}
NAMES = (*ALONE, *(["ROBPCA"] if available() else []))


def on_all_cores(task: Callable, items: Sequence) -> list:
    """Apply a function to all items, in processes with one BLAS thread each."""
    with ProcessPoolExecutor(JOBS, initializer=quiet_and_single) as pool:
        return list(pool.map(task, items, chunksize=len(items) // (8 * JOBS) + 1))


def quiet_and_single() -> None:
    """Limit BLAS to one thread, and leave warnings to those who read about a table."""
    warnings.simplefilter("ignore")
    threadpool_limits(1)


def found_by(name: str, jobs: Sequence[Job]) -> list[Found | None]:
    """Return what a detector finds in every table; None where ROBPCA fails."""
    if name != "ROBPCA":
        return on_all_cores(ALONE[name], jobs)
    parts = 4 * JOBS
    shares = [jobs[i::parts] for i in range(parts) if jobs[i::parts]]
    out: list[Found | None] = [None] * len(jobs)
    for i, found in enumerate(on_all_cores(hubert, shares)):
        out[i::parts] = found
    return out
