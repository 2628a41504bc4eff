"""Collect the data of the report's plots and table, as values for JSON.

The points of the plots are the flagged rows, worst first, then the regular rows nearest
to the line, then others. The table lists the worst rows of the first two groups, and
the worst of these have profiles.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.diagnostics import KINDS
from trueaxis.plots.canvas import FAR, LOOKS, percent, shorten
from trueaxis.report.analysis import Analysis
from trueaxis.report.axes import MAX_COMPONENTS, axes_data
from trueaxis.report.cells import regular_notes
from trueaxis.report.levels import Levels, Stop
from trueaxis.report.packing import bent, coded, decimals, digits, rounded
from trueaxis.report.profiles import profiles
from trueaxis.report.sentences import (
    KIND_MEANINGS,
    KIND_NAMES,
    count_outliers,
    describe_level,
    describe_line,
    format_p,
    reason,
)

MAX_LISTED = 2000  # flagged rows of the table
MAX_NEAR = 500  # regular rows of the table, those nearest to the line
MAX_FLAGGED = 10_000  # points of flagged rows
MAX_POINTS = 20_000
# How large the data of a page may be, so that one of 10,000 rows and 50 columns stays
# below 1.5 MB, and what its parts take up; profiles get the rest.
MAX_BYTES = 1_200_000
MAX_PROFILE_BYTES = 800_000
POINT_BYTES, SCORE_BYTES, ROW_BYTES = 28, 2.7, 120
PROFILE_BYTES, CELL_BYTES = 95, 13.4
MIN_PROFILES = 10
NEAR_SHARE = 0.2  # of the profiles, for rows near the line
MAX_CONTRIBUTIONS = 5  # columns listed one by one for each row
MAX_NAME = 80  # characters; longer names are cut in the middle
MAX_FULL_NAME = 2000  # characters; longer names are cut in downloaded files as well
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


class Share(NamedTuple):
    """A part of the rows on the page: some flagged ones, and some near the line."""

    flagged: NDArray[np.intp]
    near: NDArray[np.intp]

    @property
    def rows(self) -> NDArray[np.intp]:
        """Both, the flagged rows first."""
        return np.concatenate(self)


class PageRows(NamedTuple):
    """Indices of the rows on the page.

    points : rows of the plots, apart from `rest`
    rest : other regular rows of the plots, evenly spaced
    listed : rows of the table
    profiled : rows with profiles
    """

    points: Share
    rest: NDArray[np.intp]
    listed: Share
    profiled: Share

    @property
    def drawn(self) -> NDArray[np.intp]:
        """All rows of the plots, in the order of the points."""
        return np.concatenate([self.points.rows, self.rest])


def script_data(
    levels: Levels, rows: PageRows, full: Analysis | None = None
) -> dict[str, Any]:
    """Return everything that the plots and the table show.

    Parameters
    ----------
    levels : Levels
    rows : PageRows
        The rows that the page shows.
    full : Analysis, optional
        The analysis before `shorten_names`: the names in downloaded files.

    Returns
    -------
    dict
        Values that JSON can represent.
    """
    analysis = levels.analysis
    notes = regular_notes(analysis, rows.drawn)
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
        "stops": [stop_data(levels, i, rows) for i in range(len(levels.levels))],
        "own": levels.own,
        **point_data(levels, rows.drawn),
        **row_data(levels, rows.listed.rows),
        "flagged": len(rows.points.flagged),
        "listed": [len(part) for part in rows.listed],
        "profiled": [len(part) for part in rows.profiled],
        "profiles": profile_data(analysis, rows.profiled.rows),
        "axes": axes_data(analysis, rows.drawn),
        "far": FAR,
        **({} if full is None else {"full": full_names(analysis, full, rows)}),
        **({} if notes is None else {"notes": notes}),
    }


def stop_data(levels: Levels, i: int, rows: PageRows) -> dict[str, Any]:
    """Return what the page shows at one stop of the slider."""
    stop, analysis = levels.stops[i], levels.analysis
    n, own = len(analysis.ids), i == levels.own
    line = describe_line(analysis.model) if own else describe_level(stop.level)
    return {
        "level": format_level(stop.level),
        "verdict": count_outliers(stop.counts, stop.good_rows, stop.wrong_cells, line),
        "flagged": f"{stop.flagged:,} ({percent(stop.flagged / n)})",
        "counts": [f"{stop.counts[kind]:,}" for kind in KINDS],
        "lines": rounded(np.array([stop.score, stop.orthogonal, stop.group]), 6),
        "missing": rows_not_listed(levels, i, rows),
    }


def format_level(level: float) -> str:
    """Return a level with at most three digits."""
    return f"{level:.3g}"


def rows_not_listed(levels: Levels, i: int, rows: PageRows) -> str:
    """Return a sentence about flagged rows that the table lacks at a stop."""
    stop: Stop = levels.stops[i]
    listed = int((levels.since.flagged()[rows.listed.rows] <= i).sum())
    if listed == stop.flagged:
        return ""
    if i == levels.own:
        return f"The table lists the worst {listed:,} of {stop.flagged:,} flagged rows."
    return (
        f"At this level, the table lists {listed:,} of {stop.flagged:,} flagged rows: "
        "the page holds no others."
    )


def point_data(levels: Levels, drawn: NDArray[np.intp]) -> dict[str, Any]:
    """Return what the plots show of every row."""
    analysis, since = levels.analysis, levels.since
    d, data = analysis.diagnosis, {}
    if analysis.labels is not None:
        names, places = coded(analysis.labels[drawn])
        data = {"labels": names, "label": places}
    return {
        "id": analysis.ids[drawn].tolist(),
        **data,
        "since": [digits(first[drawn]) for first in since],
        "score": rounded(d.score_ratio[drawn]),
        "off": rounded(d.orthogonal_ratio[drawn]),
    }


def row_data(levels: Levels, listed: NDArray[np.intp]) -> dict[str, Any]:
    """Return what the table shows of every row."""
    analysis, d = levels.analysis, levels.analysis.diagnosis
    first = levels.since.kinds(levels.since.flagged())
    kind = np.where(d.flagged, d.kind, first)
    return {
        "p": [format_p(p) for p in d.p_value[listed]],
        "logP": rounded(d.log_p[listed] / np.log(10), 6),
        "group": rounded(d.group_ratio[listed]) if d.group_ratio.any() else None,
        "because": [reason(analysis, row, str(kind[row])) for row in listed],
        "column": d.column[listed].tolist(),
        "value": rounded(analysis.value[listed], 7),
        "fits": rounded(analysis.fitting[listed], 7),
    }


def profile_data(analysis: Analysis, rows: NDArray[np.intp]) -> dict[str, Any]:
    """Return all columns of some rows, and what they contribute to the distances."""
    values, fits, deviations = profiles(analysis, rows)
    shares = analysis.shares(rows)
    return {
        "values": decimals(values),
        "fits": decimals(fits),
        "deviations": bent(deviations),
        "scoreParts": largest_shares(shares.score),
        "offParts": largest_shares(shares.orthogonal),
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
    diagnosis = replace(analysis.diagnosis, names=names)
    short = replace(
        analysis,
        names=names,
        given_ids=distinct(analysis.ids),
        labels=None if labels is None else distinct(labels),
        diagnosis=diagnosis,
    )
    # What does not depend on names is computed once.
    for same in ("plain", "flagged", "uneven"):
        vars(short)[same] = getattr(analysis, same)
    return short


def full_names(
    short: Analysis, full: Analysis, rows: PageRows
) -> dict[str, dict[str, str]]:
    """Return the names that were changed for the page, by what they are there."""
    listed = rows.listed.rows
    pairs = {
        "columns": (short.names, full.names),
        "rows": (short.ids[listed], full.ids[listed]),
    }
    if short.labels is not None and full.labels is not None:
        pairs["labels"] = (short.labels[listed], full.labels[listed])
    return {
        what: {
            new: old
            for new, old in zip(changed.tolist(), given.tolist(), strict=True)
            if new != old and len(old) <= MAX_FULL_NAME
        }
        for what, (changed, given) in pairs.items()
    }


def distinct(texts: NDArray[np.str_]) -> NDArray[np.str_]:
    """Tidy names, and keep different names different."""
    together = "".join(texts.tolist())
    longest = texts.dtype.itemsize // np.dtype("U1").itemsize
    if longest <= MAX_NAME and together.isascii() and together.isprintable():
        return texts  # millions of names, usually
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


def rows_on_page(levels: Levels) -> PageRows:
    """Choose the rows of plots, table and profiles."""
    analysis = levels.analysis
    d, order = analysis.diagnosis, analysis.diagnosis.worst_first(everything=True)
    regular = order[~d.flagged[order]]
    # Rows that are regular at every stop are not near the line.
    near = regular[levels.since.flagged()[regular] < len(levels.levels)]
    points = Share(analysis.flagged[:MAX_FLAGGED], near[:MAX_NEAR])
    listed = Share(analysis.flagged[:MAX_LISTED], points.near)
    room = MAX_POINTS - len(points.rows)
    others = np.setdiff1d(regular, points.near)
    if len(others) > room:
        others = others[np.linspace(0, len(others) - 1, room).round().astype(int)]
    room = profiles_with_room(
        analysis, np.concatenate([points.rows, others]), len(listed.rows)
    )
    return PageRows(points, others, listed, _profiled(listed, room))


def profiles_with_room(analysis: Analysis, drawn: NDArray[np.intp], listed: int) -> int:
    """Return how many profiles have room on the page, beside points and table."""
    k = min(analysis.model.n_components_, MAX_COMPONENTS)
    texts = analysis.ids[drawn].tolist()
    if analysis.labels is not None:
        texts += set(analysis.labels[drawn].tolist())
    points = len(drawn) * (POINT_BYTES + SCORE_BYTES * k) + sum(map(len, texts))
    room = min(MAX_BYTES - points - listed * ROW_BYTES, MAX_PROFILE_BYTES)
    each = PROFILE_BYTES + CELL_BYTES * len(analysis.names)
    return max(int(room / each), MIN_PROFILES)


def _profiled(listed: Share, room: int) -> Share:
    """Return the worst of the listed rows, as many as have room."""
    flagged, near = map(len, listed)
    least = min(near, int(NEAR_SHARE * room))
    flagged = min(flagged, room - least)
    return Share(listed.flagged[:flagged], listed.near[: room - flagged])


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
