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
    assert "?.csv" in path.read_text(encoding="utf-8")
