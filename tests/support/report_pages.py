"""Read the pages of reports in tests."""

import json
import re


def embedded_data(page):
    """The data of the page's script."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)<', page)
    return json.loads(text)


def assert_self_contained(page):
    """Nothing in the page makes a browser ask for anything."""
    assert "http:" not in page and "https:" not in page
    assert not re.findall(r"<(?:link|iframe|img|object|embed|base)\b", page)
    assert not re.findall(r"@import|\bsrc=", page)
    targets = re.findall(r'(?:href="|url\()([^)"]*)', page)
    assert all(target.startswith(("#", "data:image/png")) for target in targets)


def pixels(page, plot="canvas"):
    """What a plot shows: its elements, places and classes."""
    return page.evaluate("(id) => document.getElementById(id).innerHTML", plot)
