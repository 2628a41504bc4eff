"""How far a pass is, who is told, and how soon Ctrl-C ends it."""

import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress

import dask.array as da
import numpy as np
import psutil
import pyarrow
import pyarrow.parquet as parquet
import pytest

import trueaxis
from trueaxis import DSWL, METHODS, open_rows, show_progress
from trueaxis._engine.kernels import DistanceKernel
from trueaxis._engine.starts import equal_weights
from trueaxis._rows import progress_bars as bars
from trueaxis._rows import spooled as spool
from trueaxis._rows.base import ArrayRows, Rows
from trueaxis._rows.progress import during, heard, heard_by, passing
from trueaxis.datasets import planted

posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and terminals")
N, D = 9000, 20


@pytest.fixture(scope="module")
def X():
    return planted("ocs", n=N, share=0.2).X


def write_parquet(path, X):
    table = pyarrow.table({f"x{i}": X[:, i] for i in range(X.shape[1])})
    parquet.write_table(table, path, row_group_size=1000)


class Listener:
    """Keeps what it hears: title, rows in all, rows done, whether it is over."""

    def __init__(self):
        self.passes, self.open = [], 0

    @contextmanager
    def __call__(self, title, total):
        heard = [title, total, 0]
        self.passes.append(heard)
        self.open += 1

        def advance(rows):
            heard[2] += rows

        try:
            yield advance
        finally:
            self.open -= 1

    @property
    def titles(self):
        return [title for title, _, _ in self.passes]

    def complete(self):
        return self.open == 0 and all(done == total for _, total, done in self.passes)


# ------------------------------------------------------------------------- who hears


@pytest.fixture(params=["npy", "spool", "no spool", "dask"])
def source(request, X, tmp_path):
    if request.param == "npy":
        np.save(tmp_path / "x.npy", X)
        return open_rows(tmp_path / "x.npy", block_rows=1000)
    if request.param == "dask":
        return da.from_array(X, chunks=(1000, -1))
    write_parquet(tmp_path / "x.parquet", X)
    return open_rows(tmp_path / "x.parquet", spool=request.param == "spool")


def test_every_pass_of_a_fit_is_told_to_its_last_row(source, monkeypatch):
    monkeypatch.setattr(spool, "FREE_READS", 0)
    listener = Listener()
    with heard_by(listener):
        model = DSWL(3).fit(source)
    assert {"weights and subspace", "verdicts"} <= set(listener.titles)
    assert listener.complete()
    decoded = listener.titles.count("decoding")
    spooled = type(source).__name__ == "SpooledRows"
    assert decoded == spooled
    np.testing.assert_array_equal(DSWL(3).fit(source).components_, model.components_)


