"""The command `trueaxis repair`: tables without holes and wrong cells."""

import csv
import json
import os

import numpy as np
import pandas as pd
import pytest
from command_line import NASTY, columns_of, invoke, run

import trueaxis
from trueaxis import DSWL, PlainPCA
from trueaxis._tables.read import Choice, read_table
from trueaxis.datasets import planted

N, D = 150, 6
NAMES = [f"c{j}" for j in range(D)]


@pytest.fixture(scope="module")
def X():
    X = planted("ocs", n=N, n_features=D, n_components=2, share=0).X * 10 + 100
    X[np.random.default_rng(1).random(X.shape) < 0.02] = np.nan
    X[5, 2], X[60, 3] = 900.0, -800.0
    return X


@pytest.fixture
def table(X, tmp_path):
    """Names in the middle, a remark that is dropped, and words for missing cells."""
    path = tmp_path / "in.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*NAMES[:3], "who", "remark", *NAMES[3:]])
        for i, row in enumerate(X.tolist()):
            cells = [("NA", "", "?")[i % 3] if np.isnan(x) else repr(x) for x in row]
            writer.writerow([*cells[:3], f"pump {i}", NASTY, *cells[3:]])
    return path


GIVEN = ["--id", "who", "--drop", "remark", "-k", 2]


def test_the_table_is_the_same_apart_from_holes_and_wrong_cells(X, table, tmp_path):
    done = invoke("repair", table, *GIVEN, "-o", tmp_path / "out.csv")
    model = DSWL(2, cells=True).fit(X)
    found = columns_of((tmp_path / "out.csv").read_text())
    assert list(found) == [*NAMES[:3], "who", "remark", *NAMES[3:]]
    assert found["who"] == [f"pump {i}" for i in range(N)]
    assert set(found["remark"]) == {NASTY}
    repaired = np.array([found[name] for name in NAMES], dtype=float).T
    np.testing.assert_array_equal(repaired, model.repair(X))
    listed = pd.read_csv(tmp_path / "out-changes.csv")
    names = ["row", "column", "value", "fitted", "deviation", "kind"]
    assert list(listed.columns) == names
    changed = np.argwhere(~(repaired == X))
    assert listed["row"].tolist() == [f"pump {i}" for i in changed[:, 0]]
    assert listed["column"].tolist() == [NAMES[j] for j in changed[:, 1]]
    np.testing.assert_array_equal(listed["value"], X[tuple(changed.T)])
    np.testing.assert_array_equal(listed["fitted"], repaired[tuple(changed.T)])
    counts = listed["kind"].value_counts()
    assert counts["missing"] == np.isnan(X).sum() and counts["wrong"] >= 2
    n_rows = len(set(listed["row"]))
    assert done.stdout.startswith(
        f"{len(listed)} cells in {n_rows} rows were changed: {counts['missing']} "
        f"missing, {counts['wrong']} wrong; most in column c"
    )
    assert f"Changed cells saved to {tmp_path / 'out-changes.csv'}" in done.stdout
    assert f"Note: {np.isnan(X).sum()} of 900 cells are missing" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["in.csv", "out-changes.csv", "out.csv"]


def test_a_repaired_table_needs_no_repair_of_holes(table, tmp_path):
    run("repair", table, *GIVEN, "-o", tmp_path / "out.csv")
    again = invoke("repair", tmp_path / "out.csv", *GIVEN, "--no-cells", "--json")
    assert json.loads(again.stdout)["changed"]["count"] == 0
    assert "missing" not in again.stderr
    run("fit", tmp_path / "out.csv", *GIVEN, "--method", "pca")


def test_without_cells_only_holes_are_filled(X, table, tmp_path):
    given = ["repair", table, *GIVEN, "--no-cells", "-o", tmp_path / "out.csv"]
    found = json.loads(run(*given, "--json"))
    n = int(np.isnan(X).sum())
    assert found["changed"] | {"by_column": 0} == {
        "count": n,
        "rows": int(np.isnan(X).any(axis=1).sum()),
        "missing": n,
        "wrong": 0,
        "by_column": 0,
    }
    assert sum(found["changed"]["by_column"].values()) == n
    assert found["output"].endswith("out.csv")
    assert found["changes"].endswith("out-changes.csv")
    repaired = read_table(tmp_path / "out.csv", Choice(columns=NAMES)).X
    np.testing.assert_array_equal(repaired, DSWL(2).fit(X).impute(X))


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["none", "robust"])
def test_a_model_repairs_new_rows(scale, X, table, tmp_path):
    model, out = tmp_path / "m.npz", tmp_path / "out.csv"
    run("fit", table, *GIVEN, "--scale", scale, "--cells", "-o", model)
    rows = read_table(table, Choice(columns=NAMES)).X[:20]
    new = pd.DataFrame(rows, columns=NAMES)
    new["other"] = [f"text {i}" for i in range(20)]
    new[[*reversed(NAMES), "other"]].to_csv(tmp_path / "new.csv", index=False)
    given = ["repair", tmp_path / "new.csv", "--model", model, "-o", out]
    run(*given)
    found = pd.read_csv(out)
    assert list(found.columns) == [*reversed(NAMES), "other"]
    assert found["other"].tolist() == new["other"].tolist()
    run("repair", table, *GIVEN, "--scale", scale, "-o", tmp_path / "all.csv")
    whole = pd.read_csv(tmp_path / "all.csv")[NAMES][:20]
    np.testing.assert_allclose(found[NAMES], whole, rtol=1e-12)
    assert found["c2"][5] < 300
    run(*given, "--no-cells")
    assert pd.read_csv(out)["c2"][5] == 900


