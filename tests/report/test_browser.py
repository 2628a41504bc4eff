"""The report in a real browser: mouse, keys, phones, paper, and no harm."""

import re

import pytest

pytestmark = pytest.mark.soak

EVIL = "</script><script>window.harmed = 1</script><img src=x onerror=harmed=1>"


def rows(page):
    """Names of the rows in the table, from the top."""
    return page.locator("#body tr.row .open").all_inner_texts()


def spot(page, point):
    """Where a point of the map is on the screen; linear axes, whole view."""
    return page.evaluate(
        """(i) => {
        const data = JSON.parse(document.getElementById("data").textContent);
        const box = document.getElementById("canvas").getBoundingClientRect();
        const top = (values) => 1.06 * Math.max(1, ...values);
        const w = box.width - 62 - 16, h = box.height - 14 - 46;
        return {
            x: box.left + 62 + w * data.score[i] / top(data.score),
            y: box.bottom - 46 - h * data.off[i] / top(data.off),
        };
        }""",
        point,
    )


def onto_the_map(page, point):
    page.click("#scale-linear")
    page.locator("#canvas").scroll_into_view_if_needed()
    place = spot(page, point)
    page.mouse.move(place["x"], place["y"])
    return place


def score_spot(page, point):
    """Where a point of the score plot of two components is on the screen."""
    return page.evaluate(
        """(i) => {
        const data = JSON.parse(document.getElementById("data").textContent);
        const box = document.getElementById("score-canvas").getBoundingClientRect();
        const [reach, text] = data.axes.scores, n = data.id.length;
        const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
        const all = Array.from(new Int16Array(bytes.buffer),
            (q) => Math.sinh(q / 32767 * reach));
        const at = [0, 1].map((k) => {
            const values = all.slice(k * n, (k + 1) * n), cut = data.axes.cutoff;
            const low = Math.min(-cut, ...values), high = Math.max(cut, ...values);
            return (values[i] - low + 0.05 * (high - low)) / (1.1 * (high - low));
        });
        const w = box.width - 62 - 16, h = box.height - 14 - 46;
        return { x: box.left + 62 + w * at[0], y: box.bottom - 46 - h * at[1] };
        }""",
        point,
    )


def pixels(page, canvas="canvas"):
    return page.evaluate("(id) => document.getElementById(id).toDataURL()", canvas)


def differ(page, canvas, before):
    """Wait until a canvas looks different."""
    page.wait_for_function(
        "([id, old]) => document.getElementById(id).toDataURL() !== old",
        arg=[canvas, before],
    )


# ---------------------------------------------------------------- map


def test_hovering_tells_row_kind_and_reason(visit):
    page = visit()
    onto_the_map(page, 0)
    tip = page.locator("#tip")
    tip.wait_for(state="visible")
    text = tip.inner_text()
    assert "Row 96" in text and "flow unit wrong" in text and "both" in text
    assert "flow is 8.99, 32.1" in text
    assert "p-value <1e-99" in text
    page.mouse.move(5, 5)
    tip.wait_for(state="hidden")


def test_a_click_selects_in_the_other_plot_and_in_the_table(visit):
    page = visit()
    before = pixels(page, "score-canvas")
    place = onto_the_map(page, 15)
    page.mouse.click(place["x"], place["y"])
    chosen = page.locator("#body tr.chosen")
    name = chosen.locator(".open").inner_text()
    assert f"Selected: row {name}" in page.locator("#map-said").inner_text()
    assert chosen.count() == 1
    differ(page, "score-canvas", before)
    assert f"All columns of row {name}" in page.locator("#profile").inner_text()
    # The page stays where it is, and goes to the table if asked to.
    page.locator("#profile").get_by_text("Show in the table").click()
    page.wait_for_function(
        """() => {
        const box = document.querySelector("tr.chosen").getBoundingClientRect();
        return box.top >= 0 && box.bottom <= innerHeight;
        }"""
    )
    assert page.locator("#body tr.detail").count() == 1
    assert not page.locator("#profile").is_visible()


