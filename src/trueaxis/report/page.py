"""Write an analysis as one HTML file: style, script, data and text in a template.

The page is a single file that loads nothing from the network. It needs Jinja2, which is
imported when a page is made: ``pip install 'trueaxis[report]'``.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import platform
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueaxis
from trueaxis._files import atomic_write
from trueaxis.data.threads import ignore_float_errors
from trueaxis.report import sentences
from trueaxis.report.analysis import Analysis, analyze
from trueaxis.report.data import ShownRows, names_of, script_data, shown_rows, tidy
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
FULL_COLOR = 6.0  # standard deviations that have the full color there
MAX_SHOWN = 6  # columns, rows or angles in the section on plain PCA
LEAST_SHARE = 0.0005  # smallest share of a row in such a change that is listed
MAX_WITHOUT_SCRIPT = 50  # rows listed for browsers without scripts
LIBRARIES = ("numpy", "scipy", "scikit-learn")


@ignore_float_errors
def write_report(
    model: Any,
    X: Any,
    path: str | Path,
    *,
    ids: Any = None,
    labels: Any = None,
    new_rows: bool = False,
    **texts: Any,
) -> None:
    """Write a report on a fitted model and rows as one HTML file.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or after a `ColumnScaler`.
    X : array-like of shape (n, D)
        Rows of the fit, or new ones.
    path : str or Path
        File to write; it stays unchanged if writing fails.
    ids, labels, new_rows
        See `analyze`.
    **texts
        Title, source, command and seconds: see `render`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.report import write_report
    >>> X = sensors().X
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(DSWL(2).fit(X), X, path, title="Pump")
    >>> path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    require_jinja()
    found = analyze(model, X, ids=ids, labels=labels, new_rows=new_rows)
    page = render(found, **texts)
    with atomic_write(path) as file:
        file.write(page.encode("utf-8"))


def require_jinja() -> Any:
    """Return Jinja2, which a page needs; raise if it is not installed."""
    try:
        import jinja2
    except ImportError:
        raise ImportError(
            "The report needs Jinja2, which is not installed: "
            "pip install 'trueaxis[report]'"
        ) from None
    return jinja2


@ignore_float_errors
def render(
    found: Analysis,
    *,
    title: str | None = None,
    source: str | None = None,
    command: str | None = None,
    seconds: float | None = None,
) -> str:
    """Return the report on an analysis as HTML.

    Parameters
    ----------
    found : Analysis
        See `analyze`.
    title : str, optional
        Heading; by default it names the source.
    source : str, optional
        Name of the file that the rows come from.
    command : str, optional
        The command that wrote the report.
    seconds : float, optional
        Duration of the fit.

    Returns
    -------
    str
        A complete HTML page.
    """
    jinja2 = require_jinja()
    analysis = with_short_names(found)
    shown = shown_rows(analysis)
    data, n = script_data(analysis, shown), len(analysis.raw)
    worst = names_of(analysis, analysis.flagged[:MAX_WITHOUT_SCRIPT])
    heading = title or (f"Outliers in {source}" if source else "Outlier report")
    script = f'"use strict";\n(() => {{\n{"".join(map(_read_part, SCRIPTS))}}})();\n'
    digest = hashlib.sha256(script.encode("utf-8")).digest()  # the policy allows it
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page: str = environment.from_string(_read_part("page.html")).render(
        title=tidy(heading),
        source=tidy(source or ""),
        verdict=sentences.verdict(analysis),
        change=sentences.change(analysis),
        hints=sentences.hints(analysis),
        key_figures=key_figures(analysis),
        kinds=data["kinds"],
        stop=data["stops"][shown.own],
        has_rows=shown.stops[-1].counts.get("regular", 0) < n,
        has_groups=any("group" in stop.counts for stop in shown.stops),
        scaled=analysis.parts.scaler is not None,
        has_labels=analysis.labels is not None,
        new_rows=analysis.new_rows,
        counted=np.array_equal(analysis.given_ids, np.arange(n)),
        left_out=left_out(analysis, shown),
        without_script=list(zip(worst, data["because"], strict=False)),
        about_cells=sentences.about_cells(analysis),
        finds_wrong=analysis.finds_wrong_cells,
        cell_table=worst_cells(analysis),
        cell_map=cell_map(analysis),
        plain=plain_pca(analysis),
        fit=sentences.fit_sentence(analysis.model, seconds),
        command=command,
        shape="{:,} rows and {:,} columns".format(*analysis.raw.shape),
        steps=[repr(step) for step in analysis.parts if step is not None],
        versions=versions(),
        style=_read_part("page.css"),
        script=script,
        script_hash=base64.b64encode(digest).decode("ascii"),
        data=script_safe(data),
    )
    # File names may contain lone surrogates, which cannot be encoded.
    return page.encode("utf-8", "replace").decode("utf-8")


