"""Missing cells on the command line: filled, dropped or refused, and always told."""

import csv
import json

import numpy as np
import pytest
from command_line import columns_of, invoke, run

import trueaxis
from trueaxis import DSWL, ColumnScaler
from trueaxis._cli import streaming
from trueaxis._cli.missing import (
    HOLE_TAKERS,
    HoleCounter,
    count_holes,
    describe_holes,
    takes_holes,
)
from trueaxis.data.rows import ArrayRows
from trueaxis.datasets import sensors
from trueaxis.methods import METHODS

WORDS = ["", "NA", "n/a", "NULL", "-", "?", "nan"]
NAMES = sensors().columns


@pytest.fixture(scope="module")
def X():
    X = sensors().X.copy()
    X[np.random.default_rng(7).random(X.shape) < 0.03] = np.nan
    X[:, 4] = sensors().X[:, 4]
    return X


@pytest.fixture(scope="module")
def holes(X, tmp_path_factory):
    """A table with names of rows, and all words for missing cells."""
    path = tmp_path_factory.mktemp("holes") / "pump.csv"
    with path.open("w", newline="") as file:
        writer, words = csv.writer(file), np.random.default_rng(8)
        writer.writerow(["pump", *NAMES])
        for i, row in enumerate(X):
            cells = [
                words.choice(WORDS) if np.isnan(x) else repr(float(x)) for x in row
            ]
            writer.writerow([f"pump {i}", *cells])
    return path


def told(X):
    n = int(np.isnan(X).sum())
    return (
        f"Note: {n} of 1,200 cells are missing, in 5 of 6 columns; they are filled by "
        "what the other columns say."
    )


@pytest.mark.parametrize("scale", ["none", "robust", "standard"])
def test_a_fit_fills_holes_as_in_python(scale, holes, X, tmp_path):
    given = [holes, "-k", 2, "--id", "pump", "--scale", scale, "-o", tmp_path / "m.npz"]
    done = invoke("fit", *given)
    assert done.stderr.count(told(X)) == 1 and told(X) not in done.stdout
    scaled = X if scale == "none" else ColumnScaler(scale).fit_transform(X)
    expected = DSWL(2).fit(scaled)
    loaded = trueaxis.load(tmp_path / "m.npz")
    method = loaded if scale == "none" else loaded[1]
    np.testing.assert_array_equal(method.components_, expected.components_)
    np.testing.assert_array_equal(method.support_, expected.support_)


@pytest.mark.slow
def test_commands_with_a_model_fill_holes(holes, X, tmp_path):
    model = tmp_path / "m.npz"
    run("fit", holes, "-k", 2, "--id", "pump", "-o", model)
    expected = DSWL(2).fit(X)
    done = invoke("score", model, holes, "--id", "pump")
    found = columns_of(done.stdout)
    assert told(X) in done.stderr
    assert found["row"] == [f"pump {i}" for i in range(len(X))]
    flagged = np.array(found["outlier"]) == "True"
    np.testing.assert_array_equal(flagged, expected.predict(X) < 0)
    found = columns_of(run("transform", model, holes))
    scores = np.array([found["dswl0"], found["dswl1"]], dtype=float).T
    np.testing.assert_array_equal(scores, expected.transform(X))
    # A new table may lack a whole column.
    (tmp_path / "few.csv").write_text(
        ",".join(NAMES) + "\n" + "\n".join(f"{i},,,NA,?,1" for i in range(4))
    )
    done = invoke("score", model, tmp_path / "few.csv")
    assert "Note: 16 of 24 cells are missing, in 4 of 6 columns" in done.stderr
    assert len(columns_of(done.stdout)["row"]) == 4


@pytest.mark.slow
def test_reports_take_holes(holes, X, tmp_path):
    page = tmp_path / "r.html"
    done = invoke("report", holes, "-k", 2, "--id", "pump", "-o", page)
    assert told(X) in done.stderr and "NaN" not in done.stdout and page.exists()


