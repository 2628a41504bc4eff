"""The command line, run as a user runs it."""

import csv
import errno
import html
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import trueaxis
from trueaxis import DSWL, METHODS, ColumnScaler
from trueaxis._cli.main import main
from trueaxis._tables.read import Choice, TableError, read_table
from trueaxis.datasets import planted, sensors
from trueaxis.diagnostics import diagnose
from trueaxis.estimators.pipeline import split_pipeline

NASTY = '<b>"x"</b>, [red]\x1b[31m'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="module")
def pump(folder):
    """Readings with a column of names and one of remarks."""
    path, table = folder / "pump.csv", sensors()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["pump", *table.columns, "remark"])
        for i, (row, fault) in enumerate(zip(table.X, table.fault, strict=True)):
            writer.writerow([f"p-{i}", *map(repr, row.tolist()), fault or NASTY])
    return str(path)


@pytest.fixture(scope="module")
def model(folder, pump):
    path = str(folder / "model.npz")
    run("fit", pump, "-k", 2, "--id", "pump", "--label", "remark", "-o", path)
    return path


def run(*arguments, code=0, stdin=None):
    """Run a command; its standard output."""
    result = CliRunner().invoke(main, [str(a) for a in arguments], input=stdin)
    if isinstance(result.exception, Exception):
        raise result.exception
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.stdout if code == 0 else result.stderr


def columns_of(text):
    rows = list(csv.reader(io.StringIO(text)))
    return {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}


# ---------------------------------------------------------------- fit


def test_fit_names_the_bad_rows_and_what_would_fit(pump):
    told = run("fit", pump, "-k", 2, "--id", "pump", "--label", "remark")
    assert "33 of 200 rows (16 %) are outliers: 11 inside" in told
    worst = next(line for line in told.splitlines() if "p-96" in line)
    assert "flow unit wrong" in worst and "flow is 8.99, 32.1 would fit" in worst
    assert "turned by 52 degrees" in told and "DSWL with 2 components" in told


def test_what_fit_saves_is_what_python_fits(pump, model):
    X, names = sensors().X, sensors().columns
    loaded, fitted = trueaxis.load(model), DSWL(2).fit(X)
    assert list(loaded.feature_names_in_) == list(names)
    assert np.array_equal(loaded.components_, fitted.components_)
    assert np.array_equal(loaded.weights_, fitted.weights_)


def test_scaling_is_stored_and_applied_to_new_rows(pump, folder):
    for how in ("standard", "robust"):
        path = folder / f"{how}.npz"
        run("fit", pump, "-k", 2, "--drop", "pump,remark", "--scale", how, "-o", path)
        loaded, X = trueaxis.load(path), sensors().X
        scaler, method = split_pipeline(loaded)
        assert np.array_equal(scaler.unit_, ColumnScaler(how).fit(X).unit_)
        assert list(method.feature_names_in_) == list(sensors().columns)
        found = columns_of(run("score", path, pump))
        Z = ColumnScaler(how).fit_transform(X)
        expected = DSWL(2).fit(Z).score_samples(Z)
        assert np.allclose(-np.array(found["excess"], float), expected, rtol=1e-12)
        assert np.allclose(np.array(found["value"], float)[96], X[96, 3])  # raw unit


def test_every_method_can_be_named(pump, folder):
    assert (
        run("methods").count("\n")
        == len(METHODS)
        == len(json.loads(run("methods", "--json")))
    )
    args = ("--drop", "pump,remark", "-k", 2, "--method", "l2p-pca", "--set", "p=0.7")
    run("fit", pump, *args, "-o", folder / "l2p.npz")
    assert trueaxis.load(folder / "l2p.npz").p == 0.7
    args = (
        "--drop",
        "pump,remark",
        "-k",
        1,
        "--set",
        "tau=[20, 10, 30]",
        "--set",
        "reweight=false",
    )
    run("fit", pump, *args, "-o", folder / "tau.npz")
    assert trueaxis.load(folder / "tau.npz").tau == (20, 10, 30)


