"""Compute what the report shows at other levels than that of the model.

At each stop of the slider, cut-offs, kinds and counts are those of the model with its
line drawn there, for all rows, so that the page computes no verdict of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.core.verdicts import cutoff_ratio
from trueaxis.diagnostics import KINDS
from trueaxis.diagnostics.outliers import LN_10, NOTHING, kinds
from trueaxis.report.analysis import SAME, Analysis, with_line

LEVELS = (
    1e-6, 1e-5, 1e-4, 5e-4, 0.001, 0.0025, 0.005,
    0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25,
)  # fmt: skip


class Stop(NamedTuple):
    """One position of the slider.

    level : the p-value below which rows are outliers
    lines : cut-offs of score and orthogonal distance, and where a group that stands
        apart begins, in units of the model's own
    counts : number of rows of each kind, among all rows
    """

    level: float
    lines: tuple[float, float, float]
    counts: dict[str, int]


class Levels(NamedTuple):
    """Verdicts on all rows at all stops, from strict to lenient.

    stops : list of Stop
    own : the stop of the model's own level
    beyond : ndarray of shape (3, n), the first stop at which each row is beyond each of
        the three cut-offs, where it then stays; the number of stops if it never is
    """

    stops: list[Stop]
    own: int
    beyond: NDArray[np.intp]

    def first_flagged(self) -> NDArray[np.intp]:
        """Return the first stop at which each row is an outlier."""
        return np.asarray(self.beyond.min(axis=0))

    def first_kind(self) -> NDArray[np.str_]:
        """Return the kind that each row has where it is first an outlier."""
        return kinds(*(self.beyond <= self.first_flagged()))


def levels_of(analysis: Analysis) -> Levels:
    """Judge all rows at the stops of the slider, the model's own among them."""
    own = analysis.level
    others = [level for level in LEVELS if abs(level - own) > SAME * own]
    levels = sorted([*others, own])
    at = levels.index(own)
    lines = [_lines(analysis, level) for level in levels]
    beyond = _first_beyond(analysis, np.array(lines), at)
    stops = []
    for i, (level, line) in enumerate(zip(levels, lines, strict=True)):
        kind = kinds(*(beyond <= i))
        score, orthogonal, group = map(_relative, line, lines[at])
        counts = {name: int((kind == name).sum()) for name in KINDS}
        stops.append(Stop(level, (score, orthogonal, group), counts))
    return Levels(stops, at, beyond)


def _lines(analysis: Analysis, level: float) -> tuple[float, float, float]:
    """Return the cut-offs of both distances, and of groups, at a level."""
    model = with_line(analysis.model, level)
    place = model._law().cuts(model.offset_ * LN_10).beyond
    return (*model.cutoffs_, float(place))


def _first_beyond(
    analysis: Analysis, lines: NDArray[np.float64], own: int
) -> NDArray[np.intp]:
    d = analysis.diagnosis
    apart = d.group_ratio * lines[own, 2]
    known = (
        np.isin(d.kind, ["inside", "both"]),
        np.isin(d.kind, ["off", "both"]),
        apart > lines[own, 2],
    )
    firsts = []
    for distance, cuts, verdict in zip(
        (d.score, d.orthogonal, apart), lines.T, known, strict=True
    ):
        beyond = distance > cuts[:, None]
        # At the model's own stop, the verdict is the model's to the last bit.
        beyond[:own] &= verdict
        beyond[own:] |= verdict
        beyond[own] = verdict
        firsts.append(len(cuts) - beyond.sum(axis=0))
    return np.array(firsts)


def _relative(cutoff: float, own: float) -> float:
    """Return a cut-off in units of the model's own; 1 if there is no such unit."""
    if own < NOTHING:
        return 1.0
    return float(cutoff_ratio(np.array(cutoff), own))
