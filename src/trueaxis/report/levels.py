"""Compute what the report shows at other levels than that of the model.

The slider of the page has stops. At each of them, cut-offs, kinds and counts are those
of the model with its line drawn there, for all rows, so that the page computes no
verdict of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.core.verdicts import cutoff_ratio
from trueaxis.diagnostics import KINDS
from trueaxis.diagnostics.outliers import LN_10, NOTHING, kinds
from trueaxis.report.analysis import SAME, STRICTEST, Analysis, with_line

LEVELS = (
    STRICTEST, 1e-5, 1e-4, 5e-4, 0.001, 0.0025, 0.005,
    0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25,
)  # fmt: skip


class Stop(NamedTuple):
    """One position of the slider.

    Attributes
    ----------
    level : float
        The p-value below which rows are outliers.
    score, orthogonal : float
        Cut-offs, in units of the model's own.
    group : float
        Where a group that stands apart begins, in units of the model's own boundary.
    counts : dict
        Number of rows of each kind, among all rows.
    good_rows, wrong_cells : int
        Rows that are good apart from wrong cells, and these cells.
    """

    level: float
    score: float
    orthogonal: float
    group: float
    counts: dict[str, int]
    good_rows: int
    wrong_cells: int

    @property
    def flagged(self) -> int:
        """Number of outliers."""
        return sum(n for kind, n in self.counts.items() if kind != "regular")


class Since(NamedTuple):
    """First stop at which each row is beyond a cut-off; the number of stops if none.

    Each of shape (n,). The stops go from strict to lenient, so a row that is beyond a
    cut-off stays beyond it.
    """

    score: NDArray[np.intp]
    orthogonal: NDArray[np.intp]
    group: NDArray[np.intp]

    def kinds(self, stop: int | NDArray[np.intp]) -> NDArray[np.str_]:
        """Return the kind of every row at a stop, or at one stop for each row."""
        score, orthogonal, group = (since <= stop for since in self)
        return kinds(score, orthogonal, group)

    def flagged(self) -> NDArray[np.intp]:
        """Return the first stop at which each row is an outlier."""
        return np.asarray(np.minimum.reduce(self))


@dataclass(frozen=True)
class Levels:
    """An analysis at all stops of the slider.

    Attributes
    ----------
    analysis : Analysis
    levels : tuple of float
        From strict to lenient.
    """

    analysis: Analysis
    levels: tuple[float, ...]

    @property
    def own(self) -> int:
        """The stop of the model's own level."""
        return self.levels.index(self.analysis.level)

    @cached_property
    def since(self) -> Since:
        """First stops at which the rows are beyond the cut-offs."""
        d, lines = self.analysis.diagnosis, self._lines
        (place,) = lines[self.own][2:]
        apart = d.group_ratio * place
        own_kind = np.asarray(d.kind)
        known = [
            np.isin(own_kind, ["inside", "both"]),
            np.isin(own_kind, ["off", "both"]),
            apart > place,
        ]
        firsts = []
        for distance, cuts, own in zip(
            (d.score, d.orthogonal, apart), zip(*lines, strict=True), known, strict=True
        ):
            beyond = distance > np.array(cuts)[:, None]
            # At the model's own stop, the verdict is the model's to the last bit.
            beyond[: self.own] &= own
            beyond[self.own :] |= own
            beyond[self.own] = own
            firsts.append(len(cuts) - beyond.sum(axis=0))
        return Since(*firsts)

    @cached_property
    def stops(self) -> list[Stop]:
        """The stops, from strict to lenient."""
        own, wrong = self._lines[self.own], self.analysis.wrong_if_regular
        made = []
        for i, (level, line) in enumerate(zip(self.levels, self._lines, strict=True)):
            kind = self.since.kinds(i)
            good = (wrong > 0) & (kind == "regular")
            counts = {name: int((kind == name).sum()) for name in KINDS}
            score, orthogonal, group = map(_relative, line, own)
            cells = int(good.sum()), int(wrong[good].sum())
            made.append(Stop(level, score, orthogonal, group, counts, *cells))
        return made

    @cached_property
    def _lines(self) -> list[tuple[float, float, float]]:
        """Cut-offs of both distances, and of the place of groups, at each stop."""
        lines = []
        for level in self.levels:
            model = with_line(self.analysis.model, level)
            place = model._law().cuts(model.offset_ * LN_10).beyond
            lines.append((*model.cutoffs_, float(place)))
        return lines


def levels_of(analysis: Analysis) -> Levels:
    """Return an analysis at the stops of the slider, the model's own among them."""
    own = analysis.level
    others = [level for level in LEVELS if abs(level - own) > SAME * own]
    return Levels(analysis, tuple(sorted([*others, own])))


def _relative(cutoff: float, own: float) -> float:
    """Return a cut-off in units of the model's own; 1 if there is no such unit."""
    if own < NOTHING:
        return 1.0
    return float(cutoff_ratio(np.array(cutoff), own))
