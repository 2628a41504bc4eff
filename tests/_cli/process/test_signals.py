"""Signals end every command soon, with one line and without traces."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytestmark = [
    pytest.mark.soak,
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="needs signals"),
]
LINES = {signal.SIGINT: "Interrupted.", signal.SIGTERM: "Terminated."}
# Seconds. Two are promised, but tests share the machine; what must be stopped would go
# on for a minute.
SOON = 20.0


def started(code, *arguments, **options):
    """A process that has printed the line "ready"."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Background jobs of a shell ignore Ctrl-C, and so do their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def check_end(process, number, *, may_be_ready=False):
    begin = time.monotonic()
    process.send_signal(number)
    told = process.communicate(timeout=60)[1].splitlines()
    if may_be_ready and process.returncode in (0, -number):
        # It was about to end; once Python itself ends, signals kill without a word.
        assert time.monotonic() - begin < SOON / 4
        return
    assert process.returncode == 128 + number, told
    assert [x for x in told if not x.startswith("Note: ")] == [LINES[number]]
    assert time.monotonic() - begin < SOON


# Python itself has begun; from here on, every moment is a good one.
START = """
import os, sys
os.write(1, b"ready\\n")
from trueaxis._cli.process.start import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize("number", LINES)
@pytest.mark.parametrize(
    "command",
    [
        "fit {big} -o out.npz",
        "fit {big} --method l1-pca -o out.npz",
        "fit {big} --method pcp -k 2 -o out.npz",
        "fit {big} --workers 1 -o out.npz",
        "score {model} {pump} -o out.xlsx",
        "report {pump} -o out.html",
        "compare {pump} -o out.csv",
        "repair {pump} -o out.csv",
    ],
)
def test_commands_end_at_any_time(command, number, pump, model, tmp_path):
    folder, scratch = tmp_path / "out", tmp_path / "scratch"
    folder.mkdir(), scratch.mkdir()
    big = tmp_path / "big.npy"
    np.save(big, np.random.default_rng(0).standard_normal((200_000, 20)))
    arguments = command.format(pump=pump, model=model, big=big).split()
    (folder / arguments[-1]).write_bytes(b"old")
    delay = random.Random(f"{command}{number}").random() * 0.9
    environment = os.environ | {"TMPDIR": str(scratch)}
    process = started(START, *arguments, cwd=folder, env=environment)
    time.sleep(0.1 + delay)
    if process.poll() is None:
        check_end(process, number, may_be_ready=True)
    process.communicate()  # a fast machine may be ready before the signal
    assert os.listdir(scratch) == []
    finished = process.returncode in (0, -number)
    assert ((folder / arguments[-1]).read_bytes() == b"old") != finished
    beside = {"out-changes.csv"} if finished else set()  # which `repair` writes, too
    assert set(os.listdir(folder)) - beside == {arguments[-1]}


# A library that computes for long, in the middle of a file that is written.
BUSY = """
import os, sys, threading
from trueaxis._cli.process.start import main
from trueaxis._cli import commands
from trueaxis._files import atomic_write
def methods(as_json):
    with atomic_write("out.npz") as file:
        os.write(1, b"ready\\n")
        {busy}
commands.methods = methods
main(["methods"])
"""


@pytest.mark.parametrize(
    "busy",
    [
        # Deaf to exceptions; losing them; not stopping after them; in another thread.
        "import numpy as np; np.linalg.svd(np.ones((8000, 8000)))",
        "Lost = type("
        "'Lost', (), {'__del__': lambda self: __import__('time').sleep(60)})"
        "; Lost()",
        "\n        while True:\n            try: __import__('time').sleep(60)"
        "\n            except KeyboardInterrupt: pass",
        "threading.Thread(target=__import__('time').sleep, args=[60]).start()"
        "; __import__('time').sleep(60)",
        "\n        try: __import__('time').sleep(60)"
        "\n        except KeyboardInterrupt: raise ImportError('numpy is broken')",
    ],
    ids=["deaf", "lost", "stubborn", "thread", "disguised"],
)
def test_what_does_not_stop_is_stopped(busy, tmp_path):
    (tmp_path / "out.npz").write_bytes(b"old")
    process = started(BUSY.format(busy=busy), cwd=tmp_path)
    check_end(process, signal.SIGTERM)
    assert os.listdir(tmp_path) == ["out.npz"]
    assert (tmp_path / "out.npz").read_bytes() == b"old"


def test_a_second_signal_does_not_interrupt_the_removal(tmp_path):
    busy = (
        "\n        try: os.write(1, b'inside\\n'); __import__('time').sleep(60)"
        "\n        finally: os.write(1, b'removing\\n'); __import__('time').sleep(0.3)"
    )
    patient = "from trueaxis._cli.process import signals; signals.GRACE = 30\n"
    process = started(patient + BUSY.format(busy=busy), cwd=tmp_path)
    assert process.stdout.readline() == "inside\n"
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "removing\n"
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=30)[1]
    assert process.returncode == 143 and told == "Terminated.\n"
    assert os.listdir(tmp_path) == []


def test_who_ignores_ctrl_c_is_not_interrupted(tmp_path):
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + BUSY
    process = started(code.format(busy="__import__('time').sleep(0.5)"), cwd=tmp_path)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[1] == "" and process.returncode == 0
    assert os.listdir(tmp_path) == ["out.npz"]
