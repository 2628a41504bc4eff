"""Displays of rows: the map of their distances, and their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis.data.threads import own_floats
from trueaxis.diagnostics import Diagnosis, diagnose, row_labels
from trueaxis.diagnostics.pipelines import method_of
from trueaxis.plots.canvas import (
    SMALL,
    TEXT,
    Display,
    distance_axis,
    draw_kinds,
    label_points,
    legend_below,
    name_axes,
)

WITH_WEIGHTS = (
    "pca", "dswl", "r1-pca", "l2p-pca", "rpca-om", "rpca-di", "angle-pca", "l21-max",
    "rwl-an", "t-rpca", "drpca", "rpca-rp", "rspca", "two-way",
)  # fmt: skip
FAINT = 1e-12  # weights below this fraction of the largest are drawn as 0


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
class WeightsDisplay(Display):
    """Sorted weights of the rows of the fit, in the colors of their kinds.

    Weights of 0, or below 1e-12 times the largest, are drawn on the bottom edge.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        `weights_` of the model.
    kind : ndarray of shape (n,), str
        See `trueaxis.diagnostics.KINDS`.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.plots import WeightsDisplay
    >>> X = sensors().X
    >>> display = WeightsDisplay.from_estimator(DSWL(2).fit(X), X)
    >>> int((display.weights == 0).sum())
    9
    """

    weights: NDArray[np.float64]
    kind: NDArray[np.str_]

    def _brief(self) -> str:
        outliers = (self.kind != "regular").sum()
        return f"{len(self.weights):,} rows, {outliers:,} outliers"

    @classmethod
    @own_floats
    def from_estimator(cls, model: Any, X: ArrayLike, *, ax: Any = None) -> Self:
        """Draw the weights of a fitted model.

        Parameters
        ----------
        model : estimator or Pipeline
            Fitted model of a method that weights rows, alone or at the end of a
            pipeline.
        X : array-like of shape (n, D)
            The rows of the fit.
        ax : matplotlib axes, optional

        Returns
        -------
        WeightsDisplay
        """
        kind = diagnose(model, X).kind
        method = method_of(model)
        weights = getattr(method, "weights_", None)
        if weights is None:
            raise TypeError(
                f"{type(method).__name__} has no weights_, as it does not weight rows. "
                f"Methods that do: {', '.join(WITH_WEIGHTS)}."
            )
        if len(weights) != len(kind):
            raise ValueError(
                f"X has {len(kind)} rows, but the model has weights of {len(weights)}: "
                "pass the rows of the fit."
            )
        return cls(np.asarray(weights), kind).plot(ax)

    @own_floats
    def plot(self, ax: Any = None) -> Self:
        """Draw the weights.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; a new figure if not given.

        Returns
        -------
        self
        """
        ax, w = self._canvas(ax, (6.4, 4.2)), self.weights
        order = np.argsort(-w, kind="stable")
        n, sorted_w = len(w), w[order]
        faint = sorted_w <= FAINT * sorted_w[0]
        # Keep the line of equal weights in view, even if it is below all points.
        low, high = min(sorted_w[~faint].min(), 1 / n), sorted_w[0]
        margin = max(high / low, 4.0) ** 0.12
        ax.set_yscale("log")
        ax.set_xlim(-0.02 * n, 1.02 * n + 1)
        # Leave room between the smallest weight and the zeros on the edge.
        bottom, top = low / margin, high * margin
        ax.set_ylim(bottom, top)
        shown = np.where(faint, bottom, sorted_w)
        draw_kinds(ax, np.arange(1, n + 1), shown, self.kind[order], clip_on=False)
        ax.axhline(1 / n, color=TEXT, lw=1, ls="--", zorder=1)
        ax.text(
            0.995, 1 / n, "equal weights", va="bottom", ha="right", fontsize=SMALL,
            color=TEXT, transform=ax.get_yaxis_transform(),
        )  # fmt: skip
        if faint.any():
            note = (
                f"{faint.sum()} rows on the edge:\n{(w == 0).sum()} of weight 0, the "
                f"others below {FAINT * high:.0e}"
            )
            ax.text(
                0.02, 0.04, note, fontsize=SMALL, color=TEXT, transform=ax.transAxes
            )
        name_axes(
            ax,
            f"Weights of {n} rows",
            "rows, largest weight first",
            "weight (sum is 1)",
        )
        legend_below(ax)
        return self
