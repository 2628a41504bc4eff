"""The first hour: a table of readings, and the question which of them are bad."""

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from command_line import invoke, run

from trueaxis import DSWL


def test_a_technician_finds_the_bad_pumps_of_a_csv_file(pumps, tmp_path):
    """A technician has readings of 150 pumps and wants to know which to visit, and why.

    One command lists them, and splits the file: both parts hold the lines as they were.
    """
    path = pumps.save(tmp_path)
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    result = invoke("fit", path, "--id", "serial", "--clean", good, "--flagged", bad)
    assert "1 of 900 cells is missing" in " ".join(result.output.split())
    for serial, column in pumps.bad.items():
        line = next(line for line in result.stdout.splitlines() if serial in line)
        assert f"{column} is " in line and "would fit" in line

    header, *lines = pumps.text.splitlines()
    kept, flagged = good.read_text().splitlines(), bad.read_text().splitlines()
    assert kept[0] == flagged[0] == header
    assert sorted(kept[1:] + flagged[1:]) == sorted(lines)
    assert [line for line in lines if line in kept] == kept[1:]  # in the same order
    serials = {line.split(",")[0] for line in flagged[1:]}
    assert serials >= pumps.bad.keys()
    assert len(serials) <= 7 + 8  # 2.5 % of 143 good ones are 3.6
    assert any(line.startswith("P-006,") for line in kept)  # the hole is no fault


def test_python_finds_the_same_as_the_command_line(pumps):
    """An analyst does the same with pandas, and asks what would have fitted."""
    model = DSWL().fit(pumps.table)
    assert model.n_components_ == 2
    cosines = np.linalg.svd(model.components_ @ pumps.axes, compute_uv=False)
    assert np.degrees(np.arccos(cosines.min())) < 2

    bad = model.outliers(pumps.table)
    assert set(bad.index) == set(pumps.table.index[~model.support_])
    assert set(bad.index[:7]) == pumps.bad.keys()  # worst first
    for serial, column in pumps.bad.items():
        row = bad.loc[serial]
        assert row["column"] == column and row["kind"] in {"off", "both"}
        assert row["value"] == pumps.table.loc[serial, column]
        assert row["fitted"] == pytest.approx(pumps.healthy.loc[serial, column], abs=2)
    slip = model.explain(pumps.table, rows=[73]).set_index("column")
    assert slip["share"].idxmax() == "power" and slip.loc["power", "share"] > 0.9
    assert slip.loc["power", "deviation"] > 100  # far too high
    assert (
        model.explain(pumps.table, rows=[17])
        .set_index("column")
        .loc["flow", "deviation"]
        < -10
    )  # too low


def test_the_level_is_the_share_of_good_rows_that_are_flagged():
    """A quality engineer chooses how many false alarms to accept.

    `level` is kept on rows that the fit has not seen, and `contamination` flags exactly
    the share that was asked for. P-values say the same for every new row.
    """
    rng = np.random.default_rng(5)
    mixing = rng.normal(size=(3, 10))

    def rows(n):
        return rng.normal(size=(n, 3)) @ mixing + rng.normal(0, 0.2, (n, 10))

    train, new = rows(2_000), rows(20_000)
    for level in (0.2, 0.025, 0.005):
        model = DSWL(3, level=level).fit(train)
        assert (model.predict(new) == -1).mean() == pytest.approx(level, rel=0.35)
    p = model.p_values(new)
    assert ((p < 0.005) == (model.predict(new) == -1)).all()
    assert np.quantile(p, [0.1, 0.5, 0.9]) == pytest.approx([0.1, 0.5, 0.9], abs=0.05)
    by_share = DSWL(3, contamination=0.1).fit(train)
    assert (~by_share.support_).sum() == pytest.approx(200, abs=2)
    np.testing.assert_allclose(by_share.p_values(new), p)
    far = new[:5] + 100 * rng.normal(size=10)
    assert (model.p_values(far) < 1e-9).all() and (model.predict(far) == -1).all()


def test_the_level_of_the_command_line(pumps, tmp_path):
    """The technician wants fewer false alarms, and then exactly ten pumps to visit."""
    path = pumps.save(tmp_path)

    def flagged(*options):
        found = json.loads(run("fit", path, "--id", "serial", "--json", *options))
        return {record["row"] for record in found["worst_first"]}

    strict, usual = flagged("--level", "0.0001"), flagged()
    lax = flagged("--level", "0.2")
    assert pumps.bad.keys() <= strict <= usual < lax
    assert len(strict) <= 9 and 20 <= len(lax) <= 60
    ten = flagged("--set", f"contamination={10 / 150}")
    assert len(ten) == 10 and pumps.bad.keys() <= ten


def test_columns_of_different_units_are_scaled_on_request(tmp_path):
    """A chemist has a column in pascal beside others in bar: its numbers drown theirs.

    A note says so, and `--scale auto` finds the row that the units had hidden.
    """
    rng = np.random.default_rng(2)
    load = rng.normal(size=200)
    table = pd.DataFrame(
        {
            "vacuum": 5e6 + 1e5 * (load + rng.normal(0, 0.3, 200)),
            "inlet": 3 + load + rng.normal(0, 0.1, 200),
            "outlet": 7 + 2 * load + rng.normal(0, 0.1, 200),
            "flow": 5 - load + rng.normal(0, 0.1, 200),
        }
    )
    table.loc[41, "flow"] += 3
    path = tmp_path / "plant.csv"
    table.to_csv(path, index=False)
    said = invoke("fit", path, "-k", "1").output
    assert "vacuum varies" in said and "--scale" in said

    def worst_row(*options):
        found = json.loads(run("fit", path, "-k", "1", "--json", *options))
        return found["worst_first"][0]

    worst = worst_row("--scale", "auto")
    assert worst["position"] == 41 and worst["column"] == "flow"
    assert worst["p_value"] < 1e-9 < worst_row()["p_value"]
    assert worst["value"] == pytest.approx(table.loc[41, "flow"])  # in its own unit
    assert worst["fitted"] == pytest.approx(table.loc[41, "flow"] - 3, abs=0.6)


def test_a_script_reads_json_from_a_pipe(pumps):
    """A nightly script pipes a table through trueaxis, and reads what comes out.

    Standard output is one JSON object, or the good rows; all remarks go elsewhere.
    """

    def pipe(*arguments):
        program = [sys.executable, "-m", "trueaxis", *arguments]
        done = subprocess.run(
            program, input=pumps.text, text=True, capture_output=True, check=True
        )
        assert "cells is missing" in " ".join(done.stderr.split())
        return done.stdout

    found = json.loads(pipe("fit", "-", "--id", "serial", "--json"))
    assert found["rows"] == 150 and found["missing"]["by_column"] == {"pressure": 1}
    blamed = {record["row"]: record["column"] for record in found["worst_first"]}
    assert {serial: blamed[serial] for serial in pumps.bad} == pumps.bad
    clean = pd.read_csv(io.StringIO(pipe("fit", "-", "--id", "serial", "--clean", "-")))
    assert len(clean) == 150 - found["outliers"]["count"]
    assert not set(clean["serial"]) & set(blamed)
