"""The section on wrong and missing cells, and reports on tables with holes."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from report_pages import assert_self_contained, embedded_data, page_text
from sklearn.pipeline import make_pipeline
from small_tables import cloud, holed

from trueaxis import DSWL, ColumnScaler
from trueaxis.datasets import planted
from trueaxis.diagnostics import cell_table
from trueaxis.methods import PlainPCA
from trueaxis.report import render
from trueaxis.report.analysis import analyse
from trueaxis.report.cells import MAX_CELLS, describe_cells, regular_notes
from trueaxis.report.sentences import reason, verdict


@pytest.fixture(scope="module")
def pumps():
    X = holed()
    return analyse(DSWL(2, cells=True).fit(X), X)


@pytest.fixture(scope="module")
def gaps():
    X = holed()
    return analyse(DSWL(2).fit(X), X)


@pytest.fixture(scope="module")
def page(pumps):
    return render(pumps, title="Pumps")


def row(analysis, name):
    return analysis.ids.tolist().index(name)


# ---------------------------------------------------------------- numbers


def test_wrong_cells_are_those_of_the_diagnostics(pumps):
    X = holed()
    table = cell_table(pumps.model, X)
    found = pumps.wrong_cells
    assert pumps.ids[found.row].tolist() == table["row"].tolist()
    assert pumps.names[found.column].tolist() == table["column"].tolist()
    for mine, theirs in (
        (found.value, "value"),
        (found.fitted, "fitted"),
        (found.deviation, "deviation"),
    ):
        np.testing.assert_array_equal(mine, table[theirs])


def test_a_scaler_does_not_change_what_would_fit():
    X = holed()
    units = np.logspace(0, 3, X.shape[1])

    def scaled(X):
        return analyse(make_pipeline(ColumnScaler(), DSWL(2, cells=True)).fit(X), X)

    one, other = scaled(X), scaled(X * units)
    np.testing.assert_array_equal(one.wrong_cells.row, other.wrong_cells.row)
    np.testing.assert_allclose(
        one.wrong_cells.fitted * units[one.wrong_cells.column],
        other.wrong_cells.fitted,
        rtol=1e-6,
        atol=1e-6,
    )
    np.testing.assert_array_equal(
        one.wrong_cells.value, X.to_numpy()[one.wrong_cells.row, one.wrong_cells.column]
    )


def test_complete_rows_have_no_section():
    X = cloud(share=0.1).X
    for model in (DSWL(2).fit(X), PlainPCA(2).fit(X)):
        found = analyse(model, X)
        assert found.cells is None and describe_cells(found) is None
        assert not len(found.wrong_cells.row) and not found.only_cells.any()
        text = page_text(found)
        assert text["cells"] is None and len(text["key_figures"]) == 6


def test_a_model_without_holes_reports_on_new_rows_with_holes():
    X = cloud(share=0.1).X
    new = X[:20].copy()
    new[3, 2] = np.nan
    found = analyse(DSWL(2).fit(X), new)
    assert describe_cells(found)["heading"] == "Missing cells"
    assert np.isfinite(found.diagnosis.score).all()
    with pytest.raises(ValueError, match="DSWL"):
        analyse(PlainPCA(2).fit(X), new)


# ---------------------------------------------------------------- words


def test_the_verdict_tells_bad_rows_from_good_rows_with_bad_cells(pumps, gaps):
    text = verdict(pumps)
    n = int(pumps.only_cells.sum())
    cells = int(pumps.cells.wrong[pumps.only_cells].sum())
    assert f"{n} more rows are good apart from {cells} wrong cells." in text
    assert "wrong cell" not in verdict(gaps)


def test_sentences_name_cells(pumps):
    text = " ".join(describe_cells(pumps)["sentences"])
    wrong, missing = pumps.cells.wrong, pumps.cells.missing
    assert f"{wrong.sum()} of 1,800 cells" in text
    assert f"{missing.sum()} of 1,800 cells (1.3 %) are missing, in" in text
    assert (
        "3 cells in pump 17: outlet, flow, power; 2 cells in pump 30: inlet, "
        "pressure 2; " in text
    )
    assert re.search(r"\d cells in pump 14\d, an outlier: inlet, .*\d more\.", text)
    assert "rows that are good otherwise and" in text and "outliers." in text


def test_holes_alone_say_how_to_find_wrong_cells(gaps):
    found = describe_cells(gaps)
    assert found["heading"] == "Missing cells" and not found["table"]
    assert "fit with DSWL(cells=True)" in found["sentences"][0]
    assert dict(page_text(gaps)["key_figures"]).keys() >= {"missing cells"}


@pytest.mark.parametrize(("n", "text"), [(1, "is wrong: 1 in 1 row"), (0, "None of")])
def test_few_wrong_cells_are_put_into_words(n, text):
    X = planted("none", n=120, n_features=8, n_components=2).X
    X[5, 3] += 20 * n
    found = analyse(DSWL(2, cells=True).fit(X), X)
    assert found.cells.wrong.sum() == n
    told = describe_cells(found)
    assert told["heading"] == "Wrong cells" and text in told["sentences"][0]
    if n:
        assert told["sentences"][1] == "All are in x3."
        assert "1 more row is good apart from 1 wrong cell." in verdict(found)


def test_numbered_rows_are_called_rows():
    X = holed().to_numpy()
    told = describe_cells(analyse(DSWL(2, cells=True).fit(X), X))
    assert "3 cells in row 17: x1, x3, x4" in " ".join(told["sentences"])


def test_the_table_has_cells_of_good_rows_first(pumps):
    table = describe_cells(pumps)["table"]
    assert len(table) == min(MAX_CELLS, len(pumps.wrong_cells.row))
    rows = [line["row"] for line in table]
    assert rows == sorted(rows, reverse=True) and set(rows) == {"good", "bad"}
    sizes = [
        abs(float(line["deviation"].replace("−", "-")))
        for line in table
        if line["row"] == "good"
    ]
    assert sizes == sorted(sizes, reverse=True)
    ids = {line["id"] for line in table if line["row"] == "good"}
    assert ids == set(pumps.ids[pumps.only_cells])


def test_reasons_name_wrong_and_missing_cells(pumps):
    text = reason(pumps, row(pumps, "pump 37"))  # an outlier even without it
    assert re.search(r"; also 1 wrong cell: inlet is \S+, \S+ would fit", text)
    assert re.search(r" and \d more", reason(pumps, row(pumps, "pump 141")))
    notes = regular_notes(pumps, np.arange(len(pumps.ids)))
    assert notes["17"].startswith("a good row with 3 wrong cells: outlet is ")
    holes = np.flatnonzero(pumps.cells.missing.any(axis=1) & ~pumps.diagnosis.flagged)
    for i in holes:
        name = pumps.names[pumps.cells.missing[i]][0]
        assert f"missing: {name}" in notes[str(i)]
    assert all("nan" not in text for text in notes.values())


def test_no_reason_blames_a_cell_that_is_not_there(gaps, pumps):
    for found in (gaps, pumps):
        rows = np.arange(len(found.ids))
        assert not found.cells.missing[rows, found.diagnosis.column].any()
        assert np.isfinite(found.value).all() and np.isfinite(found.fitting).all()
        for i in found.flagged:
            assert "nan" not in reason(found, i)


# ---------------------------------------------------------------- pages


def finite(values):
    """Whether JSON has no number that is not finite, at any depth."""
    json.dumps(values, allow_nan=False)
    return True


@pytest.mark.slow
def test_the_page_has_picture_sentences_and_table(pumps, page):
    assert_self_contained(page)
    assert 'id="figure-cells"' in page and "Wrong and missing cells" in page
    for sentence in describe_cells(pumps)["sentences"]:
        assert sentence in page
    assert len(re.findall("<td>good</td>", page)) > 10
    data = embedded_data(page)
    assert finite(data)
    place = data["id"].index("pump 17")
    assert data["notes"][str(place)].startswith("a good row with 3 wrong cells")
    text = re.sub(r"<(script|style|svg).*?</\1>", "", page, flags=re.S)
    assert not re.search(r"\bnan\b", text, flags=re.I)


@pytest.mark.slow
@pytest.mark.parametrize("cells", [True, False])
@pytest.mark.parametrize("part", [slice(None), slice(10, 40), slice(17, 18)])
def test_tables_with_holes_have_a_report(cells, part):
    X = holed()
    found = analyse(DSWL(2, cells=cells).fit(X), X.iloc[part])
    page = render(found)
    assert_self_contained(page)
    assert finite(embedded_data(page)) and np.isfinite(found.plain.angles).all()
    assert found.of_the_fit == (part == slice(None))


@pytest.mark.slow
def test_wide_tables_and_rows_without_any_cell_have_a_report():
    rng = np.random.default_rng(0)
    X = cloud(120).X @ rng.standard_normal((6, 60)) + rng.standard_normal((120, 60))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[7] = np.nan
    found = analyse(DSWL(2, cells=True).fit(X), X)
    page = render(found)
    assert 'class="drawing cells wide"' in page
    assert not found.diagnosis.flagged[7]
    assert_self_contained(page)


@pytest.mark.slow
def test_names_of_cells_are_text():
    X = holed()
    evil = "<b>flow</b>"
    X = X.rename(columns={"flow": evil}, index={"pump 17": "<i>17</i>"})
    page = render(analyse(DSWL(2, cells=True).fit(X), X))
    assert evil not in page and "<i>17</i>" not in page
    assert "&lt;b&gt;flow" in page and "&lt;i&gt;17" in page


@pytest.mark.slow
def test_a_model_fitted_on_complete_rows_has_the_report_it_always_had():
    X = pd.DataFrame(cloud(share=0.1).X)
    page = render(analyse(DSWL(2).fit(X), X))
    assert 'id="figure-cells"' not in page and "cells-heading" not in page
    assert "notes" not in embedded_data(page) and "Wrong cell" not in page