@pytest.mark.slow
def test_comparisons_take_holes_if_the_first_method_does(holes, X):
    given = ["compare", holes, "-k", 2, "--id", "pump", "--methods"]
    rows = json.loads(run(*given, "dswl,pca", "--json"))["methods"]
    assert [row["problem"] for row in rows] == ["", ""]
    assert rows[0]["outliers"] == (~DSWL(2).fit(X).support_).sum()
    message = run(*given, "pca,dswl", code=1)
    assert "PlainPCA needs complete rows" in message


@pytest.mark.parametrize("command", ["fit", "report"])
def test_other_methods_say_what_to_do(command, holes, X, tmp_path):
    message = run(command, holes, "--id", "pump", "--method", "r1-pca", code=1)
    row, column = np.argwhere(np.isnan(X))[0]
    assert f"Column {NAMES[column]!r} has a missing cell in line {row + 2}" in message
    assert f"missing cells: {np.isnan(X).sum()}, in" in message
    assert "R1PCA needs complete rows" in message
    assert "the methods that take missing cells: dswl." in message
    assert "--missing drop" in message and "`trueaxis repair`" in message
    whole, model = tmp_path / "whole.npy", tmp_path / "pca.npz"
    np.save(whole, sensors().X)
    run("fit", whole, "--method", "pca", "-o", model)
    np.save(tmp_path / "holes.npy", X)
    message = run("score", model, tmp_path / "holes.npy", code=1)
    assert "PlainPCA needs complete rows" in message


def test_holes_can_be_refused_or_their_rows_dropped(holes, X):
    given = [holes, "--id", "pump", "-k", 2]
    row = np.argwhere(np.isnan(X))[0, 0]
    message = run("fit", *given, "--missing", "error", code=1)
    assert f"missing cell in line {row + 2} " in message
    assert "needs complete rows" not in message
    whole = ~np.isnan(X).any(axis=1)
    dropped = f"Note: {(~whole).sum()} of 200 rows have a missing cell and were left"
    for method in ("dswl", "pca"):
        given = [*given, "--missing", "drop", "--method", method]
        done = invoke("fit", *given, "--json")
        assert dropped in done.stderr and "are filled by" not in done.stderr
        found = json.loads(done.stdout)
        assert found["rows"] == whole.sum()
    given = ["compare", holes, "--drop", "pump", "-k", 2, "--missing", "drop"]
    rows = json.loads(run(*given, "--methods", "pca,dswl", "--json"))["methods"]
    assert rows[1]["outliers"] == (~DSWL(2).fit(X[whole]).support_).sum()


def test_rows_keep_their_numbers_when_others_are_dropped(holes, X, tmp_path):
    model = tmp_path / "m.npz"
    given = ["--missing", "drop"]
    run("fit", holes, "--drop", "pump", "-k", 2, "-o", model, *given)
    found = columns_of(run("score", model, holes, *given))
    whole = np.flatnonzero(~np.isnan(X).any(axis=1))
    assert found["row"] == list(map(str, whole))


def test_infinite_cells_and_text_stay_errors(holes, tmp_path):
    lines = holes.read_text().splitlines()
    for cell, message in (
        ("inf", "has an infinite cell"),
        ("x", "cells that are not numbers: 'x'"),
    ):
        cells = lines[9].split(",")
        path = tmp_path / "bad.csv"
        path.write_text(
            "\n".join(
                [*lines[:9], ",".join([*cells[:3], cell, *cells[4:]]), *lines[9:]]
            )
        )
        found = run("fit", path, "--id", "pump", code=1)
        assert message in found and "line 10" in found


@pytest.mark.parametrize("command", [("fit",), ("compare", "--methods", "dswl,pca")])
def test_an_empty_column_is_left_out_unless_it_is_asked_for(command, tmp_path):
    path = tmp_path / "empty.csv"
    rows = "".join(f"{i % 7},{i % 3},NA\n" for i in range(30))
    path.write_text("a,b,c d\n" + rows)
    done = invoke(command[0], path, *command[1:])
    assert "Note: Left out: 'c d' (empty)." in done.stderr
    asked = ["--columns", "a,b,c d"]
    done = invoke(command[0], path, *command[1:], *asked, code=1)
    assert "Column 'c d' is empty: all of its 30 cells are missing" in done.stderr
    assert "--drop 'c d'" in done.stderr and "filled" not in done.stderr


