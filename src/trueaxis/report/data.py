"""Collect the data of the plots and the table of the page as values for JSON.

A page of a million rows draws no more points than one of ten thousand: the worst
flagged rows, the regular rows nearest to the threshold, and a sample of the others. The
first two are in the table as well, and the worst of each with all their columns.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.core.verdicts import cutoff_ratio
from trueaxis.diagnostics import KINDS
from trueaxis.diagnostics.columns import explained_rows
from trueaxis.diagnostics.outliers import NO_DISTANCE, kinds
from trueaxis.report.analysis import Analysis, ignore_feature_name_warning, texts_of
from trueaxis.report.sentences import (
    KIND_MEANINGS,
    KIND_NAMES,
    count_outliers,
    describe_level,
    explained,
    format_p,
    missing_note,
    reason,
    verdict,
    wrong_in_row,
)
from trueaxis.wording import percent, shorten

MAX_FLAGGED = 2000  # points, and rows of the table
MAX_NEAR = 500  # regular rows nearest to the threshold
MAX_OTHERS = 2000  # all other rows, in the plots only
MAX_CELLS = 40_000  # of rows that are shown with all their columns
MIN_OPENED = 10  # rows with all columns, however wide the table is
FARTHEST = 1e6  # standard deviations; where regular rows have none, it is infinite
MAX_COMPONENTS = 10
MAX_NAME = 80  # characters; longer names are cut in the middle
LEVELS = (
    1e-6, 1e-5, 1e-4, 5e-4, 0.001, 0.0025, 0.005,
    0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25,
)  # fmt: skip
SAME_LEVEL = 1e-6  # relative difference below which two levels are one
CURVE_COLUMNS = 20  # columns in a natural order that make a curve
# Control characters that change the direction of all text after them. Letters do not.
DIRECTION_MARKS = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
# Outlines of the marks of all kinds: centered at 0, with half the width as unit.
OUTLINES = {
    "regular": "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1-1 0Z",
    "inside": "M-.9-.9H.9V.9H-.9Z",
    "off": "M0-1.1L1.05.85H-1.05Z",
    "both": "M0-1.2L1.2 0L0 1.2L-1.2 0Z",
    "group": "M0 1.1L1.05-.85H-1.05Z",
}


class SliderStop(NamedTuple):
    """One position of the slider.

    level : the p-value below which rows are outliers
    lines : cut-offs of score and orthogonal distance, and the edge of a separate
        cluster, in units of the model's own
    counts : number of rows of each kind, among all rows
    """

    level: float
    lines: list[float]
    counts: dict[str, int]


class ShownRows(NamedTuple):
    """The rows on the page, and the verdicts on them at the stops of the slider.

    Attributes
    ----------
    stops : list of SliderStop
        From strict to lenient.
    own : int
        The stop of the model's own level.
    beyond : ndarray of shape (3, n)
        The first stop at which each row is beyond each of the three cut-offs, where it
        then stays; the number of stops if it never is.
    flagged, near, others : ndarray of int
        Rows in the order of the points: the worst flagged ones, regular ones nearest to
        the threshold, and a sample of the others.
    """

    stops: list[SliderStop]
    own: int
    beyond: NDArray[np.intp]
    flagged: NDArray[np.intp]
    near: NDArray[np.intp]
    others: NDArray[np.intp]

    @property
    def listed(self) -> NDArray[np.intp]:
        """The rows of the table."""
        return np.concatenate([self.flagged, self.near])

    @property
    def drawn(self) -> NDArray[np.intp]:
        """The points of the plots."""
        return np.concatenate([self.flagged, self.near, self.others])

    def first_flagged(self) -> NDArray[np.intp]:
        """Return the first stop at which each row of the table is an outlier."""
        return np.asarray(self.beyond[:, self.listed].min(axis=0))


def shown_rows(analysis: Analysis) -> ShownRows:
    """Judge all rows at the stops of the slider, and choose those of the page."""
    d = analysis.diagnosis
    levels = [level for level in LEVELS if abs(level - d.level) > SAME_LEVEL * d.level]
    levels = sorted([*levels, d.level])
    own, stops = levels.index(d.level), []
    beyond = np.zeros((3, len(d.share)), dtype=np.intp)
    for i, level in enumerate(levels):
        moved = d if i == own else d.at(float(np.log(level)))
        beyond += ~moved.beyond
        lines = [
            1.0 if unit < NO_DISTANCE else float(cutoff_ratio(np.array(cut), unit))
            for cut, unit in zip(moved.lines, d.lines, strict=True)
        ]
        stops.append(SliderStop(level, lines, moved.counts()))
    order = d.worst_first(everything=True)
    regular = order[~d.flagged[order]]
    # Rows that are regular at every stop are not near the threshold.
    near = regular[beyond[:, regular].min(axis=0) < len(stops)][:MAX_NEAR]
    flagged = analysis.flagged[:MAX_FLAGGED]
    # In the order of their p-values, so that flagged ones have their share, too.
    others = order[~np.isin(order, np.concatenate([flagged, near]))]
    if len(others) > MAX_OTHERS:
        others = others[np.linspace(0, len(others) - 1, MAX_OTHERS).astype(int)]
    return ShownRows(stops, own, beyond, flagged, near, others)


def script_data(analysis: Analysis, shown: ShownRows) -> dict[str, Any]:
    """Return everything that the plots and the table show."""
    d, drawn, listed = analysis.diagnosis, shown.drawn, shown.listed
    inside, off, cluster = d.ratios
    # The kind of a row, or its kind at the first stop where it is an outlier.
    first = kinds(*(shown.beyond[:, listed] <= shown.first_flagged()))
    kind = np.where(d.flagged[listed], d.kind[listed], first).tolist()
    return {
        "columns": analysis.names.tolist(),
        "kinds": [
            {
                "name": name,
                "called": KIND_NAMES[name],
                "means": KIND_MEANINGS[name],
                "outline": OUTLINES[name],
            }
            for name in KINDS
        ],
        "stops": [stop_data(analysis, shown, i) for i in range(len(shown.stops))],
        "own": shown.own,
        "id": names_of(analysis, drawn),
        **label_data(analysis, drawn),
        "beyond": shown.beyond[:, drawn].tolist(),
        "score": rounded(inside[drawn]),
        "off": rounded(off[drawn]),
        "p": [format_p(p) for p in np.exp(d.log_p[listed])],
        "logP": rounded(d.log_p[listed] / np.log(10), 6),
        "group": rounded(cluster[listed]) if cluster.any() else None,
        "because": [reason(analysis, *each) for each in zip(listed, kind, strict=True)],
        "column": d.column[listed].tolist(),
        "value": rounded(d.value[listed], 7),
        "fits": rounded(d.fitted[listed], 7),
        "cells": opened_rows(analysis, shown),
        "notes": cell_notes(analysis, drawn),
        "axes": axes_data(analysis, drawn),
    }


def stop_data(analysis: Analysis, shown: ShownRows, i: int) -> dict[str, Any]:
    """Return the contents of the page at one stop of the slider."""
    stop, n = shown.stops[i], len(analysis.raw)
    bad = n - stop.counts.get("regular", 0)
    said = count_outliers(stop.counts, describe_level(stop.level))
    listed = int((shown.first_flagged() <= i).sum())
    missing = f"The table lists {listed:,} of {bad:,} flagged rows."
    return {
        "level": f"{stop.level:.3g}",
        "verdict": verdict(analysis) if i == shown.own else said,
        "flagged": f"{bad:,} ({percent(bad / n)})",
        "counts": [f"{stop.counts.get(kind, 0):,}" for kind in KINDS],
        "lines": rounded(np.array(stop.lines), 6),
        "missing": missing if listed < bad else "",
    }


def label_data(analysis: Analysis, drawn: NDArray[np.intp]) -> dict[str, Any]:
    """Return the different labels, most frequent first, and which one each row has."""
    if analysis.labels is None:
        return {"labels": None, "label": None}
    given = [tidy(label) for label in analysis.labels[drawn].tolist()]
    place = {each: i for i, (each, _) in enumerate(Counter(given).most_common())}
    return {"labels": list(place), "label": [place[label] for label in given]}


def opened_rows(analysis: Analysis, rows: ShownRows) -> list[Any]:
    """Return value, fit and deviation of all columns, for the worst listed rows.

    None for other rows of the table, for which there is no room.
    """
    room = max(MAX_CELLS // len(analysis.names), MIN_OPENED)
    chosen, n = rows.listed[:room], len(rows.listed)
    if not n:
        return []
    with ignore_feature_name_warning():
        some = np.arange(len(chosen))
        found = explained_rows(analysis.model, analysis.X[chosen], some)
    values = analysis.raw[chosen].astype(float)
    fits = analysis.parts.restored(found["fitted"])
    fits = analysis.without_rounding(fits, values)
    deviations = np.clip(found["deviation"], -FARTHEST, FARTHEST)
    opened = [
        [rounded(value, 7), rounded(fit, 7), rounded(far, 3)]
        for value, fit, far in zip(values, fits, deviations, strict=True)
    ]
    return [*opened, *[None] * (n - len(chosen))]


def cell_notes(analysis: Analysis, drawn: NDArray[np.intp]) -> dict[int, str]:
    """Return notes on wrong or missing cells of regular rows, by their points."""
    if analysis.cells is None:
        return {}
    some = (analysis.cells.wrong | analysis.cells.missing).any(axis=1)
    notes = {}
    for point in np.flatnonzero((some & ~analysis.diagnosis.flagged)[drawn]).tolist():
        row = int(drawn[point])
        wrong, missing = wrong_in_row(analysis, row), missing_note(analysis, row)
        text = f"a good row with {wrong}" if wrong else "a good row"
        notes[point] = "; ".join(filter(None, [text, missing]))
    return notes


def axes_data(analysis: Analysis, drawn: NDArray[np.intp]) -> dict[str, Any]:
    """Return scores of the drawn rows, loadings, and the spread of plain PCA.

    Scores are in units of the components' standard deviations.
    """
    model = analysis.model
    k = min(model.n_components_, MAX_COMPONENTS)
    spread = np.sqrt(np.maximum(model.explained_variance_[:k].astype(float), 0.0))
    spread = np.where(spread > 1e-10 * spread.max(initial=0.0), spread, 1.0)
    X = analysis.X
    with ignore_feature_name_warning():
        filled = model.repair(X, wrong=False) if analysis.has_missing else X
        plain = (filled - model.mean_) @ model.components_[:k].T.astype(float) / spread
        scores = plain[drawn]
        if analysis.cells is not None:  # wrong cells are replaced, too
            scores = model.transform(X[drawn])[:, :k] / spread
    with np.errstate(over="ignore", invalid="ignore"):
        covariance = np.atleast_2d(np.cov(plain, rowvar=False, bias=True))
    shares = model.explained_variance_ratio_[:k].tolist()
    return {
        "names": [f"component {i} ({explained(x)})" for i, x in enumerate(shares, 1)],
        "judging": min(k, model._n_judging),
        "scores": [rounded(component) for component in scores.T],
        "loadings": [rounded(component) for component in model.loadings_[:k]],
        "center": rounded(plain.mean(axis=0)),
        "covariance": [rounded(row, 6) for row in covariance],
        "cutoff": rounded(np.array(analysis.diagnosis.cutoffs))[0],
        "positions": curve_positions(analysis.names),
    }


def curve_positions(names: NDArray[np.str_]) -> list[float] | None:
    """Return the positions of columns that make a curve, such as wavelengths.

    Their names are numbers in order, maybe with the same text around them, and there
    are at least 20. None for other columns: nothing lies between them.
    """
    pattern = r"(\D*?)(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(\D*)"
    parts = [re.fullmatch(pattern, name) for name in names.tolist()]
    if len(parts) < CURVE_COLUMNS or not all(parts):
        return None
    if len({(part[1], part[3]) for part in parts if part}) > 1:
        return None
    positions = np.array([float(part[2]) for part in parts if part])
    steps = np.diff(positions)
    ordered = (steps > 0).all() or (steps < 0).all()
    return positions.tolist() if ordered and np.isfinite(positions).all() else None


def names_of(analysis: Analysis, rows: NDArray[np.intp]) -> list[str]:
    """Return the names of some rows, short enough for a page."""
    return [tidy(name) for name in texts_of(analysis.given_ids[rows]).tolist()]


def tidy(text: str) -> str:
    """Shorten a name, and remove characters that would reverse the text after it."""
    return shorten(text.translate(DIRECTION_MARKS), MAX_NAME)


def rounded(values: NDArray[Any], digits: int = 4) -> list[float | None]:
    """Round to some digits; None replaces NaN and infinity, which JSON lacks."""
    found = np.asarray(values, dtype=float)
    return [
        float(f"{x:.{digits}g}") if finite else None
        for x, finite in zip(found.tolist(), np.isfinite(found).tolist(), strict=True)
    ]
