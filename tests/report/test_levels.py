"""What the slider shows is what the model says with its line drawn there."""

import numpy as np
import pytest
from report_pages import pixels
from small_tables import cloud, holed, with_sides

from trueaxis import DSWL
from trueaxis.datasets import sensors
from trueaxis.diagnostics import KINDS, diagnose
from trueaxis.methods import PlainPCA
from trueaxis.report.analysis import (
    analyse,
    ignore_feature_name_warning,
    with_line,
)
from trueaxis.report.levels import LEVELS, levels_of
from trueaxis.report.page_data import rows_on_page, stop_data
from trueaxis.report.sentences import describe_level, verdict


def alike():
    X = np.full((20, 4), 3.7)
    return analyse(DSWL(2).fit(X), np.vstack([X, X[:2] + 1]))


def grouped():
    X = cloud(share=0.1).X
    return analyse(with_sides(PlainPCA(2).fit(X), X), X)


def sensed(**line):
    X = sensors().X
    return analyse(DSWL(2, **line).fit(X), X)


CASES = {
    "level": sensed,
    "own level": lambda: sensed(level=0.03),
    "contamination": lambda: sensed(contamination=0.1),
    "groups": grouped,
    "alike": alike,
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_every_stop_is_the_model_with_its_line_there(case):
    found = CASES[case]()
    levels = levels_of(found)
    assert levels.levels[levels.own] == found.level
    assert (np.diff(levels.levels) > 0).all()
    own = found.diagnosis
    for i, (level, stop) in enumerate(zip(levels.levels, levels.stops, strict=True)):
        moved = with_line(found.model, level)
        d = diagnose(moved, found.X)
        np.testing.assert_array_equal(levels.since.kinds(i), d.kind)
        assert stop.counts == {kind: int((d.kind == kind).sum()) for kind in KINDS}
        assert stop.flagged == int((moved.predict(found.X) < 0).sum())
        if own.score_cutoff > 1e-100:
            assert stop.score * own.score_cutoff == pytest.approx(d.score_cutoff)
        if own.orthogonal_cutoff > 1e-100:
            off = stop.orthogonal * own.orthogonal_cutoff
            assert off == pytest.approx(d.orthogonal_cutoff)
        places = d.group_ratio * stop.group
        np.testing.assert_allclose(places, own.group_ratio, rtol=1e-9)
    assert found.model.offset_ == pytest.approx(np.log10(found.level))


def test_a_model_keeps_its_line(pump):
    before = pump.model.cutoffs_
    moved = with_line(pump.model, 1e-6)
    assert pump.model.cutoffs_ == before and moved.cutoffs_.score > before.score
    assert with_line(pump.model, pump.level).cutoffs_ == before


def test_the_model_s_own_stop_is_one_of_the_others_or_new(pump):
    assert levels_of(pump).levels == LEVELS
    X = pump.raw
    between = levels_of(analyse(DSWL(2, level=0.03).fit(X), X))
    assert len(between.levels) == len(LEVELS) + 1 and 0.03 in between.levels


@pytest.mark.slow
def test_verdicts_count_good_rows_with_wrong_cells_at_every_stop():
    X = holed()
    model = DSWL(2, cells=True).fit(X)
    levels = levels_of(analyse(model, X))
    rows = rows_on_page(levels)
    for i, level in enumerate(levels.levels):
        there = analyse(with_line(model, level), X)
        cells = int(there.cells.wrong[there.only_cells].sum())
        assert levels.stops[i].good_rows == there.only_cells.sum()
        assert levels.stops[i].wrong_cells == cells
        shown = stop_data(levels, i, rows)
        assert shown["verdict"] == verdict(there) and str(cells) in shown["verdict"]


def test_small_levels_are_one_in_many():
    assert describe_level(0.001).startswith("At level 0.001, 0.1 % of regular rows are")
    assert describe_level(1e-5) == (
        "At level 1e-05, one in 100,000 regular rows is flagged, too."
    )


# ---------------------------------------------------------------- in a browser


def embedded(page):
    return page.evaluate("JSON.parse(document.getElementById('data').textContent)")


def listed(page):
    text = page.inner_text("#count")
    return int(text.split()[0].replace(",", ""))


def test_the_slider_moves_lines_counts_and_table(visit, pump):
    page = visit()
    slider, levels = page.locator("#level"), levels_of(pump)
    assert int(slider.input_value()) == levels.own
    assert page.locator("#level-own").is_disabled()
    own = {name: pixels(page, name) for name in ("canvas", "score-canvas")}
    for key, i in (("End", len(LEVELS) - 1), ("Home", 0)):
        slider.press(key)
        stop = levels.stops[i]
        assert int(slider.input_value()) == i and listed(page) == stop.flagged
        assert f"{stop.flagged} of 200 rows" in page.inner_text("#verdict")
        assert page.inner_text("[data-key=flagged]").startswith(f"{stop.flagged} (")
        assert page.inner_text("[data-key=level]") == f"{stop.level:.3g}"
        counts = page.locator("[data-count]").all_inner_texts()
        assert [int(n) for n in counts] == [stop.counts[kind] for kind in KINDS[:4]]
        assert f"{stop.flagged} (" in slider.get_attribute("aria-valuetext")
        for name, before in own.items():
            assert pixels(page, name) != before
    # Kinds and distances in the table are those of the level.
    kinds = page.locator("#body td.kind").all_inner_texts()
    both = levels.since.kinds(0)[pump.flagged] == "both"
    assert sum(kind.strip() == "both" for kind in kinds) == both.sum()
    first = float(page.locator("#body [data-name=Excess]").first.inner_text())
    with ignore_feature_name_warning():
        moved = diagnose(with_line(pump.model, LEVELS[0]), pump.X)
    assert first == pytest.approx(moved.excess[pump.flagged[0]], abs=0.006)
    page.click("#level-own")
    page.mouse.move(1, 1)
    assert listed(page) == 33 and pixels(page, "canvas") == own["canvas"]
    assert page.evaluate("document.activeElement.id") == "level"


def test_rows_near_the_line_can_be_listed(visit):
    page = visit()
    near = embedded(page)["listed"][1]
    page.select_option("#only", "near")
    assert listed(page) == near
    assert page.locator("#body td.kind").first.inner_text().strip() == "regular"
    name = page.locator("#body .open").first.inner_text()
    page.locator("#body .open").first.click()
    assert "Would fit" in page.inner_text("#body tr.detail")
    # The nearest one is the first to join the flagged rows.
    page.select_option("#only", "")
    page.locator("#level").press("ArrowRight")
    page.fill("#search", name)
    assert name in page.locator("#body .open").all_inner_texts()


def test_a_selected_row_follows_the_level(visit):
    page = visit()
    page.locator("#canvas").press("End")
    page.locator("#canvas").press("Enter")
    assert "· regular ·" not in page.inner_text("#map-said")
    page.locator("#level").press("Home")
    assert "· regular ·" in page.inner_text("#map-said")
    assert "within both cut-offs" in page.inner_text("#map-said")
    assert page.locator("#profile").is_visible()


def test_keys_walk_along_the_rows_of_the_level(visit):
    page = visit()
    page.locator("#level").press("End")
    last = len(page.evaluate("Array.from(document.querySelectorAll('tr.row'))"))
    page.locator("#canvas").press("End")
    assert "p-value 0.2" in page.inner_text("#map-said") and last == 25


def test_rows_that_the_table_lacks_are_counted(visit):
    page = visit("many")
    data = embedded(page)
    for i in (data["own"], len(data["stops"]) - 1):
        page.locator("#level").fill(str(i))
        said = page.inner_text("#missing")
        assert said == data["stops"][i]["missing"]
        assert f"{listed(page):,} of " in said
