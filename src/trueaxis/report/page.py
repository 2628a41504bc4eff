"""FILL the template: one file that carries style, script, data and figures."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from trueaxis.report.figures import Drawing

SCRIPTS = ("map.js", "hands.js", "table.js", "page.js")


def filled(
    told: dict[str, Any], points: dict[str, Any], figures: dict[str, Drawing]
) -> str:
    """Put all parts into the template.

    Parameters
    ----------
    told : dict
        See `content.words`.
    points : dict
        For the script, see `points.gather`.
    figures : dict
        See `figures.draw`.

    Returns
    -------
    str
        The page.
    """
    script = _own_scope("".join(map(_part, SCRIPTS)))
    template = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).from_string(_part("page.html"))
    page = template.render(
        told,
        style=Markup(_part("page.css")),
        script=Markup(script),
        script_hash=_fingerprint(script),
        data=Markup(script_safe(points)),
        figures={
            name: drawing._replace(svg=Markup(drawing.svg))
            for name, drawing in figures.items()
        },
    )
    # Names of files may hold halves of characters, which no encoding has.
    return page.encode("utf-8", "replace").decode("utf-8")


def script_safe(values: Any) -> str:
    """JSON that cannot end the script element it stands in, whatever it holds."""
    text = json.dumps(values, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _part(name: str) -> str:
    return (resources.files("trueaxis.report") / name).read_text(encoding="utf-8")


def _own_scope(text: str) -> str:
    """Return the script in a scope of its own."""
    return f'"use strict";\n(() => {{\n{text}}})();\n'


def _fingerprint(script: str) -> str:
    """Of the one script that the page's policy lets run."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return base64.b64encode(digest).decode("ascii")
