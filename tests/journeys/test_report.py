"""A manager gets the report by mail, and opens it in a browser.

Four reports are written once, by `trueaxis report`, and opened again for every story.
"""

import csv
import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest
from command_line import code_blocks, run
from report_pages import pixels

PHONE = {"viewport": {"width": 400, "height": 800}, "has_touch": True}
MARKUP = "<img src=x onerror='window.harmed = 1'>"
SCRIPT = "</script><script>window.harmed = 1</script>"


# ---------------------------------------------------------------- the reports


@pytest.fixture(scope="module")
def pumps_report(plant, tmp_path_factory):
    """The 150 pumps of a plant, named by serial number and labeled by site."""
    folder = tmp_path_factory.mktemp("pumps")
    path = folder / "pumps.html"
    table = plant.save(folder)
    run("report", table, "--id", "serial", "--label", "site", "-o", path)
    return path


@pytest.fixture(scope="module")
def typos(plant):
    """Good pumps with six typing errors and two holes: row -> column."""
    return (
        dict(zip(plant.healthy.index[10:70:10], plant.healthy, strict=True)),
        {"P-101": "inlet", "P-102": "flow"},
    )


@pytest.fixture(scope="module")
def cells_report(plant, typos, tmp_path_factory):
    """The pumps before anything went wrong, but with typing errors and holes."""
    table, (wrong, holes) = plant.healthy.copy(), typos
    for i, (row, column) in enumerate(wrong.items()):
        table.loc[row, column] += (-1) ** i * 8 * table[column].std()
    for row, column in holes.items():
        table.loc[row, column] = np.nan
    folder = tmp_path_factory.mktemp("cells")
    source, path = folder / "typed.csv", folder / "typed.html"
    table.to_csv(source, float_format="%.2f")
    run("report", source, "--id", "serial", "--set", "cells=true", "-o", path)
    return path


@pytest.fixture(scope="module")
def spectra_report(tmp_path_factory):
    """60 mixtures of two substances at 80 wavelengths. S7 and S31 have a third one.

    It absorbs at 600 nm.
    """
    rng, at = np.random.default_rng(0), np.arange(400, 800, 5)
    peaks = np.exp(-0.5 * ((at - [[480], [680]]) / 40) ** 2)
    X = (1 + 0.3 * rng.normal(size=(60, 2))) @ peaks + rng.normal(0, 0.01, (60, 80))
    X[[7, 31]] += 0.4 * np.exp(-0.5 * ((at - 600) / 8) ** 2)
    folder = tmp_path_factory.mktemp("spectra")
    source, path = folder / "spectra.csv", folder / "spectra.html"
    frame = pd.DataFrame(X, [f"S{i}" for i in range(60)], [f"{x} nm" for x in at])
    frame.to_csv(source, index_label="sample", float_format="%.4f")
    run("report", source, "--id", "sample", "-o", path)
    return path


@pytest.fixture(scope="module")
def tomorrow_report(plant, new_plant, tmp_path_factory):
    """12 new pumps, judged by the model of the others. Some names are hostile."""
    folder = tmp_path_factory.mktemp("tomorrow")
    model, path = folder / "plant.npz", folder / "tomorrow.html"
    hostile = {"flow": f"flow {MARKUP}"}
    old, new = folder / "plant.csv", folder / "tomorrow.csv"
    plant.frame.rename(columns=hostile).to_csv(old, index=False)
    frame = new_plant.frame.rename(columns=hostile).replace({"P-211": SCRIPT})
    frame.to_csv(new, index=False)
    run("fit", old, "--id", "serial", "-o", model)
    options = ["--id", "serial", "--label", "site", "--model", model, "-o", path]
    run("report", new, *options)
    return path


# ---------------------------------------------------------------- what a reader does


def verdict_count(page):
    """The number of outliers in the sentence at the top."""
    return int(re.match(r"[\d,]+", page.inner_text("#verdict"))[0].replace(",", ""))


