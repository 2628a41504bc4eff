"""The commands, run as a user runs them."""

import html
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import columns_of, invoke, run

import trueaxis
from trueaxis import DSWL, ColumnScaler
from trueaxis.datasets import planted, sensors
from trueaxis.diagnostics import comparison, diagnose
from trueaxis.methods import METHODS
from trueaxis.pipeline import split_pipeline
from trueaxis.report import analyze

NAMED = ("--id", "pump")

# ---------------------------------------------------------------- fit


def test_fit_names_the_bad_rows_and_what_would_fit(pump):
    printed = run("fit", pump, "-k", 2, *NAMED)
    assert "33 of 200 rows (16 %) are outliers: 11 inside" in printed
    worst = next(line for line in printed.splitlines() if "p-96" in line)
    assert "flow is 8.99, 32.1" in worst and "<1e-99" in worst
    assert "At level 0.025, 2.5 % of regular rows are flagged, too" in printed
    assert "turned by 52 degrees" in printed and "DSWL with 2 components" in printed


def test_what_fit_saves_is_what_python_fits(pump, model):
    loaded, fitted = trueaxis.load(model), DSWL(2).fit(sensors().X)
    assert list(loaded.feature_names_in_) == list(sensors().columns)
    assert np.array_equal(loaded.components_, fitted.components_)
    assert np.array_equal(loaded.weights_, fitted.weights_)


def test_json_is_what_python_returns(pump):
    printed = run("fit", pump, "-k", 2, *NAMED, "--json")
    found = json.loads(printed, parse_constant=pytest.fail)
    table = sensors()
    model = DSWL(2).fit(table.X)
    model.feature_names_in_ = np.array(table.columns, dtype=object)
    ids = [f"p-{i}" for i in range(200)]
    content = analyze(model, table.X, ids=ids, new_rows=False).to_dict()
    for key, value in json.loads(json.dumps(content)).items():
        assert found[key] == value or key == "angle_to_plain_pca", key
    assert found["outliers"] == {
        "count": 33, "inside": 11, "off": 6, "both": 16, "group": 0
    }  # fmt: skip
    assert (found["level"], found["contamination"]) == (0.025, None)
    assert found["rows"] == 200 and found["columns"] == list(table.columns)
    assert found["left_out_columns"] == {"remark": "text"}
    assert found["command"] == "fit" and found["source"] == pump


def test_scaling_is_stored_and_applied_to_new_rows(pump, tmp_path):
    path, X = tmp_path / "m.npz", sensors().X
    run("fit", pump, "-k", 2, *NAMED, "--scale", "robust", "-o", path)
    scaler, method = split_pipeline(trueaxis.load(path))
    assert np.array_equal(scaler.unit_, ColumnScaler().fit(X).unit_)
    assert list(method.feature_names_in_) == list(sensors().columns)
    found = columns_of(run("score", path, pump))
    Z = ColumnScaler().fit_transform(X)
    expected = DSWL(2).fit(Z).p_values(Z)
    assert np.allclose(np.array(found["p_value"], float), expected, rtol=1e-9)
    assert np.isclose(float(found["value"][96]), X[96, 3])  # in its own unit


def test_skewed_columns_and_text_are_encoded(tmp_path):
    rng = np.random.default_rng(1)
    wealth = rng.normal(size=300)
    table = pd.DataFrame(
        {
            "income": np.exp(9 + wealth + rng.normal(0, 0.1, 300)),
            "rate": 5 - wealth + rng.normal(0, 0.1, 300),
            "class": np.where(wealth > 0, "a", "b"),
        }
    )
    table.loc[7, "income"] *= 100
    path, model = tmp_path / "bank.csv", tmp_path / "m.npz"
    table.to_csv(path, index=False)
    encode = ["--encode", "log=income", "--encode", "categories"]
    found = json.loads(run("fit", path, *encode, "-o", model, "--json"))
    assert (found["log"], found["categories"]) == (["income"], ["class"])
    assert found["worst_first"][0]["position"] == 7
    scored = columns_of(run("score", model, path))
    assert scored["outlier"][7] == "True" and scored["column"][7] == "log10(income)"
    assert "takes logarithms" in run("repair", path, "--model", model, code=1)
    assert "left out (text)" in run("fit", path, "--encode", "log=class", code=1)
    assert "neither log=A,B" in invoke("fit", path, "--encode", "log", code=2).stderr


MOST_MODULES = 50


