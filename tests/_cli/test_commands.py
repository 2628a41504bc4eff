"""The commands, run as a user runs them."""

import csv
import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from command_line import code_blocks, columns_of, run

import trueaxis
from trueaxis import DSWL, ColumnScaler
from trueaxis._cli.main import main
from trueaxis.datasets import planted, sensors
from trueaxis.diagnostics import diagnose
from trueaxis.methods import METHODS
from trueaxis.pipeline import split_pipeline

# ---------------------------------------------------------------- fit


def test_fit_names_the_bad_rows_and_what_would_fit(pump):
    printed = run("fit", pump, "-k", 2, "--id", "pump", "--label", "remark")
    assert "33 of 200 rows (16 %) are outliers: 11 inside" in printed
    worst = next(line for line in printed.splitlines() if "p-96" in line)
    assert "flow unit wrong" in worst and "flow is 8.99, 32.1" in worst
    assert "At level 0.025, 2.5 % of regular rows are flagged, too" in printed
    assert "<1e-99" in worst
    assert "turned by 52 degrees" in printed and "DSWL with 2 components" in printed


def test_what_fit_saves_is_what_python_fits(pump, model):
    X, names = sensors().X, sensors().columns
    loaded, fitted = trueaxis.load(model), DSWL(2).fit(X)
    assert list(loaded.feature_names_in_) == list(names)
    assert np.array_equal(loaded.components_, fitted.components_)
    assert np.array_equal(loaded.weights_, fitted.weights_)


@pytest.mark.slow
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
        expected = DSWL(2).fit(Z).p_values(Z)
        assert np.allclose(np.array(found["p_value"], float), expected, rtol=1e-9)
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


@pytest.mark.slow
def test_shares_and_automatic_numbers_of_components(pump):
    for k, expected in (("0.9", 2), ("auto", 2), ("1", 1)):
        found = json.loads(run("fit", pump, "--drop", "pump,remark", "-k", k, "--json"))
        assert found["n_components"] == expected


def test_json_for_machines(pump):
    found = json.loads(run("fit", pump, "-k", 2, "--id", "pump", "--drop", "remark",
                           "--json"))  # fmt: skip
    assert found["rows"] == 200 and found["columns"] == list(sensors().columns)
    kinds = {"inside": 11, "off": 6, "both": 16, "group": 0}
    assert found["outliers"] == {"count": 33, **kinds}
    assert (found["level"], found["contamination"]) == (0.025, None)
    p = [row["p_value"] for row in found["worst_first"]]
    assert p == sorted(p) and p[-1] < 0.025
    assert found["worst_first"][0]["row"] == "p-96"
    assert found["worst_first"][0]["column"] == "flow"
    assert len(found["worst_first"]) == 33 and found["converged"] is True
    assert 51 < found["angle_to_plain_pca"] < 53


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


# ---------------------------------------------------------------- score, transform


def test_scores_are_those_of_the_diagnostics(pump, model):
    found = columns_of(run("score", model, pump, "--id", "pump"))
    X = sensors().X
    expected = diagnose(DSWL(2).fit(X), X)
    assert found["row"][:2] == ["p-0", "p-1"]
    assert found["kind"] == expected.kind.tolist()
    assert found["outlier"] == [str(flag) for flag in expected.flagged.tolist()]
    assert np.array_equal(np.array(found["orthogonal"], float), expected.orthogonal)
    assert np.array_equal(np.array(found["p_value"], float), expected.p_value)
    assert {"inside", "off", "center"} <= found.keys()  # DSWL's three reasons


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
    printed = run("score", model, pump, "--id", "pump", "-o", path)
    assert "33 of 200 rows" in printed and f"saved to {path}" in printed
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
    message = run("score", folder / "nameless.npz", folder / "few.npy", code=1)
    assert "has 4 columns, but the model was fitted on 6" in message


def test_score_as_json(pump, model, folder):
    found = json.loads(run("score", model, pump, "--json"))
    assert found["outliers"]["count"] == 33 and found["output"] is None
    path = folder / "both.csv"
    found = json.loads(run("score", model, pump, "--json", "-o", path))
    assert found["output"] == str(path) and path.exists()


# ---------------------------------------------------------------- compare, export


@pytest.mark.slow
def test_methods_side_by_side(pump):
    shared = ("--drop", "pump,remark", "-k", 2)
    printed = run("compare", pump, *shared)
    assert all(f" {name} " in printed for name in METHODS)
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


