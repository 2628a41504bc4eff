"""The runner of studies."""

from collections import Counter
from dataclasses import replace

import pytest

from studies.study import digest, run
from tests.soak.studies.slow_study import Slow, done


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