def test_models_that_cannot_repair(X, table, tmp_path):
    whole = np.nan_to_num(X, nan=100.0)
    pca, plain = tmp_path / "pca.npz", tmp_path / "plain.npz"
    trueaxis.save(PlainPCA(2).fit(whole), pca)
    trueaxis.save(DSWL(2).fit(whole), plain)
    np.save(tmp_path / "x.npy", X)
    given = ["repair", tmp_path / "x.npy", "-o", tmp_path / "o.npy", "--model"]
    assert "is a PlainPCA, which judges whole rows" in run(*given, pca, code=1)
    message = run(*given, plain, "--cells", code=1)
    assert "was fitted without --cells" in message and "leave out --cells" in message
    assert not (tmp_path / "o.npy").exists()
    assert "missing, 0 wrong" in run(*given, plain)
    assert "--components is for a fit" in run(*given, plain, "-k", 2, code=2)
    np.testing.assert_allclose(
        np.load(tmp_path / "o.npy"), DSWL(2).fit(whole).impute(X), rtol=1e-12
    )


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".npy"])
def test_formats_agree(ending, X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    out, changes = tmp_path / f"out{ending}", tmp_path / "list.tsv"
    run("repair", tmp_path / "x.npy", "-k", 2, "-o", out, "--changes", changes)
    np.testing.assert_array_equal(
        read_table(out).X, DSWL(2, cells=True).fit(X).repair(X)
    )
    listed = pd.read_csv(changes, sep="\t")
    assert (listed["kind"] == "missing").sum() == np.isnan(X).sum()
    assert not (tmp_path / "out-changes.csv").exists()


@pytest.mark.slow
def test_standard_input_and_output(table, tmp_path):
    text = table.read_text()
    done = invoke("repair", "-", *GIVEN, stdin=text)
    run("repair", table, *GIVEN, "-o", tmp_path / "out.csv")
    assert done.stdout == (tmp_path / "out.csv").read_text()
    assert " rows were changed: " in done.stderr and "saved" not in done.stderr
    done = invoke("repair", table, *GIVEN, "-o", tmp_path / "o.csv", "--changes", "-")
    assert done.stdout == (tmp_path / "out-changes.csv").read_text()


def test_unnamed_row_names_stay_unnamed(X, tmp_path):
    frame = pd.DataFrame(X, columns=NAMES, index=[f"r{i}" for i in range(N)])
    frame.to_csv(tmp_path / "in.csv")
    run("repair", tmp_path / "in.csv", "-k", 2, "-o", tmp_path / "out.csv")
    again = pd.read_csv(tmp_path / "out.csv", index_col=0)
    assert again.index.tolist() == frame.index.tolist() and again.index.name is None
    assert again.columns.tolist() == NAMES
    listed = pd.read_csv(tmp_path / "out-changes.csv")
    assert set(listed["row"]) <= set(frame.index)


def test_rows_with_holes_can_be_left_out(X, table, tmp_path):
    run("repair", table, *GIVEN, "--missing", "drop", "-o", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")
    whole = ~np.isnan(X).any(axis=1)
    assert found["who"].tolist() == [f"pump {i}" for i in np.flatnonzero(whole)]


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        ("-o {table}", 1, "is an input and would be overwritten"),
        ("-o {folder}/o.csv --changes {table}", 1, "is an input and would be"),
        ("-o {folder}/o.csv --changes {folder}/o.csv", 1, "both the table and its"),
        ("-o {folder}/o.html", 1, "tables are written as"),
        ("-o {folder}/o.csv --changes {folder}/o.html", 1, "tables are written as"),
        ("-o {folder}/o.npy", 1, "holds numbers only, but 'who' is a column"),
        ("-o {folder}/none/o.csv", 1, "none"),
        ("--changes -", 2, "both be written to standard output"),
        ("--json --changes -", 2, "--json and --changes - would both"),
        ("-o {folder}/o.csv --model {folder}/none.npz", 1, "none.npz"),
        ("-o {folder}/o.csv --missing error", 1, "has a missing cell in line"),
    ],
)
def test_errors_leave_nothing_behind(given, code, message, table, tmp_path):
    before = sorted(os.listdir(tmp_path))
    parts = given.format(table=table, folder=tmp_path).split()
    assert message in run("repair", table, *GIVEN[:4], *parts, code=code)
    assert sorted(os.listdir(tmp_path)) == before
