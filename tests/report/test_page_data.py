"""Data of the map and the table."""

import numpy as np
import pandas as pd
import pytest
from report_pages import embedded_data, page_script, page_text
from small_tables import cloud, with_sides

from trueaxis import DSWL
from trueaxis.core.verdicts import cutoff_ratio
from trueaxis.datasets import sensors
from trueaxis.diagnostics import KINDS
from trueaxis.methods import PlainPCA
from trueaxis.report import page_data, render
from trueaxis.report.analysis import analyse
from trueaxis.report.levels import levels_of
from trueaxis.report.page_data import profile_data, rows_on_page
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
    assert data["because"][:n_bad] == [reason(pump, row) for row in pump.flagged]
    assert kinds_at(data, data["own"]) == d.kind[order].tolist()
    labels = [data["labels"][data["label"][i]] for i in range(3)]
    assert labels == ["flow unit wrong"] * 3


def kinds_at(data, stop):
    """Kinds of the points at a stop, as the script of the page finds them."""
    score, off, group = ([int(c, 36) <= stop for c in text] for text in data["since"])
    index = [s + 2 * o or 4 * g for s, o, g in zip(score, off, group, strict=True)]
    return [data["kinds"][i]["name"] for i in index]


@pytest.mark.slow
def test_rows_near_the_line_follow_the_flagged_ones(pump, page):
    data, d = embedded_data(page), pump.diagnosis
    worst, near = data["listed"]
    assert worst == data["flagged"] == 33 and near > 10
    some = np.array(data["id"][33 : 33 + near], dtype=int)
    regular = np.flatnonzero(~d.flagged)
    nearest = regular[np.argsort(d.log_p[regular], kind="stable")][:near]
    assert set(some) == set(nearest) and (np.diff(d.log_p[some]) >= 0).all()
    assert (d.p_value[some] < 0.25 + 1e-9).all()
    # Their reasons are those of the kind that they have where they are flagged first.
    assert not any("within both cut-offs" in text for text in data["because"])
    np.testing.assert_allclose(data["value"][33:], pump.value[some], rtol=1e-6)
    np.testing.assert_allclose(data["fits"][33:], pump.fitting[some], rtol=1e-6)


def test_profiles_take_what_room_there_is(pump, monkeypatch):
    monkeypatch.setattr(page_data, "profiles_with_room", lambda *sizes: 20)
    rows = rows_on_page(levels_of(pump))
    assert [len(part) for part in rows.profiled] == [16, 4]
    assert (rows.profiled.flagged == pump.flagged[:16]).all()
    assert (rows.profiled.near == rows.listed.near[:4]).all()
    monkeypatch.setattr(page_data, "MAX_LISTED", 5)
    monkeypatch.setattr(page_data, "MAX_NEAR", 0)
    rows = rows_on_page(levels_of(pump))
    assert [len(part) for part in rows.profiled] == [5, 0]
    assert len(profile_data(pump, rows.profiled.rows)["offParts"]) == 5


def test_contributions_are_shares_that_add_up(pump, page):
    data = embedded_data(page)["profiles"]
    shares = pump.shares(pump.flagged)
    for name, exact in (("offParts", shares.orthogonal), ("scoreParts", shares.score)):
        np.testing.assert_allclose(exact.sum(axis=1), 1)
        for row, share in zip(data[name], exact, strict=False):
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


@pytest.mark.slow
def test_rows_of_a_group_apart_have_their_mark_in_map_and_table():
    X = cloud(share=0.1).X
    analysis = analyse(with_sides(PlainPCA(2).fit(X), X), X)
    data, text = page_script(analysis), page_text(analysis)
    n = int((analysis.diagnosis.kind == "group").sum())
    kinds = kinds_at(data, data["own"])
    assert kinds.count("group") == n > 0
    assert [kind["name"] for kind in data["kinds"]] == list(KINDS)
    assert text["kinds"][-1]["name"] == "group" and text["kinds"][-1]["count"] == str(n)
    assert data["listed"][0] == data["flagged"] == (~analysis.model.support_).sum()
    page = render(analysis)
    assert "rows of a group that stands apart" in page and "Group apart" in page
    # All of them lie between the lines of the map.
    places = [max(data["score"][i], data["off"][i]) for i in range(data["flagged"])]
    beyond = np.array(kinds[: data["flagged"]]) != "group"
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
    data, text = page_script(analysis), page_text(analysis)
    n = int((~model.support_).sum())
    assert data["flagged"] == n == data["listed"][0]
    # The lines of the map are at 1.
    excess = np.maximum(data["score"], data["off"])
    assert (excess[:n] >= 1).all() and (excess[n:] <= 1).all()
    assert data["p"][:n] == [format_p(p) for p in np.sort(model.p_values(X))[:n]]
    figures = dict(text["key_figures"])
    assert figures["flagged"].startswith(f"{n} (")
    ((name, value),) = settings.items()
    assert figures[name] == str(value)
    assert text["worst"][0]["p"] == data["p"][0]
