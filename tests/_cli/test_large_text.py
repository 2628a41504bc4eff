"""Commands on text files that are decoded block by block."""

import csv
import json
import re

import click.testing
import numpy as np
import pytest

from trueaxis._cli import streaming
from trueaxis._cli.main import main
from trueaxis.datasets import planted

run = click.testing.CliRunner().invoke


@pytest.fixture
def pumps(tmp_path):
    X = planted("ocs", n=600, share=0.1, n_features=6).X
    with open(tmp_path / "pumps.csv", "w", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["pump", "site", "note", *(f"c{i}" for i in range(6))])
        for i, row in enumerate(X):
            numbers = [f"{x:.6f}".replace(".", ",") for x in row]
            writer.writerow([f"P{i:03d}", "ns"[i % 2], f"text {i % 3}", *numbers])
    return tmp_path / "pumps.csv"


@pytest.mark.slow
def test_streamed_text_gives_what_text_in_memory_gives(pumps, tmp_path, monkeypatch):
    def results(name):
        model = str(tmp_path / f"{name}.npz")
        fit = run(main, ["fit", str(pumps), "-o", model, "-k", "3", "--json"])
        assert fit.exit_code == 0, fit.output
        target = tmp_path / f"{name}.csv"
        options = ["--id", "pump", "--label", "site", "-o", str(target)]
        score = run(main, ["score", model, str(pumps), *options])
        assert score.exit_code == 0, score.output
        with open(target, newline="") as file:
            rows = list(csv.DictReader(file))
        return json.loads(fit.stdout), rows, fit.stderr

    whole, rows, notes = results("whole")
    monkeypatch.setattr(streaming, "LARGE_BYTES", 0)
    streamed, streamed_rows, streamed_notes = results("streamed")
    assert whole["outliers"]["count"] == streamed["outliers"]["count"] > 50
    assert list(whole["columns"]) == list(streamed["columns"])
    for said in ("cells separated by ';', with decimal commas", "'pump', 'site'"):
        assert said in notes and said in streamed_notes
    for name in ("row", "label", "outlier", "kind"):
        assert [row[name] for row in rows] == [row[name] for row in streamed_rows]
    p = [[float(row["p_value"]) for row in table] for table in (rows, streamed_rows)]
    np.testing.assert_allclose(*p, rtol=1e-6)


def test_columns_of_streamed_text_are_chosen_by_patterns(pumps, monkeypatch):
    monkeypatch.setattr(streaming, "LARGE_BYTES", 0)
    done = run(
        main, ["fit", str(pumps), "--columns", "c1:c4", "--drop", "*2", "--json"]
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["columns"] == ["c1", "c3", "c4"]
    for options, said in (
        (["--columns", "site"], "'site' of .* is not one of numbers .text."),
        (
            ["--columns", "c9"],
            "There is no column 'c9' .--columns.. The columns are 'pump'",
        ),
        (["--scale", "auto"], "--scale auto look at all rows at once"),
        (["--categories", "site"], "--categories and --scale auto look at all rows"),
        (["--log"], "--log, --categories and --scale auto look at all rows"),
        (["--missing", "drop"], "read block by block"),
    ):
        done = run(main, ["fit", str(pumps), *options])
        assert done.exit_code == 1
        assert re.search(said, done.stderr), done.stderr
