"""What goes wrong: messages, exit codes, and nothing left behind."""

import os
import re
import sys
from pathlib import Path

import click
import pytest
from command_line import invoke, run

from trueaxis.cli.main import READING, main

# What is wrong with the arguments, the exit code, and what the message says.
FLAWS = [
    ("fit nowhere.csv", 1, "nowhere.csv: No such file"),
    ("fit {folder}", 1, "is a folder"),
    ("fit {pump} --columns pump,flow", 1, "contains text: 'p-0' in line 2"),
    ("fit {pump} --clean {pump}", 1, "is an input and would be overwritten"),
    ("fit {pump} --clean c.csv --flagged c.csv", 1, "--clean and --flagged would"),
    ("fit {pump} --clean c.ods", 1, "choose one of these endings"),
    ("fit {pump} --flagged nowhere/c.csv", 1, "No such folder to write in"),
    ("fit {pump} --clean - --json", 1, "--clean and --json would both"),
    ("fit {pump} --clean - --flagged -", 1, "--clean and --flagged would both"),
    ("score {model} {pump} -o - --clean -", 1, "--output and --clean would both"),
    ("fit {pump} --drop pump -k 9", 1, "n_components=9"),
    ("fit {pump} --drop pump -k many", 2, "'many' is neither a number"),
    ("fit {pump} --drop pump --method pcb", 2, "'pcb' is not a method"),
    ("fit {pump} --drop pump --set foo=1", 2, "no parameter 'foo'"),
    ("fit {pump} --drop pump --set foo", 2, "not of the form name=value"),
    ("fit {pump} --drop pump --set trust=2", 1, "trust=2 is out of range"),
    ("fit {pump} --method pca --set cells=true", 2, "pca has no parameter 'cells'"),
    ("fit {pump} --level 0.1 --set contamination=0.1", 2, "give one of them"),
    ("fit {pump} --read decimal=x", 2, "decimal: 'x' is not one of"),
    ("fit {pump} --read colour=red", 2, "'colour' is not one of decimal"),
    ("fit {pump} --encode one-hot", 2, "'one-hot' is neither log=A,B nor categories"),
    ("fit {pump} --drop nix", 1, "no column 'nix'"),
    ("fit {pump} --scale log", 2, "'log' is not one of"),
    ("fit {pump} -o -", 1, "cannot be written to standard output"),
    ("fit", 2, "Missing argument 'DATA'"),
    ("fit --nix", 2, "No such option"),
    ("score {pump} {pump}", 1, "is not an intact trueaxis model file"),
    ("score {model} {other}", 1, "no column 'inlet'"),
    ("score {model} {other}", 1, "The model was fitted on 'inlet', "),
    ("score {model} {holes} --read missing=error", 1, "has a missing cell in line 3"),
    ("score {model} {pump} --drop remark", 1, "leave out --columns and --drop"),
    ("score {model} {pump} --id flow", 1, "--id flow is a column that the model"),
    ("transform {model} {pump} -o s.npz", 1, "choose one of these endings"),
    ("transform {model} {pump} -o s.npy", 1, "choose one of these endings"),
    ("compare {pump} --methods pca,pcb", 2, "'pcb' is not a method"),
    ("export {model} -", 2, "does not end in .onnx"),
    ("report {pump} -o {folder}", 1, "is a folder"),
    ("report {pump} -o -", 1, "cannot be written to standard output"),
    ("report {pump} --model {model} -k 5", 2, "--components is for a fit"),
    ("repair {pump} --read missing=error", 2, "refuses missing cells, which repair"),
    ("repair {pump} -o r.csv --changes r.csv", 1, "--changes and --output would both"),
    ("demo -o nowhere/demo.html", 1, "No such folder to write in"),
    ("nonsense", 2, "No such command"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), FLAWS)
