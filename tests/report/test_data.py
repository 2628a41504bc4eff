"""Points, table and profiles of the page are those of the analysis."""

import numpy as np
import pytest
from report_pages import embedded_data
from sklearn.pipeline import make_pipeline

from trueaxis import DSWL, ColumnScaler
from trueaxis.datasets import planted, sensors
from trueaxis.diagnostics import explain
from trueaxis.report import analyze, render
from trueaxis.report import data as data_module
from trueaxis.report.data import (
    curve_positions,
    rounded,
    script_data,
    shown_rows,
)
from trueaxis.report.sentences import MAIN_SHARE, reason


def data_of(analysis):
    return script_data(analysis, shown_rows(analysis))


def kinds_at(data, stop):
    """Kinds of the points at a stop, as the script of the page finds them."""
    score, off, group = np.array(data["beyond"]) <= stop
    index = score + 2 * off
    index = np.where((index == 0) & group, 4, index)
    return np.array([kind["name"] for kind in data["kinds"]])[index]


@pytest.mark.slow
def test_points_are_the_rows_of_the_analysis_worst_first(pump, page):
    data, d = embedded_data(page), pump.diagnosis
    n_bad, listed = len(pump.flagged), len(data["p"])
    order = np.array(data["id"], dtype=int)
    assert (order[:n_bad] == pump.flagged).all() and set(order) == set(range(200))
    np.testing.assert_allclose(data["off"], d.ratios[1, order], rtol=1e-3)
    np.testing.assert_allclose(data["score"], d.ratios[0, order], rtol=1e-3)
    assert data["because"][:n_bad] == [reason(pump, row) for row in pump.flagged]
    assert kinds_at(data, data["own"]).tolist() == d.kind[order].tolist()
    assert [data["labels"][i] for i in data["label"]] == pump.labels[order].tolist()
    # Regular rows nearest to the threshold follow, with reasons they would have.
    near = order[n_bad:listed]
    nearest = np.sort(d.log_p[~d.flagged])[: len(near)]
    np.testing.assert_array_equal(d.log_p[near], nearest)
    assert not any("within both cut-offs" in text for text in data["because"])
    for name, known in (("value", d.value), ("fits", d.fitted)):
        np.testing.assert_allclose(data[name], known[order[:listed]], rtol=1e-6)


def test_a_large_table_is_shown_in_part(pump, monkeypatch):
    for name, most in (("MAX_FLAGGED", 20), ("MAX_NEAR", 10), ("MAX_OTHERS", 30)):
        monkeypatch.setattr(data_module, name, most)
    monkeypatch.setattr(data_module, "MAX_CELLS", 6 * 15)
    page = render(pump)
    data = embedded_data(page)
    assert len(data["id"]) == len(set(data["id"])) == 60 and len(data["p"]) == 30
    assert "The plots show 60 of 200 rows: the worst 20 of 33 flagged rows" in page
    assert "The table lists 20 of 33 flagged rows." in page
    # The others are from all rows that are left, flagged ones among them.
    assert "regular" != kinds_at(data, data["own"])[30]
    opened = [i for i, cells in enumerate(data["cells"]) if cells]
    assert opened == [*range(15)]


@pytest.mark.slow
@pytest.mark.parametrize("scaled", [False, True])
def test_opened_rows_are_explained(scaled):
    table = sensors()
    X = table.X * [1, 1e3, 1e-3, 20, 1, 7] if scaled else table.X
    model = make_pipeline(ColumnScaler(), DSWL(2)) if scaled else DSWL(2)
    found = analyze(model.fit(X), X)
    data = data_of(found)
    rows = [int(data["id"][i]) for i, cells in enumerate(data["cells"]) if cells]
    cells = np.array([cells for cells in data["cells"] if cells])
    known = explain(model, X, rows)
    for i, name in enumerate(("value", "fitted", "deviation")):
        expected = np.asarray(known[name]).reshape(-1, 6)
        np.testing.assert_allclose(cells[:, i], expected, rtol=5e-3, atol=1e-6)
    # The blamed column has what its reason says.
    at = np.arange(len(rows)), found.diagnosis.column[rows]
    np.testing.assert_allclose(cells[:, 1][at], found.diagnosis.fitted[rows], rtol=1e-6)
    wrong = rows.index(int(np.flatnonzero(table.fault == "flow unit wrong")[0]))
    far, flow = np.abs(cells[wrong, 2]), table.columns.index("flow")
    assert found.diagnosis.share[rows[wrong]] > MAIN_SHARE
    assert far[flow] > 30 and np.delete(far, flow).max() < 4


def test_a_column_without_spread_and_a_cut_off_of_0():
    X = np.random.default_rng(0).standard_normal((80, 3))
    X = np.column_stack([X, np.full(80, 2.0)])
    new = X.copy()
    new[0, 3] = 5
    data = data_of(analyze(DSWL(2).fit(X), new))
    assert data["id"][0] == "0" and data["cells"][0][2][3] > 4
    assert all(cells[2][3] == 0 for cells in data["cells"][1:] if cells)
    alike = np.full((20, 4), 3.7)
    found = analyze(DSWL(2).fit(alike), np.vstack([alike, alike[:1] + 1]))
    data = data_of(found)
    assert data["off"][0] is None and data["stops"][0]["lines"][:2] == [1, 1]
    assert rounded(np.array([1.23456, np.inf, np.nan])) == [1.235, None, None]


@pytest.mark.parametrize("text", ["{:g}", "{:.1f}", "{:g} nm", "abs_{:g}"])
def test_numbers_in_order_make_a_curve(text):
    names = np.array([text.format(400 + 2.5 * i) for i in range(40)])
    positions = curve_positions(names)
    assert positions[0] == 400 and (np.diff(positions) > 0).all()
    assert curve_positions(names[::-1])[0] == positions[-1]
    for other in (names[:10], names[np.arange(40) % 7], np.array(["flow"] * 40)):
        assert curve_positions(other) is None
    assert (
        curve_positions(np.array([f"{i} {'nm' if i else 'm'}" for i in range(40)]))
        is None
    )


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 10])
def test_ten_thousand_rows_make_a_small_file(k):
    X = planted("scatter", n=10_000, n_features=50, n_components=k, share=0.3).X
    ids = [f"2026-03-01 12:00, no. {i}" for i in range(10_000)]
    labels = [f"machine {i % 40}" for i in range(10_000)]
    page = render(analyze(DSWL(k).fit(X), X, ids=ids, labels=labels))
    assert len(page) < 2e6
    assert "The table lists 2,000 of 3," in page
    data = embedded_data(page)
    assert len(data["because"]) == 2500 and len(data["id"]) == 4500
