"""Missing cells are filled, wrong ones replaced, and all others stay as they are."""

import json

import numpy as np
import pandas as pd
import pytest
from command_line import columns_of, invoke, run

import trueaxis
from trueaxis import DSWL
from trueaxis.datasets import planted

NAMES = list("abcdef")


@pytest.fixture(scope="module")
def X():
    X = planted("none", n=150, n_features=6, n_components=2).X.round(3)
    X[[5, 40, 90], [0, 3, 2]] = np.nan
    X[[7, 60], [1, 4]] += 40
    X[100] = 90 * np.array([1, -1, 1, -1, 1, -1])  # wrong as a whole
    return X


@pytest.fixture
def table(X, tmp_path):
    frame = pd.DataFrame(X, columns=NAMES)
    frame.insert(0, "name", [f"r{i}" for i in range(len(X))])
    path = tmp_path / "in.csv"
    frame.assign(remark="x").to_csv(path, index=False)
    return path


def changed(X, replace=True):
    model = DSWL(2, cells=replace).fit(X)
    return model.repair(X, wrong=replace)


def test_the_table_is_the_same_apart_from_repaired_cells(X, table, tmp_path):
    out, changes = tmp_path / "out.csv", tmp_path / "out-changes.csv"
    printed = run("repair", table, "--id", "name", "-k", 2, "-o", out)
    assert f"Repaired table saved to {out}" in printed and f"{changes}" in printed
    new, expected = pd.read_csv(out), changed(X)
    np.testing.assert_allclose(new[NAMES], expected, rtol=1e-6)
    listed = pd.read_csv(changes)
    missing = listed[listed["kind"] == "missing"]
    assert set(zip(missing["row"], missing["column"], strict=True)) == {
        ("r5", "a"), ("r40", "d"), ("r90", "c")
    }  # fmt: skip
    assert {("r7", "b"), ("r60", "e")} <= set(
        zip(listed["row"], listed["column"], strict=True)
    )
    assert "r100" not in set(listed["row"])  # a row that is wrong as a whole
    old_lines, new_lines = (p.read_text().splitlines() for p in (table, out))
    touched = {int(name[1:]) + 1 for name in listed["row"]}
    for i, (old, line) in enumerate(zip(old_lines, new_lines, strict=True)):
        assert (old == line) == (i not in touched)
    again = run("repair", out, "--id", "name", "-k", 2, "--no-cells", "--json")
    assert json.loads(again)["changed"]["count"] == 0


def test_json_lists_the_changes(X, table):
    found = json.loads(run("repair", table, "--id", "name", "-k", 2, "--json"))
    assert found["changed"]["missing"] == 3 and found["changed"]["wrong"] >= 2
    assert found["changed"]["count"] == len(found["cells"])
    assert sum(found["changed"]["by_column"].values()) == len(found["cells"])
    first = found["cells"][0]
    assert first["row"] == "r5" and first["value"] is None and first["column"] == "a"
    expected = changed(X)
    assert first["fitted"] == pytest.approx(expected[5, 0])
    assert found["looked_for_wrong"] is True and found["kept"] >= 0


def test_without_cells_only_missing_ones_are_filled(X, table):
    done = invoke("repair", table, "--id", "name", "-k", 2, "--no-cells")
    out = columns_of(done.stdout)
    numbers = np.column_stack([np.array(out[name], float) for name in NAMES])
    known = ~np.isnan(X)
    assert (numbers[known] == X[known]).all()
    np.testing.assert_allclose(numbers, changed(X, replace=False), rtol=1e-6)
    assert "3 missing; most in" in done.stderr and out["remark"][0] == "x"


@pytest.mark.parametrize("scale", ["none", "robust"])
def test_a_model_repairs_new_rows(scale, X, table, tmp_path):
    model = tmp_path / "m.npz"
    fit = ("fit", table, "--id", "name", "-k", 2, "--scale", scale, "-o", model)
    run(*fit)
    note = invoke("repair", table, "--model", model).stderr
    assert "fitted without --set cells=true" in " ".join(note.split())
    run(*fit, "--set", "cells=true")
    found = json.loads(run("repair", table, "--model", model, "--json"))
    assert found["changed"]["missing"] == 3 and found["changed"]["wrong"] >= 2
    loaded = trueaxis.load(model)
    frame = pd.DataFrame(X, columns=NAMES)
    method = loaded if scale == "none" else loaded[-1]
    scaled = frame if scale == "none" else loaded[:-1].transform(frame)
    new = method.repair(scaled)
    if scale != "none":
        new = loaded[0].inverse_transform(new)
    for cell in found["cells"]:
        row, column = int(cell["row"]), NAMES.index(cell["column"])
        assert cell["fitted"] == pytest.approx(np.asarray(new)[row, column])


def test_models_that_cannot_repair(X, table, tmp_path):
    model = tmp_path / "m.npz"
    run("fit", table, "--id", "name", "--read", "missing=drop", "-k", 2,
        "--method", "pca", "-o", model)  # fmt: skip
    assert "PlainPCA" in run("repair", table, "--model", model, code=1)
