"""What would fit in every column of a row."""

import csv

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from small_tables import holed

from trueaxis import DSWL, ColumnScaler, TableEncoder
from trueaxis.datasets import planted, sensors
from trueaxis.report import write_report
from trueaxis.report.analysis import analyse
from trueaxis.report.profiles import (
    column_spreads,
    curve_positions,
    profiles,
    surpluses,
)
from trueaxis.report.sentences import MAIN_SHARE

EVIL = "</script><script>window.harmed = 1</script><img src=x onerror=harmed=1>"


def scaled_pump():
    X = sensors().X * [1, 1e3, 1e-3, 20, 1, 7]
    return analyse(make_pipeline(ColumnScaler(), DSWL(2)).fit(X), X)


def test_blamed_columns_agree_with_the_reason(pump):
    for found in (pump, scaled_pump()):
        every = np.arange(len(found.ids))
        column = found.diagnosis.column
        shown = profiles(found, every)
        np.testing.assert_allclose(shown.values, found.raw)
        fits = shown.fits[every, column]
        np.testing.assert_allclose(fits, found.fitting, rtol=1e-9, atol=1e-12)


def test_what_fits_leaves_nothing_to_correct(pump):
    rows = pump.flagged[:20]
    shown, model = profiles(pump, rows), pump.model
    for place, row in enumerate(rows):
        base = pump.X[row].copy()
        blamed = pump.diagnosis.column[row]
        if pump.diagnosis.share[row] >= MAIN_SHARE:
            base[blamed] = shown.fits[place, blamed]
        for j in range(base.size):
            mended = base.copy()
            mended[j] = shown.fits[place, j]
            assert abs(surpluses(model, mended[None])[0, j]) < 1e-9


def test_one_wrong_value_stands_out_alone(pump):
    row = int(np.flatnonzero(pump.labels == "flow unit wrong")[0])
    deviations = np.abs(profiles(pump, np.array([row])).deviations[0])
    flow = pump.names.tolist().index("flow")
    assert deviations[flow] > 50 and np.delete(deviations, flow).max() < 4


def test_deviations_of_regular_rows_have_unit_spread(pump):
    regular = np.flatnonzero(~pump.diagnosis.flagged)
    alone = surpluses(pump.model, pump.X[regular]) / column_spreads(pump)
    np.testing.assert_allclose(np.sqrt((alone**2).mean(axis=0)), 1)


def test_few_rows_take_the_spread_from_the_model():
    X = planted("none", n=4000, n_features=6, n_components=2).X
    found = analyse(DSWL(2).fit(X), X)
    few = analyse(found.model, X[:3])
    np.testing.assert_allclose(column_spreads(few), column_spreads(found), rtol=0.15)


@pytest.mark.slow
def test_wrong_cells_and_holes_are_shown_as_in_the_list_of_cells():
    X = holed()
    found = analyse(DSWL(2, cells=True).fit(X), X)
    shown = profiles(found, np.arange(len(X)))
    holes = found.cells.missing
    assert (
        np.isnan(shown.values[holes]).all() and np.isnan(shown.deviations[holes]).all()
    )
    assert np.isfinite(shown.fits).all() and np.isfinite(shown.deviations[~holes]).all()
    cells, d = found.wrong_cells, found.diagnosis
    other = ~d.flagged[cells.row] | (d.column[cells.row] != cells.column)
    at = cells.row[other], cells.column[other]
    np.testing.assert_allclose(shown.fits[at], cells.fitted[other])
    np.testing.assert_allclose(shown.deviations[at], cells.deviation[other])


def test_a_column_without_spread_deviates_by_nothing():
    X = np.random.default_rng(0).standard_normal((80, 3))
    X = np.column_stack([X, np.full(80, 2.0)])
    shown = profiles(analyse(DSWL(2).fit(X), X), np.arange(80))
    assert (shown.deviations[:, 3] == 0).all()