def test_a_row_of_the_table_is_selected_in_both_plots(visit):
    page = visit()
    before, scores = pixels(page), pixels(page, "score-canvas")
    page.locator("#body tr.row td").first.click()
    differ(page, "canvas", before)
    differ(page, "score-canvas", scores)
    assert "Selected: row 96" in page.locator("#map-said").inner_text()
    detail = page.locator("#body tr.detail")
    assert "flow" in detail.inner_text() and "Would fit" in detail.inner_text()
    detail.get_by_text("contribute to the distances").click()
    assert "all other columns" in detail.inner_text()
    detail.get_by_text("Show on the map").click()
    page.wait_for_function("() => document.activeElement.id === 'canvas'")
    assert page.locator("#profile").is_visible()
    page.locator("#body tr.row .open").first.press("Enter")
    assert page.locator("#body tr.detail").count() == 1
    page.locator("#body tr.row .open").first.press("Enter")
    assert page.locator("#body tr.detail").count() == 0
    assert page.inner_text("#map-said") == "No row selected."


def test_a_mark_of_the_score_plot_is_selected_everywhere(visit):
    page = visit()
    canvas, before = page.locator("#score-canvas"), pixels(page)
    canvas.press("ArrowRight")
    page.locator("#score-tip").wait_for(state="visible")
    assert "Row 96" in page.inner_text("#score-tip")
    canvas.press("Enter")
    differ(page, "canvas", before)
    assert page.locator("#body tr.chosen .open").inner_text() == "96"
    assert "row 96" in page.locator("#profile").inner_text()
    # A click where the selected row is drawn selects it again.
    canvas.press("Escape")
    assert page.locator("#body tr.chosen").count() == 0
    place = score_spot(page, 0)
    page.mouse.click(place["x"], place["y"])
    assert page.locator("#body tr.chosen .open").inner_text() == "96"


def test_a_regular_row_is_selected_without_changing_the_table(visit):
    page = visit()
    listed = rows(page)
    place = onto_the_map(page, 150)
    page.mouse.click(place["x"], place["y"])
    assert "· regular ·" in page.inner_text("#map-said")
    assert rows(page) == listed and page.locator("#body tr.chosen").count() == 0
    assert "not one of them" in page.inner_text("#profile")


def test_the_view_zooms_moves_and_comes_back(visit):
    page = visit()
    page.wait_for_timeout(100)
    whole = pixels(page)
    canvas = page.locator("#canvas")
    box = canvas.bounding_box()
    x, y = box["x"] + 300, box["y"] + 200

    def drag(shift):
        if shift:
            page.keyboard.down("Shift")
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 80, y + 60, steps=3)
        page.mouse.up()
        page.keyboard.up("Shift")

    def wheel():
        canvas.focus()
        page.mouse.move(x, y)
        page.mouse.wheel(0, -200)

    steps = [
        lambda: page.click("#zoom-in"),
        lambda: canvas.press("+"),
        lambda: drag(shift=False),
        wheel,
    ]
    for step in steps:
        step()
        page.wait_for_function("(old) => canvas.toDataURL() !== old", arg=whole)
        zoomed = pixels(page)
        drag(shift=True)
        page.wait_for_function("(old) => canvas.toDataURL() !== old", arg=zoomed)
        page.mouse.move(2, 2)
        canvas.press("0")
        page.wait_for_function("(old) => canvas.toDataURL() === old", arg=whole)
    page.click("#scale-linear")
    assert page.get_attribute("#scale-linear", "aria-pressed") == "true"
    page.click("#scale-log")
    page.wait_for_function("(old) => canvas.toDataURL() === old", arg=whole)


def test_a_page_that_is_scrolled_does_not_zoom(visit):
    page = visit()
    box = page.locator("#canvas").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 30)
    page.mouse.wheel(0, 400)
    page.wait_for_function("() => scrollY > 100")


def last_flagged(page):
    """The flagged row with the largest p-value."""
    data = page.evaluate("JSON.parse(document.getElementById('data').textContent)")
    return data["id"][data["flagged"] - 1]


