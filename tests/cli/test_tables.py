"""Tables of every kind: missing cells, large files, rows that are written again."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet as parquet
import pytest
from command_line import columns_of, invoke, run

import trueaxis
from trueaxis import DSWL
from trueaxis.cli import source
from trueaxis.datasets import planted

GIVEN = ("-k", 2, "--id", "pump")
N, D = 900, 8
NAMES = [f"x{j}" for j in range(D)]


@pytest.fixture
def flags(model):
    return ~trueaxis.load(model).support_


def lines_of(path):
    """Records of the file of pumps, which has no newlines in cells."""
    return Path(path).read_bytes().splitlines(keepends=True)


# ---------------------------------------------------------------- clean and flagged


@pytest.mark.parametrize("command", ["fit", "score"])
def test_clean_and_flagged_are_lines_of_the_input(
    command, pump, model, flags, tmp_path
):
    clean, flagged = tmp_path / "clean.csv", tmp_path / "flagged.csv"
    given = ["fit", pump, *GIVEN]
    if command == "score":
        given = ["score", model, pump, "-o", tmp_path / "scored.csv"]
    printed = run(*given, "--clean", clean, "--flagged", flagged)
    head, *rows = lines_of(pump)
    assert lines_of(clean) == [head, *(rows[i] for i in np.flatnonzero(~flags))]
    assert lines_of(flagged) == [head, *(rows[i] for i in np.flatnonzero(flags))]
    assert f"{(~flags).sum()} clean rows saved to {clean}" in printed
    assert f"{flags.sum()} outliers saved to {flagged}" in printed
    found = json.loads(run(*given, "--clean", clean, "--flagged", flagged, "--json"))
    assert found["clean"] == {"file": str(clean), "rows": int((~flags).sum())}
    assert found["flagged"] == {"file": str(flagged), "rows": int(flags.sum())}


def test_rows_that_were_dropped_are_in_neither_file(pump, tmp_path):
    lines = Path(pump).read_text().splitlines()
    for i in (3, 8):
        cells = lines[i].split(",")
        lines[i] = ",".join([*cells[:2], "NA", *cells[3:]])
    path, clean, flagged = (tmp_path / f"{n}.csv" for n in ("in", "clean", "flagged"))
    path.write_text("\n".join(lines) + "\n")
    given = ["fit", path, *GIVEN, "--clean", clean, "--flagged", flagged]
    drop = ["--read", "missing=drop"]
    note = "2 of 200 rows have a missing cell and were left out."
    assert note in invoke(*given, *drop).stderr
    written = {*clean.read_text().splitlines()} | {*flagged.read_text().splitlines()}
    assert written == {*lines} - {lines[3], lines[8]}
    found = json.loads(run(*given, *drop, "--json"))
    names = [f"p-{row['position']}" for row in found["worst_first"]]
    assert names == [row["row"] for row in found["worst_first"]]
    run(*given)  # filled, and written with its missing cell
    written = {*clean.read_text().splitlines()} | {*flagged.read_text().splitlines()}
    assert written == {*lines}


def test_rows_to_standard_output(pump, model, flags, tmp_path):
    text = Path(pump).read_text()
    head, *rows = text.splitlines(keepends=True)
    expected = "".join([head, *(rows[i] for i in np.flatnonzero(flags))])
    for given in (["fit", "-", *GIVEN], ["score", model, "-"]):
        done = invoke(*given, "--flagged", "-", stdin=text)
        assert done.stdout == expected and "33 of 200 rows" in done.stderr
    done = invoke("score", model, pump, "--clean", tmp_path / "c.csv")
    assert done.stdout == run("score", model, pump)
    assert "167 clean rows saved to" in done.stderr


# ---------------------------------------------------------------- missing cells


@pytest.fixture
def holes(tmp_path):
    """A table with 40 missing cells, and its numbers."""
    X = planted("ocs", n=200, share=0.15, n_features=D).X.copy()
    rng = np.random.default_rng(3)
    X[rng.permutation(200)[:40], rng.integers(0, D, 40)] = np.nan
    path = tmp_path / "holes.csv"
    pd.DataFrame(X, columns=NAMES).to_csv(path, index=False)
    return path, X


def test_missing_cells_are_filled_refused_or_their_rows_dropped(holes):
    path, X = holes
    at = [f"line {2 + np.flatnonzero(np.isnan(X).any(axis=1))[0]} ", "--drop", "repair"]
    error = run("fit", path, "--read", "missing=error", code=1)
    assert at[0] in f"{error} " and at[2] in error and "--read missing=drop" in error
    other = run("fit", path, "--method", "pca", code=1)
    assert "PlainPCA needs complete rows; the methods that take missing" in other
    drop = ("--read", "missing=drop", "-k", 3)
    found = json.loads(run("fit", path, *drop, "--method", "pca", "--json"))
    assert found["rows"] == 160 and found["missing"]["count"] == 0
    done = invoke("fit", path, "-k", 3, "--json")
    assert f"40 of {X.size:,} cells are missing, in 8 of 8 columns" in done.stderr
    found, fitted = json.loads(done.stdout), DSWL(3).fit(X)
    assert sum(found["missing"]["by_column"].values()) == 40
    assert found["outliers"]["count"] == (~fitted.support_).sum()


def test_a_column_without_values_is_refused_if_it_is_asked_for(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,2,\n2,5,\n4,1,\n")
    asked = run("fit", path, "--columns", "a,b,c", code=1)
    assert "Column 'c' is empty" in asked and "--drop c" in asked


# ---------------------------------------------------------------- large files


@pytest.fixture
def table():
    """Rows in different units, with names and a column that is not analyzed."""
    X = planted("ocs", n=N, share=0.2, n_features=D).X * np.logspace(-2, 2, D) + 3
    frame = pd.DataFrame(X, columns=NAMES)
    frame.insert(0, "who", [f"pump {i}" for i in range(N)])
    return frame.assign(site=[None if i % 7 == 0 else "north" for i in range(N)])


def save(table, folder, kind):
    """A file, or a folder of files, and the options that leave out the names."""
    path = folder / f"t.{kind}"
    if kind == "npy":
        np.save(path, table[NAMES].to_numpy())
        return path, []
    if kind == "parts":
        path.mkdir()
        for first in range(0, N, 400):
            part = table[first : first + 400]
            part.to_parquet(path / f"{first}.parquet", index=False)
    elif kind == "parquet":
        arrow = pyarrow.Table.from_pandas(table, preserve_index=False)
        parquet.write_table(arrow, path, row_group_size=130)
    else:
        table.to_csv(path, index=False)
    return path, ["--id", "who"]


@pytest.fixture
def twice(monkeypatch):
    """Run a command on a table in memory, and block by block."""

    def run_twice(*command):
        results = [invoke(*command)]
        with monkeypatch.context() as patch:
            patch.setattr(source, "LARGE_BYTES", 0)
            patch.setattr(source, "BLOCK_BYTES", 8 * D * 90)
            results.append(invoke(*command))
        return results

    return run_twice


KINDS = ["parquet", "npy", "csv"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", ["none", "robust"])
@pytest.mark.parametrize("share", [0, 0.02], ids=["complete", "missing"])
def test_large_files_give_what_tables_in_memory_give(
    kind, scale, share, table, tmp_path, twice
):
    """Models, verdicts, scores and counts, with names of the rows."""
    rng = np.random.default_rng(1)
    table[NAMES] = table[NAMES].mask(rng.random((N, D)) < share)
    path, named = save(table, tmp_path, kind)
    model = tmp_path / "m.npz"
    given = ["-k", 3, *named, "--scale", scale, "-o", model]
    one, two = (
        json.loads(done.stdout) for done in twice("fit", path, *given, "--json")
    )
    for key in ("rows", "columns", "missing", "n_components", "level", "iterations"):
        assert one[key] == two[key], key
    assert one["outliers"]["count"] == pytest.approx(two["outliers"]["count"], abs=1)
    for a, b in zip(one["components"], two["components"], strict=True):
        assert a["axis"] == pytest.approx(b["axis"], rel=1e-8, abs=1e-10)
    assert ("filled by what" in " ".join(one["notes"])) == bool(share)
    one, two = (json.loads(d.stdout) for d in twice("score", model, path, "--json"))
    assert one["outliers"] == two["outliers"] and one["missing"] == two["missing"]
    labels = ["--label", "site"] if named else []
    for command in ("score", "transform"):
        read = [columns_of(done.stdout)
                for done in twice(command, model, path, *named, *labels)]  # fmt: skip
        for name, cells in read[0].items():
            if name in ("row", "label", "kind", "outlier"):
                assert cells == read[1][name]
            elif name != "column":
                np.testing.assert_allclose(
                    *(np.array(each[name], float) for each in read),
                    rtol=1e-7,
                    atol=1e-9,
                )


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_large_files_are_written_again(kind, table, tmp_path, twice):
    path, named = save(table, tmp_path, kind)
    clean, flagged = tmp_path / f"c.{kind}", tmp_path / f"f.{kind}"
    given = ("fit", path, "-k", 3, *named, "--clean", clean, "--flagged", flagged)
    read = {
        "npy": lambda path: pd.DataFrame(np.load(path)),
        "parquet": pd.read_parquet,
        "csv": pd.read_csv,
    }[kind]
    source_rows = read(path)
    for done in twice(*given):
        n = len(read(clean)), len(read(flagged))
        assert f"{n[0]} clean rows saved to {clean}" in done.stdout
        assert f"{n[1]} outliers saved to {flagged}" in done.stdout and sum(n) == N
        both = pd.concat([read(clean), read(flagged)])
        key = both.columns[0]
        pd.testing.assert_frame_equal(
            both.sort_values(key, ignore_index=True),
            source_rows.sort_values(key, ignore_index=True),
        )
    invoke("fit", path, "-k", 3, *named, "-o", tmp_path / "m.npz")
    scored = twice("score", tmp_path / "m.npz", path, *named, "--flagged", flagged)
    assert scored[0].stdout.count("\n") == scored[1].stdout.count("\n") == N + 1


def test_folders_of_files_are_one_table(table, tmp_path):
    path, named = save(table, tmp_path, "parts")
    found = json.loads(run("fit", path, *named, "-k", 3, "--json"))
    assert found["rows"] == N and found["columns"] == NAMES
    assert found["left_out_columns"] == {"site": "text"}


def test_times_name_the_rows_of_small_and_large_files_alike(tmp_path, twice):
    days = pd.date_range("2024-01-31 12:00", periods=30, freq="h")
    X = np.random.default_rng(0).standard_normal((30, 3))
    path, model = tmp_path / "times.parquet", tmp_path / "m.npz"
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(time=days).to_parquet(path)
    run("fit", path, "--id", "time", "-k", 1, "-o", model)
    found = twice("score", model, path, "--id", "time")
    small, large = (columns_of(each.stdout)["row"] for each in found)
    assert small == large and small[0] == "2024-01-31 12:00:00"


def test_options_that_large_files_cannot_have_are_refused(table, tmp_path, monkeypatch):
    path, named = save(table, tmp_path, "parquet")
    monkeypatch.setattr(source, "LARGE_BYTES", 0)
    for given, message in (
        (["--read", "missing=drop"], "rows cannot be left out"),
        (["--na", "7"], "--na is only for text"),
        (["--encode", "categories"], "--encode and --scale auto look at all rows"),
        (["--scale", "auto"], "--encode and --scale auto look at all rows"),
        (["--columns", "x1,site"], "'site' of"),
        (["--drop", "x*"], "left to analyze"),
    ):
        assert message in run("fit", path, *named, *given, code=1)
    table.loc[700, "x3"] = np.inf
    path, _ = save(table, tmp_path, "parquet")
    assert "t.parquet" in run("fit", path, *named, code=1)
    table.loc[700, "x3"] = np.nan
    path, _ = save(table, tmp_path, "parquet")
    assert "'x3'" in run("fit", path, *named, "--read", "missing=error", code=1)
    assert "dswl" in run("fit", path, *named, "--method", "pca", code=1)
