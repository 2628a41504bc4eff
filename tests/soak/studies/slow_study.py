"""A study that records its tasks; importable by processes that tests start."""

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from studies.study import TaskOutcome


@dataclass(frozen=True)
class Slow:
    """A study that writes down what it does."""

    log: str
    n: int = 6
    pause: float = 0.0
    name = "slow"

    def tasks(self):
        return [("task", str(i)) for i in range(self.n)]

    def run(self, task):
        with open(self.log, "a") as file:
            file.write(task[1] + "\n")
        time.sleep(self.pause)
        rng = np.random.default_rng(int(task[1]))
        rows = [{"task": int(task[1]), "value": x} for x in rng.random(3).tolist()]
        return TaskOutcome(rows, {"square": rng.random((2, 2))})

    def figures(self, results, folder):
        return []

    def section(self, results):
        return ""


def done(study):
    return Counter(Path(study.log).read_text().split())