def test_a_fit_runs_through_few_modules(pump):
    """Whoever reads along from the command to the answer opens few files."""
    package, ran = str(Path(trueaxis.__file__).parent), set()

    def watch(frame, event, _):
        code = frame.f_code
        if code.co_filename.startswith(package) and code.co_name != "<module>":
            ran.add(code.co_filename)

    run("fit", pump, *NAMED)  # everything is imported
    sys.setprofile(watch)
    try:
        run("fit", pump, *NAMED)
    finally:
        sys.setprofile(None)
    names = sorted(Path(each).relative_to(package).as_posix() for each in ran)
    assert len(names) <= MOST_MODULES, names


# ---------------------------------------------------------------- score, transform


def test_scores_are_those_of_the_diagnostics(pump, model):
    found = columns_of(run("score", model, pump))
    frame = pd.DataFrame(sensors().X, columns=sensors().columns)
    expected = diagnose(trueaxis.load(model), frame)
    assert found["kind"] == expected.kind.tolist()
    assert np.allclose(np.array(found["score"], float), expected.score)
    assert found["row"] == [str(i) for i in range(200)]
    labeled = run("score", model, pump, *NAMED, "--label", "remark", "--json")
    worst = json.loads(labeled)["worst_first"][0]
    assert worst["row"] == "p-96" and worst["label"] == "flow unit wrong"


def test_transform_is_transform(pump, model):
    frame = pd.DataFrame(sensors().X, columns=sensors().columns)
    expected = trueaxis.load(model).transform(frame)
    found = columns_of(run("transform", model, pump, *NAMED))
    scores = np.column_stack([found["dswl0"], found["dswl1"]]).astype(float)
    assert np.allclose(scores, expected) and found["row"][3] == "p-3"
    read = json.loads(run("transform", model, pump, "--json"))
    assert np.allclose(read["scores"], expected)
    assert read["read_columns"] == list(sensors().columns)
    assert read["columns"] == ["dswl0", "dswl1"]


def test_models_know_their_columns_by_name_or_take_them_in_order(pump, model, tmp_path):
    table, shuffled = pd.read_csv(pump), tmp_path / "shuffled.csv"
    table[table.columns[::-1]].assign(more=1.5).to_csv(shuffled, index=False)
    assert run("score", model, shuffled, *NAMED) == run("score", model, pump, *NAMED)
    nameless = tmp_path / "nameless.npz"
    trueaxis.save(DSWL(2).fit(sensors().X), nameless)
    columns = ",".join(sensors().columns)
    by_order = columns_of(run("score", nameless, pump, "--columns", columns))
    by_name = columns_of(run("score", model, pump))
    assert by_order["p_value"] == by_name["p_value"]


def test_values_of_options_are_numbers_lists_and_names(pump, tmp_path):
    assert run("methods").count("\n") == len(METHODS)
    assert json.loads(run("methods", "--json")).keys() == METHODS.keys()
    path = tmp_path / "m.npz"
    given = ["--set", "tau=[20, 10, 30]", "--set", "random_state=None"]
    given += ["--set", "contamination=0.1", "-k", "0.9", "-o", path]
    printed = run("fit", pump, *NAMED, *given)
    assert (
        "20 of 200 rows" in printed
        and "Contamination 0.1 puts the threshold" in printed
    )
    loaded = trueaxis.load(path)
    assert (loaded.tau, loaded.random_state) == ((20, 10, 30), None)
    assert loaded.n_components == 0.9


def test_score_takes_another_threshold(pump, tmp_path):
    X = sensors().X
    for how, rows in (("none", X), ("robust", ColumnScaler().fit_transform(X))):
        path = tmp_path / f"{how}.npz"
        run("fit", pump, *NAMED, "-k", 2, "--scale", how, "-o", path)
        found = json.loads(run("score", path, pump, "--level", 0.3, "--json"))
        expected = (DSWL(2).fit(rows).p_values(rows) < 0.3).sum()
        assert found["outliers"]["count"] == expected and found["level"] == 0.3


def test_standard_input_and_output(pump, model):
    text = Path(pump).read_text()
    assert run("score", model, "-", stdin=text) == run("score", model, pump)
    assert "33 of 200 rows" in run("fit", "-", *NAMED, "-k", 2, stdin=text)


# ---------------------------------------------------------------- compare, export