def test_shares_and_automatic_numbers_of_components(pump):
    for k, expected in (("0.9", 2), ("auto", 2), ("1", 1)):
        found = json.loads(run("fit", pump, "--drop", "pump,remark", "-k", k, "--json"))
        assert found["n_components"] == expected


def test_json_for_machines(pump):
    found = json.loads(run("fit", pump, "-k", 2, "--id", "pump", "--drop", "remark",
                           "--json"))  # fmt: skip
    assert found["rows"] == 200 and found["columns"] == list(sensors().columns)
    assert found["outliers"] == {"count": 33, "inside": 11, "off": 6, "both": 16}
    assert found["worst_first"][0]["row"] == "p-96"
    assert found["worst_first"][0]["column"] == "flow"
    assert len(found["worst_first"]) == 33 and found["converged"] is True
    assert 51 < found["angle_to_plain_pca"] < 53


def test_numbers_that_json_lacks_are_null(folder):
    path = folder / "flat.csv"  # all rows but one lie on a line: no room off it
    rows = [f"{i},{2 * i}" for i in range(30)] + ["3,60"]
    path.write_text("\n".join(rows))
    found = json.loads(run("fit", path, "-k", 1, "--json"))
    assert found["worst_first"][0]["row"] == "30"
    json.dumps(found, allow_nan=False)


def test_columns_of_different_units_get_a_hint(folder):
    path = folder / "units.csv"
    X = planted("none", n=60, n_features=3, n_components=1).X * [1, 1, 1e4]
    np.savetxt(path, X, delimiter=",", header="a,b,volt", comments="")
    result = CliRunner().invoke(main, ["fit", str(path), "-k", "1"])
    assert "Note: Column volt varies" in result.stderr
    assert "--scale robust" in result.stderr and "Note" not in result.stdout
    scaled = CliRunner().invoke(
        main, ["fit", str(path), "-k", "1", "--scale", "robust"]
    )
    assert scaled.stderr == ""