def names(page):
    """The rows in the table, from the top."""
    return page.locator("#body tr.row .open").all_inner_texts()


def column(page, name):
    """A column of the table, from the top."""
    return page.locator(f"#body tr.row [data-name='{name}']").all_inner_texts()


def chosen(page):
    """The row that the table has marked as selected; None if there is none."""
    found = page.locator("#body tr.chosen .open").all_inner_texts()
    return found[0] if found else None


def said(page):
    """What is read aloud below the plots."""
    return page.inner_text("#map-said")


def cells(page, host):
    """Value and what would fit of all columns of the row that is shown in `host`."""
    found = {}
    for tr in page.locator(f"{host} .profile-table tbody tr").all():
        name, value, fits, deviation, _ = tr.locator("th, td").all_inner_texts()
        found[name] = tuple(
            float(text.replace("\N{MINUS SIGN}", "-")) if text[-1:].isdigit() else None
            for text in (value, fits, deviation)
        )
    return found


def wait_for_change(page, canvas, before):
    """Wait until a plot looks different."""
    page.wait_for_function(
        "([id, old]) => document.getElementById(id).innerHTML !== old",
        arg=[canvas, before],
    )


def wait_for_picture(page, canvas, picture):
    """Wait until a plot looks as it did."""
    page.wait_for_function(
        "([id, old]) => document.getElementById(id).innerHTML === old",
        arg=[canvas, picture],
    )


def reading(plant, row):
    """The blamed reading of a pump, as reasons begin."""
    column = plant.bad[row]
    return f"{column} is {plant.table.loc[row, column]:.4g}, "


def mark_on_the_map(page, row):
    """Where a row is on the map, from its distances; the whole map is shown."""
    page.click("#scale-linear")
    page.locator("#canvas").scroll_into_view_if_needed()
    return page.evaluate(
        """(row) => {
        const data = JSON.parse(document.getElementById("data").textContent);
        const box = document.getElementById("canvas").getBoundingClientRect();
        const edge = { left: 62, right: 16, top: 14, bottom: 46 };
        const i = data.id.indexOf(row);
        const share = (values) => values[i] / (1.06 * Math.max(1, ...values));
        const x = (box.width - edge.left - edge.right) * share(data.score);
        const y = (box.height - edge.top - edge.bottom) * share(data.off);
        return [box.left + edge.left + x, box.bottom - edge.bottom - y];
        }""",
        row,
    )


def by_command(path, *options):
    """What `trueaxis fit` says about the table of a report."""
    table = path.with_suffix(".csv")
    return json.loads(run("fit", table, "--id", "serial", "--json", *options))


def downloaded(page, folder):
    """The CSV file that the page makes of the flagged rows."""
    with page.expect_download() as waiting:
        page.click("#download")
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    with open(path, encoding="utf-8-sig", newline="") as lines:
        return path.name, list(csv.DictReader(lines))


# ---------------------------------------------------------------- the stories


def test_a_manager_reads_which_pumps_are_bad_and_why(plant, pumps_report, open_page):
    """A sentence on top, the worst pumps below, and the reason one click away."""
    page = open_page(pumps_report)
    found = by_command(pumps_report)
    assert verdict_count(page) == found["outliers"]["count"] == len(names(page))
    assert "of 150 rows" in page.inner_text("#verdict")
    assert "a different subspace" in page.inner_text(".change")

    assert names(page) == [record["row"] for record in found["worst_first"]]
    assert names(page)[0] == "P-074" and set(names(page)[:7]) == plant.bad.keys()
    for row, reason in zip(names(page)[:7], column(page, "Reason"), strict=False):
        assert reason.startswith(reading(plant, row)) and "would fit" in reason

    page.locator("#body .open", has_text="P-044").click()
    shown = cells(page, "#body .detail")
    assert list(shown)[0] == "flow" and shown.keys() == set(plant.table)
    value, fits, deviation = shown["flow"]
    assert value == plant.table.loc["P-044", "flow"]
    assert fits == pytest.approx(plant.healthy.loc["P-044", "flow"], abs=2)
    assert deviation < -10  # far too low
    assert max(abs(shown[name][2]) for name in shown if name != "flow") < 4
    page.locator("#body .open", has_text="P-044").click()
    assert page.locator("#body .detail").count() == 0


