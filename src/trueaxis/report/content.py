"""Collect the text and small tables of the report, as values for the template."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueaxis
from trueaxis.diagnostics import KINDS
from trueaxis.diagnostics.influence import responsible
from trueaxis.plots.canvas import percent
from trueaxis.report.analysis import Analysis, level_of
from trueaxis.report.cells import cell_figures, describe_cells
from trueaxis.report.levels import Levels
from trueaxis.report.page_data import PageRows, kind_marks, rows_not_listed, tidy
from trueaxis.report.sentences import (
    KIND_MEANINGS,
    KIND_NAMES,
    chance,
    change,
    explained,
    fit_sentence,
    format_number,
    format_p,
    hints,
    reason,
    verdict,
)
from trueaxis.report.snippet import Origin, code

MAX_SHOWN = 6  # columns, rows or angles in the section on plain PCA
MAX_WITHOUT_SCRIPT = 50  # rows of the table for browsers without scripts
LIBRARIES = ("numpy", "scipy", "scikit-learn")


def text_values(
    levels: Levels,
    rows: PageRows,
    *,
    title: str | None,
    source: str | None,
    origin: Origin | None,
    command: str | None,
    seconds: float | None,
) -> dict[str, Any]:
    """Return the text of the page, apart from the map, the long table and the figures.

    Parameters
    ----------
    levels : Levels
    rows : PageRows
        The rows that the page shows.
    title, source, origin, command, seconds
        See `trueaxis.report.render`.

    Returns
    -------
    dict
        Strings, numbers and lists of them, by their names in the template.
    """
    heading = title or (f"Outliers in {source}" if source else "Outlier report")
    analysis = levels.analysis
    n = len(analysis.ids)
    groups = any(stop.counts["group"] for stop in levels.stops)
    return {
        "title": tidy(heading),
        "source": tidy(source or ""),
        "verdict": verdict(analysis),
        "change": change(analysis),
        "chance": chance(analysis),
        "hints": hints(analysis),
        "key_figures": key_figures(analysis),
        "kinds": [
            {
                "name": kind,
                "called": KIND_NAMES[kind],
                "means": KIND_MEANINGS[kind],
                "count": f"{analysis.counts.get(kind, 0):,}",
                "place": KINDS.index(kind),
                **mark,
            }
            for kind, mark in kind_marks().items()
            if kind != "group" or groups
        ],
        "has_rows": bool(levels.stops[-1].flagged),
        "has_groups": groups,
        "scaled": analysis.scaler is not None,
        "has_labels": analysis.labels is not None,
        "has_weights": hasattr(analysis.model, "weights_"),
        "of_the_fit": analysis.of_the_fit,
        "counted": bool((analysis.ids == np.arange(n).astype(str)).all()),
        "left_out": left_out(levels, rows),
        "worst": worst_rows(analysis),
        "cells": describe_cells(analysis),
        "plain": plain_pca(analysis),
        "fit": fit_sentence(analysis, seconds),
        "repeat": repeat(analysis, origin, command),
    }


def key_figures(analysis: Analysis) -> list[tuple[str, str]]:
    """Return the names and values of the most important numbers."""
    model, (n, D) = analysis.model, analysis.raw.shape
    share = model.explained_variance_ratio_.sum()
    bad = len(analysis.flagged)
    return [
        ("rows", f"{n:,}"),
        ("flagged", f"{bad:,} ({percent(bad / n)})"),
        line_figure(model),
        ("columns", f"{D:,}"),
        ("components", f"{model.n_components_:,}"),
        ("variance explained", explained(share)),
        *cell_figures(analysis),
    ]


def line_figure(model: Any) -> tuple[str, str]:
    """Return the name and value of the parameter that draws the line."""
    if model.contamination is None:
        return "level", f"{level_of(model):g}"
    return "contamination", f"{model.contamination:g}"


def left_out(levels: Levels, rows: PageRows) -> dict[str, str]:
    """Return sentences about what the plots and the table do not show."""
    analysis = levels.analysis
    bad, n = len(analysis.flagged), len(analysis.ids)
    shown, bad_shown = len(rows.drawn), len(rows.points.flagged)
    notes = {"map": "", "table": rows_not_listed(levels, levels.own, rows)}
    if shown < n:
        which = "all" if bad_shown == bad else f"the worst {bad_shown:,} of"
        near = len(rows.points.near)
        notes["map"] = (
            f"The plots show {shown:,} of {n:,} rows: {which} {bad:,} flagged rows, "
            f"and {shown - bad_shown:,} regular rows, the {near:,} nearest to the line "
            "and others, evenly spaced."
        )
    return notes


def worst_rows(analysis: Analysis) -> list[dict[str, str]]:
    """Return the worst rows, for browsers without scripts."""
    d = analysis.diagnosis
    score, off = d.score_ratio, d.orthogonal_ratio
    worst = analysis.flagged[:MAX_WITHOUT_SCRIPT]
    p_values = np.exp(d.log_p[worst])
    return [
        {
            "id": analysis.ids[row],
            "label": "" if analysis.labels is None else analysis.labels[row],
            "kind": KIND_NAMES[d.kind[row]],
            "p": format_p(p),
            "score": format_number(score[row]),
            "off": format_number(off[row]),
            "because": reason(analysis, row),
        }
        for row, p in zip(worst, p_values, strict=True)
    ]


def plain_pca(analysis: Analysis) -> dict[str, Any]:
    """Return how plain PCA differs: angles, shifted means, and the rows behind it."""
    effect, shown = analysis.plain, analysis.most_shifted[:MAX_SHOWN]
    return {
        "angles": [f"{angle:.1f}" for angle in effect.angles[:MAX_SHOWN]],
        "more_angles": max(len(effect.angles) - MAX_SHOWN, 0),
        "columns": [
            {
                "name": analysis.names[j],
                "robust": format_number(analysis.center[j]),
                "plain": format_number(analysis.plain_center[j]),
                "shift": format_difference(analysis.shift[j]),
            }
            for j in shown
        ],
        "more_columns": analysis.raw.shape[1] - len(shown),
        "tilt": responsible_rows(analysis, effect.tilt_share),
        "shift": responsible_rows(analysis, effect.shift_share),
    }


def responsible_rows(analysis: Analysis, share: NDArray[Any]) -> list[dict[str, str]]:
    """Return the rows with the largest shares in a change."""
    return [
        {
            "id": analysis.ids[row],
            "kind": KIND_NAMES[analysis.diagnosis.kind[row]],
            "share": percent(share[row]),
        }
        for row in responsible(share)[:MAX_SHOWN]
    ]


def repeat(
    analysis: Analysis, origin: Origin | None, command: str | None
) -> dict[str, Any]:
    """Return parameters, versions, and code to repeat the analysis."""
    steps = [step for step in (analysis.scaler, analysis.model) if step is not None]
    n, D = analysis.raw.shape
    return {
        "command": command,
        "shape": f"{n:,} rows, {D:,} columns",
        "code": code(analysis, origin),
        "parameters": [
            {
                "step": type(step).__name__,
                "values": [
                    (name, repr(value)) for name, value in step.get_params().items()
                ],
            }
            for step in steps
        ],
        "versions": [
            ("trueaxis", trueaxis.__version__),
            ("Python", platform.python_version()),
            *((name, importlib.metadata.version(name)) for name in LIBRARIES),
        ],
    }


def format_difference(x: float) -> str:
    """Return a number with its sign and three digits."""
    return f"{x:+.3g}".replace("-", "−")
