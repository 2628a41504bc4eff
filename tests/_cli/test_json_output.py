"""JSON says everything that the text says, and is always valid."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from command_line import invoke, run

import trueaxis
from trueaxis.report.sentences import format_p

NEW = ["trueaxis", "command", "source"]


def strict(text):
    """Parse JSON; NaN and infinity, which Python would accept, are errors."""

    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(text, parse_constant=refuse)


@pytest.fixture(scope="module")
def holes(pump, folder):
    """Readings with missing cells, a wrong one, and a column that counts."""
    path = folder / "json.csv"
    lines = Path(pump).read_text().splitlines()
    for i in (5, 9, 31):
        cells = lines[i].split(",")
        cells[2] = "999" if i == 31 else "-"
        lines[i] = ",".join(cells)
    lines = [f"{i if i else 'nr'};{x.replace(',', ';')}" for i, x in enumerate(lines)]
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(scope="module")
def cells(holes, folder):
    path = folder / "cells.npz"
    run("fit", holes, "-k", 2, "--id", "pump", "--cells", "-o", path)
    return path


COMMANDS = {
    "fit": ["fit", "{data}", "-k", "2", "--id", "pump", "--cells"],
    "score": ["score", "{model}", "{data}", "--id", "pump", "-o", "{out}.csv"],
    "report": ["report", "{data}", "-k", "2", "--id", "pump", "-o", "{out}.html"],
    "report --model": ["report", "{data}", "--model", "{model}", "-o", "{out}.html"],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_what_the_text_says_is_in_the_json(command, holes, cells, tmp_path):
    places = {"data": holes, "model": cells, "out": tmp_path / "out"}
    given = [part.format(**places) for part in COMMANDS[command]]
    text = invoke(*given)
    found = strict(run(*given, "--json"))
    assert [found[key] for key in NEW] == [
        trueaxis.__version__, given[0], str(holes)
    ]  # fmt: skip
    # Notes on standard error are notes or hints.
    said = [
        line.removeprefix("Note: ")
        for line in text.stderr.splitlines()
        if line.startswith("Note: ")
    ]
    assert said == found["notes"] + found["hints"]
    assert "nr" in found["left_out_columns"] or command != "fit"
    assert (
        found["missing"]["count"] == 2
        and sum(found["missing"]["by_column"].values()) == 2
    )
    # The verdict.
    out = text.stdout
    bad, n = re.search(r"([\d,]+) of ([\d,]+) rows \(", out).groups()
    assert (int(bad), int(n)) == (found["outliers"]["count"], found["rows"])
    assert f"At level {found['level']:g}" in out
    # The table of the worst rows.
    for row in found["worst_first"][:10]:
        line = next(x for x in out.splitlines() if f" {row['row']} " in f" {x} ")
        assert row["kind"] in line and format_p(row["p_value"]) in line
        assert f"{row['excess']:.1f}" in line and row["reason"][:30] in line
        assert row["position"] >= 0
    # Plain PCA.
    angle = found["angle_to_plain_pca"]
    assert f"{angle:.1f} degrees" in out or f"{angle:.0f} degrees" in out
    moved = found["plain_mean_moves_most"]
    assert f"moves most in {moved['column']}, by {moved['by']:+.3g}" in out
    if command in ("fit", "score"):
        wrong = found["wrong_cells"]
        assert f"{wrong['count']} cell" in out or wrong["count"] == 1
        first = wrong["cells"][0]
        assert first.keys() >= {"position", "row", "column", "value", "fitted"}
    if command == "fit":
        k = found["n_components"]
        assert f"{found['method']} with {k} components" in out
        assert f"after {found['iterations']} iteration" in out
        assert found["converged"] and found["seconds"] > 0
    parts = found["components"]
    assert len(parts) == found["n_components"]
    assert [*parts[0]["axis"]] == found["columns"]
    length = np.linalg.norm([*parts[0]["axis"].values()])
    assert length == pytest.approx(1)
    length = np.linalg.norm([*parts[0]["loadings"].values()])
    assert length**2 == pytest.approx(parts[0]["variance"])
    shares = [part["share"] for part in parts]
    assert shares == found["explained_variance_ratio"]
    assert found["clean"] is None and found["flagged"] is None


@pytest.mark.slow
def test_the_other_commands(holes, cells, tmp_path):
    given = ["transform", cells, holes, "-o", tmp_path / "t.csv"]
    text, found = run(*given), strict(run(*given, "--json"))
    assert f"Scores of {found['rows']} rows" in text
    assert " to ".join(found["columns"]) in text and found["output"] in text
    assert found["missing"]["count"] == 2 and found["notes"]
    given = ["compare", holes, "-k", 2, "--methods", "dswl,pca", "--id", "pump"]
    found = strict(run(*given, "--json", "-o", tmp_path / "c.csv"))
    assert [each["method"] for each in found["methods"]] == ["dswl", "pca"]
    assert found["output"] == str(tmp_path / "c.csv") and found["notes"]
    given = ["repair", holes, "-k", 2, "--id", "pump", "-o", tmp_path / "r.csv"]
    done, found = invoke(*given), strict(run(*given, "--json"))
    n = found["changed"]
    assert done.stdout.startswith(
        f"{n['count']} cells in {n['rows']} rows were changed: {n['missing']} missing, "
        f"{n['wrong']} wrong"
    )
    assert found["looked_for_wrong"] and len(found["cells"]) == n["count"]
    assert {cell["value"] for cell in found["cells"] if cell["kind"] == "missing"} == {
        None
    }


def test_errors_leave_standard_output_empty(holes):
    done = invoke("fit", holes, "-k", 99, "--id", "pump", "--json", code=1)
    assert done.stdout == "" and "Error: n_components=99" in done.stderr


def test_wrong_cells_are_a_column_of_scores(holes, cells, model, pump):
    scored = run("score", cells, holes, "--id", "pump").splitlines()
    assert scored[0].endswith(",wrong_cells")
    row = next(line for line in scored if line.startswith("p-30,"))
    found = strict(run("score", cells, holes, "--id", "pump", "--json"))
    columns = [
        cell["column"]
        for cell in found["wrong_cells"]["cells"]
        if cell["row"] == "p-30"
    ]
    assert columns and row.endswith(f",{';'.join(columns)}")
    assert "wrong_cells" not in run("score", model, pump).splitlines()[0]