def test_keys_walk_along_the_flagged_rows(visit):
    page = visit()
    canvas, said = page.locator("#canvas"), page.locator("#map-said")
    canvas.focus()
    canvas.press("ArrowRight")
    assert "row 96" in said.inner_text()
    canvas.press("ArrowDown")
    assert "row 91" in said.inner_text()
    page.locator("#tip").wait_for(state="visible")
    canvas.press("ArrowLeft")
    canvas.press("Enter")
    assert "Selected: row 96" in said.inner_text()
    assert page.locator("#body tr.chosen .open").inner_text() == "96"
    canvas.press("End")
    assert f"row {last_flagged(page)}" in said.inner_text()
    canvas.press("Escape")
    assert said.inner_text() == "No row selected."
    assert page.locator("#body tr.chosen").count() == 0


def test_keys_go_on_from_the_selected_row(visit):
    page = visit()
    canvas, said = page.locator("#canvas"), page.locator("#map-said")
    third, fourth = rows(page)[2:4]
    page.locator("#body tr.row td").nth(2 * 7).click()
    assert f"Selected: row {third}" in said.inner_text()
    canvas.press("Enter")
    assert f"Selected: row {third}" in said.inner_text()
    canvas.press("ArrowRight")
    assert f"At row {fourth}" in said.inner_text()
    place = onto_the_map(page, 15)
    page.mouse.click(place["x"], place["y"])
    picked = page.locator("#body tr.chosen .open").inner_text()
    canvas.press("Enter")
    assert f"Selected: row {picked}" in said.inner_text()


def test_a_finger_pans_and_taps(visit):
    page = visit(has_touch=True, viewport={"width": 390, "height": 800})
    page.click("#scale-linear")
    page.locator("#canvas").scroll_into_view_if_needed()
    place = spot(page, 0)
    page.touchscreen.tap(place["x"], place["y"])
    page.wait_for_function("() => document.querySelector('tr.chosen') !== null")


# ---------------------------------------------------------------- table


def test_headers_sort_both_ways(visit):
    page = visit()
    assert rows(page)[:2] == ["96", "91"]
    head = page.locator("th", has=page.locator("[data-by=p]"))
    assert head.get_attribute("aria-sort") == "ascending"
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert rows(page)[0] == last_flagged(page)
    page.click("[data-by=id]")
    assert rows(page)[:3] == ["20", "21", "22"]  # as numbers
    page.click("[data-by=id]")
    assert rows(page)[:2] == ["155", "154"]
    assert head.get_attribute("aria-sort") is None
    for by, cell in (("excess", 4), ("score", 5), ("off", 6)):
        page.click(f"[data-by={by}]")
        shown = page.locator(f"#body tr.row > :nth-child({cell + 1})").all_inner_texts()
        values = [float(text) for text in shown]
        assert values == sorted(values, reverse=True)


def test_search_and_kind_narrow_the_table(visit):
    page = visit()
    page.fill("#search", "LOOSE")
    assert len(rows(page)) == 6
    assert page.locator("#count").inner_text() == "6 of 33 rows"
    page.select_option("#only", label="both")
    assert "No row matches" in page.locator("#body").inner_text()
    page.fill("#search", "")
    assert len(rows(page)) == 16
    # Selecting a row that is hidden shows all rows again.
    canvas = page.locator("#canvas")
    canvas.press("End")
    canvas.press("Enter")
    assert page.input_value("#only") == ""
    assert page.locator("#body tr.chosen .open").inner_text() == last_flagged(page)


def test_long_tables_have_pages(visit):
    page = visit("many")
    first = rows(page)
    assert len(first) == 25
    page.click("#after")
    assert not set(rows(page)) & set(first)
    page.click("#before")
    assert rows(page) == first
    page.click("#after")
    page.locator("#canvas").press("Home")
    page.locator("#canvas").press("Enter")
    assert rows(page) == first and page.locator("#body tr.chosen").count() == 1
    # There are more flagged rows than the table lists.
    page.locator("#canvas").press("End")
    page.locator("#canvas").press("Enter")
    assert "(not listed in the table)" in page.inner_text("#map-said")
    assert page.locator("#body tr.chosen").count() == 0


# ---------------------------------------------------------------- cells


def place_of(page, row):
    data = page.evaluate("JSON.parse(document.getElementById('data').textContent)")
    return data["id"].index(row)


