"""Rows of a table written again: `--clean` and `--flagged`."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import invoke, run

import trueaxis
from trueaxis.datasets import sensors
from trueaxis.io import Choice, read_table
from trueaxis.io.original import write_rows

GIVEN = ["-k", 2, "--id", "pump", "--label", "remark"]


@pytest.fixture
def flags(model):
    return ~trueaxis.load(model).support_


def lines_of(path):
    """Records of the file of pumps, which has no newlines in cells."""
    return Path(path).read_bytes().splitlines(keepends=True)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["fit", "score", "report"])
def test_clean_and_flagged_are_the_input(command, pump, model, flags, tmp_path):
    clean, flagged = tmp_path / "clean.csv", tmp_path / "flagged.csv"
    given = {
        "fit": ["fit", pump, *GIVEN],
        "score": ["score", model, pump, "-o", tmp_path / "scored.csv"],
        "report": ["report", pump, *GIVEN, "-o", tmp_path / "r.html"],
    }[command]
    printed = run(*given, "--clean", clean, "--flagged", flagged)
    head, *rows = lines_of(pump)
    assert lines_of(clean) == [head, *(rows[i] for i in np.flatnonzero(~flags))]
    assert lines_of(flagged) == [head, *(rows[i] for i in np.flatnonzero(flags))]
    assert f"{(~flags).sum()} clean rows saved to {clean}" in printed
    assert f"{flags.sum()} outliers saved to {flagged}" in printed
    found = json.loads(run(*given, "--clean", clean, "--flagged", flagged, "--json"))
    assert found["clean"] == {"file": str(clean), "rows": int((~flags).sum())}
    assert found["flagged"] == {"file": str(flagged), "rows": int(flags.sum())}
    assert found["in_neither"] == 0


def test_the_style_of_the_file_is_kept(pump, flags, tmp_path):
    head, *rows = Path(pump).read_text().splitlines()
    table = pd.read_csv(pump)
    table["grüße"] = "ä;ö"
    path, clean = tmp_path / "in.txt.gz", tmp_path / "clean.txt"
    text = table.to_csv(index=False, sep=";", decimal=",", lineterminator="\r\n")
    path.write_bytes(gzip.compress(text.encode("cp1252")))
    run("fit", path, *GIVEN, "--clean", clean, "--flagged", tmp_path / "f.txt.gz")
    lines = text.encode("cp1252").splitlines(keepends=True)
    assert lines_of(clean) == [
        lines[0], *(lines[i + 1] for i in np.flatnonzero(~flags))
    ]  # fmt: skip
    flagged = gzip.decompress((tmp_path / "f.txt.gz").read_bytes())
    assert flagged == b"".join(
        [lines[0], *(lines[i + 1] for i in np.flatnonzero(flags))]
    )


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".tsv", ".jsonl", ".parquet", ".feather", ".xlsx"])
def test_other_formats_by_ending(ending, pump, flags, tmp_path):
    if ending == ".xlsx":
        pytest.importorskip("xlsxwriter")
    out = tmp_path / f"out{ending}"
    # Control characters cannot be held by a sheet.
    table = pd.read_csv(pump)
    table["remark"] = table["remark"].str.replace("\x1b", "")
    table.to_csv(tmp_path / "in.csv", index=False)
    run("fit", tmp_path / "in.csv", *GIVEN, "--clean", out)
    choice = Choice(id="pump", label="remark")
    before, after = read_table(tmp_path / "in.csv", choice), read_table(out, choice)
    np.testing.assert_array_equal(after.X, before.X[~flags])
    assert after.ids.tolist() == before.ids[~flags].tolist()
    assert after.labels.tolist() == before.labels[~flags].tolist()


def test_rows_that_were_dropped_are_in_neither_file(pump, tmp_path):
    lines = Path(pump).read_text().splitlines()
    for i in (3, 8):
        cells = lines[i].split(",")
        lines[i] = ",".join([*cells[:2], "NA", *cells[3:]])
    path, clean, flagged = (tmp_path / f"{n}.csv" for n in ("in", "clean", "flagged"))
    path.write_text("\n".join(lines) + "\n")
    given = ["fit", path, *GIVEN, "--clean", clean, "--flagged", flagged]
    printed = run(*given, "--missing", "drop")
    assert "(2 rows with missing cells in neither file)" in printed
    written = {*clean.read_text().splitlines()} | {*flagged.read_text().splitlines()}
    assert written == {*lines} - {lines[3], lines[8]}
    found = json.loads(run(*given, "--missing", "drop", "--json"))
    assert found["in_neither"] == 2
    names = [f"p-{row['position']}" for row in found["worst_first"]]
    assert names == [row["row"] for row in found["worst_first"]]
    run(*given)  # filled, and written with its hole
    written = {*clean.read_text().splitlines()} | {*flagged.read_text().splitlines()}
    assert written == {*lines}


def test_standard_input_and_output(pump, model, flags):
    text = Path(pump).read_text()
    rows = text.splitlines(keepends=True)
    expected = "".join([rows[0], *(rows[i + 1] for i in np.flatnonzero(flags))])
    for given in (["fit", "-", *GIVEN], ["score", model, "-"]):
        done = invoke(*given, "--flagged", "-", stdin=text)
        assert done.stdout == expected
        assert "33 of 200 rows" in done.stderr
    done = invoke("score", model, "-", "--flagged", "-", stdin=text)
    assert done.stdout == expected


def test_verdicts_and_rows_can_both_be_written(pump, model, tmp_path):
    done = invoke("score", model, pump, "--clean", tmp_path / "c.csv")
    assert done.stdout == run("score", model, pump)
    assert "167 clean rows saved to" in done.stderr


def test_a_failure_leaves_nothing_behind(pump, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    (tmp_path / "clean.csv").write_text("what was there")
    given = ["fit", pump, *GIVEN, "-o", tmp_path / "m.npz"]
    given += ["--clean", tmp_path / "clean.csv", "--flagged", tmp_path / "f.csv"]
    assert "No space left on device: free some" in run(*given, code=1)
    assert os.listdir(tmp_path) == ["clean.csv"]
    assert (tmp_path / "clean.csv").read_text() == "what was there"


def test_no_outliers_are_an_empty_table(tmp_path):
    path = tmp_path / "in.csv"
    rng = np.random.default_rng(0)
    np.savetxt(path, rng.random((9, 2)), delimiter=",", header="a,b", comments="")
    given = ["fit", path, "-k", 1, "--level", 1e-9, "--flagged", tmp_path / "f.csv"]
    assert "0 outliers saved to" in run(*given)
    assert (tmp_path / "f.csv").read_text() == "a,b\n"


# ---------------------------------------------------------------- large files


@pytest.fixture
def streamed(monkeypatch):
    monkeypatch.setattr("trueaxis._cli.streaming.LARGE_BYTES", 0)
    monkeypatch.setattr("trueaxis.io.original._BATCH_ROWS", 37)


@pytest.fixture
def readings(pump, tmp_path):
    """The same readings in several files."""
    table = sensors()
    frame = pa.table(
        {
            "pump": [f"p-{i}" for i in range(200)],
            "n": pa.array(range(200), type=pa.int16()),
            **{name: table.X[:, j] for j, name in enumerate(table.columns)},
        }
    )
    pq.write_table(frame, tmp_path / "in.parquet", row_group_size=50)
    np.save(tmp_path / "in.npy", table.X)
    (tmp_path / "parts").mkdir()
    pq.write_table(frame.slice(0, 90), tmp_path / "parts" / "1.parquet")
    pq.write_table(frame.slice(90), tmp_path / "parts" / "2.parquet")
    text = frame.to_pandas().drop(columns="n")
    text["pump"] = ['two\nlines "a"' if i % 9 == 0 else f"p-{i}" for i in range(200)]
    body = text.to_csv(index=False, sep=";", lineterminator="\r\n")
    (tmp_path / "in.csv").write_bytes(("# logger\r\n" + body).encode("utf-8-sig"))
    return frame


@pytest.mark.parametrize("name", ["in.parquet", "parts"])
@pytest.mark.parametrize("command", ["fit", "score"])
def test_large_parquet_files(command, name, readings, streamed, flags, model, tmp_path):
    clean, flagged = tmp_path / "clean.parquet", tmp_path / "flagged.parquet"
    given = {
        "fit": ["fit", tmp_path / name, "-k", 2, "--drop", "n", "--id", "pump"],
        "score": ["score", model, tmp_path / name, "-o", tmp_path / "s.csv"],
    }[command]
    printed = run(*given, "--clean", clean, "--flagged", flagged)
    assert f"{flags.sum()} outliers saved to {flagged}" in printed
    assert pq.read_table(clean).equals(readings.filter(~flags))
    assert pq.read_table(flagged).equals(readings.filter(flags))
    run(*given, "--flagged", tmp_path / "f.csv")
    found = pd.read_csv(tmp_path / "f.csv")
    pd.testing.assert_frame_equal(
        found, readings.filter(flags).to_pandas(), check_dtype=False
    )


def test_large_arrays(readings, streamed, flags, tmp_path):
    given = ["fit", tmp_path / "in.npy", "-k", 2]
    run(*given, "--clean", tmp_path / "c.npy", "--flagged", tmp_path / "f.parquet")
    X = sensors().X
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), X[~flags])
    found = pq.read_table(tmp_path / "f.parquet").to_pandas()
    np.testing.assert_array_equal(found, X[flags])


def test_large_text_keeps_every_cell(readings, streamed, flags, tmp_path):
    given = ["fit", tmp_path / "in.csv", "-k", 2, "--id", "pump"]
    clean, flagged = tmp_path / "c.csv", tmp_path / "f.csv"
    found = json.loads(run(*given, "--clean", clean, "--flagged", flagged, "--json"))
    assert found["outliers"]["count"] == flags.sum()
    whole = (tmp_path / "in.csv").read_bytes()
    head = whole[: whole.index(b"\r\n", 20) + 2]
    parts = [clean.read_bytes(), flagged.read_bytes()]
    assert all(part.startswith(head) for part in parts)
    assert sum(len(part) - len(head) for part in parts) == len(whole) - len(head)
    tables = [read_table(each, Choice(id="pump")) for each in (clean, flagged)]
    for table, kept in zip(tables, (~flags, flags), strict=True):
        np.testing.assert_array_equal(table.X, sensors().X[kept])
    run(*given, "--clean", tmp_path / "c.parquet")
    table = read_table(tmp_path / "c.parquet", Choice(id="pump"))
    np.testing.assert_array_equal(table.X, sensors().X[~flags])


@pytest.mark.parametrize("name", ["in.csv", "in.npy", "in.parquet", "parts/2.parquet"])
def test_files_swapped_before_they_are_copied(
    name, readings, streamed, tmp_path, monkeypatch
):
    """As large, as old and with as many rows as what was analyzed."""
    path, clean = tmp_path / name, tmp_path / "clean.csv"
    clean.write_text("what was there")

    def swapped_first(original, file, target, rows):
        other, times = tmp_path / "other", path.stat()
        other.write_bytes(path.read_bytes())
        os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
        os.replace(other, path)
        write_rows(original, file, target, rows)

    monkeypatch.setattr("trueaxis._cli.rows_output.write_rows", swapped_first)
    given = path.parent if path.parent.name == "parts" else path
    columns = [] if name == "in.npy" else ["--drop", "pump"]
    message = run("fit", given, "-k", 2, *columns, "--clean", clean, code=1)
    assert f"{path.name} has been replaced since" in message
    assert clean.read_text() == "what was there"


def test_large_text_with_ruled_lines(pump, streamed, flags, tmp_path):
    """Lines between the rows have no verdicts."""
    X = sensors().X
    rule = "=====  " * X.shape[1] + "\n"
    rows = ["   ".join(map(repr, row)) + "\n" for row in X.tolist()]
    text = "   ".join(sensors().columns) + "\n" + rule
    text += "".join(
        row + ("    \n" if i % 40 == 0 else "") for i, row in enumerate(rows)
    )
    path, clean, flagged = (tmp_path / n for n in ("in.txt", "c.txt", "f.txt"))
    path.write_text(text + rule)
    run("fit", path, "-k", 2, "--clean", clean, "--flagged", flagged)
    for part, kept in ((clean, ~flags), (flagged, flags)):
        np.testing.assert_array_equal(read_table(part).X, X[kept])


@pytest.mark.soak
def test_a_reader_that_leaves_does_not_cost_the_files(readings, model, tmp_path):
    code = (
        "import sys\n"
        "import trueaxis._cli.streaming as streaming\n"
        "streaming.LARGE_BYTES = 0\n"
        "streaming.BLOCK_BYTES = 400\n"
        "from trueaxis._cli.process.start import main\n"
        "main(sys.argv[1:])"
    )
    for name in ("in.parquet", "in.csv"):
        out = tmp_path / f"clean-{name}"
        command = [sys.executable, "-c", code, "score", model, tmp_path / name]
        with subprocess.Popen(
            [*command, "--clean", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            process.stdout.close()
            assert b"Traceback" not in process.stderr.read()
            assert process.wait(60) == 0
        assert out.exists()