def test_errors_name_cause_and_place(
    arguments, code, message, pump, model, tmp_path, monkeypatch
):
    holes, other = tmp_path / "holes.csv", tmp_path / "other.csv"
    lines = Path(pump).read_text().splitlines()[:5]
    lines[2] = lines[2].replace(lines[2].split(",")[4], "NA")
    holes.write_text("\n".join(lines))
    other.write_text("a,b\n1,2\n3,4\n")
    places = {"pump": pump, "model": model, "folder": tmp_path}
    places |= {"holes": holes, "other": other}
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir(tmp_path))
    given = (part.format(**places) for part in arguments.split())
    done = invoke(*given, code=code)
    assert message in " ".join(done.stderr.split()) and done.stdout == ""
    assert sorted(os.listdir(tmp_path)) == before  # nothing written


def options_of(command):
    return [
        name
        for param in command.params
        if isinstance(param, click.Option)
        for name in (*param.opts, *param.secondary_opts)
    ]


def test_no_command_has_more_options_than_fit_in_the_head():
    for name, command in main.commands.items():
        options = [each for each in command.params if isinstance(each, click.Option)]
        assert len(options) <= 15, name


# Tables with something wrong, and the options that do about it what is said.
REMEDIES = [
    ("a,b\n1,2\nErr,3\n5,7\n4,4\n", ["--na", "Err"]),
    ("a,b\n1,2\nErr,3\n5,7\n4,4\n", ["--drop", "a"]),
    ("a;b\n1.500;3\n2.500;4\n1.250;9\n", ["--read", "decimal=,"]),
    ("a,b\nx,1\ny,2\nx,4\n", ["--encode", "categories=a"]),
]


@pytest.mark.parametrize(("table", "remedy"), REMEDIES)
def test_remedies_work_and_name_options_that_exist(table, remedy, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(table)
    done = invoke("fit", path, "--columns", "a,b", code=1)
    said = " ".join(done.stderr.split())
    assert " ".join(remedy) in said
    named = {word for word in re.findall(r"(?<![\w-])--?[a-z-]+", said)}
    assert named <= {*options_of(main.commands["fit"])}, said
    assert {*re.findall(r"--read (\w+)", said)} <= READING.keys(), said
    invoke("fit", path, "--columns", "a,b", *remedy, code=None)


@pytest.mark.parametrize("command", [["demo"], ["report", "{pump}", "--drop", "pump"]])
def test_without_jinja_it_says_what_to_install(command, pump, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    command = [part.format(pump=pump) for part in command]
    message = run(*command, "-o", tmp_path / "none.html", code=1)
    assert "pip install 'trueaxis[report]'" in message


def test_bugs_are_shown_with_their_traceback(pump, monkeypatch):
    monkeypatch.setenv("TRUEAXIS_TRACEBACK", "1")
    with pytest.raises(ValueError, match="n_components=9"):
        run("fit", pump, "--drop", "pump,remark", "-k", 9)
    monkeypatch.setattr("trueaxis.cli.commands.methods", lambda as_json: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run("methods")


def test_too_little_memory_is_a_sentence(pump, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("trueaxis.cli.source.read_table", fail)
    assert "does not fit into memory: select fewer columns" in run("fit", pump, code=1)


def test_a_failure_leaves_nothing_behind(pump, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    (tmp_path / "clean.csv").write_text("what was there")
    given = ["fit", pump, "--id", "pump", "-k", 2, "-o", tmp_path / "m.npz"]
    given += ["--clean", tmp_path / "clean.csv", "--flagged", tmp_path / "f.csv"]
    assert "No space left on device: free some" in run(*given, code=1)
    assert os.listdir(tmp_path) == ["clean.csv"]
    assert (tmp_path / "clean.csv").read_text() == "what was there"


def test_a_note_about_the_file_is_on_a_separate_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Title\na;b\n1,5;1\n2,5;2\n1,5;3\n")
    lines = run("fit", path, "--drop", "nix", code=1).splitlines()
    assert lines[0].startswith("Error: ") and lines[1].startswith("Note: ")
