"""What goes wrong: messages, exit codes, signals, and no traces left."""

import errno
import io
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from command_line import run

import trueaxis
from trueaxis._cli.main import main
from trueaxis.datasets import planted, sensors


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("fit nowhere.csv", 1, "nowhere.csv: No such file"),
        ("fit {folder}", 1, "is a folder"),
        ("fit {pump} --columns pump,flow", 1, "contains text: 'p-0' in line 2"),
        ("fit {pump} --clean {pump}", 1, "is an input and would be overwritten"),
        ("fit {pump} --clean c.csv --flagged c.csv", 1, "--clean and --flagged would"),
        ("fit {pump} -o m.npz --clean ./m.npz", 1, "--output and --clean would both"),
        ("fit {pump} --clean c.ods", 1, "choose the ending .xlsx or .csv"),
        ("fit {pump} --flagged nowhere/c.csv", 1, "No such folder to write in"),
        ("fit {pump} --clean c.npy", 1, "holds numbers only, but 'pump' is a column"),
        ("fit {pump} --clean - --json", 2, "--json and --clean - would both"),
        ("fit {pump} --clean - --flagged -", 2, "Two tables would be written to"),
        ("score {model} {pump} -o - --clean -", 2, "Two tables would be written to"),
        ("report {pump} -o r.html --clean r.html", 1, "r.html: choose another name"),
        ("score {model} {pump} --clean {model}", 1, "is an input"),
        ("fit {pump} --drop pump,remark -k 9", 1, "n_components=9"),
        ("fit {pump} --drop pump,remark -k many", 2, "'many' is neither a number"),
        ("fit {pump} --drop pump,remark --method pcb", 2, "'pcb' is not a method"),
        ("fit {pump} --drop pump,remark --set foo=1", 2, "no parameter 'foo'"),
        ("fit {pump} --drop pump,remark --set foo", 2, "not of the form name=value"),
        ("fit {pump} --drop pump,remark --set trust=2", 1, "trust=2 is out of range"),
        ("fit {pump} --drop pump,remark --set trust=x", 1, "trust='x'"),
        ("fit {pump} --drop nix", 1, "no column 'nix'"),
        ("fit {pump} --scale log", 2, "'log' is not one of"),
        ("fit {pump} -o -", 2, "A model cannot be written to standard output"),
        ("fit", 2, "Missing argument 'DATA'"),
        ("score {model} {pump} --json -o -", 2, "choose one"),
        ("score {model} {pump} -o {pump}", 1, "is an input"),
        ("score {model} {pump} -o {model}", 1, "is an input"),
        ("score {model} {pump} -o nowhere/x.csv", 1, "No such folder to write in"),
        ("score {pump} {pump}", 1, "is not an intact trueaxis model file"),
        ("score {model} {other}", 1, "no column 'inlet'"),
        (
            "score {model} {holes} --missing error",
            1,
            "'flow' has a missing cell in line 3",
        ),
        ("compare {pump} --methods pca,pcb", 2, "'pcb' is not a method"),
        ("export {pump} x.onnx", 1, "is not an intact trueaxis model file"),
        ("report {pump} -o {folder}", 1, "is a folder"),
        ("report {pump} -o -", 2, "The report cannot be written to standard output"),
        ("demo -o nowhere/demo.html", 1, "No such folder to write in"),
        ("demo -o -", 2, "The report cannot be written to standard output"),
        ("export {model} graph", 2, "'graph' does not end in .onnx"),
        ("export {model} -", 2, "A graph cannot be written to standard output"),
        ("score {model} {pump} -o s.ods", 1, "s.ods ends in .ods"),
        ("score {model} {pump} -o s.parquet.gz", 1, "only text and JSON lines are"),
        ("transform {model} {pump} -o s.npz", 1, "choose one of these endings"),
        ("compare {pump} -o c.json", 1, "c.json ends in .json"),
        ("fit {empty}", 1, "(0 bytes) is not a .npy file"),
        ("fit {broken}", 1, "is damaged, or was not written by numpy.save"),
        ("fit nowhere.npy", 1, "nowhere.npy: No such file"),
        ("report {pump} --model {model} -k 5", 2, "--components is for a fit"),
        ("report {pump} --model {model} --scale robust", 2, "--scale is for a fit"),
        ("report {pump} --model {model} --method pca", 2, "--method is for a fit"),
        ("report {pump} --model {model} --set p=1", 2, "--set is for a fit"),
        ("score {model} {pump} --drop remark", 1, "leave out --columns and --drop"),
        ("transform {model} {pump} --columns flow", 1, "selects its columns by name"),
        ("score {model} {pump} --id flow", 1, "--id flow is a column that the model"),
        ("score {model} {pump} --label flow", 1, "--label flow is a column that"),
        ("nonsense", 2, "No such command"),
    ],
)
def test_errors_name_cause_and_place(arguments, code, message, pump, model, folder):
    holes, other = folder / "holes.csv", folder / "other.csv"
    lines = Path(pump).read_text().splitlines()[:5]
    lines[2] = lines[2].replace(lines[2].split(",")[4], "NA")
    holes.write_text("\n".join(lines))
    other.write_text("a,b\n1,2\n3,4\n")
    places = {"pump": pump, "model": model, "folder": folder}
    places |= {"holes": holes, "other": other}
    for name, content in (
        ("empty.npy", b""),
        ("broken.npz", b"PK\x03\x04 and no more"),
    ):
        places[name[:-4]] = folder / name
        places[name[:-4]].write_bytes(content)
    before = sorted(os.listdir(folder))
    found = run(*(part.format(**places) for part in arguments.split()), code=code)
    assert message in found
    assert sorted(os.listdir(folder)) == before  # nothing written


