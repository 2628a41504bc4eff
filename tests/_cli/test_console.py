"""Output to terminals, pipes and programs."""

import json
import os
import re
import subprocess
import sys

import pytest
from command_line import NASTY, run
from pseudo_terminal import Terminal, plain_environment


def test_cells_cannot_steer_the_terminal(folder):
    path = folder / "cells.csv"
    rows = [f"{NASTY[-10:]},{i % 7},{i % 5}" for i in range(40)] + ["[red]\x1b[2J,99,9"]
    path.write_text("\n".join(["name,[bold]a,b\x07", *rows]))
    printed = run("fit", path, "-k", 1, "--id", "name")
    assert "\x1b" not in printed and "\x07" not in printed
    assert "[red]" in printed and "[bold]a" in printed


def test_numbers_that_json_lacks_are_null(folder):
    path = folder / "flat.csv"  # all rows but one lie on a line: no room off it
    rows = [f"{i},{2 * i}" for i in range(30)] + ["3,60"]
    path.write_text("\n".join(rows))
    found = json.loads(run("fit", path, "-k", 1, "--json"))
    assert found["worst_first"][0]["row"] == "30"
    json.dumps(found, allow_nan=False)


@pytest.mark.soak
@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_bar_on_a_terminal_and_silence_in_a_pipe(pump):
    command = [sys.executable, "-m", "trueaxis", "fit", pump, "-k", "2"]
    command += ["--drop", "pump,remark"]
    quiet = subprocess.run(
        command, capture_output=True, check=True, env=plain_environment()
    )
    assert quiet.stderr == b""
    terminal = Terminal(command)
    code, printed = terminal.end()
    assert code == 0 and b"fitting" in terminal.shown
    assert printed == quiet.stdout.replace(_seconds(quiet.stdout), _seconds(printed))


def _seconds(printed):
    return re.findall(rb"took [0-9.e-]+ s", printed)[0]