@pytest.mark.slow
def test_slow_methods_are_left_out_and_named(folder, monkeypatch):
    path = folder / "small.npy"
    np.save(path, planted("none", n=40).X)
    slow = ((lambda n, D: n * D, 40 * 20 - 1, ("pcp",)),)
    monkeypatch.setattr("trueaxis.diagnostics.comparison.COSTLY", slow)
    args = ["compare", str(path), "-k", "2", "--json"]
    result = CliRunner().invoke(main, args)
    assert json.loads(result.stdout)["left_out"] == ["pcp"]
    assert "pcp. To fit them anyway, name them with --methods" in result.stderr


def test_large_tables_are_compared_by_some_rows_and_this_is_said(folder, monkeypatch):
    path = folder / "long.npy"
    np.save(path, planted("ocs", n=90, share=0.1).X)
    args = ["compare", str(path), "-k", "2", "--methods", "dswl,pca", "--json"]
    monkeypatch.setattr("trueaxis.diagnostics.comparison.MAX_ROWS", 60)
    result = CliRunner().invoke(main, args)
    assert json.loads(result.stdout)["fitted_rows"] == 60
    assert "fitted to 60 of 90 rows" in result.stderr
    result = CliRunner().invoke(main, [*args, "--all-rows"])
    assert json.loads(result.stdout)["fitted_rows"] == 90
    assert "drawn at random" not in result.stderr


def test_models_become_graphs(pump, model, folder):
    import onnxruntime

    path = folder / "model.onnx"
    assert "saved to" in run("export", model, path)
    session = onnxruntime.InferenceSession(path)
    names = ["label", "orthogonal_distance"]
    label, distance = session.run(names, {"X": sensors().X})
    loaded, frame = trueaxis.load(model), pd.read_csv(pump)
    frame = frame[[*loaded.feature_names_in_]]
    assert np.array_equal(label, loaded.predict(frame))
    assert np.allclose(distance, loaded.distances(frame).orthogonal)
    content = json.loads(run("export", model, folder / "again.onnx", "--json"))
    assert content["onnx"] == str(folder / "again.onnx")


# ---------------------------------------------------------------- report


@pytest.mark.slow
def test_one_command_from_a_table_to_a_page(pump, folder, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    page = folder / "report.html"
    args = ("-k", 2, "--id", "pump", "--label", "remark", "--open")
    printed = run("report", pump, *args, "-o", page)
    assert "33 of 200 rows" in printed and f"Report saved to {page}" in printed
    text = page.read_text(encoding="utf-8")
    assert "p-96" in text and "pump.csv" in text and '<b>"x"' not in text
    assert opened == [page.as_uri()]


@pytest.mark.slow
def test_a_report_builds_no_json_that_is_not_asked_for(pump, folder, monkeypatch):
    monkeypatch.delattr("trueaxis._cli.json_output.result_summary")
    args = ("-k", 2, "--id", "pump", "--label", "remark")
    run("report", pump, *args, "-o", folder / "quiet.html")


@pytest.mark.slow
def test_a_page_on_new_rows_by_an_old_model(pump, model, folder):
    page = folder / "new.html"
    printed = run(
        "report", pump, "--model", model, "--id", "pump", "-o", page, "--json"
    )
    content = json.loads(printed)
    assert content["outliers"]["count"] == 33 and page.exists()
    assert content["command"] == "report" and content["report"] == str(page)
    scored = json.loads(run("score", model, pump, "--id", "pump", "--json"))
    assert content["worst_first"] == scored["worst_first"]
    assert "New rows." in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_command_is_on_the_page(pump, folder):
    page = folder / "repeat.html"
    args = ["report", pump, "-k", "2", "--id", "pump", "--drop", "remark", "-o", page]
    run(*args)
    assert code_blocks(page) == [shlex.join(map(str, ["trueaxis", *args]))]


# ---------------------------------------------------------------- the line

NAMED = ("--id", "pump", "--drop", "remark", "-k", 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "parameters", "said"),
    [
        (("--level", 0.1), {"level": 0.1}, "At level 0.1, 10 % of regular rows"),
        (
            ("--contamination", 0.2),
            {"contamination": 0.2},
            "Contamination 0.2 puts the line at a p-value of 0.",
        ),
    ],
    ids=["level", "contamination"],
)
def test_the_line_is_drawn_as_in_python(option, parameters, said, pump, folder):
    expected = DSWL(2, **parameters).fit(sensors().X)
    n = int((~expected.support_).sum())
    path, page = folder / "line.npz", folder / "line.html"
    assert said in run("fit", pump, *NAMED, *option, "-o", path)
    loaded = trueaxis.load(path)
    assert loaded.get_params() == expected.get_params()
    assert np.array_equal(loaded.support_, expected.support_)
    found = json.loads(run("fit", pump, *NAMED, *option, "--json"))
    assert found["outliers"]["count"] == n == len(found["worst_first"])
    assert found["level"] == pytest.approx(10**expected.offset_)
    assert found["contamination"] == expected.contamination
    assert found["cutoffs"] == expected.cutoffs_._asdict()
    scored = columns_of(run("score", path, pump))
    assert scored["outlier"] == [str(not one) for one in expected.support_]
    printed = run("report", pump, *NAMED, *option, "-o", page)
    assert f"{n} of 200 rows" in printed and said in page.read_text("utf-8")
    compared = json.loads(
        run("compare", pump, *NAMED, *option, "--methods", "dswl,pca", "--json")
    )
    assert compared["methods"][0]["outliers"] == n
    assert compared["level"] == found["level"]


