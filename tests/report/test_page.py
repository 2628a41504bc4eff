"""The page as a whole: for every model, harmless, legible, and whole or not there."""

import base64
import hashlib
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from nasty import nasty
from report_pages import assert_self_contained, embedded_data

from trueaxis import DSWL
from trueaxis.datasets import planted, sensors
from trueaxis.methods import METHODS
from trueaxis.report import analyze, render, write_report
from trueaxis.report.page import script_safe
from trueaxis.report.sentences import verdict

EVIL = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    'it\'s "quoted" & <b>bold</b>\nsecond line\u2028third',
    "\U0001f600 \u202eright to left \u05d0",
    "$\\frac{1}{2}$ {{ 7 * 7 }} {% raw %}",
    "long " * 2000,
]


@pytest.mark.slow
def test_the_page_says_what_the_analysis_says(pump, page):
    assert verdict(pump) in page and "turned by 52 degrees" in page
    assert "<title>Pump</title>" in page and "<code>trueaxis report</code>" in page
    assert "<code>DSWL(n_components=2)</code>" in page
    assert "Rows are numbered from 0." in page and "New rows" not in page
    assert "Separate cluster" not in page
    assert_self_contained(page)
    # The same analysis gives the same page.
    options = {"title": "Pump", "source": "pump.csv", "command": "trueaxis report"}
    assert render(pump, **options) == page


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_report(name):
    X = planted("scatter", n=60, n_features=6, n_components=2, share=0.1).X
    model = METHODS[name](2).fit(X)
    page = render(analyze(model, X))
    assert_self_contained(page)
    assert f"The fit of {type(model).__name__} with" in page


@pytest.mark.soak
@pytest.mark.parametrize("case", [c for c in nasty() if "1e300" not in c[0]],
                         ids=lambda case: case[0])  # fmt: skip
def test_awkward_tables_have_a_report(case):
    _, X, k = case
    page = render(analyze(DSWL(k).fit(X), X))
    assert_self_contained(page)
    assert len(embedded_data(page)["id"]) == len(X)


def test_nothing_flagged_is_said():
    X = planted("none", n=30, n_features=4, random_state=3).X
    page = render(analyze(DSWL(2).fit(X), X[:3] * 0 + X.mean(axis=0)))
    assert "nothing to list" in page and 'id="rows"' not in page


# ---------------------------------------------------------------- harm


@pytest.mark.slow
def test_names_of_any_kind_are_only_text():
    X = pd.DataFrame(sensors().X, columns=EVIL)
    ids = [EVIL[i % 6] + str(i) for i in range(200)]
    analysis = analyze(DSWL(2).fit(X), X, ids=ids, labels=ids)
    source = f"{EVIL[1]} \udc80.csv"
    page = render(analysis, title=EVIL[0], source=source, command=EVIL[2])
    assert "\N{REPLACEMENT CHARACTER}.csv" in page
    assert page.count("<script") == 2 and page.count("</script>") == 2
    assert "<img" not in page and "<b>bold" not in page
    assert "{{ 7 * 7 }}" in page and len(page) < 1e6
    assert "\u2028" not in page.split('id="data"')[1]
    data = embedded_data(page)
    assert data["columns"][0] == EVIL[0] and data["id"][0] in ids
    assert data["columns"][3] == EVIL[3].replace("\u202e", "")


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


# ---------------------------------------------------------------- files


def test_what_is_missing_is_named(pump, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"needs Jinja2.*trueaxis\[report\]"):
        write_report(pump.model, pump.raw, tmp_path / "report.html")
    with pytest.raises(ImportError, match="Jinja2"):
        render(pump)


# ---------------------------------------------------------------- in a browser


def select_first(page):
    page.locator("#canvas").press("Home")
    page.locator("#canvas").press("Enter")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["pump", "cells"])
def test_everyone_can_use_the_page(visit, axe, name, scheme):
    """No serious finding of axe-core."""
    page = visit(name, color_scheme=scheme)
    select_first(page)
    page.locator("#level").press("End")
    page.locator("#body .open").first.click()
    page.evaluate(axe)
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    bad = [rule for rule in found if rule["impact"] in ("serious", "critical")]
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in bad] == []


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", ["pump", "cells", "many", "alike", "line"])
def test_no_content_overflows_its_page(visit, name, width):
    page = visit(name, viewport={"width": width, "height": 800})
    if page.locator("#arrows").is_enabled():
        page.check("#arrows")
    select_first(page)
    page.locator("#body .open").first.click()
    out = page.evaluate(
        """() => {
        const wide = document.documentElement.clientWidth;
        const all = [...document.querySelectorAll("main *, header *")];
        const found = all.filter((one) => !one.closest(".box, pre, svg")
            && one.getBoundingClientRect().right > wide + 1);
        return found.map((one) => one.outerHTML.slice(0, 80));
        }"""
    )
    assert out == [] and page.evaluate("document.documentElement.scrollWidth") <= width
    # Titles and ticks of the plots are inside them.
    for plot in ("canvas", "score-canvas"):
        boxes = page.evaluate(
            """(id) => {
            const plot = document.getElementById(id);
            const inner = plot.getBoundingClientRect();
            return [...plot.querySelectorAll(":scope > text")].map((text) => {
                const box = text.getBoundingClientRect();
                return [box.left - inner.left, inner.right - box.right,
                        box.top - inner.top, inner.bottom - box.bottom];
            });
            }""",
            plot,
        )
        assert len(boxes) >= 6 and min(map(min, boxes)) > -1


def test_formulas_in_a_download_are_only_text(visit, tmp_path):
    X = sensors().X
    path, ids = tmp_path / "formulas.html", [f"=1+{i}" for i in range(len(X))]
    write_report(DSWL(2).fit(X), X, path, ids=ids, labels=np.full(len(X), '@a,"b"'))
    page = visit("pump")
    page.goto(path.as_uri())
    with page.expect_download() as waiting:
        page.click("#download")
    text = waiting.value.path().read_text(encoding="utf-8-sig")
    assert text.splitlines()[1].startswith('\'=1+96,"\'@a,""b""",both,')
