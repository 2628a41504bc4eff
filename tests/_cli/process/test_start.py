"""The first moments of the process."""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.soak


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize(
    "module", ["trueaxis._cli.process.signals", "click", "trueaxis._cli.main"]
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_imports_is_one_line(module, number):
    code = f"""
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Interrupting:
    def find_spec(self, name, *rest):
        if name == {module!r}:
            os.kill(os.getpid(), {int(number)})
from trueaxis._cli.process.start import main
sys.meta_path.insert(0, Interrupting())
main(["methods"])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30
    )
    line = {signal.SIGINT: "Interrupted.\n", signal.SIGTERM: "Terminated.\n"}[number]
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", line)
