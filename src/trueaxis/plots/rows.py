"""Displays of rows: the map of their distances, and what the columns of one add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing

from trueaxis.data.threads import own_floats
from trueaxis.diagnostics import (
    Contributions,
    Diagnosis,
    contributions,
    diagnose,
    row_labels,
)
from trueaxis.diagnostics.tables import check_positions
from trueaxis.plots.canvas import (
    BLUE,
    ORANGE,
    TEXT,
    Display,
    distance_axis,
    draw_kinds,
    label_points,
    legend_below,
    name_axes,
)
from trueaxis.wording import shorten

IN_WORDS = {
    "regular": "regular",
    "inside": "far out in the subspace",
    "off": "off the subspace",
    "both": "off the subspace and far out in it",
    "group": "in a group that stands apart",
}


@dataclass(eq=False, repr=False)
class OutlierMapDisplay(Display):
    """Orthogonal distance against score distance of every row, with the cut-offs.

    Rows right of the vertical line are far from the center inside the subspace, rows
    above the horizontal line far off the subspace. Rows of a group that stands apart
    are outliers even between the lines. If a distance exceeds 15 cut-offs, its axis is
    linear up to the cut-off and logarithmic beyond, so that regular rows remain visible
    as a cloud.

    Parameters
    ----------
    diagnosis : Diagnosis
        Distances, cut-offs and kinds, see `trueaxis.diagnostics.diagnose`.
    labels : ndarray of shape (n,)
        Labels of the rows.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.plots import OutlierMapDisplay
    >>> X = sensors().X
    >>> display = OutlierMapDisplay.from_estimator(DSWL(2).fit(X), X, n_labels=3)
    >>> display.ax_.get_xlabel()
    'score distance (inside the subspace)'
    >>> int(display.diagnosis.flagged.sum())
    33
    """

    diagnosis: Diagnosis
    labels: NDArray[Any]

    def _brief(self) -> str:
        found = self.diagnosis
        return f"{len(found.kind):,} rows, {found.flagged.sum():,} outliers"

    @classmethod
    @own_floats
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        *,
        n_labels: int = 5,
        scale: Literal["auto", "linear", "symlog"] = "auto",
        ax: Any = None,
    ) -> Self:
        """Diagnose rows and draw the map of their distances.

        Parameters
        ----------
        model : estimator or Pipeline
            Any fitted method, alone or at the end of a pipeline.
        X : array-like of shape (n, D)
            Rows, those of the fit or new ones.
        n_labels, scale, ax
            See `plot`.

        Returns
        -------
        OutlierMapDisplay
        """
        diagnosis = diagnose(model, X)
        display = cls(diagnosis, row_labels(X, len(diagnosis.kind)))
        return display.plot(ax, n_labels=n_labels, scale=scale)

    @own_floats
    def plot(
        self,
        ax: Any = None,
        *,
        n_labels: int = 5,
        scale: Literal["auto", "linear", "symlog"] = "auto",
    ) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; a new figure if not given.
        n_labels : int, default=5
            Number of outliers to label, worst first.
        scale : {"auto", "linear", "symlog"}, default="auto"
            Scale of both axes; "auto" uses "symlog" for an axis on which a distance
            exceeds 15 cut-offs.

        Returns
        -------
        self
        """
        ax, diagnosis = self._canvas(ax, (6.4, 4.8)), self.diagnosis
        score, orthogonal = diagnosis.score, diagnosis.orthogonal
        notes = []
        for axis, distance, cutoff, draw_line in (
            (ax.xaxis, score, diagnosis.score_cutoff, ax.axvline),
            (ax.yaxis, orthogonal, diagnosis.orthogonal_cutoff, ax.axhline),
        ):
            notes.append(distance_axis(axis, distance, cutoff, scale))
            draw_line(cutoff, color=TEXT, lw=1, ls="--", zorder=1)
        draw_kinds(ax, score, orthogonal, diagnosis.kind, clip_on=False)
        flagged = int(diagnosis.flagged.sum())
        name_axes(
            ax,
            f"Outlier map: {flagged} of {len(score)} rows are outliers",
            f"score distance (inside the subspace){notes[0]}",
            f"orthogonal distance (off the subspace){notes[1]}",
        )
        legend_below(ax)
        worst = diagnosis.worst_first()[:n_labels]
        if len(worst):
            near = diagnosis.worst_first()[:500]
            markers = np.column_stack([score[near], orthogonal[near]])
            labels = self.labels[worst]
            label_points(ax, score[worst], orthogonal[worst], labels, markers)
        return self


