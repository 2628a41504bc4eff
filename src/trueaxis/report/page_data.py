"""Collect the data of the report's map and table, as values for JSON.

The points of the map are the flagged rows, worst first, and then regular ones, so that
row i of the table is point i of the map.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.diagnostics import KINDS
from trueaxis.plots.canvas import FAR, LOOKS, shorten
from trueaxis.report.analysis import Analysis
from trueaxis.report.cells import regular_notes
from trueaxis.report.sentences import (
    KIND_MEANINGS,
    KIND_NAMES,
    format_p,
    reason,
)

MAX_LISTED = 2000  # rows of the table
MAX_FLAGGED = 10_000  # points of flagged rows
MAX_POINTS = 20_000
MAX_CONTRIBUTIONS = 5  # columns listed one by one for each row
MAX_NAME = 80  # characters; longer names are cut in the middle
# Control characters that change the direction of all text after them. Letters do not.
DIRECTION_MARKS = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
# Outlines of the marks in `LOOKS`: centered at 0, with half the width as unit.
OUTLINES = {
    "o": "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1-1 0Z",
    "s": "M-.9-.9H.9V.9H-.9Z",
    "^": "M0-1.1L1.05.85H-1.05Z",
    "D": "M0-1.2L1.2 0L0 1.2L-1.2 0Z",
    "v": "M0 1.1L1.05-.85H-1.05Z",
}


def script_data(analysis: Analysis) -> dict[str, Any]:
    """Return everything that the map and the table show.

    Parameters
    ----------
    analysis : Analysis

    Returns
    -------
    dict
        Values that JSON can represent.
    """
    drawn, listed = rows_to_draw(analysis), analysis.flagged[:MAX_LISTED]
    labels, d = analysis.labels, analysis.diagnosis
    shares = analysis.shares(listed)
    notes = regular_notes(analysis, drawn)
    return {
        "columns": analysis.names.tolist(),
        "kinds": [
            {
                "name": kind,
                "called": KIND_NAMES[kind],
                "means": KIND_MEANINGS[kind],
                **mark,
            }
            for kind, mark in kind_marks().items()
        ],
        "id": analysis.ids[drawn].tolist(),
        "label": None if labels is None else labels[drawn].tolist(),
        "kind": [KINDS.index(kind) for kind in d.kind[drawn]],
        "score": rounded(d.score_ratio[drawn]),
        "off": rounded(d.orthogonal_ratio[drawn]),
        "p": [format_p(p) for p in d.p_value[listed]],
        "excess": rounded(d.excess[listed]),
        "because": [reason(analysis, row) for row in listed],
        "scoreParts": largest_shares(shares.score),
        "offParts": largest_shares(shares.orthogonal),
        "flagged": int(min(len(analysis.flagged), MAX_FLAGGED)),
        "far": FAR,
        **({} if notes is None else {"notes": notes}),
    }


def kind_marks() -> dict[str, dict[str, str]]:
    """Return the color and outline of every kind."""
    return {
        kind: {"colour": LOOKS[kind][0], "outline": OUTLINES[LOOKS[kind][1]]}
        for kind in KINDS
    }


def tidy(text: str) -> str:
    """Shorten a name, and remove characters that would reverse the text after it."""
    return shorten(text.translate(DIRECTION_MARKS), MAX_NAME)


def shorten_names(analysis: Analysis) -> Analysis:
    """Return the same analysis, with names short enough for a page."""
    names, labels = distinct(analysis.names), analysis.labels
    return replace(
        analysis,
        names=names,
        ids=distinct(analysis.ids),
        labels=None if labels is None else distinct(labels),
        diagnosis=replace(analysis.diagnosis, names=names),
    )


def distinct(texts: NDArray[np.str_]) -> NDArray[np.str_]:
    """Tidy names, and keep different names different."""
    short: dict[str, str] = {}
    taken: Counter[str] = Counter()
    for text in dict.fromkeys(texts.tolist()):
        name = cut = tidy(text)
        while name in taken:
            taken[cut] += 1  # continues from the last number: many may be alike
            name = f"{cut} ({taken[cut]})"
        taken[name] += 1
        short[text] = name
    return np.array([short[text] for text in texts.tolist()])


def rows_to_draw(analysis: Analysis) -> NDArray[np.intp]:
    """Return the flagged rows, worst first, then evenly spaced regular rows."""
    flagged = analysis.flagged[:MAX_FLAGGED]
    regular = np.flatnonzero(~analysis.diagnosis.flagged)
    room = MAX_POINTS - len(flagged)
    if len(regular) > room:
        regular = regular[np.linspace(0, len(regular) - 1, room).round().astype(int)]
    return np.concatenate([flagged, regular])


def rounded(values: NDArray[Any]) -> list[float | None]:
    """Round to four digits; None replaces infinite numbers, which JSON lacks."""
    return [
        float(f"{x:.4g}") if np.isfinite(x) else None
        for x in np.asarray(values).tolist()
    ]


def largest_shares(shares: NDArray[Any]) -> list[list[float]]:
    """Return the largest shares of every row, in percent.

    Each row is a flat list: column, share, column, share and so on. If there are more
    columns, their sum follows as column -1.
    """
    top = np.argsort(-np.abs(shares), axis=1, kind="stable")[:, :MAX_CONTRIBUTIONS]
    largest = np.take_along_axis(shares, top, axis=1)
    rest = shares.sum(axis=1) - largest.sum(axis=1)
    parts: list[list[float]] = []
    for columns, row, others in zip(
        top.tolist(), largest.tolist(), rest.tolist(), strict=True
    ):
        flat = [x for pair in zip(columns, row, strict=True) for x in pair]
        flat += [-1, others] if shares.shape[1] > MAX_CONTRIBUTIONS else []
        flat[1::2] = [round(100 * x, 1) for x in flat[1::2]]
        parts.append(flat)
    return parts