def test_warnings_are_sentences(folder):
    path = folder / "cloud.npy"
    np.save(path, planted("ocs", n=80).X)
    command = [sys.executable, "-m", "trueaxis._cli.main", "fit", path, "-k", "3"]
    command += ["--method", "l2p-pca", "--set", "max_iter=1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.startswith("Note: L2pPCA stopped after 1 iterations")
    assert ".py" not in done.stderr


# ---------------------------------------------------------------- score, transform


def test_scores_are_those_of_the_diagnostics(pump, model):
    found = columns_of(run("score", model, pump, "--id", "pump"))
    X = sensors().X
    expected = diagnose(DSWL(2).fit(X), X)
    assert found["row"][:2] == ["p-0", "p-1"]
    assert found["kind"] == expected.kind.tolist()
    assert found["outlier"] == [str(flag) for flag in expected.flagged.tolist()]
    assert np.array_equal(np.array(found["orthogonal"], float), expected.orthogonal)
    assert {"inside", "off", "centre"} <= found.keys()  # DSWL's three reasons


def test_the_order_of_columns_and_others_beside_them_do_not_matter(pump, model, folder):
    turned = folder / "turned.csv"
    rows = list(csv.reader(Path(pump).read_text().splitlines()))
    with turned.open("w", newline="") as file:
        csv.writer(file).writerows([["more", *row[::-1]] for row in rows])
    assert run("score", model, turned) == run("score", model, pump)


def test_standard_input_and_output(pump, model):
    text = Path(pump).read_text()
    assert run("score", model, "-", stdin=text) == run("score", model, pump)
    assert run("score", model, pump, "-o", "-") == run("score", model, pump)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_scores_to_files(pump, model, folder, ending):
    path = folder / f"scored.{ending}"
    told = run("score", model, pump, "--id", "pump", "-o", path)
    assert "33 of 200 rows" in told and f"saved to {path}" in told
    if ending == "parquet":
        import pyarrow.parquet

        kinds = pyarrow.parquet.read_table(path)["kind"].to_pylist()
    else:
        with path.open() as file:
            dialect = {"delimiter": "\t"} if ending == "tsv" else {}
            kinds = [row["kind"] for row in csv.DictReader(file, **dialect)]
    assert kinds.count("regular") == 167


def test_transform_is_transform(pump, model, folder):
    found = columns_of(run("transform", model, pump, "--id", "pump"))
    expected = DSWL(2).fit_transform(sensors().X)
    assert np.array_equal(np.array(found["dswl1"], float), expected[:, 1])
    content = json.loads(run("transform", model, pump, "--json"))
    assert np.allclose(content["scores"], expected, rtol=1e-15)
    path = folder / "scores.csv"
    assert "saved to" in run("transform", model, pump, "-o", path)
    assert columns_of(path.read_text())["dswl0"] == found["dswl0"]


def test_models_without_names_take_columns_in_order(folder):
    X = sensors().X
    trueaxis.save(DSWL(2).fit(X), folder / "nameless.npz")
    np.save(folder / "rows.npy", X)
    found = columns_of(run("score", folder / "nameless.npz", folder / "rows.npy"))
    assert found["column"][96] == "x3"
    np.save(folder / "few.npy", X[:, :4])
    said = run("score", folder / "nameless.npz", folder / "few.npy", code=1)
    assert "has 4 columns, but the model was fitted on 6" in said


def test_score_as_json(pump, model, folder):
    found = json.loads(run("score", model, pump, "--json"))
    assert found["outliers"]["count"] == 33 and found["output"] is None
    path = folder / "both.csv"
    found = json.loads(run("score", model, pump, "--json", "-o", path))
    assert found["output"] == str(path) and path.exists()


# ---------------------------------------------------------------- compare, export


def test_methods_side_by_side(pump):
    shared = ("--drop", "pump,remark", "-k", 2)
    told = run("compare", pump, *shared)
    assert all(f" {name} " in told for name in METHODS)
    found = json.loads(run("compare", pump, *shared, "--methods", "pca,dswl", "--json"))
    first, second = found["methods"]
    assert first["method"] == "pca" and first["angle"] < 1e-6
    assert second["method"] == "dswl" and 51 < second["angle"] < 53
    assert second["outliers"] == 33 and found["n_components"] == 2


def test_comparison_tables_can_be_kept(pump, folder):
    path = folder / "compared.csv"
    args = ("--drop", "pump,remark", "--methods", "dswl,pca", "--scale", "robust")
    run("compare", pump, *args, "-o", path)
    assert columns_of(path.read_text())["method"] == ["dswl", "pca"]


def test_methods_that_fail_have_empty_cells(folder):
    X = planted("none", n=60, n_features=4).X
    X[0, 0] = 1e160  # too large for squares
    data, path = folder / "huge.npy", folder / "huge.csv"
    np.save(data, X)
    args = ("compare", data, "-k", 2, "--methods", "dswl,pca")
    found = json.loads(run(*args, "--json", "-o", path))
    first, failed = found["methods"]
    assert first["converged"] is True and first["shared"] == first["outliers"] > 0
    assert "overflow" in failed.pop("problem") and failed.pop("method") == "pca"
    assert set(failed.values()) == {None} and "outliers" in failed
    kept = columns_of(path.read_text())
    assert kept["converged"] == ["True", ""]
    assert all(kept[name][1] == "" for name in failed)


def test_slow_methods_are_left_out_and_named(folder):
    path = folder / "wide.npy"
    np.save(path, planted("none", n=40, n_features=600).X)
    args = ["compare", str(path), "-k", "2", "--json"]
    result = CliRunner().invoke(main, args)
    assert json.loads(result.stdout)["left_out"] == ["l1-pca"]
    assert "l1-pca. Name them with --methods" in result.stderr


def test_models_become_graphs(pump, model, folder):
    import onnxruntime

    path = folder / "model.onnx"
    assert "saved to" in run("export", model, path)
    session = onnxruntime.InferenceSession(path)
    (score,) = session.run(["outlier_score"], {"X": sensors().X})
    found = columns_of(run("score", model, pump))
    assert np.allclose(-score, np.array(found["excess"], float), rtol=1e-6)
    content = json.loads(run("export", model, folder / "again.onnx", "--json"))
    assert content["onnx"] == str(folder / "again.onnx")


# ---------------------------------------------------------------- report, demo


def test_one_command_from_a_table_to_a_page(pump, folder, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    page = folder / "report.html"
    args = ("-k", 2, "--id", "pump", "--label", "remark", "--open")
    told = run("report", pump, *args, "-o", page)
    assert "33 of 200 rows" in told and f"Report saved to {page}" in told
    text = page.read_text(encoding="utf-8")
    assert "p-96" in text and "pump.csv" in text and '<b>"x"' not in text
    assert opened == [page.as_uri()]


def test_a_page_on_new_rows_by_an_old_model(pump, model, folder):
    page = folder / "new.html"
    told = run("report", pump, "--model", model, "--id", "pump", "-o", page, "--json")
    content = json.loads(told)
    assert content["outliers"]["count"] == 33 and page.exists()
    assert content.keys() == {"rows", "outliers", "worst_first", "report"}
    scored = json.loads(run("score", model, pump, "--id", "pump", "--json"))
    assert content["worst_first"] == scored["worst_first"]
    assert "New rows." in page.read_text(encoding="utf-8")


def codes(page):
    """Command and Python code that a report shows under "To repeat it"."""
    text = page.read_text(encoding="utf-8").split('id="repeat-heading"')[1]
    return list(map(html.unescape, re.findall(r"<pre><code>(.*?)</code>", text, re.S)))


def test_the_code_on_the_page_repeats_the_fit(pump, folder):
    page = folder / "repeat.html"
    args = ["report", pump, "-k", "2", "--id", "pump", "--drop", "remark"]
    run(*args, "--scale", "robust", "-o", page)
    command, code = codes(page)
    assert command == shlex.join(
        ["trueaxis", *args, "--scale", "robust", "-o", str(page)]
    )
    exec(code, names := {})
    Z = ColumnScaler().fit_transform(sensors().X)
    expected = DSWL(2).fit(Z).components_
    assert np.array_equal(names["model"][-1].components_, expected)


def test_the_code_on_the_page_of_the_demo_repeats_it(folder):
    run("demo", "-o", folder / "demo.html")
    exec(codes(folder / "demo.html")[1], names := {})
    expected = DSWL(2).fit(sensors().X).components_
    assert np.array_equal(names["model"].components_, expected)


def test_the_code_on_the_page_repeats_the_judgement(pump, model, folder):
    page = folder / "judged.html"
    run("report", pump, "--model", model, "--label", "remark", "-o", page)
    exec(codes(page)[1], names := {})
    assert np.array_equal(names["model"].components_, trueaxis.load(model).components_)
    assert len(names["found"].flagged) == 33


def test_the_demo_tells_who_was_flagged_and_where_the_report_is(folder):
    page = folder / "demo.html"
    told = run("demo", "-o", page)
    assert "33 of 200 rows" in told and "Plain PCA: 51.7 degrees off" in told
    assert f"Report saved to {page}" in told and page.as_uri() in told
    assert "over-run" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [["demo"], ["report", "{pump}", "--drop", "pump"]])
def test_without_jinja_it_says_what_to_install(command, pump, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    command = [part.format(pump=pump) for part in command]
    said = run(*command, "-o", folder / "none.html", code=1)
    assert "pip install 'trueaxis[report]'" in said


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("fit nowhere.csv", 1, "nowhere.csv: No such file"),
        ("fit {folder}", 1, "is a folder"),
        ("fit {pump}", 1, "'pump' ('p-0' in line 2)"),
        ("fit {pump} --drop pump,remark -k 9", 1, "n_components=9"),
        ("fit {pump} --drop pump,remark -k many", 2, "'many' is neither a number"),
        ("fit {pump} --drop pump,remark --method pcb", 2, "'pcb' is not known"),
        ("fit {pump} --drop pump,remark --set foo=1", 2, "no parameter 'foo'"),
        ("fit {pump} --drop pump,remark --set foo", 2, "not of the form name=value"),
        ("fit {pump} --drop pump,remark --set trust=2", 1, "trust=2 is out of range"),
        ("fit {pump} --drop pump,remark --set trust=x", 1, "trust='x'"),
        ("fit {pump} --drop nix", 1, "no column 'nix'"),
        ("fit {pump} --scale log", 2, "'log' is not one of"),
        ("fit {pump} -o -", 2, "A model cannot go to standard output"),
        ("fit", 2, "Missing argument 'DATA'"),
        ("score {model} {pump} --json -o -", 2, "choose one"),
        ("score {model} {pump} -o {pump}", 1, "is an input"),
        ("score {model} {pump} -o {model}", 1, "is an input"),
        ("score {model} {pump} -o nowhere/x.csv", 1, "No such folder to write in"),
        ("score {pump} {pump}", 1, "is not a trueaxis model file"),
        ("score {model} {other}", 1, "no column 'inlet'"),
        ("score {model} {holes}", 1, "'flow' has a missing cell in line 3"),
        ("compare {pump} --methods pca,pcb", 2, "'pcb' is not known"),
        ("export {pump} x.onnx", 1, "is not a trueaxis model file"),
        ("report {pump} -o {folder}", 1, "is a folder"),
        ("report {pump} -o -", 2, "The page cannot go to standard output"),
        ("demo -o nowhere/demo.html", 1, "No such folder to write in"),
        ("demo -o -", 2, "The page cannot go to standard output"),
        ("export {model} -", 2, "A graph cannot go to standard output"),
        ("score {model} {pump} -o s.xlsx", 1, "s.xlsx ends in .xlsx"),
        ("transform {model} {pump} -o s.npz", 1, "choose one of these endings"),
        ("compare {pump} -o c.json", 1, "c.json ends in .json"),
        ("fit {empty}", 1, "(0 bytes) is no .npy file"),
        ("fit {broken}", 1, "is damaged, or was not written by numpy.save"),
        ("fit nowhere.npy", 1, "nowhere.npy: No such file"),
        ("report {pump} --model {model} -k 5", 2, "--components is for a fit"),
        ("report {pump} --model {model} --scale robust", 2, "--scale is for a fit"),
        ("report {pump} --model {model} --method pca", 2, "--method is for a fit"),
        ("report {pump} --model {model} --set p=1", 2, "--set is for a fit"),
        ("score {model} {pump} --drop remark", 1, "leave out --columns and --drop"),
        ("transform {model} {pump} --columns flow", 1, "knows its columns by name"),
        ("score {model} {pump} --id flow", 1, "--id flow is a column that the model"),
        ("score {model} {pump} --label flow", 1, "--label flow is a column that"),
        ("nonsense", 2, "No such command"),
    ],
)
def test_errors_name_cause_and_place(arguments, code, said, pump, model, folder):
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
    assert said in found
    assert sorted(os.listdir(folder)) == before  # nothing written


