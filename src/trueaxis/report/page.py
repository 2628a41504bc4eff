"""Fill the template: one HTML file that contains style, script, data and figures."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from trueaxis.report.figures import Drawing

SCRIPTS = (
    "tools.js",
    "levels.js",
    "plot.js",
    "map.js",
    "scores.js",
    "input.js",
    "curve.js",
    "loadings.js",
    "profile.js",
    "table.js",
    "download.js",
    "page.js",
)


def fill_template(
    text: dict[str, Any], points: dict[str, Any], figures: dict[str, Drawing]
) -> str:
    """Put all parts into the template.

    Parameters
    ----------
    text : dict
        See `content.text_values`.
    points : dict
        See `page_data.script_data`.
    figures : dict
        See `figures.draw`.

    Returns
    -------
    str
        The page.
    """
    script = _own_scope("".join(map(_read_part, SCRIPTS)))
    template = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).from_string(_read_part("page.html"))
    page = template.render(
        text,
        style=Markup(_read_part("page.css")),
        script=Markup(script),
        script_hash=_digest(script),
        data=Markup(script_safe(points)),
        figures={
            name: drawing._replace(svg=Markup(drawing.svg))
            for name, drawing in figures.items()
        },
    )
    # File names may contain lone surrogates, which cannot be encoded.
    return page.encode("utf-8", "replace").decode("utf-8")


def script_safe(values: Any) -> str:
    """Return JSON that cannot end the script element that contains it."""
    text = json.dumps(values, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _read_part(name: str) -> str:
    return (resources.files("trueaxis.report") / name).read_text(encoding="utf-8")


def _own_scope(text: str) -> str:
    """Wrap the script in a scope of its own."""
    return f'"use strict";\n(() => {{\n{text}}})();\n'


def _digest(script: str) -> str:
    """Return the hash of the only script that the page's policy allows."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return base64.b64encode(digest).decode("ascii")