def test_a_mark_of_the_map_is_pointed_at_and_clicked(plant, pumps_report, open_page):
    """The pump in the far corner: what is it? A click shows all of its columns."""
    page = open_page(pumps_report)
    before = pixels(page, "score-canvas")
    x, y = mark_on_the_map(page, "P-074")
    page.mouse.move(x, y)
    tip = page.locator("#tip")
    tip.wait_for(state="visible")
    for part in ("Row P-074", "north", "both", reading(plant, "P-074")):
        assert part in tip.inner_text()
    page.mouse.click(x, y)
    assert chosen(page) == "P-074" and said(page).startswith("Selected: row P-074")
    power = plant.table.loc["P-074", "power"]
    assert cells(page, "#profile")["power"][0] == pytest.approx(power, rel=1e-3)
    wait_for_change(page, "score-canvas", before)  # it is marked there, too
    page.get_by_role("button", name="Show in the table").click()
    assert cells(page, "#body .detail")["power"][0] == pytest.approx(power, rel=1e-3)
    assert not page.locator("#profile").is_visible()
    page.mouse.move(5, 5)
    tip.wait_for(state="hidden")

    # Picked in the table, it is marked in both plots.
    page.locator("#search").focus()
    plain = {name: pixels(page, name) for name in ("canvas", "score-canvas")}
    page.locator("#body .open", has_text="P-030").press("Enter")
    assert "P-030" in said(page) and reading(plant, "P-030") in said(page)
    for name, picture in plain.items():
        wait_for_change(page, name, picture)
    page.get_by_role("button", name="Show on the map").click()
    assert page.evaluate("document.activeElement.id") == "canvas"
    assert "vibration" in page.inner_text("#profile")


def test_the_view_zooms_and_comes_back(pumps_report, open_page):
    """Most pumps lie in a heap at the corner: zoom in, by button, key and mouse."""
    page = open_page(pumps_report)
    whole, canvas = pixels(page), page.locator("#canvas")
    box = canvas.bounding_box()

    def drag():
        page.mouse.move(box["x"] + 100, box["y"] + 200)
        page.mouse.down()
        page.mouse.move(box["x"] + 250, box["y"] + 300, steps=3)
        page.mouse.up()
        page.mouse.move(5, 5)

    for zoom in (lambda: page.click("#zoom-in"), lambda: canvas.press("+"), drag):
        zoom()
        wait_for_change(page, "canvas", whole)
        page.click("#zoom-reset")
        wait_for_picture(page, "canvas", whole)


def test_the_slider_is_the_level_of_the_command(
    plant, pumps_report, open_page, tmp_path
):
    """Moving the level changes sentence, counts, map and table at once.

    What the page then says is what `trueaxis fit` says with that level.
    """
    page = open_page(pumps_report)
    level, own = page.locator("#level"), pixels(page)
    usual = names(page)
    for key in ("End", "ArrowLeft", "Home"):
        level.press(key)
        at = page.inner_text("#level-said").split()[0]
        found = by_command(pumps_report, "--level", at)
        expected = [record["row"] for record in found["worst_first"]]
        assert verdict_count(page) == found["outliers"]["count"] == len(expected)
        assert f"At level {at}," in page.inner_text("#verdict")
        assert page.inner_text("#count").startswith(f"{len(expected)} row")
        counts = page.locator(".legend [data-count]").all_inner_texts()
        assert sum(map(int, counts)) == 150 and 150 - int(counts[0]) == len(expected)
        name, rows = downloaded(page, tmp_path)
        assert at in name and [row["row"] for row in rows] == expected
        assert plant.bad.keys() <= set(expected)  # beyond every level
        wait_for_change(page, "canvas", own)
    # Lines move even where no row is between the old and the new ones.
    plots = "canvas", "score-canvas"
    strict, lines = verdict_count(page), {name: pixels(page, name) for name in plots}
    level.press("ArrowRight")
    assert verdict_count(page) == strict
    for name, picture in lines.items():
        wait_for_change(page, name, picture)
    page.click("#level-own")
    assert names(page) == usual and verdict_count(page) == len(usual)
    page.locator("#search").focus()
    wait_for_picture(page, "canvas", own)


