"""Nothing in the data can harm the page or its reader."""

import base64
import hashlib
import json
import re

import pandas as pd
import pytest
from report_pages import embedded_data, page_text

from trueaxis import DSWL
from trueaxis.datasets import sensors
from trueaxis.report import render, write_report
from trueaxis.report.analysis import analyse
from trueaxis.report.page import script_safe

EVIL = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    'it\'s "quoted" & <b>bold</b>\nsecond line\u2028third',
    "\U0001f600 \u202eright to left \u05d0",
    "$\\frac{1}{2}$ {{ 7 * 7 }} {% raw %}",
    "long " * 2000,
]


@pytest.mark.slow
def test_names_of_any_kind_are_only_text():
    table = sensors()
    X = pd.DataFrame(table.X, columns=EVIL)
    ids = [EVIL[i % 6] + str(i) for i in range(200)]
    analysis = analyse(DSWL(2).fit(X), X, ids=ids, labels=ids)
    page = render(analysis, title=EVIL[0], source=EVIL[1], command=EVIL[2])
    assert page.count("<script") == 2 and page.count("</script>") == 2
    assert "<img" not in page and "<b>bold" not in page
    assert "{{ 7 * 7 }}" in page and len(page) < 1e6
    assert "\u2028" not in page.split('id="data"')[1]
    data = embedded_data(page)
    assert data["columns"][0] == EVIL[0]
    assert data["columns"][3] == EVIL[3].replace("\u202e", "")
    assert data["id"][0] in ids
    assert len(page_text(analysis, title=EVIL[-1], source=EVIL[-1])["title"]) < 100


def test_the_policy_lets_only_our_script_run(page):
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page.replace("&#39;", "'")
    assert "default-src 'none'" in page


def test_json_cannot_leave_its_script():
    text = script_safe(["</script>", "&amp;", "\u2028\u2029"])
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == ["</script>", "&amp;", "\u2028\u2029"]
    with pytest.raises(ValueError):
        script_safe([float("nan")])


@pytest.mark.slow
def test_halves_of_characters_can_be_written(pump, tmp_path):
    path = tmp_path / "report.html"
    write_report(pump.model, pump.raw, path, source="\udc80.csv")
    assert "\N{REPLACEMENT CHARACTER}.csv" in path.read_text(encoding="utf-8")


# ---------------------------------------------------------------- in a browser


def select_first(page):
    if page.locator("#rows").count():
        page.locator("#canvas").press("ArrowRight")
        page.locator("#canvas").press("Enter")


def findings(page, axe, part="body"):
    """Serious findings of axe-core in a part of the page."""
    page.evaluate(axe)
    # Thousands of paths in figures take seconds, and have no rules.
    context = {"include": [[part]], "exclude": [[".drawing svg"]]}
    run = "(context) => axe.run(context, { resultTypes: ['violations'] })"
    found = page.evaluate(run, context)["violations"]
    return [
        (rule["id"], node["target"])
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["pump", "cells", "spectra"])
def test_everyone_can_use_the_page(visit, axe, name, scheme):
    page = visit(name, color_scheme=scheme)
    select_first(page)
    for fold in page.locator("#profile summary").all():
        fold.click()
    if page.locator("#colour-by").count():
        page.select_option("#colour-by", "label")
    page.locator("#level").press("End")
    assert findings(page, axe) == []
    page.locator("#body .open").first.click()
    assert findings(page, axe, "#rows") == []


def test_axe_would_find_something(visit, axe):
    page = visit("clean")
    assert findings(page, axe) == []
    page.evaluate("""() => {
        byId = (id) => document.getElementById(id);
        byId("level").labels[0].remove();
        byId("level").removeAttribute("title");
        byId("verdict").style.color = "#bbb";
    }""")
    assert {rule for rule, _ in findings(page, axe)} == {"label", "color-contrast"}


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", ["pump", "cells", "spectra", "many", "alike", "line"])
def test_nothing_is_cut_off(visit, name, width):
    page = visit(name, viewport={"width": width, "height": 800})
    if page.locator("#arrows").is_enabled():
        page.check("#arrows")
    select_first(page)
    assert cut_off(page) == []
    page.locator("#body .open").first.click()
    assert cut_off(page) == []


def cut_off(page):
    """Elements that stick out of the page, apart from those in boxes that scroll."""
    return page.evaluate(
        """() => {
        const wide = document.documentElement.clientWidth, out = [];
        if (document.documentElement.scrollWidth > wide) out.push("page");
        for (const one of document.querySelectorAll("main *, header *")) {
            const box = one.getBoundingClientRect();
            if (!box.width || one.closest(".box, pre, .drawing, svg, .grid")) continue;
            const said = one.outerHTML.slice(0, 80);
            if (box.right > wide + 1 || box.left < -1) out.push(said);
            if (one.children.length === 0 && one.scrollWidth > one.clientWidth + 1
                && getComputedStyle(one).overflow === "hidden"
                && getComputedStyle(one).textOverflow !== "ellipsis")
                out.push(said);
        }
        return out;
        }"""
    )


@pytest.mark.parametrize("name", ["pump", "cells", "spectra", "many"])
def test_nothing_is_cut_off_on_paper(visit, name):
    page = visit(name)
    select_first(page)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 with margins
    page.wait_for_timeout(100)
    wide = page.evaluate(
        """() => Math.max(...[...document.querySelectorAll("body *")]
        .filter((one) => !one.closest("svg"))
        .map((one) => one.getBoundingClientRect().right))"""
    )
    assert wide <= 719
    assert (
        page.locator("#canvas").is_visible() and page.locator("#profile").is_visible()
    )
    for control in ("#level", "#search", "#download", "#component-x", "#component"):
        assert not page.locator(control).is_visible()
    assert len(page.pdf()) > 20_000


@pytest.mark.parametrize("width", [1280, 400])
def test_the_first_screen_says_what_matters(visit, width):
    page = visit(viewport={"width": width, "height": 800})
    for part in ("#verdict", ".change", "#level", "#level-said"):
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 800
    assert page.locator("#canvas").bounding_box()["y"] < (450 if width > 1000 else 720)


def test_the_keyboard_is_enough(visit):
    page = visit()
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
        if reached[-1] == "level":
            page.keyboard.press("ArrowRight")
        if reached[-1] == "score-canvas":
            page.keyboard.press("ArrowRight")
            page.keyboard.press("Enter")
        if reached[-1] == "component":
            break
    order = ["level", "level-own", "scale-linear", "zoom-in", "canvas", "component-x",
             "component-y", "colour-by", "arrows", "score-canvas", "search", "only",
             "download", "box", "component"]  # fmt: skip
    assert [name for name in reached if name in order] == order
    assert "0.05" in page.inner_text("#level-said")
    assert page.inner_text("#map-said").startswith("Selected: row 96")
    assert page.locator("#profile").is_visible()
