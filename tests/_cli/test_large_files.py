"""Commands on large files: results, progress bars and interrupts."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import click.testing
import numpy as np
import pandas
import psutil
import pyarrow.parquet as parquet
import pytest
from pseudo_terminal import Terminal, plain_environment
from row_sources import NAMES, D, N, posix, write_parquet

import trueaxis
from trueaxis import DSWL
from trueaxis._cli import streaming
from trueaxis._cli.main import main
from trueaxis.datasets import planted

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def X():
    return planted("ocs", n=N, share=0.2).X


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["parquet", "npy"])
@pytest.mark.parametrize("scale", ["none", "robust"])
def test_commands_stream_large_files(ending, scale, X, tmp_path, monkeypatch):
    data = tmp_path / f"x.{ending}"
    X = X[:1000]
    np.save(data, X) if ending == "npy" else write_parquet(data, X)
    model = str(tmp_path / "model.npz")
    run = click.testing.CliRunner().invoke
    cases = [("score", "csv"), ("score", "parquet"), ("transform", "tsv")]

    def written(name):
        found = []
        for command, kind in cases:
            target = tmp_path / f"{command}-{name}.{kind}"
            done = run(main, [command, model, str(data), "-o", str(target)])
            assert done.exit_code == 0, done.output
            found.append(target)
        printed = run(main, ["score", model, str(data), "--json"]).stdout
        return found, json.loads(printed)["outliers"]

    assert run(main, ["fit", str(data), "-o", model, "--scale", scale]).exit_code == 0
    whole, counts = written("whole")
    monkeypatch.setattr(streaming, "LARGE_BYTES", 0)
    monkeypatch.setattr(streaming, "BLOCK_BYTES", 8 * D * 300)
    streamed, streamed_counts = written("streamed")
    assert counts == streamed_counts
    if scale == "none":
        again = tmp_path / "again.npz"
        done = run(main, ["fit", str(data), "-o", str(again)])
        assert done.exit_code == 0 and "of 1,000 rows are bad" in done.output
        one, two = trueaxis.load(model), trueaxis.load(again)
        np.testing.assert_array_equal(one.components_, two.components_)
        assert one.feature_names_in_.tolist() == two.feature_names_in_.tolist()
        found = json.loads(run(main, ["fit", str(data), "--json"]).stdout)
        assert found["outliers"]["count"] == (~one.support_).sum()
    for one, two in zip(whole, streamed, strict=True):
        if one.suffix == ".parquet":
            here, there = (parquet.read_table(path).to_pandas() for path in (one, two))
        else:
            here, there = (
                pandas.read_csv(path, sep=None, engine="python") for path in (one, two)
            )
        pandas.testing.assert_frame_equal(here, there, rtol=1e-9, atol=1e-12)


def test_commands_refuse_duplicate_column_names(X, tmp_path):
    names = ["a", "b", "a", "a", *NAMES[4:]]
    write_parquet(tmp_path / "x.parquet", X[:50], names)
    run = click.testing.CliRunner().invoke
    (tmp_path / "folder").mkdir()
    write_parquet(tmp_path / "folder" / "x.parquet", X[:50], names)
    for data in ("x.parquet", "folder"):
        done = run(main, ["fit", str(tmp_path / data)])
        assert done.exit_code == 1 and "has 3 columns named 'a'" in done.output
        assert "Traceback" not in done.output


def test_commands_refuse_folders_without_rows(X, tmp_path):
    (tmp_path / "none").mkdir()
    write_parquet(tmp_path / "none" / "x.parquet", X[:0])
    trueaxis.save(DSWL(3).fit(X[:200]), tmp_path / "model.npz")
    run = click.testing.CliRunner().invoke
    for command, target in (("score", "s.csv"), ("transform", "t.npy")):
        given = [str(tmp_path / name) for name in ("model.npz", "none", target)]
        done = run(main, [command, *given[:2], "-o", given[2]])
        assert done.exit_code == 1 and "none has no rows" in done.output
        assert not (tmp_path / target).exists()


def test_commands_report_where_a_large_file_is_bad(X, tmp_path, monkeypatch):
    X = X[:1000].copy()
    np.save(tmp_path / "good.npy", X)
    X[700, 3] = np.inf
    write_parquet(tmp_path / "bad.parquet", X)
    write_parquet(tmp_path / "few.parquet", X[:, :5], NAMES[:5])
    model, run = str(tmp_path / "m.npz"), click.testing.CliRunner().invoke
    run(main, ["fit", str(tmp_path / "good.npy"), "-o", model])
    monkeypatch.setattr(streaming, "LARGE_BYTES", 0)
    target = tmp_path / "out.csv"
    done = run(main, ["score", model, str(tmp_path / "bad.parquet"), "-o", str(target)])
    assert done.exit_code == 1 and "bad.parquet, row 700, column" in done.output
    X[700, 3] = np.nan
    write_parquet(tmp_path / "bad.parquet", X)
    given = ["score", model, str(tmp_path / "bad.parquet"), "-o", str(target)]
    done = run(main, [*given, "--missing", "error"])
    assert done.exit_code == 1 and "contains NaN in" in done.output
    assert "bad.parquet, row 700, column" in done.output
    assert "On the command line: --method dswl" in done.output
    done = run(main, ["score", model, str(tmp_path / "few.parquet"), "-o", str(target)])
    assert done.exit_code == 1 and "There is no column 'x5'" in done.output
    assert not target.exists()


# The command line with slow blocks, which treats every file as large.
SLOW = """
import sys, time
from trueaxis.data import progress
from trueaxis._cli import streaming
from trueaxis.data.rows import Rows
from trueaxis.data.transformed import CheckedRows
progress.DELAY, streaming.LARGE_BYTES = 0.05, 0
scan, read = Rows._small_blocks, CheckedRows.blocks