def test_the_table_is_sorted_searched_and_filtered(pumps_report, open_page):
    """Of many flagged pumps, someone looks for those of her site, or of one kind."""
    page = open_page(pumps_report)
    page.locator("#level").press("End")
    everything = int(page.inner_text("#count").split()[0])
    assert everything > 25 and len(names(page)) == 25  # the table has pages
    first = names(page)
    page.click("#after")
    assert len(names(page)) == everything - 25 and not set(names(page)) & set(first)
    page.click("#before")

    page.click("[data-by=id]")
    assert names(page) == sorted(names(page))
    page.click("[data-by=id]")
    assert names(page) == sorted(names(page), reverse=True)
    page.click("[data-by=off]")
    assert names(page)[0] == "P-074"
    shown = [float(text) for text in column(page, "Orth.")]
    assert shown == sorted(shown, reverse=True)

    page.fill("#search", "SOUTH")
    assert set(column(page, "Label")) == {"south"}
    south = len(names(page))
    assert page.inner_text("#count") == f"{south} of {everything} rows"
    page.fill("#search", "p-074")
    assert names(page) == ["P-074"]
    page.fill("#search", "nothing of this kind")
    assert "No row matches" in page.inner_text("#body")
    page.fill("#search", "")
    page.select_option("#only", label="both")
    assert {kind.strip() for kind in column(page, "Kind")} == {"both"}

    page.locator("#level").press("Home")
    page.select_option("#only", label="regular, nearest to the threshold")
    assert {kind.strip() for kind in column(page, "Kind")} == {"regular"}
    assert set(names(page)) & set(first) and "P-074" not in names(page)


def test_flagged_rows_are_downloaded_as_they_were(
    plant, pumps_report, open_page, tmp_path
):
    """A planner takes the list along to a spreadsheet: reasons, and all columns."""
    page = open_page(pumps_report)
    _, rows = downloaded(page, tmp_path)
    assert [row["row"] for row in rows] == names(page)
    for row in rows:
        for name, value in plant.table.loc[row["row"]].items():
            assert float(row[name]) == pytest.approx(value, rel=1e-6)
    for row in rows[:7]:
        assert (
            row["column"] == plant.bad[row["row"]]
            and row["value"] == row[row["column"]]
        )
        right = plant.healthy.loc[row["row"], row["column"]]
        assert float(row["fitted"]) == pytest.approx(right, abs=2)
        assert float(row["p_value"]) < 1e-9 and row["label"] in {"north", "south"}
    assert f"{len(rows)} rows written" in page.inner_text("#download-said")


