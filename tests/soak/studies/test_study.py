"""The runner of studies."""

import os
import signal
import subprocess
import sys
import time
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


@pytest.mark.slow
@pytest.mark.parametrize("how", ["SIGINT", "SIGKILL"])
def test_a_killed_run_goes_on_where_it_stopped(tmp_path, how):
    study = Slow(str(tmp_path / "log"), n=8, pause=0.3)
    folder = tmp_path / "killed"
    code = (
        "from pathlib import Path; from studies.study import run\n"
        "from tests.soak.studies.slow_study import Slow\n"
        f"run(Slow({study.log!r}, n=8, pause=0.3), Path({str(folder)!r}))"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=env, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 60
        while len(list(folder.rglob("*.npz"))) < 3:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(getattr(signal, how))
        assert process.wait(30) != 0
    finally:
        process.kill()
    parts = {path.stem.split("--")[1] for path in folder.rglob("*.npz")}
    assert 3 <= len(parts) < 8
    assert not (folder / "slow.csv").exists()

    run(study, folder)
    assert all(done(study)[part] == 1 for part in parts)
    whole = replace(study, log=str(tmp_path / "other log"), pause=0.0)
    run(whole, tmp_path / "whole")
    tables = [(tmp_path / x / "slow.csv").read_bytes() for x in ("killed", "whole")]
    assert tables[0] == tables[1]
