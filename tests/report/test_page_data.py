"""Data of the map and the table."""

import numpy as np
import pandas as pd
import pytest
from report_pages import embedded_data, page_text
from small_tables import cloud, with_sides

from trueaxis import DSWL, PlainPCA
from trueaxis._engine.outliers.judge import cutoff_ratio
from trueaxis.datasets import sensors
from trueaxis.diagnostics import KINDS
from trueaxis.report import render
from trueaxis.report.analysis import analyse
from trueaxis.report.page_data import script_data
from trueaxis.report.sentences import format_p, reason


@pytest.mark.slow
def test_points_are_the_rows_of_the_analysis_worst_first(pump, page):
    data, d = embedded_data(page), pump.diagnosis
    n_bad = len(pump.flagged)
    assert data["id"][:n_bad] == [str(row) for row in pump.flagged]
    assert sorted(map(int, data["id"])) == list(range(200))
    order = np.array(data["id"], dtype=int)
    off = cutoff_ratio(d.orthogonal, d.orthogonal_cutoff)
    np.testing.assert_allclose(data["off"], off[order], rtol=1e-3)
    np.testing.assert_allclose(data["excess"], d.excess[pump.flagged], rtol=1e-3)
    assert data["because"] == [reason(pump, row) for row in pump.flagged]
    kinds = [data["kinds"][kind]["name"] for kind in data["kind"]]
    assert kinds == d.kind[order].tolist()
    assert [data["label"][i] for i in range(3)] == ["flow unit wrong"] * 3


def test_contributions_are_shares_that_add_up(pump, page):
    data = embedded_data(page)
    shares = pump.shares(pump.flagged)
    for name, exact in (("offParts", shares.orthogonal), ("scoreParts", shares.score)):
        np.testing.assert_allclose(exact.sum(axis=1), 1)
        for row, share in zip(data[name], exact, strict=True):
            assert sum(row[1::2]) == pytest.approx(100, abs=0.5)
            assert row[1] == pytest.approx(100 * share[row[0]], abs=0.051)
            assert row[0] == np.abs(share).argmax() and row[-2] == -1


@pytest.mark.slow
def test_long_names_that_differ_in_the_middle_stay_different():
    table, ends = sensors(), ("long " * 30, " end" * 30)
    names = [f"{ends[0]}{name}{ends[1]}" for name in table.columns]
    X = pd.DataFrame(table.X, columns=names)
    analysis = analyse(
        DSWL(2).fit(X), X, ids=[f"{ends[0]}{i}{ends[1]}" for i in range(200)]
    )
    data = embedded_data(render(analysis))
    assert len(set(data["columns"])) == 6 and len(set(data["id"])) == 200
    assert max(map(len, data["columns"] + data["id"])) < 90
    flow = data["columns"][table.columns.index("flow")]
    assert data["because"][0].startswith(f"{flow} is 8.99")


def test_rows_of_a_group_apart_have_their_mark_in_map_and_table():
    X = cloud(share=0.1).X
    analysis = analyse(with_sides(PlainPCA(2).fit(X), X), X)
    data, text = script_data(analysis), page_text(analysis)
    index = KINDS.index("group")
    n = int((analysis.diagnosis.kind == "group").sum())
    assert data["kind"].count(index) == n > 0
    assert [kind["name"] for kind in data["kinds"]] == list(KINDS)
    assert text["kinds"][-1]["name"] == "group" and text["kinds"][-1]["count"] == str(n)
    assert len(data["because"]) == data["flagged"] == (~analysis.model.support_).sum()
    page = render(analysis)
    assert "rows of a group that stands apart" in page and "Group apart" in page
    # All of them lie between the lines of the map.
    places = [max(data["score"][i], data["off"][i]) for i in range(data["flagged"])]
    beyond = np.array(data["kind"][: data["flagged"]]) != index
    assert ((np.array(places) > 1) == beyond).all()


def test_pages_without_groups_do_not_mention_them(pump, page):
    assert "Group apart" not in page and "group" not in pump.counts
    assert [kind["name"] for kind in page_text(pump)["kinds"]] == list(KINDS[:4])


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"level": 0.2}, {"contamination": 0.3}], ids=str)
def test_map_table_and_figures_follow_the_line(settings):
    X = sensors().X
    model = DSWL(2, **settings).fit(X)
    analysis = analyse(model, X)
    data, text = script_data(analysis), page_text(analysis)
    n = int((~model.support_).sum())
    assert data["flagged"] == n == len(data["p"]) == len(data["because"])
    # The lines of the map are at 1.
    excess = np.maximum(data["score"], data["off"])
    assert (excess[:n] >= 1).all() and (excess[n:] <= 1).all()
    assert data["p"] == [format_p(p) for p in np.sort(model.p_values(X))[:n]]
    figures = dict(text["key_figures"])
    assert figures["flagged"].startswith(f"{n} (")
    ((name, value),) = settings.items()
    assert figures[name] == str(value)
    assert text["worst"][0]["p"] == data["p"][0]