@dataclass(eq=False, repr=False)
class ContributionsDisplay(Display):
    """Contributions of every column to the squared distances of one row.

    Both squared distances are shown in units of their squared cut-offs, so that bars
    can be compared. A row is an outlier if the bars of one color add up to more than 1.
    A bar to the left belongs to a column that pulls the row back toward the center.

    Parameters
    ----------
    parts : Contributions
        Contributions to the row, two arrays (1, D), see
        `trueaxis.diagnostics.contributions`.
    diagnosis : Diagnosis
        Diagnosis of the row.
    label : object
        Label of the row.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.plots import ContributionsDisplay
    >>> X = sensors().X
    >>> display = ContributionsDisplay.from_estimator(DSWL(2).fit(X), X, 62)
    >>> display.ax_.get_title()
    'Row 62 is off the subspace: x5 explains 98 %'
    """

    parts: Contributions
    diagnosis: Diagnosis
    label: Any

    def _brief(self) -> str:
        kind, D = self.diagnosis.kind[0], len(self.diagnosis.names)
        return f"row {self.label}, {kind}, {D:,} columns"

    @classmethod
    @own_floats
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        row: int,
        *,
        n_columns: int = 12,
        ax: Any = None,
    ) -> Self:
        """Compute the contributions to one row and draw them.

        Parameters
        ----------
        model : estimator or Pipeline
            Any fitted method, alone or at the end of a pipeline.
        X : array-like of shape (n, D)
            Rows, those of the fit or new ones.
        row : int
            Position of the row, from 0, and not its label in a frame: see "position"
            of `outliers`.
        n_columns, ax
            See `plot`.

        Returns
        -------
        ContributionsDisplay
        """
        n = int(X.shape[0]) if hasattr(X, "shape") else len(X)  # type: ignore[arg-type]
        check_positions([row], n)
        single = _safe_indexing(X, [row])
        label = row_labels(X, n)[row]
        display = cls(contributions(model, single), diagnose(model, single), label)
        return display.plot(ax, n_columns=n_columns)

    @own_floats
    def plot(self, ax: Any = None, *, n_columns: int = 12) -> Self:
        """Draw the contributions.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; a new figure if not given.
        n_columns : int, default=12
            Number of columns to show, largest contributions first. The others are
            added up.

        Returns
        -------
        self
        """
        bars, names, unit = self._bars(n_columns)
        ax = self._canvas(ax, (6.4, 1.9 + 0.36 * len(names)))
        place = np.arange(len(names))
        for shift, values, color, hatch, label in (
            (-0.2, bars[0], BLUE, "", "inside (score distance)"),
            (0.2, bars[1], ORANGE, "////", "off (orthogonal distance)"),
        ):
            ax.barh(
                place + shift, values, 0.38, color=color, edgecolor="black", lw=0.5,
                hatch=hatch, label=label,
            )  # fmt: skip
        ax.axvline(0, color=TEXT, lw=0.8)
        ax.set_yticks(place, names)
        ax.set_ylim(len(names) - 0.4, -0.6)
        diagnosis = self.diagnosis
        column = shorten(str(diagnosis.names[diagnosis.column[0]]))
        kind = IN_WORDS[str(diagnosis.kind[0])]
        share = f"{diagnosis.share[0]:.0%}".replace("%", " %")
        title = f"Row {shorten(str(self.label))} is {kind}: {column} explains {share}"
        if len(title) > 44:  # long names do not fit into one line
            title = title.replace(": ", ":\n", 1)
        name_axes(ax, title, f"part of the squared distance ({unit})")
        legend_below(ax)
        return self

    def _bars(self, n_columns: int) -> tuple[NDArray[Any], list[str], str]:
        """Return lengths of the bars (2, columns shown), names and unit."""
        diagnosis = self.diagnosis
        limits = np.array([diagnosis.score_cutoff, diagnosis.orthogonal_cutoff])
        unit = "1 = squared cut-off"
        if (limits <= 0).any():
            limits, unit = np.ones(2), "a cut-off is 0"
        bars = np.vstack([self.parts.score, self.parts.orthogonal])
        bars = bars / limits[:, None] / limits[:, None]
        order = np.argsort(-np.abs(bars).max(axis=0), kind="stable")
        top, rest = order[:n_columns], order[n_columns:]
        names = [shorten(str(name)) for name in diagnosis.names[top]]
        if len(rest):
            names.append(f"{len(rest)} other columns")
            others = bars[:, rest].sum(axis=1, keepdims=True)
            return np.hstack([bars[:, top], others]), names, unit
        return bars[:, top], names, unit