@pytest.mark.slow
@pytest.mark.parametrize("option", [("--scale", "robust"), ("--log",)])
def test_score_redraws_the_line_of_a_pipeline(option, pump, folder):
    path = folder / "pipeline.npz"
    run("fit", pump, *NAMED, *option, "-o", path)
    for level in (1e-6, 0.25):
        model = trueaxis.load(path)
        model[-1]._set_line(np.log10(level))
        found = json.loads(run("score", path, pump, "--level", level, "--json"))
        frame = pd.read_csv(pump)[list(found["columns"])]
        assert found["outliers"]["count"] == (model.predict(frame) < 0).sum()
        assert found["level"] == pytest.approx(level)


@pytest.mark.slow
def test_score_redraws_the_line_of_a_saved_model(pump, model, folder):
    contaminated = folder / "contaminated.npz"
    run("fit", pump, *NAMED, "--contamination", 0.3, "-o", contaminated)
    for level in (0.001, 0.2):
        expected = DSWL(2, level=level).fit(sensors().X)
        for path in (model, contaminated):
            found = json.loads(run("score", path, pump, "--level", level, "--json"))
            assert found["outliers"]["count"] == (~expected.support_).sum()
            assert (found["level"], found["contamination"]) == (level, None)


@pytest.mark.parametrize("value", ["0", "0.6", "-1", "x"])
@pytest.mark.parametrize("option", ["--level", "--contamination"])
def test_shares_out_of_range_are_refused(option, value, pump, model):
    assert f"Invalid value for '{option}'" in run("fit", pump, option, value, code=2)
    if option == "--level":
        error = run("score", model, pump, option, value, code=2)
        assert f"Invalid value for '{option}'" in error


def test_a_level_that_is_no_number_is_refused(pump, model):
    error = run("fit", pump, *NAMED, "--level", "nan", code=1)
    assert "level=nan is out of range" in error
    assert "level=nan is out of range" in run(
        "score", model, pump, "--level", "nan", code=1
    )


def test_two_lines_are_refused(pump, model):
    for args in (
        ("--level", 0.1, "--contamination", 0.1),
        ("--level", 0.1, "--set", "contamination=0.1"),
    ):
        assert "share of all rows: give one of them" in run("fit", pump, *args, code=2)
    twice = ("--level", 0.1, "--set", "level=0.1")
    assert "same parameter: give one of them" in run("fit", pump, *twice, code=2)
    for option in ("--level", "--contamination"):
        error = run("report", pump, "--model", model, option, 0.1, code=2)
        assert f"{option} is for a fit, but --model uses a saved model" in error


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(60, 6), (20, 40)])
def test_a_huge_cell_is_an_outlier_not_an_error(folder, shape):
    X = planted("none", n=shape[0], n_features=shape[1], n_components=2).X
    X[3, 1] = np.finfo(float).max
    table, model = folder / "huge.csv", folder / "huge.npz"
    pd.DataFrame(X).add_prefix("c").to_csv(table, index=False)
    found = json.loads(run("fit", table, "-k", "2", "-o", model, "--json"))
    assert found["worst_first"][0]["p_value"] == 0
    assert found["outliers"]["count"] >= 1
    run("report", table, "-k", "2", "-o", folder / "huge.html")
    run("score", model, table)


def test_messages_list_few_of_many_names(folder):
    X = planted("none", n=30, n_features=300).X
    wide, narrow, model = (folder / name for name in ("w.csv", "n.csv", "w.npz"))
    pd.DataFrame(X).add_prefix("c").to_csv(wide, index=False)
    pd.DataFrame(X[:, :200]).add_prefix("c").to_csv(narrow, index=False)
    run("fit", wide, "-k", "2", "-o", model)
    for wrong in (("score", model, narrow), ("score", model, wide, "--columns", "c1")):
        failed = CliRunner().invoke(main, [*map(str, wrong)])
        assert failed.exit_code != 0
        assert "and 292 more" in failed.output
        assert len(failed.output) < 600
