"""A bar on a terminal for each longer pass over a file."""

import io
import time

import numpy as np
import pytest
import rich.console

from trueaxis import DSWL, open_rows
from trueaxis.data import progress, show_progress
from trueaxis.data.rows import Kernel


@pytest.fixture
def terminal(monkeypatch):
    """What is written to a standard error that is a terminal."""
    written, console = io.StringIO(), rich.console.Console

    def make(**options):
        return console(file=written, force_terminal=True, width=120)

    monkeypatch.setattr(rich.console, "Console", make)
    monkeypatch.setattr(progress, "DELAY", 0.0)
    return written


class Slow(Kernel):
    """Kernel that takes longer than the bar to be drawn."""

    title = "slow sums"

    def start(self):
        return None

    def absorb(self, state, block, first):
        time.sleep(0.06)


def test_a_long_pass_has_a_bar_that_disappears(folder, terminal):
    rows = open_rows(folder / "all.npy", block_rows=2_000)
    with show_progress():
        rows.scan(Slow())
    written = terminal.getvalue()
    assert "slow sums" in written and "of 9,000 rows" in written
    rows.scan(Slow())  # outside
    assert terminal.getvalue() == written


def test_short_passes_and_rows_in_memory_have_none(X, folder, terminal, monkeypatch):
    with show_progress():
        DSWL(3).fit(X)
    monkeypatch.setattr(progress, "DELAY", 60.0)
    with show_progress():
        DSWL(3).fit(open_rows(folder / "all.npy"))
    assert "rows" not in terminal.getvalue()


def test_nothing_is_written_to_files_and_pipes(folder, capfd):
    with show_progress():
        DSWL(3).fit(np.load(folder / "all.npy", mmap_mode="r"))
    assert capfd.readouterr() == ("", "")