def test_scores_are_shown_on_axes_of_choice(pumps_report, open_page):
    """Components, the distance off them, colors by site, and arrows of the columns."""
    page = open_page(pumps_report)
    pictures = [pixels(page, "score-canvas")]

    def look():
        wait_for_change(page, "score-canvas", pictures[-1])
        pictures.append(pixels(page, "score-canvas"))

    page.check("#arrows")
    look()
    page.uncheck("#arrows")
    wait_for_picture(page, "score-canvas", pictures[0])
    pictures.append(pictures[0])
    page.select_option("#color-by", label="color: label")
    look()
    sites = page.locator("#label-legend li").all_inner_texts()
    assert sorted(" ".join(site.split()) for site in sites) == ["north 100", "south 50"]
    page.select_option("#component-x", label="x: component 2")
    look()
    page.select_option("#component-y", label="y: orth. distance")
    look()
    spoken = page.get_attribute("#score-canvas", "aria-label")
    assert "component 2" in spoken and "orthogonal distance" in spoken
    page.locator("#score-canvas").press("Home")
    page.locator("#score-canvas").press("Enter")
    assert chosen(page) == "P-074"
    # The first component is the load, of which power says most.
    component = by_command(pumps_report)["components"][0]["loadings"]
    shown = page.locator("#loadings-shown .name").all_inner_texts()
    assert shown == sorted(component, key=lambda name: -abs(component[name]))
    assert shown[0] == "power"


def test_the_command_on_the_page_gives_the_same_page(pumps_report, open_page, tmp_path):
    """A skeptic copies the command, and gets the same pumps."""
    page = open_page(pumps_report)
    command = page.inner_text("pre code")
    assert [command] == [block.strip() for block in code_blocks(pumps_report)]
    program, *arguments = shlex.split(command)
    assert program == "trueaxis" and arguments[-1] == str(pumps_report)
    again = tmp_path / "again.html"
    run(*arguments[:-1], again)
    assert names(open_page(again)) == names(page)


def test_wrong_and_missing_cells_are_shown(plant, typos, cells_report, open_page):
    """A clerk sees which cells were mistyped, and what should probably be there.

    The pumps are good, and the sentence on top says so.
    """
    page = open_page(cells_report)
    wrong, holes = typos
    top = page.inner_text("#verdict")
    good = re.search(r"(\d+) more rows are good apart from (\d+) wrong cells", top)
    assert good and 6 <= int(good[1]) <= int(good[2]) <= 8

    listed = {}
    for tr in page.locator("#cell-table tbody tr").all():
        row, name, _, fits, _, kind = tr.locator("th, td").all_inner_texts()
        listed[row, name] = float(fits), kind
    assert listed.keys() >= set(wrong.items())
    for row, name in wrong.items():
        fits, kind = listed[row, name]
        assert fits == pytest.approx(plant.healthy.loc[row, name], abs=2.5)
        assert kind == "good" and row not in names(page)
    assert page.locator("#figure-cells svg").is_visible()

    # A hole is no fault, and the mark of its row says which cell it is.
    for row, name in holes.items():
        page.mouse.click(*mark_on_the_map(page, row))
        assert f"Selected: row {row} · regular" in said(page)
        assert f"missing: {name}" in said(page) and row not in names(page)
    assert "NaN" not in page.inner_text("main")


def test_a_spectrum_is_a_curve(spectra_report, open_page):
    """A chemist sees at which wavelength a sample has a foreign peak."""
    page = open_page(spectra_report)
    assert set(names(page)[:2]) == {"S7", "S31"}
    page.locator("#body .open", has_text="S31").click()
    curve = page.locator("#body svg.curves")
    assert curve.locator("path.row-line").first.get_attribute("d").count("L") == 79
    spoken = curve.get_attribute("aria-label")
    assert re.search(r"Row S31 .* Largest deviations: (595|600|605) nm", spoken)
    page.locator("#body").get_by_text("All columns as a table").click()
    shown = page.locator("#body .profile-table tbody tr:visible")
    assert shown.count() == 20
    page.get_by_role("button", name="Show all 80 columns").click()
    assert shown.count() == 80
    assert page.locator("#loadings-shown svg.curves").is_visible()


