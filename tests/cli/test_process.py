"""The command line as a process: signals, closed streams and pipes."""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.soak,
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="needs signals and a shell"),
]
LINES = {signal.SIGINT: "Interrupted.\n", signal.SIGTERM: "Terminated.\n"}
# A library that computes for long, in the middle of a file that is written.
BUSY = """
import os, sys, time
from trueaxis.cli import commands
from trueaxis.__main__ import main
from trueaxis._files import atomic_write
def methods(as_json):
    with atomic_write("out.npz") as file:
        os.write(1, b"ready\\n")
        {busy}
commands.methods = methods
sys.argv[1:] = ["methods"]
main()
"""


def started(code, folder):
    """A process that has printed the line "ready"."""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        # Background jobs of a shell ignore Ctrl-C, and so do their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("number", LINES)
@pytest.mark.parametrize(
    "busy",
    [
        "time.sleep(60)",
        # Losing exceptions, and not stopping after them.
        "type('Lost', (), {'__del__': lambda self: time.sleep(60)})()",
        "\n        while True:\n            try: time.sleep(60)"
        "\n            except BaseException: pass",
    ],
    ids=["waiting", "lost", "stubborn"],
)
def test_a_signal_ends_a_command_with_one_line(number, busy, tmp_path):
    (tmp_path / "out.npz").write_bytes(b"old")
    process = started(BUSY.format(busy=busy), tmp_path)
    process.send_signal(number)
    told = process.communicate(timeout=30)[1]
    assert (process.returncode, told) == (128 + number, LINES[number])
    assert os.listdir(tmp_path) == ["out.npz"]
    assert (tmp_path / "out.npz").read_bytes() == b"old"


def test_who_ignores_ctrl_c_is_not_interrupted(tmp_path):
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + BUSY
    process = started(code.format(busy="time.sleep(0.5)"), tmp_path)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[1] == "" and process.returncode == 0
    assert os.listdir(tmp_path) == ["out.npz"]


def shell(line, folder):
    line = line.replace("trueaxis", f"{sys.executable} -m trueaxis")
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_do_not_stop_the_work(closed, pump, tmp_path):
    done = shell(f"trueaxis fit {pump} --id pump -k 2 -o m.npz {closed}", tmp_path)
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert os.listdir(tmp_path) == ["m.npz"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["methods --json", "score {model} {pump}"])
def test_a_full_disk_is_a_sentence(command, pump, model, tmp_path):
    done = shell(
        f"trueaxis {command.format(pump=pump, model=model)} > /dev/full", tmp_path
    )
    assert done.returncode == 1
    assert done.stderr == "Error: Standard output: No space left on device.\n"


@pytest.mark.parametrize(
    "command",
    [
        "methods",
        "fit {pump} -k 2 --id pump",
        "fit {pump} -k 2 --id pump --json",
        "fit {pump} -k 2 --id pump --clean -",
        "score {model} {pump}",
        "repair {pump} -k 2 --id pump",
    ],
)
def test_a_reader_may_leave_early(command, pump, model, tmp_path):
    command = command.format(pump=pump, model=model).split()
    for read_first in (False, True):
        with subprocess.Popen(
            [sys.executable, "-m", "trueaxis", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            if read_first:
                assert process.stdout.read(1)
            process.stdout.close()
            errors = process.stderr.read().decode()
            assert process.wait(60) == 0, errors
        assert "Error" not in errors and "Traceback" not in errors
        assert "Exception ignored" not in errors
