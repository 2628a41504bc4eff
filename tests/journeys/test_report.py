"""A manager gets the report by mail, and opens it in a browser."""

import re

import pytest
from command_line import run

WAIT = 60_000  # ms; a condition, never a pause


@pytest.fixture
def open_page(browser):
    """Open a page; errors of its script, and requests to anywhere, fail the test."""
    contexts, bad = [], []

    def go(path, **options):
        context = browser.new_context(
            viewport={"width": 1280, "height": 900}, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT)
        page.on("pageerror", lambda error: bad.append(str(error)))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("file:", "data:", "blob:"))
                or bad.append(request.url)
            ),
        )
        page.goto(path.as_uri())
        return page

    yield go
    for context in contexts:
        context.close()
    assert bad == []


def flagged(page):
    """The number of flagged rows in the sentence at the top."""
    return int(re.search(r"(\d+) of 150", page.inner_text(".verdict"))[1])


def test_a_manager_reads_the_report(pumps, tmp_path, open_page):
    """One page tells how many pumps are bad, which, and why; the level can be moved."""
    path = tmp_path / "pumps.html"
    run("report", pumps.save(tmp_path), "--id", "serial", "-o", path)
    page = open_page(path)
    usual = flagged(page)
    assert 7 <= usual <= 15

    # The worst row is first in the table; a click tells why.
    names = page.locator("#body tr.row .open")
    assert names.first.inner_text() == "P-074"
    assert pumps.bad.keys() <= set(names.all_inner_texts())
    names.filter(has_text="P-044").click()
    page.get_by_text("Selected: row P-044").first.wait_for()
    detail = page.locator("#body tr.detail")
    detail.wait_for()
    assert "flow" in detail.inner_text() and "Would fit" in detail.inner_text()

    # Keys walk over the map, and Enter selects a point.
    page.locator("#canvas").press("Home")
    page.locator("#canvas").press("Enter")
    page.get_by_text("Selected: row P-074").first.wait_for()
    assert "power" in page.locator("#profile").inner_text()

    # The slider changes how many rows are flagged, in the sentence and in the table.
    level = page.locator("#level")
    before = page.inner_text("#level-said")
    level.press("End")
    page.wait_for_function(
        "(old) => document.querySelector('#level-said').innerText !== old", arg=before
    )
    at_end = names.count()
    level.press("Home")
    page.wait_for_function(
        "(n) => document.querySelectorAll('#body tr.row').length !== n", arg=at_end
    )
    assert names.count() != at_end
    assert min(at_end, names.count()) >= 7  # the bad ones are beyond every level


def test_the_report_is_dark_at_night(pumps, tmp_path, open_page):
    """Who prefers dark pages gets one."""
    path = tmp_path / "pumps.html"
    run("report", pumps.save(tmp_path), "--id", "serial", "-o", path)
    shades = {}
    for scheme in ("light", "dark"):
        page = open_page(path, color_scheme=scheme)
        color = page.evaluate("getComputedStyle(document.body).backgroundColor")
        shades[scheme] = [int(part) for part in re.findall(r"\d+", color)][:3]
    assert max(shades["dark"]) < 80 and sum(shades["light"]) != sum(shades["dark"])