def test_rounding_errors_do_not_fit():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 2)) @ rng.standard_normal((2, 5))
    X += 0.1 * rng.standard_normal(X.shape)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["state"] = rng.choice(["on", "off"], 120)
    frame.loc[:2, "state"] = "odd"
    model = make_pipeline(TableEncoder(), DSWL(2)).fit(frame)
    found = analyse(model, frame)
    columns = np.arange(len(found.names))
    tiny = 1e-12 * found.spread
    assert (found.without_rounding(tiny, tiny + 1, columns) == 0).all()
    assert (found.without_rounding(-tiny, tiny + 1, columns) == 0).all()
    kept = 0.01 * found.spread
    assert (found.without_rounding(kept, kept + 1, columns) == kept).all()
    error = np.full(len(columns), -2.22e-16)
    assert (found.without_rounding(error, np.ones(len(columns)), columns) == 0).all()
    shown = profiles(found, np.arange(120))
    for fits in (shown.fits, found.fitting):
        assert not ((fits != 0) & (np.abs(fits) < 1e-12)).any()


def numbers(text, n=40, start=400.0, step=2.5):
    return np.array([text.format(start + step * i) for i in range(n)])


@pytest.mark.parametrize("text", ["{:g}", "{:.1f}", "{:g} nm", "abs_{:g}", "x{:.0f}"])
def test_numbers_in_order_make_a_curve(text):
    names = numbers(text, step=1.0 if text == "x{:.0f}" else 2.5)
    positions = curve_positions(names)
    assert positions[0] == 400 and (np.diff(positions) > 0).all()
    assert curve_positions(names[::-1])[0] == positions[-1]


def test_other_columns_do_not():
    assert curve_positions(numbers("{:g}", n=10)) is None
    assert curve_positions(np.array(["flow", "power"] * 20)) is None
    shuffled = np.random.default_rng(0).permutation(numbers("{:g}"))
    assert curve_positions(shuffled) is None
    mixed = numbers("{:g}")
    mixed[3] = "t" + mixed[3]
    assert curve_positions(mixed) is None


# ---------------------------------------------------------------- in a browser


def first_row(page):
    page.locator("#canvas").press("ArrowRight")
    page.locator("#canvas").press("Enter")


def cells_of(page):
    """Texts of the table of all columns, by column."""
    found = {}
    for tr in page.locator("#profile .profile-table tbody tr").all():
        name, *cells = tr.locator("th, td").all_inner_texts()
        found[name] = cells[:3]
    return found


def test_all_columns_of_a_row_are_shown(visit, pump):
    page = visit()
    first_row(page)
    shown = cells_of(page)
    exact = profiles(pump, pump.flagged[:1])
    assert list(shown)[0] == "flow" and set(shown) == set(pump.names.tolist())
    for j, name in enumerate(pump.names.tolist()):
        value, fits, deviation = (text.replace("−", "-") for text in shown[name])
        assert float(value) == pytest.approx(exact.values[0, j], rel=1e-3)
        assert float(fits) == pytest.approx(exact.fits[0, j], rel=1e-3)
        assert float(deviation) == pytest.approx(exact.deviations[0, j], abs=0.11)
    # The blamed column is shown as in the reason.
    assert "flow is 8.99, 32.11 would fit" in page.inner_text("#map-said")
    assert shown["flow"][:2] == ["8.99", "32.11"]