def test_parquet_files_that_are_not_there(tmp_path):
    result = CliRunner().invoke(main, ["fit", str(tmp_path / "nope.parquet")])
    assert result.exit_code == 1
    assert "nope.parquet: No such file or directory." in result.stderr


@pytest.mark.parametrize("command", [["demo"], ["report", "{pump}", "--drop", "pump"]])
def test_without_jinja_it_says_what_to_install(command, pump, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    command = [part.format(pump=pump) for part in command]
    message = run(*command, "-o", folder / "none.html", code=1)
    assert "pip install 'trueaxis[report]'" in message


def test_bugs_can_be_traced(pump, monkeypatch):
    monkeypatch.setenv("TRUEAXIS_TRACEBACK", "1")
    with pytest.raises(ValueError, match="n_components=9"):
        run("fit", pump, "--drop", "pump,remark", "-k", 9)
    with pytest.raises(FileNotFoundError):
        run("fit", "nowhere.csv")


@pytest.mark.slow
def test_warnings_are_sentences(folder):
    path = folder / "cloud.npy"
    np.save(path, planted("ocs", n=80).X)
    command = [sys.executable, "-m", "trueaxis", "fit", path, "-k", "3"]
    command += ["--method", "l2p-pca", "--set", "max_iter=1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.startswith("Note: L2pPCA stopped after 1 iterations")
    assert ".py" not in done.stderr


def test_errors_and_warnings_cannot_steer_the_terminal(folder, monkeypatch):
    path = folder / "header.csv"
    path.write_text("a\x1b[2J,b\r\n1,2\n3,4\n")

    def warn(as_json):
        warnings.warn("odd \x1b[2J cells", stacklevel=1)

    monkeypatch.setattr("trueaxis._cli.commands.methods", warn)
    for arguments, message in (
        (
            ["fit", str(path), "--drop", "nix"],
            "The columns are 'a\\x1b[2J', 'b'",
        ),
        (["fit", "no\x1b[2J.csv"], "no\N{REPLACEMENT CHARACTER}[2J.csv: No such file"),
        (["methods"], "Note: odd \N{REPLACEMENT CHARACTER}[2J cells"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            result = CliRunner().invoke(main, arguments, color=True)
        assert message in result.output and "\x1b" not in result.output


@pytest.mark.skipif(os.name != "posix", reason="needs pipes that can be polled")
def test_a_closed_pipe_is_no_error(pump, model, monkeypatch):
    reader, writer = os.pipe()
    os.close(reader)
    message = io.StringIO()
    with os.fdopen(writer, "w") as closed:
        monkeypatch.setattr("sys.stdout", closed)
        monkeypatch.setattr("sys.stderr", message)
        with pytest.raises(SystemExit) as left:
            main(["score", model, pump])
    assert message.getvalue() == "" and left.value.code == 0


@pytest.mark.skipif(os.name != "posix", reason="needs pipes that can be polled")
def test_another_broken_pipe_is_an_error(pump, model, monkeypatch):
    def disconnected(*given, **options):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("trueaxis._cli.commands.score", disconnected)
    done = CliRunner().invoke(main, ["score", model, pump])
    assert done.exit_code == 1 and "Broken pipe" in done.stderr


@pytest.mark.soak
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing(number, tmp_path):
    data, target = tmp_path / "data.npy", tmp_path / "model.npz"
    np.save(data, sensors().X)
    target.write_bytes(b"what was there")
    # The disk takes its time: the signal finds the new file half-written.
    code = (
        "import os, sys, time\n"
        "from trueaxis._cli.process.start import main\n"
        "def slow(file):\n"
        "    print('writing', flush=True)\n"
        "    time.sleep(60)\n"
        "os.fsync = slow\n"
        "main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, "fit", data, "-o", target]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"writing\n"
        assert len(os.listdir(tmp_path)) == 3
        process.send_signal(number)
        assert process.wait(30) == 128 + number
    assert sorted(os.listdir(tmp_path)) == ["data.npy", "model.npz"]
    assert target.read_bytes() == b"what was there"


# ---------------------------------------------------------------- pipes, exit codes

COMMAND = [sys.executable, "-m", "trueaxis"]
posix = pytest.mark.skipif(os.name != "posix", reason="needs a shell")


@pytest.mark.soak
@posix
@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        "--help",
        "fit --help",
        "methods",
        "methods --json",
        "fit {pump} -k 2 --id pump",
        "fit {pump} -k 2 --id pump --json",
        "fit {pump} -k 2 --id pump --clean -",
        "score {model} {pump}",
        "score {model} {pump} --json",
        "transform {model} {pump}",
        "repair {pump} -k 2 --id pump",
        "compare {pump} -k 2 --id pump --methods pca,dswl",
    ],
)
def test_a_reader_may_leave_early(arguments, pump, model):
    command = [*COMMAND, *arguments.format(pump=pump, model=model).split()]
    # The reader is gone before the first byte, or leaves after the first line.
    for read_first in (False, True):
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            if read_first:
                assert process.stdout.read(1)
            process.stdout.close()
            errors = process.stderr.read().decode()
            assert process.wait(60) == 0, errors
        assert "Error" not in errors and "Traceback" not in errors
        assert "Exception ignored" not in errors and "Broken pipe" not in errors


@pytest.mark.soak
@posix
@pytest.mark.slow
def test_a_long_table_may_be_cut_off(tmp_path):
    X = np.random.default_rng(0).standard_normal((30_000, 3))
    np.save(tmp_path / "x.npy", X)
    run("fit", tmp_path / "x.npy", "-k", 1, "-o", tmp_path / "m.npz")
    shell = f"{' '.join(COMMAND)} score m.npz x.npy | head -3; echo ${{PIPESTATUS[*]}}"
    done = subprocess.run(
        ["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr == "" and done.stdout.splitlines()[-1] == "0 0"
    assert len(done.stdout.splitlines()) == 4


@pytest.mark.soak
@posix
@pytest.mark.slow
def test_notes_that_nobody_reads_do_not_stop_the_work(pump, tmp_path):
    command = [*COMMAND, "fit", pump, "-k", "2", "-o", str(tmp_path / "m.npz")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stderr.close()
        assert b"outliers" in process.stdout.read()
        assert process.wait(60) == 0
    assert (tmp_path / "m.npz").exists()


@pytest.mark.soak
@posix
@pytest.mark.slow
def test_closed_streams_are_no_error(pump, tmp_path):
    fit = f"{' '.join(COMMAND)} fit {pump} -k 2 -o m.npz"
    for redirect, code in (("", 0), (">&-", 0), ("2>&-", 0), (">&- 2>&- <&-", 0)):
        (tmp_path / "m.npz").unlink(missing_ok=True)
        done = subprocess.run(
            ["bash", "-c", f"{fit} {redirect}"], cwd=tmp_path, capture_output=True
        )
        assert done.returncode == code, done.stderr
        assert b"Traceback" not in done.stderr
        assert trueaxis.load(tmp_path / "m.npz").n_components_ == 2
    if Path("/dev/full").exists():
        methods = f"{' '.join(COMMAND)} methods > /dev/full"
        done = subprocess.run(["bash", "-c", methods], capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stderr.startswith("Error: Standard output: No space left on")


@pytest.mark.soak
@posix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"), [("methods", 0), ("fit nowhere.csv", 1), ("fit --nix", 2)]
)
def test_exit_codes(arguments, code):
    done = subprocess.run([*COMMAND, *arguments.split()], capture_output=True)
    assert done.returncode == code


def test_a_note_has_a_line_of_its_own(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("Run 7\nflow;power;temp\n1,5;2;3\n2,5;inf;4\n3,5;4;5\n")
    lines = run("fit", path, code=1).splitlines()
    assert lines[0].startswith("Error: Column 'power' has an infinite cell in line 4")
    assert lines[1].startswith("Note: Read as cells separated by ';'")
