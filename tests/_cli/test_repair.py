"""The command `trueaxis repair`: tables without holes and wrong cells."""

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from command_line import NASTY, columns_of, invoke, run

import trueaxis
from trueaxis import DSWL, PlainPCA
from trueaxis.datasets import planted
from trueaxis.io import Choice, read_table

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
    listed = pd.read_csv(tmp_path / "out-changes.csv", dtype=str)
    # By Python, which rounds as the writer does in all versions of pandas.
    listed = listed.astype({"value": float, "fitted": float})
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
    done = invoke(*given, plain)
    assert "missing; most in" in done.stdout and "wrong" not in done.stdout
    assert "plain.npz was fitted without --cells and knows no wrong" in done.stderr
    assert "Note" not in invoke(*given, plain, "--no-cells").stdout
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


@pytest.mark.soak
def test_a_reader_that_leaves_does_not_cost_the_changes(table, tmp_path):
    head, *rows = table.read_text().splitlines(keepends=True)
    table.write_text(head + "".join(rows) * 4)  # more than a pipe holds
    changes = tmp_path / "changes.csv"
    command = [sys.executable, "-m", "trueaxis", "repair", table, "--no-cells"]
    command += [*map(str, GIVEN), "--changes", changes]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(60) == 0
    listed = columns_of(changes.read_text())
    assert set(listed["kind"]) == {"missing"}
    assert sorted(os.listdir(tmp_path)) == ["changes.csv", "in.csv"]


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
        ("-o {folder}/o.csv --missing error", 2, "which repair is to fill: leave it"),
        ("-o {folder}/o.csv --log c0", 1, "leave out --log and --categories"),
    ],
)
def test_errors_leave_nothing_behind(given, code, message, table, tmp_path):
    before = sorted(os.listdir(tmp_path))
    parts = given.format(table=table, folder=tmp_path).split()
    assert message in run("repair", table, *GIVEN[:4], *parts, code=code)
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("given", ["--log c0", "--categories who"])
def test_what_cannot_be_repaired_is_not_fitted(given, table, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("fitted in vain")

    monkeypatch.setattr("trueaxis._cli.repair.read_for_fit", fail)
    given = [*GIVEN[2:], *given.split(), "-o", tmp_path / "o.csv"]
    message = run("repair", table, *given, code=1)
    assert "leave out --log and --categories" in message


def test_models_with_logarithms_are_refused_before_the_table_is_read(table, tmp_path):
    model = tmp_path / "m.npz"
    rng = np.random.default_rng(0)
    skewed = np.exp(rng.standard_normal((60, 3)) @ rng.standard_normal((3, 3)))
    np.save(tmp_path / "x.npy", skewed)
    run("fit", tmp_path / "x.npy", "-k", 1, "--log", "x0", "-o", model)
    message = run("repair", tmp_path / "none.csv", "--model", model, code=1)
    assert "the model takes logarithms or categories" in message


# ---------------------------------------------------------------- fidelity


def test_what_is_not_repaired_keeps_its_text(X, tmp_path):
    """Semicolons, decimal commas, CRLF, cp1252, integers, quotes, a line above."""
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    lines = ["# Prüfstand 7", ";".join(["größe", "n", "big", *NAMES, "remark"])]
    for i, row in enumerate(X.tolist()):
        cells = ["" if np.isnan(x) else f"{x:.2f}".replace(".", ",") for x in row]
        fixed = [f"s{i}", f"{i * 7 % 11}", f"{2**62 + i}"]
        lines.append(";".join([*fixed, *cells, '"a;b"']))
    text = "\r\n".join(lines) + "\r\n"
    path.write_bytes(text.encode("cp1252"))
    given = ["repair", path, "--columns", ",".join(NAMES), "-k", 2, "-o", out]
    changed = json.loads(run(*given, "--json"))["cells"]
    assert any(cell["kind"] == "wrong" for cell in changed)
    before, after = (each.read_bytes().decode("cp1252") for each in (path, out))
    different = [
        (a, b)
        for one, two in zip(before.split("\r\n"), after.split("\r\n"), strict=True)
        for a, b in zip(one.split(";"), two.split(";"), strict=True)
        if a != b
    ]
    assert len(different) == len(changed)
    for (_, new), cell in zip(different, changed, strict=True):
        assert float(new.replace(",", ".")) == cell["fitted"] and "." not in new


def test_integers_of_parquet_files_stay_integers(X, tmp_path):
    path, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    frame = pd.DataFrame(np.round(X, 2), columns=NAMES)
    frame["whole"] = pd.array([i * 13 % 17 for i in range(N)], dtype="Int64")
    frame["big"] = [2**60 + i * i for i in range(N)]
    frame["gap"] = pd.array([None if i == 3 else i * 5 % 7 for i in range(N)], "Int64")
    frame.to_parquet(path)
    done = invoke("repair", path, "--drop", "big,whole", "-k", 2, "-o", out)
    after = pd.read_parquet(out)
    assert after["whole"].tolist() == frame["whole"].tolist() and after["big"].equals(
        frame["big"]
    )
    kept = frame["gap"].notna()
    assert after["gap"][kept].tolist() == frame["gap"][kept].tolist()
    assert (
        "Note: Column 'gap' was int64, which cannot hold its new cells" in done.stderr
    )
    listed = pd.read_parquet(tmp_path / "out-changes.parquet")
    assert set(listed["kind"]) <= {"missing", "wrong"}


@pytest.mark.slow
def test_lists_of_changes_have_names_of_their_own_and_no_nan(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    given = ["repair", tmp_path / "x.npy", "-k", 2, "-o"]
    for name, changes in (
        ("o.npy", "o.npy-changes.csv"),
        ("o.csv", "o-changes.csv"),
        ("o.tsv.gz", "o-changes.tsv.gz"),
        ("o.jsonl", "o-changes.jsonl"),
    ):
        found = json.loads(run(*given, tmp_path / name, "--json"))
        assert found["changes"] == str(tmp_path / changes)
    listed = columns_of((tmp_path / "o-changes.csv").read_text())
    values = {
        value
        for value, kind in zip(listed["value"], listed["kind"], strict=True)
        if kind == "missing"
    }
    assert values == {""}


def test_columns_of_text_are_read_again(X, tmp_path):
    """Decimal commas and units in a Parquet file, and columns the model ignores."""
    path, out, model = (tmp_path / n for n in ("in.parquet", "out.parquet", "m.npz"))
    texts = {
        name: [f"{x:.2f} kg".replace(".", ",") for x in column]
        for name, column in zip(NAMES, X.T, strict=True)
    }
    frame = pd.DataFrame(texts).replace("nan kg", None)
    frame.loc[0, "c0"] = "0"
    frame.to_parquet(path)
    run("repair", path, "-k", 2, "-o", out)
    after = pd.read_parquet(out)
    assert after.drop(index=0).map(lambda cell: cell.endswith(" kg")).all(axis=None)
    assert not np.isnan(read_table(out).X).any()
    run("fit", path, "-k", 2, "-o", model)
    frame["other"] = ["1.5", "2.5", "3.25"] * (N // 3)
    frame.to_parquet(path)
    assert "contradicts" in run("fit", path, "-k", 2, code=1)
    run("repair", path, "--model", model, "-o", out)
    assert not np.isnan(read_table(out, Choice(columns=NAMES)).X).any()