def test_a_good_row_with_wrong_cells_says_so_on_the_map(visit):
    page = visit("cells")
    place = onto_the_map(page, place_of(page, "pump 17"))
    tip = page.locator("#tip")
    tip.wait_for(state="visible")
    assert "a good row with 3 wrong cells: outlet is" in tip.inner_text()
    page.mouse.click(place["x"], place["y"])
    said = page.locator("#map-said").inner_text()
    assert "Selected: row pump 17" in said and "3 wrong cells" in said
    assert "more rows are good apart from" in page.inner_text(".verdict")


def test_a_bad_row_with_wrong_cells_is_in_the_table(visit):
    page = visit("cells")
    page.fill("#search", "also")
    assert "pump 37" in rows(page) and "pump 17" not in rows(page)
    page.locator("#body .open", has_text="pump 37").click()
    assert "also 1 wrong cell: inlet is" in page.inner_text("#body")
    assert "NaN" not in page.inner_text("main")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_cell_map_shows_on_any_paper(visit, scheme):
    page = visit("cells", color_scheme=scheme)
    figure = page.locator("#figure-cells")
    assert "wrong cell" in figure.inner_text() and "too high" in figure.inner_text()
    color = page.evaluate("getComputedStyle(document.body).color")
    texts = figure.locator("svg text")
    assert texts.count() > 20
    assert texts.first.evaluate("(text) => getComputedStyle(text).fill") == color
    box = figure.locator("svg").bounding_box()
    assert box["width"] > 300 and box["height"] > 300
    cells = page.locator("#cell-table tbody tr")
    assert cells.count() > 10
    assert cells.first.locator("td").last.inner_text() == "good"
    assert cells.last.locator("td").last.inner_text() == "bad"
    assert "3 cells in pump 17: outlet, flow, power" in page.inner_text("main")


def test_all_listed_cells_are_printed(visit):
    page = visit("cells")
    box, table = page.locator(".tall"), page.locator("#cell-table")
    assert box.bounding_box()["height"] < table.bounding_box()["height"]
    page.emulate_media(media="print")
    assert box.bounding_box()["height"] >= table.bounding_box()["height"] - 1


# ---------------------------------------------------------------- harm, phones, paper


def test_names_are_text_and_nothing_runs(visit):
    page = visit()
    page.fill("#search", "script")
    assert EVIL in page.locator("#body").inner_text()
    assert EVIL in page.locator("header").inner_text()
    assert page.evaluate("window.harmed") is None
    assert page.locator("img").count() == 0


@pytest.mark.parametrize("name", ["pump", "clean", "alike", "cells", "line"])
def test_a_phone_needs_no_sideways_scrolling(visit, name):
    page = visit(name, viewport={"width": 390, "height": 800})
    if name == "pump":
        page.locator("#body .open").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#canvas").bounding_box()["width"] < 390


def test_the_night_is_dark_and_paper_is_light(visit):
    def light(page):
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        parts = [int(part) for part in re.findall(r"\d+", colour)]
        return parts[:3] if len(parts) == 3 or parts[3] else [255] * 3

    assert min(light(visit(color_scheme="light"))) > 230
    page = visit(color_scheme="dark")
    assert max(light(page)) < 60
    dark = pixels(page)
    page.emulate_media(media="print")
    assert min(light(page)) > 230
    page.wait_for_function("(old) => canvas.toDataURL() !== old", arg=dark)
    assert not page.locator("#search").is_visible()
    assert len(rows(page)) == 33  # no pages on paper
    page.emulate_media(media="screen")
    page.wait_for_function("() => document.querySelectorAll('tr.row').length === 25")


def test_nothing_flagged_is_a_calm_page(visit):
    page = visit("clean")
    page.locator("#canvas").press("ArrowRight")
    page.locator("#canvas").press("Enter")
    page.locator("#level").press("End")
    assert "nothing to list" in page.inner_text("main")
    assert page.inner_text("#map-said") == "No row selected."


def test_infinitely_far_rows_lie_on_the_edge(visit):
    page = visit("alike")
    assert "∞" in page.inner_text("#body")
    page.locator("#canvas").press("ArrowRight")
    page.locator("#tip").wait_for(state="visible")
    assert "∞" in page.inner_text("#tip")


def test_without_scripts_there_is_a_plain_table(visit):
    page = visit(java_script_enabled=False)
    assert "Scripts are off" in page.inner_text("main")
    assert page.locator("noscript tbody tr").count() == 33
    assert not page.locator("#map").is_visible()
