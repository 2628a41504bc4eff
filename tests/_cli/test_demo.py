"""The demo: what it prints and writes."""

import pytest
from command_line import run


@pytest.mark.slow
def test_the_demo_tells_who_was_flagged_and_where_the_report_is(folder):
    page = folder / "demo.html"
    printed = run("demo", "-o", page)
    assert "33 of 200 rows" in printed and "plain PCA is 51.7 degrees off" in printed
    assert f"Report saved to {page}" in printed and page.as_uri() in printed
    assert "over-run" in page.read_text(encoding="utf-8")