def test_iterations_are_counted(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    listener = Listener()
    with heard_by(listener):
        model = METHODS["l2p-pca"](3).fit(tmp_path / "x.npy")
    told = [title for title in listener.titles if "iteration" in title]
    assert told[0].endswith("iteration 1") and listener.complete()
    last = max(int(title.split()[-1]) for title in told)
    assert last >= model.n_iter_ > 1


def test_other_questions_are_told_too(source):
    model, listener = DSWL(3).fit(source), Listener()
    with heard_by(listener):
        model.predict(source)
        scores = model.transform(source)
    lazy = not isinstance(scores, np.ndarray)
    assert lazy or {"distances", "transforming"} <= set(listener.titles)
    assert listener.complete()


def test_rows_in_memory_are_not_told(X):
    listener = Listener()
    with heard_by(listener):
        DSWL(3).fit(X)
        METHODS["r1-pca"](3).fit(X)
    assert not listener.passes


def test_nobody_else_hears(X):
    assert not heard()
    listener, seen = Listener(), []
    with heard_by(listener):
        assert heard()
        other = threading.Thread(target=lambda: seen.append(heard()))
        other.start()
        other.join()
    assert seen == [False] and not heard()
    with passing("reading", 3) as advance:
        advance(3)
    with heard_by(listener), during("iteration 2"), passing("axes", 3):
        pass
    assert listener.titles == ["axes, iteration 2"]


def test_kernels_keep_their_titles_on_the_way_to_workers(X):
    state = equal_weights(ArrayRows(X), 3)
    assert pickle.loads(pickle.dumps(DistanceKernel(state))).title == "distances"


# ------------------------------------------------------------------ Ctrl-C, in Python


class Interrupting(Rows):
    """A source whose own process gets a signal while block 5 is read."""

    def __init__(self, X, at=5):
        self.X, self.at, self.given = X, at, 0
        self.shape, self.dtype = X.shape, X.dtype

    def blocks(self):
        for first in range(0, len(self.X), 100):
            self.given += 1
            if self.given == self.at:
                os.kill(os.getpid(), signal.SIGINT)
            yield first, self.X[first : first + 100]


@posix
@pytest.mark.parametrize("at", [5, 90 + 5, 180 + 5])
def test_an_interrupt_ends_a_pass_at_once(at, X):
    rows, listener = Interrupting(X, at), Listener()
    with heard_by(listener), pytest.raises(KeyboardInterrupt):
        DSWL(3).fit(rows)
    assert rows.given == at and listener.open == 0


@posix
@pytest.mark.parametrize("what", ["read", "transform", "predict"])
def test_an_interrupt_ends_other_work_at_once(what, X):
    model, rows = DSWL(3).fit(X), Interrupting(X)
    work = rows.read if what == "read" else lambda: getattr(model, what)(rows)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert rows.given == 5


@posix
def test_an_interrupt_ends_decoding_at_once(X, tmp_path, monkeypatch):
    write_parquet(tmp_path / "x.parquet", X)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(spool, "FREE_READS", 0)
    rows, listener = open_rows(tmp_path / "x.parquet", block_rows=100), Listener()
    inner, given = rows.rows.blocks, []

    def blocks():
        for first, block in inner():
            given.append(first)
            if len(given) == 5:
                os.kill(os.getpid(), signal.SIGINT)
            yield first, block

    rows.rows.blocks = blocks
    with heard_by(listener), pytest.raises(KeyboardInterrupt):
        DSWL(3).fit(rows)
    assert len(given) == 5 and listener.open == 0 and "decoding" in listener.titles
    assert os.listdir(tmp_path) == ["x.parquet"]


# ---------------------------------------------------------------------- on a terminal


class Terminal:
    """A pseudo-terminal for the standard error of a process, and what it showed."""

    def __init__(self, command, **options):
        import pty

        self.fd, child = pty.openpty()
        self.out = tempfile.TemporaryFile()
        options = {"stdout": self.out, "env": quiet()} | options
        self.process = subprocess.Popen(command, stderr=child, **options)
        os.close(child)
        self.shown = b""

    def read(self):
        try:
            chunk = os.read(self.fd, 4096)
        except OSError:  # the other end is closed
            chunk = b""
        self.shown += chunk
        return chunk

    def until(self, text):
        while text not in self.shown:
            assert self.read(), self.shown

    def end(self):
        while self.read():
            pass
        os.close(self.fd)
        code = self.process.wait(30)
        with self.out:
            self.out.seek(0)
            return code, self.out.read()

    def lines(self):
        """What is left on the screen, where every line may be written again."""
        rows, at = [""], 0
        plain = re.sub(r"\x1b\[[0-9;]*m|\x1b\[\?25[hl]", "", self.shown.decode())
        for piece in re.findall(r"\x1b\[\d*[A-K]|\r|\n|[^\x1b\r\n]+", plain):
            if piece == "\n":
                at += 1
                rows += [""] * (at + 1 - len(rows))
            elif piece.endswith("A") and piece[0] == "\x1b":
                at -= int(piece[2:-1] or 1)
            elif piece.startswith("\x1b[2K"):
                rows[at] = ""
            elif piece != "\r":
                rows[at] = piece
        return [row for row in rows if row.strip()]


def quiet():
    """An environment in which nothing but the stream tells whether it is a terminal."""
    hidden = ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return kept | {"TERM": "xterm", "OMP_NUM_THREADS": "1"}


# The command line with blocks that take their time, and files that are large early.
SLOW = """
import sys, time
from trueaxis._rows import progress_bars as bars
from trueaxis._rows import spooled as spool
from trueaxis._cli import streaming
from trueaxis._rows.checked import CheckedRows
bars.PATIENCE, streaming.LARGE_BYTES, spool.FREE_READS = 0.05, 0, 0
read = CheckedRows.blocks

def slowly(self):
    for first, block in read(self):
        time.sleep(float(sys.argv[1]))
        yield first, block

CheckedRows.blocks = slowly
from trueaxis._cli.main import main
main(sys.argv[2:])
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    X = planted("ocs", n=60_000, share=0.2).X
    np.save(folder / "x.npy", X)
    write_parquet(folder / "x.parquet", X)
    model = DSWL(3).fit(X[:5000])
    trueaxis.save(model, folder / "model.npz", training=False)
    return folder


def slow_command(seconds, *arguments):
    return [sys.executable, "-c", SLOW, str(seconds), *map(str, arguments)]


@posix
def test_a_terminal_gets_bars_and_keeps_other_lines(files):
    terminal = Terminal(slow_command(0.05, "fit", files / "x.parquet"))
    code, out = terminal.end()
    assert code == 0 and b"of 60,000 rows are bad" in out
    assert b"verdicts" in terminal.shown and b"weights and subspace" in terminal.shown
    assert b" of 60,000 rows" in terminal.shown
    # The bars are gone; what was said meanwhile is there, and the cursor.
    (line,) = terminal.lines()
    assert line.startswith("Decoding 60,000 rows to a temporary file of 9.6 MB")
    assert terminal.shown.rfind(b"\x1b[?25h") > terminal.shown.rfind(b"\x1b[?25l")


@posix
@pytest.mark.parametrize("target", ["-", "out.parquet"])
def test_scores_get_a_bar_and_go_where_they_should(target, files, tmp_path):
    command = slow_command(0.1, "score", files / "model.npz", files / "x.npy")
    command += ["-o", target if target == "-" else str(tmp_path / target)]
    terminal = Terminal(command)
    code, out = terminal.end()
    assert code == 0 and b"scoring" in terminal.shown and not terminal.lines()
    if target == "-":
        assert out.count(b"\n") == 60_001 and b"scoring" not in out
    else:
        assert parquet.read_metadata(tmp_path / target).num_rows == 60_000


@posix
@pytest.mark.parametrize("file", ["x.npy", "x.parquet"])
def test_a_pipe_gets_no_bar(file, files):
    command = slow_command(0.02, "fit", files / file)
    done = subprocess.run(command, capture_output=True, env=quiet())
    assert done.returncode == 0 and b"rows are bad" in done.stdout
    told = done.stderr.decode().splitlines()
    assert [line[:8] for line in told] == ["Decoding"] * (file == "x.parquet")


@posix
@pytest.mark.parametrize("file", ["x.npy", "x.parquet"])
@pytest.mark.parametrize("command", ["fit", "score", "transform"])
def test_an_interrupted_command_leaves_nothing(command, file, files, tmp_path):
    scratch, target = tmp_path / "tmp", tmp_path / "out"
    scratch.mkdir(), target.mkdir()
    model = [] if command == "fit" else [files / "model.npz"]
    output = target / ("new.npz" if command == "fit" else "new.parquet")
    terminal = Terminal(
        slow_command(0.1, command, *model, files / file, "-o", output),
        env=quiet() | {"TMPDIR": str(scratch)},
    )
    terminal.until(b" of 60,000 rows")
    begin = time.monotonic()
    terminal.process.send_signal(signal.SIGINT)
    code, out = terminal.end()
    assert code == 130 and out == b"" and time.monotonic() - begin < 10
    assert terminal.lines()[-1] == "Interrupted."
    assert not any(" of 60,000 rows" in line for line in terminal.lines())
    assert os.listdir(scratch) == os.listdir(target) == []


@posix
def test_an_interrupt_without_a_terminal_is_one_line(files, tmp_path):
    code = SLOW.replace(
        "    for first", "    print('begun', flush=True)\n    for first"
    )
    command = [sys.executable, "-c", code, "0.1", "fit", str(files / "x.npy")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=quiet()
    )
    assert process.stdout.readline() == b"begun\n"
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130 and told == b"Interrupted.\n"


def wait_for_workers(pid, n, most=60.0):
    """Until a process has so many children that have worked for a while."""
    end = time.monotonic() + most
    while time.monotonic() < end:
        busy = 0
        for child in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                busy += sum(child.cpu_times()[:2]) > 1.5
        if busy >= n:
            return
        time.sleep(0.05)
    raise AssertionError(f"no {n} workers in {most} s")


@posix
@pytest.mark.slow
def test_a_terminal_interrupts_workers_quietly(files, tmp_path):
    many, scratch = tmp_path / "many", tmp_path / "scratch"
    many.mkdir(), scratch.mkdir()
    for number in range(40):
        (many / f"{number:02}.npy").symlink_to(files / "x.npy")
    command = [
        sys.executable, "-m", "trueaxis._cli.main", "fit", str(many), "--workers", "2",
        "--method", "l2p-pca", "--set", "max_iter=100000", "--set", "tol=1e-300",
    ]  # fmt: skip
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=quiet() | {"TMPDIR": str(scratch)},
    )
    wait_for_workers(process.pid, 2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to workers, too
    begin = time.monotonic()
    out, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert out == b"" and time.monotonic() - begin < 20
    assert told.decode().splitlines()[-1] == "Interrupted."
    assert b"Traceback" not in told


# ------------------------------------------------------------------------- in Python


SHOWN = """
import sys, time
import numpy as np
from trueaxis import show_progress
from trueaxis._rows import progress_bars as bars
from trueaxis._rows.base import Rows

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


@posix
@pytest.mark.parametrize("how", ["ends", "fails"])
def test_a_bar_comes_after_a_while_and_goes(how):
    terminal = Terminal([sys.executable, "-c", SHOWN, how])
    assert terminal.end()[0] == 0
    done = [int(n) for n in re.findall(rb"(\d+) of 500 rows", terminal.shown)]
    assert done == sorted(done) and 0 < done[1] <= done[-1] <= 500
    assert b"looking for 500 rows" in terminal.shown
    expected = ["a line"] if how == "ends" else ["a line", "failed"]
    assert terminal.lines() == expected


TALK = """
import logging, time, warnings
from trueaxis import show_progress
from trueaxis._rows import progress_bars as bars
from trueaxis._cli import console
from trueaxis._cli.errors import warnings_as_notes
from trueaxis._rows.progress import passing
from trueaxis._cli.streaming import forward_log
bars.PATIENCE = 0.1
with warnings_as_notes(), show_progress(), forward_log(console.remark):
    with passing("verdicts", 30) as advance:
        for i in range(30):
            time.sleep(0.03)
            advance(1)
            if i == 15:
                warnings.warn("beware of [bold] things")
            if i == 20:
                logging.getLogger("trueaxis").info("12 MB [in] there")
"""


@posix
def test_bars_and_other_lines_do_not_mix():
    terminal = Terminal([sys.executable, "-c", TALK])
    assert terminal.end()[0] == 0 and b"verdicts" in terminal.shown
    assert terminal.lines() == ["Note: beware of [bold] things", "12 MB [in] there"]
    assert b"rows \x1b[36m0:00:01\x1b[0m12" not in terminal.shown


def test_nothing_is_shown_where_there_is_no_terminal(X, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(bars, "PATIENCE", 0.0)
    np.save(tmp_path / "x.npy", X)
    with show_progress():
        DSWL(3).fit(tmp_path / "x.npy")
        assert not heard()
    assert capfd.readouterr() == ("", "")


def test_the_door_is_lazy():
    assert trueaxis.show_progress is show_progress
