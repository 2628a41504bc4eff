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

from trueaxis._cli.main import main
from trueaxis.datasets import planted, sensors


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("fit nowhere.csv", 1, "nowhere.csv: No such file"),
        ("fit {folder}", 1, "is a folder"),
        ("fit {pump}", 1, "'pump' ('p-0' in line 2)"),
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
        ("score {pump} {pump}", 1, "is not a trueaxis model file"),
        ("score {model} {other}", 1, "no column 'inlet'"),
        (
            "score {model} {holes} --missing error",
            1,
            "'flow' has a missing cell in line 3",
        ),
        ("compare {pump} --methods pca,pcb", 2, "'pcb' is not a method"),
        ("export {pump} x.onnx", 1, "is not a trueaxis model file"),
        ("report {pump} -o {folder}", 1, "is a folder"),
        ("report {pump} -o -", 2, "The report cannot be written to standard output"),
        ("demo -o nowhere/demo.html", 1, "No such folder to write in"),
        ("demo -o -", 2, "The report cannot be written to standard output"),
        ("export {model} -", 2, "A graph cannot be written to standard output"),
        ("score {model} {pump} -o s.xlsx", 1, "s.xlsx ends in .xlsx"),
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
    command = [sys.executable, "-m", "trueaxis._cli.main", "fit", path, "-k", "3"]
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
            "the columns are a\N{REPLACEMENT CHARACTER}[2J",
        ),
        (["fit", "no\x1b[2J.csv"], "no\N{REPLACEMENT CHARACTER}[2J.csv: No such file"),
        (["methods"], "Note: odd \N{REPLACEMENT CHARACTER}[2J cells"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            result = CliRunner().invoke(main, arguments, color=True)
        assert message in result.output and "\x1b" not in result.output


def test_a_closed_pipe_is_no_error(pump, model, monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    message = io.StringIO()
    monkeypatch.setattr("sys.stdout", Closed())
    monkeypatch.setattr("sys.stderr", message)
    with pytest.raises(SystemExit):
        main(["score", model, pump])
    assert message.getvalue() == ""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing(number, tmp_path):
    data, target = tmp_path / "data.npy", tmp_path / "model.npz"
    np.save(data, sensors().X)
    target.write_bytes(b"what was there")
    # The disk takes its time: the signal finds the new file half-written.
    code = (
        "import os, sys, time\n"
        "from trueaxis._cli.main import main\n"
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
        assert process.wait(30) != 0
    assert sorted(os.listdir(tmp_path)) == ["data.npy", "model.npz"]
    assert target.read_bytes() == b"what was there"
