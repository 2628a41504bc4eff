"""Text and small tables of the page."""

import numpy as np
import pytest
from report_pages import embedded_data, page_script, page_text

from trueaxis import DSWL
from trueaxis.plots.canvas import percent
from trueaxis.report import page_data as points
from trueaxis.report import render
from trueaxis.report.analysis import analyse
from trueaxis.report.content import format_number
from trueaxis.report.levels import levels_of
from trueaxis.report.packing import rounded
from trueaxis.report.page_data import rows_on_page


def test_numbers_for_people_and_for_json():
    shares = {
        0: "0 %",
        4e-5: "less than 0.1 %",
        0.004: "0.4 %",
        0.5: "50 %",
        1: "100 %",
    }
    assert [percent(share) for share in shares] == [*shares.values()]
    assert [format_number(x) for x in (np.inf, 12345.6, -0.12345)] == [
        "∞",
        "12,346",
        "−0.1235",
    ]
    assert rounded(np.array([1.23456, np.inf, np.nan])) == [1.235, None, None]


def test_what_is_left_out_is_said(pump, monkeypatch):
    monkeypatch.setattr(points, "MAX_POINTS", 60)
    monkeypatch.setattr(points, "MAX_NEAR", 10)
    rows = rows_on_page(levels_of(pump))
    assert len(rows.drawn) == 60 and (rows.drawn[:33] == pump.flagged).all()
    assert (np.diff(rows.rest) > 0).all()
    assert not pump.diagnosis.flagged[rows.drawn[33:]].any()
    assert len(set(rows.drawn)) == 60
    message = page_text(pump)["left_out"]["map"]
    assert (
        "60 of 200" in message
        and "all 33 flagged" in message
        and "27 regular rows, the 10 nearest" in message
    )
    monkeypatch.setattr(points, "MAX_FLAGGED", 20)
    assert "the worst 20 of 33 flagged" in page_text(pump)["left_out"]["map"]
    assert len(page_script(pump)["id"]) == 60


@pytest.mark.slow
def test_a_cut_off_of_0_is_no_number_for_json():
    X = np.full((20, 4), 3.7)
    analysis = analyse(DSWL(2).fit(X), np.vstack([X, X[:1] + 1]))
    assert not np.isfinite(analysis.diagnosis.excess[-1])
    data = embedded_data(render(analysis))
    assert data["off"][0] is None and data["stops"][0]["lines"][:2] == [1, 1]
    assert page_text(analysis)["worst"][0]["off"] == "∞"
