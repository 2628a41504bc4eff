"""Wrong and missing cells: numbers, words, and their part of the page."""

import re

import numpy as np
import pytest
from report_pages import assert_self_contained, embedded_data
from sklearn.pipeline import make_pipeline
from small_tables import cloud, holed

from trueaxis import DSWL, ColumnScaler
from trueaxis.datasets import planted
from trueaxis.methods import PlainPCA
from trueaxis.report import analyze, render
from trueaxis.report.data import cell_notes
from trueaxis.report.page import MAX_CELLS, worst_cells
from trueaxis.report.sentences import about_cells, reason, verdict


@pytest.fixture(scope="module")
def pumps():
    X = holed()
    return analyze(DSWL(2, cells=True).fit(X), X)


@pytest.fixture(scope="module")
def gaps():
    X = holed()
    return analyze(DSWL(2).fit(X), X)


def row(analysis, name):
    return analysis.ids.tolist().index(name)


def test_a_scaler_does_not_change_what_would_fit():
    X = holed()
    units = np.logspace(0, 3, X.shape[1])
    model = make_pipeline(ColumnScaler(), DSWL(2, cells=True))
    one = analyze(model.fit(X), X).wrong_cells
    other = analyze(model.fit(X * units), X * units).wrong_cells
    row, column = one["position"], one["column"]
    np.testing.assert_array_equal(row, other["position"])
    fitted = one["fitted"] * units[column]
    np.testing.assert_allclose(fitted, other["fitted"], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(one["value"], X.to_numpy()[row, column])


def test_complete_rows_have_no_section():
    X = cloud(share=0.1).X
    for model in (DSWL(2).fit(X), PlainPCA(2).fit(X)):
        found = analyze(model, X)
        assert found.cells is None and about_cells(found) == []
        assert not found.only_cells.any()
        page = render(found)
        assert "cells-heading" not in page and "Wrong cell" not in page
        assert embedded_data(page)["notes"] == {}


def test_sentences_count_cells_and_name_columns(pumps, gaps):
    n, bad = int(pumps.only_cells.sum()), int(pumps.cells.wrong[pumps.only_cells].sum())
    assert f"{n} more rows are good apart from {bad} wrong cells." in verdict(pumps)
    assert "wrong cell" not in verdict(gaps)
    wrong, missing = about_cells(pumps)
    good = pumps.cells.wrong[pumps.only_cells].sum()
    assert f"{pumps.cells.wrong.sum()} of 1,800 cells" in wrong
    assert f"{good} in rows that are good otherwise" in wrong
    assert f"{pumps.cells.missing.sum()} of 1,800 cells (1.3 %) are missing" in missing
    assert "fit with DSWL(cells=True)" in about_cells(gaps)[0]
    X = planted("none", n=120, n_features=8, n_components=2).X
    clean = analyze(DSWL(2, cells=True).fit(X), X)
    assert about_cells(clean) == ["None of the 960 cells is wrong."]
    X[5, 3] += 20
    (one,) = about_cells(analyze(DSWL(2, cells=True).fit(X), X))
    assert "is wrong, all in x3: 1 in rows that are good otherwise, 0 in out" in one


def test_the_table_has_cells_of_good_rows_first(pumps):
    table = worst_cells(pumps)
    assert len(table) == min(MAX_CELLS, len(pumps.wrong_cells["position"]))
    kinds = [line["row"] for line in table]
    assert kinds == sorted(kinds, reverse=True) and set(kinds) == {"good", "bad"}
    good = [line for line in table if line["row"] == "good"]
    sizes = [abs(float(line["deviation"].replace("−", "-"))) for line in good]
    assert sizes == sorted(sizes, reverse=True)
    assert {line["id"] for line in good} == set(pumps.ids[pumps.only_cells])


def test_reasons_name_wrong_and_missing_cells(pumps, gaps):
    text = reason(pumps, row(pumps, "pump 37"))  # an outlier even without it
    assert re.search(r"; also 1 wrong cell: inlet is \S+, \S+ would fit", text)
    assert re.search(r" and \d more", reason(pumps, row(pumps, "pump 141")))
    notes = cell_notes(pumps, np.arange(len(pumps.ids)))
    assert notes[17].startswith("a good row with 3 wrong cells: outlet is ")
    holes = pumps.cells.missing.any(axis=1) & ~pumps.diagnosis.flagged
    for i in np.flatnonzero(holes):
        assert f"missing: {pumps.names[pumps.cells.missing[i]][0]}" in notes[i]
    for found in (gaps, pumps):  # no reason blames a cell that is not there
        rows = np.arange(len(found.ids))
        assert not found.cells.missing[rows, found.diagnosis.column].any()
        texts = [reason(found, i) for i in found.flagged]
        assert "nan" not in " ".join([*texts, *notes.values()])


@pytest.mark.slow
@pytest.mark.parametrize("cells", [True, False])
@pytest.mark.parametrize("part", [slice(None), slice(10, 40), slice(17, 18)])
def test_tables_with_missing_cells_have_a_report(cells, part):
    X = holed().rename(columns={"flow": "<b>flow</b>"}, index={"pump 17": "<i>17</i>"})
    whole = part == slice(None)
    model = DSWL(2, cells=cells).fit(X)
    found = analyze(model, X.iloc[part], new_rows=not whole)
    page = render(found)
    assert_self_contained(page)
    assert ("New rows." in page) != whole
    assert "<b>flow" not in page and "<i>17" not in page
    text = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.S)
    assert not re.search(r"\bnan\b", text, flags=re.I)
    if cells and whole:
        assert "&lt;b&gt;flow" in page and 'id="figure-cells"' in page
        data = embedded_data(page)
        place = str(data["id"].index("<i>17</i>"))
        assert data["notes"][place].startswith("a good row with 3 wrong cells")
