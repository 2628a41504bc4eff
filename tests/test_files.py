"""Atomic writing of files."""

import os
import subprocess
import sys

import pytest

from trueaxis._files import atomic_write
from trueaxis.io.write import write_table


def test_a_failed_write_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    for error in (RuntimeError, KeyboardInterrupt):
        with pytest.raises(error), atomic_write(path) as file:
            file.write(b"half")
            raise error
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(FileNotFoundError, match="No such folder.*create it first"):
        write_table(tmp_path / "no" / "out.csv", {"a": [1]})


def test_files_are_as_private_as_others(tmp_path):
    write_table(tmp_path / "out.csv", {"a": [1]})
    (tmp_path / "other").write_text("")
    mode = os.stat(tmp_path / "out.csv").st_mode
    assert mode == os.stat(tmp_path / "other").st_mode


FULL = """
import resource, signal, sys
import numpy as np
import trueaxis
from trueaxis.io.write import write_table
from trueaxis.report import write_report
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
X = np.random.default_rng(0).standard_normal((300, 5))
model = trueaxis.DSWL(2).fit(X)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for write, name in (
    (lambda path: trueaxis.save(model, path), "m.npz"),
    (lambda path: trueaxis.save(model, path), "m.onnx"),
    (lambda path: write_report(model, X, path), "r.html"),
    *((lambda path: write_table(path, {"a": X[:, 0].tolist()}), f"t.{ending}")
      for ending in ("csv", "csv.gz", "xlsx", "parquet", "feather", "jsonl")),
):
    try:
        write(name)
    except OSError as error:
        assert error.filename == name and "free some space" in str(error), error
        print(name)
"""


@pytest.mark.soak
@pytest.mark.skipif(os.name != "posix", reason="needs limits of processes")
def test_all_that_writes_names_the_file_on_a_full_disk(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 9
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_a_folder_that_cannot_be_written_names_the_file():
    with pytest.raises(OSError, match="'/proc/x.csv'"), atomic_write("/proc/x.csv"):
        pass
