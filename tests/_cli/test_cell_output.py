"""Wrong cells in sentences and JSON, and tables after a repair."""

import json

import numpy as np
import pytest
from command_line import invoke, run

from trueaxis import DSWL, ColumnScaler, save
from trueaxis._cli import streaming
from trueaxis._cli.cell_output import (
    RepairedTable,
    WrongCellCounter,
    describe_changes,
    describe_counts,
    repair_table,
)
from trueaxis.data.rows import ArrayRows
from trueaxis.datasets import planted
from trueaxis.pipeline import SplitPipeline

N, D = 120, 8


@pytest.fixture(scope="module")
def X():
    """Rows near a plane, with holes and gross errors in known cells."""
    X = planted("ocs", n=N, n_features=D, n_components=2, share=0).X * 10 + 100
    X[5, 2], X[17, 1], X[17, 6] = 900.0, -700.0, 800.0
    X[3, 4] = X[40, 0] = X[41, 0] = np.nan
    return X


@pytest.fixture(scope="module")
def parts(X):
    return SplitPipeline(None, DSWL(2, cells=True).fit(X))


@pytest.mark.parametrize("how", [None, "robust", "standard"])
def test_a_repair_changes_holes_and_wrong_cells_only(how, X):
    scaler = None if how is None else ColumnScaler(how).fit(X)
    scaled = X if scaler is None else scaler.transform(X)
    model = DSWL(2, cells=True).fit(scaled)
    found = repair_table(SplitPipeline(scaler, model), X)
    changed = np.zeros(X.shape, dtype=bool)
    changed[found.row, found.column] = True
    np.testing.assert_array_equal(found.X[~changed], X[~changed])
    assert np.isfinite(found.X).all()
    np.testing.assert_array_equal(found.kind == "missing", np.isnan(found.value))
    np.testing.assert_array_equal(found.fitted, found.X[found.row, found.column])
    whole = model.repair(scaled)
    if scaler is not None:
        whole = scaler.inverse_transform(whole)
    np.testing.assert_allclose(found.X, whole, rtol=1e-12)
    at = list(zip(found.row.tolist(), found.column.tolist(), strict=True))
    assert {(5, 2), (3, 4), (40, 0), (41, 0)} <= set(at)
    assert (
        found.value[at.index((5, 2))] == 900 and found.deviation[at.index((5, 2))] > 9
    )
    only = repair_table(SplitPipeline(scaler, model), X, replace_wrong=False)
    assert set(only.kind) == {"missing"} and len(only.row) == 3 and only.n_kept == 0


def changes(kind, row, column, n_kept=0):
    some = np.zeros(len(row))
    where = np.array(row, dtype=int), np.array(column, dtype=int)
    return RepairedTable(
        np.zeros((9, 3)), *where, some, some, some, np.array(kind), n_kept
    )


def test_the_summary_of_changes():
    kinds = ["missing"] * 3 + ["wrong"] * 2
    found = describe_changes(changes(kinds, [1, 1, 2, 3, 3], [0, 1, 1, 1, 2]), "abc")
    assert found == (
        "5 cells in 3 rows were changed: 3 missing, 2 wrong; most in column b (3)."
    )
    found = describe_changes(changes(["wrong"], [7], [2], 1), "abc")
    assert found == (
        "1 cell in 1 row was changed: 0 missing, 1 wrong; most in column c (1). In "
        "rows that are wrong as a whole, 1 wrong cell was kept."
    )
    assert describe_changes(changes([], [], []), "abc") == "No cell was changed."


def test_the_sentence_about_wrong_cells():
    assert describe_counts(0, 0) == "No cell is wrong."
    assert describe_counts(3, 1, "3 cells in row 7") == "3 cells in row 7 are wrong."
    assert describe_counts(1, 1, "1 cell in row 7") == "1 cell in row 7 is wrong."
    assert describe_counts(1200, 2) == "1,200 cells in 2 rows are wrong."


def test_wrong_cells_are_counted_block_by_block(X, parts):
    kernel = WrongCellCounter(parts.model._repair())
    found = [ArrayRows(some).scan(kernel)[1] for some in (X[:30], X[30:])]
    table = parts.model.wrong_cells(X)
    expected = [len(table), len(set(table["row"]))]
    assert kernel.merge(*found).tolist() == expected


@pytest.fixture
def csv(X, tmp_path):
    path = tmp_path / "cells.csv"
    lines = [",".join(["who", *(f"c{j}" for j in range(D))])]
    lines += [
        f"pump {i}," + ",".join(map(repr, row)) for i, row in enumerate(X.tolist())
    ]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.slow
def test_a_fit_with_cells_names_the_rows_with_wrong_cells(csv, X, parts):
    given = ["fit", csv, "--id", "who", "-k", 2]
    table = parts.model.wrong_cells(X)
    n_rows = len(set(table["row"]))
    said = run(*given, "--cells")
    assert f"{len(table)} cells in {n_rows} rows are wrong: " in said
    found = json.loads(run(*given, "--cells", "--json"))["wrong_cells"]
    assert (found["count"], found["rows"]) == (len(table), n_rows)
    by_place = {(cell["row"], cell["column"]): cell for cell in found["cells"]}
    cell = by_place["pump 5", "c2"]
    assert cell["value"] == 900 and abs(cell["fitted"] - 100) < 60
    assert "wrong_cells" not in json.loads(run(*given, "--json"))
    assert " wrong: " not in run(*given)


def test_a_model_finds_wrong_cells_of_new_rows(csv, X, parts, tmp_path):
    run("fit", csv, "--id", "who", "-k", 2, "--cells", "-o", tmp_path / "m.npz")
    score = ["score", tmp_path / "m.npz", csv, "--id", "who"]
    found = json.loads(run(*score, "--json"))["wrong_cells"]
    assert found["count"] == len(parts.model.wrong_cells(X))
    assert "rows are wrong: " in run(*score, "-o", tmp_path / "out.csv")


@pytest.mark.slow
def test_large_files_count_their_wrong_cells(X, parts, tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X)
    monkeypatch.setattr(streaming, "LARGE_BYTES", 0)
    given = ["fit", tmp_path / "x.npy", "-k", 2, "--cells"]
    found = json.loads(run(*given, "--json"))["wrong_cells"]
    assert found["count"] == len(parts.model.wrong_cells(X))
    assert f"{found['count']} cells in {found['rows']} rows are wrong." in run(*given)
    assert "wrong" not in run(*given[:-1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--method", "pca"], "--cells is for dswl, and pca judges only whole rows"),
        (["--set", "cells=true"], "--cells and --set cells are the same parameter"),
    ],
)
def test_cells_with_other_options(given, message, csv):
    assert message in run("fit", csv, "--cells", *given, code=2)


def test_a_report_with_a_model_takes_no_cells_option(csv, parts, tmp_path):
    save(parts.model, tmp_path / "m.npz")
    done = invoke("report", csv, "--model", tmp_path / "m.npz", "--cells", code=2)
    assert "--cells is for a fit" in done.stderr