def bars_of(page, host):
    """Classes and lengths of the bars of a profile, by column."""
    return page.evaluate(
        """(host) => Object.fromEntries(
        [...document.querySelectorAll(`${host} .profile-table tbody tr`)].map((tr) => {
            const bar = tr.querySelector(".track i"), shown = getComputedStyle(bar);
            return [tr.querySelector("th").textContent, {
                names: [...bar.classList], width: parseFloat(bar.style.width),
                colour: shown.backgroundColor.match(/\\d+/g).map(Number),
            }];
        }))""",
        host,
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_bars_have_the_colors_of_the_cell_map(visit, scheme):
    page = visit(color_scheme=scheme)
    first_row(page)
    shown, bars = cells_of(page), bars_of(page, "#profile")
    for name, (_, _, deviation) in shown.items():
        (red, _, blue), low = bars[name]["colour"], deviation.startswith("−")
        assert blue > red + 50 if low else red > blue + 50
        size = float(deviation[1:])
        # Bars are in proportion, and those that are cut say so.
        assert bars[name]["width"] == pytest.approx(50 * min(size / 6, 1), abs=0.5)
        assert ("cut" in bars[name]["names"]) == (size > 6)
    assert "cut" in bars["flow"]["names"]
    caption = page.inner_text("#profile caption")
    assert "blue is too low, red too high" in caption and "cut at 6" in caption


@pytest.mark.parametrize("width", [1280, 400, 320, "paper"])
def test_nothing_of_an_open_row_is_clipped(visit, width):
    paper = width == "paper"
    page = visit(viewport={"width": 700 if paper else width, "height": 800})
    page.locator("#body .open").first.click()
    if paper:
        page.emulate_media(media="print")
    cells = page.locator("#body .profile-table tbody tr")
    assert cells.count() == 6
    hidden = page.evaluate(
        """() => {
        const all = document.querySelectorAll(
            "#body .profile-table :is(th, thead td, td, caption, .track)");
        const frames = ["#body .profile-box", "#box", "#body .detail > td"];
        const boxes = frames.map((name) => document.querySelector(name))
            .map((box) => box.getBoundingClientRect());
        return [...all].filter((part) => {
            const own = part.getBoundingClientRect();
            return !own.width || boxes.some((box) => own.left < box.left - 1
                || own.right > box.right + 1 || own.bottom > box.bottom + 1);
        }).map((part) => part.outerHTML);
        }"""
    )
    assert hidden == []
    # Heads are above their cells.
    heads = page.locator("#body .profile-table thead th").all()
    first = cells.first.locator("th, td").all()
    for head, cell in zip(heads, first, strict=False):
        above, below = head.bounding_box(), cell.bounding_box()
        assert above["x"] == pytest.approx(below["x"], abs=1)
        assert above["y"] < below["y"]


def test_many_columns_are_shown_on_request_and_on_paper(visit):
    page = visit("spectra")
    page.locator("#body .open").first.click()
    page.locator("#body").get_by_text("All columns as a table").click()
    shown = page.locator("#body .profile-table tbody tr:visible")
    assert shown.count() == 20
    page.locator("#body").get_by_text("Show all 60 columns").click()
    assert shown.count() == 60
    page.get_by_text("Show the 20 largest").click()
    assert shown.count() == 20
    page.emulate_media(media="print")
    assert shown.count() == 60


def test_missing_and_wrong_cells_are_shown(visit):
    page = visit("cells")
    page.locator("#canvas").press("ArrowRight")
    page.locator("#canvas").press("Enter")
    listed = page.locator("#body .open").all_inner_texts()
    assert "pump 37" in listed
    page.locator("#body .open", has_text="pump 37").click()
    table = page.locator("#body .profile-table")
    row = table.locator("tr", has=page.locator("bdi", has_text="inlet")).first
    cell = page.locator("#cell-table tr", has_text="pump 37").filter(has_text="inlet")
    value, fits = cell.first.locator("td").all_inner_texts()[1:3]
    assert row.locator("td").all_inner_texts()[:2] == [value, fits]
    assert "NaN" not in page.inner_text("main")


def test_a_spectrum_is_a_curve(visit):
    page = visit("spectra")
    first_row(page)
    curve = page.locator("#profile svg.curves")
    assert curve.locator("path").count() == 3  # fit, row, deviation
    label = curve.get_attribute("aria-label")
    assert "540 nm" in label
    assert curve.locator("path.row-line").first.get_attribute("d").count("L") == 59
    assert not page.locator("#profile .profile-table").is_visible()
    page.get_by_text("All columns as a table").click()
    assert page.locator("#profile .profile-table tbody tr").count() == 60
    wide = curve.bounding_box()["width"]
    page.set_viewport_size({"width": 400, "height": 800})
    page.wait_for_function(
        "(old) => document.querySelector('#profile svg').viewBox.baseVal.width < old",
        arg=wide,
    )


def downloaded(page):
    with page.expect_download() as waiting:
        page.click("#download")
    file = waiting.value
    with open(file.path(), encoding="utf-8-sig", newline="") as lines:
        return file.suggested_filename, list(csv.DictReader(lines))


def test_flagged_rows_are_downloaded(visit, pump):
    page = visit()
    name, table = downloaded(page)
    d = pump.diagnosis
    assert name == "flagged-rows-level-0.025.csv" and len(table) == 33
    assert [row["row"] for row in table] == pump.ids[pump.flagged].tolist()
    assert [row["kind"] for row in table] == d.kind[pump.flagged].tolist()
    assert [row["column"] for row in table] == (
        pump.names[d.column[pump.flagged]].tolist()
    )
    numbers = {
        "value": pump.value,
        "fits": pump.fitting,
        "excess": d.excess,
        **dict(zip(pump.names.tolist(), pump.raw.T, strict=True)),
    }
    for column, exact in numbers.items():
        shown = np.array([float(row[column]) for row in table])
        np.testing.assert_allclose(shown, exact[pump.flagged], rtol=1e-3)
    # All digits agree, with the table and with each other.
    for row, place in zip(table, pump.flagged, strict=True):
        assert float(row["value"]) == float(f"{pump.value[place]:.7g}")
        assert row[row["column"]] == row["value"]
        for j, column in enumerate(pump.names.tolist()):
            assert float(row[column]) == float(f"{pump.raw[place, j]:.7g}")
    small = d.p_value[pump.flagged] > 0
    p = np.array([float(row["p_value"]) for row in table])
    np.testing.assert_allclose(p[small], d.p_value[pump.flagged][small], rtol=2e-3)
    assert EVIL in {row["label"] for row in table}
    assert "33 rows written, with all columns" in page.inner_text("#download-said")
    # At another level, other rows.
    page.locator("#level").press("Home")
    name, fewer = downloaded(page)
    assert "1e-06" in name and 0 < len(fewer) < 33


def test_downloaded_files_have_full_names_and_an_encoding(visit, report_path):
    table = sensors()
    names = [f"{'long ' * 20}{name}{' énd' * 20}" for name in table.columns]
    X = pd.DataFrame(table.X, columns=names)
    ids = [f"{'pump ' * 30}{i}" for i in range(200)]
    path = report_path("pump").with_name("long.html")
    write_report(DSWL(2).fit(X), X, path, ids=ids, labels=ids[::-1])
    page = visit("long")
    _, found = downloaded(page)
    assert set(names) <= set(found[0]) and found[0]["column"] in names
    assert {row["row"] for row in found} <= set(ids)
    assert found[0]["label"] == ids[::-1][ids.index(found[0]["row"])]
    assert "…" in page.locator("#body .open").first.inner_text()
    with page.expect_download() as waiting:
        page.click("#download")
    assert waiting.value.path().read_bytes().startswith(b"\xef\xbb\xbfrow,")


def test_a_download_says_what_it_lacks(visit):
    page = visit("many")
    _, table = downloaded(page)
    said = page.inner_text("#download-said")
    assert len(table) == 2000 and "2,000 rows written" in said
    assert "of them with all columns" in said and "2,000 of 3," in said
    whole = sum(bool(row["x0"]) for row in table)
    assert 500 < whole < 2000 and f"{whole:,} of them" in said


def test_formulas_are_only_text(visit, report_path):
    X = sensors().X
    ids = [("=1+1", "+a", "-b", "@c", '"q", r', "-7.5")[i % 6] for i in range(200)]
    ids = [f"{name}" if name == "-7.5" else f"{name}{i}" for i, name in enumerate(ids)]
    path = report_path("pump").with_name("formulas.html")
    write_report(DSWL(2).fit(X), X, path, ids=ids, labels=ids)
    _, table = downloaded(visit("formulas"))
    names = {row["row"] for row in table}
    assert names and not any(name.startswith(("=", "+", "@")) for name in names)
    assert any(name.startswith("'=1+1") for name in names)
    assert any(name.startswith('"q", r') for name in names)
    assert all(name.startswith("-7.5") for name in names if name[0] == "-")