def test_new_rows_are_judged_by_the_model_of_the_others(tomorrow_report, open_page):
    """Tomorrow's pumps: the page says that the model has not seen them.

    Names of rows, labels and columns are text, whatever they contain.
    """
    page = open_page(tomorrow_report)
    assert verdict_count(page) == 2 and "of 12 rows" in page.inner_text("#verdict")
    assert "New rows." in page.inner_text("header")
    assert sorted(names(page)) == [SCRIPT, "P-212"]
    page.locator("#body .open", has_text="script").click()
    shown = cells(page, "#body .detail")
    assert list(shown)[0] == f"flow {MARKUP}" and len(shown) == 6
    page.locator("#canvas").press("Home")
    page.locator("#tip").wait_for(state="visible")
    page.check("#arrows")
    assert page.evaluate("window.harmed") is None
    assert page.locator("img").count() == 0


def test_a_phone_needs_no_sideways_scrolling(
    pumps_report, cells_report, spectra_report, tomorrow_report, open_page
):
    """On the train, with a thumb: nothing sticks out, also of an opened row."""
    for path in (pumps_report, cells_report, spectra_report, tomorrow_report):
        page = open_page(path, **PHONE)
        if names(page):
            page.locator("#body .open").first.tap()
            assert page.locator("#body .detail").is_visible()
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 400, path.name
        assert page.locator("#canvas").bounding_box()["width"] < 400
        for cell in page.locator("#body tr.row >> nth=0").locator("th, td").all():
            box = cell.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= 400


def test_the_night_is_dark_and_paper_is_light(pumps_report, open_page):
    """Dark where dark pages are preferred. Paper stays white, without any buttons."""

    def shade(page):
        color = page.evaluate("getComputedStyle(document.body).backgroundColor")
        *parts, alpha = [*map(float, re.findall(r"[\d.]+", color)), 1.0][:4]
        return parts if alpha else [255] * 3

    assert min(shade(open_page(pumps_report, color_scheme="light"))) > 230
    page = open_page(pumps_report, color_scheme="dark")
    assert max(shade(page)) < 60
    dark = pixels(page)
    page.locator("#level").press("End")
    page.emulate_media(media="print")
    assert min(shade(page)) > 230
    wait_for_change(page, "canvas", dark)
    for control in ("#level", "#search", "#download", "#zoom-in"):
        assert not page.locator(control).is_visible()
    page.wait_for_function("document.querySelectorAll('tr.row').length > 25")
    assert len(names(page)) == verdict_count(page)  # no pages on paper


def test_the_keyboard_is_enough(pumps_report, open_page):
    """Someone without a mouse reaches everything by Tab, from the top to the end."""
    page = open_page(pumps_report)
    reached = []
    while "component" not in reached and len(reached) < 60:
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
        if reached[-1] == "canvas":
            for row in names(page)[:3]:  # arrows step through them, worst first
                page.keyboard.press("ArrowRight")
                assert said(page).startswith(f"At row {row} ")
            page.keyboard.press("Home")
            page.keyboard.press("Enter")
            assert chosen(page) == "P-074" and page.locator("#profile").is_visible()
            page.keyboard.press("Escape")
            assert said(page) == "No row selected." and chosen(page) is None
        if page.evaluate("document.activeElement.dataset.by") == "id":
            page.keyboard.press("Enter")
            assert names(page) == sorted(names(page))
    order = """level scale-linear zoom-in canvas component-x color-by arrows
        score-canvas search only download component""".split()
    assert [name for name in reached if name in order] == order


def test_without_scripts_there_is_a_plain_table(plant, pumps_report, open_page):
    """A mail program shows no scripts: the sentence and the worst pumps are there."""
    page = open_page(pumps_report, java_script_enabled=False)
    assert "of 150 rows" in page.inner_text("#verdict")
    table = page.locator("noscript tbody tr")
    assert table.first.is_visible() and not page.locator("#map").is_visible()
    rows = table.all_inner_texts()
    assert len(rows) == verdict_count(page)
    assert "P-074" in rows[0] and reading(plant, "P-074") in rows[0]