def test_bugs_can_be_traced(pump, monkeypatch):
    monkeypatch.setenv("TRUEAXIS_TRACEBACK", "1")
    with pytest.raises(ValueError, match="n_components=9"):
        run("fit", pump, "--drop", "pump,remark", "-k", 9)
    with pytest.raises(FileNotFoundError):
        run("fit", "nowhere.csv")


def test_cells_cannot_steer_the_terminal(folder):
    path = folder / "cells.csv"
    rows = [f"{NASTY[-10:]},{i % 7},{i % 5}" for i in range(40)] + ["[red]\x1b[2J,99,9"]
    path.write_text("\n".join(["name,[bold]a,b\x07", *rows]))
    told = run("fit", path, "-k", 1, "--id", "name")
    assert "\x1b" not in told and "\x07" not in told
    assert "[red]" in told and "[bold]a" in told


def test_errors_and_warnings_cannot_steer_the_terminal(folder, monkeypatch):
    path = folder / "header.csv"
    path.write_text("a\x1b[2J,b\r\n1,2\n3,4\n")

    def warn(as_json):
        warnings.warn("odd \x1b[2J cells", stacklevel=1)

    monkeypatch.setattr("trueaxis._cli.commands.methods", warn)
    for arguments, said in (
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
        assert said in result.output and "\x1b" not in result.output


def test_a_closed_pipe_is_no_error(pump, model, monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    said = io.StringIO()
    monkeypatch.setattr("sys.stdout", Closed())
    monkeypatch.setattr("sys.stderr", said)
    with pytest.raises(SystemExit):
        main(["score", model, pump])
    assert said.getvalue() == ""


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_bar_on_a_terminal_and_silence_in_a_pipe(pump):
    import pty

    command = [sys.executable, "-m", "trueaxis._cli.main", "fit", pump, "-k", "2"]
    command += ["--drop", "pump,remark"]
    quiet = subprocess.run(command, capture_output=True, check=True)
    assert quiet.stderr == b""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs) as process:
        told = process.communicate()[0]
    os.close(theirs)
    with open(ours, "rb", buffering=0) as terminal:
        shown = terminal.read(100_000)
    assert b"fitting" in shown and told == quiet.stdout.replace(
        _seconds(quiet.stdout), _seconds(told)
    )


def _seconds(told):
    return re.findall(rb"took [0-9.e-]+ s", told)[0]


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


# ---------------------------------------------------------------- start


def test_version_and_help_need_no_heavy_imports():
    code = (
        "import sys; from trueaxis._cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'sklearn', 'numpy', 'rich'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert trueaxis.__version__ in run("--version")


def test_help_has_a_line_for_every_command():
    told = run("--help")
    for name in main.commands:
        assert f"\n  {name} " in told
        assert "Usage:" in run(name, "-h")


def test_public_names():
    assert trueaxis.__all__ == sorted(trueaxis.__all__)
    assert "DSWL" in dir(trueaxis)
    with pytest.raises(AttributeError, match="no attribute 'PCB'"):
        _ = trueaxis.PCB


def test_python_m_trueaxis_is_the_command_line():
    command = [sys.executable, "-m", "trueaxis", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"trueaxis, version {trueaxis.__version__}\n"


def test_parquet_files_that_are_not_there(tmp_path):
    result = CliRunner().invoke(main, ["fit", str(tmp_path / "nope.parquet")])
    assert result.exit_code == 1
    assert "nope.parquet: No such file or directory." in result.stderr


def test_parquet_tables_without_their_index_and_lists(tmp_path):
    frame = pd.DataFrame(planted("ocs", n=60, n_features=4).X, columns=list("abcd"))
    frame.index = 1000 * np.arange(60)
    path = tmp_path / "frame.parquet"
    frame.to_parquet(path)
    assert read_table(path).columns == ("a", "b", "c", "d")
    frame["pair"] = [[1, 2]] * 60
    frame.to_parquet(path)
    with pytest.raises(TableError, match="Column 'pair' .*list.*--drop pair"):
        read_table(path)
    assert read_table(path, Choice(drop=("pair",))).columns == ("a", "b", "c", "d")