def with_short_names(analysis: Analysis) -> Analysis:
    """Return the same analysis, with names of columns short enough for a page."""
    names = np.array([tidy(name) for name in analysis.names.tolist()])
    return replace(analysis, diagnosis=replace(analysis.diagnosis, names=names))


def left_out(analysis: Analysis, rows: ShownRows) -> str:
    """Return a sentence about rows that the plots do not show."""
    n, drawn = len(analysis.raw), len(rows.drawn)
    bad, shown = len(analysis.flagged), len(rows.flagged)
    if drawn == n:
        return ""
    which = "all" if shown == bad else f"the worst {shown:,} of"
    return (
        f"The plots show {drawn:,} of {n:,} rows: {which} {bad:,} flagged rows, the "
        f"{len(rows.near):,} regular rows nearest to the threshold, and "
        f"{len(rows.others):,} of the others."
    )


def key_figures(analysis: Analysis) -> list[tuple[str, str]]:
    """Return the names and values of the most important numbers."""
    model, (n, D), bad = analysis.model, analysis.raw.shape, len(analysis.flagged)
    threshold = ("level", f"{analysis.diagnosis.level:g}")
    if model.contamination is not None:
        threshold = ("contamination", f"{model.contamination:g}")
    found = [
        ("rows", f"{n:,}"),
        ("flagged", f"{bad:,} ({percent(bad / n)})"),
        threshold,
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
    if analysis.cells is None:
        return []
    row, column, value, fitted, far, outlier = analysis.wrong_cells.values()
    order = np.lexsort((-np.abs(far), outlier))[:MAX_CELLS]
    names = names_of(analysis, row[order])
    return [
        {
            "id": name,
            "column": str(analysis.names[column[i]]),
            "value": format_number(value[i]),
            "fitted": format_number(fitted[i]),
            "deviation": f"{far[i]:+.1f}".replace("-", "\N{MINUS SIGN}"),
            "row": "bad" if outlier[i] else "good",
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
    share = np.nan_to_num(cells.deviations / FULL_COLOR)
    marks = [
        [
            {
                "called": ("", "missing", "wrong")[odd[i, j]],
                "low": share[i, j] < 0,
                "full": f"{min(abs(share[i, j]), 1.0):.2f}",
            }
            for j in columns
        ]
        for i in rows
    ]
    return {
        "columns": analysis.names[columns].tolist(),
        "rows": list(zip(names_of(analysis, rows), marks, strict=True)),
        "whole": len(columns) == len(analysis.names),
    }


def plain_pca(analysis: Analysis) -> dict[str, Any]:
    """Return how plain PCA differs, and the rows responsible for it."""
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
    """Return the versions of the packages that computed the page."""
    found = {"trueaxis": trueaxis.__version__, "Python": platform.python_version()}
    found |= {name: importlib.metadata.version(name) for name in LIBRARIES}
    return ", ".join(f"{name} {version}" for name, version in found.items())


def script_safe(values: Any) -> str:
    """Return JSON that cannot end the script element that contains it."""
    text = json.dumps(values, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _read_part(name: str) -> str:
    return (resources.files("trueaxis.report") / name).read_text(encoding="utf-8")