def test_the_sentence_about_holes():
    assert describe_holes(np.zeros(3, dtype=int), 9) == []
    (one,) = describe_holes(np.array([0, 1, 0]), 9)
    assert one.startswith("1 of 27 cells is missing, in 1 of 3 columns; it is filled")
    (many,) = describe_holes(np.array([1000, 1, 0]), 2000)
    assert many.startswith("1,001 of 6,000 cells are missing, in 2 of 3 columns; they")


# ---------------------------------------------------------------- large files


@pytest.fixture
def large(X, tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "whole.npy", sensors().X)
    run("fit", tmp_path / "x.npy", "-k", 2, "-o", tmp_path / "m.npz")
    monkeypatch.setattr(streaming, "LARGE_BYTES", 0)
    monkeypatch.setattr(streaming, "BLOCK_BYTES", 8 * 6 * 30)
    return tmp_path


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_large_files_with_holes_give_the_same_as_tables(scale, large, X):
    done = invoke(
        "fit", large / "x.npy", "-k", 2, "--scale", scale, "-o", large / "l.npz"
    )
    assert done.stderr.count(told(X)) == 1
    scaled = X if scale == "none" else ColumnScaler(scale).fit_transform(X)
    model = trueaxis.load(large / "l.npz")
    model = model if scale == "none" else model[1]
    expected = DSWL(2).fit(scaled)
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-6)
    assert (model.support_ == expected.support_).mean() > 0.99
    done = invoke("fit", large / "whole.npy", "-k", 2)
    assert "missing" not in done.stderr


def test_large_files_are_scored_with_holes(large, X, monkeypatch):
    given = [large / "m.npz", large / "x.npy"]
    streamed = [invoke(command, *given) for command in ("score", "transform")]
    monkeypatch.setattr(streaming, "LARGE_BYTES", 1 << 28)
    for command, found in zip(("score", "transform"), streamed, strict=True):
        expected = columns_of(run(command, *given))
        assert found.stderr.count(told(X)) == 1
        for name, cells in columns_of(found.stdout).items():
            if name in ("p_value", "dswl0", "dswl1", "score"):
                there, here = (np.array(c, float) for c in (cells, expected[name]))
                np.testing.assert_allclose(there, here, rtol=1e-9, atol=1e-12)
            elif name in ("row", "outlier", "kind"):
                assert cells == expected[name]


def test_large_files_with_holes_that_are_refused(large, X):
    row, column = np.argwhere(np.isnan(X))[0]
    first = f"x.npy, row {row}, column 'x{column}'"
    message = run("fit", large / "x.npy", "--method", "pca", code=1)
    assert first in message and "--method dswl" in message
    for command in (["fit"], ["score", large / "m.npz"]):
        message = run(*command, large / "x.npy", "--missing", "error", code=1)
        assert first in message
        message = run(*command, large / "x.npy", "--missing", "drop", code=1)
        assert "read block by block, where rows cannot be left out" in message


@pytest.mark.soak
@pytest.mark.dask
@pytest.mark.slow
def test_workers_take_and_refuse_holes(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    given = ["fit", tmp_path / "x.npy", "-k", 2, "--workers", 1]
    done = invoke(*given, "--cells", "--scale", "robust")
    assert told(X) in done.stderr and "cells in" in done.stdout
    message = run(*given, "--missing", "error", code=1)
    assert "NaN in" in message
    assert "cannot be left out" in run(*given, "--missing", "drop", code=1)


def test_holes_are_counted_block_by_block(X):
    kernel = HoleCounter(6)
    parts = [ArrayRows(part).scan(kernel)[1] for part in (X[:70], X[70:])]
    np.testing.assert_array_equal(kernel.merge(*parts), np.isnan(X).sum(axis=0))


def test_holes_are_counted_in_arrays(X):
    np.testing.assert_array_equal(count_holes(X), np.isnan(X).sum(axis=0))
    assert count_holes(np.ones((3, 2))).tolist() == [0, 0]


def test_the_methods_that_take_holes_are_known_by_name():
    assert [name for name in METHODS if takes_holes(METHODS[name])] == [*HOLE_TAKERS]
    assert all(takes_holes(name) == takes_holes(METHODS[name]) for name in METHODS)
