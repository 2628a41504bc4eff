"""Run a study: many independent tasks, on several cores, resumed after interruption.

A study is a small dataclass that lists its tasks, runs one of them, and turns the
results of all into figures and a section of the page. Finished tasks are stored under a
digest of the study's settings and of our own code, so that results of different code
are never mixed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import trueaxis
from trueaxis._files import atomic_write
from trueaxis.io.write import write_table

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
Key = tuple[str, ...]
Row = dict[str, Any]


@dataclass(frozen=True)
class TaskOutcome:
    """Result of one task.

    Attributes
    ----------
    rows : list of dict
        Measurements, with the same fields throughout a study.
    arrays : dict of ndarray
        Data for figures, such as weights and images.
    """

    rows: list[Row]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)


class Study(Protocol):
    """Interface that `run` expects; the settings are the fields of a dataclass."""

    name: str

    def tasks(self) -> list[Key]:
        """Return the names of all tasks, each a tuple of words."""

    def run(self, task: Key) -> TaskOutcome:
        """Run one task; the result depends on nothing but the task and the settings."""

    def figures(self, results: Results, folder: Path) -> list[Path]:
        """Draw the figures and return the files written."""

    def section(self, results: Results) -> str:
        """Return the section of the page: the paper's numbers, ours, verdicts."""


@dataclass(frozen=True)
class Results:
    """Outcomes of all tasks of a study, in task order."""

    outcomes: dict[Key, TaskOutcome]

    @property
    def rows(self) -> list[Row]:
        """All measurements."""
        return [row for outcome in self.outcomes.values() for row in outcome.rows]

    def column(self, name: str) -> NDArray[Any]:
        """Return one field of all measurements."""
        return np.array([row[name] for row in self.rows])

    def where(self, **wanted: Any) -> list[Row]:
        """Return the measurements with these values."""
        return [
            row
            for row in self.rows
            if all(row[name] == value for name, value in wanted.items())
        ]


def run(study: Study, folder: Path, *, jobs: int = 1) -> Results:
    """Run the unfinished tasks of a study and write <folder>/<study>.csv.

    Parameters
    ----------
    study : Study
    folder : Path
        Folder for results; created if missing.
    jobs : int
        Number of processes.

    Returns
    -------
    Results
    """
    parts = folder / ".parts" / f"{study.name}-{digest(study)}"
    parts.mkdir(parents=True, exist_ok=True)
    tasks = study.tasks()
    todo = [task for task in tasks if not _task_file(parts, task).exists()]
    done = len(tasks) - len(todo)
    for task, outcome in _outcomes(study, todo, jobs):
        _save(_task_file(parts, task), outcome)
        done += 1
        if sys.stderr.isatty():
            print(f"{study.name}: {done} of {len(tasks)}", file=sys.stderr)
    results = Results({task: _load(_task_file(parts, task)) for task in tasks})
    rows = results.rows
    fields = {name: [row[name] for row in rows] for name in rows[0]}
    write_table(folder / f"{study.name}.csv", fields)
    return results


def _outcomes(
    study: Study, todo: list[Key], jobs: int
) -> Iterator[tuple[Key, TaskOutcome]]:
    if jobs == 1:
        with threadpool_limits(1):
            for task in todo:
                yield task, study.run(task)
        return
    # Spawn, as forking a process that has threads is not safe.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_exit_on_sigint)
    pending: dict[Future[TaskOutcome], Key] = {}
    try:
        with _single_threaded():  # processes start as tasks are submitted
            pending = {pool.submit(study.run, task): task for task in todo}
        while pending:
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                yield pending.pop(future), future.result()
    finally:
        # After an error or Ctrl-C, tasks that have not started are dropped.
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Give processes that start now one thread each, since they share the cores.

    Libraries that such a process loads later read the variables as well.
    """
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _exit_on_sigint() -> None:
    # Ctrl-C reaches every process; workers should exit without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def digest(study: Study) -> str:
    """Return a hash of what results depend on: the settings and all of our code."""
    sha = hashlib.sha256(repr(study).encode())
    for package in (Path(trueaxis.__file__).parent, Path(__file__).parent):
        for path in sorted(package.rglob("*.py")):
            sha.update(path.read_bytes())
    return sha.hexdigest()[:12]


# ---------------------------------------------------------------- outcomes on disk


def _task_file(parts: Path, task: Key) -> Path:
    return parts / ("--".join(task) + ".npz")


def _save(path: Path, outcome: TaskOutcome) -> None:
    buffer = io.BytesIO()
    rows = np.array(json.dumps(outcome.rows))
    np.savez(buffer, allow_pickle=False, rows=rows, **outcome.arrays)
    with atomic_write(path) as file:
        file.write(buffer.getvalue())


def _load(path: Path) -> TaskOutcome:
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return TaskOutcome(json.loads(str(arrays.pop("rows"))), arrays)
