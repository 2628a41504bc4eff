"""Limits of memory, and files that cannot be written."""

import os
import subprocess
import sys

import pytest
from command_line import run

pytestmark = pytest.mark.soak

posix = pytest.mark.skipif(os.name != "posix", reason="needs limits of processes")
# Memory in bytes and size of files in bytes; -1 for no limit.
LIMITED = """
import resource, signal, sys
memory, size = int(sys.argv[1]), int(sys.argv[2])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
from trueaxis._cli.process.start import main
main(sys.argv[3:])
"""


def limited(memory, size, *arguments):
    command = [sys.executable, "-c", LIMITED, str(memory), str(size)]
    return subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, timeout=60
    )


@posix
@pytest.mark.slow
def test_too_little_memory_for_the_libraries_is_a_sentence(pump, tmp_path):
    for megabytes in (250, 600):
        done = limited(megabytes << 20, -1, "fit", pump, "-o", tmp_path / "m.npz")
        assert done.returncode == 1 and "Traceback" not in done.stderr
        errors = [x for x in done.stderr.splitlines() if not x.startswith("Note: ")]
        assert len(errors) == 1 and f"{megabytes} MB of memory" in errors[0]
    assert os.listdir(tmp_path) == []


@posix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("fit {pump} -k 2 -o", "m.npz"),
        ("score {model} {pump} -o", "s.parquet"),
        ("score {model} {pump} -o", "s.csv.gz"),
        ("report {pump} --model {model} -o", "r.html"),
    ],
)
def test_a_full_disk_names_the_file(command, name, pump, model, tmp_path):
    target = tmp_path / name
    target.write_bytes(b"old")
    arguments = command.format(pump=pump, model=model).split()
    done = limited(-1, 1000, *arguments, target)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and last.startswith(f"Error: {target}: File too large")
    assert "free some space" in last
    assert target.read_bytes() == b"old" and os.listdir(tmp_path) == [name]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_a_folder_that_cannot_be_written_names_the_file(pump, model):
    for command in (
        ["fit", pump, "-k", 2, "-o", "/proc/m.npz"],
        ["score", model, pump, "-o", "/proc/s.csv"],
        ["export", model, "/proc/m.onnx"],
    ):
        assert run(*command, code=1).splitlines()[-1].startswith("Error: /proc/")
