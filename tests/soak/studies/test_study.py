"""The runner of studies."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from studies.study import TaskOutcome, digest, run


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
        rng = np.random.default_rng(int(task[1]))
        rows = [{"task": int(task[1]), "value": x} for x in rng.random(3).tolist()]
        return TaskOutcome(rows, {"square": rng.random((2, 2))})

    def figures(self, results, folder):
        return []

    def section(self, results):
        return ""


def done(study):
    return Counter(Path(study.log).read_text().split())


def test_finished_tasks_are_not_repeated(tmp_path):
    study = Slow(str(tmp_path / "log"))
    first = run(study, tmp_path)
    table = (tmp_path / "slow.csv").read_bytes()
    again = run(study, tmp_path)
    assert set(done(study).values()) == {1}
    assert (tmp_path / "slow.csv").read_bytes() == table
    assert first.rows == again.rows
    for task, outcome in first.outcomes.items():
        square = again.outcomes[task].arrays["square"]
        assert (outcome.arrays["square"] == square).all()


def test_an_error_keeps_what_was_done(tmp_path):
    class Failing(Slow):
        def run(self, task):
            if task[1] == "4":
                raise RuntimeError("no more")
            return super().run(task)

    study = Failing(str(tmp_path / "log"))
    with pytest.raises(RuntimeError):
        run(study, tmp_path)
    assert done(study) == Counter("0123")
    with pytest.raises(RuntimeError):
        run(study, tmp_path)
    assert done(study) == Counter("0123")


@pytest.mark.slow
def test_other_settings_do_not_reuse_parts(tmp_path):
    study = Slow(str(tmp_path / "log"), n=3)
    other = replace(study, pause=1e-6)
    assert digest(study) == digest(replace(study))
    assert digest(study) != digest(other)
    run(study, tmp_path)
    run(other, tmp_path)
    assert set(done(study).values()) == {2}
