"""GATHER what the page's script shows: points of the map, rows of the table.

Plain lists and numbers that JSON can hold. Points are the flagged rows, worst first,
and then regular ones, so that row i of the table is point i of the map.
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
from trueaxis.report.sentences import CALLED, MEANS, because

MOST_LISTED = 2000  # rows of the table
MOST_FLAGGED = 10_000  # points of flagged rows
MOST_POINTS = 20_000
TOP = 5  # columns whose contributions are told one by one
LONG = 80  # characters of a name; what is longer is cut in the middle
# Signs that set the direction of all that follows; letters keep their own direction.
TURNING = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
# Outlines of the marks of `LOOKS`, around 0, in units of half their width.
OUTLINES = {
    "o": "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1-1 0Z",
    "s": "M-.9-.9H.9V.9H-.9Z",
    "^": "M0-1.1L1.05.85H-1.05Z",
    "D": "M0-1.2L1.2 0L0 1.2L-1.2 0Z",
}


def gather(found: Analysis) -> dict[str, Any]:
    """Everything that the map and the table show.

    Parameters
    ----------
    found : Analysis

    Returns
    -------
    dict
        Of what JSON can hold.
    """
    chosen, listed = chosen_rows(found), found.flagged[:MOST_LISTED]
    d = found.diagnosis
    shares = found.shares(listed)
    return {
        "columns": found.names.tolist(),
        "kinds": [
            {"name": kind, "called": CALLED[kind], "means": MEANS[kind], **mark}
            for kind, mark in marks().items()
        ],
        "id": found.ids[chosen].tolist(),
        "label": None if found.labels is None else found.labels[chosen].tolist(),
        "kind": [KINDS.index(kind) for kind in d.kind[chosen]],
        "score": numbers(d.score_ratio[chosen]),
        "off": numbers(d.orthogonal_ratio[chosen]),
        "excess": numbers(d.excess[listed]),
        "because": [because(found, row) for row in listed],
        "scoreParts": top_parts(shares.score),
        "offParts": top_parts(shares.orthogonal),
        "flagged": int(min(len(found.flagged), MOST_FLAGGED)),
        "far": FAR,
    }


def marks() -> dict[str, dict[str, str]]:
    """Colour and outline of every kind."""
    return {
        kind: {"colour": LOOKS[kind][0], "outline": OUTLINES[LOOKS[kind][1]]}
        for kind in KINDS
    }


def tidy(text: str) -> str:
    """Cut a long name, and take out what would turn the text after it around."""
    return shorten(text.translate(TURNING), LONG)


def shortened(found: Analysis) -> Analysis:
    """Return the same analysis, with names that a page has room for."""
    names = distinct(found.names)
    return replace(
        found,
        names=names,
        ids=distinct(found.ids),
        labels=None if found.labels is None else distinct(found.labels),
        diagnosis=replace(found.diagnosis, names=names),
    )


def distinct(texts: NDArray[np.str_]) -> NDArray[np.str_]:
    """Tidy names; those that were different before stay different."""
    short: dict[str, str] = {}
    taken: Counter[str] = Counter()
    for text in dict.fromkeys(texts.tolist()):
        name = cut = tidy(text)
        while name in taken:
            taken[cut] += 1  # goes on from the last number: there may be many alike
            name = f"{cut} ({taken[cut]})"
        taken[name] += 1
        short[text] = name
    return np.array([short[text] for text in texts.tolist()])


def chosen_rows(found: Analysis) -> NDArray[np.intp]:
    """Rows to draw: flagged ones, worst first, then evenly spaced regular ones."""
    flagged = found.flagged[:MOST_FLAGGED]
    regular = np.flatnonzero(~found.diagnosis.flagged)
    room = MOST_POINTS - len(flagged)
    if len(regular) > room:
        regular = regular[np.linspace(0, len(regular) - 1, room).round().astype(int)]
    return np.concatenate([flagged, regular])


def numbers(values: NDArray[Any]) -> list[float | None]:
    """Four digits of each; none for what is infinite, as JSON has no such number."""
    return [
        float(f"{x:.4g}") if np.isfinite(x) else None
        for x in np.asarray(values).tolist()
    ]


def top_parts(shares: NDArray[Any]) -> list[list[float]]:
    """Largest shares of every row in per cent: column, share, column, share and so on.

    What is left for all other columns follows under the number -1.
    """
    top = np.argsort(-np.abs(shares), axis=1, kind="stable")[:, :TOP]
    told = np.take_along_axis(shares, top, axis=1)
    rest = shares.sum(axis=1) - told.sum(axis=1)
    parts: list[list[float]] = []
    for columns, row, left in zip(
        top.tolist(), told.tolist(), rest.tolist(), strict=True
    ):
        flat = [x for pair in zip(columns, row, strict=True) for x in pair]
        flat += [-1, left] if shares.shape[1] > TOP else []
        flat[1::2] = [round(100 * x, 1) for x in flat[1::2]]
        parts.append(flat)
    return parts
