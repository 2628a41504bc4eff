"""Progress bars on a terminal."""

import re
import sys

import numpy as np
import pytest
from pseudo_terminal import Terminal
from row_sources import posix

import trueaxis
from trueaxis import DSWL, show_progress
from trueaxis.data import progress_bars as bars
from trueaxis.data.progress import has_listener

pytestmark = pytest.mark.soak

SHOWN = """
import sys, time
import numpy as np
from trueaxis import show_progress
from trueaxis.data import progress_bars as bars
from trueaxis.data.rows import Rows

class Slow(Rows):
    shape, dtype = (500, 2), np.dtype(float)

    def blocks(self):
        for first in range(0, 500, 10):
            time.sleep(0.03)
            if first == 300:
                print("a line", file=sys.stderr)
            if first == 400 and sys.argv[1] == "fails":
                raise ValueError("no more")
            yield first, np.zeros((10, 2))

with show_progress():
    try:
        Slow().read()
    except ValueError:
        print("failed", file=sys.stderr)
"""


@pytest.mark.slow
@posix
@pytest.mark.parametrize("how", ["ends", "fails"])
def test_bar_appears_after_a_delay_and_disappears(how):
    terminal = Terminal([sys.executable, "-c", SHOWN, how])
    assert terminal.end()[0] == 0
    done = [int(n) for n in re.findall(rb"(\d+) of 500 rows", terminal.shown)]
    assert done == sorted(done) and 0 < done[1] <= done[-1] <= 500
    assert b"selecting 500 rows" in terminal.shown
    expected = ["a line"] if how == "ends" else ["a line", "failed"]
    assert terminal.lines() == expected


TALK = """
import time, warnings
from trueaxis import show_progress
from trueaxis.data import progress_bars as bars
from trueaxis.cli import console
from trueaxis.cli.errors import warnings_as_notes
from trueaxis.data.progress import passing
bars.DELAY = 0.1
with warnings_as_notes(), show_progress():
    with passing("verdicts", 30) as advance:
        for i in range(30):
            time.sleep(0.03)
            advance(1)
            if i == 15:
                warnings.warn("beware of [bold] things")
            if i == 20:
                console.remark("12 MB [in] there")
"""


@pytest.mark.slow
@posix
def test_bars_and_other_lines_do_not_mix():
    terminal = Terminal([sys.executable, "-c", TALK])
    assert terminal.end()[0] == 0 and b"verdicts" in terminal.shown
    assert terminal.lines() == ["Note: beware of [bold] things", "12 MB [in] there"]
    assert b"rows \x1b[36m0:00:01\x1b[0m12" not in terminal.shown


@pytest.mark.slow
def test_nothing_is_shown_where_there_is_no_terminal(X, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(bars, "DELAY", 0.0)
    np.save(tmp_path / "x.npy", X)
    with show_progress():
        DSWL(3).fit(tmp_path / "x.npy")
        assert not has_listener()
    assert capfd.readouterr() == ("", "")


def test_show_progress_is_exported():
    assert trueaxis.show_progress is show_progress
