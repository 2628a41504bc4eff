"""Standard streams that are closed, full, or read by nobody."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.soak,
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full"),
]


def shell(line, folder):
    line = line.replace("trueaxis", f"{sys.executable} -m trueaxis")
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_streams_do_not_stop_the_work(closed, pump, tmp_path):
    done = shell(f"trueaxis fit {pump} -k 2 -o m.npz {closed}", tmp_path)
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert os.listdir(tmp_path) == ["m.npz"]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("--help > /dev/full", 1),
        ("methods > /dev/full", 1),
        ("methods --json > /dev/full", 1),
        ("score {model} {pump} > /dev/full", 1),
        ("fit --nix 2> /dev/full", 2),
        ("methods 2> /dev/full", 0),
        ("methods > /dev/full 2>&1", 1),
    ],
)
def test_full_streams_are_sentences(command, code, pump, model, tmp_path):
    done = shell("trueaxis " + command.format(pump=pump, model=model), tmp_path)
    assert done.returncode == code
    full = command.endswith("> /dev/full") and code == 1
    sentence = (
        "Error: Standard output: No space left on device. What was printed is not "
        "complete.\n"
    )
    assert done.stderr == sentence * full


def test_head_changes_no_exit_code_whatever_the_size(pump, model, tmp_path):
    rows = Path(pump).read_text().splitlines()
    for n in (5, 100, 20_000):
        body = (rows[1:] * (n // len(rows) + 1))[:n]
        (tmp_path / "t.csv").write_text("\n".join([rows[0], *body]) + "\n")
        line = f"trueaxis score {model} t.csv | head -1; echo ${{PIPESTATUS[0]}}"
        done = shell(line, tmp_path)
        assert done.stdout.startswith("row,outlier") and "Error" not in done.stderr
        assert done.stdout.splitlines()[-1] == "0"