def scan_slowly(self, blocks):
    for first, block in scan(self, blocks):
        time.sleep(0 if self.in_memory else float(sys.argv[1]))
        yield first, block

def read_slowly(self):
    for first, block in read(self):
        time.sleep(float(sys.argv[1]))
        yield first, block

Rows._small_blocks, CheckedRows.blocks = scan_slowly, read_slowly
from trueaxis._cli.process.start import main
main(sys.argv[2:])
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    X = planted("ocs", n=60_000, share=0.2).X
    np.save(folder / "x.npy", X)
    write_parquet(folder / "x.parquet", X, row_group_size=1000)
    model = DSWL(3).fit(X[:5000])
    trueaxis.save(model, folder / "model.npz", training=False)
    return folder


def slow_command(seconds, *arguments):
    return [sys.executable, "-c", SLOW, str(seconds), *map(str, arguments)]


@pytest.mark.slow
@posix
def test_a_terminal_gets_bars_and_keeps_other_lines(files):
    terminal = Terminal(slow_command(0.05, "fit", files / "x.parquet"))
    code, out = terminal.end()
    assert code == 0 and b"of 60,000 rows are bad" in out
    assert b"verdicts" in terminal.shown and b"weights and subspace" in terminal.shown
    assert b" of 60,000 rows" in terminal.shown
    # The bars are gone, and the cursor is visible again.
    assert not terminal.lines()
    assert terminal.shown.rfind(b"\x1b[?25h") > terminal.shown.rfind(b"\x1b[?25l")


@pytest.mark.slow
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


@pytest.mark.slow
@posix
@pytest.mark.parametrize("file", ["x.npy", "x.parquet"])
def test_a_pipe_gets_no_bar(file, files):
    command = slow_command(0.02, "fit", files / file)
    done = subprocess.run(command, capture_output=True, env=plain_environment())
    assert done.returncode == 0 and b"rows are bad" in done.stdout
    assert not done.stderr


@pytest.mark.slow
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
        env=plain_environment() | {"TMPDIR": str(scratch)},
    )
    terminal.until(b" of 60,000 rows")
    begin = time.monotonic()
    terminal.process.send_signal(signal.SIGINT)
    code, out = terminal.end()
    assert code == 130 and out == b"" and time.monotonic() - begin < 10
    assert terminal.lines()[-1] == "Interrupted."
    assert not any(" of 60,000 rows" in line for line in terminal.lines())
    assert os.listdir(scratch) == os.listdir(target) == []


@pytest.mark.slow
@posix
def test_an_interrupt_without_a_terminal_is_one_line(files, tmp_path):
    code = SLOW.replace(
        "    for first", "    print('begun', flush=True)\n    for first"
    )
    command = [sys.executable, "-c", code, "0.1", "fit", str(files / "x.npy")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=plain_environment()
    )
    assert process.stdout.readline() == b"begun\n"
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130 and told == b"Interrupted.\n"


def wait_for_workers(pid, n, most=60.0):
    """Wait until n child processes have computed for a while."""
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
        sys.executable, "-m", "trueaxis", "fit", str(many), "--workers", "2",
        "--method", "l2p-pca", "--set", "max_iter=100000", "--set", "tol=1e-300",
    ]  # fmt: skip
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=plain_environment() | {"TMPDIR": str(scratch)},
    )
    wait_for_workers(process.pid, 2)
    os.killpg(process.pid, signal.SIGINT)  # to the workers as well, as a terminal does
    begin = time.monotonic()
    out, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert out == b"" and time.monotonic() - begin < 20
    assert told.decode().splitlines()[-1] == "Interrupted."
    assert b"Traceback" not in told
