"""Fill the template: one HTML file that contains style, script, data and text."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import platform
from dataclasses import replace
from importlib import resources
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup
from numpy.typing import NDArray

import trueaxis
from trueaxis.report import sentences
from trueaxis.report.analysis import Analysis, level_of
from trueaxis.report.data import ShownRows, names_of, script_data, shown_rows, tidy
from trueaxis.report.levels import Levels, levels_of
from trueaxis.report.sentences import format_number
from trueaxis.wording import percent

SCRIPTS = (
    "tools.js",
    "levels.js",
    "plot.js",
    "scatter.js",
    "profile.js",
    "table.js",
    "page.js",
)
MAX_CELLS = 100  # wrong cells in the table
MAX_LINES, MAX_COLUMNS = 25, 40  # of the map of cells
FULL = 6.0  # standard deviations that have the full color there
MAX_SHOWN = 6  # columns, rows or angles in the section on plain PCA
LEAST_SHARE = 0.0005  # of a row in such a change that is worth mentioning
MAX_WITHOUT_SCRIPT = 50  # rows listed for browsers without scripts
LIBRARIES = ("numpy", "scipy", "scikit-learn")


def page_of(
    analysis: Analysis,
    title: str | None,
    source: str | None,
    command: str | None,
    seconds: float | None,
) -> str:
    """Return the page; the parameters are those of `trueaxis.report.render`."""
    analysis = with_short_names(analysis)
    levels = levels_of(analysis)
    rows = shown_rows(analysis, levels)
    data = script_data(analysis, levels, rows)
    n = len(analysis.raw)
    worst = analysis.flagged[:MAX_WITHOUT_SCRIPT]
    heading = title or (f"Outliers in {source}" if source else "Outlier report")
    script = _own_scope("".join(map(_read_part, SCRIPTS)))
    template = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).from_string(_read_part("page.html"))
    page = template.render(
        title=tidy(heading),
        source=tidy(source or ""),
        verdict=sentences.verdict(analysis),
        change=sentences.change(analysis),
        hints=sentences.hints(analysis),
        key_figures=key_figures(analysis),
        kinds=data["kinds"],
        stop=data["stops"][levels.own],
        has_rows=bool(levels.stops[-1].counts["regular"] < n),
        has_groups=has_groups(levels),
        scaled=analysis.scaler is not None,
        has_labels=analysis.labels is not None,
        of_the_fit=analysis.of_the_fit,
        counted=np.array_equal(analysis.given_ids, np.arange(n)),
        left_out=left_out(analysis, rows),
        without_script=list(
            zip(names_of(analysis, worst), data["because"], strict=False)
        ),
        about_cells=sentences.about_cells(analysis),
        finds_wrong=analysis.finds_wrong_cells,
        cell_table=worst_cells(analysis),
        cell_map=cell_map(analysis),
        plain=plain_pca(analysis),
        fit=sentences.fit_sentence(analysis, seconds),
        command=command,
        shape="{:,} rows and {:,} columns".format(*analysis.raw.shape),
        steps=[
            repr(step) for step in (analysis.scaler, analysis.model) if step is not None
        ],
        versions=versions(),
        style=Markup(_read_part("page.css")),
        script=Markup(script),
        script_hash=_digest(script),
        data=Markup(script_safe(data)),
    )
    # File names may contain lone surrogates, which cannot be encoded.
    return page.encode("utf-8", "replace").decode("utf-8")


def with_short_names(analysis: Analysis) -> Analysis:
    """Return the same analysis, with names of columns short enough for a page."""
    names = np.array([tidy(name) for name in analysis.names.tolist()])
    if (names == analysis.names).all():
        return analysis
    diagnosis = replace(analysis.diagnosis, names=names)
    return replace(analysis, names=names, diagnosis=diagnosis)


def has_groups(levels: Levels) -> bool:
    """Return whether rows are in a group that stands apart, at any level."""
    return any(stop.counts["group"] for stop in levels.stops)


def left_out(analysis: Analysis, rows: ShownRows) -> str:
    """Return a sentence about rows that the plots do not show."""
    n, drawn = len(analysis.raw), len(rows.drawn)
    bad, shown = len(analysis.flagged), len(rows.flagged)
    if drawn == n:
        return ""
    which = "all" if shown == bad else f"the worst {shown:,} of"
    return (
        f"The plots show {drawn:,} of {n:,} rows: {which} {bad:,} flagged rows, the "
        f"{len(rows.near):,} regular rows nearest to the line, and "
        f"{len(rows.others):,} of the others."
    )


def key_figures(analysis: Analysis) -> list[tuple[str, str]]:
    """Return the names and values of the most important numbers."""
    model, (n, D), bad = analysis.model, analysis.raw.shape, len(analysis.flagged)
    line = ("level", f"{level_of(model):g}")
    if model.contamination is not None:
        line = ("contamination", f"{model.contamination:g}")
    found = [
        ("rows", f"{n:,}"),
        ("flagged", f"{bad:,} ({percent(bad / n)})"),
        line,
        ("columns", f"{D:,}"),
        ("components", f"{model.n_components_:,}"),
        (
            "variance explained",
            sentences.explained(model.explained_variance_ratio_.sum()),
        ),
    ]
    if analysis.cells is not None:
        found.append(("missing cells", f"{analysis.cells.missing.sum():,}"))
        found.append(("wrong cells", f"{analysis.cells.wrong.sum():,}"))
    return found


def worst_cells(analysis: Analysis) -> list[dict[str, str]]:
    """Return the largest deviations of wrong cells, those of good rows first."""
    cells, flagged = analysis.wrong_cells, analysis.diagnosis.flagged
    order = np.lexsort((-np.abs(cells.deviation), flagged[cells.row]))[:MAX_CELLS]
    names = names_of(analysis, cells.row[order])
    return [
        {
            "id": name,
            "column": str(analysis.names[cells.column[i]]),
            "value": format_number(cells.value[i]),
            "fitted": format_number(cells.fitted[i]),
            "deviation": f"{cells.deviation[i]:+.1f}".replace("-", "−"),
            "row": "bad" if flagged[cells.row[i]] else "good",
        }
        for i, name in zip(order, names, strict=True)
    ]


def cell_map(analysis: Analysis) -> dict[str, Any] | None:
    """Return the rows and columns with most wrong or missing cells, as a picture."""
    cells = analysis.cells
    if cells is None or not (cells.wrong | cells.missing).any():
        return None
    odd = 2 * cells.wrong + cells.missing  # the wrong ones first
    rows = np.argsort(-odd.sum(axis=1), kind="stable")[:MAX_LINES]
    rows = rows[odd[rows].any(axis=1)]
    columns = np.sort(np.argsort(-odd.sum(axis=0), kind="stable")[:MAX_COLUMNS])
    share = np.nan_to_num(cells.deviations[np.ix_(rows, columns)]) / FULL
    marks = [
        [
            {
                "called": "missing"
                if cells.missing[i, j]
                else "wrong"
                if cells.wrong[i, j]
                else "",
                "low": share[y, x] < 0,
                "full": f"{min(abs(share[y, x]), 1.0):.2f}",
            }
            for x, j in enumerate(columns)
        ]
        for y, i in enumerate(rows)
    ]
    return {
        "columns": [str(analysis.names[j]) for j in columns],
        "rows": list(zip(names_of(analysis, rows), marks, strict=True)),
        "whole": len(columns) == len(analysis.names),
    }


def plain_pca(analysis: Analysis) -> dict[str, Any]:
    """Return how plain PCA differs, and because of which rows."""
    effect = analysis.plain
    return {
        "angles": [f"{angle:.1f}°" for angle in effect.angles[:MAX_SHOWN]],
        "tilt": responsible_rows(analysis, effect.tilt_share),
        "shift": responsible_rows(analysis, effect.shift_share),
    }


def responsible_rows(analysis: Analysis, share: NDArray[Any]) -> list[tuple[str, str]]:
    """Return the rows with the largest shares in a change."""
    order = np.argsort(-share, kind="stable")
    rows = order[share[order] >= LEAST_SHARE][:MAX_SHOWN]
    return list(zip(names_of(analysis, rows), map(percent, share[rows]), strict=True))


def versions() -> str:
    """Return the versions of what has computed the page."""
    found = [(name, importlib.metadata.version(name)) for name in LIBRARIES]
    found = [
        ("trueaxis", trueaxis.__version__),
        ("Python", platform.python_version()),
        *found,
    ]
    return ", ".join(f"{name} {version}" for name, version in found)


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
