"""RUN a study: many independent tasks, on several cores, resumed where they stopped.

A study is a small dataclass that lists tasks, runs one of them, and turns the rows of
all into figures and a section of the page. Finished tasks are kept on disk, under a
digest of the study's settings and of our own code: what was computed by other code is
never mixed in.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
from collections.abc import Callable, Iterator
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
from trueaxis._tables.write import write_table

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
Key = tuple[str, ...]
Row = dict[str, Any]


@dataclass(frozen=True)
class TaskOutcome:
    """What one task found.

    Attributes
    ----------
    rows : list of dict
        Measurements, all of a study with the same fields.
    arrays : dict of ndarray
        For figures: weights, images.
    """

    rows: list[Row]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)


class Study(Protocol):
    """What `run` needs; the settings are the fields of a dataclass."""

    name: str

    def tasks(self) -> list[Key]:
        """Names of all tasks, each a few words."""

    def run(self, task: Key) -> TaskOutcome:
        """Do one task; the same answer whenever and wherever it is done."""

    def figures(self, results: Results, folder: Path) -> list[Path]:
        """Draw, and say which files were written."""

    def section(self, results: Results) -> str:
        """Part of the page: the paper's numbers, ours, verdicts."""


@dataclass(frozen=True)
class Results:
    """Outcomes of all tasks of a study, in the order of the tasks."""

    outcomes: dict[Key, TaskOutcome]

    @property
    def rows(self) -> list[Row]:
        """All measurements."""
        return [row for outcome in self.outcomes.values() for row in outcome.rows]

    def column(self, name: str) -> NDArray[Any]:
        """One field of all measurements."""
        return np.array([row[name] for row in self.rows])

    def where(self, **wanted: Any) -> list[Row]:
        """The measurements with these values."""
        return [
            row
            for row in self.rows
            if all(row[name] == value for name, value in wanted.items())
        ]


Progress = Callable[[int, int], None]


def run(
    study: Study,
    folder: Path,
    *,
    jobs: int = 1,
    progress: Progress = lambda n, of: None,
) -> Results:
    """Do the tasks that are not done yet; write <folder>/<study>.csv.

    Parameters
    ----------
    study : Study
    folder : Path
        Where results go; made if missing.
    jobs : int
        Processes.
    progress : callable, optional
        Told the number of tasks that are done, and of all.

    Returns
    -------
    Results
    """
    parts = folder / ".parts" / f"{study.name}-{digest(study)}"
    parts.mkdir(parents=True, exist_ok=True)
    tasks = study.tasks()
    todo = [task for task in tasks if not _file(parts, task).exists()]
    done = len(tasks) - len(todo)
    progress(done, len(tasks))
    for task, outcome in _outcomes(study, todo, jobs):
        _keep(_file(parts, task), outcome)
        done += 1
        progress(done, len(tasks))
    results = Results({task: _kept(_file(parts, task)) for task in tasks})
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
    # New interpreters: threads of a parent must not be copied into its children.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_leave_quietly)
    waiting: dict[Future[TaskOutcome], Key] = {}
    try:
        with _one_thread_each():  # processes begin as tasks are submitted
            waiting = {pool.submit(study.run, task): task for task in todo}
        while waiting:
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield waiting.pop(future), future.result()
    finally:
        # After an error or Ctrl-C: what has not begun never will.
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that begin now have one thread: they share the cores already.

    Libraries that a process loads later read these variables, too.
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


def _leave_quietly() -> None:
    # Ctrl-C reaches every process: this one leaves without a word.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def digest(study: Study) -> str:
    """What results depend on, in a few letters: settings, and all of our code."""
    seen = hashlib.sha256(repr(study).encode())
    package = Path(trueaxis.__file__).parent
    for path in sorted(package.rglob("*.py")):
        seen.update(path.read_bytes())
    return seen.hexdigest()[:12]


# ---------------------------------------------------------------- outcomes on disk


def _file(parts: Path, task: Key) -> Path:
    return parts / ("--".join(task) + ".npz")


def _keep(path: Path, outcome: TaskOutcome) -> None:
    text = io.BytesIO()
    rows = np.array(json.dumps(outcome.rows))
    np.savez(text, allow_pickle=False, rows=rows, **outcome.arrays)
    with atomic_write(path) as file:
        file.write(text.getvalue())


def _kept(path: Path) -> TaskOutcome:
    with np.load(path, allow_pickle=False) as found:
        arrays = {name: found[name] for name in found.files}
    return TaskOutcome(json.loads(str(arrays.pop("rows"))), arrays)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
