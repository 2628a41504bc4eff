"""Fit the cases of `before_after.py`, one process per core, and keep what they say."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from before_after_clouds import Case, Data
from trueaxis import DSWL
from trueaxis.datasets import planted

EMPTY = np.zeros(0)


@dataclass
class Answer:
    """What a fit said; `error` instead if it failed."""

    components: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    mean: np.ndarray = field(default_factory=lambda: EMPTY)
    variance: np.ndarray = field(default_factory=lambda: EMPTY)
    score: np.ndarray = field(default_factory=lambda: EMPTY)
    flagged: np.ndarray = field(default_factory=lambda: EMPTY.astype(bool))
    weights: np.ndarray = field(default_factory=lambda: EMPTY)
    offset: float = 0.0
    seconds: float = 0.0
    error: str = ""

    @property
    def k(self) -> int:
        """Number of components."""
        return len(self.components)

    def solid(self) -> int:
        """Return how many axes have a variance that is more than rounding."""
        if not self.variance.size:
            return 0
        single = self.components.dtype == np.float32
        return int(
            (self.variance > (1e-6 if single else 1e-12) * self.variance[0]).sum()
        )


@dataclass
class Outcome:
    """A case: its answer, others to compare it with, and the truth, as far as known.

    `others` are answers with other seeds, `fewer` those without 1 % of the rows (but
    about all rows). `digest` is a checksum of the rows, to be sure that both versions
    fit the same.
    """

    case: str
    group: str
    shape: tuple[int, int]
    digest: str
    answer: Answer
    others: list[Answer]
    fewer: list[Answer]
    truth: np.ndarray | None
    bad: np.ndarray | None


def outcome(case: Case, seeds: int, fewer: int) -> Outcome:
    """Fit a case with its own seed, with others, and without some of the rows."""
    data = case.make()
    X = np.asarray(data.X)
    state = case.params.get("random_state", 0)
    answer, *others = (
        fitted(case.params | {"random_state": state + i}, data)
        for i in range(1 + seeds)
    )
    dropped = [fitted(case.params, data, rest(len(X), i)) for i in range(fewer)]
    digest = hashlib.sha256(np.ascontiguousarray(X).tobytes()).hexdigest()[:16]
    return Outcome(case.name, case.group, X.shape, digest, answer, others, dropped,
                   data.truth, data.bad)  # fmt: skip


def rest(n: int, seed: int) -> np.ndarray:
    """Return the indices of all rows but 1 %, and at least one."""
    out = np.random.default_rng([seed, n]).choice(n, -(-n // 100), replace=False)
    return np.delete(np.arange(n), out)


def fitted(
    params: dict[str, Any], data: Data, some: np.ndarray | None = None
) -> Answer:
    """Fit the rows, or some of them; return what it says about all, or the error."""
    X, weight = data.X, data.weight
    if some is not None:
        X, weight = np.asarray(X)[some], None if weight is None else weight[some]
    extra = {} if weight is None else {"sample_weight": weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        try:
            model = DSWL(**params).fit(X, **extra)
        except Exception as error:
            return Answer(error=f"{type(error).__name__}: {error}")
        seconds = time.process_time() - start
        return Answer(
            components=model.components_,
            mean=model.mean_,
            variance=model.explained_variance_,
            score=model.score_samples(data.X).astype(np.float32),
            flagged=model.predict(data.X) < 0,
            weights=model.weights_.astype(np.float32),
            offset=model.offset_,
            seconds=seconds,
        )


def warm_up() -> None:
    """Fit once, so that no case is charged for imports."""
    for n in (200, 5000):
        DSWL(2).fit(planted("both", n=n, n_features=5, n_components=2).X)


ONE_CASE: Callable[[int], Outcome]


def run(cases: list[Case], seeds: int, fewer: int, jobs: int) -> Iterator[Outcome]:
    """Yield the outcomes of all cases, in their order."""
    global ONE_CASE

    def one(i: int) -> Outcome:
        return outcome(cases[i], seeds, fewer)

    # Forked processes inherit the cases: these are closures, which cannot be sent.
    ONE_CASE = one
    if jobs == 1:
        warm_up()
        yield from map(one, range(len(cases)))
        return
    with ProcessPoolExecutor(jobs, get_context("fork"), initializer=warm_up) as pool:
        yield from pool.map(_forked, range(len(cases)), chunksize=4)


def _forked(i: int) -> Outcome:
    return ONE_CASE(i)


# The file: one record of names and numbers, and the arrays of every case by number.

ARRAYS = ("components", "mean", "variance", "score", "flagged", "weights")


def save(path: Path, outcomes: list[Outcome], version: str) -> None:
    """Write outcomes to a .npz file."""
    arrays: dict[str, np.ndarray] = {"version": np.array(version)}
    for i, found in enumerate(outcomes):
        arrays[f"{i}/about"] = np.array([found.case, found.group, found.digest])
        arrays[f"{i}/counts"] = np.array([len(found.others), len(found.fewer)])
        arrays[f"{i}/shape"] = np.array(found.shape)
        for name in ("truth", "bad"):
            if getattr(found, name) is not None:
                arrays[f"{i}/{name}"] = getattr(found, name)
        for j, answer in enumerate([found.answer, *found.others, *found.fewer]):
            for name in ARRAYS:
                # The others are for judging axes and verdicts only.
                if j == 0 or name in ("components", "variance", "flagged", "score"):
                    arrays[f"{i}/{j}/{name}"] = getattr(answer, name)
            arrays[f"{i}/{j}/numbers"] = np.array([answer.offset, answer.seconds])
            arrays[f"{i}/{j}/error"] = np.array(answer.error)
    np.savez_compressed(path, **arrays)


def load(path: Path, names: set[str] | None = None) -> tuple[list[Outcome], str]:
    """Read the outcomes of a file, or those with the given names; and the version."""
    with np.load(path) as file:
        count = sum(key.endswith("/about") for key in file.files)
        stored = set(file.files)
        found = []
        for i in range(count):
            name, group, digest = (str(text) for text in file[f"{i}/about"])
            if names is not None and name not in names:
                continue
            seeds, fewer = (int(count) for count in file[f"{i}/counts"])
            first, *others = (
                read_answer(file, stored, f"{i}/{j}") for j in range(1 + seeds + fewer)
            )
            truth, bad = (
                file[f"{i}/{key}"] if f"{i}/{key}" in stored else None
                for key in ("truth", "bad")
            )
            shape = tuple(int(side) for side in file[f"{i}/shape"])
            found.append(Outcome(name, group, shape, digest, first, others[:seeds],
                                 others[seeds:], truth, bad))  # fmt: skip
        return found, str(file["version"])


def read_answer(file: Any, stored: set[str], at: str) -> Answer:
    """Read one answer of a file."""
    arrays = {name: file[f"{at}/{name}"] for name in ARRAYS if f"{at}/{name}" in stored}
    offset, seconds = (float(number) for number in file[f"{at}/numbers"])
    error = str(file[f"{at}/error"])
    return Answer(**arrays, offset=offset, seconds=seconds, error=error)