def test_methods_are_compared_side_by_side(pump, tmp_path):
    path = tmp_path / "c.csv"
    given = ("compare", pump, *NAMED, "-k", 2, "--methods", "dswl,pca", "-o", path)
    printed = run(*given)
    assert "compared with dswl" in printed and "saved to" in printed
    read = pd.read_csv(path)
    assert read["method"].tolist() == ["dswl", "pca"] and read["outliers"][0] == 33
    found = json.loads(run(*given, "--level", 0.1, "--json"))
    assert found["level"] == 0.1 and found["n_components"] == 2
    assert found["methods"][0]["outliers"] > 33


def test_a_comparison_says_what_it_leaves_out(pump, monkeypatch):
    monkeypatch.setattr("trueaxis.cli.commands.MAX_ROWS", 150)
    monkeypatch.setattr(comparison, "COSTLY", ((lambda n, D: n, 10, ("pcp",)),))
    found = invoke("compare", pump, *NAMED, "-k", 2, "--json")
    assert "fitted to 150 of 200 rows" in found.stderr
    assert "take long on 150 x 6: pcp." in " ".join(found.stderr.split())
    content = json.loads(found.stdout)
    assert content["left_out"] == ["pcp"] and content["fitted_rows"] == 150


def test_models_become_graphs(model, tmp_path):
    pytest.importorskip("onnx")
    path = tmp_path / "m.onnx"
    assert f"ONNX graph saved to {path}" in run("export", model, path)
    found = json.loads(run("export", model, path, "--json"))
    assert found["onnx"] == str(path) and path.stat().st_size > 1000


# ---------------------------------------------------------------- report, demo


def test_one_command_from_a_table_to_a_page(pump, model, tmp_path):
    page = tmp_path / "r.html"
    given = ("report", pump, *NAMED, "--label", "remark", "-o", page)
    printed = run(*given, "-k", 2)
    assert f"Report saved to {page}" in printed and "33 of 200 rows" in printed
    typed = html.unescape(page.read_text())
    assert f"trueaxis {' '.join(map(str, given))} -k 2" in typed
    found = json.loads(run(*given, "--model", model, "--json"))
    assert found["report"] == str(page) and found["model"] == model
    assert found["outliers"]["count"] == 33 and found["seconds"] is None


def test_the_demo_tells_who_was_flagged_and_where_the_report_is(tmp_path):
    page = tmp_path / "demo.html"
    printed = run("demo", "-o", page)
    assert "33 of 200 rows" in printed and page.as_uri() in printed
    assert "Readings of a pump" in page.read_text()


# ---------------------------------------------------------------- notes, terminals


def test_cells_and_warnings_cannot_steer_the_terminal(pump, tmp_path):
    path = tmp_path / "header.csv"
    path.write_text("a\x1b[2J,b\r\n1,2\n3,4\n")
    for done in (
        invoke("score", "nowhere\x1b[2J.npz", pump, code=1),
        invoke("fit", path, "--drop", "nix", code=1),
    ):
        assert "\x1b" not in done.output
    labels = run("report", pump, *NAMED, "--label", "remark", "-o", tmp_path / "r.html")
    assert "\x1b" not in labels


def test_warnings_are_notes(tmp_path):
    np.save(tmp_path / "cloud.npy", planted("ocs", n=80).X)
    given = ["-k", 3, "--method", "l2p-pca", "--set", "max_iter=1", "--json"]
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        done = invoke("fit", tmp_path / "cloud.npy", *given)
    note = "L2pPCA stopped after 1 iterations"
    assert done.stderr.startswith(f"Note: {note}") and ".py" not in done.stderr
    assert json.loads(done.stdout)["notes"][0].startswith(note)


def test_formulas_are_guarded_in_every_table(tmp_path):
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(60, 1)) * [1, 2, 3] + rng.normal(0, 0.1, (60, 3))
    rows[5] += [9, -9, 9]
    table = pd.DataFrame(rows, columns=["a", "b", "=c()"])
    table.insert(0, "name", [f"=1+{i}" for i in range(60)])
    path, model = tmp_path / "t.csv", tmp_path / "m.npz"
    table.to_csv(path, index=False)
    named = ("--id", "name")
    run("fit", path, *named, "-k", 1, "-o", model)
    for command in (
        ["score", model, path, *named],
        ["transform", model, path, *named],
        ["fit", path, *named, "-k", 1, "--clean", "-"],
    ):
        plain, guarded = run(*command), run("--guard-formulas", *command)
        assert "\n=1+7," in plain and "\n'=1+7," in guarded
