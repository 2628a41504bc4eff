"""Read the pages of reports in tests."""

import json
import re

from trueaxis.report.content import text_values
from trueaxis.report.levels import levels_of
from trueaxis.report.page_data import rows_on_page, script_data


def page_text(analysis, **names):
    """The text of a page, with defaults for all names."""
    full = dict(title=None, source=None, origin=None, command=None, seconds=None)
    return text_values(*_shown(analysis), **{**full, **names})


def page_script(analysis):
    """The data of a page's script."""
    return script_data(*_shown(analysis))


def _shown(analysis):
    levels = levels_of(analysis)
    return levels, rows_on_page(levels)


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


def pixels(page, canvas="canvas"):
    """What a canvas shows once it has been drawn."""
    return page.evaluate(
        """async (id) => {
        const frame = () => new Promise(requestAnimationFrame);
        await frame();
        await frame();
        return document.getElementById(id).toDataURL();
        }""",
        canvas,
    )
